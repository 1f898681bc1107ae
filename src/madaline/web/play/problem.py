"""The data of a run: rows for training and testing, and what a picture of them needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from madaline.data import shapes
from madaline.data.curves import CURVES
from madaline.errors import ConfigError
from madaline.web.play import choices
from madaline.web.play import features as made
from madaline.web.play.points import read_points
from madaline.web.play.settings import Settings, names_in
from madaline.web.play.tables import TableInputs, TableStore, encoded_rows

MARGIN = 0.12
"Part of the range of the points that a picture shows beyond them."


@dataclass(frozen=True)
class PlayProblem:
    """Rows and how to show them.

    Attributes
    ----------
    task : {"binary", "classes", "numbers"}
    X, y, X_test, y_test : array
        What the net is trained and tested on.
    inputs : tuple of str
        Names of the columns of X.
    sources : tuple of str
        For a table: the column that each of them comes from.
    classes : tuple of str
        Names of the classes.
    coordinates, coordinates_test : array of shape (n, 1) or (n, 2)
        Where the picture shows each row.
    axes : tuple of str
        Names of the coordinates, and of the target if there is one coordinate.
    features : list of Feature or None
        How coordinates become inputs; None for a table.
    shown : tuple of int
        For a table: the columns of X that are the coordinates.
    """

    task: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    inputs: tuple[str, ...]
    classes: tuple[str, ...]
    coordinates: np.ndarray
    coordinates_test: np.ndarray
    axes: tuple[str, ...]
    features: list[made.InputFeature] | None = None
    shown: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    target: str = ""
    notes: tuple[str, ...] = ()

    @property
    def n_coordinates(self) -> int:
        """1 for a curve, 2 for a surface."""
        return int(self.coordinates.shape[1])

    def extent(self) -> list[list[float]]:
        """The range of each coordinate that a picture shows."""
        every = np.concatenate([self.coordinates, self.coordinates_test])
        low, high = every.min(axis=0), every.max(axis=0)
        span = np.where(high > low, high - low, 1.0)
        if self.n_coordinates == 2 and self.features is not None and span.max() < 4 * span.min():
            middle, span = (low + high) / 2, np.full(2, span.max())  # a square, so that circles are round
            low, high = middle - span / 2, middle + span / 2
        return [[float(a), float(b)] for a, b in zip(low - MARGIN * span, high + MARGIN * span, strict=True)]

    def grid(self, n: int) -> np.ndarray:
        """The inputs of the net at ``n`` places of a curve, or ``n`` times ``n`` of a surface, from below."""
        axes = [np.linspace(low, high, n) for low, high in self.extent()]
        if len(axes) == 1:
            places = axes[0][:, None]
        else:
            across, up = np.meshgrid(*axes)
            places = np.column_stack([across.ravel(), up.ravel()])
        if self.features is not None:
            return made.matrix(self.features, places)
        X = np.repeat(np.median(self.X, axis=0, keepdims=True), len(places), axis=0)
        X[:, list(self.shown)] = places
        return X


def make_problem(settings: Settings, tables: TableStore) -> PlayProblem:
    """The data of settings; an error is one sentence."""
    if settings.kind == "table":
        return _of_table(settings, tables)
    rng = np.random.default_rng(settings.draw)
    if settings.kind == "points":
        X, y = read_points(settings.points)
        order = rng.permutation(len(X))
        return _of_points(settings, X[order], y[order])
    if settings.kind == "shapes":
        X, y = getattr(shapes, settings.data)(settings.n, rng)
        return _of_points(settings, X + settings.noise * rng.normal(size=X.shape), y)
    X, y = CURVES[settings.data](settings.n, rng)
    return _of_points(settings, X, y + settings.noise * rng.normal(size=y.shape))


def _of_points(settings: Settings, X: np.ndarray, y: np.ndarray) -> PlayProblem:
    n = len(X) - max(1, round(settings.test * len(X)))
    is_class = settings.kind != "curves"
    n_classes = int(y.max()) + 1 if is_class else 0
    if is_class and len(np.unique(y[:n])) < 2:
        raise ConfigError("All points are of one class. Draw points of at least two classes.")
    if is_class and settings.flip:
        rng = np.random.default_rng((settings.draw, 1))
        wrong = np.flatnonzero(rng.random(n) < settings.flip)
        y = y.copy()
        y[wrong] = rng.integers(0, n_classes, len(wrong))
    features = made.chosen(settings.features, X.shape[1])
    inputs = made.matrix(features, X)
    return PlayProblem(
        task=_task(n_classes),
        X=inputs[:n],
        y=y[:n],
        X_test=inputs[n:],
        y_test=y[n:],
        inputs=tuple(feature.label for feature in features),
        classes=tuple(f"class {number}" for number in range(n_classes)),
        coordinates=X[:n],
        coordinates_test=X[n:],
        axes=("x", "y") if X.shape[1] == 1 else ("x₁", "x₂"),
        features=features,
    )


def _of_table(settings: Settings, tables: TableStore) -> PlayProblem:
    table = tables.get(settings.table, settings.digest)
    rows = encoded_rows(
        table,
        target=settings.target,
        columns=names_in(settings.columns),
        test=settings.test,
        seed=settings.draw,
        scaling=settings.scaling,
    )
    shown = _shown(settings.axes, rows)
    X, y, n = rows.X, rows.y, rows.n_training
    return PlayProblem(
        task=_task(len(rows.classes)),
        X=X[:n],
        y=y[:n],
        X_test=X[n:],
        y_test=y[n:],
        inputs=rows.inputs,
        sources=rows.sources,
        classes=rows.classes,
        coordinates=X[:n, list(shown)].astype(np.float64),
        coordinates_test=X[n:, list(shown)].astype(np.float64),
        axes=(*(rows.inputs[place] for place in shown), rows.target)[:2],
        shown=shown,
        target=rows.target,
        notes=rows.notes,
    )


def _shown(axes: str, rows: TableInputs) -> tuple[int, ...]:
    """The columns of the picture: those that were chosen, or the first two with many values."""
    places = {name: place for place, name in enumerate(rows.inputs)}
    wanted = [places[name] for name in names_in(axes) if name in places]
    varied = sorted(range(len(places)), key=lambda place: (len(np.unique(rows.X[:, place])) < 10, place))
    return tuple(dict.fromkeys([*wanted, *varied]))[:2]


def _task(n_classes: int) -> str:
    return "numbers" if not n_classes else "binary" if n_classes == 2 else "classes"


@cache
def thumbnails() -> dict[str, dict[str, list[Any]]]:
    """A few points of each generated source of data, for the buttons that choose it."""
    found = {}
    for choice in choices.listed("sources"):
        if choice["kind"] in ("shapes", "curves"):
            problem = make_problem(Settings(data=choice["value"], n=110, test=0.1), TableStore())
            found[choice["value"]] = {"at": problem.coordinates.round(2).tolist(), "y": problem.y.round(2).tolist()}
    return found
