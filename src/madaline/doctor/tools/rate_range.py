"""Learning-rate range test: the loss while the learning rate grows from step to step."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.description import description
from madaline.doctor.intercept import planned
from madaline.doctor.patients import Patient
from madaline.doctor.tools.axes import MARK, OTHER, VALUE, axes
from madaline.errors import ConfigError
from madaline.optim.optimizer import Optimizer
from madaline.optim.schedule import Schedule, Steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.data.data_types import Inputs, Targets

SMOOTH = 0.9
"Weight of the past in the smoothed loss."
BELOW = 10.0
"The suggested rate is the one with the lowest loss divided by this."
WARM_UP = 20
"Steps after which the smoothed loss is a mean of enough mini-batches to be compared."
FAILED = 4.0
"The test ends once the smoothed loss is this many times its lowest value."


@description
class Growing(Schedule):
    """Factors that grow from 1 to ``last`` in equal ratios."""

    last: float = 1.0

    def rate(self, t: Steps, total: int | None = None) -> Any:
        return self.last ** ((np.asarray(t, dtype=float) - 1) / max((total or 1) - 1, 1))


@dataclass(frozen=True)
class RateRange:
    """The result of :func:`rate_range_test`.

    Attributes
    ----------
    rates, losses, smoothed : array
        Of every step: learning rate, loss of the mini-batch, and its smoothed value.
    suggestion : float
        A tenth of the rate at which the smoothed loss is lowest.
    current : float
        The learning rate of the optimizer.
    """

    rates: np.ndarray
    losses: np.ndarray
    smoothed: np.ndarray
    suggestion: float
    current: float

    def __str__(self) -> str:
        return (
            f"The loss is lowest at a learning rate of {BELOW * self.suggestion:.2g}; try {self.suggestion:.2g}. "
            f"The present one is {self.current:.2g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        arrays = {name: getattr(self, name).tolist() for name in ("rates", "losses", "smoothed")}
        return arrays | {"suggestion": self.suggestion, "current": self.current}

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the loss over the learning rate; dashed: the suggestion, dotted: the present rate."""
        ax = axes(ax)
        ax.plot(self.rates, self.losses, color=VALUE, alpha=0.3, linewidth=1, label="loss of a mini-batch")
        ax.plot(self.rates, self.smoothed, color=VALUE, linewidth=2, label="smoothed")
        ax.axvline(self.suggestion, color=OTHER, linestyle="--", label=f"suggestion, {self.suggestion:.2g}")
        ax.axvline(self.current, color=MARK, linestyle=":", label=f"now, {self.current:.2g}")
        low, high = float(np.nanmin(self.smoothed)), float(self.smoothed[0])
        ax.set(xscale="log", xlabel="learning rate", ylabel="loss", title="Learning-rate range test")
        ax.set_ylim(low - 0.2 * abs(high - low), high + abs(high - low))
        ax.legend()
        return ax


def rate_range_test(
    thing: Patient,
    X: Inputs | None,
    y: Targets | None = None,
    *,
    low: float = 1e-6,
    high: float = 10.0,
    steps: int = 300,
    **fit_arguments: Any,
) -> RateRange:
    """Train a copy while the learning rate grows, to see which rates are useful.

    Neither ``thing`` nor the data change. Smith (2017), section 3.3.

    Parameters
    ----------
    thing : Trainer or estimator
    X, y
        Data, as for ``fit``.
    low, high : float
        First and last learning rate.
    steps : int, default 300
        Number of steps.
    **fit_arguments
        Further arguments of ``fit``, such as ``batch_size``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 3)); y = X[:, 0] * X[:, 1]
    >>> found = md.doctor.rate_range_test(md.Trainer(md.mlp(16, 1), optimizer=md.Adam(1e-5)), X, y)
    >>> 1e-4 < found.suggestion < 1e-1
    True
    """
    if not 0 < low < high or steps < 10:
        raise ConfigError(f"low={low!r} must be above 0 and below high={high!r}, and steps={steps!r} at least 10.")
    record = planned(thing, X, y, **fit_arguments)
    setup, train = record.setup, record.problem.train
    if not isinstance(setup.recipe.optimizer, Optimizer):
        raise ConfigError(f"{setup.recipe.optimizer!r} has no learning rate.")
    batch = min(setup.batch_size or len(train), max(len(train) // 4, 1))
    epochs = -(-steps // -(-len(train) // batch))
    tried = replace(
        setup.with_optimizer(learning_rate=low).with_recipe(schedule=Growing(high / low)),
        epochs=epochs,
        batch_size=batch,
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        history = tried.trainer().fit(
            train.X,
            train.y,
            sample_weight=train.weight,
            epochs=epochs,
            batch_size=batch,
            on_divergence="stop",
            record_steps=True,
            progress=False,
        )
    rates, losses = history.steps["learning_rate"], history.steps["loss"]
    smoothed = _smoothed(losses)
    start = min(WARM_UP, len(smoothed) // 10)
    lowest = np.minimum.accumulate(smoothed[start:])
    over = np.flatnonzero(smoothed[start:] > FAILED * np.abs(lowest))
    stop = start + int(over[0]) + 1 if len(over) else len(smoothed)
    best = rates[start + int(np.argmin(smoothed[start:stop]))]
    return RateRange(
        rates[:stop], losses[:stop], smoothed[:stop], float(best) / BELOW, float(setup.learning_rate or np.nan)
    )


def _smoothed(losses: np.ndarray) -> np.ndarray:
    """An exponential average without bias at the start."""
    found, mean = np.empty(len(losses)), 0.0
    for t, loss in enumerate(losses.tolist(), 1):
        mean = SMOOTH * mean + (1 - SMOOTH) * loss
        found[t - 1] = mean / (1 - SMOOTH**t)
    return found
