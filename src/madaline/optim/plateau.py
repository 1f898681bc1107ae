"""A rate that falls when a metric stops getting better: the one schedule that must watch the training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from madaline.description import description
from madaline.errors import ConfigError
from madaline.optim.schedule import Schedule, Steps


@description
class ReduceOnPlateau(Schedule):
    r"""A fall, :math:`\eta \leftarrow f\eta`, when a metric has not got better for more than ``patience`` observations.

    The rules are those of PyTorch's ``ReduceLROnPlateau``. Nothing is known before the training, so ``rate`` is 1;
    :meth:`start` gives the state that is fed metrics and says the factor.

    Parameters
    ----------
    factor : float in (0, 1), default 0.1
        The :math:`f`.
    patience : int, default 10
    threshold : float, default 1e-4
        Better means below ``best * (1 - threshold)``, or above ``best * (1 + threshold)`` if ``mode="max"``; the
        sign of ``best`` is not looked at, as in PyTorch.
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

    def rate(self, t: Steps, total: int | None = None) -> Any:
        return 1.0 + 0.0 * t

    def watching(self) -> tuple[tuple[int, Schedule], ...]:
        return ((0, self),)

    def start(self, *, wait: int = 0) -> Plateau:
        """A state that has seen nothing, and is not to see anything of the first ``wait`` steps."""
        return Plateau(self, wait)


@dataclass
class Plateau:
    """The state of :class:`ReduceOnPlateau`: plain numbers, which a checkpoint can hold."""

    schedule: ReduceOnPlateau
    wait: int = 0
    scale: float = 1.0
    best: float | None = None
    n_bad: int = 0
    n_cooldown: int = 0

    def observe_epoch(self, row: Mapping[str, float], *, t: int) -> None:
        """Take the row that an epoch has in the history, which ended with step ``t``."""
        metric = self.schedule.metric or ("val_loss" if "val_loss" in row else "loss")
        if metric not in row:
            raise ConfigError(
                f"ReduceOnPlateau: metric={metric!r} is not a column of the history. Columns: {', '.join(row)}."
            )
        if t > self.wait:
            self.observe(row[metric])

    def observe(self, metric: float) -> float:
        """Take the next value of the metric; give the factor of the rate from now on. NaN is never better."""
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
