"""Methods of a traced array: each is the NumPy function of the same name."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.array_operators import ArrayOperators


class ArrayMethods(ArrayOperators):
    """The methods and properties of an ``ndarray``, for a class that NumPy's functions accept."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError

    def __setitem__(self, index: Any, value: Any) -> None:
        raise NotImplementedError

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        return self.transpose()

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Any:
        return self

    @property
    def imag(self) -> Any:
        return np.imag(self)

    @property
    def flat(self) -> Any:
        return self.ravel()

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
        return np.copy(np.ravel(self, order))

    def squeeze(self, axis: Any = None) -> Any:
        return np.squeeze(self, axis=axis)

    def transpose(self, *axes: Any) -> Any:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return np.transpose(self, order or None)

    def swapaxes(self, first: int, second: int) -> Any:
        return np.swapaxes(self, first, second)

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

    def nonzero(self) -> Any:
        return np.nonzero(self)

    def searchsorted(self, v: Any, side: Any = "left") -> Any:
        return np.searchsorted(self, v, side)

    def compress(self, condition: Any, axis: Any = None) -> Any:
        return np.compress(condition, self, axis=axis)

    def conj(self) -> Any:
        return np.conjugate(self)

    conjugate = conj

    def copy(self, order: Any = "C") -> Any:
        return np.copy(self)

    # Methods that change the array

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, *, stable: Any = None) -> None:
        self[...] = np.sort(self, axis=axis)

    def partition(self, kth: Any, axis: int = -1) -> None:
        self[...] = np.partition(self, kth, axis=axis)

    def put(self, indices: Any, values: Any) -> None:
        np.put(self, indices, values)  # type: ignore[arg-type]  # NumPy hands it to our own function
