"""Baseline models for the same rows: constant predictions, a linear model and gradient boosting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from madaline.data.encode import NUMBERS

if TYPE_CHECKING:
    pass

MAX_ROWS = 50_000
"Maximum number of training rows of baselines."
MAX_BINS = 255
"Maximum number of categories of a column for gradient boosting."
MAX_COLUMNS = 2_000
"Maximum number of columns for gradient boosting, which would otherwise take longer than the net."
MAX_CLASSES = 100
"Maximum number of classes for gradient boosting, which needs one tree per class in every round."


@dataclass(frozen=True)
class BaselineRows:
    """Rows encoded by the table plan, and their targets: class indices, labels or numbers."""

    X: dict[str, np.ndarray]
    y: np.ndarray

    @property
    def numbers(self) -> np.ndarray:
        """The matrix of numbers."""
        return self.X.get(NUMBERS, np.empty((len(self.y), 0), np.float32))

    @property
    def codes(self) -> np.ndarray:
        """Embedded categories as integers, one column each."""
        columns = [column for name, column in self.X.items() if name != NUMBERS]
        return np.column_stack(columns) if columns else np.empty((len(self.y), 0), np.int64)

    def head(self, count: int) -> BaselineRows:
        """The first rows."""
        return BaselineRows({name: column[:count] for name, column in self.X.items()}, self.y[:count])


Baseline = tuple[str, Callable[[], np.ndarray]]
"A name, and a function that fits the model and returns its predictions for the test set."


def baselines(task: str, train: BaselineRows, test: BaselineRows, n_classes: int, *, seed: int) -> list[Baseline]:
    """Baseline models by name; each is fitted when it is called."""
    train = train.head(MAX_ROWS)
    first = {"regression": "mean", "count": "mean"}.get(task, "most frequent")
    found: list[Baseline] = [(first, lambda: _dummy(task, train, test, n_classes))]
    found.append(("linear model", lambda: _linear(task, train, test, n_classes, seed)))
    if train.numbers.shape[1] + train.codes.shape[1] <= MAX_COLUMNS and n_classes <= MAX_CLASSES:
        found.append(("gradient boosting", lambda: _boosting(task, train, test, n_classes, seed)))
    return found


def _dummy(task: str, train: BaselineRows, test: BaselineRows, n_classes: int) -> np.ndarray:
    nothing, other = np.zeros((len(train.y), 1)), np.zeros((len(test.y), 1))
    if task in ("regression", "count"):
        return np.asarray(DummyRegressor().fit(nothing, train.y).predict(other)).reshape(len(test.y), -1)
    if task == "multilabel":
        return np.tile(train.y.mean(axis=0), (len(test.y), 1))
    model = DummyClassifier(strategy="prior").fit(nothing, train.y)
    return _spread(model.predict_proba(other), model.classes_, n_classes)


def _linear(task: str, train: BaselineRows, test: BaselineRows, n_classes: int, seed: int) -> np.ndarray:
    from scipy import sparse

    encoder = OneHotEncoder(handle_unknown="ignore", max_categories=100)
    if train.codes.shape[1]:
        encoder.fit(train.codes)
        matrices = [
            sparse.hstack([sparse.csr_matrix(rows.numbers), encoder.transform(rows.codes)]).tocsr()
            for rows in (train, test)
        ]
    else:
        matrices = [train.numbers, test.numbers]
    scaler = StandardScaler(with_mean=not sparse.issparse(matrices[0]))
    model: Any
    if task == "regression":
        model = RidgeCV(np.logspace(-2, 4, 7))
    elif task == "count":
        model = _for_each(PoissonRegressor(alpha=1e-3, max_iter=300), train.y)
    else:
        model = LogisticRegression(max_iter=300, random_state=seed)
        model = MultiOutputClassifier(model) if task == "multilabel" else model
    return _fitted(make_pipeline(scaler, model), matrices[0], train.y, matrices[1], task, n_classes)


def _boosting(task: str, train: BaselineRows, test: BaselineRows, n_classes: int, seed: int) -> np.ndarray:
    matrices = [np.hstack([rows.numbers, rows.codes.astype(np.float32)]) for rows in (train, test)]
    n_numbers, codes = train.numbers.shape[1], train.codes
    few = [n_numbers + k for k in range(codes.shape[1]) if codes[:, k].max(initial=0) < MAX_BINS]
    for k in few:  # codes that are not in the training set are missing
        matrices[1][matrices[1][:, k] >= MAX_BINS, k] = np.nan
    # Each round has one tree per class: with many classes, fewer rounds, so that it does not take longer than the net.
    rounds = max(10, min(100, 400 // max(n_classes, 1)))
    options: dict[str, Any] = {"random_state": seed, "categorical_features": few or None, "max_iter": rounds}
    model: Any
    if task in ("regression", "count"):
        loss = "poisson" if task == "count" else "squared_error"
        model = _for_each(HistGradientBoostingRegressor(loss=loss, **options), train.y)
    else:
        model = HistGradientBoostingClassifier(**options)
        model = MultiOutputClassifier(model) if task == "multilabel" else model
    return _fitted(model, matrices[0], train.y, matrices[1], task, n_classes)


def _for_each(model: Any, y: np.ndarray) -> Any:
    """A model for several targets, from one for a single target."""
    return model if y.shape[1] == 1 else MultiOutputRegressor(model)


def _fitted(model: Any, X: Any, y: np.ndarray, other: Any, task: str, n_classes: int) -> np.ndarray:
    """Fit the model, and predict in the form of :func:`madaline.estimators.tabular.scores.score`."""
    one = task in ("regression", "count") and y.shape[1] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a baseline that did not converge can still be used
        model.fit(X, y[:, 0] if one else y)
        if task in ("regression", "count"):
            return np.asarray(model.predict(other)).reshape(other.shape[0], -1)
        found = model.predict_proba(other)
    if task == "multilabel":
        return np.column_stack([1.0 - p[:, 0] if p.shape[1] == 2 else np.full(len(p), 0.5) for p in found])
    return _spread(found, model.classes_, n_classes)


def _spread(p: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of all classes, including those that are not in the training set."""
    whole = np.zeros((len(p), n_classes))
    whole[:, classes.astype(int)] = p
    return whole
