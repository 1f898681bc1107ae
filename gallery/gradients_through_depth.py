"""Vanishing and exploding gradients in deep nets, and remedies, measured layer by layer. Lecture row C10.

``python gallery/gradients_through_depth.py`` writes the page of the same name and its picture. Tests use the same
functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

DEPTH, WIDTH, N_ROWS = 30, 32, 64


def gradients(
    activation: str,
    *,
    init: str | md.nn.initializers.Initializer = "auto",
    norm: str | None = None,
    skips: bool = False,
) -> list[Array]:
    """The gradients with respect to the outputs of the hidden layers, first layer first.

    The gradient at the last layer is standard normal, so that all other gradients are this times a product of
    Jacobians.
    """
    X, back = (md.nn.initializers.stream(0, "depth", end).standard_normal((N_ROWS, WIDTH)) for end in ("in", "back"))
    kind = md.Residual if skips else md.Sequential
    norms = {None: [], "batch": [md.BatchNorm()], "layer": [md.LayerNorm()]}
    blocks = [kind(md.Linear(WIDTH, init=init), *norms[norm], activation) for _ in range(DEPTH)]
    model = md.Sequential(*blocks).init(X, dtype="float64")
    layers = [model[position] for position in range(DEPTH)]

    def objective(shifts: list[Any]) -> Any:
        h: Any = X
        for layer, shift in zip(layers, shifts, strict=True):
            h = layer.network.run(model.params.flat, model.state.flat, h, train=True).outputs[""] + shift
        return np.sum(back * h)

    found: list[Array] = md.grad(objective)([np.zeros_like(X)] * DEPTH)
    return found


def sizes(*net: Any, **settings: Any) -> Array:
    """The norm of the gradient with respect to each layer's output, relative to that of the last layer."""
    norms = np.array([np.linalg.norm(gradient) for gradient in gradients(*net, **settings)])
    return norms / norms[-1]


DISEASES: dict[str, dict[str, Any]] = {
    "sigmoid": {"activation": "sigmoid"},
    "relu, small weights": {"activation": "relu", "init": md.nn.initializers.Normal(0.05)},
    "relu, large weights": {"activation": "relu", "init": md.nn.initializers.Normal(1.0)},
}
CURES: dict[str, dict[str, Any]] = {
    "relu and He's weights": {"activation": "relu"},
    "tanh and Xavier's weights": {"activation": "tanh"},
    "skips around sigmoid": {"activation": "sigmoid", "skips": True},
    "skips around small weights": {"activation": "relu", "init": md.nn.initializers.Normal(0.05), "skips": True},
    "batch norm before sigmoid": {"activation": "sigmoid", "norm": "batch"},
    "layer norm, small weights": {"activation": "relu", "init": md.nn.initializers.Normal(0.05), "norm": "layer"},
    "layer norm, large weights": {"activation": "relu", "init": md.nn.initializers.Normal(1.0), "norm": "layer"},
    "batch norm and skips, large weights": {
        "activation": "relu",
        "init": md.nn.initializers.Normal(1.0),
        "norm": "batch",
        "skips": True,
    },
}
GLOROT = {
    "U(-1/√n, 1/√n)": {"activation": "tanh", "init": md.nn.initializers.Uniform(WIDTH**-0.5)},
    "Xavier's weights": {"activation": "tanh", "init": "xavier_uniform"},
}
"The two initializers whose histograms Glorot & Bengio (2010) draw in figures 6 and 7."


# The page

PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.parent / "pictures" / "gradients_through_depth.png"
SHOWN = range(DEPTH - 4, DEPTH + 1)
"Layers whose histograms are drawn."

TEXT = """# Gradients through depth
Lecture row C10, measured by [`gradients_through_depth.py`](gradients_through_depth.py), which wrote this page; the
tests in [`test_gradients_through_depth.py`](../tests/lectures/test_gradients_through_depth.py) check the same results.

The gradient with respect to the output of an early layer is the gradient at the last layer times a product of
Jacobians, one for each layer in between. The nets here have {depth} layers of {width} units and are not trained. Each
number is the norm of the gradient at the first layer, relative to that at the last layer.

| net | gradient at layer 1 |
| --- | --- |
{table}

The slope of a sigmoid is at most 1/4, so each layer reduces the gradient by more than half. With rectifiers, weights
that are too small make the gradient vanish, and weights that are too large make it explode. Each remedy keeps the
gradient of every layer between 0.1 and 10.

![gradients by layer, and their histograms](pictures/gradients_through_depth.png)

On the right are the histograms of Glorot and Bengio (2010): the gradients in the last five layers of tanh nets. With
the initialization that was common at the time, they become narrower by a factor of sqrt(3) per layer towards the input.
With weights of variance 2/(n_in + n_out) they almost coincide.
"""


def page() -> str:
    """Run the experiment and return the page."""
    rows = [f"| {label} | {sizes(**net)[0]:.2g} |" for label, net in (DISEASES | CURES).items()]
    return TEXT.format(depth=DEPTH, width=WIDTH, table="\n".join(rows))


def draw() -> Any:
    """Plot the norms by layer, and histograms."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, cells = plt.subplot_mosaic(
        [["sizes", "standard"], ["sizes", "xavier"]], figsize=(10, 4.2), width_ratios=[1.7, 1], layout="constrained"
    )
    ax, layers = cells["sizes"], np.arange(1, DEPTH + 1)
    marks = (("#7c3aed", -22, 14), ("#c2410c", 14, -6), ("#be123c", 10, 4))  # colour of a curve, place of its name
    for (label, net), (colour, *place) in zip(DISEASES.items(), marks, strict=True):
        y = sizes(**net)
        ax.plot(layers, y, color=colour, lw=2)
        ax.annotate(label, (9, y[8]), place, textcoords="offset points", color=colour, fontsize=9)
    for net in CURES.values():
        ax.plot(layers, sizes(**net), color="#1d4ed8", lw=1, alpha=0.7)
    ax.annotate(f"{len(CURES)} remedies", (9, 4.0), (10, 5), textcoords="offset points", color="#1d4ed8", fontsize=9)
    ax.set(yscale="log", xlabel="layer", ylabel="norm of the gradient", xticks=[1, 10, 20, 30])
    ax.spines[["top", "right"]].set_visible(False)
    shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(SHOWN)))
    for key, label in zip(("standard", "xavier"), GLOROT, strict=True):
        ax, found = cells[key], gradients(**GLOROT[label])
        for layer, shade in zip(SHOWN, shades, strict=True):
            values = found[layer - 1].ravel()
            ax.hist(values, bins=np.linspace(-3, 3, 61), histtype="step", color=shade, lw=1.5, label=f"layer {layer}")
        ax.set(yscale="log", yticks=[], xlim=(-3, 4.4), xticks=range(-3, 4))
        ax.set_title(f"tanh, {label}", fontsize=9)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right", "left"]].set_visible(False)
    cells["standard"].set_xticklabels([])
    cells["standard"].legend(frameon=False, fontsize=7.5, loc="upper right")
    cells["xavier"].set_xlabel("gradient")
    return figure


def write() -> None:
    """Run the experiment, and write the page and the picture."""
    PAGE.write_text(page(), encoding="utf-8")
    draw().savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    write()
