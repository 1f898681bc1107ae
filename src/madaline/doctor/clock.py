"""A time limit."""

from __future__ import annotations

import time


class Clock:
    """A time limit."""

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds, self._started = max_seconds, time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.max_seconds - (time.monotonic() - self._started)
