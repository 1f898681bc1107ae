"""Slices of the loss: how it changes along lines through the parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.tools.axes import axes
from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.data.data_types import Inputs, Targets

MAX_ROWS = 2000


@dataclass(frozen=True)
class LossSlices:
    """The result of :func:`loss_slices`.

    Attributes
    ----------
    positions : array of shape (points,)
        Distances from the trained parameters; 1 is a step as long as the weights of each unit.
    losses : array of shape (directions, points)
    curvatures : array of shape (directions,)
        Second differences of the loss at the trained parameters.
    """

    positions: np.ndarray
    losses: np.ndarray

    @property
    def curvatures(self) -> np.ndarray:
        """Second differences of the loss at the trained parameters."""
        middle = len(self.positions) // 2
        step = self.positions[1] - self.positions[0]
        return np.asarray(
            (self.losses[:, middle + 1] - 2 * self.losses[:, middle] + self.losses[:, middle - 1]) / step**2
        )

    def __str__(self) -> str:
        middle = self.losses[0, len(self.positions) // 2]
        return f"Loss {middle:.4g}; curvatures along {len(self.losses)} directions: " + ", ".join(
            f"{value:.3g}" for value in self.curvatures
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {"positions": self.positions.tolist(), "losses": self.losses.tolist()}

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the loss along every direction."""
        ax = axes(ax)
        for number, losses in enumerate(self.losses, 1):
            ax.plot(self.positions, losses, label=f"direction {number}")
        ax.axvline(0.0, color="#bbb", linewidth=1)
        ax.set(xlabel="distance, relative to the weights of each unit", ylabel="loss", title="Slices of the loss")
        ax.legend()
        return ax


def loss_slices(
    thing: Trainer,
    X: Inputs | None,
    y: Targets | None,
    *,
    directions: int = 3,
    span: float = 1.0,
    points: int = 41,
    seed: int = 0,
) -> LossSlices:
    """The loss along random lines through the trained parameters.

    Each direction is scaled like the weights: the part of every column of a matrix has the norm of that column, so
    that nets with and without norms can be compared (Li et al. 2018, section 4). Biases and other vectors stay.

    Parameters
    ----------
    thing : Trainer
        After ``fit``.
    X, y : array
        Rows and targets; at most 2,000 rows are used.
    directions : int, default 3
        Number of lines.
    span : float, default 1.0
        Largest distance.
    points : int, default 41
        Number of points on each line; made odd, so that the trained parameters are one of them.
    seed : int
        Random seed.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 3)).astype("float32"); y = X[:, 0] * X[:, 1]
    >>> trainer = md.Trainer(md.mlp(16, 1), optimizer=md.Adam(0.01))
    >>> history = trainer.fit(X, y, epochs=40)
    >>> bool((md.doctor.loss_slices(trainer, X, y).curvatures > 0).all())
    True
    """
    if directions < 1:
        raise ConfigError(f"directions={directions!r} must be at least 1.")
    loss_at, positions = moved_loss(thing, X, y, tool="loss_slices", span=span, points=points)
    rng = np.random.default_rng(seed)
    ways = [direction(thing.model, rng) for _ in range(directions)]
    return LossSlices(positions, np.array([[loss_at(distance * d) for distance in positions] for d in ways]))


def moved_loss(
    thing: Trainer, X: Inputs | None, y: Targets | None, *, tool: str, span: float, points: int
) -> tuple[Callable[[np.ndarray], float], np.ndarray]:
    """The loss of the model as a function of a change of all its parameters, and the distances to look at."""
    if not isinstance(thing, Trainer) or not hasattr(thing, "model"):
        raise ConfigError(f"{tool} needs a Trainer after fit.")
    if points < 5 or not span > 0:
        raise ConfigError(f"points={points!r} must be at least 5, span={span!r} above 0.")
    model, loss = thing.model, thing.recipe.loss
    if isinstance(loss, dict):
        raise ConfigError(f"{tool} needs a net with one output; this one has several.")
    rows, targets = np.asarray(X)[:MAX_ROWS], np.asarray(y)[:MAX_ROWS]
    w = np.asarray(model.params.flat, dtype=np.float64)

    def loss_at(change: np.ndarray) -> float:
        moved = (w + change).astype(model.params.flat.dtype)
        with np.errstate(all="ignore"):
            return float(loss(model.with_parameters(moved)(rows), targets))

    return loss_at, np.linspace(-span, span, points + (points + 1) % 2)


def direction(model: Model, rng: np.random.Generator) -> np.ndarray:
    """A random direction whose part for each unit is as long as the weights of the unit."""
    flat = np.zeros(model.params.flat.size)
    for path, entry in model.network.params.items():
        W = np.asarray(model.params[path], dtype=np.float64)
        if W.ndim == 2:
            d = rng.normal(size=W.shape)
            d *= np.linalg.norm(W, axis=0) / np.maximum(np.linalg.norm(d, axis=0), 1e-12)
            flat[entry.offset : entry.offset + entry.size] = d.ravel()
    return flat
