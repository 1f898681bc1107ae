"""Histograms of the activations of a net of ten layers with five initializations. Lecture row B9.

``python gallery/initialisation.py`` runs it (half a minute) and writes the page of the same name and its picture. Tests
use the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

N_ROWS, WIDTH, N_LAYERS = 1000, 500, 10
SEEDS = range(8)

# Mean and standard deviation of each hidden layer, as printed in the deck.
PRINTED = {
    ("0.01 randn", "tanh"): [
        (-0.000117, 0.213081), (-0.000001, 0.047551), (-0.000002, 0.010630), (0.000001, 0.002378),
        (0.000002, 0.000532), (-0.000000, 0.000119), (0.000000, 0.000026), (-0.000000, 0.000006),
        (0.000000, 0.000001), (-0.000000, 0.000000),
    ],
    ("1.0 randn", "tanh"): [
        (-0.000430, 0.981879), (-0.000849, 0.981649), (0.000566, 0.981601), (0.000483, 0.981755),
        (-0.000682, 0.981614), (-0.000401, 0.981560), (-0.000237, 0.981520), (-0.000448, 0.981913),
        (-0.000899, 0.981728), (0.000584, 0.981736),
    ],
    ("Xavier", "tanh"): [
        (0.001198, 0.627953), (-0.000175, 0.486051), (0.000055, 0.407723), (-0.000306, 0.357108),
        (0.000142, 0.320917), (-0.000389, 0.292116), (-0.000228, 0.273387), (-0.000291, 0.254935),
        (0.000361, 0.239266), (0.000139, 0.228008),
    ],
    ("Xavier", "relu"): [
        (0.398623, 0.582273), (0.272352, 0.403795), (0.186076, 0.276912), (0.136442, 0.198685),
        (0.099568, 0.140299), (0.072234, 0.103280), (0.049775, 0.072748), (0.035138, 0.051572),
        (0.025404, 0.038583), (0.018408, 0.026076),
    ],
    ("He", "relu"): [
        (0.562488, 0.825232), (0.553614, 0.827835), (0.545867, 0.813855), (0.565396, 0.826902),
        (0.547678, 0.834092), (0.587103, 0.860035), (0.596867, 0.870610), (0.623214, 0.889348),
        (0.567498, 0.845357), (0.552531, 0.844523),
    ],
}  # fmt: skip

INITS = {
    "0.01 randn": md.nn.initializers.Normal(0.01),
    "1.0 randn": md.nn.initializers.Normal(1.0),
    "Xavier": md.nn.initializers.INITIALIZERS["lecun_normal"],  # 1 / sqrt(fan_in), which the deck calls Xavier
    "He": md.nn.initializers.INITIALIZERS["he_normal"],
}


def layers(init: str, activation: str, seed: int) -> Iterator[Array]:
    """The activations of every hidden layer for unit Gaussian data: N_LAYERS times (N_ROWS, WIDTH)."""
    h = md.nn.initializers.stream(seed, "data", "lecture").standard_normal((N_ROWS, WIDTH)).astype(np.float32)
    for number in range(N_LAYERS):
        W = INITS[init].draw((WIDTH, WIDTH), md.nn.initializers.stream(seed, f"{number}.W", "init")).astype(np.float32)
        h = md.nn.as_activation(activation)(h @ W)
        yield h


@cache
def statistics(init: str, activation: str) -> Array:
    """Mean and standard deviation of each layer for each seed: (n_seeds, n_layers, 2)."""
    return np.array(
        [
            [(h.mean(dtype=np.float64), h.std(dtype=np.float64)) for h in layers(init, activation, seed)]
            for seed in SEEDS
        ]
    )


# The page

PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.parent / "pictures" / "initialisation.png"
RANGES = {"tanh": (-1.0, 1.0), "relu": (0.0, 3.0)}
COLOURS = {"tanh": "#1d4ed8", "relu": "#c2410c"}
TOLD = {
    ("0.01 randn", "tanh"): "signal fades",
    ("1.0 randn", "tanh"): "units saturate",
    ("Xavier", "tanh"): "almost constant",
    ("Xavier", "relu"): "signal fades",
    ("He", "relu"): "constant",
}

TEXT = """# Initial weights and the scale of activations
Lecture row B9, measured by [`initialisation.py`](initialisation.py), which wrote this page;
[`test_initialisation.py`](../tests/lectures/test_initialisation.py) compares the results with those of the deck.

