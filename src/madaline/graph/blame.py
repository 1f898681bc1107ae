"""Which line of the user's function an error of the trace comes from."""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from madaline.errors import MadalineError

_LIBRARIES = ("madaline", "numpy", "scipy")
_STANDARD = os.path.dirname(os.__file__)  # noqa: PTH120 - compared with the names of files of code
"The folder of Python's own modules, which call operators of traced values."


E = TypeVar("E", bound=MadalineError)


def located(error: E) -> E:
    """The error with the user's line at the end of its text, once."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        path = trace.tb_frame.f_code.co_filename
        is_standard = path.startswith(_STANDARD) and "site-packages" not in path
        if name.split(".")[0] not in _LIBRARIES and not is_standard:
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
    (r"\bmath\.(?P<name>\w+)\(", "Use NumPy functions: np.{numpy} for math.{name}."),
    (
        r"\bnp\.fromiter\(",
        "np.fromiter makes a plain array: use np.stack or md.array of a list.",
    ),
    (
        r"\bnp\.arange\(",
        "np.arange makes a plain array: use int(n) for a count, start + step * np.arange(n) for a traced start.",
    ),
    (r"\brange\(", "range needs an integer: int(x), which has no derivative and whose value md.compile does not know."),
    (
        r"\]\s*=[^=]",
        (
            "An entry of a plain array is one: make the array with md.zeros(n), with np.zeros_like(x) of a traced "
            "x, or with np.stack of the entries."
        ),
    ),
    (
        r"\b(brentq|brenth|newton|root|root_scalar|fsolve|minimize|minimize_scalar|quad|solve_ivp|odeint)\(",
        (
            "A solver of SciPy computes with plain numbers: write its steps with NumPy, or solve with plain numbers "
            "and give the derivative of the solution by md.custom_derivative."
        ),
    ),
    (
        r"\b(float|complex)\(|\.(item|tolist)\(",
        "Remove the conversion; return the number as auxiliary output (has_aux=True) to see it.",
    ),
)
_ARRAY_REMEDIES = (
    (
        r"\.(normal|uniform|exponential|laplace|lognormal|logistic|gumbel|poisson|binomial|multivariate_normal)\(",
        (
            "To draw random numbers with a traced mean and scale, draw standard ones and transform them: "
            "mean + scale * rng.normal(size=n)."
        ),
    ),
    (
        r"\bnp\.(asarray|array|ascontiguousarray)\(.*dtype",
        "Remove dtype=: x.astype(dtype) converts a traced array, md.array([...], dtype) a list of them.",
    ),
)
_ANY_ARRAY_REMEDY = (
    "To join traced values use md.array([...]) or np.stack; for an array to fill use md.zeros or np.zeros_like(x); for "
    "a[i] and a[mask] of a plain array a use np.take_along_axis(a, i, axis=0) and np.where(mask, a, b)."
)
_NUMPYS = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "pow": "power", "fsum": "sum"} | {
    "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "dist": "linalg.norm"
}  # fmt: skip
"NumPy's names of functions of ``math`` that are named differently."
_ANY_REMEDY = (
    "Use NumPy functions (np.exp for math.exp); for an array to fill, md.zeros or np.zeros_like(x), or np.stack of the "
    "entries; to see the number, return it as auxiliary output (has_aux=True)."
)


def number_remedy() -> str:
    """What to write where a traced value cannot be a plain number, by the user's line."""
    line = _users_line()
    found = [(match, remedy) for pattern, remedy in _REMEDIES if (match := re.search(pattern, line))]
    if len(found) != 1:
        return _ANY_REMEDY
    match, remedy = found[0]
    name = match.groupdict().get("name", "")
    if name == "lgamma":
        return "Use scipy.special.gammaln for math.lgamma."
    return remedy.replace("{numpy}", _NUMPYS.get(name, name)).replace("{name}", name)


def array_remedy() -> str:
    """What to write where a traced value cannot be a plain array, by the user's line."""
    line = _users_line()
    found = [remedy for pattern, remedy in _ARRAY_REMEDIES if re.search(pattern, line)]
    return found[0] if len(found) == 1 else _ANY_ARRAY_REMEDY


def _users_line() -> str:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to find the caller
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame = frame.f_back
    return "" if frame is None else linecache.getline(frame.f_code.co_filename, frame.f_lineno)


def function_line(function: Any) -> str:
    """Where a function is defined, for the end of an error about what it returns; nothing if it is not Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_filename.startswith("<") or "madaline" in Path(code.co_filename).parts[-3:-1]:
        return ""
    return f"\n  {shown_line(code.co_filename, code.co_firstlineno)}"
