"""How far a search is: its limits, and what is shown meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LEAST_SECONDS = 0.05
"With less time than this, nothing is started."
JOINING_SHARE, JOINING_SECONDS = 0.05, 15.0
"Largest fraction of the time limit, and time, that is kept for the kernel machine and the weights of the ensemble."


@dataclass(frozen=True)
class SearchLimits:
    """When a search ends: after a number of trials, or some seconds after it began."""

    trials: int | None
    began: float
    seconds: float | None

    @property
    def left(self) -> float | None:
        """Seconds that are left for training; None without a time limit."""
        if self.seconds is None:
            return None
        return self.until_end - min(JOINING_SHARE * self.seconds, JOINING_SECONDS)

    @property
    def until_end(self) -> float:
        """Seconds that are left at all."""
        return math.inf if self.seconds is None else max(self.began + self.seconds - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return self.left is not None and self.left < LEAST_SECONDS


@dataclass
class SearchProgress:
    """What is known while a search runs; ``show`` is called when it changes."""

    show: Callable[[SearchProgress], None] = lambda _: None
    trials: int = 0
    best: float = math.nan
    rung: str = ""

    def update(self, **values: Any) -> None:
        """Change some of it."""
        for name, value in values.items():
            setattr(self, name, value)
        self.show(self)


class SearchBar:
    """The progress bar of a search.

    Parameters
    ----------
    limits : SearchLimits
    """

    def __init__(self, limits: SearchLimits) -> None:
        from rich import progress  # imported only when needed
        from rich.console import Console

        self._limits = limits
        left = [progress.TextColumn("left"), progress.TimeRemainingColumn(compact=True)]
        self._bar = progress.Progress(
            progress.TextColumn("{task.fields[trials]}"),
            progress.BarColumn(bar_width=20),
            progress.TextColumn("{task.fields[best]}"),
            progress.TimeElapsedColumn(),
            *(left if limits.trials is not None else [progress.TextColumn("{task.fields[left]}")]),
            progress.TextColumn("{task.fields[rung]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(
            "search", total=limits.trials or limits.seconds, trials="trial 0", best="", left="", rung=""
        )
        self._bar.start()

    def show(self, progress: SearchProgress) -> None:
        """Show how far the search is."""
        limits = self._limits
        done = progress.trials if limits.trials is not None else time.monotonic() - limits.began
        left = "" if limits.left is None else f"{max(limits.left, 0.0):,.0f} s left"
        of = "" if limits.trials is None else f" of {limits.trials}"
        best = "" if math.isnan(progress.best) else f"best loss {progress.best:.4g}"
        self._bar.update(
            self._task, completed=done, trials=f"{progress.trials}{of} trials", best=best, left=left, rung=progress.rung
        )

    def close(self) -> None:
        """Show the end."""
        self._bar.stop()
