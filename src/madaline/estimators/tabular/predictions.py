"""Predictions and targets of a fitted estimator in the form in which they are scored and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from madaline.errors import ConfigError


def final_estimator(model: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    from sklearn.pipeline import Pipeline  # slow to import

    return model[-1] if isinstance(model, Pipeline) else model


def task_of(estimator: Any) -> str:
    """The task that an estimator was fitted for."""
    estimator = final_estimator(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        loss = getattr(estimator, "_loss", None)
        return "count" if loss is not None and loss.out_activation == "exp" else "regression"
    if isinstance(classes, list):
        raise ConfigError("The estimator has several targets of classes, and one is needed here. Fit one for each.")
    if getattr(getattr(estimator, "_classes", None), "kind", "") == "labels":
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
    known, flat = np.array(classes_of(estimator)), array.reshape(len(array))
    places = np.clip(np.searchsorted(known, flat), 0, len(known) - 1)
    if len(unknown := flat[known[places] != flat]):
        raise ConfigError(f"y has the class {unknown.tolist()[0]!r}, which was not in the training data.")
    return places


def scored_prediction(estimator: Any, X: Any) -> np.ndarray:
    """Predictions: probabilities (n, classes) or (n, labels), or numbers (n, k)."""
    if hasattr(final_estimator(estimator), "classes_"):
        if not hasattr(estimator, "predict_proba"):
            loss = getattr(final_estimator(estimator), "loss", None)
            raise ConfigError(f"Probabilities are needed here, and loss={loss!r} gives none. Fit with 'log_loss'.")
        return np.asarray(estimator.predict_proba(X))
    found = np.asarray(estimator.predict(X))
    return found.reshape(len(found), -1)
