"""The end of a run that is trained again up to where it was stopped."""

from __future__ import annotations

from typing import Any

from madaline.train.events import Callback, TrainingView


class StopAfter(Callback):
    """Ends a run after so many epochs, or within the next one if there were more steps than those have.

    Parameters
    ----------
    epoch : int
        Whole epochs.
    step : int, optional
        Steps, counted over all epochs.
    """

    def __init__(self, epoch: int, step: int | None = None) -> None:
        self.epoch, self.step = epoch, step

    def on_fit_start(self, trainer: TrainingView) -> None:
        in_epochs = self.epoch * (trainer.run.steps_an_epoch or 0)
        self.every = self.step if self.step is not None and self.step > in_epochs else None

    def on_steps(self, trainer: TrainingView, step: int, values: Any) -> None:
        trainer.stop()

    def on_epoch_end(self, trainer: TrainingView, row: Any) -> None:
        if self.every is None and trainer.history.epochs >= self.epoch:
            trainer.stop()
