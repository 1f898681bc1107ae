"""Fitted estimators as files: parameters, net, and everything else that was learned. Reading one runs no code."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import madaline
from madaline import classical, container, data
from madaline.data import encode  # noqa: F401 - registers the plans of tables, which files hold
from madaline.description import Description
from madaline.errors import ConfigError, FileFormatError, MadalineWarning
from madaline.estimators import integrity
from madaline.estimators.base import NetEstimator
from madaline.estimators.defaults import is_default
from madaline.estimators.intervals import Intervals
from madaline.estimators.losses import scikit_loss
from madaline.estimators.provenance import Provenance
from madaline.estimators.saved import SavableEstimator
from madaline.estimators.targets import Classes
from madaline.functional import files
from madaline.losses.custom import CustomLoss
from madaline.losses.loss import Loss
from madaline.losses.targets import Target
from madaline.nn.layers.sequential import as_layer
from madaline.plain import Reader
from madaline.train.saved_state import history_from_plain, history_to_plain

APART = (
    "model_",
    "history_",
    "loss_function_",
    "_trainer",
    "_predictor",
    "best_weights_",
    "resolved_params_",
    "provenance_",
    "oof_prediction_",
)
"Attributes that are written separately, made again, or not kept, such as predictions of the training rows."

MODULES = (madaline, classical, data)
"Where the classes of estimators are found; no others are read from files."


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator.

    Parameters that only training needs and that a file cannot hold (callbacks, validation data, generators) are left
    out, with a warning; custom functions are saved as their graphs. Training can continue with a fresh optimizer.
    """
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise ConfigError(
            f"save needs a fitted estimator, and this {type(estimator).__name__} is not: call fit first."
        ) from None
    has_net = isinstance(estimator, NetEstimator)
    arrays = files.model_arrays(estimator.model_) if has_net else {}
    writer = _ValueWriter(arrays)
    given = {name: value for name, value in estimator.get_params(deep=False).items() if not is_default(value)}
    parameters, left_out = _written(writer, estimator, given, "parameter")
    if left_out:
        warnings.warn(
            f"The file does not hold {', '.join(left_out)}: only plain values and NumPy functions can be saved.",
            MadalineWarning,
            stacklevel=3,
        )
    resolved, _ = _written(writer, estimator, getattr(estimator, "resolved_params_", {}), "resolved")
    learned = {name: value for name, value in vars(estimator).items() if _is_learned(estimator, name)}
    document = {
        "kind": "estimator",
        "class": type(estimator).__name__,
        "parameters": parameters,
        "resolved": resolved,
        "learned": {name: writer.value(value, f"learned.{name}") for name, value in learned.items()},
        **(_net(estimator) if has_net else {}),
    }
    if "provenance_" in vars(estimator):
        document["provenance"] = estimator.provenance_.to_plain()
    container.write(path, arrays, document)


def _written(
    writer: _ValueWriter, estimator: Any, values: dict[str, Any], prefix: str
) -> tuple[dict[str, Any], list[str]]:
    """Parameters as plain data, and the names of those that cannot be written."""
    found, left_out = {}, []
    for name, value in values.items():
        try:
            found[name] = writer.value(_as_description(estimator, name, value), f"{prefix}.{name}")
        except ConfigError:
            left_out.append(name)
    return found, left_out


def _net(estimator: NetEstimator) -> dict[str, Any]:
    """The net and its training history."""
    history = estimator.history_
    ended = {"stopped": history.stopped, "converged": history.converged}
    return files.describe(estimator.model_) | {"history": history_to_plain(history) | ended}


