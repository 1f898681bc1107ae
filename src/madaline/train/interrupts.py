"""Ctrl-C, delayed while values that belong together are changed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Context in which Ctrl-C raises KeyboardInterrupt as usual, except inside :meth:`deferred`.

    A Ctrl-C inside :meth:`deferred` takes effect at the end of that block. Python delivers signals to the main thread
    only; in other threads, and where Ctrl-C is ignored, this context does nothing.

    Our handler removes itself before it raises, so that Ctrl-C at any instruction of entering or leaving this context
    leaves the previous handler in place.

    Parameters
    ----------
    hurry : callable
        Called when Ctrl-C is delayed, to finish the block soon.
    """

    def __init__(self, on_interrupt: Callable[[], None]) -> None:
        self._on_interrupt = on_interrupt
        self._previous: Any = None
        self._is_entered = False
        self._depth = 0
        self._is_pending = False

    def __enter__(self) -> Self:
        previous = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(previous):
            self._previous, self._depth, self._is_pending, self._is_entered = previous, 0, False, True
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_entered:
            self._is_entered = False
            signal.signal(signal.SIGINT, self._previous)

    def deferred(self) -> DeferredInterrupt:
        """Context of a block that Ctrl-C does not divide; blocks may be nested."""
        return DeferredInterrupt(self)

    def hold(self) -> None:
        """Begin such a block."""
        if self._is_entered and signal.getsignal(signal.SIGINT) == self._previous:
            signal.signal(signal.SIGINT, self._handle)  # a callback caught the KeyboardInterrupt of an earlier Ctrl-C
        self._depth += 1

    def release(self) -> None:
        """End such a block."""
        self._depth -= 1
        if self._is_pending and not self._depth:
            self._handle(signal.SIGINT, None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._depth:
            self._is_pending = True
            self._on_interrupt()
            return
        self._is_pending = False
        signal.signal(signal.SIGINT, self._previous)
        self._previous(number, frame)
        signal.signal(signal.SIGINT, self._handle)  # the previous handler did not raise, so the work continues


class DeferredInterrupt:
    """Context of :meth:`Interrupts.deferred`: a class, because a generator is slower and every epoch enters one."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts.hold()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._interrupts.release()
