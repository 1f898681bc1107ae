"""Class weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError, ShapeError, TraceError
from madaline.graph.node import Node

if TYPE_CHECKING:
    from madaline.graph.arrays import Array


def balanced_class_weight(target: Array, n_classes: int | None = None) -> np.ndarray[Any, Any]:
    r"""Weights that give every class the same total weight, :math:`w_k = n / (K n_k)`; scikit-learn's ``"balanced"``.

    Parameters
    ----------
    target : array of class indices, or of probabilities with one column per class
        Targets. ``n_k`` is the number of rows of class ``k`` (the sum of its probabilities).
    n_classes : int, optional
        Number of classes; counted by default. A class without rows has weight 0 and does not count in ``K``.

    Examples
    --------
    >>> balanced_class_weight(np.array([0, 0, 0, 1]))
    array([0.66666667, 2.        ])
    """
    target = np.asarray(target)
    counts = target.sum(axis=0) if target.ndim == 2 else np.bincount(target.astype(np.int64), minlength=n_classes or 0)
    present = counts > 0
    weights = counts.sum() / (max(np.count_nonzero(present), 1) * np.where(present, counts, 1))
    return np.asarray(np.where(present, weights, 0.0))


def for_each_label(class_weight: Any, n_labels: int, loss: str) -> list[Any]:
    """The class weights of each label: as given for one label; ``"balanced"`` or one item per label for several."""
    if n_labels == 1:
        return [class_weight]
    if isinstance(class_weight, str):
        return [class_weight] * n_labels
    if isinstance(class_weight, (list, tuple, np.ndarray)):
        given = list(class_weight)
        if len(given) == n_labels and not any(np.isscalar(item) and not isinstance(item, str) for item in given):
            return given
    raise ConfigError(
        f"class_weight={class_weight!r} does not say which of the {n_labels} labels of {loss} it is for. Pass a list "
        "with the weights of 0 and 1 for each label, such as [{1: 5.0}, {}, {0: 0.5, 1: 2.0}], or 'balanced'."
    )


def as_class_weights(class_weight: Any, target: Array, n_classes: int) -> Array:
    """One weight per class, from a dict, an array or ``"balanced"``; a class that a dict does not have has weight 1."""
    if isinstance(class_weight, Node):
        return class_weight
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ConfigError(
                f"class_weight={class_weight!r} is not known. Pass 'balanced', a dict {{class: weight}}, or an array."
            )
        if isinstance(target, Node):
            raise TraceError(
                "class_weight='balanced' counts the targets, which have no values while they are traced. "
                "Pass balanced_class_weight(y) of all targets instead."
            )
        return balanced_class_weight(target, n_classes)
    if isinstance(class_weight, Mapping):
        wrong = [key for key in class_weight if key not in range(n_classes)]
        if wrong:
            raise ConfigError(
                f"class_weight names the class {wrong[0]!r}; the classes are 0 to {n_classes - 1}. Use their indices."
            )
        weights = np.array([class_weight.get(k, 1.0) for k in range(n_classes)], dtype=np.float64)
    else:
        weights = np.asarray(class_weight, dtype=np.float64)
    if weights.shape != (n_classes,):
        raise ShapeError(
            f"class_weight has shape {weights.shape}; it must hold one weight for each of the {n_classes} classes."
        )
    check_weights("class_weight", weights)
    return weights


def check_weights(argument: str, weights: Array) -> None:
    """Raise an error unless every weight is finite and not negative."""
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        first = wrong[0]
        raise ConfigError(
            f"{argument} is {np.ravel(weights)[first]} at position {first}; weights must be finite and not negative. "
            "Use 0 to leave out a row or class."
        )
