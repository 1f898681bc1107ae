"""A limit of work, counted in seconds of a usual machine, so that findings do not depend on the load of this one."""

from __future__ import annotations

import time

STEP_SECONDS, WEIGHT_SECONDS, EPOCH_SECONDS, RUN_SECONDS = 6e-6, 1.2e-10, 2e-4, 0.02
"Time of an empty step, for each weight and row of a step, of an epoch besides, and to prepare a run, on a usual core."
MOST_OWN, MOST_PASSED = 3, 8
"Safety net: the work may take this many times longer than planned, in time of this process and on the clock."


def run_seconds(steps: int, batch_rows: int, n_params: int, epochs: int = 0) -> float:
    """The time that a run of training is expected to take; it depends on shapes only."""
    return RUN_SECONDS + epochs * EPOCH_SECONDS + steps * (STEP_SECONDS + WEIGHT_SECONDS * batch_rows * n_params)


class Clock:
    """A limit of work.

    Trials are counted by the time that they are expected to take, by their shapes, so that the same trials are made
    on any machine. Only if that takes several times longer than planned does the real time end them.

    Attributes
    ----------
    is_over_time : bool
        Whether the safety net ended the work.
    """

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self.is_over_time = False
        self._spent = 0.0
        self._started = time.monotonic(), time.process_time()

    def spend(self, seconds: float) -> None:
        """Count work that was done."""
        self._spent += seconds

    @property
    def left(self) -> float:
        """Work that is left, in seconds of a usual machine."""
        passed = time.monotonic() - self._started[0]
        own = time.process_time() - self._started[1]
        if own > MOST_OWN * self.max_seconds or passed > MOST_PASSED * self.max_seconds:
            self.is_over_time = True
            return 0.0
        return self.max_seconds - self._spent
