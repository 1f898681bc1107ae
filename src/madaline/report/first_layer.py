"""The weights of the first layer as images."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isqrt, sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from madaline.errors import ConfigError, ShapeError
from madaline.functional.model import Model
from madaline.nn.layers.linear import Linear
from madaline.report.curves import pyplot
from madaline.report.subject import model_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.data.data_types import Inputs

Array = np.ndarray[Any, Any]
MOST_UNITS = 64
"Number of units that are shown by default."


class FirstLayerDisplay:
    """The weights of the first layer, one image for each unit. Lecture row C2.

    Created by :meth:`from_estimator`; follows scikit-learn's convention for Display objects. Red weights are positive,
    blue ones negative, white ones 0; all images have the same scale.

    Parameters
    ----------
    weights : array of shape (n_units, height, width) or (n_units, height, width, 3)
    units : sequence of int
        Indices of the units.
    patterns : array of the same shape, optional
        The row with the largest activation of each unit.

    Attributes
    ----------
    axes_ : array of matplotlib axes
        The weights, and the rows with the largest activations if there are any.
    ax_, figure_ : matplotlib axes and figure
    images_ : list of matplotlib images
    """

    def __init__(self, *, weights: Array, units: Sequence[int], patterns: Array | None = None) -> None:
        self.weights, self.units, self.patterns = weights, tuple(units), patterns

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: Inputs | None = None,
        *,
        image_shape: tuple[int, ...] | None = None,
        units: Sequence[int] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Plot the first layer of a net.

        Parameters
        ----------
        estimator : estimator, Trainer or Model
            Fitted; its inputs are images.
        X : array of shape (n_samples, n_features), optional
            Inputs of the net. The row with the largest activation of each unit is drawn beside its weights.
        image_shape : tuple of int, optional
            (height, width) or (height, width, 3). By default images are square.
        units : sequence of int, optional
            Indices of the units to show. By default all, or the 64 with the largest weights.
        ax : axes, or array of two with ``X``, optional
            Axes to draw on. By default a new figure is created.
        """
        model = model_of(estimator)
        path, W = _first_weights(model)
        shape = _image_shape(image_shape, len(W))
        if units is None:
            largest = np.argsort(-np.linalg.norm(W, axis=0), kind="stable")[:MOST_UNITS]
            units = np.sort(largest).tolist()
        elif wrong := [unit for unit in units if not 0 <= unit < W.shape[1]]:
            raise ConfigError(
                f"units={wrong[0]!r} is not the index of a unit: the layer has {W.shape[1]} units, from 0."
            )
        patterns = None
        if X is not None:
            X = np.asarray(X)
            strongest = model.activations(X)[path][:, units].argmax(axis=0)
            patterns = X[strongest].reshape(len(units), *shape)
        return cls(weights=W.T[units].reshape(len(units), *shape), units=units, patterns=patterns).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot; ``ax`` as in :meth:`from_estimator`."""
        n_axes = 1 if self.patterns is None else 2
        n_columns = ceil(sqrt(len(self.units)))
        if ax is None:
            n_rows = ceil(len(self.units) / n_columns)
            side = max(4.0, min(0.5 * n_columns, 8.0))
            size = (side * n_axes + 0.6, side * n_rows / n_columns + 0.4)
            ax = pyplot().subplots(1, n_axes, figsize=size, layout="constrained", squeeze=False)[1]
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) < n_axes:
            raise ConfigError("ax has one axes; the weights and the rows with the largest activations need two.")
        limit = float(np.quantile(np.abs(self.weights), 0.995)) or 1.0
        first = axes[0]
        if self.weights.ndim == 3:
            style = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
            self.images_ = [first.imshow(_mosaic(self.weights, n_columns, np.nan), **style)]
            bar = first.figure.colorbar(self.images_[0], ax=first, shrink=0.8, pad=0.02)
            bar.ax.tick_params(labelsize=8)
        else:
            colors = np.clip(0.5 + 0.5 * self.weights / limit, 0.0, 1.0)
            self.images_ = [first.imshow(_mosaic(colors, n_columns, 1.0))]
        first.set_title("weights of each unit", fontsize=10)
        if self.patterns is not None:
            low, high = self.patterns.min(), self.patterns.max()
            shown = (self.patterns - low) / (high - low or 1.0)
            image = axes[1].imshow(_mosaic(shown, n_columns, 1.0), cmap="gray", vmin=0.0, vmax=1.0)
            self.images_.append(image)
            axes[1].set_title("row with the largest activation", fontsize=10)
        for one in axes[:n_axes]:
            one.set_axis_off()
        self.axes_, self.ax_, self.figure_ = axes[:n_axes], first, first.figure
        return self


def _first_weights(model: Model) -> tuple[str, Array]:
    """The path of the first linear layer, and its weights, (n_in, n_units)."""
    for row in model.network.rows:
        if isinstance(row.layer, Linear):
            prefix = f"{row.home}." if row.home else ""
            return row.path, model.params[f"{prefix}W"]
    raise ConfigError(f"{model.net!r} has no Linear layer whose weights could be shown.")


def _image_shape(given: tuple[int, ...] | None, n_inputs: int) -> tuple[int, ...]:
    side = isqrt(n_inputs)
    if given is None:
        if side * side != n_inputs:
            raise ConfigError(
                f"image_shape must be given: {n_inputs} inputs are not a square. Pass for example image_shape=(28, 20)."
            )
        return side, side
    shape = tuple(given)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] != 3):
        raise ShapeError(f"image_shape={shape} must be (height, width) or (height, width, 3).")
    if int(np.prod(shape)) != n_inputs:
        raise ShapeError(f"image_shape={shape} has {int(np.prod(shape))} pixels, and the layer has {n_inputs} inputs.")
    return shape


def _mosaic(images: Array, n_columns: int, gap: float) -> Array:
    """The images side by side with a gap of one pixel."""
    n, height, width, *channels = images.shape
    n_rows = ceil(n / n_columns)
    found = np.full((n_rows * (height + 1) - 1, n_columns * (width + 1) - 1, *channels), gap)
    for place, image in enumerate(images):
        top, left = (place // n_columns) * (height + 1), (place % n_columns) * (width + 1)
        found[top : top + height, left : left + width] = image
    return found
