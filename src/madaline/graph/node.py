"""Nodes: the values of a graph that is being traced. To NumPy they look like arrays."""

from __future__ import annotations

import functools
import math
import operator
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from operator import is_
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import TraceError
from madaline.graph.array_methods import ArrayMethods
from madaline.graph.blame import array_remedy, number_remedy
from madaline.graph.late import LATE
from madaline.graph.object_arrays import (
    ELEMENT_METHODS,
    MADE,
    as_traced,
    calling_frame,
    comparison_remedy,
    made_lines,
    object_array,
    object_remedy,
)
from madaline.graph.primitive import PRIMITIVES, Primitive
from madaline.graph.shapes import Rows, Shape, Size, show, size_of

if TYPE_CHECKING:
    from madaline.graph.arrays import Array, Operand

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)


_FILLED_IN = frozenset({"dtype", "inputs", "known", "memory", "params", "primitive", "shape"})
"What a node that knows its form only gets when it is asked for."


class Node(ArrayMethods):
    """One value of the graph: the primitive that computes it, the input nodes, and the static parameters.

    Use it as an array: operators, indexing, methods and NumPy functions give further nodes. While ``md.grad`` and the
    like trace a function, arguments have known values, so ``if x > 0`` and ``x[x > 0]`` work. Inside ``md.compile``
    they are unknown; then uses that need numbers raise a TraceError, and so does ``float(x)`` anywhere, since a plain
    number would lose its derivative.
    """

    __slots__ = (
        *("__weakref__", "dtype", "inputs", "known", "memory", "params", "primitive", "shape"),
        *("form", "operands", "tape"),
    )

    form: Any
    "How it is computed, where it belongs to a tape; see ``tape.py``."
    operands: tuple[Node, ...]
    "What it is computed from, for a node that knows its form only."

    def __init__(
        self, primitive: Primitive, inputs: tuple[Node, ...], params: dict[str, Any], shape: Shape, dtype: np.dtype[Any]
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.params = params
        self.shape = shape
        self.dtype = dtype
        self.known: np.ndarray | None = None
        "The value, where it is known while tracing; see ``known_value``."
        self.memory: Any = None
        "What is shared with other arrays, or was written in place; see ``memory.py``."
        self.tape: Any = None
        "The call of a traced function in which its form holds."

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        return size_of(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"<traced {self.primitive.name}: {self.dtype.name} {show(self.shape)}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a traced value without axes")
        size = self.shape[0]
        if isinstance(size, Rows):
            raise TraceError(
                "The number of rows is not known while a batch is traced, so len() of it has no value. Use x.shape[0]."
            )
        return size

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a traced value without axes")
        return (self[index] for index in range(len(self)))

    def __reduce__(self) -> Any:
        return Node, (self.primitive, self.inputs, self.params, self.shape, self.dtype)

    def __copy__(self) -> Array:
        from madaline.graph.memory import is_writable

        # While its function is traced, a copy has memory of its own; a node itself never changes.
        return np.copy(self) if is_writable() else self

    def __deepcopy__(self, memo: Any) -> Array:
        return self.__copy__()

    # NumPy's protocols

    __array_priority__ = 1000.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return LATE.array_ufunc(self, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return LATE.array_function(self, function, args, kwargs)

    def __array__(self, dtype: DTypeLike | None = None, copy: Any = None) -> np.ndarray:
        # Integers and masks have no derivative to lose. TypeError, since NumPy swallows other exceptions here and
        # would wrap the node in an object array.
        to_integers = dtype is not None and np.dtype(dtype).kind in "iub"
        value = known_value(self) if to_integers or not is_float(self.dtype) else None
        if value is not None:
            return np.array(value, dtype=dtype)
        _refuse_scipy_function()
        wants_objects = dtype is None or np.dtype(dtype) == object
        objects = object_array(self, calling_frame(1), copy) if is_float(self.dtype) and wants_objects else None
        if objects is not None:
            return objects
        raise TraceError(
            f"{self!r} is a traced value, so NumPy cannot turn it into a plain array (np.array(..., dtype=float), "
            f"np.asarray of a large array, an entry of a plain array). {array_remedy()}" + made_lines()
        )

    def __getitem__(self, index: Any) -> Any:
        return LATE.get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        from madaline.graph.memory import assign

        assign(self, index, value)

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        from madaline.graph.primitives.elementwise import cast

        result = cast(self, dtype)
        # A user's copy has memory of its own; the library itself never writes in place and needs no copy.
        caller = sys._getframe(1).f_globals  # noqa: SLF001 - the documented way to find the caller
        own = result is self and copy and not caller.get("__name__", "").startswith("madaline.")
        return np.copy(self) if own else result

    # Uses that need the number

    def __bool__(self) -> bool:
        value = known_value(self)
        if value is not None:
            return bool(value)
        raise TraceError(
            f"{self!r} has no value yet, so Python cannot branch on it (if, while, and, or, assert, max, sorted). "
            "Use np.where(condition, a, b), np.maximum / np.minimum, or & and | for masks; or call md.grad without "
            "md.compile, where values are known." + comparison_remedy()
        )

    def _number(self) -> NoReturn:
        refused = TraceError(
            f"{self!r} is a traced value and cannot become a Python number, since its derivative would be lost. "
            f"{object_remedy(2) or number_remedy()}"
        )
        made = MADE.get()
        if made is not None:
            made.refused = refused
        raise refused

    __float__ = __complex__ = _number

    def _integer(self) -> np.ndarray:
        """The value, for uses whose derivative is zero; an error where it is not known."""
        value = known_value(self)
        if value is None:
            self._number()
        return value

    def __int__(self) -> int:
        return int(self._integer())

    def __index__(self) -> int:
        if is_float(self.dtype):
            self._number()
        return int(operator.index(self._integer()[()]))

    def __floor__(self) -> int:
        return math.floor(self._integer()[()])

    def __ceil__(self) -> int:
        return math.ceil(self._integer()[()])

    def __trunc__(self) -> int:
        return int(self._integer())

    def __round__(self, digits: int | None = None) -> Any:
        return round(float(self._integer())) if digits is None else np.round(self, digits)

    def __format__(self, spec: str) -> str:
        return format(self._integer()[()], spec) if spec else repr(self)

    def __getattr__(self, name: str) -> Any:
        if name in _FILLED_IN:
            return LATE.fill_in(self, name)
        if name in ELEMENT_METHODS:
            return functools.partial(getattr(np, name), self)
        text = f"A traced value has no attribute {name!r}."
        if hasattr(np.ndarray, name):
            known = "md.functional.supported_functions() lists what is"
            text = f"x.{name} of an array is not supported on traced values; {known}."
        raise AttributeError(text)

    def item(self, *index: Any) -> Node:
        return self._number() if is_float(self.dtype) else self._integer().item(*index)

    def tolist(self) -> Node:
        return self._number() if is_float(self.dtype) else self._integer().tolist()

    def __delitem__(self, index: Any) -> NoReturn:
        raise TraceError("Entries of a traced array cannot be deleted in place. Use x = np.delete(x, index).")

    def resize(self, *shape: Size) -> NoReturn:
        raise TraceError("A traced array cannot be resized in place. Use np.concatenate, np.pad or np.resize.")

    def _zeros(self) -> Array:
        return PRIMITIVES["broadcast_to"](constant(0, self.dtype), shape=self.shape)


def _refuse_scipy_function() -> None:
    """An error that names the function of SciPy that is asking for an array, if there is one, and what to use."""
    from madaline.graph.numpy_api.special import INSTEAD, distribution_instead

    called: list[tuple[str, str]] = []
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the documented way to find the caller
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("scipy", "numpy"):
        name, module = frame.f_code.co_name, frame.f_globals["__name__"]
        if name.endswith("wrapper"):  # a decorator: what it wraps is one of its variables
            wrapped = [item for item in frame.f_locals.values() if callable(item) and hasattr(item, "__module__")]
            name, module = next(((item.__name__, item.__module__) for item in wrapped), (name, ""))
        owner = frame.f_locals.get("self")
        if name == "__init__":
            name = type(owner).__name__
        if module.startswith("scipy.") and "array_api_compat" not in module and not name.startswith("_"):
            parts = [part for part in module.split(".") if not part.startswith("_")]
            instead = distribution_instead(owner, name) or INSTEAD.get(name, "")
            called.append((".".join([*parts, name]), instead))
        frame = frame.f_back
    for path, instead in reversed(called):
        if instead:
            raise TraceError(f"{path} takes plain arrays only, not traced values. Use {instead}.")
    if called:
        raise TraceError(
            f"{called[-1][0]} takes plain arrays only, not traced values. Write it with NumPy functions, or with "
            "those of SciPy that md.functional.supported_functions() lists."
        )


class Asked(threading.local):
    """How often a value was asked for in this thread: a graph that was made meanwhile may depend on it."""

    count = 0


ASKED = Asked()


def known_value(node: Node) -> np.ndarray | None:
    """The value of a node whose inputs are known numbers, as in ``md.grad(f)(x)``; None where one is not known.

    Values are computed only when they are asked for, by NumPy, and kept.
    """
    ASKED.count += 1
    if node.known is None and node.primitive is CONSTANT:
        return np.asarray(node.params["value"])
    node = as_node(node)
    if node.known is not None:
        return node.known
    pending = [node]
    while pending:
        current = pending[-1]
        missing = [item for item in current.inputs if item.known is None]
        if current.known is not None:
            pending.pop()
        elif current.primitive is CONSTANT:
            current.known = current.params["value"]
        elif current.primitive is INPUT or current.primitive is ROW_COUNT:
            return None
        elif missing:
            pending.extend(missing)
        else:
            with np.errstate(all="ignore"):
                value = current.primitive.value(*[item.known for item in current.inputs], **current.params)
            current.known = np.asarray(value, dtype=current.dtype)
    return node.known


class InputPrimitive(Primitive):
    """A value that is given when the program runs. Parameter: ``index``, and ``name`` if it has one."""

    name = "input"


class ConstantPrimitive(Primitive):
    """A value that is known when the graph is made. Parameter: ``value``, an array."""

    name = "constant"


class RowCountPrimitive(Primitive):
    r"""The size :math:`c\,n + d` of a batch of ``n`` rows, as a scalar. Parameter: ``rows``."""

    name = "row_count"


INPUT = PRIMITIVES["input"]
CONSTANT = PRIMITIVES["constant"]
ROW_COUNT = PRIMITIVES["row_count"]


def new_input(index: int, shape: Shape, dtype: DTypeLike, name: str = "") -> Node:
    """A leaf whose value is given when the program runs."""
    return Node(INPUT, (), {"index": index, "name": name}, shape, np.dtype(dtype))


def constant(value: Any, dtype: Any = None) -> Node:
    """A leaf with a known value, brought to one of the graph's types."""
    if type(value) is np.ndarray and dtype is None and value.dtype is FLOAT64 and value.ndim and value.flags.writeable:
        return _snapshot(value)
    if isinstance(value, (list, tuple)) and any(isinstance(item, Node) for item in value):
        raise TraceError(
            "A list of traced values is not an array. Use np.stack (new axis), np.concatenate or md.array."
        )
    array = whole_array(value, dtype)
    wanted = graph_dtype(array.dtype)
    if array.dtype != wanted:
        array = array.astype(wanted)
    elif (array is value or array.base is not None) and _may_change(array):
        if array.ndim:
            return _snapshot(array)
        array = array.copy()
    return Node(CONSTANT, (), {"value": array}, array.shape, array.dtype)


def _may_change(array: np.ndarray) -> bool:
    """Whether the array, or the memory it is a view of, can be written to."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return owner is not None and not isinstance(owner, bytes)


SNAPSHOTS: ContextVar[dict[int, tuple[np.ndarray, Node]] | None] = ContextVar("arrays in open traces", default=None)
"The constant made of each array while a function is traced, by the array's id."


def _snapshot(array: np.ndarray) -> Node:
    """A constant with a copy of an array, which the function may change later; the same node if it has not changed."""
    kept = SNAPSHOTS.get()
    if kept is not None and id(array) in kept:
        _, node = kept[id(array)]
        if _same_bits(array, node.params["value"]):
            return node
    node = Node(CONSTANT, (), {"value": array.copy()}, array.shape, array.dtype)
    if kept is not None:
        kept[id(array)] = (array, node)
    return node


def _same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays of one type are equal, NaN and the sign of zero included."""
    first, second = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (a, b))
    return a.shape == b.shape and np.array_equal(first, second)


def whole_array(value: Operand, dtype: DTypeLike | None = None) -> np.ndarray:
    """NumPy's array of a value; an error where it would lose a mask, or where an integer is too large for a graph."""
    array = np.asarray(value, dtype=dtype)
    if type(value) is not np.ndarray and isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise TraceError(
            "A masked array would lose its mask in a graph. Pass the numbers, a.filled(0.0), and the mask as weights "
            "or in np.where(mask, 0.0, a)."
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise TraceError(
            f"{array.max()} of type {array.dtype} is more than an int64 holds, in which a graph computes integers. "
            "Make it a float: a.astype(float)."
        )
    return array


@functools.lru_cache(maxsize=1024)
def _nonzero_constant(value: float, dtype: np.dtype[Any]) -> Node:
    return constant(value, dtype)


def scalar_constant(value: float, dtype: np.dtype[Any]) -> Node:
    """A leaf for one of Python's numbers, which is the same node for the same number."""
    # 0.0 and -0.0 are equal, and so would be one node.
    return _nonzero_constant(value, dtype) if value else constant(value, dtype)


def row_count(rows: Rows, dtype: DTypeLike = FLOAT64) -> Node:
    """The number of rows, as a traced scalar."""
    return Node(ROW_COUNT, (), {"rows": rows}, (), np.dtype(dtype))


def graph_dtype(of: Any, name: str = "") -> np.dtype[Any]:
    """The type a graph computes in: float16 in float32, every integer in int64; others are refused, by ``name``."""
    dtype: np.dtype[Any] = np.dtype(of)
    if dtype is FLOAT64 or dtype is FLOAT32 or dtype is INT64 or dtype is BOOL:
        return dtype
    if dtype in (FLOAT32, FLOAT64, INT64, BOOL):
        return dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize <= 4:
        return FLOAT32
    if dtype.kind == "f" and dtype.itemsize == 8:
        return FLOAT64
    if dtype.kind in "iu":
        return INT64
    raise TraceError(
        f"{f'{name} has type {dtype}, which' if name else f'Values of type {dtype}'} cannot be traced. "
        "Use float32 or float64 (float16 is computed in float32), integers or booleans."
    )


@functools.cache
def name_of(dtype: np.dtype[Any]) -> str:
    """The name of a type; NumPy makes the text anew whenever it is asked."""
    return dtype.name


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether a value of this type has a derivative."""
    return dtype.kind == "f"


def as_node(value: Any, dtype: np.dtype[Any] | None = None) -> Node:
    """A node for a value of any kind; Python numbers and sizes take ``dtype``."""
    if isinstance(value, Node):
        return value if value.memory is None else value.memory.now(value)
    if isinstance(value, Rows):
        return row_count(value, dtype or FLOAT64)
    if dtype is not None and isinstance(value, (bool, int, float)):
        return constant(value, dtype)
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        value = as_traced(value)
    return value if isinstance(value, Node) else constant(value)


def apply(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Node:
    """A new node, its shape and type by the primitive's rules."""
    if len(args) == 1:
        node = as_node(args[0])
        new_shape = primitive.shape(node.shape, **params)
        primitive.check_kind(node.dtype)
        return Node(primitive, (node,), params, new_shape, primitive.dtype(node.dtype, **params))
    inputs = tuple([as_node(arg) for arg in args])
    shape = primitive.shape(*[node.shape for node in inputs], **params)
    if inputs:
        primitive.check_kind(inputs[0].dtype)
    dtype = primitive.dtype(*[node.dtype for node in inputs], **params)
    return Node(primitive, inputs, params, shape, dtype)


def is_constant(node: Node) -> bool:
    """Whether the node's value is known."""
    return node.primitive is CONSTANT


def topological_order(outputs: Iterable[Node], done: set[int] | None = None) -> list[Node]:
    """All nodes the outputs need, each after its inputs. No recursion: chains may be 100,000 nodes long.

    Nodes whose ids are in ``done``, and what only they need, are left out; the ids of the others are added to it.
    """
    order: list[Node] = []
    done = set() if done is None else done
    for output in outputs:
        if id(output) in done:
            continue
        done.add(id(output))
        stack: list[tuple[Node, Iterator[Node]]] = [(output, iter(output.inputs))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                key = id(child)
                if key not in done:
                    done.add(key)
                    if child.inputs:
                        stack.append((child, iter(child.inputs)))
                        break
                    order.append(child)
            else:
                order.append(node)
                stack.pop()
    return order


def substitute(outputs: Iterable[Node], replacement: dict[int, Node]) -> list[Node]:
    """The outputs over other nodes: each node whose id is in ``replacement`` gives way to its stand-in."""
    outputs = list(outputs)
    new = dict(replacement)
    for node in topological_order(outputs):
        if id(node) in new:
            continue
        inputs = tuple([new[id(item)] for item in node.inputs])
        same = all(map(is_, inputs, node.inputs))
        new[id(node)] = node if same else Node(node.primitive, inputs, node.params, node.shape, node.dtype)
    return [new[id(node)] for node in outputs]
