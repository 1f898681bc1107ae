"""Shapes: tuples of sizes, one of which may be the number of rows of a batch that is not known yet."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

from madaline.errors import ShapeError, TraceError

if TYPE_CHECKING:
    from madaline.graph.arrays import Array, Operand
    from madaline.graph.node import Node


@dataclass(frozen=True, slots=True)
class Rows:
    r"""A size :math:`c\,n + d` where ``n``, the number of rows of the batch, is known only when the program runs.

    It can be added to and multiplied by integers (another size) and combined with floats and traced values
    (a traced scalar, so ``x.sum(axis=0) / x.shape[0]`` is the mean over the rows of whatever batch comes).
    Control flow on it is an error: the same program must serve every batch.
    """

    coefficient: int = 1
    offset: int = 0

    def at(self, n_rows: int) -> int:
        """The size for a batch of ``n_rows``."""
        return self.coefficient * n_rows + self.offset

    def __add__(self, other: Any) -> Any:
        if isinstance(other, int):
            return Rows(self.coefficient, self.offset + other)
        if isinstance(other, Rows):
            return _rows(self.coefficient + other.coefficient, self.offset + other.offset)
        return self._traced() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, int):
            return Rows(self.coefficient, self.offset - other)
        if isinstance(other, Rows):
            return _rows(self.coefficient - other.coefficient, self.offset - other.offset)
        return self._traced() - other

    def __rsub__(self, other: float) -> Array:
        return other - self._traced()

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, int):
            return _rows(self.coefficient * other, self.offset * other)
        return self._traced() * other

    __rmul__ = __mul__

    def __pow__(self, other: Operand) -> Node:
        return self._traced() ** other

    def __truediv__(self, other: Operand) -> Node:
        return self._traced() / other

    def __rtruediv__(self, other: Any) -> Array:
        return other / self._traced()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Node:
        # An array times a size, and functions of a size, as np.sqrt(x.shape[0]): the size becomes a traced scalar.
        return getattr(ufunc, method)(*(Rows._traced(x) if isinstance(x, Rows) else x for x in inputs), **kwargs)

    def _traced(self) -> Node:
        from madaline.graph.node import row_count

        return row_count(self)

    def _unknown(self, *_: object, **__: object) -> NoReturn:
        raise TraceError(
            "The number of rows is not known while a batch is traced, so it cannot steer Python code "
            "(if, range, int, float, np.zeros, np.arange). Use it only in arithmetic, use np.zeros_like and the like "
            "for arrays of its size, or write the function for one row."
        )

    def __eq__(self, other: object) -> bool:
        # Shape rules compare sizes as symbols: n is not 1. A user who asks whether n is 1 would be told a lie.
        if isinstance(other, int) and not sys._getframe(1).f_globals.get("__name__", "").startswith("madaline."):
            self._unknown()
        if not isinstance(other, Rows):
            return NotImplemented
        return self.coefficient == other.coefficient and self.offset == other.offset

    def __hash__(self) -> int:
        return hash((self.coefficient, self.offset))

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __float__ = __bool__ = __array__ = _unknown

    def __repr__(self) -> str:
        text = "n" if self.coefficient == 1 else f"{self.coefficient}n"
        return text if self.offset == 0 else f"{text}{self.offset:+d}"


Size = int | Rows
Shape = tuple[Size, ...]


def _rows(coefficient: int, offset: int) -> Size:
    return Rows(coefficient, offset) if coefficient else offset


def resolve(value: Any, n_rows: int) -> Any:
    """Replace every :class:`Rows` inside nested tuples by its size for ``n_rows``."""
    if isinstance(value, Rows):
        return value.at(n_rows)
    if isinstance(value, tuple):
        return tuple([resolve(item, n_rows) if isinstance(item, (Rows, tuple)) else item for item in value])
    return value


def is_symbolic(shape: Shape) -> bool:
    """Whether some size depends on the number of rows."""
    for size in shape:  # noqa: SIM110 - any() of a generator takes three times as long, and planning asks all the time
        if isinstance(size, Rows):
            return True
    return False


def size_of(shape: Shape) -> Any:
    """Number of elements: an int, or :class:`Rows` when one axis is."""
    count: Any = 1
    for size in shape:
        if isinstance(size, Rows) and isinstance(count, Rows):
            raise ShapeError(
                f"The shape {show(shape)} has the batch axis twice, so its size is not a multiple of n. "
                "Reduce one of the two axes first, or pass the batch as an ordinary argument (without rows=)."
            )
        count = count * size
    return count


def count(shape: Shape, n_rows: int = 1) -> int:
    """Number of elements for a batch of ``n_rows``."""
    return prod(resolve(shape, n_rows))


@functools.lru_cache(maxsize=4096)
def broadcast(*shapes: Shape) -> Shape:
    """The common shape of arrays that are combined elementwise, by NumPy's rule."""
    first, *others = shapes
    if others.count(first) == len(others):
        return first
    rank = max(len(shape) for shape in shapes)
    result: list[Size] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, start=rank - len(shape)):
            if size == 1 or size == result[axis]:
                continue
            if result[axis] != 1:
                shown = " and ".join(show(shape) for shape in shapes)
                raise ShapeError(
                    f"Shapes {shown} cannot be broadcast together: sizes {result[axis]} and {size} "
                    f"meet at axis {axis - rank}. Sizes must be equal or 1."
                )
            result[axis] = size
    return tuple(result)


def normalize_axes(axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Sorted non-negative axes; ``None`` means all of them."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    result = sorted(normalize_axis(item, rank) for item in axes)
    if len(set(result)) != len(result):
        raise ShapeError(f"axis={axis} names an axis twice.")
    return tuple(result)


def normalize_axis(axis: int, rank: int) -> int:
    """One non-negative axis."""
    axis = int(axis)
    if not -rank <= axis < rank:
        raise ShapeError(f"axis={axis} is out of range for an array with {rank} axes.")
    return axis % rank


def check_axes(axes: tuple[int, ...], shape: Shape) -> None:
    """An error unless these are axes of the shape, sorted, none of them negative or twice."""
    if list(axes) != sorted(set(axes)) or not all(0 <= axis < len(shape) for axis in axes):
        raise ShapeError(f"axes={axes} are not axes of {show(shape)}, from 0 to {len(shape) - 1}, in increasing order.")


def is_never_negative(size: Size) -> bool:
    """Whether a size or difference of sizes is 0 or more, however many rows there are."""
    return size.coefficient >= 0 and size.offset >= 0 if isinstance(size, Rows) else size >= 0


def show(shape: Shape) -> str:
    """``(n, 3)``, as NumPy prints a shape."""
    return f"({', '.join(str(size) for size in shape)}{',' if len(shape) == 1 else ''})"
