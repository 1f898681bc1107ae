"""The discrete Fourier transform, by NumPy between native programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.arrays import Array
from madaline.graph.primitive import PRIMITIVES, Primitive, Sample, elements
from madaline.graph.shapes import Rows, Shape, show


class Dft(Primitive):
    r""":math:`y_k = \sum_j x_j e^{\pm 2\pi i jk/n}` along the second-to-last axis; the last has real and imaginary
    part.

    Parameter: ``sign``, -1 for the forward transform and 1 for the backward one, neither of them scaled. As a map of
    real numbers each is the transpose of the other.
    """

    name = "dft"
    linear = True
    library = True

    def shape(self, x: Shape, *, sign: int) -> Shape:
        if len(x) < 2 or x[-1] != 2 or x[-2] == 0 or sign not in (-1, 1):
            raise ShapeError(f"dft needs shape (..., n, 2) with n > 0 and sign 1 or -1; got {show(x)} and {sign}.")
        return x

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        if dtypes[0].kind != "f":
            raise DtypeError(f"dft takes floats, not {dtypes[0]}.")
        return dtypes[0]

    def value(self, x: Any, *, sign: int) -> Any:
        values = x[..., 0] + 1j * x[..., 1]
        y = np.fft.fft(values, axis=-1) if sign < 0 else np.fft.ifft(values, axis=-1, norm="forward")
        return np.stack([y.real, y.imag], axis=-1).astype(x.dtype)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, sign: int) -> tuple[Array]:
        return (PRIMITIVES["dft"](y_bar.astype(x.dtype), sign=-sign),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 2)),), {"sign": -1}
        yield (rng.normal(size=(3, 4, 2)),), {"sign": 1}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return 5 * elements(shape)

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shape[-2], Rows)
