"""Who listens to a training run: the events, and what turns functions into listeners."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from madaline.errors import ConfigError

if TYPE_CHECKING:
    from madaline.train.trainer import Trainer


class Callback:
    """Listens to a run: override what is of interest. Whatever a method returns is ignored; ``trainer.stop()`` ends it.

    Attributes
    ----------
    every : int or None
        After how many steps :meth:`on_steps` is called; None for never. Small numbers make training slow.
    has_ticks : bool
        Whether :meth:`on_tick` is called, a few times a second.
    watches_epochs : bool
        Whether :meth:`on_epoch_end` must be called after each epoch; if not, short ones may be run together.
    """

    every: int | None = None
    has_ticks: bool = False
    watches_epochs: bool = True

    def epochs_at_once(self) -> float:
        """How many epochs may be run before :meth:`on_epoch_end` is called for each of them.

        One, if it watches epochs; a listener that knows it will do nothing before a certain epoch may say more.
        """
        return 1 if self.watches_epochs else math.inf

    def on_fit_start(self, trainer: Trainer) -> None:
        """Before the first step."""

    def on_steps(self, trainer: Trainer, step: int, values: Mapping[str, float]) -> None:
        """After every ``every`` steps; ``values`` are those of the last one: ``loss`` and metrics by name."""

    def on_tick(self, trainer: Trainer) -> None:
        """A few times a second, between two steps."""

    def on_epoch_end(self, trainer: Trainer, row: Mapping[str, float]) -> None:
        """After each epoch; ``row`` is its row of the history."""

    def on_last_step(self, trainer: Trainer) -> None:
        """After the last step, before the model gets the best parameters back or its statistics are taken anew."""

    def on_fit_end(self, trainer: Trainer) -> None:
        """When the model is as it will be, also if the run ended early or with an error."""


class AtEpochEnd(Callback):
    """A function ``(trainer, row)`` called after each epoch."""

    def __init__(self, function: Callable[[Any, Mapping[str, float]], Any]) -> None:
        self.function = function

    def on_epoch_end(self, trainer: Trainer, row: Mapping[str, float]) -> None:
        self.function(trainer, row)


def as_callbacks(given: Any) -> list[Callback]:
    """Callbacks from one or several; a function is called at the end of each epoch with the trainer and the row."""
    items = given if isinstance(given, Sequence) else [] if given is None else [given]
    found: list[Callback] = []
    for item in items:
        if isinstance(item, Callback):
            found.append(item)
        elif callable(item) and not isinstance(item, type):
            found.append(AtEpochEnd(item))
        else:
            raise ConfigError(f"callbacks: {item!r} is neither a Callback nor a function of trainer and row.")
    return found
