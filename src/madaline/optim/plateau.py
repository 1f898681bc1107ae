"""A schedule that reduces the learning rate when a metric stops improving."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

from madaline.description import description
from madaline.errors import ConfigError
from madaline.optim.schedule import Rate, Schedule, Steps

if TYPE_CHECKING:
    pass


@description
class ReduceOnPlateau(Schedule):
    r"""Reduce the rate, :math:`\eta \leftarrow f\eta`, if a metric has not improved for over ``patience`` observations.

    The rules are those of PyTorch's ``ReduceLROnPlateau``. The factors are not known before training, so ``rate``
    returns 1; :meth:`start` returns a state that observes the metric and computes the factor.

    Parameters
    ----------
    factor : float in (0, 1), default 0.1
        The :math:`f`.
    patience : int, default 10
        Number of observations without improvement that are tolerated.
    threshold : float, default 1e-4
        A value is an improvement if it is below ``best * (1 - threshold)``, or above ``best * (1 + threshold)`` if
        ``mode="max"``. As in PyTorch, the sign of ``best`` is not taken into account.
    cooldown : int, default 0
        Number of observations after a reduction that do not count.
    minimum : float in [0, 1], default 0
        Minimum factor (PyTorch's ``min_lr`` is the minimum rate).
    mode : {"min", "max"}
        Whether the metric is minimized or maximized.
    metric : str, optional
        Column of the history to monitor, once per epoch, such as ``"val_accuracy"``. By default the loss on the
        validation set, or on the training set if there is none.

    Examples
    --------
    >>> plateau = ReduceOnPlateau(0.5, patience=1).start()
    >>> [plateau.observe(loss) for loss in (1.0, 0.9, 0.9, 0.9, 0.9)]
    [1.0, 1.0, 1.0, 0.5, 0.5]
    """

    name: ClassVar[str] = "reduce_on_plateau"
    ranges: ClassVar[Mapping[str, str]] = {
        "factor": "(0, 1)",
        "patience": "[0, inf)",
        "threshold": "[0, inf)",
        "cooldown": "[0, inf)",
        "minimum": "[0, 1]",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"mode": ("min", "max")}
    factor: float = 0.1
    _: KW_ONLY
    patience: int = 10
    threshold: float = 1e-4
    cooldown: int = 0
    minimum: float = 0.0
    mode: str = "min"
    metric: str | None = None

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return 1.0 + 0.0 * t

    def watching(self) -> tuple[tuple[int, Schedule], ...]:
        return ((0, self),)

    def start(self, *, wait: int = 0) -> Plateau:
        """The initial state, which ignores observations during the first ``wait`` steps."""
        return Plateau(self, wait)


@dataclass
class Plateau:
    """The state of :class:`ReduceOnPlateau`: plain numbers that a checkpoint can store."""

    schedule: ReduceOnPlateau
    wait: int = 0
    scale: float = 1.0
    best: float | None = None
    n_bad: int = 0
    n_cooldown: int = 0

    def observe_epoch(self, row: Mapping[str, float], *, t: int) -> None:
        """Observe the row of the history for an epoch that ended with step ``t``."""
        metric = self.schedule.metric or ("val_loss" if "val_loss" in row else "loss")
        if metric not in row:
            raise ConfigError(
                f"ReduceOnPlateau: metric={metric!r} is not a column of the history. Columns: {', '.join(row)}."
            )
        if t > self.wait:
            self.observe(row[metric])

    def observe(self, metric: float) -> float:
        """Observe a value of the metric and return the new factor of the rate. NaN is never an improvement."""
        metric = float(metric)
        if self._is_better(metric):
            self.best, self.n_bad = metric, 0
        else:
            self.n_bad += 1
        if self.n_cooldown > 0:
            self.n_cooldown -= 1
            self.n_bad = 0
        if self.n_bad > self.schedule.patience:
            self.scale = max(self.scale * self.schedule.factor, self.schedule.minimum)
            self.n_bad, self.n_cooldown = 0, self.schedule.cooldown
        return self.scale

    def _is_better(self, metric: float) -> bool:
        if self.best is None:
            return not math.isnan(metric)
        if self.schedule.mode == "min":
            return metric < self.best * (1.0 - self.schedule.threshold)
        return metric > self.best * (1.0 + self.schedule.threshold)
