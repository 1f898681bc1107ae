"""No, some and too much dropout for training on noisy labels. Lecture row E15.

``python gallery/noisy_labels.py`` writes the page of the same name and its picture. Tests use the same functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

N_ROWS, WRONG = 300, 0.25
"Number of training rows, and fraction of labels that are flipped."
DROPS = {"none": 0.0, "some": 0.4, "too much": 0.9}


def points(n_rows: int, *, seed: int, purpose: str) -> tuple[Array, Array]:
    """Points of the square [-1, 1]^2, and whether each lies above a wave."""
    X = md.nn.initializers.stream(seed, "noisy labels", purpose).uniform(-1.0, 1.0, (n_rows, 2)).astype(np.float32)
    return X, (X[:, 1] > 0.5 * np.sin(3.0 * X[:, 0])).astype(np.int64)


def flipped(y: Array, *, seed: int) -> Array:
    """Labels with some of them flipped."""
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
    """The error on the noisy training labels, and the error on the true labels of new points."""
    X, y = points(N_ROWS, seed=seed, purpose="train")
    X_new, y_new = points(2000, seed=seed, purpose="test")
    on_noise = np.mean(model(X).argmax(axis=1) != flipped(y, seed=seed))
    return float(on_noise), float(np.mean(model(X_new).argmax(axis=1) != y_new))


# The page

PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.parent / "pictures" / "noisy_labels.png"
SEEDS = range(5)

TEXT = """# Dropout with wrong labels
Lecture row E15, measured by [`noisy_labels.py`](noisy_labels.py), which wrote this page; the tests in
[`test_dropout.py`](../tests/lectures/test_dropout.py) check the same results.

A net with three hidden layers of 64 rectifiers is trained to classify points, using {n_rows} points of which
{wrong:.0%} have wrong labels. Adam with learning rate 0.01, 300 epochs with full batches; means over {n_seeds} seeds.

| dropout | p | error on the noisy training labels | error on the true labels of new points |
| --- | --- | --- | --- |
{table}

Without dropout the net memorizes wrong labels. With some dropout it does not, and learns the boundary; with too much it
learns nothing. (A perfect net would have an error of {wrong:.0%} on the noisy labels; a smaller error means that wrong
labels were memorized.)

![predictions of the nets](pictures/noisy_labels.png)
"""


def page() -> str:
    """Run the experiment and return the page."""
    rows = []
    for label, p in DROPS.items():
        on_noise, on_new = np.mean([errors(train(p, seed=seed), seed=seed) for seed in SEEDS], axis=0)
        rows.append(f"| {label} | {p} | {on_noise:.0%} | {on_new:.0%} |")
    return TEXT.format(n_rows=N_ROWS, wrong=WRONG, n_seeds=len(SEEDS), table="\n".join(rows))


def draw() -> Any:
    """Draw the predictions of the nets of one seed."""
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
        "colour: prediction; points: training labels, crosses: wrong labels; line: true boundary", fontsize=8.5
    )
    return figure


def write() -> None:
    """Run the experiment, and write the page and the picture."""
    PAGE.write_text(page(), encoding="utf-8")
    draw().savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    write()
