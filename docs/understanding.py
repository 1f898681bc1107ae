"""Draw the pictures of the guide "Understanding a model", into ``docs/pictures``: ``python docs/understanding.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance

import madaline as md
from madaline.data.datasets import DATASETS

Array = np.ndarray[Any, Any]
PICTURES = Path(__file__).parent / "pictures"
BLUE, ORANGE = "#0072B2", "#E69F00"


def digits() -> tuple[Array, Array]:
    """Images of 8 x 8 pixels with values from 0 to 1, and their digits."""
    X, y = load_digits(return_X_y=True)
    return (X / 16.0).astype(np.float32), y


def penguins() -> tuple[pl.DataFrame, pl.Series]:
    """Columns of penguins, and their species."""
    table = DATASETS["penguins"].table()
    return table.drop("species"), table["species"]


def linear_digits() -> md.MLPClassifier:
    """A strongly regularized linear classifier of digits."""
    return md.MLPClassifier((), alpha=20.0, schedule="cosine", max_iter=60, learning_rate_init=0.01, random_state=0)


def deep_digits(**parameters: Any) -> md.MLPClassifier:
    """A net with hidden layers for digits."""
    parameters = {"alpha": 2.0, "schedule": "cosine", "max_iter": 60, "learning_rate_init": 0.003} | parameters
    return md.MLPClassifier((36, 24), **parameters, random_state=0)


def loss_curve() -> Figure:
    """Early stopping on digits, with few training rows."""
    X, y = digits()
    clf = deep_digits(alpha=0.0, batch_size=50, max_iter=80, early_stopping=True, monitor="val_loss")
    figure, ax = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    md.report.LossCurveDisplay.from_estimator(clf.fit(X[:600], y[:600]), ax=ax)
    return figure


def layer_statistics() -> Figure:
    """Vanishing gradients in five hidden layers of sigmoid units."""
    X, y = digits()
    clf = md.MLPClassifier(
        (32,) * 5,
        "logistic",
        schedule="cosine",
        max_iter=30,
        random_state=0,
        init="xavier_normal",
        callbacks=md.train.Probes(),
    )
    return md.report.LayerStatisticsDisplay.from_estimator(clf.fit(X, y)).figure_


def first_layer() -> Figure:
    """The hidden units of a net for digits."""
    X, y = digits()
    return md.report.FirstLayerDisplay.from_estimator(deep_digits().fit(X, y), X).figure_


def templates() -> Figure:
    """The weights of a linear classifier: one template for each digit."""
    X, y = digits()
    display = md.report.FirstLayerDisplay.from_estimator(linear_digits().fit(X, y))
    display.ax_.set_title("one template for each digit, 0 to 9", fontsize=10)
    return display.figure_


def decision_boundary() -> Figure:
    """Decision boundaries between three species, from two columns."""
    table, species = penguins()
    known = ~table["bill_length_mm"].is_null()
    X = table.filter(known).select("bill_length_mm", "flipper_length_mm")
    names, y = np.unique(species.filter(known).to_numpy(), return_inverse=True)
    clf = md.MLPClassifier((16, 16), "tanh", data="auto", solver="lbfgs", alpha=0.1, random_state=0)
    clf.fit(X, names[y])
    figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
    display = DecisionBoundaryDisplay.from_estimator(
        clf, X.to_pandas(), response_method="predict_proba", eps=3.0, ax=ax, alpha=0.6
    )
    for place, (name, marker) in enumerate(zip(names, "osD", strict=True)):
        points = X.to_numpy()[y == place]
        color = display.multiclass_colors_[place]
        ax.scatter(*points.T, s=16, marker=marker, color=color, edgecolor="white", linewidth=0.5, label=name)
    ax.legend(fontsize=8)
    return figure


def attributions() -> Figure:
    """Attributions of pixels to the predicted digit."""
    X, y = digits()
    clf = deep_digits().fit(X[:1400], y[:1400])
    rows = X[1400:][[int(np.flatnonzero(y[1400:] == digit)[3]) for digit in range(10)]]
    parts = md.report.integrated_gradients(clf, rows, steps=128, raw=True)
    limit = np.abs(parts).max()
    figure, axes = plt.subplots(2, 10, figsize=(8.0, 1.9), layout="constrained")
    for place, (row, part) in enumerate(zip(rows, parts, strict=True)):
        axes[0, place].imshow(row.reshape(8, 8), cmap="gray")
        shown = axes[1, place].imshow(part.reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit)
        axes[0, place].set_title(str(clf.predict(row[None])[0]), fontsize=9)
    for ax in axes.flat:
        ax.set_axis_off()
    figure.colorbar(shown, ax=axes, shrink=0.9, pad=0.01).ax.tick_params(labelsize=7)
    return figure


def columns() -> Figure:
    """Importance of the penguins' columns: attributions and permutation importance."""
    table, species = penguins()
    clf = md.MLPClassifier(16, data="auto", solver="lbfgs", alpha=1.0, random_state=0).fit(table, species)
    parts = np.abs(md.report.integrated_gradients(clf, table, steps=256)).mean(axis=0)
    shuffled = permutation_importance(
        clf, table.to_pandas(), species.to_numpy(), scoring="neg_log_loss", n_repeats=5, random_state=0
    ).importances_mean
    order = np.argsort(parts)
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 2.6), layout="constrained", sharey=True)
    names = np.array(table.columns)[order]
    axes[0].barh(names, parts[order], color=BLUE)
    axes[0].set_xlabel("mean size of integrated gradients", fontsize=9)
    axes[1].barh(names, shuffled[order], color=ORANGE)
    axes[1].set_xlabel("permutation importance (log-loss)", fontsize=9)
    return figure


DRAWN = (loss_curve, layer_statistics, first_layer, templates, decision_boundary, attributions, columns)

if __name__ == "__main__":
    mpl.use("Agg")
    PICTURES.mkdir(exist_ok=True)
    for draw in DRAWN:
        path = PICTURES / f"{draw.__name__}.png"
        draw().savefig(path, dpi=110)
        print(f"{path.name}: {path.stat().st_size // 1000} kB")
