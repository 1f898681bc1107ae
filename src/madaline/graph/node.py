"""Nodes: the values of a graph that is being traced. To NumPy they look like arrays."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from operator import is_
from typing import Any, NoReturn

import numpy as np

from madaline.errors import TraceError
from madaline.graph.primitive import PRIMITIVES, ZERO, Primitive
from madaline.graph.shapes import Rows, Shape, show, size_of

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)


class Node:
    """One value of the graph: the primitive that makes it, from which nodes, with which static parameters.

    Use it as an array: operators, indexing, methods and NumPy functions give further nodes. What would need its
    number (``float(x)``, ``if x > 0``, ``np.asarray(x)``) or would change it in place raises a TraceError.
    """

    __slots__ = ("__weakref__", "dtype", "inputs", "params", "primitive", "shape")

    def __init__(
        self, primitive: Primitive, inputs: tuple[Node, ...], params: dict[str, Any], shape: Shape, dtype: np.dtype[Any]
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.params = params
        self.shape = shape
        self.dtype = dtype

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

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        return self.transpose()

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Node:
        return self

    @property
    def flat(self) -> Any:
        return self.ravel()

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

    def __iter__(self) -> Iterator[Node]:
        if not self.shape:
            raise TypeError("iteration over a traced value without axes")
        return (self[index] for index in range(len(self)))

    # NumPy's protocols

    __array_priority__ = 1000.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from madaline.graph.numpy_api.dispatch import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from madaline.graph.numpy_api.dispatch import call_function

        return call_function(function, args, kwargs)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        # TypeError, since NumPy swallows other exceptions here and would wrap the node in an object array.
        raise TraceError(
            f"{self!r} has no value yet, so NumPy cannot turn it into an array (np.asarray, np.array, or a function "
            "that needs numbers, such as one of scipy's). Keep it as it is: NumPy functions take it directly; use "
            "np.stack to join several, np.take_along_axis(a, i, axis=0) for a[i], np.where(mask, a, b) for a[mask]."
        )

    # Operators. ZERO, the tangent that is absent, answers for itself.

    def __add__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else np.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return np.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else np.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return np.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return np.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return np.divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return np.divide(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return np.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return np.floor_divide(other, self)

    def __mod__(self, other: Any) -> Any:
        return np.remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        return np.remainder(other, self)

    def __divmod__(self, other: Any) -> Any:
        return np.floor_divide(self, other), np.remainder(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return np.floor_divide(other, self), np.remainder(other, self)

    def __pow__(self, other: Any) -> Any:
        return np.power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return np.power(other, self)

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    def __and__(self, other: Any) -> Any:
        return np.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Any:
        return np.bitwise_and(other, self)

    def __or__(self, other: Any) -> Any:
        return np.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Any:
        return np.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Any:
        return np.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return np.bitwise_xor(other, self)

    def __eq__(self, other: Any) -> Any:  # noqa: PYI032 - compared elementwise, as an array is
        return np.equal(self, other)

    def __ne__(self, other: Any) -> Any:  # noqa: PYI032 - compared elementwise, as an array is
        return np.not_equal(self, other)

    def __lt__(self, other: Any) -> Any:
        return np.less(self, other)

    def __le__(self, other: Any) -> Any:
        return np.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return np.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return np.greater_equal(self, other)

    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Any:
        from madaline.graph.numpy_api.indexing import getitem

        return getitem(self, index)

    # What a traced value cannot do

    def __bool__(self) -> NoReturn:
        raise TraceError(
            f"{self!r} has no value yet, so Python cannot branch on it (if, while, and, or, assert, max, sorted). "
            "Use np.where(condition, a, b), np.maximum / np.minimum, or & and | for masks."
        )

    def _number(self) -> NoReturn:
        raise TraceError(
            f"{self!r} has no value yet, so it cannot become a Python number (float, int, item, math.*, "
            "a format, or an entry of an array: a[i] = x). Keep it as it is and use NumPy functions (np.exp for "
            "math.exp, np.stack of the entries for an array); to see it, return it as auxiliary output (has_aux=True)."
        )

    __float__ = __int__ = __complex__ = __index__ = _number

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else self._number()

    def __round__(self, digits: int | None = None) -> Any:
        return self._number() if digits is None else np.round(self, digits)

    def __getattr__(self, name: str) -> NoReturn:
        text = f"A traced value has no attribute {name!r}."
        if hasattr(np.ndarray, name):
            text = f"x.{name} of an array is not supported on traced values; md.supported_functions() lists what is."
        raise AttributeError(text)

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: Any) -> Node:
        # A node never changes, and a second one would be a value that nobody gives.
        return self

    def item(self, *_: Any) -> NoReturn:
        self._number()

    def tolist(self) -> NoReturn:
        self._number()

    def _in_place(self, *_: Any, **__: Any) -> NoReturn:
        raise TraceError(
            "A traced value cannot be changed in place (x[i] = v, x += v on an array, x.sort(), x.fill()). "
            "Make a new one: x = x + v, np.where(mask, v, x), np.concatenate or np.stack of the parts."
        )

    __setitem__ = __delitem__ = sort = fill = put = itemset = partition = resize = _in_place

    def _rebind(self, operation: Any, other: Any) -> Any:
        # A NumPy scalar is immutable, so `total += x` only rebinds the name; an array would change for all its aliases.
        return operation(self, other) if self.ndim == 0 else self._in_place()

    def __iadd__(self, other: Any) -> Any:
        return self._rebind(np.add, other)

    def __isub__(self, other: Any) -> Any:
        return self._rebind(np.subtract, other)

    def __imul__(self, other: Any) -> Any:
        return self._rebind(np.multiply, other)

    def __itruediv__(self, other: Any) -> Any:
        return self._rebind(np.divide, other)

    def __ipow__(self, other: Any) -> Any:
        return self._rebind(np.power, other)

    __imatmul__ = __ifloordiv__ = __imod__ = __iand__ = __ior__ = __ixor__ = _in_place

    # Methods of an array

    def sum(self, *args: Any, **options: Any) -> Any:
        return np.sum(self, *args, **options)

    def prod(self, *args: Any, **options: Any) -> Any:
        return np.prod(self, *args, **options)

    def mean(self, *args: Any, **options: Any) -> Any:
        return np.mean(self, *args, **options)

    def var(self, *args: Any, **options: Any) -> Any:
        return np.var(self, *args, **options)

    def std(self, *args: Any, **options: Any) -> Any:
        return np.std(self, *args, **options)

    def max(self, *args: Any, **options: Any) -> Any:
        return np.max(self, *args, **options)

    def min(self, *args: Any, **options: Any) -> Any:
        return np.min(self, *args, **options)

    def any(self, *args: Any, **options: Any) -> Any:
        return np.any(self, *args, **options)

    def all(self, *args: Any, **options: Any) -> Any:
        return np.all(self, *args, **options)

    def argmax(self, axis: Any = None, **options: Any) -> Any:
        return np.argmax(self, axis=axis, **options)

    def argmin(self, axis: Any = None, **options: Any) -> Any:
        return np.argmin(self, axis=axis, **options)

    def argsort(self, axis: Any = -1, **options: Any) -> Any:
        return np.argsort(self, axis=axis, **options)

    def cumsum(self, axis: Any = None, dtype: Any = None) -> Any:
        return np.cumsum(self, axis=axis, dtype=dtype)

    def cumprod(self, axis: Any = None, dtype: Any = None) -> Any:
        return np.cumprod(self, axis=axis, dtype=dtype)

    def reshape(self, *shape: Any, order: Any = "C") -> Any:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)

    def ravel(self, order: Any = "C") -> Any:
        return np.ravel(self, order)

    def flatten(self, order: Any = "C") -> Any:
        return np.ravel(self, order)

    def squeeze(self, axis: Any = None) -> Any:
        return np.squeeze(self, axis=axis)

    def transpose(self, *axes: Any) -> Any:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return np.transpose(self, order or None)

    def swapaxes(self, first: int, second: int) -> Any:
        return np.swapaxes(self, first, second)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        from madaline.graph.primitives.elementwise import cast

        return cast(self, dtype)

    def dot(self, other: Any) -> Any:
        return np.dot(self, other)

    def clip(self, min: Any = None, max: Any = None) -> Any:  # noqa: A002 - NumPy's names
        return np.clip(self, min, max)

    def round(self, decimals: int = 0) -> Any:
        return np.round(self, decimals)

    def take(self, indices: Any, axis: Any = None) -> Any:
        return np.take(self, indices, axis=axis)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        return np.repeat(self, repeats, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return np.diagonal(self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return np.trace(self, offset, axis1, axis2)

    def _zeros(self) -> Any:
        return PRIMITIVES["broadcast_to"](constant(0, self.dtype), shape=self.shape)

    def conj(self) -> Node:
        return self

    def copy(self) -> Node:
        return self


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


def new_input(index: int, shape: Shape, dtype: Any, name: str = "") -> Node:
    """A leaf whose value is given when the program runs."""
    return Node(INPUT, (), {"index": index, "name": name}, shape, np.dtype(dtype))


def constant(value: Any, dtype: Any = None) -> Node:
    """A leaf with a known value, brought to one of the graph's types."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, Node) for item in value):
        raise TraceError("A list of traced values is not an array. Use np.stack (new axis) or np.concatenate.")
    array = whole_array(value, dtype)
    wanted = graph_dtype(array.dtype)
    if array.dtype != wanted:
        array = array.astype(wanted)
    return Node(CONSTANT, (), {"value": array}, array.shape, array.dtype)


def whole_array(value: Any, dtype: Any = None) -> np.ndarray:
    """NumPy's array of a value; an error where it would lose a mask, or where an integer is too large for a graph."""
    array = np.asarray(value, dtype=dtype)
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
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


def row_count(rows: Rows, dtype: Any = FLOAT64) -> Node:
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
        return value
    if isinstance(value, Rows):
        return row_count(value, dtype or FLOAT64)
    if dtype is not None and isinstance(value, (bool, int, float)):
        return constant(value, dtype)
    return constant(value)


def apply(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Node:
    """A new node, its shape and type by the primitive's rules."""
    inputs = tuple([as_node(arg) for arg in args])
    shape = primitive.shape(*[node.shape for node in inputs], **params)
    dtype = primitive.dtype(*[node.dtype for node in inputs], **params)
    return Node(primitive, inputs, params, shape, dtype)


def is_constant(node: Node) -> bool:
    """Whether the node's value is known."""
    return node.primitive is CONSTANT


def topological_order(outputs: Iterable[Node]) -> list[Node]:
    """All nodes the outputs need, each after its inputs. No recursion: chains may be 100,000 nodes long."""
    order: list[Node] = []
    done: set[int] = set()
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
