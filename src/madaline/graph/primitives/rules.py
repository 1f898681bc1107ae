"""Values that pass unchanged while their derivative is computed in another way: by a given rule, or by recomputing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.node import Node, as_node, new_input
from madaline.graph.primitive import ZERO, Primitive, zeros_like
from madaline.graph.shapes import Shape, show


class DerivativeRule:
    """The derivative of a function by hand: ``jvp(args, y, dots)``, ``vjp(args, y, y_bar)``, or both.

    What is missing is the transpose of the other one.
    """

    def __init__(self, jvp: Callable[..., Any] | None, vjp: Callable[..., Any] | None) -> None:
        self._jvp, self._vjp = jvp, vjp

    def push(self, args: tuple[Any, ...], y: Array, dots: tuple[Any, ...]) -> Array:
        """The tangent of ``y``."""
        if self._jvp is not None:
            return self._jvp(args, y, dots)
        y_bar = new_input(0, y.shape, y.dtype)
        return _pulled(list(self.pull(args, y, y_bar)), y_bar, list(dots))

    def pull(self, args: tuple[Any, ...], y: Array, y_bar: Any) -> tuple[Any, ...]:
        """One cotangent for each argument."""
        if self._vjp is not None:
            bars = self._vjp(args, y, y_bar)
            bars = bars if isinstance(bars, (tuple, list)) else (bars,)
            if len(bars) != len(args):
                raise ShapeError(f"The rule gives {len(bars)} cotangents for {len(args)} arguments; give one for each.")
            return tuple(bars)
        found = []
        for position, x in enumerate(args):
            x_dot = new_input(0, x.shape, x.dtype)
            dots = tuple(x_dot if i == position else zeros_like(other) for i, other in enumerate(args))
            found.append(_pulled([self.push(args, y, dots)], x_dot, [y_bar]))
        return tuple(found)


def _pulled(outputs: list[Any], by: Any, bars: list[Any]) -> Array:
    """The cotangent of ``by``, on which the outputs depend linearly."""
    from madaline.graph.reverse_mode import cotangents

    pairs = [(as_node(y), as_node(bar)) for y, bar in zip(outputs, bars, strict=True) if y is not None]
    (found,) = cotangents([y for y, _ in pairs], [by], [bar.astype(y.dtype) for y, bar in pairs])
    return zeros_like(by) if found is None else found


class CustomDerivative(Primitive, registered=False):
    """``y`` itself, whose derivative by the arguments after it is given by a rule. Parameter: ``rule``."""

    name = "custom_derivative"

    def shape(self, y: Shape, *args: Shape, rule: DerivativeRule) -> Shape:
        return y

    def value(self, y: Any, *args: Any, rule: DerivativeRule) -> Any:
        return y

    def jvp(self, *args: Any, rule: DerivativeRule) -> Tangent:
        count = (len(args) - 1) // 2
        xs, y, dots = args[1:count], args[count], args[count + 2 :]
        if all(dot is ZERO for dot in dots):
            return ZERO
        filled = tuple(zeros_like(x) if dot is ZERO else dot for x, dot in zip(xs, dots, strict=True))
        return _checked(rule.push(xs, y, filled), y)

    def vjp(self, *args: Array, rule: DerivativeRule) -> tuple[Array | None, ...]:
        xs, y, y_bar = args[1:-2], args[-2], args[-1]
        bars = rule.pull(xs, y, y_bar)
        return (None, *(None if bar is None else _checked(bar, x) for bar, x in zip(bars, xs, strict=True)))

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return True

    def __reduce__(self) -> Any:
        return CustomDerivative, ()


def _checked(bar: Any, x: Array) -> Node:
    """A derivative with the shape and type of what it belongs to."""
    bar = as_node(bar)
    if bar.shape != x.shape:
        raise ShapeError(f"The rule gives a derivative of shape {show(bar.shape)}; the shape must be {show(x.shape)}.")
    return bar.astype(x.dtype)


class Barrier(Primitive, registered=False):
    """``x`` itself, but only after ``after`` is computed; what depends on it is not merged with earlier values."""

    name = "barrier"

    def shape(self, x: Shape, after: Shape) -> Shape:
        return x

    def value(self, x: Any, after: Any) -> Any:
        return x

    def jvp(self, x: Array, after: Array, y: Array, x_dot: Tangent, after_dot: Tangent) -> Tangent:
        return x_dot

    def vjp(self, x: Array, after: Array, y: Array, y_bar: Array) -> tuple[Array, None]:
        return y_bar, None

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return True

    def __reduce__(self) -> Any:
        return Barrier, ()


CUSTOM_DERIVATIVE = CustomDerivative()
BARRIER = Barrier()
