"""Linear systems, inverses and determinants, by LAPACK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import PRIMITIVES, ZERO, Sample, Zero, elements
from madaline.graph.primitives.library import LibraryPrimitive, check_matrix, check_square, column, random_matrices
from madaline.graph.shapes import Shape, show


def _check_system(name: str, a: Shape, b: Shape) -> None:
    check_square(name, a)
    if len(a) != len(b) or a[:-1] != b[:-1]:
        raise ShapeError(f"{name}: a has shape {show(a)}, b has shape {show(b)}; all but the last axis must be equal.")


class Solve(LibraryPrimitive):
    r"""The solution :math:`y = A^{-1} b` of a linear system; ``b`` has one column for each right-hand side."""

    name = "solve"

    def shape(self, a: Shape, b: Shape) -> Shape:
        _check_system(self.name, a, b)
        return b

    def value(self, a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b)

    def jvp(self, a: Array, b: Array, y: Array, a_dot: Tangent, b_dot: Tangent) -> Tangent:
        change = b_dot - a_dot @ y
        return ZERO if isinstance(change, Zero) else PRIMITIVES["solve"](a, change)

    def vjp(self, a: Array, b: Array, y: Array, y_bar: Array) -> tuple[Array, Array]:
        b_bar = PRIMITIVES["solve"](a.mT, y_bar)
        return -(b_bar @ y.mT), b_bar

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (random_matrices(rng, 3, 3), rng.normal(size=(3, 2))), {}
        yield (random_matrices(rng, 2, 4, 4), rng.normal(size=(2, 4, 1))), {}
        yield (random_matrices(rng, 1, 1), rng.normal(size=(1, 1))), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shapes[0]) * shapes[0][-1] + 2 * elements(shape) * shapes[0][-1]


def _triangle(a: Array, lower: bool, unit: bool) -> Array:
    if lower:
        return np.tril(a, -1 if unit else 0)
    return np.triu(a, 1 if unit else 0)


class SolveTriangular(LibraryPrimitive):
    r"""The solution :math:`y = A^{-1} b` for a triangular :math:`A`; the other triangle of ``a`` is not read.

    Parameters: ``lower``, and ``unit`` for a diagonal of ones that is not read either.
    """

    name = "solve_triangular"

    def shape(self, a: Shape, b: Shape, *, lower: bool, unit: bool) -> Shape:
        _check_system(self.name, a, b)
        return b

    def value(self, a: Any, b: Any, *, lower: bool, unit: bool) -> Any:
        from scipy.linalg import solve_triangular  # SciPy takes long to import, and few programs need it

        matrices, sides = a.reshape((-1, *a.shape[-2:])), b.reshape((-1, *b.shape[-2:]))
        found = [
            solve_triangular(matrix, side, lower=lower, unit_diagonal=unit, check_finite=False)
            for matrix, side in zip(matrices, sides, strict=True)
        ]
        return np.array(found, dtype=b.dtype).reshape(b.shape)

    def jvp(self, a: Array, b: Array, y: Array, a_dot: Tangent, b_dot: Tangent, *, lower: bool, unit: bool) -> Tangent:
        change = b_dot if isinstance(a_dot, Zero) else b_dot - _triangle(a_dot, lower, unit) @ y
        return ZERO if isinstance(change, Zero) else PRIMITIVES["solve_triangular"](a, change, lower=lower, unit=unit)

    def vjp(self, a: Array, b: Array, y: Array, y_bar: Array, *, lower: bool, unit: bool) -> tuple[Array, Array]:
        b_bar = PRIMITIVES["solve_triangular"](a.mT, y_bar, lower=not lower, unit=unit)
        return -_triangle(b_bar @ y.mT, lower, unit), b_bar

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for lower, unit in ((True, False), (False, False), (True, True)):
            yield (random_matrices(rng, 3, 3), rng.normal(size=(3, 2))), {"lower": lower, "unit": unit}
        yield (random_matrices(rng, 2, 4, 4), rng.normal(size=(2, 4, 1))), {"lower": False, "unit": False}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shape) * shapes[0][-1]


class Inv(LibraryPrimitive):
    r"""The inverse :math:`y = A^{-1}`; :math:`\dot y = -y \dot A y`."""

    name = "inv"

    def shape(self, a: Shape) -> Shape:
        check_square(self.name, a)
        return a

    def value(self, a: Any) -> Any:
        return np.linalg.inv(a)

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return -(y @ a_dot @ y)

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (-(y.mT @ y_bar @ y.mT),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (random_matrices(rng, 3, 3),), {}
        yield (random_matrices(rng, 2, 4, 4),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 2 * elements(shape) * shape[-1]


class Det(LibraryPrimitive):
    r"""The determinant; :math:`\dot y = y\,\mathrm{tr}(A^{-1} \dot A)`, for invertible matrices."""

    name = "det"

    def shape(self, a: Shape) -> Shape:
        check_square(self.name, a)
        return a[:-2]

    def value(self, a: Any) -> Any:
        return np.linalg.det(a)

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return y * _trace_of_product(PRIMITIVES["inv"](a), a_dot)

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (column(column(y_bar * y)) * PRIMITIVES["inv"](a).mT,)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (random_matrices(rng, 3, 3),), {}
        yield (random_matrices(rng, 2, 2, 2),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shapes[0]) * shapes[0][-1]


class LogAbsDet(Det):
    r"""The logarithm of the absolute determinant; :math:`\dot y = \mathrm{tr}(A^{-1} \dot A)`."""

    name = "log_abs_det"

    def value(self, a: Any) -> Any:
        return np.linalg.slogdet(a)[1]

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return _trace_of_product(PRIMITIVES["inv"](a), a_dot)

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (column(column(y_bar)) * PRIMITIVES["inv"](a).mT,)


class SignDet(Det):
    """The sign of the determinant; derivative 0."""

    name = "sign_det"

    def value(self, a: Any) -> Any:
        return np.linalg.slogdet(a)[0]

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return ZERO

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[None]:
        return (None,)


def _trace_of_product(a: Array, b: Array) -> Array:
    return (a.mT * b).sum(axis=(-2, -1))


class Pinv(LibraryPrimitive):
    r"""The pseudoinverse :math:`y = A^+`, for matrices whose rank does not change nearby.

    :math:`\dot y = -y \dot A y + y y^T \dot A^T (I - A y) + (I - y A) \dot A^T y^T y`. Golub & Pereyra 1973.
    Parameter: ``rcond``, singular values below this part of the largest count as zero.
    """

    name = "pinv"

    def shape(self, a: Shape, *, rcond: float) -> Shape:
        check_matrix(self.name, a)
        return (*a[:-2], a[-1], a[-2])

    def value(self, a: Any, *, rcond: float) -> Any:
        return np.linalg.pinv(a, rcond=rcond)

    def jvp(self, a: Array, y: Array, a_dot: Array, *, rcond: float) -> Tangent:
        outer = y @ (y.mT @ a_dot.mT)
        inner = a_dot.mT @ y.mT @ y
        return outer - outer @ a @ y + inner - y @ (a @ inner) - y @ a_dot @ y

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((4, 3), (2, 3), (2, 3, 3)):
            yield (random_matrices(rng, *shape),), {"rcond": 1e-15}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 10 * elements(shape) * shape[-1]


class Expm(LibraryPrimitive):
    r"""The matrix exponential :math:`y = e^A`.

    Its derivative is a block of the exponential of a matrix of twice the size: Van Loan 1978.
    """

    name = "expm"

    def shape(self, a: Shape) -> Shape:
        check_square(self.name, a)
        return a

    def value(self, a: Any) -> Any:
        from scipy.linalg import expm

        return expm(a).astype(a.dtype)

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        return _expm_derivative(a, a_dot)

    def vjp(self, a: Array, y: Array, y_bar: Array) -> tuple[Array]:
        return (_expm_derivative(a.mT, y_bar),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(3, 3)) * 0.5,), {}
        yield (rng.normal(size=(2, 2, 2)) * 0.5,), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 20 * elements(shape) * shape[-1]


def _expm_derivative(a: Array, a_dot: Tangent) -> Array:
    n = a.shape[-1]
    upper = np.concatenate([a, a_dot.astype(a.dtype)], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return PRIMITIVES["expm"](np.concatenate([upper, lower], axis=-2))[..., :n, n:]
