"""Methods of a traced array: each is the NumPy function of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import TraceError
from madaline.graph.array_operators import ArrayOperators

if TYPE_CHECKING:
    from madaline.graph.arrays import Array, Axis, Operand

Order = Literal["C", "F", "A"]


class ArrayMethods(ArrayOperators):
    """The methods and properties of an ``ndarray``, for a class that NumPy's functions accept."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Array:
        raise NotImplementedError

    def __setitem__(self, index: Any, value: Operand) -> None:
        raise NotImplementedError

    @property
    def T(self) -> Array:  # noqa: N802 - NumPy's name
        return self.transpose()

    @property
    def mT(self) -> Array:  # noqa: N802 - NumPy's name
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Self:
        return self

    @property
    def imag(self) -> Array:
        return np.imag(self)

    @property
    def flat(self) -> Array:
        return self.ravel()

    def sum(self, *args: Any, **options: Any) -> Array:
        return np.sum(self, *args, **options)

    def prod(self, *args: Any, **options: Any) -> Array:
        return np.prod(self, *args, **options)

    def mean(self, *args: Any, **options: Any) -> Array:
        return np.mean(self, *args, **options)

    def var(self, *args: Any, **options: Any) -> Array:
        return np.var(self, *args, **options)

    def std(self, *args: Any, **options: Any) -> Array:
        return np.std(self, *args, **options)

    def max(self, *args: Any, **options: Any) -> Array:
        return np.max(self, *args, **options)

    def min(self, *args: Any, **options: Any) -> Array:
        return np.min(self, *args, **options)

    def any(self, *args: Any, **options: Any) -> Array:
        return np.any(self, *args, **options)

    def all(self, *args: Any, **options: Any) -> Array:
        return np.all(self, *args, **options)

    def argmax(self, axis: int | None = None, **options: Any) -> Array:
        return np.argmax(self, axis=axis, **options)

    def argmin(self, axis: int | None = None, **options: Any) -> Array:
        return np.argmin(self, axis=axis, **options)

    def argsort(self, axis: int | None = -1, **options: Any) -> Array:
        return np.argsort(self, axis=axis, **options)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
        return np.cumsum(self, axis=axis, dtype=dtype)

    def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
        return np.cumprod(self, axis=axis, dtype=dtype)

    def reshape(self, *shape: Any, order: Order = "C") -> Array:
        sizes: Any = shape[0] if len(shape) == 1 else shape
        return np.reshape(self, sizes, order=order)

    def ravel(self, order: Order = "C") -> Array:
        return np.ravel(self, order)

    def flatten(self, order: Order = "C") -> Array:
        return np.copy(np.ravel(self, order))

    def squeeze(self, axis: Axis = None) -> Array:
        return np.squeeze(self, axis=axis)

    def transpose(self, *axes: Any) -> Array:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return np.transpose(self, order or None)

    def swapaxes(self, first: int, second: int) -> Array:
        return np.swapaxes(self, first, second)

    def dot(self, other: Operand) -> Array:
        return np.dot(self, other)

    def clip(self, min: Any = None, max: Any = None) -> Array:  # noqa: A002 - NumPy's names
        return np.clip(self, min, max)

    def round(self, decimals: int = 0) -> Array:
        return np.round(self, decimals)

    def take(self, indices: Any, axis: int | None = None) -> Array:
        return np.take(self, indices, axis=axis)

    def repeat(self, repeats: Any, axis: int | None = None) -> Array:
        return np.repeat(self, repeats, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        return np.diagonal(self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        return np.trace(self, offset, axis1, axis2)

    def nonzero(self) -> tuple[Array, ...]:
        return np.nonzero(self)

    def searchsorted(self, v: Any, side: Any = "left") -> Array:
        return np.searchsorted(self, v, side)

    def compress(self, condition: Any, axis: int | None = None) -> Array:
        return np.compress(condition, self, axis=axis)

    def conj(self) -> Array:
        return np.conjugate(self)

    conjugate = conj

    def copy(self, order: Order = "C") -> Array:
        return np.copy(self)

    # Methods that change the array

    def fill(self, value: Operand) -> None:
        if self.shape == () and self.memory is None:
            raise TraceError(
                "x.fill(value) changes an array without axes but leaves a number as it is, and a traced value may be "
                "either. Write x = value, or x[...] = value for an array without axes."
            )
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, *, stable: Any = None) -> None:
        self[...] = np.sort(self, axis=axis)

    def partition(self, kth: Any, axis: int = -1) -> None:
        self[...] = np.partition(self, kth, axis=axis)

    def put(self, indices: Any, values: Any) -> None:
        np.put(self, indices, values)  # type: ignore[arg-type]  # NumPy hands it to our own function
