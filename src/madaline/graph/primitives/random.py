"""Counter-based random numbers: Philox 4x32-10 (Salmon et al. 2011). Kernel: ``native/kernels/random.h``.

A value depends only on (seed, step, stream, row, unit): not on the order of evaluation, the tile or the thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.arrays import Array
from madaline.graph.node import graph_dtype
from madaline.graph.primitive import Primitive, Sample
from madaline.graph.shapes import Rows, Shape, show

_MULTIPLIER = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)


class RandomUniform(Primitive):
    """Uniform numbers in (0, 1), both ends excluded, from a ``key`` of two integers: seed and step.

    Parameters: ``shape``, ``stream`` (an integer that keeps the uses of one seed apart), ``to`` (the type), ``rows``
    (each index of the first axis has its own counter). No derivative: the numbers count as constants.
    """

    name = "random_uniform"

    def shape(self, key: Shape, *, shape: Shape, stream: int, to: str, rows: bool) -> Shape:
        if key != (2,) or not 0 <= stream < 2**32 or (rows and not shape):
            raise ShapeError(f"A key of shape {show(key)}, stream={stream}, rows={rows} give no {show(shape)} numbers.")
        return shape

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        if dtypes[0].kind != "i" or params["to"] not in ("float32", "float64"):
            raise DtypeError(f"A key of {dtypes[0]} cannot give {params['to']}: integers give float32 or float64.")
        return graph_dtype(params["to"])

    def value(self, key: Any, *, shape: tuple[int, ...], stream: int, to: str, rows: bool) -> Any:
        n_rows = shape[0] if rows else 1
        n_units = int(np.prod(shape[1:] if rows else shape, dtype=np.int64))
        return uniform_rows(key, np.arange(n_rows), n_units, stream=stream, to=to).reshape(shape)

    def vjp(self, key: Array, y: Array, y_bar: Array, **params: Any) -> tuple[None]:
        return (None,)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for to in ("float32", "float64"):
            yield (np.array([12345678901, 7]),), {"shape": (5, 3), "stream": 3, "to": to, "rows": True}
            yield (np.array([-1, 2**40]),), {"shape": (3, 3), "stream": 0, "to": to, "rows": False}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return params["rows"] is True and isinstance(shape[0], Rows)


def uniform_rows(key: Any, rows: np.ndarray, n_units: int, *, stream: int, to: str) -> np.ndarray:
    """The numbers of some rows, one row for each row index in ``rows``."""
    seed, step = (int(word) & 0xFFFFFFFFFFFFFFFF for word in key)
    row, unit = rows.astype(np.uint64)[:, None], np.arange(n_units, dtype=np.uint64)[None, :]
    per_block = 4 if to == "float32" else 2
    words = philox(
        (unit // np.uint64(per_block), row, np.uint64(step & 0xFFFFFFFF), np.uint64(stream & 0xFFFFFFFF)),
        (seed & 0xFFFFFFFF, seed >> 32),
    )
    lane = (unit % np.uint64(per_block)).astype(np.int64) + np.zeros(row.shape, dtype=np.int64)
    if to == "float32":
        word = np.choose(lane, words)
        return ((word >> np.uint64(9)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23)
    high, low = np.choose(lane, words[0::2]), np.choose(lane, words[1::2])
    bits = (high << np.uint64(20)) | (low >> np.uint64(12))
    return (bits.astype(np.float64) + 0.5) * 2.0**-52


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[int, int]) -> tuple[Any, Any, Any, Any]:
    """Ten rounds of Philox 4x32 on uint64 arrays that hold 32-bit words. Salmon et al. 2011, section 3."""
    c0, c1, c2, c3 = np.broadcast_arrays(*counter)
    k0, k1 = key
    for _ in range(10):
        first, second = c0 * _MULTIPLIER[0], c2 * _MULTIPLIER[1]
        c0, c1, c2, c3 = (
            (second >> _WORD) ^ c1 ^ np.uint64(k0),
            second & _LOW,
            (first >> _WORD) ^ c3 ^ np.uint64(k1),
            first & _LOW,
        )
        k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3
