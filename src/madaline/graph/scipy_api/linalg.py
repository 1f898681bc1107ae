"""``scipy.linalg`` on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array
from madaline.graph.node import as_node, is_float
from madaline.graph.numpy_api.linalg import expm, solve_triangular
from madaline.graph.object_arrays import as_traced
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.scipy_api.replacement import register


def _floats(a: Any) -> Any:
    node = as_node(as_traced(a))
    return node if is_float(node.dtype) else node.astype(np.float64)


def _symmetric(a: Any, lower: bool) -> Any:
    """The symmetric matrix of which one triangle is read."""
    return np.tril(a) + np.tril(a, -1).mT if lower else np.triu(a) + np.triu(a, 1).mT


def solve(a: Any, b: Any, lower: bool = False, *, assume_a: str | None = None, transposed: bool = False) -> Array:
    """The solution of a linear system; for symmetric matrices, one triangle is read."""
    a, b = _floats(a), _floats(b)
    if assume_a in ("sym", "her", "pos", "symmetric", "hermitian", "positive definite"):
        a = _symmetric(a, lower)
    elif assume_a in ("upper triangular", "lower triangular"):
        a = np.triu(a) if assume_a.startswith("upper") else np.tril(a)
    elif assume_a not in (None, "gen", "general"):
        raise TraceError(f"scipy.linalg.solve(assume_a={assume_a!r}) is not supported on traced values. Use 'gen'.")
    return np.linalg.solve(a.mT if transposed else a, b)


def cholesky(a: Any, lower: bool = False) -> Array:
    """The triangular factor, upper by default as in SciPy."""
    return np.linalg.cholesky(_floats(a), upper=not lower)


def cho_factor(a: Any, lower: bool = False) -> tuple[Array, bool]:
    """The triangular factor for :func:`cho_solve`. Its other triangle is 0, while SciPy leaves any numbers there."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: Any) -> Array:
    """The solution of a system whose matrix has this Cholesky factor."""
    c, lower = c_and_lower
    first = solve_triangular(c, b, 0 if lower else 1, lower)
    return solve_triangular(c, first, 1 if lower else 0, lower)


def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,  # noqa: A002 - SciPy's name
    subset_by_index: Any = None,
) -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix, or of the problem :math:`a v = w b v`."""
    a = _floats(a)
    if type != 1:
        raise TraceError(f"scipy.linalg.eigh(type={type}) is not supported on traced values. Use type=1.")
    factor = None
    if b is not None:
        factor = np.linalg.cholesky(_symmetric(_floats(b), lower))
        half = solve_triangular(factor, _symmetric(a, lower), lower=True)
        a = solve_triangular(factor, half.mT, lower=True)
    w: Any
    v: Any
    w, v = np.linalg.eigh(a, UPLO="L" if lower or b is not None else "U")
    if factor is not None:
        v = solve_triangular(factor, v, 1, lower=True)
    if subset_by_index is not None:
        first, last = subset_by_index
        w, v = w[..., first : last + 1], v[..., first : last + 1]
    return w if eigvals_only else (w, v)


def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    type: int = 1,  # noqa: A002 - SciPy's name
    subset_by_index: Any = None,
) -> Any:
    """The eigenvalues of a symmetric matrix."""
    return eigh(a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular values and vectors."""
    matrix = _floats(a)
    if not compute_uv:
        return np.linalg.svd(matrix, compute_uv=False)
    return tuple(np.linalg.svd(matrix, full_matrices))


def qr(a: Any, *, mode: str = "full", pivoting: bool = False) -> Any:
    """An orthogonal factor and a triangular one."""
    if pivoting or mode not in ("full", "economic", "r"):
        raise TraceError("scipy.linalg.qr of traced values has no pivoting and no mode='raw'. Use mode='economic'.")
    a = _floats(a)
    m, n = a.shape[-2:]
    if mode == "r":
        r: Any = np.linalg.qr(a, "r")
        zeros = np.zeros((*a.shape[:-2], max(m - n, 0), n), dtype=a.dtype)
        return (np.concatenate([r, zeros], axis=-2) if m > n else r,)
    return tuple(np.linalg.qr(a, "complete" if mode == "full" else "reduced"))


