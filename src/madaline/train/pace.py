"""How many epochs or steps are run at a time, so that callbacks, probes and clocks are served when they ask."""

from __future__ import annotations

import math
from collections.abc import Sequence

from madaline.train.events import Callback

MANY_ROWS, MANY_STEPS = 1 << 18, 1 << 16
"Short epochs are run together up to this many rows and steps, if no callback needs to see each."
TICK_SECONDS = 0.2
"Approximate time between interruptions of a long epoch for a progress bar, a time limit or a checkpoint."


class Pace:
    """Divides training into pieces that run natively without interruption.

    Parameters
    ----------
    callbacks : sequence of Callback
        They say after how many steps or epochs they want to be called.
    probe_every : int
        Number of steps between samples of the probes; 0 without probes.
    has_limit : bool
        Whether there is a time limit.
    round_steps : int
        Steps of a round of replicas, which clocks do not interrupt: every piece of it has its costs.
    """

    def __init__(
        self, callbacks: Sequence[Callback], *, probe_every: int, has_limit: bool, round_steps: int = 1
    ) -> None:
        self._round_steps = round_steps
        self._callbacks, self._probe_every = callbacks, probe_every
        self._has_ticks = has_limit or any(callback.has_ticks for callback in callbacks)
        self._speed = 0.0

    def measure(self, n_steps: int, seconds: float) -> None:
        """Take the duration of the latest steps."""
        self._speed = n_steps / max(seconds, 1e-9)

    def epochs_together(self, left: int, *, t: int, n_steps: int, n_rows: int) -> int:
        """Number of epochs of ``n_steps`` and ``n_rows`` to run at a time, at most ``left``."""
        if any(callback.every for callback in self._callbacks):
            return 1
        epochs = min((callback.epochs_at_once() for callback in self._callbacks), default=math.inf)
        steps: float = MANY_STEPS
        if self._probe_every:
            steps = min(steps, self._steps_to_probe(t))
        if self._has_ticks:
            steps = min(steps, self._speed * TICK_SECONDS)
        return max(1, int(min(left, epochs, steps / n_steps, MANY_ROWS / max(n_rows, 1))))

    def next_piece(self, first: int, n_steps: int, *, t: int, before: int = 0) -> tuple[int, bool]:
        """Where to stop next in a block of ``n_steps``, and whether the piece is one step with probes.

        ``before`` is the number of steps of the epoch before the block.
        """
        stop = n_steps
        for count in [callback.every for callback in self._callbacks if callback.every]:
            stop = min(stop, first + count - t % count)
        if self._has_ticks:
            wanted = before + first + max(1, int(self._speed * TICK_SECONDS))
            stop = min(stop, -(-wanted // self._round_steps) * self._round_steps - before)
        if self._probe_every:
            wait = self._steps_to_probe(t)
            if wait == 0:
                return first + 1, True
            stop = min(stop, first + wait)
        return stop, False

    def _steps_to_probe(self, t: int) -> int:
        """Number of steps before the next one with probes."""
        return -t % self._probe_every
