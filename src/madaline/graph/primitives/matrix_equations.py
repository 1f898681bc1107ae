"""Sylvester's equation and square roots of matrices, by LAPACK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import PRIMITIVES, ZERO, Sample, Zero, elements
from madaline.graph.primitives.library import LibraryPrimitive, check_square, random_matrices
from madaline.graph.shapes import Shape, show


class SolveSylvester(LibraryPrimitive):
    r"""The solution :math:`y` of :math:`A y + y B = Q`, for matrices without a batch."""

    name = "solve_sylvester"

    def shape(self, a: Shape, b: Shape, q: Shape) -> Shape:
        if not len(a) == len(b) == len(q) == 2 or a[0] != a[1] or b[0] != b[1] or q != (a[0], b[0]):
            raise ShapeError(
                f"{self.name}: the shapes are {show(a)}, {show(b)} and {show(q)}; use (m, m), (n, n) and (m, n)."
            )
        return q

    def value(self, a: Any, b: Any, q: Any) -> Any:
        from scipy.linalg import solve_sylvester  # SciPy takes long to import, and few programs need it

        return solve_sylvester(a, b, q).astype(q.dtype)

    def jvp(self, a: Array, b: Array, q: Array, y: Array, a_dot: Tangent, b_dot: Tangent, q_dot: Tangent) -> Tangent:
        change = q_dot - a_dot @ y - y @ b_dot
        return ZERO if isinstance(change, Zero) else PRIMITIVES["solve_sylvester"](a, b, change)

    def vjp(self, a: Array, b: Array, q: Array, y: Array, y_bar: Array) -> tuple[Array, Array, Array]:
        q_bar = PRIMITIVES["solve_sylvester"](a.mT, b.mT, y_bar)
        return -(q_bar @ y.mT), -(y.mT @ q_bar), q_bar

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for m, n in ((3, 3), (2, 4), (1, 1)):
            yield (random_matrices(rng, m, m), random_matrices(rng, n, n), rng.normal(size=(m, n))), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 25 * (elements(shapes[0]) * shapes[0][0] + elements(shapes[1]) * shapes[1][0])


class Sqrtm(LibraryPrimitive):
    r"""The square root :math:`y y = A` of a matrix that has a real one; :math:`\dot y y + y \dot y = \dot A`."""

    name = "sqrtm"

    def shape(self, a: Shape) -> Shape:
        check_square(self.name, a)
        if len(a) != 2:
            raise ShapeError(f"{self.name} takes one matrix; the shape is {show(a)}.")
        return a

    def value(self, a: Any) -> Any:
        from scipy.linalg import sqrtm

        found = sqrtm(a)
        if np.iscomplexobj(found):
            raise np.linalg.LinAlgError("sqrtm: the matrix has a negative eigenvalue, so its square root is not real.")
        return found.astype(a.dtype)

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return PRIMITIVES["solve_sylvester"](y, y, a_dot)

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (PRIMITIVES["solve_sylvester"](y.mT, y.mT, y_bar),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for n in (3, 1):
            yield (random_matrices(rng, n, n),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 30 * elements(shape) * shape[-1]