def lstsq(a: Any, b: Any, cond: Any = None) -> Any:
    """The solution of least squares, its residuals, the rank and the singular values."""
    return np.linalg.lstsq(_floats(a), _floats(b), rcond=cond)


def pinv(a: Any, *, atol: Any = None, rtol: Any = None) -> Array:
    """The pseudoinverse, for matrices whose rank does not change nearby."""
    if atol:
        raise TraceError("scipy.linalg.pinv(..., atol=) is not supported on traced values. Use rtol=.")
    a = _floats(a)
    return np.linalg.pinv(a, rcond=max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rtol is None else rtol)


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:  # noqa: A002 - SciPy's name
    """The norm of a vector or matrix."""
    return np.linalg.norm(_floats(a), ord, axis, keepdims)


def block_diag(*arrs: Any) -> Array:
    """Matrices along the diagonal of a larger one."""
    blocks = [_floats(item) for item in arrs]
    blocks = [item if item.ndim == 2 else item.reshape((1, -1)) for item in blocks]
    width = sum(item.shape[1] for item in blocks)
    rows, before = [], 0
    for item in blocks:
        after = width - before - item.shape[1]
        rows.append(np.pad(item, ((0, 0), (before, after))))
        before += item.shape[1]
    return np.concatenate(rows, axis=0)


def toeplitz(c: Any, r: Any = None) -> Array:
    """The matrix with constant diagonals of which ``c`` is the first column and ``r`` the first row."""
    c = np.ravel(as_traced(c))
    r = c if r is None else np.ravel(as_traced(r))
    values = np.concatenate([c[::-1], r[1:]])
    rows, columns = np.arange(len(c)), np.arange(len(r))
    return values[len(c) - 1 - rows[:, None] + columns]


def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any) -> Array:
    """The solution of a system of which ``ab`` holds the diagonals, the highest first."""
    below, above = l_and_u
    ab, b = _floats(ab), _floats(b)
    if ab.ndim != 2 or ab.shape[0] != below + above + 1:
        raise ShapeError(f"ab has shape {ab.shape}; for l={below} and u={above} it needs {below + above + 1} rows.")
    n = ab.shape[1]
    i, j = np.indices((n, n))
    inside = (i - j <= below) & (j - i <= above)
    a = np.where(inside, ab[np.clip(above + i - j, 0, below + above), j], 0.0)
    return np.linalg.solve(a, b)


def solve_sylvester(a: Any, b: Any, q: Any) -> Array:
    """The solution of :math:`a x + x b = q`."""
    given = [_floats(item) for item in (a, b, q)]
    dtype = np.result_type(*[item.dtype for item in given])
    return PRIMITIVES["solve_sylvester"](*[item.astype(dtype) for item in given])


def solve_continuous_lyapunov(a: Any, q: Any) -> Array:
    """The solution of :math:`a x + x a^T = q`."""
    a = _floats(a)
    return solve_sylvester(a, a.mT, q)


def sqrtm(A: Any) -> Array:
    """The square root of a matrix, where it is real."""
    return PRIMITIVES["sqrtm"](_floats(A))


register(
    "scipy.linalg",
    {
        "block_diag": block_diag,
        "cho_factor": cho_factor,
        "cho_solve": cho_solve,
        "cholesky": cholesky,
        "det": lambda a: np.linalg.det(_floats(a)),
        "eigh": eigh,
        "eigvalsh": eigvalsh,
        "expm": lambda A: expm(_floats(A)),
        "inv": lambda a: np.linalg.inv(_floats(a)),
        "lstsq": lstsq,
        "norm": norm,
        "pinv": pinv,
        "qr": qr,
        "solve": solve,
        "solve_banded": solve_banded,
        "solve_continuous_lyapunov": solve_continuous_lyapunov,
        "solve_sylvester": solve_sylvester,
        "solve_triangular": lambda a, b, trans=0, lower=False, unit_diagonal=False: solve_triangular(
            _floats(a), _floats(b), trans, lower, unit_diagonal
        ),
        "sqrtm": sqrtm,
        "svd": svd,
        "svdvals": lambda a: np.linalg.svd(_floats(a), compute_uv=False),
        "toeplitz": toeplitz,
    },
)
