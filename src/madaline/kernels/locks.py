"""Locks that a forked child finds free."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType


class Lock:
    """Held by one thread at a time, as ``threading.Lock``; after a fork, the child's copy is free.

    Whoever held it stayed in the parent, so that the child would wait for ever.

    Examples
    --------
    >>> lock = Lock()
    >>> with lock:
    ...     print("alone")
    alone
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _ALL.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Make it free, whoever held it."""
        self._lock = threading.Lock()


_ALL: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _ALL:
        lock.renew()


if hasattr(os, "register_at_fork"):  # where there are forks
    os.register_at_fork(after_in_child=_renew_all)
