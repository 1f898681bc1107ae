"""Matrix products and the transposition of axes. Kernels: ``native/kernels/matmul.h``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import Primitive, Sample, elements
from madaline.graph.shapes import Rows, Shape, show


class Matmul(Primitive):
    r"""Matrix product, :math:`y = x W`; ``x`` is (..., n_rows, n_in), ``W`` (..., n_in, n_out), leading axes equal."""

    name = "matmul"
    kinds = "fi"

    def shape(self, x: Shape, W: Shape) -> Shape:
        if len(x) < 2 or len(W) < 2:
            raise ShapeError(f"A matrix product needs two matrices; the shapes are {show(x)} @ {show(W)}.")
        if x[:-2] != W[:-2]:
            raise ShapeError(f"x has leading axes {show(x[:-2])}, W has {show(W[:-2])}; they must be equal.")
        if x[-1] != W[-2]:
            raise ShapeError(
                f"x has {x[-1]} columns, W has {W[-2]} rows; they must be equal. Shapes: {show(x)} @ {show(W)}."
            )
        return (*x[:-1], W[-1])

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        if dtypes[0] != dtypes[1]:
            raise DtypeError(f"A matrix of {dtypes[0]} cannot be multiplied by one of {dtypes[1]}; cast one of them.")
        return dtypes[0]

    def value(self, x: Any, W: Any) -> Any:
        return x @ W

    def jvp(self, x: Array, W: Array, y: Array, x_dot: Tangent, W_dot: Tangent) -> Tangent:
        return x_dot @ W + x @ W_dot

    def vjp(self, x: Array, W: Array, y: Array, y_bar: Array) -> tuple[Array, Array]:
        return y_bar @ W.mT, x.mT @ y_bar

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)), rng.normal(size=(3, 2))), {}
        yield (rng.normal(size=(1, 4)), rng.normal(size=(4, 1))), {}
        yield (rng.normal(size=(3, 0)), rng.normal(size=(0, 2))), {}
        yield (rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 3, 5))), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 2 * shapes[0][-1] * elements(shape)

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shapes[0][-1], Rows)


class Transpose(Primitive):
    """The axes in another order. Parameter: ``axes``, the old axis for each new one."""

    name = "transpose"
    linear = True

    def shape(self, x: Shape, *, axes: tuple[int, ...]) -> Shape:
        if sorted(axes) != list(range(len(x))):
            raise ShapeError(f"axes={axes} are not all axes of {show(x)}, in some order.")
        return tuple(x[axis] for axis in axes)

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        return x.transpose(axes)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axes: tuple[int, ...]) -> tuple[Array]:
        return (y_bar.transpose(tuple(int(axis) for axis in np.argsort(axes))),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"axes": (1, 0)}
        yield (rng.normal(size=(2, 3, 4)),), {"axes": (2, 0, 1)}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return True
