"""Callbacks, and their view of training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError
from madaline.train.stopping import EarlyStopping

if TYPE_CHECKING:
    from madaline.functional.model import Model
    from madaline.train.history import History
    from madaline.train.recipe import Recipe
    from madaline.train.saved_state import Progress
    from madaline.train.session import Session


class TrainingView:
    """What callbacks see of training.

    Attributes
    ----------
    run : Session
        The session itself, for callbacks that need more.
    """

    def __init__(self, session: Session) -> None:
        self.run = session

    @property
    def model(self) -> Model:
        """The model that is trained."""
        return self.run.model

    @property
    def recipe(self) -> Recipe:
        """The training settings: loss, optimizer and so on."""
        return self.run.recipe

    @property
    def history(self) -> History:
        """A row for every completed epoch."""
        return self.run.history

    @property
    def progress(self) -> Progress:
        """The progress of training."""
        return self.run.progress

    @property
    def epochs_done(self) -> float:
        """Completed epochs, and the completed part of the current one."""
        return self.run.epochs_done

    def stop(self) -> None:
        """End training after the current step."""
        self.run.stop()

    def scale_rate(self, factor: float) -> None:
        """Multiply all learning rates by this from the next epoch on; it replaces earlier factors."""
        if not 0.0 <= factor < np.inf:
            raise ConfigError(f"factor={factor!r} must be a number of at least 0.")
        self.run.progress.rate_scale = float(factor)


class Callback:
    """Base of callbacks: override the methods of interest. ``trainer.stop()`` ends training; return values are ignored.

    Attributes
    ----------
    every : int or None
        Number of steps between calls of :meth:`on_steps`; None for no calls. Small numbers make training slow.
    has_ticks : bool
        Whether :meth:`on_tick` is called, a few times a second.
    watches_epochs : bool
        Whether :meth:`on_epoch_end` must be called right after each epoch; if not, short epochs may be run together.
    """

    every: int | None = None
    has_ticks: bool = False
    watches_epochs: bool = True

    def resume_settings(self) -> Mapping[str, Any]:
        """Settings of the callback by name, as plain data: a run is resumed only if they are equal.

        None by default. A callback that decides when training ends, or changes its rate, gives what decides it.
        """
        return {}

    def stopping_rule(self) -> EarlyStopping | None:
        """The rule by which the callback ends training, if it is a kind of early stopping; None by default."""
        return None

    def epochs_at_once(self) -> float:
        """Number of epochs that may be run before :meth:`on_epoch_end` is called for each of them.

        By default one, if the callback watches epochs. A callback that will not act for some epochs may give more.
        """
        return 1 if self.watches_epochs else math.inf

    def on_fit_start(self, trainer: TrainingView) -> None:
        """Before the first step."""

    def on_steps(self, trainer: TrainingView, step: int, values: Mapping[str, float]) -> None:
        """After every ``every`` steps; ``values`` holds the loss and the metrics of the last step by name."""

    def on_tick(self, trainer: TrainingView) -> None:
        """A few times a second, between two steps."""

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        """After each epoch; ``row`` is its row of the history."""

    def on_last_step(self, trainer: TrainingView) -> None:
        """After the last step, before the best parameters are restored or statistics are computed again."""

    def on_fit_end(self, trainer: TrainingView) -> None:
        """When the model is final, also if training ended early or with an error."""


class FunctionCallback(Callback):
    """A function ``(trainer, row)`` called after each epoch."""

    def __init__(self, function: Callable[[Any, Mapping[str, float]], Any]) -> None:
        self.function = function

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        self.function(trainer, row)


CallbackLike = Callback | Callable[[Any, Any], Any]
"A callback: an object, or a function of the view of training and the row of the history."


def as_callbacks(given: CallbackLike | Sequence[CallbackLike] | None) -> list[Callback]:
    """Callbacks from one or several; a function is called after each epoch with a view of training and the row."""
    items = given if isinstance(given, Sequence) else [] if given is None else [given]
    found: list[Callback] = []
    for item in items:
        if isinstance(item, Callback):
            found.append(item)
        elif callable(item) and not isinstance(item, type):
            found.append(FunctionCallback(item))
        else:
            hint = " Pass it as early_stopping=." if isinstance(item, EarlyStopping) else ""
            raise ConfigError(f"callbacks: {item!r} is neither a Callback nor a function of trainer and row.{hint}")
    return found
