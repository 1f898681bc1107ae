"""The native machine, driven directly: reductions against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from core_build import FLOATS, Build, static
from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "argmax": np.argmax,
    "logsumexp": lambda x, axis: special.logsumexp(x, axis=axis),
}  # fmt: skip


def reduce(core, op, x, axes, *, view=None, threads=1, dtype=None):
    dtype = x.dtype if dtype is None else dtype
    v = x if view is None else view
    keep = [d for d in range(v.ndim) if d not in axes]
    b = Build(core)
    b.program.shared_stage()
    y = np.zeros([v.shape[d] for d in keep], "int64" if op == "argmax" else dtype)
    src = b.view(x, v.transpose(*keep, *axes))
    b.program.reduce(
        core.REDUCTIONS[op],
        b.dtype(dtype),
        static([v.shape[d] for d in keep]),
        static([v.shape[d] for d in axes]),
        src,
        b.write(y),
    )
    return b.run(threads=threads)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((7,), (0,)), ((1,), (0,)), ((1000,), (0,)), ((33, 10), (1,)), ((33, 10), (0,)), ((130, 2), (1,)),
     ((3, 300), (1,)), ((300, 70), (0,)),
     ((300, 70), (0, 1)), ((5, 6, 7), (1,)), ((5, 6, 7), (0, 2)), ((5, 6, 7), (2, 0)), ((4, 5, 3, 2), (1, 3)),
     ((1, 9), (0,)), ((70000,), (0,)), ((70000, 3), (0,))],
    ids=str,
)  # fmt: skip
def test_reductions_agree_with_numpy(core, op, shape, axes, dtype, rng):
    if op == "logsumexp" and dtype == "int64":
        pytest.skip("floats only")
    x = (rng.normal(size=shape) if dtype != "int64" else rng.integers(-50, 50, shape)).astype(dtype)
    if op == "prod" and dtype != "int64":
        x = np.exp(0.01 * x).astype(dtype)
    if op == "argmax" and len(axes) > 1:
        keep = [d for d in range(x.ndim) if d not in axes]
        expected = np.argmax(x.transpose(*keep, *axes).reshape(*[x.shape[d] for d in keep], -1), axis=-1)
    else:
        expected = REDUCTIONS[op](
            x.astype("float64") if dtype == "float32" else x, axis=axes[0] if op == "argmax" else axes
        )
    results = [reduce(core, op, x, axes, threads=threads) for threads in (1, 2, 3)]
    if dtype == "int64" or op in {"max", "min", "argmax"}:
        np.testing.assert_array_equal(results[0], expected)
    else:
        eps = np.finfo(dtype).eps
        n = math.prod(shape[d] for d in axes)
        rtol = (4 + n * 0.5 * (op == "prod")) * eps
        # float32 sums are held to the error of short blocks; float64 ones are as inexact as NumPy's.
        atol = (4 if dtype == "float32" else 64) * eps * (math.sqrt(n) if op == "sum" else 1)
        np.testing.assert_allclose(results[0], expected, rtol=rtol, atol=atol)
    assert all(r.tobytes() == results[0].tobytes() for r in results)


@pytest.mark.parametrize("op", ["sum", "max", "argmax", "logsumexp"])
def test_reductions_take_any_strides(core, op, rng):
    base = rng.normal(size=(40, 60)).astype("float32")
    for view in (base.T, base[::-1, ::-1], base[::2, ::3], base.reshape(40, 6, 10).transpose(2, 0, 1)):
        for axis in range(view.ndim):
            expected = REDUCTIONS[op](view.astype("float64"), axis=axis)
            np.testing.assert_allclose(reduce(core, op, base, (axis,), view=view), expected, rtol=1e-5, atol=1e-5)


def test_long_float32_sums_are_accurate(core):
    """A plain loop in float32 is off by percents here."""
    x = np.full(3_000_000, 0.1, np.float32)
    exact = float(np.float32(0.1)) * x.size
    assert reduce(core, "sum", x, (0,)) == pytest.approx(exact, rel=1e-6)
    np.testing.assert_allclose(reduce(core, "sum", x.reshape(-1, 3), (0,)), exact / 3, rtol=1e-6)
    np.testing.assert_allclose(reduce(core, "sum", x.reshape(3, -1), (1,)), exact / 3, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 3, 9, 40, 600])
def test_reductions_treat_nan_and_infinity_as_numpy(core, n, dtype):
    for special_values in ([np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [-np.inf, np.nan, np.inf]):
        rows = [np.full(n, -np.inf), np.zeros(n), np.linspace(-3, 3, n)]
        for where in {0, n // 2, n - 1}:
            row = np.linspace(-3, 3, n)
            for k, value in enumerate(special_values):
                row[(where + k) % n] = value
            rows.append(row)
        x = np.array(rows, dtype)
        for op in ("max", "min", "argmax", "logsumexp", "sum"):
            with np.errstate(all="ignore"):
                expected = np.array(
                    [np.max(r) if op == "logsumexp" and np.isinf(np.max(r)) else REDUCTIONS[op](r, 0) for r in x]
                )
            for got in (reduce(core, op, x, (1,)), reduce(core, op, np.ascontiguousarray(x.T), (0,))):
                np.testing.assert_allclose(
                    got, expected, rtol=4 * np.finfo(dtype).eps, atol=n * np.finfo(dtype).eps, err_msg=op
                )


def test_empty_reductions_give_the_identity(core):
    for op, identity in {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf, "logsumexp": -np.inf}.items():
        with np.errstate(all="ignore"):
            assert (reduce(core, op, np.zeros((3, 0)), (1,)) == identity).all()
            assert (reduce(core, op, np.zeros((0, 3)), (0,)) == identity).all()
    assert reduce(core, "max", np.array([[True, False], [False, False]]), (1,)).tolist() == [True, False]
    assert reduce(core, "min", np.zeros((1, 0), bool), (1,)).tolist() == [True]
