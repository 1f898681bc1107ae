"""Arrays that NumPy itself makes of traced values: ``np.array([a, b])``, ``np.asarray(x)``, ``np.r_[a, x]``.

NumPy does not hand these calls to us, but it asks each traced value for an array. What it gets is an array of Python
objects, with one traced number in each place. NumPy computes with such arrays element by element, by the operators and
methods of the elements, so every derivative is kept. Where an array of objects meets a traced array or is returned, it
becomes one traced array again. Functions that need an array of floats, such as ``np.linalg.inv``, refuse it with a
TypeError; the error that arrives says where the array was made and that ``md.array`` makes one that they take.
"""

from __future__ import annotations

import sys
import weakref
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.blame import shown_line
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import is_symbolic

if TYPE_CHECKING:
    from madaline.graph.node import Node

MAX_SIZE = 1000
"The most elements an array of objects may have: each is a node of the graph, and so is each result of an operation."

_CALLED_BY_NUMPY = (
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 fabs floor "
    "fmod hypot log log10 log1p log2 rad2deg radians rint sin sinh sqrt tan tanh trunc"
)
ELEMENT_METHODS = frozenset(_CALLED_BY_NUMPY.split())
"The methods that NumPy calls on the elements of an array of objects: ``np.exp(a)`` calls ``a[i].exp()``."


_MEANS = ("_mean", "_var")
"The functions in which NumPy sums the elements of an array and then divides, for means and variances."


def is_inside_mean() -> bool:
    """Whether the caller's operator was called by ``np.mean``, ``np.var`` or ``np.std`` of an array of objects."""
    frame = sys._getframe(2)  # noqa: SLF001 - the documented way to find the caller
    return frame.f_code.co_name in _MEANS and frame.f_globals.get("__name__", "").startswith("numpy.")


