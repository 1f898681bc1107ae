"""Batch norm makes training robust to bad initial weights: the "disc" experiment. Lecture row E13.

``python gallery/disc.py`` runs it (some minutes) and writes the page ``disc.md``, its picture and its numbers,
``disc.json``. Tests use the same functions.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

N_UNITS, DEPTH = 32, 16
N_ROWS, BATCH, EPOCHS, RATE = 1000, 100, 200, 0.1
STDS = tuple(sorted([*(float(f"{std:.2g}") for std in np.logspace(-3, 1, 17)), 0.13, 0.15, 0.21, 0.25]))
SEEDS = range(5)
LEARNED = 0.1
"Maximum test error of a net that counts as trained; guessing has an error of one half."


def disc(n_rows: int, *, seed: int, purpose: str) -> tuple[Array, Array]:
    """Points of the square [-1, 1]^2, and whether each lies in the disc of half its area, |x|^2 < 2 / pi."""
    X = md.nn.initializers.stream(seed, "disc", purpose).uniform(-1.0, 1.0, (n_rows, 2)).astype(np.float32)
    return X, ((X * X).sum(axis=1) < 2.0 / math.pi).astype(np.int64)


def net(std: float, *, batch_norm: bool, n_units: int = N_UNITS, depth: int = DEPTH) -> md.Sequential:
    """The lecture's ``create_model``: 2 inputs, 1 + 16 hidden layers of 32, 2 outputs, all weights N(0, std^2)."""
    init = md.nn.initializers.Normal(std)
    layers: list[md.nn.Layer] = []
    for _ in range(1 + depth):
        layers += [md.Linear(n_units, init=init), *([md.BatchNorm()] if batch_norm else []), md.ReLU()]
    return md.Sequential(*layers, md.Linear(2, init=init))


def train(std: float, *, batch_norm: bool, seed: int, epochs: int = EPOCHS) -> md.Model:
    """A trained model; training stops if it diverges."""
    X, y = disc(N_ROWS, seed=seed, purpose="train")
    trainer = md.Trainer(net(std, batch_norm=batch_norm), loss="cross_entropy", optimizer=md.SGD(RATE), seed=seed)
    trainer.fit(X, y, epochs=epochs, batch_size=BATCH, on_divergence="stop")
    return trainer.model


def error_on_new_points(model: md.Model, *, seed: int) -> float:
    """The test error on new points; a net that returns NaN is counted as guessing."""
    X, y = disc(N_ROWS, seed=seed, purpose="test")
    outputs = model(X)
    return float(np.where(np.isnan(outputs).any(axis=1), 0.5, outputs.argmax(axis=1) != y).mean())


def sweep(stds: tuple[float, ...] = STDS, seeds: Any = SEEDS, **settings: Any) -> dict[str, list[list[float]]]:
    """Test errors without and with batch norm: one list per std, one number per seed."""
    return {
        label: [
            [error_on_new_points(train(std, batch_norm=batch_norm, seed=seed, **settings), seed=seed) for seed in seeds]
            for std in stds
        ]
        for label, batch_norm in (("without", False), ("with", True))
    }


def range_that_trains(stds: tuple[float, ...], errors: list[list[float]]) -> tuple[float, float] | None:
    """The smallest and the largest std with which most seeds can be trained."""
    good = [std for std, found in zip(stds, errors, strict=True) if np.median(found) < LEARNED]
    return (min(good), max(good)) if good else None


# The page

HERE = Path(__file__).parent
PAGE, NUMBERS, PICTURE = HERE / "disc.md", HERE / "disc.json", HERE / "pictures" / "disc.png"
COLOURS = {"without": "#c2410c", "with": "#1d4ed8"}
SHOWN_STD = 0.01
"The std of the nets whose predictions are drawn."

TEXT = """# Batch norm makes training robust to bad initial weights
Lecture row E13, measured by [`disc.py`](disc.py), which wrote this page, its picture and [its numbers](disc.json);
[`test_disc.py`](../tests/lectures/test_disc.py) runs a small part of it.

A deep net, 2-32x(1+16)-2 with ReLU, learns which points of a square lie in a disc of half its area. All weights are
initialized from N(0, std²) with the same std in all layers, regardless of fan-in, and biases with 0. Plain SGD with
learning rate {rate}, cross-entropy, {n_rows} points in mini-batches of {batch}, {epochs} epochs; median errors on
{n_rows} other points over {n_seeds} seeds of data, weights and order. (The net, the learning rate, the loss and the
weights are those of the deck; the other settings were chosen here.)

![test error against std, without and with batch norm](pictures/disc.png)

{table}
- **Without** batch norm the net learns {without}. With a smaller std the signal fades from layer to layer and only the
  last bias learns; with a larger one it grows until training diverges. He initialization has std = sqrt(2/32) =
  {he:.2f}.
- **With** batch norm the net learns {with_}: each layer is rescaled to variance 1 for any scale of its weights.
- The range of std with which the net can be trained is {more:.1f} decades wider.
"""


