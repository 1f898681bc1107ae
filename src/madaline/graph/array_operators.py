"""Operators of a traced array: each is the NumPy function of the same meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.late import LATE
from madaline.graph.object_arrays import PartialSum, is_inside_mean
from madaline.graph.primitive import ZERO
from madaline.graph.shapes import Shape


def _apply(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """``ufunc(a, b)``, one of them traced; without a detour through NumPy where both are traced or numbers."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is kind_b or kind_a is float or kind_b is float or kind_a is int or kind_b is int:
        return LATE.UFUNCS[ufunc](a, b)
    return ufunc(a, b)


class ArrayOperators:
    """Python's operators, for a class that NumPy's functions accept. In-place operators write to the array's memory."""

    __slots__ = ()

    shape: Shape

    @property
    def ndim(self) -> int:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise NotImplementedError

    # ZERO, the tangent that is absent, answers for itself.

    def __add__(self, other: Any) -> Any:
        if other is ZERO:
            return NotImplemented
        total = _apply(np.add, self, other)
        return PartialSum(total) if self.shape == () and is_inside_mean() else total

    def __radd__(self, other: Any) -> Any:
        total = _apply(np.add, other, self)
        return PartialSum(total) if self.shape == () and is_inside_mean() else total

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else _apply(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else _apply(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply(np.divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply(np.divide, other, self)

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
        return _apply(np.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return np.power(other, self)

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented if other is ZERO else _apply(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    def __neg__(self) -> Any:
        return LATE.UFUNCS[np.negative](self)

    def __pos__(self) -> Any:
        return np.positive(self)

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

    # A NumPy scalar is immutable, so `total += x` only rebinds the name; an array changes for all its views.

    def _update(self, function: np.ufunc, other: Any) -> Any:
        from madaline.graph.memory import update

        return function(self, other) if self.ndim == 0 else update(self, function(self, other), function.__name__)

    def __iadd__(self, other: Any) -> Any:
        return self._update(np.add, other)

    def __isub__(self, other: Any) -> Any:
        return self._update(np.subtract, other)

    def __imul__(self, other: Any) -> Any:
        return self._update(np.multiply, other)

    def __itruediv__(self, other: Any) -> Any:
        return self._update(np.divide, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return self._update(np.floor_divide, other)

    def __imod__(self, other: Any) -> Any:
        return self._update(np.remainder, other)

    def __ipow__(self, other: Any) -> Any:
        return self._update(np.power, other)

    def __imatmul__(self, other: Any) -> Any:
        return self._update(np.matmul, other)

    def __iand__(self, other: Any) -> Any:
        return self._update(np.bitwise_and, other)

    def __ior__(self, other: Any) -> Any:
        return self._update(np.bitwise_or, other)

    def __ixor__(self, other: Any) -> Any:
        return self._update(np.bitwise_xor, other)
