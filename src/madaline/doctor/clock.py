"""A time limit."""

from __future__ import annotations

import time

MOST = 4
"A busy machine may take this many times longer."


class Clock:
    """A time limit.

    Time that other processes take does not count at first, so that the result on a busy machine is the same.
    """

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self._started = time.monotonic(), time.process_time()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        passed = time.monotonic() - self._started[0]
        own = time.process_time() - self._started[1]
        return self.max_seconds - max(min(passed, own), passed / MOST)
