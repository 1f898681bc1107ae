"""``np.linalg`` on traced values: linear systems, factorisations and powers of matrices.

Factorisations are computed by LAPACK, between native programs. See ``norms.py`` for norms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node, as_node, is_float, known_value
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.numpy_api.shape import broadcast_to
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.factorization import qr_parts, svd_parts
from madaline.graph.shapes import broadcast, show


class EighResult(NamedTuple):
    """What ``np.linalg.eigh`` gives."""

    eigenvalues: Any
    eigenvectors: Any


class SVDResult(NamedTuple):
    """What ``np.linalg.svd`` gives."""

    U: Any
    S: Any
    Vh: Any


class QRResult(NamedTuple):
    """What ``np.linalg.qr`` gives."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """What ``np.linalg.slogdet`` gives."""

    sign: Any
    logabsdet: Any


def _floats(x: Any) -> Node:
    node = as_node(x)
    return node if is_float(node.dtype) else node.astype(np.float64)


def _pair(a: Any, b: Any, name: str) -> tuple[Node, Node, bool]:
    """A matrix and right-hand sides with the same type and batch axes, and whether ``b`` was a vector."""
    a, b = _floats(a), _floats(b)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or b.ndim == 0 or b.shape[-2 if b.ndim > 1 else 0] != a.shape[-1]:
        raise ShapeError(
            f"{name}: the shapes are {show(a.shape)} and {show(b.shape)}; use (..., n, n) and (..., n, k)."
        )
    dtype = np.result_type(a.dtype, b.dtype)
    a, b = a.astype(dtype), b.astype(dtype)
    vector = b.ndim == 1
    b = b.reshape((*b.shape, 1)) if vector else b
    lead = broadcast(a.shape[:-2], b.shape[:-2])
    return broadcast_to(a, (*lead, *a.shape[-2:])), broadcast_to(b, (*lead, *b.shape[-2:])), vector


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    a, b, vector = _pair(a, b, "np.linalg.solve")
    y = PRIMITIVES["solve"](a, b)
    return y[..., 0] if vector else y


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Array:
    """The solution of a triangular system, as ``scipy.linalg.solve_triangular``, on arrays and traced values.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Only one of its triangles is read.
    b : array, shape (n,) or (..., n, k)
    trans : {0, 1, "N", "T"}
        1 or "T" to solve with the transpose of ``a``.
    lower : bool, default False
        Whether the lower triangle of ``a`` is read.
    unit_diagonal : bool, default False
        Whether the diagonal of ``a`` is taken as ones.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.functional.solve_triangular(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 3.0]), lower=True)
    array([1., 2.])
    """
    if trans not in (0, 1, "N", "T"):
        raise ValueError(f"trans={trans!r} must be 0 or 'N' for the matrix itself, 1 or 'T' for its transpose.")
    a, b, vector = _pair(a, b, "solve_triangular")
    if trans in (1, "T"):
        a, lower = a.mT, not lower
    y = PRIMITIVES["solve_triangular"](a, b, lower=bool(lower), unit=bool(unit_diagonal))
    return plain(y[..., 0] if vector else y)


def expm(a: Any) -> Array:
    """The matrix exponential, as ``scipy.linalg.expm``, on arrays and traced values; leading axes are a batch.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.functional.expm(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return plain(PRIMITIVES["expm"](_floats(a)))


def plain(y: Any) -> Array:
    """An array where the arguments were arrays, otherwise the traced value."""
    from madaline.graph.trace import is_tracing

    value = None if is_tracing() else known_value(y)
    return y if value is None else value


@implements(np.linalg.inv)
def inv(a: Any) -> Array:
    return PRIMITIVES["inv"](_floats(a))


@implements(np.linalg.det)
def det(a: Any) -> Array:
    return PRIMITIVES["det"](_floats(a))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> tuple[Node, ...]:
    a = _floats(a)
    return SlogdetResult(PRIMITIVES["sign_det"](a), PRIMITIVES["log_abs_det"](a))


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """Only one triangle is read, as by NumPy; so the derivative by the entries of the other one is 0."""
    a = _floats(a)
    return PRIMITIVES["cholesky"](a.mT).mT if upper else PRIMITIVES["cholesky"](a)


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """Only one triangle is read; within repeated eigenvalues the eigenvectors' derivative is taken as 0."""
    a = _floats(a)
    if UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO={UPLO!r} must be 'L' or 'U'.")
    y = PRIMITIVES["eigh"](a, lower=UPLO.upper() == "L")
    return EighResult(y[..., 0], y[..., 1:])


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Node:
    return eigh(a, UPLO).eigenvalues


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    a = _floats(a)
    u, s, vh = svd_parts(PRIMITIVES["svd"](a), a.shape)
    if not compute_uv:
        return s
    if full_matrices and a.shape[-1] != a.shape[-2]:
        raise TraceError(
            "np.linalg.svd(full_matrices=True) of a matrix that is not square has columns without a derivative. "
            "Use full_matrices=False."
        )
    return SVDResult(u, s, vh)


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    a = _floats(a)
    m, n = a.shape[-2:]
    if mode not in ("reduced", "complete", "r") or (mode == "complete" and m > n):
        raise TraceError(f"np.linalg.qr(mode={mode!r}) of shape {show(a.shape)} has no derivative. Use mode='reduced'.")
    first = a[..., :m]
    q, r = qr_parts(PRIMITIVES["qr"](first), first.shape)
    if n > m:
        r = np.concatenate([r, q.mT @ a[..., m:]], axis=-1)
    return r if mode == "r" else QRResult(q, r)


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """For matrices whose rank does not change nearby."""
    a = _floats(a)
    limit = rcond if rcond is not None else rtol
    if limit is None:
        not_given = np._NoValue  # noqa: SLF001 - NumPy's default of arguments that were not given has no public name
        limit = 1e-15 if rtol is not_given or rtol is None else max(a.shape[-2:]) * np.finfo(a.dtype).eps
    return PRIMITIVES["pinv"](a, rcond=float(limit))


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The solution by the pseudoinverse; residuals are given for more rows than columns, as for full rank."""
    a, b = _floats(a), _floats(b)
    limit = float(np.finfo(a.dtype).eps * max(a.shape[-2:]) if rcond is None else max(rcond, 0.0))
    x = pinv(a, limit) @ b
    s = svdvals(a)
    rank = np.sum(s > limit * s[0])
    known = known_value(rank)
    m, n = a.shape
    full = m > n and (known is None or int(known) == n)
    residuals = np.sum(np.square(b - a @ x), axis=0, keepdims=b.ndim == 1) if full else np.zeros(0, dtype=a.dtype)
    return x, residuals, rank if known is None else known[()], s


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Node:
    """An integer, without derivative."""
    s = svdvals(A)
    part = max(A.shape[-2:]) * np.finfo(s.dtype).eps if rtol is None else np.expand_dims(rtol, -1)
    limit = part * np.max(s, axis=-1, keepdims=True) if tol is None else np.expand_dims(tol, -1)
    return np.sum(s > limit, axis=-1)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Array:
    """By squaring; negative powers are those of the inverse."""
    if n < 0:
        return matrix_power(inv(a), -n)
    if n == 0:
        return np.broadcast_to(as_node(np.eye(a.shape[-1]), a.dtype).astype(a.dtype), a.shape)
    half = matrix_power(a, n // 2) if n > 1 else None
    return a if half is None else half @ half @ a if n % 2 else half @ half


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Array]) -> Array:
    """From left to right."""
    return reduce(np.matmul, arrays)


@implements(np.linalg.trace)
def trace(x: Operand, /, *, offset: int = 0) -> Node:
    return np.trace(x, offset, -2, -1)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any) -> Any:
    rest = a.shape[np.ndim(b) :]
    return solve(np.reshape(a, (np.size(b), -1)), np.ravel(b)).reshape(rest)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    first, rest = a.shape[:ind], a.shape[ind:]
    return inv(np.reshape(a, (int(np.prod(first)), -1))).reshape(rest + first)
