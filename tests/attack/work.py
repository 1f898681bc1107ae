"""Work that is counted, not timed."""

from __future__ import annotations

import sys


def lines_run(function):
    """Number of lines of madaline's code that a call runs: its work, whatever the machine does besides."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        if "madaline" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count
