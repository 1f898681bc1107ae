"""Which line of the user's function an error of the trace comes from."""

from __future__ import annotations

import linecache
from pathlib import Path

from madaline.errors import TraceError

_LIBRARIES = ("madaline", "numpy", "scipy")


def located(error: TraceError) -> TraceError:
    """The error with the user's line at the end of its text, once."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.split(".")[0] not in _LIBRARIES:
            found = trace
        trace = trace.tb_next
    if found is not None and not getattr(error, "is_located", False):
        text = f"{error.args[0]}\n  {shown_line(found.tb_frame.f_code.co_filename, found.tb_lineno)}"
        error.args = (text, *error.args[1:])
        error.is_located = True  # type: ignore[attr-defined]  # functions nest, and the innermost knows best
    return error


def shown_line(path: str, line: int) -> str:
    """A line of the user's code, as errors name it."""
    source = linecache.getline(path, line).strip()
    return f"Line {line} of {Path(path).name}" + (f": {source}" if source else "")
