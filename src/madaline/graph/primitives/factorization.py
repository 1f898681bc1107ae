"""Matrix factorisations by LAPACK: Cholesky, symmetric eigenvalues, singular values, QR.

A primitive has one result, so factorisations with several put them side by side; ``numpy_api/linalg.py`` slices them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import PRIMITIVES, Sample, elements
from madaline.graph.primitives.library import (
    LibraryPrimitive,
    check_matrix,
    check_square,
    column,
    diagonal,
    inverse_gaps,
    one_over,
    random_matrices,
    row,
    symmetric,
)
from madaline.graph.shapes import Shape, show


class Cholesky(LibraryPrimitive):
    r"""The lower triangular :math:`L` with :math:`A = L L^T`; only the lower triangle of ``a`` is read.

    :math:`\dot L = L\,\Phi(L^{-1} \dot A L^{-T})`, where :math:`\Phi` takes the lower triangle and half the diagonal.
    Murray 2016.
    """

    name = "cholesky"

    def shape(self, a: Shape) -> Shape:
        check_square(self.name, a)
        return a

    def value(self, a: Any) -> Any:
        return np.linalg.cholesky(a)

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        half = PRIMITIVES["solve_triangular"](y, symmetric(a_dot).astype(y.dtype), lower=True, unit=False)
        inner = PRIMITIVES["solve_triangular"](y, half.mT, lower=True, unit=False)
        n: Any = a.shape[-1]
        weights = np.tril(np.ones((n, n)), -1) + 0.5 * np.eye(n)
        return y @ (inner * weights.astype(y.dtype))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((3, 3), (2, 4, 4), (1, 1)):
            x = random_matrices(rng, *shape)
            yield (x @ np.swapaxes(x, -1, -2),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shape) * shape[-1]


class Eigh(LibraryPrimitive):
    r"""Eigenvalues, ascending, and eigenvectors of symmetric matrices, of which one triangle is read.

    Parameter: ``lower``, which triangle. The result has the eigenvalues in column 0, then the eigenvectors.
    :math:`\dot w = \mathrm{diag}(V^T \dot A V)`, :math:`\dot V = V (F \circ V^T \dot A V)` with
    :math:`F_{ij} = 1/(w_j - w_i)`. Within a repeated eigenvalue eigenvectors have no derivative; there :math:`F` is 0.
    """

    name = "eigh"

    def shape(self, a: Shape, *, lower: bool) -> Shape:
        check_square(self.name, a)
        return (*a[:-1], a[-1] + 1)

    def value(self, a: Any, *, lower: bool) -> Any:
        w, v = np.linalg.eigh(a, "L" if lower else "U")
        return np.concatenate([w[..., None], v], axis=-1)

    def jvp(self, a: Array, y: Array, a_dot: Array, *, lower: bool) -> Tangent:
        w, v = y[..., 0], y[..., 1:]
        inner = v.mT @ symmetric(a_dot if lower else a_dot.mT).astype(y.dtype) @ v
        gaps = inverse_gaps(w, np.max(np.abs(w), axis=-1))
        return np.concatenate([column(diagonal(inner)), v @ (gaps * inner)], axis=-1)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, lower in (((3, 3), True), ((2, 4, 4), True), ((3, 3), False)):
            x = random_matrices(rng, *shape)
            yield (x + np.swapaxes(x, -1, -2),), {"lower": lower}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 9 * elements(shape) * shape[-2]


class Svd(LibraryPrimitive):
    r"""The thin singular value decomposition :math:`A = U\,\mathrm{diag}(s)\,V^T`, all parts in one row.

    With :math:`P = U^T \dot A V`: :math:`\dot s = \mathrm{diag}\,P`,
    :math:`\dot U = U (E \circ (P S + S P^T)) + (I - U U^T) \dot A V S^{-1}` and
    :math:`\dot V = V (E \circ (S P + P^T S)) + (I - V V^T) \dot A^T U S^{-1}`, :math:`E_{ij} = 1/(s_j^2 - s_i^2)`.
    For repeated singular values :math:`E` is 0, for zero ones :math:`S^{-1}` is.
    """

    name = "svd"

    def shape(self, a: Shape) -> Shape:
        check_matrix(self.name, a)
        k = min(a[-2:])
        return (*a[:-2], a[-2] * k + k + k * a[-1])

    def value(self, a: Any) -> Any:
        parts = np.linalg.svd(a, full_matrices=False)
        return joined(*parts, lead=a.shape[:-2])

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        u, s, vh = svd_parts(y, a.shape)
        a_dot, v, k = a_dot.astype(y.dtype), vh.mT, s.shape[-1]
        p = u.mT @ a_dot @ v
        largest = np.max(s, axis=-1) if k else s.sum(axis=-1)
        e = inverse_gaps(s * s, largest * largest)
        inverse = row(one_over(s, s == 0.0))
        u_dot = u @ (e * (p * row(s) + column(s) * p.mT))
        v_dot = v @ (e * (column(s) * p + p.mT * row(s)))
        if a.shape[-2] > k:
            change = a_dot @ v * inverse
            u_dot = u_dot + change - u @ (u.mT @ change)
        if a.shape[-1] > k:
            change = a_dot.mT @ u * inverse
            v_dot = v_dot + change - v @ (v.mT @ change)
        return joined(u_dot, diagonal(p), v_dot.mT, lead=a.shape[:-2])

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((3, 3), (4, 2), (2, 2, 3)):
            yield (random_matrices(rng, *shape),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 20 * elements(shapes[0]) * min(shapes[0][-2:])


def joined(*parts: Array, lead: Shape) -> Array:
    """Arrays with equal leading axes, all their other axes in one row."""
    return np.concatenate([part.reshape((*lead, prod(part.shape[len(lead) :]))) for part in parts], axis=-1)


def svd_parts(y: Array, a: Shape) -> tuple[Array, Array, Array]:
    """What :class:`Svd` put side by side for matrices of shape ``a``: ``U``, ``s``, ``V.T``."""
    m, n, k = a[-2], a[-1], min(a[-2:])
    u, s, vh = y[..., : m * k], y[..., m * k : m * k + k], y[..., m * k + k :]
    return u.reshape((*a[:-2], m, k)), s, vh.reshape((*a[:-2], k, n))


class Qr(LibraryPrimitive):
    r"""The reduced factorisation :math:`A = Q R` of matrices with at least as many rows as columns, side by side.

    With :math:`C = \dot A R^{-1}`, :math:`M = Q^T C` and :math:`\Omega = L - L^T` for its strict lower triangle
    :math:`L`: :math:`\dot Q = Q \Omega + C - Q M`, :math:`\dot R = (M - \Omega) R`. Columns must be independent.
    """

    name = "qr"

    def shape(self, a: Shape) -> Shape:
        check_matrix(self.name, a)
        if a[-2] < a[-1]:
            raise ShapeError(f"qr needs at least as many rows as columns; the shape is {show(a)}.")
        return (*a[:-2], (a[-2] + a[-1]) * a[-1])

    def value(self, a: Any) -> Any:
        return joined(*np.linalg.qr(a), lead=a.shape[:-2])

    def jvp(self, a: Array, y: Array, a_dot: Array) -> Tangent:
        q, r = qr_parts(y, a.shape)
        c = PRIMITIVES["solve_triangular"](r.mT, a_dot.astype(y.dtype).mT, lower=True, unit=False).mT
        m = q.mT @ c
        below = np.tril(m, -1)
        omega = below - below.mT
        return joined(q @ omega + c - q @ m, (m - omega) @ r, lead=a.shape[:-2])

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((3, 3), (4, 2), (2, 3, 2)):
            yield (random_matrices(rng, *shape),), {}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 4 * elements(shapes[0]) * shapes[0][-1]


def qr_parts(y: Array, a: Shape) -> tuple[Array, Array]:
    """What :class:`Qr` put side by side for matrices of shape ``a``: ``Q`` and ``R``."""
    m, n = a[-2:]
    return y[..., : m * n].reshape((*a[:-2], m, n)), y[..., m * n :].reshape((*a[:-2], n, n))
