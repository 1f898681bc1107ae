"""The native machine, driven directly: matrix products against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from core_build import FLOATS, Build, static
from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


def matmul(core, a, b, *, a_base=None, b_base=None, bias=None, relu=False, threads=1, epilogue=None, dtype=None):
    dtype = a.dtype if dtype is None else dtype
    build = Build(core)
    build.program.shared_stage()
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (m, k), n = a.shape[-2:], b.shape[-1]
    c = np.zeros((*batch, m, n), dtype)
    operands = {
        "A": build.view(a if a_base is None else a_base, np.broadcast_to(a, (*batch, m, k))),
        "B": build.view(b if b_base is None else b_base, np.broadcast_to(b, (*batch, k, n))),
        "C": build.write(c),
    }
    more = {} if bias is None else {"bias": build.read(bias, (n,))}
    extra = None
    if epilogue is not None:  # z = c * c + 1
        z = np.zeros_like(c)
        z_operand = build.write(z)
        ops = build.ops(("square", 3, 0), ("add", 1, 3, 2))
        chain_operands = [(*operands["C"][:3], [n, 1]), z_operand]
        more["epilogue"] = (build.dtype(dtype), static((m, n)), chain_operands, [1.0], 1, ops)
        extra = z
    build.program.matmul(
        build.dtype(dtype), static(batch), (m, False), (n, False), (k, False), relu=relu, **operands, **more
    )
    build.run(threads=threads)
    return c if extra is None else (c, extra)


PRODUCTS = [
    (1, 1, 1),
    (5, 3, 4),
    (32, 32, 32),
    (1, 64, 20),
    (100, 2, 64),
    (7, 10, 0),
    (0, 3, 3),
    (300, 257, 129),
    (128, 600, 300),
]


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize(("m", "n", "k"), PRODUCTS)
def test_products_agree_with_numpy(core, m, n, k, dtype, rng):
    a, b, bias = (10 * rng.normal(size=s) for s in [(m, k), (k, n), (n,)])
    a, b, bias = a.astype(dtype), b.astype(dtype), bias.astype(dtype)
    tolerance = {"rtol": 1e-5, "atol": 5e-3} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-10}
    expected = a @ b
    got = [matmul(core, a, b, threads=t) for t in (1, 2, 3, 4)]
    np.testing.assert_allclose(got[0], expected, **tolerance)
    assert all(g.tobytes() == got[0].tobytes() for g in got)
    np.testing.assert_allclose(
        matmul(core, a, b, bias=bias, relu=True, threads=2), np.maximum(expected + bias, 0), **tolerance
    )
    at, bt = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    np.testing.assert_allclose(matmul(core, at.T, bt.T, a_base=at, b_base=bt), expected, **tolerance)
    for threads in (1, 3):
        c, z = matmul(core, a, b, bias=bias, epilogue=True, threads=threads)
        np.testing.assert_allclose(c, expected + bias, **tolerance)
        np.testing.assert_array_equal(z, c * c + 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_batches_of_products(core, threads, rng):
    a, b = rng.normal(size=(3, 1, 50, 40)), rng.normal(size=(1, 4, 40, 30))
    np.testing.assert_allclose(matmul(core, a, b, threads=threads), a @ b, rtol=1e-12, atol=1e-12)
