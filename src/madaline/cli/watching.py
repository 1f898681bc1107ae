"""A callback that follows the training of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from madaline.train.events import TrainingView
from madaline.train.probes import Probes

SAMPLES, EPOCHS_BETWEEN = 120, 20
"Number of probe samples in a whole run, and maximum number of epochs between them, for heat maps over time."


class RunWatcher(Probes):
    """Reports the beginning of a run, remembers its end, and can stop it where an earlier run ended.

    Attributes
    ----------
    begin : callable
        Called once, before the first step.
    epochs : float
        Epochs that were run, with the part of the last one.
    steps : int
        Steps since the start of training.
    seconds : float
        Time in the epoch that was not finished.
    """

    def __init__(self) -> None:
        super().__init__()
        self.begin: Callable[[], None] | None = None
        self.epochs, self.steps, self.seconds = 0.0, 0, 0.0
        self._last_epoch: int | None = None
        self._last_step: int | None = None

    def sample(self, epochs: int, steps: int) -> None:
        """Choose how often the net is probed in a run with this many epochs and steps per epoch."""
        self.sample_every = max(1, min(epochs * steps // SAMPLES, EPOCHS_BETWEEN * steps))

    def stop_after(self, epoch: int, step: int) -> None:
        """Stop after this many epochs, or within the next one after this many steps in all."""
        self._last_epoch, self._last_step = epoch, step
        self.watches_epochs = True

    def on_fit_start(self, trainer: TrainingView) -> None:
        if self.begin is not None:
            self.begin()
            self.begin = None
        if self._last_epoch is not None and self._last_step is not None:
            in_epochs = self._last_epoch * (trainer.run.steps_an_epoch or 0)
            self.every = self._last_step if self._last_step > in_epochs else None

    def on_steps(self, trainer: TrainingView, step: int, values: Mapping[str, float]) -> None:
        trainer.stop()

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        if self._last_epoch is not None and self.every is None and trainer.history.epochs >= self._last_epoch:
            trainer.stop()

    def on_fit_end(self, trainer: TrainingView) -> None:
        progress = trainer.run.progress
        self.epochs, self.steps, self.seconds = trainer.epochs_done, progress.t, progress.seconds
