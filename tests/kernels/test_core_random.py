"""The native machine, driven directly: random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from core_build import FLOATS, Build
from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


def philox(counter, key):
    """Philox4x32-10 as in Salmon et al. (2011): counter (..., 4) and key (2,) of 32-bit words."""
    x = [counter[..., i].astype(np.uint64) for i in range(4)]
    k = [int(word) for word in key]
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [
            (p1 >> np.uint64(32)) ^ x[1] ^ np.uint64(k[0]),
            p1 & mask,
            (p0 >> np.uint64(32)) ^ x[3] ^ np.uint64(k[1]),
            p0 & mask,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, axis=-1)


def test_philox_reference_gives_the_published_vectors():
    """Known answers of the authors' Random123 library."""
    np.testing.assert_array_equal(
        philox(np.zeros(4, np.uint32), (0, 0)), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    )
    ones = 0xFFFFFFFF
    np.testing.assert_array_equal(
        philox(np.full(4, ones), (ones, ones)), [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    )


def uniform(n_rows, units, dtype, *, seed, step, stream):
    per = 4 if dtype == "float32" else 2
    counts = -(-units // per)
    counter = np.zeros((n_rows, counts, 4), np.uint64)
    counter[..., 0] = np.arange(counts)
    counter[..., 1] = np.arange(n_rows)[:, None]
    counter[..., 2] = step & 0xFFFFFFFF
    counter[..., 3] = stream
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF))
    if dtype == "float32":
        values = ((words >> np.uint64(9)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23)
    else:
        pairs = words.reshape(n_rows, counts, 2, 2)
        values = (
            (((pairs[..., 0] << np.uint64(32)) | pairs[..., 1]) >> np.uint64(12)).astype(np.float64) + 0.5
        ) * 2.0**-52
    return values.reshape(n_rows, -1)[:, :units]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("n_rows", "units"), [(1, 1), (5, 7), (70, 33), (3, 1000), (400, 256)])
def test_random_numbers_depend_on_seed_step_stream_row_and_unit_alone(core, n_rows, units, dtype):
    seed, step, stream = -(1 << 40) - 12345, (1 << 33) + 7, 0xDEADBEEF
    expected = uniform(n_rows, units, dtype, seed=seed & (1 << 64) - 1, step=step, stream=stream)
    key = np.array([seed, step])
    for dims, strides in (([(1, True), (units, False)], [units, 1]), ([(units, True)], [1])):
        for stage in (None, (1, 1, 8), (16, 32, 4)):
            for threads in (1, 2):
                b = Build(core)
                y = np.zeros((n_rows, units), dtype)
                if stage is None:
                    b.program.shared_stage()
                else:
                    b.program.rows_stage(*stage)
                out = b.argument(y, "output")
                b.program.random(b.dtype(dtype), dims, (out, 0, units if stage else 0, strides), b.read(key), stream)
                b.run(n_rows, threads)
                np.testing.assert_array_equal(y, expected)
    b = Build(core)
    y = np.zeros((units, 2), dtype)
    b.program.shared_stage()
    b.program.random(b.dtype(dtype), [(units, False)], (b.argument(y, "output"), 1, 0, [2]), b.read(key), stream)
    np.testing.assert_array_equal(b.run()[:, 1], expected[0])
    assert ((y[:, 1] > 0) & (y[:, 1] < 1)).all()
