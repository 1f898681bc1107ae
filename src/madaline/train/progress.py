"""A progress bar: epoch, loss, metric, steps per second, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from madaline.train.events import Callback, TrainingView
from madaline.train.metrics import COLUMNS


def shows_progress(asked: bool | None) -> bool:
    """Whether to show a bar: as requested, or by default in a terminal."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()  # None without a console
    return is_terminal if asked is None else asked


class ProgressBar(Callback):
    """The progress bar.

    Parameters
    ----------
    epochs : int
        Total number of epochs.
    """

    has_ticks = True
    watches_epochs = False

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self._bar: Any = None
        self._task: Any = None
        self._started, self._first_step = 0.0, 0

    def on_fit_start(self, trainer: TrainingView) -> None:
        from rich import progress  # imported only when needed
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("epoch {task.fields[epoch]}"),
            progress.BarColumn(bar_width=20),
            progress.TextColumn("{task.fields[values]}"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
        )
        self._started, self._first_step = time.monotonic(), trainer.progress.t
        self._task = self._bar.add_task("training", total=self.epochs, epoch=f"0/{self.epochs}", values="")
        self._bar.start()

    def on_tick(self, trainer: TrainingView) -> None:
        done = trainer.history.epochs
        self._bar.update(
            self._task,
            completed=min(trainer.epochs_done, self.epochs),
            epoch=f"{min(done + 1, self.epochs)}/{self.epochs}",
            values=self._values(trainer),
        )

    def on_fit_end(self, trainer: TrainingView) -> None:
        if self._bar is not None:
            done = trainer.history.epochs
            self._bar.update(
                self._task,
                completed=min(done, self.epochs),
                epoch=f"{done}/{self.epochs}",
                values=self._values(trainer),
            )
            self._bar.stop()

    def _values(self, trainer: TrainingView) -> str:
        """The losses, one metric, and steps per second since the start."""
        row = trainer.history.row(-1) if trainer.history.epochs else {}
        shown = [f"{name} {row[name]:.3g}" for name in _shown(row)]
        done, passed = trainer.progress.t - self._first_step, time.monotonic() - self._started
        return "  ".join([*shown, f"{done / passed:,.3g} steps/s"] if done and passed else shown)


def _shown(row: Mapping[str, float]) -> list[str]:
    losses = [name for name in ("loss", "val_loss") if name in row]
    metrics = [name for name in row if name.removeprefix("val_") not in COLUMNS]
    return losses + ([name for name in metrics if name.startswith("val_")] or metrics)[:1]
