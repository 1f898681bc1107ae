"""How much work a call is, counted and not timed: the lines of Python it runs, the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def steps(call: Callable[[], Any]) -> int:
    """Lines run by ``call``, those of what it calls included; a line that loops counts each time."""
    count = 0

    def watch(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
