"""What all elementwise primitives share, and those that leave numbers as they are: cast, stop_gradient, identity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from madaline.graph.arrays import Array, Operand, Tangent
from madaline.graph.node import (
    BOOL,
    CONSTANT,
    FLOAT32,
    FLOAT64,
    INT64,
    Node,
    as_node,
    constant,
    graph_dtype,
    is_constant,
    scalar_constant,
)
from madaline.graph.primitive import PRIMITIVES, ZERO, Primitive, Sample, elements
from madaline.graph.shapes import Rows, Shape, broadcast

T = TypeVar("T", Array, Tangent)
Factor = Array | float | None
"A factor of the chain rule; None is zero."
Domain = tuple[float, float]
REAL: Domain = (-2.0, 2.0)
POSITIVE: Domain = (0.3, 2.5)


def sum_to(value: Array, shape: Shape) -> Array:
    """Undo broadcasting: sum ``value`` over the axes along which ``shape`` was repeated."""
    if value.shape == shape:
        return value
    lead = value.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        axis for axis, size in enumerate(shape, start=lead) if size == 1 and value.shape[axis] != 1
    )
    if axes:
        value = value.sum(axis=axes, keepdims=True)
    return value.reshape(shape)


def scaled(value: T, factor: Array | float) -> T:
    """``value * factor`` without the multiplication where the factor is plainly 1 or -1."""
    if isinstance(factor, float):
        if factor == 1.0:
            return value
        if factor == -1.0:
            return -value
    return value * factor


class Elementwise(Primitive):
    r"""One number out for one number of each argument, with NumPy's broadcasting.

    ``derivative(*args, y)`` gives :math:`\partial y/\partial x_i`: one factor, or a tuple with one for each argument;
    ``None`` is zero. Types: ``"float"`` computes integers in float64, ``"number"`` keeps the common type, ``"compare"``
    gives booleans from a common type, ``"logical"`` gives booleans from booleans.
    """

    ufunc: ClassVar[Any] = None
    types: ClassVar[str] = "float"
    on_masks: ClassVar[str] = ""
    "The logical primitive NumPy means when all arguments are booleans, as ``|`` by ``+``."
    domains: ClassVar[tuple[Domain, ...]] = (REAL,)
    "One interval for each argument, where samples are drawn; none of them crosses a singularity."

    def __call__(self, *args: Any, **params: Any) -> Any:
        inputs = None if params or self.types == "logical" else _plain_inputs(args)
        if inputs is not None:
            first, last = inputs[0], inputs[-1]
            shape = first.shape if first.shape == last.shape else broadcast(first.shape, last.shape)
            return Node(self, inputs, {}, shape, BOOL if self.types == "compare" else first.dtype)
        for arg in args:
            if isinstance(arg, Node):
                break
        else:
            return self.value(*args, **params)
        dtype = self.common_dtype(*args)
        if dtype == BOOL and self.on_masks:
            return PRIMITIVES[self.on_masks](*args)
        inputs = tuple([cast(as_node(arg, dtype), dtype) for arg in args])
        shape = broadcast(*[node.shape for node in inputs])
        node = Node(self, inputs, params, shape, self.dtype(dtype))
        return fold(node) if shape == () and all(is_constant(item) for item in inputs) else node

    def common_dtype(self, *args: Any) -> np.dtype[Any]:
        """The type to which all arguments are brought."""
        if self.types == "logical":
            return BOOL
        dtype = _float_of(args)
        if dtype is not None:
            return dtype
        kinds = [kind_of(arg) for arg in args if not isinstance(arg, Rows)]
        dtype = graph_dtype(np.result_type(*kinds))
        if dtype == INT64 and any(isinstance(kind, np.dtype) and kind.kind == "f" for kind in kinds):
            return FLOAT64
        if self.types == "float" and dtype.kind != "f":
            return FLOAT64
        if dtype == BOOL and self.types == "number" and not self.on_masks:
            return INT64
        return dtype

    def shape(self, *shapes: Shape, **params: Any) -> Shape:
        return broadcast(*shapes)

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return BOOL if self.types in ("compare", "logical") else dtypes[0]

    def value(self, *args: Any, **params: Any) -> Any:
        return self.ufunc(*args)

    def derivative(self, *args: Array) -> Factor | tuple[Factor, ...]:
        """Factors of the chain rule."""
        return None

    def _factors(self, args: tuple[Array, ...], y: Array) -> tuple[Factor, ...]:
        factors = self.derivative(*args, y)
        return factors if isinstance(factors, tuple) else (factors,) * len(args)

    def jvp(self, *args: Array, **params: Any) -> Tangent:
        count = (len(args) - 1) // 2
        inputs, y, dots = args[:count], args[count], args[count + 1 :]
        total: Any = ZERO
        for factor, x_dot in zip(self._factors(inputs, y), dots, strict=True):
            if factor is not None:
                total = total + scaled(x_dot, factor)
        return total

    def vjp(self, *args: Array, **params: Any) -> tuple[Array | None, ...]:
        inputs, y, y_bar = args[:-2], args[-2], args[-1]
        return tuple(
            None if factor is None or _is_known(x) else sum_to(scaled(y_bar, factor), x.shape)
            for factor, x in zip(self._factors(inputs, y), inputs, strict=True)
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        shapes: list[tuple[tuple[int, ...], ...]] = [((5, 3),) * len(self.domains)]
        if len(self.domains) > 1:
            shapes += [
                ((5, 3), *[(3,)] * (len(self.domains) - 1)),
                ((5, 1), *[(1, 3)] * (len(self.domains) - 1)),
                (((),) * len(self.domains)),
            ]
        for choice in shapes:
            yield (
                tuple(rng.uniform(*domain, size=shape) for domain, shape in zip(self.domains, choice, strict=True)),
                {},
            )

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shape)

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return True


def _plain_inputs(args: Sequence[Any]) -> tuple[Node, ...] | None:
    """One or two arguments as inputs of a node, where they need no conversion: floats of one type, Python's numbers."""
    first, last = args[0], args[-1]
    if type(first) is Node:
        dtype = first.dtype
    elif type(last) is Node:
        dtype = last.dtype
    else:
        return None
    if (dtype is not FLOAT64 and dtype is not FLOAT32) or len(args) > 2:
        return None
    constants = 0
    inputs = []
    for arg in args:
        if type(arg) is Node:
            if arg.memory is not None or arg.dtype is not dtype:
                return None
            constants += arg.primitive is CONSTANT
            inputs.append(arg)
        elif type(arg) is float or type(arg) is int:
            constants += 1
            inputs.append(scalar_constant(arg, dtype))
        elif type(arg) is np.ndarray and arg.dtype is dtype:
            constants += 1
            inputs.append(constant(arg))
        else:
            return None
    return None if constants == len(args) else tuple(inputs)


