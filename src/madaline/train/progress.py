"""A progress bar: epoch, loss, metric, steps per second, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from madaline.train.events import Callback, TrainingView
from madaline.train.metrics import COLUMNS

if TYPE_CHECKING:
    from rich.progress import Progress

    from madaline.train.session import Session


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
        self._bar = new_bar("epoch {task.fields[epoch]}")
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
            refresh=True,
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
        """The losses, one metric, and steps per second since the start; with replicas, nodes, round and rows."""
        row = trainer.history.row(-1) if trainer.history.epochs else {}
        shown = [f"{name} {row[name]:.3g}" for name in _shown(row)]
        done, passed = trainer.progress.t - self._first_step, time.monotonic() - self._started
        if not done or not passed:
            return "  ".join(shown)
        if where := trainer.run.speed_text:
            return "  ".join([*shown, where, f"{done * trainer.run.batch_size / passed:,.0f} rows/s"])
        return "  ".join([*shown, f"{done / passed:,.3g} steps/s"])


def _shown(row: Mapping[str, float]) -> list[str]:
    losses = [name for name in ("loss", "val_loss") if name in row]
    metrics = [name for name in row if name.removeprefix("val_") not in COLUMNS]
    return losses + ([name for name in metrics if name.startswith("val_")] or metrics)[:1]


class PopulationBar:
    """The progress bar of a population.

    Parameters
    ----------
    epochs : sequence of int
        Number of epochs of each member.
    """

    def __init__(self, epochs: Sequence[int]) -> None:
        self.epochs = epochs
        self._bar = new_bar("{task.fields[done]} of {task.fields[members]} nets")
        self._task = self._bar.add_task("training", total=sum(epochs), done=0, members=len(epochs), values="")
        self._bar.start()

    def show(self, run: RunningMembers) -> None:
        """Show how far the members are."""
        running = dict(run.sessions)
        done = sum(self.epochs[number] for number in list(run.done))
        part = sum(min(session.epochs_done, self.epochs[number]) for number, session in running.items())
        number = min(running, default=None)
        row = running[number].history.row(-1) if number is not None and running[number].history.epochs else {}
        values = "  ".join(f"{name} {row[name]:.3g}" for name in _shown(row))
        self._bar.update(self._task, completed=done + part, done=len(run.done), values=values, refresh=True)

    def close(self, run: RunningMembers) -> None:
        """Show the end."""
        self.show(run)
        self._bar.stop()


class RunningMembers(Protocol):
    """What the bar of a population looks at."""

    @property
    def sessions(self) -> Mapping[int, Session]:
        """Sessions that run, by number."""

    @property
    def done(self) -> Collection[int]:
        """Numbers of the members that have ended."""


def new_bar(text: str) -> Progress:
    """A bar after a text, with values, the time that has passed and the time that is left."""
    from rich import progress  # imported only when needed
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn(text),
        progress.BarColumn(bar_width=20),
        progress.TextColumn("{task.fields[values]}"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        auto_refresh=False,  # a thread of its own, which the system may not allow
    )
