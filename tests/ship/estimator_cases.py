"""Fitted estimators of every kind, with what they answer: tried with every target they can be exported to."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import madaline as md
from madaline.data.table import Table
from madaline.ship.answers import inference_of_estimator
from ship.cases import Exported

N_ROWS = 120


@dataclass(frozen=True)
class Fitted:
    """An estimator, rows to ask it about, and its answers by the names of the outputs."""

    name: str
    estimator: Any
    rows: Any
    answers: dict[str, np.ndarray]

    def exported(self) -> Exported:
        """The case as arrays: categories and classes by their places, dates as days."""
        inference = inference_of_estimator(self.estimator)
        outputs = []
        for port in inference.outputs:
            answer = self.answers[port.title.value]
            classes = [given.value for given in port.values]
            outputs.append(np.searchsorted(classes, answer) if port.kind == "label" else answer)
        return Exported(self.name, inference, [self.array(port) for port in inference.inputs], outputs)

    def array(self, port: Any) -> np.ndarray:
        """The values of an input."""
        if not port.is_column:
            return np.asarray(self.rows, dtype=port.dtype)
        table = Table.of(self.rows)
        name = port.title.value
        column = table[name if name in table else table.names[port.place]]
        if port.kind == "category":
            return column.codes(tuple(given.value for given in port.values))
        if port.kind == "date":
            return (column.dates() - np.datetime64(0, "us")) / np.timedelta64(1, "D")
        return column.numbers().astype(np.float64)


def table(n_rows: int = N_ROWS, seed: int = 0) -> pd.DataFrame:
    """Columns of every kind, with gaps."""
    rng = np.random.default_rng(seed)
    moments = pd.Timestamp("1896-02-27") + pd.to_timedelta(rng.uniform(0, 60_000, n_rows), unit="D").round("s")
    frame = pd.DataFrame({
        "size in m²": rng.normal(100.0, 20.0, n_rows),
        "rooms": rng.integers(1, 6, n_rows),
        "year": 2.0e9 + rng.normal(size=n_rows),
        "city": rng.choice(["Rome", "Oslo", "São Paulo"], n_rows),
        "side": rng.choice(["left", "right"], n_rows),
        "zip": rng.choice([f'"{k}"' for k in range(15)], n_rows),
        "level": rng.choice([1.5, 2.0, 3.0], n_rows).astype(str),
        "built": moments,
        "pool": rng.random(n_rows) > 0.5,
        "same": np.ones(n_rows),
    })  # fmt: skip
    for k, name in enumerate(["size in m²", "city", "side", "zip", "built"]):
        frame[name] = frame[name].where(np.arange(n_rows) % (7 + k) > 0, None)
    return frame


def new_rows() -> pd.DataFrame:
    """Rows that training did not see, with categories it did not know."""
    rows = table(40, seed=1)
    rows.loc[3, "city"] = "Lima"
    rows.loc[4, "zip"] = "999"
    rows.loc[5, "built"] = pd.Timestamp("2000-02-29 23:59:59")
    rows.loc[6, "built"] = pd.Timestamp("1970-01-01")
    return rows


def numbers(n_columns: int = 4) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(N_ROWS, n_columns))


def classes(X: np.ndarray, n_classes: int = 3) -> np.ndarray:
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])[:, None] % n_classes][:, 0]


def classifier(X, y, rows=None, **options):
    found = md.MLPClassifier((8,), **{"max_iter": 3, "random_state": 0, **options}).fit(X, y)
    rows = X if rows is None else rows
    if isinstance(found.classes_, list):
        labels = {f"label_{k}": column for k, column in enumerate(np.asarray(found.predict(rows)).T)}
        return found, rows, {"probabilities": np.concatenate(found.predict_proba(rows), axis=1), **labels}
    if options.get("loss") in ("hinge", "squared_hinge"):
        decision = found.decision_function(rows)
        return found, rows, {"decision": decision.reshape(len(rows), -1), "label": found.predict(rows)}
    name = "labels" if np.ndim(y) == 2 else "label"
    return found, rows, {"probabilities": found.predict_proba(rows), name: found.predict(rows)}


def regressor(X, y, rows=None, **options):
    found = md.MLPRegressor(**{"hidden_layer_sizes": (8,), "max_iter": 3, "random_state": 0, **options}).fit(X, y)
    rows = X if rows is None else rows
    return found, rows, {"prediction": found.predict(rows)}


def density(kind, X, y, **options):
    found = kind((8,), max_iter=3, random_state=0, **options).fit(X, y)
    if isinstance(found, md.QuantileMLPRegressor):
        return found, X, {"quantiles": found.predict_quantiles(X)}
    if isinstance(found, md.GaussianMLPRegressor):
        mean, std = found.predict(X, return_std=True)
        return found, X, {"mean": mean, "std": std}
    mixture = found.distribution(X)
    return found, X, {"mean": found.predict(X), "weights": mixture.weights, "means": mixture.means}


def classical(kind, X, y, **options):
    found = kind(**options).fit(X, y)
    decision = found.decision_function(X)
    return found, X, {"decision": decision.reshape(len(X), -1), "label": found.predict(X)}


def far_rows() -> pd.DataFrame:
    """Rows so far from those that trained that predictions reach their bounds."""
    rows = new_rows()
    rows["size in m²"] = np.where(np.arange(len(rows)) % 2, 1e3, -1e3)
    return rows


X, FRAME = numbers(), table()
Y = X[:, 0] * 2.0 + 3.0
MAKERS = {
    "classifier of two": lambda: classifier(X, X[:, 0] > 0),
    "classifier of two, float32": lambda: classifier(X.astype(np.float32), np.where(X[:, 0] > 0, 7, 3)),
    "classifier of three": lambda: classifier(X, classes(X), norm="batch", activation="mish"),
    "classifier of labels": lambda: classifier(X, (X[:, :3] > 0).astype(int)),
    "classifier of several targets": lambda: classifier(X, np.stack([classes(X), classes(X[:, 1:])], axis=1)),
    "classifier with margins": lambda: classifier(X, X[:, 0] > 0, loss="hinge"),
    "classifier of a table": lambda: classifier(FRAME, classes(X), new_rows(), data="auto"),
    "classifier of a table, two": lambda: classifier(FRAME, X[:, 0] > 0, new_rows(), data="auto"),
    "classifier with a preset": lambda: classifier(FRAME, classes(X), new_rows(), preset="auto"),
    "classifier of an array with a preset": lambda: classifier(X, classes(X), preset="auto"),
    "regressor": lambda: regressor(X, Y),
    "regressor of two": lambda: regressor(X, X[:, :2], dtype="float32", residual=True),
    "regressor of counts": lambda: regressor(X, np.round(np.exp(X[:, 0])), loss="poisson"),
    "regressor of a table": lambda: regressor(FRAME, 1e6 * Y, new_rows(), data="auto"),
    "regressor of a table, two": lambda: regressor(FRAME, X[:, :2], new_rows(), data={"scaling": "standard"}),
    "regressor with a preset": lambda: regressor(FRAME, Y, new_rows(), preset="auto"),
    "quantiles": lambda: density(md.QuantileMLPRegressor, X, Y),
    "quantiles of two": lambda: density(md.QuantileMLPRegressor, X, X[:, :2], quantiles=(0.1, 0.9)),
    "gaussian": lambda: density(md.GaussianMLPRegressor, X, Y),
    "gaussian of two": lambda: density(md.GaussianMLPRegressor, X, X[:, :2]),
    "mixture": lambda: density(md.MixtureDensityRegressor, X, Y, components=3),
    "mixture of two": lambda: density(md.MixtureDensityRegressor, X, X[:, :2], components=2),
    "perceptron": lambda: classical(md.classical.Perceptron, X, X[:, 0] > 0),
    "perceptron of three": lambda: classical(md.classical.Perceptron, X, classes(X), max_iter=5),
    "adaline": lambda: classical(md.classical.Adaline, X, X[:, 0] > 0),
    "madaline": lambda: classical(md.classical.Madaline, X, X[:, 0] * X[:, 1] > 0, max_iter=3, random_state=0),
    "madaline of three": lambda: classical(md.classical.Madaline, X, classes(X), max_iter=3, random_state=0),
    "threshold unit": lambda: classical(md.classical.ThresholdLogicUnit, np.round(np.abs(X)), X[:, 0] > 0),
    "two classes with a preset": lambda: classifier(FRAME, X[:, 0] > 0, new_rows(), preset="auto"),
    "labels with a preset": lambda: classifier(
        FRAME, pd.DataFrame({"p": X[:, 0] > 0, "q": X[:, 1] > 0}).astype(int), new_rows(), preset="auto"
    ),
    "several numbers with a preset": lambda: regressor(FRAME, X[:, :2], new_rows(), preset="auto"),
    "counts with a preset": lambda: regressor(
        FRAME, np.round(np.exp(X[:, 0])), new_rows(), preset="auto", loss="poisson"
    ),
    "counts by squares with a preset": lambda: regressor(
        FRAME, np.round(np.exp(X[:, 0])), new_rows(), preset="auto", loss="squared_error"
    ),
    "numbers at their bounds": lambda: regressor(FRAME, Y, far_rows(), preset="auto"),
    "counts at their bounds": lambda: regressor(
        FRAME, np.round(np.exp(X[:, 0])), far_rows(), preset="auto", loss="poisson"
    ),
}  # fmt: skip


@functools.cache
def fitted(name: str) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nets that were trained too little
        estimator, rows, answers = MAKERS[name]()
    return Fitted(name, estimator, rows, {key: np.asarray(value) for key, value in answers.items()})
