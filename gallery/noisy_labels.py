"""Dropout against labels that are wrong: none, some, too much. Lecture row E15.

``python gallery/noisy_labels.py`` writes the page of the same name and its picture. Tests ask the same functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

N_ROWS, WRONG = 300, 0.25
"The rows to learn from, and the share of their labels that is flipped."
DROPS = {"none": 0.0, "some": 0.4, "too much": 0.9}


def points(n_rows: int, *, seed: int, purpose: str) -> tuple[Array, Array]:
    """Points of the square [-1, 1]^2, and whether each lies above a wave."""
    X = md.nn.initializers.stream(seed, "noisy labels", purpose).uniform(-1.0, 1.0, (n_rows, 2)).astype(np.float32)
    return X, (X[:, 1] > 0.5 * np.sin(3.0 * X[:, 0])).astype(np.int64)


def flipped(y: Array, *, seed: int) -> Array:
    """Labels, some of which are wrong."""
    return np.where(md.nn.initializers.stream(seed, "noisy labels", "flips").random(len(y)) < WRONG, 1 - y, y)


def train(p: float, *, seed: int = 0) -> md.Model:
    """A net of three hidden layers, trained on noisy labels."""
    X, y = points(N_ROWS, seed=seed, purpose="train")
    trainer = md.Trainer(
        md.mlp(64, 64, 64, 2, dropout=p), loss="cross_entropy", optimizer=md.Adam(0.01), seed=seed, threads=1
    )
    trainer.fit(X, flipped(y, seed=seed), epochs=300, batch_size=None)
    return trainer.model


def errors(model: md.Model, *, seed: int = 0) -> tuple[float, float]:
    """The share of training labels, wrong ones among them, that it does not give; and of true labels of new points."""
    X, y = points(N_ROWS, seed=seed, purpose="train")
    X_new, y_new = points(2000, seed=seed, purpose="test")
    on_noise = np.mean(model(X).argmax(axis=1) != flipped(y, seed=seed))
    return float(on_noise), float(np.mean(model(X_new).argmax(axis=1) != y_new))


# The page

PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.parent / "pictures" / "noisy_labels.png"
SEEDS = range(5)

TEXT = """# Dropout against wrong labels
Lecture row E15, measured by [`noisy_labels.py`](noisy_labels.py), which wrote this page; the tests of
[`test_dropout.py`](../tests/lectures/test_dropout.py) ask the same questions.

A net of three hidden layers of 64 rectifiers learns from {n_rows} points which of two classes they have; {wrong:.0%} of
the labels are wrong. Adam, rate 0.01, 300 epochs of all rows; means over {n_seeds} seeds.

| dropout | p | error on the noisy labels it learned from | error on true labels of new points |
| --- | --- | --- | --- |
{table}

Without dropout the net learns the wrong labels by heart. With some it cannot, and finds the border; with too much it
finds nothing. (The first column should be {wrong:.0%}: what is less has been learned by heart.)

![what the nets say of the square](pictures/noisy_labels.png)
"""


def page() -> str:
    """The page, measured."""
    rows = []
    for label, p in DROPS.items():
        on_noise, on_new = np.mean([errors(train(p, seed=seed), seed=seed) for seed in SEEDS], axis=0)
        rows.append(f"| {label} | {p} | {on_noise:.0%} | {on_new:.0%} |")
    return TEXT.format(n_rows=N_ROWS, wrong=WRONG, n_seeds=len(SEEDS), table="\n".join(rows))


def draw() -> Any:
    """What the nets of one seed say of the square."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, cells = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained")
    axis = np.linspace(-1.0, 1.0, 201)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    X, y = points(N_ROWS, seed=0, purpose="train")
    noisy = flipped(y, seed=0)
    for ax, (label, p) in zip(cells, DROPS.items(), strict=True):
        model = train(p)
        above = md.CrossEntropy().predict(model(grid))[:, 1].reshape(201, 201)
        ax.imshow(above, extent=(-1, 1, -1, 1), origin="lower", cmap="RdBu_r", vmin=0, vmax=1, alpha=0.7)
        for kind, colour in ((0, "#1e3a8a"), (1, "#7f1d1d")):
            ax.plot(*X[(noisy == kind) & (noisy == y)].T, "o", ms=3.2, color=colour, mec="white", mew=0.3)
            ax.plot(*X[(noisy == kind) & (noisy != y)].T, "X", ms=5.5, color=colour, mec="white", mew=0.6)
        ax.plot(axis, 0.5 * np.sin(3.0 * axis), color="k", lw=1.2)
        ax.set_title(f"{label}, p = {p:g}: {errors(model)[1]:.0%} wrong on new points", fontsize=9)
        ax.set(xticks=[], yticks=[], xlim=(-1, 1), ylim=(-1, 1))
    figure.supxlabel(
        "colour: what the net says; points: labels it learned from, crosses: wrong ones; line: the truth", fontsize=8.5
    )
    return figure


def write() -> None:
    """Measure, and write page and picture."""
    PAGE.write_text(page(), encoding="utf-8")
    draw().savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    write()
