"""``scipy.signal`` and ``scipy.ndimage`` on traced values: convolutions and filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array
from madaline.graph.numpy_api.linalg import solve_triangular
from madaline.graph.object_arrays import as_traced
from madaline.graph.scipy_api.fft import along
from madaline.graph.scipy_api.linalg import toeplitz
from madaline.graph.scipy_api.replacement import is_traced, register

Pair = tuple[Any, Any]


def _full(x: Any, kernel: Any) -> Array:
    """The convolution of arrays with as many axes, of all positions at which they overlap."""
    widths = [(size - 1, size - 1) for size in kernel.shape]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, widths), kernel.shape)
    flipped = np.flip(kernel)
    axes = tuple(range(kernel.ndim))
    return np.tensordot(windows, flipped, axes=(tuple(axis + kernel.ndim for axis in axes), axes))


def _cut(y: Array, first: tuple[int, ...], second: tuple[int, ...], mode: str, late: bool = False) -> Array:
    """The part of a full convolution that a mode gives; ``late`` is where ``correlate2d`` has the middle."""
    if mode == "full":
        return y
    if mode == "same":
        starts = [(k if late else k - 1) // 2 for k in second]
        return y[tuple(slice(start, start + size) for start, size in zip(starts, first, strict=True))]
    if mode != "valid":
        raise ValueError(f"mode={mode!r} must be 'full', 'same' or 'valid'.")
    larger = all(a >= b for a, b in zip(first, second, strict=True))
    if not larger and not all(a <= b for a, b in zip(first, second, strict=True)):
        raise ShapeError(f"mode='valid': one of the shapes {first} and {second} must contain the other.")
    small, large = (second, first) if larger else (first, second)
    return y[tuple(slice(k - 1, n) for k, n in zip(small, large, strict=True))]


def _both(in1: Any, in2: Any) -> Pair:
    x, kernel = as_traced(in1), as_traced(in2)
    x = np.asarray(x) if not is_traced(x) else x
    kernel = np.asarray(kernel) if not is_traced(kernel) else kernel
    if x.ndim != kernel.ndim:
        raise ShapeError(f"in1 has {x.ndim} axes and in2 {kernel.ndim}; they must have the same number.")
    return x, kernel


def convolve(in1: Any, in2: Any, mode: str = "full") -> Array:
    """The convolution of two arrays."""
    x, kernel = _both(in1, in2)
    return _cut(_full(x, kernel), x.shape, kernel.shape, mode)


def correlate(in1: Any, in2: Any, mode: str = "full") -> Array:
    """The correlation of two arrays: the convolution with the second one reversed."""
    x, kernel = _both(in1, in2)
    return _cut(_full(x, np.flip(kernel)), x.shape, kernel.shape, mode)


def _fills_with_zeros(name: str, boundary: str, fillvalue: Any) -> None:
    if boundary != "fill" or fillvalue:
        raise TraceError(
            f"scipy.signal.{name}(boundary={boundary!r}) of traced values: pad with np.pad before instead."
        )


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """The convolution of two matrices."""
    _fills_with_zeros("convolve2d", boundary, fillvalue)
    return convolve(in1, in2, mode)


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """The correlation of two matrices. The middle of an even kernel is where SciPy has it, unlike :func:`correlate`."""
    _fills_with_zeros("correlate2d", boundary, fillvalue)
    x, kernel = _both(in1, in2)
    return _cut(_full(x, np.flip(kernel)), x.shape, kernel.shape, mode, late=True)


def lfilter(b: Any, a: Any, x: Any, axis: int = -1) -> Array:
    """A recursive filter: the solution of a triangular system with the coefficients on its diagonals."""
    b, a, x = (item if is_traced(item) else np.asarray(item, dtype=float) for item in map(as_traced, (b, a, x)))
    n = x.shape[axis]
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape((-1, n)).T
    right = _band(np.atleast_1d(b), n) @ rows
    found: Any = solve_triangular(_band(np.atleast_1d(a), n), right, lower=True)
    return np.moveaxis(found.T.reshape(moved.shape), -1, axis)


def _band(coefficients: Any, n: int) -> Array:
    """The lower triangular matrix with the coefficients on its diagonals."""
    padded = np.pad(coefficients, (0, max(n - coefficients.shape[0], 0)))[:n]
    return toeplitz(padded, np.zeros(n))


def _matrix_filter(module: str, name: str) -> Callable[..., Any]:
    """A linear filter along an axis: the product with its matrix, which SciPy computes."""

    def filtered(x: Any, *args: Any, axis: int = -1, **options: Any) -> Array:
        import importlib

        if is_traced(args) or is_traced(tuple(options.values())):
            raise TraceError(f"{module}.{name} is differentiable only in its first argument; the others must be plain.")
        x = as_traced(x)
        of_arrays = getattr(importlib.import_module(module), name)
        matrix = of_arrays(np.eye(x.shape[axis], dtype=x.dtype), *args, axis=-1, **options)
        return along(x, matrix, axis)

    return filtered


register(
    "scipy.signal",
    {
        "convolve": convolve,
        "convolve2d": convolve2d,
        "correlate": correlate,
        "correlate2d": correlate2d,
        "detrend": _matrix_filter("scipy.signal", "detrend"),
        "fftconvolve": convolve,
        "filtfilt": lambda b, a, x, axis=-1, **options: _matrix_of_coefficients("filtfilt", b, a, x, axis, options),
        "lfilter": lfilter,
        "oaconvolve": convolve,
        "savgol_filter": _matrix_filter("scipy.signal", "savgol_filter"),
    },
)
register("scipy.ndimage", {"gaussian_filter1d": _matrix_filter("scipy.ndimage", "gaussian_filter1d")})


def _matrix_of_coefficients(name: str, b: Any, a: Any, x: Any, axis: int, options: dict[str, Any]) -> Array:
    """A filter whose coefficients come before the signal."""
    import scipy.signal

    if is_traced((b, a)):
        raise TraceError(f"scipy.signal.{name} is differentiable only in the signal; the coefficients must be plain.")
    x = as_traced(x)
    matrix = getattr(scipy.signal, name)(b, a, np.eye(x.shape[axis]), axis=-1, **options)
    return along(x, matrix.astype(x.dtype), axis)
