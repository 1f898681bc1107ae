"""Ctrl-C, held back while numbers change that belong together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """While it is entered, Ctrl-C interrupts as ever, but not inside :meth:`held`: there it takes effect at the end.

    Only the main thread is told of signals; in others, and where Ctrl-C is ignored, it does nothing.

    Parameters
    ----------
    hurry : callable
        Called when Ctrl-C is held back, to bring what goes on to its end soon.
    """

    def __init__(self, hurry: Callable[[], None]) -> None:
        self._hurry = hurry
        self._before: Any = None
        self._depth = 0
        self._pending = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._pending = False
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def held(self) -> _Held:
        """A piece of work that is done as a whole; such pieces may stand inside each other."""
        return _Held(self)

    def hold(self) -> None:
        """Such a piece begins."""
        self._depth += 1

    def release(self) -> None:
        """It ends."""
        self._depth -= 1
        if self._pending and not self._depth:
            self._pending = False
            self._before(signal.SIGINT, None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._depth:
            self._before(number, frame)
            return
        self._pending = True
        self._hurry()


class _Held:
    """The context of such a piece; as every epoch ends in one, it is a class and no generator, which takes longer."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts.hold()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._interrupts.release()
