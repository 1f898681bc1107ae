"""A bar that shows how far training is: epoch, loss, metric, time left."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from madaline.train.events import Callback

if TYPE_CHECKING:
    from madaline.train.trainer import Trainer

SHOWN = ("loss", "val_loss")


def shows_progress(asked: bool | None) -> bool:
    """Whether to show a bar: as asked, or where a person looks on."""
    return sys.stderr.isatty() if asked is None else asked


class ProgressBar(Callback):
    """The bar.

    Parameters
    ----------
    epochs : int
        How many there will be.
    """

    has_ticks = True
    watches_epochs = False

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self._bar: Any = None
        self._task: Any = None

    def on_fit_start(self, trainer: Trainer) -> None:
        from rich import progress  # imported by those who look on only
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
        self._task = self._bar.add_task("training", total=self.epochs, epoch=f"0/{self.epochs}", values="")
        self._bar.start()

    def on_tick(self, trainer: Trainer) -> None:
        done = trainer.history.epochs
        self._bar.update(
            self._task,
            completed=min(trainer.epochs_done, self.epochs),
            epoch=f"{min(done + 1, self.epochs)}/{self.epochs}",
            values=_values(trainer),
        )

    def on_fit_end(self, trainer: Trainer) -> None:
        if self._bar is not None:
            done = trainer.history.epochs
            self._bar.update(
                self._task, completed=min(done, self.epochs), epoch=f"{done}/{self.epochs}", values=_values(trainer)
            )
            self._bar.stop()


def _values(trainer: Trainer) -> str:
    history = trainer.history
    row: Mapping[str, float] = history.row(-1) if history.epochs else {}
    hidden = ("epoch", "learning_rate", "seconds", "penalty")
    names = [name for name in row if name in SHOWN] + [
        name for name in row if name.startswith("val_") and name not in SHOWN
    ]
    names = names or [name for name in row if name not in hidden]
    return "  ".join(f"{name} {row[name]:.3g}" for name in names[:2])