The inputs are {n_rows} rows of {width} standard normal numbers; the net has {n_layers} layers of {width} units without
biases. Each histogram shows the {values:,} outputs of one layer for seed 0, scaled to its highest bar, without the
zeros of rectifiers (about half of their outputs).

![ten histograms for each of five initializations](pictures/initialisation.png)

- **0.01 randn**: each layer multiplies the signal by 0.01 sqrt({width}) = 0.22. It vanishes before the tenth layer, and
  so do the gradients, which are multiplied by the activations.
- **1.0 randn**: sums have variance {width}; {saturated:.0%} of the first layer's outputs are beyond ±0.9, where tanh is
  saturated and units hardly learn.
- **Xavier** (the deck's name for 1/sqrt(n_in), `lecun_normal` in madaline) preserves the variance of sums, and tanh
  reduces it slightly. With rectifiers, half of the second moment is lost in each layer.
- **He**, sqrt(2/n_in), compensates for this loss: the tenth layer has the same scale as the first.

With zero weights, all activations are 0, and only the last bias has a gradient.

## Standard deviations
Means over {n_seeds} seeds, with the values of the deck in brackets.

{stds}
## Means

{means}"""


def table(column: int) -> str:
    """One statistic of all layers, and the values of the deck."""
    titles = [f"{init}, {activation}" for init, activation in PRINTED]
    lines = [f"| layer | {' | '.join(titles)} |", "| --- " * (1 + len(titles)) + "|"]
    ours = {case: statistics(*case).mean(axis=0)[:, column] for case in PRINTED}
    for number in range(N_LAYERS):
        cells = [f"{ours[case][number]:.6f} ({PRINTED[case][number][column]:.6f})" for case in PRINTED]
        lines.append(f"| {number + 1} | {' | '.join(cells)} |")
    return "\n".join(lines).replace("-0.000000", "0.000000") + "\n"


def page() -> str:
    """Run the experiment and return the page."""
    return TEXT.format(
        n_rows=N_ROWS,
        width=WIDTH,
        n_layers=N_LAYERS,
        values=N_ROWS * WIDTH,
        saturated=np.mean(np.abs(next(layers("1.0 randn", "tanh", 0))) > 0.9),
        n_seeds=len(SEEDS),
        stds=table(1),
        means=table(0),
    )


def draw() -> Any:
    """Draw five rows of ten histograms."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, cells = plt.subplots(len(PRINTED), N_LAYERS, figsize=(12.5, 6.4), layout="constrained", sharex="row")
    for row, (init, activation) in zip(cells, PRINTED, strict=True):
        for number, (ax, h) in enumerate(zip(row, layers(init, activation, 0), strict=True)):
            shown = h[h != 0.0] if activation == "relu" else h
            counts, edges = np.histogram(shown, bins=41, range=RANGES[activation])
            ax.stairs(counts / counts.max(), edges, fill=True, color=COLOURS[activation])
            ax.set(xlim=RANGES[activation], ylim=(0, 1.3), yticks=[], xticks=RANGES[activation])
            ax.tick_params(labelsize=7, length=2, labelbottom=number == 0)
            ax.text(0.97, 0.97, f"std {h.std():.2g}", transform=ax.transAxes, ha="right", va="top", fontsize=7.5)
            ax.spines[["top", "right", "left"]].set_visible(False)
        row[0].set_ylabel(
            f"{init}, {activation}\n{TOLD[init, activation]}", rotation=0, ha="right", va="center", fontsize=9
        )
    for number, ax in enumerate(cells[0]):
        ax.set_title(f"layer {number + 1}", fontsize=9)
    return figure


def write() -> None:
    """Run the experiment, and write the page and the picture."""
    PAGE.write_text(page(), encoding="utf-8")
    draw().savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    write()