def described(found: tuple[float, float] | None) -> str:
    """A range of std in words."""
    if found is None:
        return "for no std"
    low, high = found
    if low == high:
        return f"only at std = {low:g}"
    return f"from std = {low:g} to {high:g}, {math.log10(high / low):.1f} decades"


def page(numbers: dict[str, Any]) -> str:
    """The text of the page."""
    stds = tuple(numbers["stds"])
    ranges = {label: range_that_trains(stds, numbers[label]) for label in COLOURS}
    widths = {label: math.log10(found[1] / found[0]) if found else 0.0 for label, found in ranges.items()}
    rows = [
        f"| {std:g} | {100 * np.median(plain):.1f} | {100 * np.median(normed):.1f} |"
        for std, plain, normed in zip(stds, numbers["without"], numbers["with"], strict=True)
    ]
    header = ["| std | without: error, % | with batch norm: error, % |", "| --- | --- | --- |"]
    return TEXT.format(
        table="\n".join([*header, *rows, ""]),
        without=described(ranges["without"]),
        with_=described(ranges["with"]),
        more=widths["with"] - widths["without"],
        he=math.sqrt(2 / N_UNITS),
        n_seeds=len(numbers["without"][0]),
        rate=RATE,
        n_rows=N_ROWS,
        batch=BATCH,
        epochs=EPOCHS,
    )


def draw(numbers: dict[str, Any]) -> Any:
    """Plot errors against std, and the predictions of nets with a small std."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, cells = plt.subplot_mosaic(
        [["curve", "without", "with"]], figsize=(10, 3.4), width_ratios=[2.1, 1, 1], layout="constrained"
    )
    ax = cells["curve"]
    for label, colour in COLOURS.items():
        errors = 100 * np.array(numbers[label])
        ax.plot(numbers["stds"], np.median(errors, axis=1), color=colour, lw=2, label=f"{label} batch norm")
        stds = np.repeat(numbers["stds"], errors.shape[1])
        ax.plot(stds, errors.ravel(), ".", color=colour, ms=4, alpha=0.5)
    ax.axhline(50, color="0.6", lw=1, ls=":")
    ax.text(numbers["stds"][-1], 51, "guessing", color="0.4", fontsize=8, va="bottom", ha="right")
    ax.axvline(math.sqrt(2 / N_UNITS), color="0.6", lw=1, ls=":")
    ax.text(math.sqrt(2 / N_UNITS) * 1.5, 20, "He's std, $\\sqrt{2/32}$", color="0.4", fontsize=8)
    ax.set(xscale="log", ylim=(0, 60), xlabel="std of all initial weights", ylabel="test error, %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(0.02, 0.62), fontsize=9)
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 161)] * 2), axis=-1).reshape(-1, 2)
    X, y = disc(N_ROWS, seed=0, purpose="train")
    for label in COLOURS:
        model = train(SHOWN_STD, batch_norm=label == "with", seed=0)
        inside = md.CrossEntropy().predict(model(grid))[:, 1].reshape(161, 161)
        ax = cells[label]
        ax.imshow(inside, extent=(-1, 1, -1, 1), origin="lower", cmap="RdBu_r", vmin=0, vmax=1, alpha=0.75)
        for is_inside, colour in ((0, "#1e3a8a"), (1, "#7f1d1d")):
            ax.plot(*X[y == is_inside][:250].T, ".", ms=2.5, color=colour)
        ax.set(title=f"{label} batch norm, std {SHOWN_STD:g}", xticks=[], yticks=[])
        ax.title.set_fontsize(9)
        ax.add_patch(plt.Circle((0, 0), math.sqrt(2 / math.pi), fill=False, color="k", lw=1))
    return figure


def write() -> None:
    """Run the experiment, and write the numbers, the page and the picture."""
    numbers = {"stds": STDS, **sweep()}
    NUMBERS.write_text(json.dumps(numbers).replace("]], ", "]],\n ") + "\n", encoding="utf-8")
    PAGE.write_text(page(numbers), encoding="utf-8")
    draw(numbers).savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    write()