def _is_known(x: Array) -> bool:
    """Whether ``x`` is a constant of a graph, whose cotangent nobody asks for."""
    return isinstance(x, Node) and x.primitive is CONSTANT


def _float_of(args: Sequence[Any]) -> np.dtype[Any] | None:
    """The common type where that is plain: floats of one type, and Python's numbers."""
    found: np.dtype[Any] | None = None
    for arg in args:
        if isinstance(arg, Node):
            if arg.dtype.kind != "f" or (found is not None and arg.dtype != found):
                return None
            found = arg.dtype
        elif type(arg) is not float and type(arg) is not int:
            return None
    return found


def kind_of(arg: Operand) -> Any:
    """What decides the common type: a dtype, or a Python number, which adapts to the others."""
    if isinstance(arg, (bool, int, float, complex)) and not isinstance(arg, np.generic):
        return arg
    return arg.dtype if hasattr(arg, "dtype") else np.asarray(arg).dtype


def fold(node: Node) -> Node:
    """A constant for a node whose inputs are constants."""
    with np.errstate(all="ignore"):
        value = node.primitive.value(*(item.params["value"] for item in node.inputs), **node.params)
    return constant(np.asarray(value, dtype=node.dtype))


class Cast(Elementwise):
    """The same numbers in another type. Derivative 1, brought back to the type of ``x``. Parameter: ``to``."""

    name = "cast"

    def __call__(self, x: Any, *, to: str) -> Any:
        return cast(x, to)

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(params["to"])
        return dtype

    def value(self, x: Any, *, to: str) -> Any:
        return np.asarray(x).astype(to)

    def jvp(self, x: Array, y: Array, x_dot: Tangent, *, to: str) -> Tangent:
        return x_dot.astype(to) if np.dtype(to).kind == "f" else ZERO

    def vjp(self, x: Array, y: Array, y_bar: Array, *, to: str) -> tuple[Array | None]:
        return (y_bar.astype(x.dtype) if np.dtype(to).kind == "f" and x.dtype.kind == "f" else None,)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"to": "float64"}
        yield (rng.normal(size=(5, 3)).astype(np.float32),), {"to": "float64"}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 0


CAST = PRIMITIVES["cast"]


def cast(x: Operand, dtype: DTypeLike) -> Any:
    """``x`` in another type; itself if it has that type already."""
    if not isinstance(x, Node):
        return np.asarray(x).astype(dtype)
    dtype = graph_dtype(dtype)
    if x.dtype == dtype:
        return x
    if x.primitive is CONSTANT:
        with np.errstate(all="ignore"):
            return constant(x.params["value"].astype(dtype))
    return Node(CAST, (as_node(x),), {"to": dtype.name}, x.shape, dtype)


class StopGradient(Elementwise):
    """``x`` itself, counted as constant by both modes of differentiation."""

    name = "stop_gradient"
    types = "number"

    def value(self, x: Any) -> Any:
        return x

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 0


class Identity(Elementwise):
    """``x`` itself: the name under which a nested differentiation knows its argument. Derivative 1."""

    name = "identity"
    types = "number"

    def value(self, x: Any) -> Any:
        return x

    def derivative(self, x: Array, y: Array) -> Array | float:
        return 1.0

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 0


stop_gradient = PRIMITIVES["stop_gradient"]
identity = PRIMITIVES["identity"]
