"""Which line of the user's function an error of the trace comes from."""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from types import FrameType
from typing import TypeVar

from madaline.errors import MadalineError

_LIBRARIES = ("madaline", "numpy", "scipy")


E = TypeVar("E", bound=MadalineError)


def located(error: E) -> E:
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


_REMEDIES = (
    (r"\bmath\.(\w+)\(", "Use NumPy functions: np.exp for math.exp."),
    (r"\brange\(", "range needs an integer: int(x), which has no derivative and whose value md.compile does not know."),
    (
        r"\]\s*=[^=]",
        "An entry of a plain array is one: make the array with md.zeros(n), with np.zeros_like(x) of a traced x, or "
        "with np.stack of the entries.",
    ),
    (
        r"\b(brentq|brenth|newton|root|root_scalar|fsolve|minimize|minimize_scalar|quad|solve_ivp|odeint)\(",
        "A solver of SciPy computes with plain numbers: write its steps with NumPy, or solve with plain numbers and "
        "give the derivative of the solution by md.functional.custom_derivative.",
    ),
    (
        r"\b(float|complex)\(|\.(item|tolist)\(",
        "Leave the conversion away; return the number as auxiliary output (has_aux=True) to see it.",
    ),
)
_ANY_REMEDY = (
    "Use NumPy functions (np.exp for math.exp); for an array to fill, md.zeros or np.zeros_like(x), or np.stack of the "
    "entries; to see the number, return it as auxiliary output (has_aux=True)."
)


def number_remedy() -> str:
    """What to write where a traced value cannot be a plain number, by the user's line."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to find the caller
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame = frame.f_back
    line = "" if frame is None else linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    found = [remedy for pattern, remedy in _REMEDIES if re.search(pattern, line)]
    return found[0] if len(found) == 1 else _ANY_REMEDY
