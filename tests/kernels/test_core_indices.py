"""The native machine, driven directly: gathering, scattering and cumulative sums against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from core_build import FLOATS, Build, static
from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


def gather(core, name, src, indices, dst, size, *, n_rows=1, threads=1, **more):
    """src, indices and dst as three, two and three axes."""
    b = Build(core)
    b.program.shared_stage()
    outer, count = indices.shape
    inner = dst.shape[2]
    operands = {"src": b.read(src), "indices": b.read(indices), "dst": b.write(dst)}
    getattr(b.program, name)(
        b.dtype(dst.dtype), (outer, False), (count, False), (inner, False), (size, False), **operands, **more
    )
    return b.run(n_rows, threads)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "bool"])
@pytest.mark.parametrize(("outer", "count", "inner"), [(1, 7, 5), (6, 1, 1), (3, 4, 2), (1, 0, 3), (1, 3000, 40)])
def test_take_and_scatter_add_agree_with_numpy(core, outer, count, inner, dtype, rng):
    size = 11
    src = (10 * rng.normal(size=(outer, size, inner))).astype(dtype)
    indices = rng.integers(-size, size, (outer, count))
    expected = np.stack([src[o, indices[o]] for o in range(outer)])
    for threads in (1, 2):
        got = gather(core, "take", src, indices, np.zeros((outer, count, inner), dtype), size, threads=threads)
        np.testing.assert_array_equal(got, expected)
    if dtype != "bool":
        scattered = np.zeros((outer, size, inner), dtype)
        for o in range(outer):
            np.add.at(scattered[o], indices[o], expected[o])
        got = gather(core, "scatter_add", expected, indices, np.ones((outer, size, inner), dtype), size)
        np.testing.assert_array_equal(got, scattered)


@pytest.mark.parametrize("bad", [5, -6, 1 << 40])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_index_out_of_range_names_the_instruction(core, bad, threads):
    src, indices = np.zeros((1, 5, 40000)), np.array([[1, bad, 2]])
    with pytest.raises(IndexError, match=rf"Instruction 0, take: index {bad} is out of range for an axis of size 5\."):
        gather(core, "take", src, indices, np.zeros((1, 3, 40000)), 5, threads=threads)
    with pytest.raises(IndexError, match="Instruction 0, scatter_add"):
        gather(core, "scatter_add", np.zeros((1, 3, 1)), indices, np.zeros((1, 5, 1)), 5)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(1, 9, 1), (3, 5, 4), (2, 0, 3), (1, 1, 1)])
def test_cumsum_agrees_with_numpy(core, shape, reverse, dtype, rng):
    x = (10 * rng.normal(size=shape)).astype(dtype)
    y = np.zeros(shape, dtype)
    b = Build(core)
    b.program.shared_stage()
    b.program.cumsum(b.dtype(dtype), *static(shape), b.read(x), b.write(y), reverse=reverse)
    expected = np.cumsum(x[:, ::-1], axis=1, dtype=dtype)[:, ::-1] if reverse else np.cumsum(x, axis=1, dtype=dtype)
    np.testing.assert_array_equal(b.run(), expected)
