"""Locks that are free in a forked child."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType


class Lock:
    """A lock like ``threading.Lock`` whose copy in a forked child is free.

    The thread that held it exists only in the parent, so the child would otherwise wait forever.

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
        """Replace the lock by a free one."""
        self._lock = threading.Lock()


_ALL: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _ALL:
        lock.renew()


if hasattr(os, "register_at_fork"):  # on systems with fork
    os.register_at_fork(after_in_child=_renew_all)
