"""Predictions and targets of a fitted estimator in the form in which they are scored and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from madaline.errors import ConfigError, ShapeError

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs


def final_estimator(model: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    from sklearn.pipeline import Pipeline  # slow to import

    return model[-1] if isinstance(model, Pipeline) else model


def called(estimator: Any) -> str:
    """What a table of scores calls an estimator: this net, or this ensemble."""
    return "this net" if getattr(estimator, "members_", None) is None else "this ensemble"


def task_of(estimator: Any) -> str:
    """The task that an estimator was fitted for."""
    estimator = final_estimator(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        loss = getattr(estimator, "loss_function_", None)
        return "count" if loss is not None and loss.out_activation == "exp" else "regression"
    if isinstance(classes, list):
        raise ConfigError(
            "The estimator has several columns of classes, but only one is supported here. Fit one estimator for each."
        )
    if getattr(getattr(estimator, "class_encoding_", None), "kind", "") == "labels":
        return "multilabel"
    return "binary" if len(classes) == 2 else "multiclass"


def classes_of(estimator: Any) -> Sequence[Any]:
    """Classes, or names of labels; none for numbers."""
    task, final = task_of(estimator), final_estimator(estimator)
    if task == "multilabel":
        names = getattr(final, "target_names_", ())
        return list(names) if len(names) == len(final.classes_) else [f"label {place}" for place in final.classes_]
    return [] if task in ("regression", "count") else np.asarray(final.classes_).tolist()


def scored_truth(estimator: Any, y: Any) -> np.ndarray:
    """Targets: numbers of classes (n,), labels (n, k), or numbers (n, k)."""
    task = task_of(estimator)
    array = y.toarray() if issparse(y) else np.asarray(y)
    if task == "multilabel":
        return np.asarray(array, np.float64)
    if task in ("regression", "count"):
        return np.asarray(array, np.float64).reshape(len(array), -1)
    if array.ndim == 0 or array.size != len(array):
        raise ShapeError(f"y has shape {array.shape}, and one class for each row is needed.")
    known, flat = np.array(classes_of(estimator)), array.reshape(len(array))
    places = np.clip(np.searchsorted(known, flat), 0, len(known) - 1)
    if len(unknown := flat[known[places] != flat]):
        raise ConfigError(f"y has the class {unknown.tolist()[0]!r}, which was not in the training data.")
    return places


def has_probabilities(estimator: Any) -> bool:
    """Whether an estimator gives the probabilities of its classes; True for one that predicts numbers."""
    return hasattr(estimator, "predict_proba") or not hasattr(final_estimator(estimator), "classes_")


def need_probabilities(estimator: Any) -> None:
    """Raise an error if an estimator does not give the probabilities of its classes."""
    if not has_probabilities(estimator):
        final = final_estimator(estimator)
        given = f"loss={final.loss!r} gives none. Fit with 'log_loss'." if hasattr(final, "loss") else "it gives none."
        raise ConfigError(f"Probabilities of {type(final).__name__} are needed here, and {given}")


def scored_prediction(estimator: Any, X: Inputs) -> np.ndarray:
    """Predictions: probabilities (n, classes) or (n, labels), or numbers (n, k).

    Without probabilities, the predicted class has 1 and the others 0.
    """
    if not has_probabilities(estimator):
        found = estimator.predict(X)
        return np.asarray(np.eye(len(classes_of(estimator)))[scored_truth(estimator, found)])
    if hasattr(final_estimator(estimator), "classes_"):
        return np.asarray(estimator.predict_proba(X))
    found = np.asarray(estimator.predict(X))
    return found.reshape(len(found), -1)