class PartialSum:
    """A sum of traced numbers inside ``np.mean``, which would turn a sum with a ``dtype`` into a plain number."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __add__(self, other: Any) -> PartialSum:
        return PartialSum(self.node + getattr(other, "node", other))

    __radd__ = __add__

    def __truediv__(self, count: Any) -> Any:
        mean = self.node / count
        # np.std takes the root of the variance, which it treats in the same way; the mean before it is a number.
        frame = sys._getframe(1)
        is_variance = frame.f_back is not None and frame.f_back.f_code.co_name == "_std" and "ret" in frame.f_locals
        return PartialSum(mean) if is_variance else mean

    def sqrt(self) -> Any:
        """What ``np.sqrt`` calls."""
        return np.sqrt(self.node)


class Made:
    """The arrays of objects that were made while a function was traced."""

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}
        self.shared: list[tuple[Node, weakref.ref[np.ndarray]]] = []
        self.refused: TraceError | None = None
        "The last refusal to become a plain number, which compiled code may lose."


MADE: ContextVar[Made | None] = ContextVar("arrays of objects made in the open trace", default=None)


def calling_frame(depth: int) -> FrameType | None:
    """The frame that called NumPy, when NumPy is asking for an array."""
    frame: FrameType | None = sys._getframe(depth + 1)  # noqa: SLF001 - the documented way to find the caller
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "numpy":
        frame = frame.f_back
    return frame


def object_array(node: Node, caller: FrameType | None, copy: Any) -> np.ndarray | None:
    """The elements of a traced array as an array of objects; None where it cannot be made."""
    made = MADE.get()
    if made is None or caller is None or is_symbolic(node.shape) or node.size > MAX_SIZE:
        return None
    module = caller.f_globals.get("__name__", "")
    if module.split(".")[0] in ("madaline", "scipy") and module != "madaline.graph.trace":
        return None
    array = np.empty(node.shape, dtype=object)
    for index in np.ndindex(node.shape):
        array[index] = node[index] if index else node
    made.lines[shown_line(caller.f_code.co_filename, caller.f_lineno)] = None
    if node.shape and copy is not True:
        # np.asarray(a) is a itself, so a write to one of the two would be seen in the other. Both are refused.
        array.flags.writeable = False
        made.shared.append((node, weakref.ref(array)))
    return array


def as_traced(value: Any) -> Any:
    """An array of objects, or a list with traced values, as one traced array; other values as they are."""
    if isinstance(value, np.ndarray):
        return _joined(value) if value.dtype == object and value.size and _has_traced(value.ravel()) else value
    return _joined(value) if isinstance(value, (list, tuple)) and _has_traced(value) else value


def _has_traced(values: Any) -> bool:
    from madaline.graph.node import Node

    return any(isinstance(item, Node) or (isinstance(item, (list, tuple)) and _has_traced(item)) for item in values)


def _joined(value: Any) -> Any:
    """The elements in one array, as ``np.stack`` joins them."""
    if isinstance(value, np.ndarray):
        flat: Any = np.stack(list(value.ravel()))
        return PRIMITIVES["reshape"](flat, shape=value.shape)
    return np.stack([as_traced(item) for item in value])


def fill_objects(array: np.ndarray, values: Any) -> np.ndarray:
    """Write a traced array into an array of objects, element by element, as ``array += x`` does."""
    given: Any = np.broadcast_to(values, array.shape)
    for index in np.ndindex(array.shape):
        array[index] = given[index]
    return array


def refuse_shared(owner: Node, owner_of: Any) -> None:
    """An error if ``np.asarray`` of an array is still in use, which NumPy would change with the array."""
    made = MADE.get()
    for node, array in made.shared if made is not None else ():
        if array() is not None and owner_of(node) is owner:
            raise TraceError(
                "np.asarray of this traced array is still in use, and in NumPy a write to one is seen in the other. "
                "Remove np.asarray, or take a copy: np.array(x)."
            )


def comparison_remedy() -> str:
    """What to do about values that NumPy compares one by one, for the end of an error; nothing if there are none."""
    lines = made_lines()
    hint = " np.sort, np.max and the like of np.array([...]) do that, too: make the array with md.array([...])."
    return hint + lines if lines else ""


def object_remedy(depth: int) -> str:
    """What to do where a function of NumPy asks the elements of an array of objects for numbers; else nothing."""
    lines = made_lines()
    caller = sys._getframe(depth).f_globals.get("__name__", "")  # noqa: SLF001 - the documented way to find the caller
    if not lines or caller.split(".")[0] != "numpy":
        return ""
    return (
        "NumPy makes an array of Python objects of traced values, which this function does not take: pass md.array(a)."
        + lines
    )


def made_lines() -> str:
    """The lines that made arrays of objects, for the end of an error."""
    made = MADE.get()
    return "".join(f"\n  {line}" for line in list(made.lines)[:3]) if made is not None else ""


def _is_raised_by(error: Exception, package: str) -> bool:
    """Whether an error was raised by the code of a package, and not by the user's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(package)


def explained(error: Exception) -> TraceError | None:
    """The error of a function that does not take an array of objects, with where it was made; None for others."""
    made = MADE.get()
    if made is not None and made.refused is not None and _is_raised_by(error, "scipy."):
        made.refused.__traceback__ = error.__traceback__
        return made.refused
    if isinstance(error, TypeError) and "'Node'" in str(error):
        found = TraceError(
            f"{str(error).rstrip('.')}. A Node is a traced value, and this function takes plain numbers only. Use "
            "functions of NumPy: np.mean for statistics.mean."
        )
        found.__traceback__ = error.__traceback__
        return found
    if made is None or not made.lines:
        return None
    if isinstance(error, AttributeError) and "Object" not in str(error) and not _is_raised_by(error, "numpy."):
        return None
    if isinstance(error, ValueError):
        if "read-only" not in str(error):
            return None
        text = "np.asarray(x) of a traced array cannot be written to. Take a copy, x.copy() or np.array(x)."
    else:
        text = (
            f"{str(error).rstrip('.')}. np.array and np.asarray make an array of Python objects of traced values, as "
            "do functions of NumPy that are given a list, and not every function takes it. Use md.array([...]) in "
            "their place, and for the list"
        )
        text += made_lines()
    found = TraceError(text)
    found.__traceback__ = error.__traceback__
    return found
