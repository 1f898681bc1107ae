"""Early stopping: stop when a metric has not improved for a while. Lecture row E3."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from madaline.description import Description, description
from madaline.errors import ConfigError
from madaline.registry import Registry

STOPPINGS: Registry[type[EarlyStopping]] = Registry("early stopping")


@description
class EarlyStopping(Description):
    """Stop when a column of the history has not improved for ``patience`` epochs.

    Parameters
    ----------
    metric : str, optional
        The column, for example ``"val_loss"`` or ``"val_accuracy"``; by default the validation loss, or the training
        loss without a validation set.
    patience : int, default 10
        Number of epochs without improvement before training stops.
    min_delta : float, default 0
        Minimum change that counts as an improvement.
    mode : {"auto", "min", "max"}
        Whether the column should fall or rise. ``"auto"``: losses and errors fall, other metrics rise; it is required
        for a custom function.
    restore_best : bool, default True
        Whether the parameters of the best epoch are restored.
    """

    registry: ClassVar[Registry[Any]] = STOPPINGS
    name: ClassVar[str] = "patience"
    ranges: ClassVar[Mapping[str, str]] = {"patience": "[0, inf)", "min_delta": "[0, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"mode": ("auto", "min", "max")}

    metric: str | None = None
    _: KW_ONLY
    patience: int = 10
    min_delta: float = 0.0
    mode: str = "auto"
    restore_best: bool = True

    def start(
        self,
        *,
        has_validation: bool,
        larger_is_better: Mapping[str, bool | None],
        only_validation: Collection[str] = (),
    ) -> EarlyStoppingState:
        """The state at the start of training; ``only_validation`` are metrics without a column for the training set."""
        metric = self.metric or ("val_loss" if has_validation else "loss")
        if metric.startswith("val_") and not has_validation:
            raise ConfigError(f"early_stopping on {metric!r} needs a validation set: pass validation=0.1.")
        plain = metric.removeprefix("val_")
        columns = [name for name in larger_is_better if name not in only_validation]
        columns += [f"val_{name}" for name in larger_is_better if has_validation]
        if metric not in columns:
            known = ", ".join(columns)
            raise ConfigError(f"early_stopping: {metric!r} is not a column of the history. Columns: {known}.")
        largest = larger_is_better[plain] if self.mode == "auto" else self.mode == "max"
        if largest is None:
            raise ConfigError(
                f"early_stopping on {metric!r}: for a custom function, give the direction: "
                f"md.EarlyStopping({metric!r}, mode='min'), or mode='max'."
            )
        return EarlyStoppingState(self, metric, largest)


@dataclass
class EarlyStoppingState:
    """What early stopping remembers."""

    rule: EarlyStopping
    metric: str
    largest: bool
    best: float = field(default=math.nan)
    best_epoch: int = 0
    n_bad: int = 0

    def observe(self, epoch: int, row: Mapping[str, float]) -> bool:
        """Take the row of an epoch; return whether it is the best so far. NaN is never better."""
        value = float(row[self.metric])
        gain = value - self.best if self.largest else self.best - value
        if not math.isnan(value) and (math.isnan(self.best) or gain > self.rule.min_delta):
            self.best, self.best_epoch, self.n_bad = value, epoch, 0
            return True
        self.n_bad += 1
        return False

    @property
    def is_over(self) -> bool:
        """Whether training should stop."""
        return self.n_bad > self.rule.patience


EarlyStoppingLike = bool | int | str | EarlyStopping | Mapping[str, Any]
"Early stopping: True, a patience in epochs, a column of the history, or a rule."


def as_early_stopping(given: EarlyStoppingLike | None) -> EarlyStopping | None:
    """Early stopping from True, a number of epochs, a column, a rule or None."""
    if given is None or given is False:
        return None
    if given is True:
        return EarlyStopping()
    if isinstance(given, int):
        return EarlyStopping(patience=given)
    if isinstance(given, str):
        return EarlyStopping(given)
    return EarlyStopping.of(given)
