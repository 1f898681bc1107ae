"""Weights of rows, from weights of rows and of classes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from madaline.errors import ConfigError, ShapeError
from madaline.losses.loss import Loss
from madaline.losses.weights import balanced_class_weight, check_weights


def row_weights(
    loss: Loss | dict[str, Loss], out_shape: Any, targets: Any, n_rows: int, sample_weight: Any, class_weight: Any
) -> np.ndarray | None:
    """The weight of each row, multiplied by that of its class; None without weights."""
    weight = None
    if sample_weight is not None:
        try:
            weight = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"sample_weight must hold numbers: {error}.") from None
        if weight.shape != (n_rows,):
            raise ShapeError(
                f"sample_weight has shape {weight.shape}; it must hold one number for each of {n_rows} rows."
            )
        check_weights("sample_weight", weight)
    if class_weight is not None:
        of_class = _class_rows(loss, out_shape, targets, n_rows, class_weight)
        weight = of_class if weight is None else weight * of_class
    return weight


def _class_rows(loss: Loss | dict[str, Loss], out_shape: Any, targets: Any, n_rows: int, class_weight: Any) -> Any:
    """The weight of each row because of its class; for several outputs the product."""
    if isinstance(loss, dict):
        if not isinstance(class_weight, Mapping) or not set(class_weight) <= set(loss):
            raise ConfigError(
                f"class_weight={class_weight!r} must be a dict by output, because the net has several: "
                f"class_weight={{{next(iter(loss))!r}: 'balanced'}}. Outputs: {', '.join(loss)}."
            )
        each = (
            _class_rows(loss[name], out_shape[name], targets[name], n_rows, given)
            for name, given in class_weight.items()
        )
        return prod(each, start=np.ones(n_rows))
    shape = np.broadcast_to(np.zeros((), dtype=np.float32), (n_rows, *out_shape[1:]))
    return np.asarray(loss.class_rows(class_weight, shape, targets), dtype=np.float64)


def class_weights(loss: Loss | dict[str, Loss], out_shape: Any, targets: Any, given: Any) -> Any:
    """Weights of classes, with ``"balanced"`` replaced by numbers, so that a validation set is weighted alike."""
    if isinstance(loss, dict):
        named = given if isinstance(given, Mapping) else {}
        known = {
            name: class_weights(loss[name], out_shape[name], targets[name], item)
            for name, item in named.items()
            if name in loss
        }
        return {**named, **known} if named else given
    if not counts_rows(given) or isinstance(given, Mapping):
        return given
    labels = loss.classes(out_shape, targets)
    each = [given] * len(labels) if isinstance(given, str) else list(given)
    if len(each) != len(labels) or any(isinstance(item, str) and item != "balanced" for item in each):
        return given  # an error follows where the weights are used
    found = [
        balanced_class_weight(*label) if isinstance(item, str) else item
        for item, label in zip(each, labels, strict=True)
    ]
    return found[0] if len(found) == 1 else found or given


def counts_rows(class_weight: Any) -> bool:
    """Whether some weights are ``"balanced"``, which needs the counts of all rows."""
    if isinstance(class_weight, str):
        return True
    items = class_weight.values() if isinstance(class_weight, Mapping) else class_weight
    return isinstance(class_weight, (Mapping, list, tuple)) and any(counts_rows(item) for item in items)
