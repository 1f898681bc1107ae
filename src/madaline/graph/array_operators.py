"""Operators of a traced array: each is the NumPy function of the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.graph.late import LATE
from madaline.graph.object_arrays import PartialSum, is_inside_mean
from madaline.graph.primitive import ZERO, Zero
from madaline.graph.shapes import Shape

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand
    from madaline.graph.node import Node

Unary = Callable[["ArrayOperators"], "Node"]
Binary = Callable[["ArrayOperators", "Operand | Zero"], "Node"]


_OTHERS_OF = frozenset({float, int, bool, np.ndarray})


def _apply(function: np.ufunc, a: Any, b: Any) -> Any:
    """``function(a, b)``, one of them traced; by NumPy where the other is neither an array nor a number."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is kind_b or kind_a in _OTHERS_OF or kind_b in _OTHERS_OF:
        return LATE.operate(function, a, b)
    return function(a, b)


def _unary(function: np.ufunc) -> Unary:
    return lambda self: function(self)  # noqa: PLW0108 - a ufunc is not a method and would not be bound


def _binary(function: np.ufunc) -> Binary:
    # ZERO, the tangent that is absent, answers for itself.
    return lambda self, other: NotImplemented if other is ZERO else _apply(function, self, other)


def _reflected(function: np.ufunc) -> Binary:
    return lambda self, other: _apply(function, other, self)


def _in_place(function: np.ufunc) -> Binary:
    def update(self: ArrayOperators, other: Operand | Zero) -> Node:
        from madaline.graph.memory import update

        # A NumPy scalar is immutable, so `total += x` only rebinds the name; an array changes for all its views.
        result = function(self, other)
        is_number = self.ndim == 0 and self.memory is None
        return result if is_number else update(self, result, function.__name__)

    return update


class ArrayOperators:
    """Python's operators, for a class that NumPy's functions accept. In-place operators write to the array's memory."""

    __slots__ = ()

    shape: Shape
    memory: Any

    @property
    def ndim(self) -> int:
        raise NotImplementedError

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        raise NotImplementedError

    __neg__, __pos__, __abs__, __invert__ = map(_unary, (np.negative, np.positive, np.absolute, np.invert))

    def __add__(self, other: Operand | Zero) -> Any:
        if other is ZERO:
            return NotImplemented
        total = _apply(np.add, self, other)
        return PartialSum(total) if self.shape == () and is_inside_mean() else total

    def __radd__(self, other: Operand | Zero) -> Any:
        total = _apply(np.add, other, self)
        return PartialSum(total) if self.shape == () and is_inside_mean() else total

    __iadd__ = _in_place(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract), _reflected(np.subtract), _in_place(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply), _reflected(np.multiply), _in_place(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = _binary(np.divide), _reflected(np.divide), _in_place(np.divide)
    __matmul__, __rmatmul__, __imatmul__ = _binary(np.matmul), _reflected(np.matmul), _in_place(np.matmul)
    __mod__, __rmod__, __imod__ = _binary(np.remainder), _reflected(np.remainder), _in_place(np.remainder)
    __pow__, __rpow__, __ipow__ = _binary(np.power), _reflected(np.power), _in_place(np.power)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __ifloordiv__ = _in_place(np.floor_divide)
    __and__, __rand__, __iand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and), _in_place(np.bitwise_and)
    __or__, __ror__, __ior__ = _binary(np.bitwise_or), _reflected(np.bitwise_or), _in_place(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor), _in_place(np.bitwise_xor)

    def __divmod__(self, other: Operand) -> tuple[Node, Node]:
        return self // other, self % other

    def __rdivmod__(self, other: Operand) -> tuple[Node, Node]:
        return self.__rfloordiv__(other), self.__rmod__(other)

    def __eq__(self, other: Any) -> Any:  # noqa: PYI032 - object's method gives a bool, an array's an array
        return np.equal(self, other)

    def __ne__(self, other: Any) -> Any:  # noqa: PYI032 - as __eq__
        return np.not_equal(self, other)

    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)

    __hash__ = object.__hash__