def restored(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The estimator in a file."""
    name = document["class"]
    found = [getattr(module, name) for module in MODULES if name in module.__all__]
    if not found or not isinstance(found[0], type) or not issubclass(found[0], SavableEstimator):
        raise FileFormatError(f"The file holds a {name!r}, which is not an estimator of madaline.")
    cls: Any = found[0]
    reader = _ValueReader(arrays)
    known = set(cls._get_param_names())
    given = {key: reader.value(value) for key, value in document["parameters"].items() if key in known}
    if isinstance(given.get("loss"), Description) and not isinstance(given["loss"], Loss):
        raise FileFormatError(f"loss={given['loss']!r:.40} is not a loss.")
    estimator: Any = cls(**given)
    estimator.check_parameters()
    for key, value in document["learned"].items():
        if not _is_learned(estimator, key) or callable(getattr(cls, key, None)):
            raise FileFormatError(f"{key!r} is not an attribute that an estimator learns.")
        estimator.__dict__[key] = reader.classes(value) if key == "classes_" else reader.value(value)
    integrity.check_learned(cls, {key: vars(estimator)[key] for key in document["learned"]})
    if "provenance" in document:
        estimator.provenance_ = Provenance.from_plain(document["provenance"])
    if not isinstance(estimator, NetEstimator):
        integrity.check_answer(estimator, n_numbers=sum(array.size for array in arrays.values()))
        return estimator
    estimator.resolved_params_ = {str(key): reader.value(value) for key, value in document["resolved"].items()}
    model, history = files.restored(document, arrays), history_from_plain(document["history"])
    history.stopped, history.converged = str(document["history"]["stopped"]), document["history"]["converged"]
    estimator.restore_net(model, history)
    integrity.check_answer(estimator, n_numbers=model.network.n_params)
    for values in (given, estimator.resolved_params_):  # so that it can be saved again
        _written(_ValueWriter({}), estimator, values, "parameter")
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
        width = getattr(getattr(estimator, "target_spec_", None), "width", 1)
        target = np.empty((0, width) if width > 1 else 0, np.int64 if hasattr(estimator, "classes_") else np.float64)
        return loss.traced(outputs, target) if isinstance(loss, CustomLoss) else loss
    if name == "validation" and isinstance(value, (list, tuple)):
        raise ConfigError("A model file holds no rows of data.")
    if name == "dtype" and value is not None:
        return np.dtype(value).name
    return value


class _ValueWriter:
    """Values as JSON; other than plain values are a dict whose only key says what they are."""

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
        if isinstance(value, Intervals):
            return {"intervals": {name: self.value(array, f"{key}.{name}") for name, array in vars(value).items()}}
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


class _ValueReader:
    """The values that a writer wrote."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays

    def value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            if isinstance(data, list):
                raise FileFormatError("There is a list where none is allowed.")
            return data
        ((kind, inside),) = data.items()
        if kind == "array":
            array = self.arrays[inside]
            if not np.isfinite(array).all():
                raise ValueError(f"{inside} has numbers that are not finite")
            return array
        if kind in ("list", "tuple"):
            found = [self.value(item) for item in inside]
            return found if kind == "list" else tuple(found)
        if kind == "dict":
            return {self.value(key): self.value(item) for key, item in inside}
        if kind == "texts":  # a None in front says that they were objects
            if not isinstance(inside, list) or any(type(text) is not str for text in inside[inside[:1] == [None] :]):
                raise FileFormatError("The texts of classes or columns must be strings.")
            return np.array(inside[1:], dtype=object) if inside[:1] == [None] else np.array(inside, dtype=str)
        if kind == "classes":
            return Classes(str(inside["kind"]), self.classes(inside["classes"]), bool(inside["is_sparse"]))
        if kind == "target":
            target = Target(**inside)
            if not all(type(size) is int and size > 0 for size in (target.width, target.n_classes or 1)):
                raise ValueError(f"{inside!r} does not describe a target")
            return target
        if kind == "intervals":
            return Intervals(**{str(name): self.value(array) for name, array in inside.items()})
        if kind == "description":
            return Reader().description(inside, Description)
        raise FileFormatError(f"{kind!r} is not a kind of value.")

    def classes(self, data: Any) -> Any:
        """An array of strings or numbers, or a list of such arrays; exported files repeat them in their code."""
        found = self.value(data)
        several = found if isinstance(found, list) and found else [found]
        if any(not isinstance(one, np.ndarray) or one.ndim != 1 or one.dtype.kind not in "biufUO" for one in several):
            raise FileFormatError("The classes must be arrays of strings or numbers.")
        return found
