"""``np.fft`` on traced values. Spectra are :class:`~madaline.graph.complex_pair.ComplexPair`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array
from madaline.graph.complex_pair import ComplexPair, parts
from madaline.graph.node import as_node, is_float
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES

TRANSFORMS = {
    np.fft.fft,
    np.fft.ifft,
    np.fft.rfft,
    np.fft.irfft,
    np.fft.fft2,
    np.fft.ifft2,
    np.fft.fftn,
    np.fft.ifftn,
    np.fft.rfft2,
    np.fft.irfft2,
    np.fft.rfftn,
    np.fft.irfftn,
    np.fft.fftshift,
    np.fft.ifftshift,
}
"The functions that take traced complex numbers too."


def _pair(x: Any) -> ComplexPair:
    if isinstance(x, ComplexPair):
        return x
    real, imag = (as_node(part) for part in parts(x))
    shape: Any = real.shape
    real = real if is_float(real.dtype) else real.astype(np.float64)
    return ComplexPair(real, np.broadcast_to(imag.astype(real.dtype), shape))


def _sized(x: ComplexPair, n: int | None, axis: int) -> ComplexPair:
    """The pair with ``n`` entries along the axis, cut off or filled up with zeros."""
    size = x.shape[axis]
    if n is None or n == size:
        return x
    if n < size:
        return x.each(lambda part: np.moveaxis(np.moveaxis(part, axis, -1)[..., :n], -1, axis))
    widths = [(0, n - size if a == axis % x.ndim else 0) for a in range(x.ndim)]
    return x.each(lambda part: np.pad(part, widths))


def _transform(x: ComplexPair, sign: int, n: int | None, axis: int, norm: str | None) -> ComplexPair:
    x = _sized(x, n, axis)
    size = x.shape[axis]
    moved = np.stack([np.moveaxis(x.real, axis, -1), np.moveaxis(x.imag, axis, -1)], axis=-1)
    y = PRIMITIVES["dft"](moved, sign=sign)
    if norm not in (None, "backward", "forward", "ortho"):
        raise TraceError(f"norm={norm!r} is not known. Use 'backward', 'ortho' or 'forward'.")
    scaled = norm == "forward" if sign < 0 else norm in (None, "backward")
    scale = 1.0 / size if scaled else size**-0.5 if norm == "ortho" else 1.0
    y = y if scale == 1.0 else y * scale
    return ComplexPair(np.moveaxis(y[..., 0], -1, axis), np.moveaxis(y[..., 1], -1, axis))


@implements(np.fft.fft)
def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexPair:
    return _transform(_pair(a), -1, n, axis, norm)


@implements(np.fft.ifft)
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexPair:
    return _transform(_pair(a), 1, n, axis, norm)


@implements(np.fft.rfft)
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    whole = fft(a, n, axis, norm)
    size = whole.shape[axis]
    half = _sized(whole, size // 2 + 1, axis)
    # Exactly real, as NumPy gives them: rounding errors there would turn np.angle from pi to -pi.
    imag = np.moveaxis(half.imag, axis, -1)
    return ComplexPair(half.real, np.moveaxis(np.where(_has_imaginary(size), imag, 0.0), -1, axis))


def _has_imaginary(n: int) -> np.ndarray:
    """Which entries of the half spectrum of ``n`` numbers have imaginary parts: the first and the middle do not."""
    inner = np.arange(n // 2 + 1)
    return (inner > 0) & (2 * inner != n)


@implements(np.fft.irfft)
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The other half of the spectrum is the conjugate; imaginary parts where NumPy ignores them are ignored."""
    half = _pair(a)
    n = 2 * (half.shape[axis] - 1) if n is None else n
    half = _sized(half, n // 2 + 1, axis).each(lambda part: np.moveaxis(part, axis, -1))
    inner = slice(1, (n + 1) // 2)
    real = np.concatenate([half.real, np.flip(half.real[..., inner], -1)], axis=-1)
    imag = half.imag * _has_imaginary(n).astype(half.imag.dtype)
    imag = np.concatenate([imag, -np.flip(imag[..., inner], -1)], axis=-1)
    return np.moveaxis(_transform(ComplexPair(real, imag), 1, n, -1, norm).real, -1, axis)


def _sizes_and_axes(x: ComplexPair, s: Any, axes: Any) -> list[tuple[int | None, int]]:
    """The size, or None for that of the array, and the axis of each transform."""
    axes = tuple(range(x.ndim)) if axes is None and s is None else axes
    axes = tuple(range(-len(s), 0)) if axes is None else tuple(axes)
    return list(zip([None] * len(axes) if s is None else s, axes, strict=True))


def _over_axes(x: Any, s: Any, axes: Any, sign: int, norm: str | None) -> ComplexPair:
    pair = _pair(x)
    for size, axis in _sizes_and_axes(pair, s, axes):
        pair = _transform(pair, sign, size, axis, norm)
    return pair


@implements(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> ComplexPair:
    return _over_axes(a, s, axes, -1, norm)


@implements(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> ComplexPair:
    return _over_axes(a, s, axes, 1, norm)


@implements(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> ComplexPair:
    return _over_axes(a, s, axes, -1, norm)


@implements(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> ComplexPair:
    return _over_axes(a, s, axes, 1, norm)


@implements(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> ComplexPair:
    """The real transform over the last axis, then complex ones over the others."""
    pair = _pair(a)
    *others, (size, axis) = _sizes_and_axes(pair, s, axes)
    half = rfft(pair, size, axis, norm)
    for size, axis in others:
        half = fft(half, size, axis, norm)
    return half


@implements(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    pair = _pair(a)
    *others, (last_size, last) = _sizes_and_axes(pair, s, axes)
    for size, axis in others:
        pair = ifft(pair, size, axis, norm)
    return irfft(pair, last_size, last, norm)


@implements(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> ComplexPair:
    return rfftn(a, s, axes, norm)


@implements(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    return irfftn(a, s, axes, norm)


def _shifted(x: Array, axes: Sequence[int], inverse: bool) -> Array:
    axes = tuple(range(x.ndim)) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    shifts = [-(x.shape[axis] // 2) if inverse else x.shape[axis] // 2 for axis in axes]
    return np.roll(x, shifts, axes)


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Array:
    return _shifted(x, axes, inverse=False)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Array:
    return _shifted(x, axes, inverse=True)
