"""Reductions over any axes, and the cumulative sum. Kernels: ``native/kernels/reduce.h`` and ``scan.h``.

All of them drop the reduced axes. Parameter: ``axes``, sorted and not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.node import INT64
from madaline.graph.primitive import PRIMITIVES, Primitive, Sample, elements
from madaline.graph.shapes import Rows, Shape, check_axes, size_of


class Reduction(Primitive):
    """Many numbers to one, along ``axes``."""

    kinds = "fi"

    def shape(self, x: Shape, *, axes: tuple[int, ...]) -> Shape:
        check_axes(axes, x)
        return tuple(size for axis, size in enumerate(x) if axis not in axes)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"axes": (0, 1)}
        yield (rng.normal(size=(5, 3)),), {"axes": (0,)}
        yield (rng.normal(size=(4, 2, 3)),), {"axes": (0, 2)}
        yield (rng.normal(size=(4, 1, 3)),), {"axes": (1,)}
        yield (rng.normal(size=(2, 300)),), {"axes": (1,)}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shapes[0])

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        axes = params["axes"]
        return not any(isinstance(size, Rows) and axis in axes for axis, size in enumerate(shapes[0]))


def expanded(reduced: Array, x: Array, axes: tuple[int, ...]) -> Array:
    """A reduced value with its axes back, of size 1, so that it broadcasts against ``x``."""
    return reduced.reshape(tuple(1 if axis in axes else size for axis, size in enumerate(x.shape)))


class Sum(Reduction):
    r""":math:`y = \sum x`. Integers are summed as int64."""

    name = "sum"
    linear = True

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return dtypes[0] if dtypes[0].kind == "f" else INT64

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        return np.sum(x, axis=axes)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axes: tuple[int, ...]) -> tuple[Array]:
        shape: Any = x.shape
        return (np.broadcast_to(expanded(y_bar, x, axes), shape),)


class Prod(Reduction):
    r""":math:`y = \prod x`, :math:`\partial y/\partial x_i = \prod_{j \ne i} x_j`, right even where some are 0."""

    name = "prod"

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return dtypes[0] if dtypes[0].kind == "f" else INT64

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        return np.prod(x, axis=axes)

    def jvp(self, x: Array, y: Array, x_dot: Tangent, *, axes: tuple[int, ...]) -> Tangent:
        return (x_dot * product_of_others(x, axes)).sum(axis=axes)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axes: tuple[int, ...]) -> tuple[Array]:
        return (expanded(y_bar, x, axes) * product_of_others(x, axes),)


def product_of_others(x: Array, axes: tuple[int, ...]) -> Array:
    r""":math:`\prod_{j \ne i} x_j` for every ``i``, in about two multiplications an element and without division.

    Halve, multiply the halves, solve the half-sized problem, and hand each half the other's factor.
    """
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = x.transpose((*kept, *axes))
    flat = moved.reshape((*(x.shape[axis] for axis in kept), size_of(tuple(x.shape[axis] for axis in axes))))
    others = _others_on_last_axis(flat)
    back = tuple(int(axis) for axis in np.argsort((*kept, *axes)))
    return others.reshape(moved.shape).transpose(back)


def _others_on_last_axis(x: Array) -> Array:
    count = x.shape[-1]
    if count <= 1:
        return np.ones_like(x)
    if count == 2:
        return np.flip(x, axis=-1)
    half = count // 2
    first, second, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    pairs = np.concatenate([first * second, rest], axis=-1)
    outer = _others_on_last_axis(pairs)
    common = outer[..., :half]
    return np.concatenate([common * second, common * first, outer[..., half:]], axis=-1)


class Max(Reduction):
    """The largest; NaN if any is. Equal maxima share the derivative evenly."""

    name = "max"

    def shape(self, x: Shape, *, axes: tuple[int, ...]) -> Shape:
        shape = super().shape(x, axes=axes)
        _refuse_empty(self.name, x, axes)
        return shape

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        return np.max(x, axis=axes)

    def jvp(self, x: Array, y: Array, x_dot: Tangent, *, axes: tuple[int, ...]) -> Tangent:
        return (x_dot * _shares(x, y, axes)).sum(axis=axes)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axes: tuple[int, ...]) -> tuple[Array]:
        return (expanded(y_bar, x, axes) * _shares(x, y, axes),)


class Min(Max):
    """The smallest; NaN if any is. Equal minima share the derivative evenly."""

    name = "min"

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        return np.min(x, axis=axes)


def _shares(x: Array, y: Array, axes: tuple[int, ...]) -> Array:
    chosen = (x == expanded(y, x, axes)).astype(x.dtype)
    return chosen / expanded(chosen.sum(axis=axes), x, axes)


def _refuse_empty(name: str, x: Shape, axes: tuple[int, ...]) -> None:
    if any(x[axis] == 0 for axis in axes):
        raise ShapeError(f"{name} over an axis of size 0 has no value.")


class LogSumExp(Reduction):
    r""":math:`y = \log \sum e^x`, with the maximum taken out first; :math:`\partial y/\partial x_i = e^{x_i - y}`."""

    name = "logsumexp"
    kinds = "f"

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        if any(x.shape[axis] == 0 for axis in axes):
            return np.full(self.shape(x.shape, axes=axes), -np.inf, dtype=x.dtype)
        top = np.max(x, axis=axes, keepdims=True)
        shift = np.where(np.isfinite(top), top, x.dtype.type(0))
        return np.log(np.sum(np.exp(x - shift), axis=axes)) + np.squeeze(shift, axis=axes)

    def jvp(self, x: Array, y: Array, x_dot: Tangent, *, axes: tuple[int, ...]) -> Tangent:
        return (x_dot * np.exp(x - expanded(y, x, axes))).sum(axis=axes)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axes: tuple[int, ...]) -> tuple[Array]:
        return (expanded(y_bar, x, axes) * np.exp(x - expanded(y, x, axes)),)

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 3 * elements(shapes[0])


class Argmax(Primitive):
    """Index of the first largest along ``axis``; NaN counts as largest. No derivative."""

    name = "argmax"
    kinds = "fi"

    def shape(self, x: Shape, *, axis: int) -> Shape:
        check_axes((axis,), x)
        _refuse_empty(self.name, x, (axis,))
        return x[:axis] + x[axis + 1 :]

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return INT64

    def value(self, x: Any, *, axis: int) -> Any:
        return np.argmax(x, axis=axis)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axis: int) -> tuple[None]:
        return (None,)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"axis": 0}
        yield (rng.normal(size=(5, 2, 3)),), {"axis": 2}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shapes[0])

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shapes[0][params["axis"]], Rows)


class Argsort(Primitive):
    """Indices that sort ``x`` along ``axis``, equal numbers in their order, NaN last. No derivative."""

    name = "argsort"

    def shape(self, x: Shape, *, axis: int) -> Shape:
        check_axes((axis,), x)
        return x

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return INT64

    def value(self, x: Any, *, axis: int) -> Any:
        return np.argsort(x, axis=axis, stable=True)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axis: int) -> tuple[None]:
        return (None,)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"axis": 0}
        yield (rng.integers(0, 3, size=(2, 3, 7)),), {"axis": 2}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shape)

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shape[params["axis"]], Rows)


class Cumsum(Primitive):
    r""":math:`y_i = \sum_{j \le i} x_j` along ``axis``; with ``reverse``, :math:`\sum_{j \ge i}`."""

    name = "cumsum"
    kinds = "fi"
    linear = True

    def shape(self, x: Shape, *, axis: int, reverse: bool) -> Shape:
        check_axes((axis,), x)
        return x

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return dtypes[0] if dtypes[0].kind == "f" else INT64

    def value(self, x: Any, *, axis: int, reverse: bool) -> Any:
        if reverse:
            return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)
        return np.cumsum(x, axis=axis)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axis: int, reverse: bool) -> tuple[Array]:
        return (PRIMITIVES["cumsum"](y_bar, axis=axis, reverse=not reverse),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"axis": 0, "reverse": False}
        yield (rng.normal(size=(2, 4, 3)),), {"axis": 1, "reverse": True}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shape)

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shape[params["axis"]], Rows)
