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
    r"""The solution :math:`y` of :math:`A y + y B = Q`."""

    name = "solve_sylvester"

    def shape(self, a: Shape, b: Shape, q: Shape) -> Shape:
        check_square(self.name, a)
        check_square(self.name, b)
        if q != (*a[:-1], b[-1]) or a[:-2] != b[:-2]:
            raise ShapeError(
                f"{self.name}: the shapes are {show(a)}, {show(b)} and {show(q)}; use (m, m), (n, n) and (m, n)."
            )
        return q

    def value(self, a: Any, b: Any, q: Any) -> Any:
        from scipy.linalg import solve_sylvester  # SciPy takes long to import, and few programs need it

        matrices = (item.reshape((-1, *item.shape[-2:])) for item in (a, b, q))
        found = [solve_sylvester(*each) for each in zip(*matrices, strict=True)]
        return np.array(found, dtype=q.dtype).reshape(q.shape)

    def jvp(self, a: Array, b: Array, q: Array, y: Array, a_dot: Tangent, b_dot: Tangent, q_dot: Tangent) -> Tangent:
        change = q_dot - a_dot @ y - y @ b_dot
        return ZERO if isinstance(change, Zero) else PRIMITIVES["solve_sylvester"](a, b, change)

    def vjp(self, a: Array, b: Array, q: Array, y: Array, y_bar: Array) -> tuple[Array, Array, Array]:
        q_bar = PRIMITIVES["solve_sylvester"](a.mT, b.mT, y_bar)
        return -(q_bar @ y.mT), -(y.mT @ q_bar), q_bar

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for m, n in ((3, 3), (2, 4), (1, 1)):
            yield (random_matrices(rng, m, m), random_matrices(rng, n, n), rng.normal(size=(m, n))), {}
        yield (random_matrices(rng, 2, 3, 3), random_matrices(rng, 2, 2, 2), rng.normal(size=(2, 3, 2))), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 25 * (elements(shapes[0]) * shapes[0][0] + elements(shapes[1]) * shapes[1][0])


class Sqrtm(LibraryPrimitive):
    r"""The square root :math:`y y = A` of a matrix that has a real one; :math:`\dot y y + y \dot y = \dot A`."""

    name = "sqrtm"

    def shape(self, a: Shape) -> Shape:
        check_square(self.name, a)
        return a

    def value(self, a: Any) -> Any:
        from scipy.linalg import sqrtm

        found = [sqrtm(matrix) for matrix in a.reshape((-1, *a.shape[-2:]))]
        if any(map(np.iscomplexobj, found)):
            raise np.linalg.LinAlgError("sqrtm: the matrix has a negative eigenvalue, so its square root is not real.")
        return np.array(found, dtype=a.dtype).reshape(a.shape)

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return PRIMITIVES["solve_sylvester"](y, y, a_dot)

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (PRIMITIVES["solve_sylvester"](y.mT, y.mT, y_bar),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((3, 3), (1, 1), (2, 2, 2)):
            yield (random_matrices(rng, *shape),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 30 * elements(shape) * shape[-1]
