"""Elementwise primitives: each says its value and its derivative once; both modes of differentiation follow.

Kernels: ``native/kernels/elementwise_ops.h``, one opcode of the same name each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from madaline.errors import TraceError
from madaline.graph.node import BOOL, CONSTANT, FLOAT64, INT64, Node, as_node, constant, graph_dtype, is_constant
from madaline.graph.primitive import PRIMITIVES, ZERO, Array, Primitive, Sample, elements
from madaline.graph.shapes import Rows, Shape, broadcast

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


def scaled(value: Array, factor: Array) -> Array:
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
        if not any(isinstance(arg, Node) for arg in args):
            return self.value(*args, **params)
        dtype = self.common_dtype(*args)
        if dtype == BOOL and self.on_masks:
            return PRIMITIVES[self.on_masks](*args)
        inputs = tuple(cast(as_node(arg, dtype), dtype) for arg in args)
        shape = broadcast(*(node.shape for node in inputs))
        node = Node(self, inputs, params, shape, self.dtype(dtype))
        return fold(node) if all(is_constant(item) and item.shape == () for item in inputs) else node

    def common_dtype(self, *args: Any) -> np.dtype[Any]:
        """The type to which all arguments are brought."""
        if self.types == "logical":
            return BOOL
        kinds = [_kind(arg) for arg in args if not isinstance(arg, Rows)]
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

    def derivative(self, *args: Array) -> Any:
        """Factors of the chain rule."""
        return None

    def _factors(self, args: tuple[Array, ...], y: Array) -> tuple[Array | None, ...]:
        factors = self.derivative(*args, y)
        return factors if isinstance(factors, tuple) else (factors,) * len(args)

    def jvp(self, *args: Array, **params: Any) -> Array:
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


def _is_known(x: Array) -> bool:
    """Whether ``x`` is a constant of a graph, whose cotangent nobody asks for."""
    return isinstance(x, Node) and x.primitive is CONSTANT


def _kind(arg: Any) -> Any:
    """What decides the common type: a dtype, or a Python number, which adapts to the others."""
    if isinstance(arg, (bool, int, float, complex)) and not isinstance(arg, np.generic):
        return arg
    return arg.dtype if hasattr(arg, "dtype") else np.asarray(arg).dtype


def fold(node: Node) -> Node:
    """A constant for a node whose inputs are constants."""
    with np.errstate(all="ignore"):
        value = node.primitive.value(*(item.params["value"] for item in node.inputs), **node.params)
    return constant(np.asarray(value, dtype=node.dtype))


# Types


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

    def jvp(self, x: Array, y: Array, x_dot: Array, *, to: str) -> Array:
        return x_dot.astype(to) if np.dtype(to).kind == "f" else ZERO

    def vjp(self, x: Array, y: Array, y_bar: Array, *, to: str) -> tuple[Array | None]:
        return (y_bar.astype(x.dtype) if np.dtype(to).kind == "f" and x.dtype.kind == "f" else None,)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"to": "float64"}
        yield (rng.normal(size=(5, 3)).astype(np.float32),), {"to": "float64"}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 0


CAST = PRIMITIVES["cast"]


def cast(x: Any, dtype: Any) -> Any:
    """``x`` in another type; itself if it has that type already."""
    if not isinstance(x, Node):
        return np.asarray(x).astype(dtype)
    dtype = graph_dtype(dtype)
    if x.dtype == dtype:
        return x
    if x.primitive is CONSTANT:
        with np.errstate(all="ignore"):
            return constant(x.params["value"].astype(dtype))
    return Node(CAST, (x,), {"to": dtype.name}, x.shape, dtype)


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

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 0


# Arithmetic


class Add(Elementwise):
    """:math:`y = a + b`."""

    name = "add"
    ufunc = np.add
    types = "number"
    on_masks = "logical_or"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return 1.0, 1.0


class Subtract(Elementwise):
    """:math:`y = a - b`."""

    name = "subtract"
    ufunc = np.subtract
    types = "number"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return 1.0, -1.0


class Multiply(Elementwise):
    r""":math:`y = a b`, :math:`\partial y/\partial a = b`."""

    name = "multiply"
    ufunc = np.multiply
    types = "number"
    on_masks = "logical_and"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return b, a


class Divide(Elementwise):
    r""":math:`y = a / b`, :math:`\partial y/\partial b = -y / b`."""

    name = "divide"
    ufunc = np.divide
    domains = (REAL, POSITIVE)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return 1.0 / b, -y / b

    def vjp(self, a: Array, b: Array, y: Array, y_bar: Array) -> tuple[Array, Array]:
        a_bar = y_bar / b
        return sum_to(a_bar, a.shape), sum_to(-a_bar * y, b.shape)

    def jvp(self, a: Array, b: Array, y: Array, a_dot: Array, b_dot: Array) -> Array:
        return (a_dot - b_dot * y) / b


class FloorDivide(Elementwise):
    r""":math:`y = \lfloor a / b \rfloor`; derivative 0."""

    name = "floor_divide"
    ufunc = np.floor_divide
    types = "number"
    domains = (REAL, POSITIVE)


class Remainder(Elementwise):
    r""":math:`y = a - b \lfloor a / b \rfloor`, with the sign of ``b``."""

    name = "remainder"
    ufunc = np.remainder
    types = "number"
    domains = (REAL, POSITIVE)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return 1.0, -np.floor_divide(a, b)


class Fmod(Elementwise):
    r""":math:`y = a - b\,\mathrm{trunc}(a / b)`, with the sign of ``a``."""

    name = "fmod"
    ufunc = np.fmod
    types = "number"
    domains = (REAL, POSITIVE)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return 1.0, -np.trunc(a / b)


class Power(Elementwise):
    r""":math:`y = x^p`.

    Derivative 0 in ``x`` where ``p = 0``, and 0 in ``p`` where ``x = 0``; NaN in ``p`` for negative ``x``.
    """

    name = "power"
    ufunc = np.power
    types = "number"
    domains = (POSITIVE, REAL)

    def __call__(self, *args: Any, **params: Any) -> Any:
        x, p = args
        if isinstance(x, Node) and isinstance(p, (int, float)) and not isinstance(p, bool):
            return _constant_power(cast(x, self.common_dtype(x, p)), p)
        if isinstance(x, Node) and x.dtype.kind == "i" and self.common_dtype(x, p).kind == "i":
            raise TraceError(
                "An integer to a traced integer power is not supported. Make one of them a float: x.astype(float) ** p."
            )
        return super().__call__(*args, **params)

    def derivative(self, x: Array, p: Array, y: Array) -> Any:
        if isinstance(p, Node) and is_constant(p) and p.shape == ():
            exponent = float(p.params["value"])
            return (exponent * x ** (exponent - 1.0) if exponent else None), _power_by_exponent(x, y)
        zero = p == 0.0
        return np.where(zero, 0.0, p * x ** np.where(zero, 1.0, p - 1.0)), _power_by_exponent(x, y)


def _power_by_exponent(x: Array, y: Array) -> Array:
    zero = x == 0.0
    return np.where(zero, 0.0, y * np.log(np.where(zero, 1.0, x)))


def _constant_power(x: Node, p: float) -> Any:
    if x.dtype == INT64:
        return _integer_power(x, int(p))
    if p == 1:
        return x
    if p == 2:
        return np.square(x)
    if p == 0.5:
        return np.sqrt(x)
    if p == -1:
        return 1.0 / x
    return Elementwise.__call__(PRIMITIVES["power"], x, float(p))  # type: ignore[arg-type]


def _integer_power(x: Node, p: int) -> Any:
    """By squaring: integers have no power primitive, since nothing is differentiated by them."""
    if p < 0:
        raise ValueError(f"Integers to negative integer powers are not allowed. Use x.astype(float) ** {p}.")
    result: Any = 0 * x + 1
    for bit in f"{p:b}":
        result = result * result
        result = result * x if bit == "1" else result
    return result


class Negative(Elementwise):
    """:math:`y = -x`."""

    name = "negative"
    ufunc = np.negative
    types = "number"

    def derivative(self, x: Array, y: Array) -> Any:
        return -1.0


class Absolute(Elementwise):
    """:math:`y = |x|`; derivative 0 at ``x = 0``."""

    name = "absolute"
    ufunc = np.absolute
    types = "number"

    def derivative(self, x: Array, y: Array) -> Any:
        return np.sign(x)


class Sign(Elementwise):
    """-1, 0 or 1; derivative 0."""

    name = "sign"
    ufunc = np.sign
    types = "number"


class Square(Elementwise):
    """:math:`y = x^2`."""

    name = "square"
    ufunc = np.square
    types = "number"

    def derivative(self, x: Array, y: Array) -> Any:
        return 2.0 * x


class Reciprocal(Elementwise):
    """:math:`y = 1/x`, :math:`dy/dx = -y^2`. Of an integer it is an integer, as NumPy has it: 1, -1 or 0."""

    name = "reciprocal"
    ufunc = np.reciprocal
    domains = (POSITIVE,)

    def __call__(self, *args: Any, **params: Any) -> Any:
        (x,) = args
        if isinstance(x, Node) and x.dtype == INT64:
            return np.where(x * x == 1, x, 0)
        return super().__call__(x, **params)

    def derivative(self, x: Array, y: Array) -> Any:
        return -y * y


class Sqrt(Elementwise):
    r""":math:`y = \sqrt{x}`, :math:`dy/dx = 1/(2y)`: infinite at 0."""

    name = "sqrt"
    ufunc = np.sqrt
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Any:
        return 0.5 / y


class Cbrt(Elementwise):
    r""":math:`y = \sqrt[3]{x}`, :math:`dy/dx = 1/(3y^2)`: infinite at 0."""

    name = "cbrt"
    ufunc = np.cbrt
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / (3.0 * y * y)


# Exponentials and logarithms


class Exp(Elementwise):
    """:math:`y = e^x`, :math:`dy/dx = y`."""

    name = "exp"
    ufunc = np.exp

    def derivative(self, x: Array, y: Array) -> Any:
        return y


class Exp2(Elementwise):
    r""":math:`y = 2^x`, :math:`dy/dx = y \log 2`."""

    name = "exp2"
    ufunc = np.exp2

    def derivative(self, x: Array, y: Array) -> Any:
        return y * float(np.log(2.0))


class Expm1(Elementwise):
    """:math:`y = e^x - 1`, exact near 0; :math:`dy/dx = y + 1`."""

    name = "expm1"
    ufunc = np.expm1

    def derivative(self, x: Array, y: Array) -> Any:
        return y + 1.0


class Log(Elementwise):
    r""":math:`y = \log x`."""

    name = "log"
    ufunc = np.log
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / x


class Log2(Elementwise):
    r""":math:`y = \log_2 x`."""

    name = "log2"
    ufunc = np.log2
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Any:
        return float(1.0 / np.log(2.0)) / x


class Log10(Elementwise):
    r""":math:`y = \log_{10} x`."""

    name = "log10"
    ufunc = np.log10
    domains = (POSITIVE,)

    def derivative(self, x: Array, y: Array) -> Any:
        return float(1.0 / np.log(10.0)) / x


class Log1p(Elementwise):
    r""":math:`y = \log(1 + x)`, exact near 0."""

    name = "log1p"
    ufunc = np.log1p
    domains = ((-0.5, 2.0),)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / (1.0 + x)


# Trigonometric and hyperbolic


class Sin(Elementwise):
    r""":math:`y = \sin x`."""

    name = "sin"
    ufunc = np.sin

    def derivative(self, x: Array, y: Array) -> Any:
        return np.cos(x)


class Cos(Elementwise):
    r""":math:`y = \cos x`."""

    name = "cos"
    ufunc = np.cos

    def derivative(self, x: Array, y: Array) -> Any:
        return -np.sin(x)


class Tan(Elementwise):
    r""":math:`y = \tan x`, :math:`dy/dx = 1 + y^2`."""

    name = "tan"
    ufunc = np.tan
    domains = ((-1.2, 1.2),)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 + y * y


class Arcsin(Elementwise):
    r""":math:`y = \arcsin x`, :math:`dy/dx = 1/\sqrt{1-x^2}`."""

    name = "arcsin"
    ufunc = np.arcsin
    domains = ((-0.8, 0.8),)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / np.sqrt(1.0 - x * x)


class Arccos(Elementwise):
    r""":math:`y = \arccos x`, :math:`dy/dx = -1/\sqrt{1-x^2}`."""

    name = "arccos"
    ufunc = np.arccos
    domains = ((-0.8, 0.8),)

    def derivative(self, x: Array, y: Array) -> Any:
        return -1.0 / np.sqrt(1.0 - x * x)


class Arctan(Elementwise):
    r""":math:`y = \arctan x`, :math:`dy/dx = 1/(1+x^2)`."""

    name = "arctan"
    ufunc = np.arctan

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / (1.0 + x * x)


class Arctan2(Elementwise):
    r"""The angle of the point :math:`(x, s)`: :math:`y = \mathrm{atan2}(s, x)`."""

    name = "arctan2"
    ufunc = np.arctan2
    domains = (REAL, POSITIVE)

    def derivative(self, s: Array, x: Array, y: Array) -> Any:
        squared = s * s + x * x
        return x / squared, -s / squared


class Sinh(Elementwise):
    r""":math:`y = \sinh x`."""

    name = "sinh"
    ufunc = np.sinh

    def derivative(self, x: Array, y: Array) -> Any:
        return np.cosh(x)


class Cosh(Elementwise):
    r""":math:`y = \cosh x`."""

    name = "cosh"
    ufunc = np.cosh

    def derivative(self, x: Array, y: Array) -> Any:
        return np.sinh(x)


class Tanh(Elementwise):
    r"""Hyperbolic tangent, :math:`y=\tanh x`, :math:`dy/dx = 1-y^2`. Only ``y`` is kept."""

    name = "tanh"
    ufunc = np.tanh

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 - y * y


class Arcsinh(Elementwise):
    r""":math:`y = \mathrm{arsinh}\,x`, :math:`dy/dx = 1/\sqrt{1+x^2}`."""

    name = "arcsinh"
    ufunc = np.arcsinh

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / np.sqrt(1.0 + x * x)


class Arccosh(Elementwise):
    r""":math:`y = \mathrm{arcosh}\,x`, :math:`dy/dx = 1/\sqrt{x^2-1}`."""

    name = "arccosh"
    ufunc = np.arccosh
    domains = ((1.3, 3.0),)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / np.sqrt(x * x - 1.0)


class Arctanh(Elementwise):
    r""":math:`y = \mathrm{artanh}\,x`, :math:`dy/dx = 1/(1-x^2)`."""

    name = "arctanh"
    ufunc = np.arctanh
    domains = ((-0.8, 0.8),)

    def derivative(self, x: Array, y: Array) -> Any:
        return 1.0 / (1.0 - x * x)


# Stable pieces of activations and losses


class Sigmoid(Elementwise):
    r"""Logistic function, :math:`y = 1/(1+e^{-x})`, :math:`dy/dx = y(1-y)`. Never overflows."""

    name = "sigmoid"

    def value(self, x: Any) -> Any:
        small = np.exp(-np.abs(x))
        return np.where(x >= 0, 1, small) / (1 + small)

    def derivative(self, x: Array, y: Array) -> Any:
        return y * (1.0 - y)


class Softplus(Elementwise):
    r""":math:`y = \log(1+e^x)`, computed as :math:`\max(x,0) + \log(1+e^{-|x|})`; :math:`dy/dx = \sigma(x)`."""

    name = "softplus"

    def value(self, x: Any) -> Any:
        return np.logaddexp(x, np.zeros((), dtype=np.asarray(x).dtype))

    def derivative(self, x: Array, y: Array) -> Any:
        return sigmoid(x)


class Relu(Elementwise):
    r""":math:`y = \max(x, 0)`; derivative 0 at ``x = 0``, NaN stays NaN.

    A primitive of its own because its derivative needs ``y`` alone.
    """

    name = "relu"
    types = "number"

    def value(self, x: Any) -> Any:
        return np.maximum(x, 0)

    def jvp(self, x: Array, y: Array, x_dot: Array) -> Array:
        return ZERO if x_dot is ZERO else np.where(y > 0.0, x_dot, 0.0)

    def vjp(self, x: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (np.where(y > 0.0, y_bar, 0.0),)


class Erf(Elementwise):
    r"""Error function, :math:`dy/dx = \frac{2}{\sqrt\pi} e^{-x^2}`."""

    name = "erf"

    def value(self, x: Any) -> Any:
        from scipy.special import erf  # SciPy takes long to import, and few programs need it

        return erf(x)

    def derivative(self, x: Array, y: Array) -> Any:
        return float(2.0 / np.sqrt(np.pi)) * np.exp(-x * x)


# Choices


class Maximum(Elementwise):
    """The larger of two; NaN if either is. Where they are equal each has derivative 1/2."""

    name = "maximum"
    ufunc = np.maximum
    types = "number"
    on_masks = "logical_or"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        share = _share(a, b)
        return share, 1.0 - share


class Minimum(Elementwise):
    """The smaller of two; NaN if either is. Where they are equal each has derivative 1/2."""

    name = "minimum"
    ufunc = np.minimum
    types = "number"
    on_masks = "logical_and"
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        share = _share(b, a)
        return share, 1.0 - share


def _share(larger: Array, smaller: Array) -> Array:
    dtype = larger.dtype
    return 0.5 * ((larger > smaller).astype(dtype) + (larger >= smaller).astype(dtype))


class Where(Elementwise):
    """``a`` where the condition holds, else ``b``; the derivative flows to the one chosen."""

    name = "where"
    types = "number"
    domains = (REAL, REAL, REAL)

    def __call__(self, *args: Any, **params: Any) -> Any:
        if not any(isinstance(arg, Node) for arg in args):
            return np.where(*args)
        condition, a, b = args
        dtype = graph_dtype(np.result_type(_kind(a), _kind(b)))
        inputs = (cast(as_node(condition, BOOL), BOOL), cast(as_node(a, dtype), dtype), cast(as_node(b, dtype), dtype))
        return Node(self, inputs, params, broadcast(*(node.shape for node in inputs)), dtype)

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return dtypes[1]

    def value(self, condition: Any, a: Any, b: Any) -> Any:
        return np.where(condition, a, b)

    def jvp(self, condition: Array, a: Array, b: Array, y: Array, _: Array, a_dot: Array, b_dot: Array) -> Array:
        if a_dot is ZERO and b_dot is ZERO:
            return ZERO
        return np.where(condition, 0.0 if a_dot is ZERO else a_dot, 0.0 if b_dot is ZERO else b_dot)

    def vjp(self, condition: Array, a: Array, b: Array, y: Array, y_bar: Array) -> tuple[None, Array, Array]:
        return (
            None,
            sum_to(np.where(condition, y_bar, 0.0), a.shape),
            sum_to(np.where(condition, 0.0, y_bar), b.shape),
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for (condition, a, b), params in super().samples(rng):
            yield (condition > 0.0, a, b), params


class Copysign(Elementwise):
    """``|a|`` with the sign of ``b``."""

    name = "copysign"
    ufunc = np.copysign
    domains = (REAL, REAL)

    def derivative(self, a: Array, b: Array, y: Array) -> Any:
        return np.copysign(1.0, b) * np.sign(a), None


# Rounding: derivative 0


class _Rounding(Elementwise):
    def __call__(self, *args: Any, **params: Any) -> Any:
        (x,) = args
        return x if isinstance(x, Node) and x.dtype.kind != "f" else super().__call__(x, **params)


class Floor(_Rounding):
    """The largest integer not above ``x``; derivative 0."""

    name = "floor"
    ufunc = np.floor


class Ceil(_Rounding):
    """The smallest integer not below ``x``; derivative 0."""

    name = "ceil"
    ufunc = np.ceil


class Trunc(_Rounding):
    """The integer towards zero; derivative 0."""

    name = "trunc"
    ufunc = np.trunc


class Rint(Elementwise):
    """The nearest integer, halves to the even one; derivative 0."""

    name = "rint"
    ufunc = np.rint


# Comparisons and logic: booleans, no derivative


class _Comparison(Elementwise):
    types = "compare"
    domains = (REAL, REAL)


class Equal(_Comparison):
    """``a == b``."""

    name = "equal"
    ufunc = np.equal


class NotEqual(_Comparison):
    """``a != b``."""

    name = "not_equal"
    ufunc = np.not_equal


class Less(_Comparison):
    """``a < b``."""

    name = "less"
    ufunc = np.less


class LessEqual(_Comparison):
    """``a <= b``."""

    name = "less_equal"
    ufunc = np.less_equal


class Greater(_Comparison):
    """``a > b``."""

    name = "greater"
    ufunc = np.greater


class GreaterEqual(_Comparison):
    """``a >= b``."""

    name = "greater_equal"
    ufunc = np.greater_equal


class _Test(Elementwise):
    types = "compare"

    def common_dtype(self, *args: Any) -> np.dtype[Any]:
        dtype = super().common_dtype(*args)
        return dtype if dtype.kind == "f" else FLOAT64


class Isnan(_Test):
    """Whether ``x`` is not a number."""

    name = "isnan"
    ufunc = np.isnan


class Isinf(_Test):
    """Whether ``x`` is infinite."""

    name = "isinf"
    ufunc = np.isinf


class Isfinite(_Test):
    """Whether ``x`` is neither infinite nor NaN."""

    name = "isfinite"
    ufunc = np.isfinite


class _Logic(Elementwise):
    types = "logical"
    domains: ClassVar[tuple[Domain, ...]] = (REAL, REAL)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for args, params in super().samples(rng):
            yield tuple(np.asarray(arg > 0.0) for arg in args), params


class LogicalAnd(_Logic):
    """Both hold."""

    name = "logical_and"
    ufunc = np.logical_and


class LogicalOr(_Logic):
    """At least one holds."""

    name = "logical_or"
    ufunc = np.logical_or


class LogicalXor(_Logic):
    """Exactly one holds."""

    name = "logical_xor"
    ufunc = np.logical_xor


class LogicalNot(_Logic):
    """It does not hold."""

    name = "logical_not"
    ufunc = np.logical_not
    domains = (REAL,)


sigmoid = PRIMITIVES["sigmoid"]
softplus = PRIMITIVES["softplus"]
relu = PRIMITIVES["relu"]
erf = PRIMITIVES["erf"]
stop_gradient = PRIMITIVES["stop_gradient"]
identity = PRIMITIVES["identity"]
where = PRIMITIVES["where"]
