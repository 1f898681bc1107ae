"""One look for all pictures of the gallery: readable at half size, colours that colour-blind people can tell apart."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

QUICK = bool(os.environ.get("MADALINE_QUICK"))
"Whether to run with fewer seeds, rows and epochs: the claims are checked, and the pictures are rough."

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#666666"
"Colours of Okabe and Ito."

STYLE: Any = {
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, PURPLE, GREY]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "font.size": 11,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "image.cmap": "cividis",
}
"Settings of matplotlib, which the first figure makes, so that importing this module changes nothing."


def panels(
    n_columns: int, n_rows: int = 1, *, size: tuple[float, float] = (3.6, 3.0), **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with panels of this size in inches, and the list of its axes."""
    mpl.rcParams.update(STYLE)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(size[0] * n_columns, size[1] * n_rows), squeeze=False, **options
    )
    return figure, list(axes.flat)


def contours(
    ax: Axes, function: Callable[[Any], Any], x: tuple[float, float], y: tuple[float, float], **options: Any
) -> None:
    """Level lines of a function of points, (n, 2)."""
    X, Y = np.meshgrid(np.linspace(*x, 160), np.linspace(*y, 160))
    Z = np.reshape(function(np.column_stack([X.ravel(), Y.ravel()])), X.shape)
    look: dict[str, Any] = {"levels": 18, "colors": GREY, "linewidths": 0.6, "alpha": 0.6}
    ax.contour(X, Y, Z, **(look | options))
    ax.set(xlim=x, ylim=y)


def mosaic(ax: Axes, images: Any, n_columns: int, **options: Any) -> None:
    """Square images as one picture, each on its own scale around 0: orange is positive, purple negative."""
    side = int(np.sqrt(images[0].size))
    n_rows = -(-len(images) // n_columns)
    canvas = np.full((n_rows * (side + 1) - 1, n_columns * (side + 1) - 1), np.nan)
    for k, image in enumerate(images):
        row, column = (k // n_columns) * (side + 1), (k % n_columns) * (side + 1)
        canvas[row : row + side, column : column + side] = np.reshape(image, (side, side)) / (
            np.abs(image).max() or 1.0
        )
    look: dict[str, Any] = {"cmap": "PuOr_r", "vmin": -1, "vmax": 1} | options
    ax.imshow(canvas, **look)
    ax.set_axis_off()
