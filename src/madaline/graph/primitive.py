"""What a primitive is: one operation of the graph, with everything that is known about it in one place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.errors import DtypeError, TraceError
from madaline.graph.late import LATE
from madaline.graph.shapes import Shape, size_of
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.graph.arrays import Array

Sample = tuple[tuple[np.ndarray, ...], dict[str, Any]]

_KINDS = {"f": "floats", "i": "integers", "b": "booleans"}

PRIMITIVES: Registry[Primitive] = Registry("primitive")


class Primitive:
    r"""An operation :math:`y = f(x_1, ..., x_k;\, \text{params})`.

    A subclass says, in this order: ``shape``, ``dtype`` (default: that of the arguments), ``value`` (NumPy), ``jvp``,
    ``vjp``, ``samples``. ``params`` are static and hashable. A subclass with a ``name`` is registered, as one instance,
    unless it says ``registered=False``: an operation of the planner, which users never meet.

    ``jvp(*args, y, *dots, **params)`` gives the tangent of ``y``; a tangent may be :data:`ZERO`.
    ``vjp(*args, y, y_bar, **params)`` gives one cotangent per argument, ``None`` where there is none.
    """

    name: ClassVar[str]
    linear: ClassVar[bool] = False
    "Linear in all arguments together: the tangent is the operation applied to the tangents."
    kinds: ClassVar[str] = "fib"
    "Kinds of values that its first argument may have: floats, integers, booleans. Checked when a node is made."
    library: ClassVar[bool] = False
    "Run by NumPy or SciPy (``value``) between native programs, instead of by an instruction of a program."
    without_derivative: ClassVar[tuple[int, ...]] = ()
    "Positions of arguments by which no derivative is known: differentiating by them is an error."

    def __init_subclass__(cls, *, registered: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if registered and "name" in cls.__dict__:
            PRIMITIVES.add(cls.name, cls())

    def __call__(self, *args: Any, **params: Any) -> Array:
        """A node if an argument is one, otherwise the value."""
        node = LATE.Node
        for arg in args:
            if isinstance(arg, node):
                return LATE.apply(self, args, params)
        return self.value(*(np.asarray(arg) for arg in args), **params)

    def shape(self, *shapes: Shape, **params: Any) -> Shape:
        """Shape of the result, or a ShapeError that says what must agree."""
        raise NotImplementedError

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        """Type of the result; arguments have been brought to a common one before."""
        return dtypes[0]

    def check_kind(self, dtype: np.dtype[Any]) -> None:
        """Raise an error if its first argument cannot have this type."""
        if dtype.kind not in self.kinds:
            allowed = " or ".join(_KINDS[kind] for kind in self.kinds)
            cast = "float" if self.kinds == "f" else "int"
            raise DtypeError(f"{self.name} takes {allowed}, and was given {dtype}. Convert it: x.astype({cast}).")

    def value(self, *args: Any, **params: Any) -> Array:
        """The reference value, by NumPy."""
        raise NotImplementedError

    def jvp(self, *args: Any, **params: Any) -> Any:
        """Tangent of the result; for a linear primitive, itself applied to the tangents."""
        if not self.linear:
            raise NotImplementedError(f"{self.name} has no tangent rule.")
        count = (len(args) - 1) // 2
        inputs, dots = args[:count], args[count + 1 :]
        if all(x_dot is ZERO for x_dot in dots):
            return ZERO
        return self(
            *(zeros_like(x) if x_dot is ZERO else x_dot for x, x_dot in zip(inputs, dots, strict=True)), **params
        )

    def vjp(self, *args: Any, **params: Any) -> tuple[Any, ...]:
        """Cotangents of the arguments."""
        raise NotImplementedError

    def refuse_derivative(self, position: int) -> None:
        """An error where a derivative by an argument is needed and none is known."""
        if position in self.without_derivative:
            raise TraceError(
                f"The derivative of {self.name} with respect to argument {position} is not known. Keep that argument "
                "constant, "
                "or give a rule with md.custom_derivative."
            )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        """Arguments that tests and benchmarks feed it."""
        raise NotImplementedError

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        """Floating-point operations; data movement counts nothing."""
        return 0

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        """Whether each row of the result depends on the same row of the arguments alone.

        Asked only when the result has the batch axis exactly once.
        """
        return False

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return _registered, (type(self),)  # of each there is one, also in a graph that was pickled or copied


def _registered(kind: type[Primitive]) -> Primitive:
    return PRIMITIVES[kind.name]


def elements(shape: Shape) -> Any:
    """Number of elements, as an int, or :class:`Rows` for a batch."""
    return size_of(shape)


def zeros_like(x: Array) -> Array:
    """Zeros of the shape and type of ``x``."""
    return (
        np.broadcast_to(x.dtype.type(0) * np.ones((), dtype=x.dtype), x.shape)
        if isinstance(x, np.ndarray)
        else x._zeros()  # noqa: SLF001 - a Node looks like an array to users, and arrays have no such method
    )


class Zero:
    """The tangent that is zero everywhere: it absorbs products and vanishes in sums, so rules need no special cases."""

    __slots__ = ()
    __array_ufunc__ = None

    def __add__(self, other: Any) -> Array:
        return other

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Array:
        return other

    def __sub__(self, other: Any) -> Array:
        return -other

    def _absorb(self, *_: Any, **__: Any) -> Zero:
        return self

    __mul__ = __rmul__ = __truediv__ = __matmul__ = __rmatmul__ = __neg__ = __getitem__ = _absorb
    sum = reshape = transpose = astype = _absorb

    def __repr__(self) -> str:
        return "ZERO"


ZERO = Zero()
