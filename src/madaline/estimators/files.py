"""Fitted estimators as files: parameters, net, and what was learned besides. Reading one runs no code of it."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import madaline
from madaline import container
from madaline.description import Description
from madaline.errors import ConfigError, FileFormatError, MadalineWarning
from madaline.estimators.base import NetEstimator
from madaline.estimators.losses import scikit_loss
from madaline.estimators.saved import Saved
from madaline.estimators.targets import Classes
from madaline.functional import files
from madaline.losses.custom import CustomLoss
from madaline.losses.targets import Target
from madaline.nn.layers.sequential import as_layer
from madaline.plain import Reader
from madaline.train.checkpoint import history_from_plain, history_to_plain

APART = ("model_", "history_", "_loss", "_trainer", "_predictor", "_best")
"Attributes that are written in a way of their own, or made anew."


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator.

    Parameters that only training needs and no file should hold (callbacks, rows to validate on, generators) are left
    out, with a warning; functions of yours are saved as their graphs. Training can go on, by a fresh optimizer.
    """
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise ConfigError(
            f"save needs a fitted estimator, and this {type(estimator).__name__} is not: call fit first."
        ) from None
    has_net = isinstance(estimator, NetEstimator)
    arrays = files.model_arrays(estimator.model_) if has_net else {}
    writer = _Writer(arrays)
    parameters, left_out = {}, []
    for name, value in estimator.get_params(deep=False).items():
        try:
            parameters[name] = writer.value(_as_description(estimator, name, value), f"parameter.{name}")
        except ConfigError:
            left_out.append(name)
    if left_out:
        warnings.warn(
            f"The file does not hold {', '.join(left_out)}: only plain values and functions of NumPy can be saved.",
            MadalineWarning,
            stacklevel=3,
        )
    learned = {name: value for name, value in vars(estimator).items() if _is_learned(estimator, name)}
    document = {
        "kind": "estimator",
        "class": type(estimator).__name__,
        "parameters": parameters,
        "learned": {name: writer.value(value, f"learned.{name}") for name, value in learned.items()},
        **(_net(estimator) if has_net else {}),
    }
    container.write(path, arrays, document)


def _net(estimator: NetEstimator) -> dict[str, Any]:
    """What a file says of a net and of its training."""
    history = estimator.history_
    ended = {"stopped": history.stopped, "converged": history.converged}
    return files.describe(estimator.model_) | {"history": history_to_plain(history) | ended}


def restored(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The estimator of a file."""
    name = document["class"]
    public = (madaline, madaline.classical, madaline.data)
    found = next((getattr(module, name) for module in public if name in module.__all__), None)
    if not isinstance(found, type) or not issubclass(found, Saved):
        raise FileFormatError(f"The file holds a {name!r}, which is none of madaline's estimators.")
    cls: Any = found
    reader = _Reader(arrays)
    known = set(cls._get_param_names())
    given = {key: reader.value(value) for key, value in document["parameters"].items() if key in known}
    estimator: Any = cls(**given)
    for key, value in document["learned"].items():
        if not _is_learned(estimator, key) or callable(getattr(cls, key, None)):
            raise FileFormatError(f"{key!r} is nothing an estimator learns.")
        estimator.__dict__[key] = reader.value(value)
    if not isinstance(estimator, NetEstimator):
        return estimator
    estimator.model_ = files.restored(document, arrays)
    history = document["history"]
    estimator.history_ = history_from_plain(history)
    estimator.history_.stopped, estimator.history_.converged = str(history["stopped"]), history["converged"]
    estimator._best = None
    estimator._loss = estimator._make_loss()
    estimator._predictor = estimator._make_predictor(estimator.model_)
    return estimator


def _is_learned(estimator: Any, name: str) -> bool:
    is_name = name.isidentifier() and not name.startswith("__") and (name.endswith("_") or name.startswith("_"))
    return is_name and name not in APART and not name.startswith(("_skl_", "_callback"))


def _as_description(estimator: Any, name: str, value: Any) -> Any:
    """A parameter with descriptions in place of functions, where it is known what they are."""
    if not isinstance(estimator, NetEstimator):
        return value
    if name == "activation":
        several = isinstance(value, (list, tuple))
        found = [one if isinstance(one, str) else as_layer(one) for one in (value if several else [value])]
        return found if several else found[0]
    if name == "loss" and not isinstance(value, str):
        loss = scikit_loss(value)
        outputs = np.empty((0, estimator.n_outputs_))
        width = getattr(getattr(estimator, "_target", None), "width", 1)
        target = np.empty((0, width) if width > 1 else 0, np.int64 if hasattr(estimator, "classes_") else np.float64)
        return loss.traced(outputs, target) if isinstance(loss, CustomLoss) else loss
    if name == "validation" and isinstance(value, (list, tuple)):
        raise ConfigError("A model file holds no rows of data.")
    if name == "dtype" and value is not None:
        return np.dtype(value).name
    return value


class _Writer:
    """Values as JSON; what is no plain value is a dict whose only key says what it is."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays

    def value(self, value: Any, key: str) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.ndarray):
            return self._array(value, key)
        if isinstance(value, (list, tuple)):
            name = "list" if isinstance(value, list) else "tuple"
            return {name: [self.value(item, f"{key}.{i}") for i, item in enumerate(value)]}
        if isinstance(value, dict):
            return {"dict": [[self.value(k, key), self.value(v, f"{key}.{k}")] for k, v in value.items()]}
        if isinstance(value, Classes):
            classes = self.value(value.classes, key)
            return {"classes": {"kind": value.kind, "classes": classes, "is_sparse": value.is_sparse}}
        if isinstance(value, Target):
            return {"target": asdict(value)}
        if isinstance(value, Description):
            return {"description": value.to_dict()}
        raise ConfigError(f"{key}={value!r} cannot be written to a file.")

    def _array(self, value: np.ndarray, key: str) -> Any:
        if value.dtype.kind in "fiub":
            self.arrays[key] = value
            return {"array": key}
        if value.ndim == 1 and all(isinstance(item, str) for item in value.tolist()):
            return {"texts": value.tolist() if value.dtype.kind == "U" else [None, *value.tolist()]}
        raise ConfigError(f"{key} holds {value.dtype}, which cannot be written to a file.")


class _Reader:
    """The values again."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays

    def value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            if isinstance(data, list):
                raise FileFormatError("A list stands where there can be none.")
            return data
        ((kind, inside),) = data.items()
        if kind == "array":
            return self.arrays[inside]
        if kind in ("list", "tuple"):
            found = [self.value(item) for item in inside]
            return found if kind == "list" else tuple(found)
        if kind == "dict":
            return {self.value(key): self.value(item) for key, item in inside}
        if kind == "texts":  # a None in front says that they were objects
            return np.array(inside[1:], dtype=object) if inside[:1] == [None] else np.array(inside, dtype=str)
        if kind == "classes":
            return Classes(str(inside["kind"]), self.value(inside["classes"]), bool(inside["is_sparse"]))
        if kind == "target":
            return Target(**inside)
        if kind == "description":
            return Reader().description(inside, Description)
        raise FileFormatError(f"{kind!r} is no kind of value.")
