"""A surface of the loss: how it changes in a plane through the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.tools.axes import axes
from madaline.doctor.tools.loss_slices import direction, moved_loss
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.data.data_types import Inputs, Targets


@dataclass(frozen=True)
class LossSurface:
    """The result of :func:`loss_surface`.

    Attributes
    ----------
    positions : array of shape (points,)
        Distances from the trained parameters, along both directions; 1 is a step as long as the weights of each unit.
    losses : array of shape (points, points)
        The loss; rows follow the second direction, columns the first.
    """

    positions: np.ndarray
    losses: np.ndarray

    @property
    def convexity(self) -> float:
        """Share of the neighbouring points, on lines and columns, between which the loss curves upwards."""
        seconds = [np.diff(self.losses, 2, axis=axis).ravel() for axis in (0, 1)]
        return float(np.mean(np.concatenate(seconds) >= 0))

    def __str__(self) -> str:
        middle = len(self.positions) // 2
        low, high = np.nanmin(self.losses), np.nanmax(self.losses)
        return f"Loss {self.losses[middle, middle]:.4g}; in the plane from {low:.4g} to {high:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {"positions": self.positions.tolist(), "losses": self.losses.tolist()}

    def plot(self, ax: Axes | None = None, *, levels: Any = 20) -> Any:
        """Draw the contours of the loss; a cross marks the trained parameters."""
        ax = axes(ax)
        drawn = np.where(np.isfinite(self.losses), self.losses, np.nan)
        ax.contourf(self.positions, self.positions, drawn, levels=levels, cmap="cividis", extend="both")
        ax.contour(self.positions, self.positions, drawn, levels=levels, colors="white", linewidths=0.5)
        ax.plot(0.0, 0.0, "+", color="white", markersize=10, markeredgewidth=2)
        ax.set(xlabel="first direction", ylabel="second direction", title="Surface of the loss")
        return ax


def loss_surface(
    thing: Trainer, X: Inputs | None, y: Targets | None, *, span: float = 1.0, points: int = 25, seed: int = 0
) -> LossSurface:
    """The loss in a random plane through the trained parameters.

    Both directions are scaled like the weights, as in :func:`loss_slices`, so that different nets can be compared (Li
    et al. 2018, section 4). Running statistics of norms stay as they are. Lecture row C12.

    Parameters
    ----------
    thing : Trainer
        After ``fit``.
    X, y : array
        Rows and targets; at most 2,000 rows are used.
    span : float, default 1.0
        Largest distance.
    points : int, default 25
        Number of points on each side; made odd, so that the trained parameters are one of them.
    seed : int
        Random seed.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 3)).astype("float32"); y = X[:, 0] * X[:, 1]
    >>> trainer = md.Trainer(md.mlp(16, 1), optimizer=md.Adam(0.01))
    >>> history = trainer.fit(X, y, epochs=40)
    >>> surface = md.doctor.loss_surface(trainer, X, y, points=9)
    >>> surface.losses.shape, bool(surface.losses.argmin() == 9 * 4 + 4)
    ((9, 9), True)
    """
    loss_at, positions = moved_loss(thing, X, y, tool="loss_surface", span=span, points=points)
    rng = np.random.default_rng(seed)
    first, second = direction(thing.model, rng), direction(thing.model, rng)
    return LossSurface(positions, np.array([[loss_at(a * first + b * second) for a in positions] for b in positions]))
