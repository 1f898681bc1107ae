"""Arrays larger than a block, a tile or a thread's share; and reductions over what is not a number."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from agreement import ISAS, assert_executors_agree, assert_same_bits, needs_core, run_native, run_reference
from madaline.graph.trace import trace

pytestmark = needs_core

each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])
INDEX = np.random.default_rng(5).integers(-401, 401, size=3000)

FORMULAS = {
    "chain": lambda x: np.tanh(x) * x + np.exp(-x * x),
    "chain over a transpose": lambda x: np.sin(x.T) + 1.0,
    "chain with a row and a column": lambda x: (x - x.mean(axis=0)) / (1.0 + x.std(axis=1, keepdims=True)),
    "comparison": lambda x: (x > 0.25) & (x < 1.0),
    "sum of all": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(axis=0),
    "sum of columns": lambda x: x.sum(axis=1),
    "sum of a transpose": lambda x: x.T.sum(axis=0),
    "sum of a slice": lambda x: x[::3, 1::2].sum(axis=1),
    "largest": lambda x: (x.max(axis=0), x.min(axis=1), x.max()),
    "logsumexp": lambda x: (md.functional.logsumexp(x, axis=0), md.functional.logsumexp(x, axis=1)),
    "argmax": lambda x: (x.argmax(axis=0), x.argmax(axis=1)),
    "argsort": lambda x: (np.argsort(x, axis=0), np.argsort(x, axis=1)),
    "cumulative sum": lambda x: (np.cumsum(x, axis=0), np.cumsum(x, axis=1)),
    "take rows": lambda x: np.take(x, INDEX, axis=0),
    "gradient of taking rows": md.grad(lambda x: np.sum(np.take(x, INDEX, axis=0) ** 2)),
    "concatenation": lambda x: np.concatenate([x, x[:, ::-1], 2.0 * x], axis=1),
    "reshape of a transpose": lambda x: x.T.reshape(-1, 3),
    "random": lambda x: x + md.random.uniform(md.random.key(3, 1), x.shape, dtype=x.dtype),
}


@each_dtype
@pytest.mark.parametrize("f", FORMULAS.values(), ids=FORMULAS.keys())
def test_large_arrays_agree_with_any_number_of_threads(f, dtype):
    x = np.random.default_rng(0).normal(size=(401, 603)).astype(dtype)
    assert_agree_with_any_number_of_threads(trace(f, x), [x])


def assert_agree_with_any_number_of_threads(graph, arguments, n_rows=0):
    assert_executors_agree(graph, arguments, n_rows)
    for isa in ISAS:
        alone = run_native(graph, arguments, n_rows, isa=isa, threads=1)
        for threads in (2, 3, 4):
            assert_same_bits(run_native(graph, arguments, n_rows, isa=isa, threads=threads), alone)


SHAPES = [(1, 1, 1), (1, 64, 64), (64, 1, 64), (64, 64, 1), (7, 5, 3), (100, 64, 64), (33, 17, 130), (256, 256, 256)]
SHAPES += [(2, 500, 3), (500, 2, 3), (3, 2, 500), (65, 63, 66), (129, 10, 784)]


@each_dtype
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_products_of_all_shapes_agree(m, n, k, dtype):
    """Each factor as it is and as a transpose, alone and with bias and activation."""
    rng = np.random.default_rng(m * n * k)
    A, B, b = (rng.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n), (n,)))

    def f(A, B, At, Bt, b):
        plain = [A @ B, At.T @ B, A @ Bt.T, At.T @ Bt.T, (Bt @ At).T]
        return (*plain, md.functional.relu(A @ B + b), np.tanh(A @ Bt.T + b) * 2.0)

    assert_agree_with_any_number_of_threads(trace(f, *(args := (A, B, A.T.copy(), B.T.copy(), b))), args)
    batch = trace(lambda A, B, b: (A @ B, md.functional.relu(A @ B + b), A.T @ A), A, B, b, rows=[0])
    assert_agree_with_any_number_of_threads(batch, (A, B, b), n_rows=m)


@each_dtype
def test_products_of_stacks_agree(dtype):
    rng = np.random.default_rng(1)
    x, W = rng.normal(size=(3, 4, 20, 7)).astype(dtype), rng.normal(size=(3, 4, 7, 9)).astype(dtype)

    def f(x, W):
        return x @ W, x.mT @ x, x.transpose(1, 0, 2, 3) @ W.transpose(1, 0, 2, 3)

    assert_executors_agree(trace(f, x, W), [x, W])


NOT_NUMBERS = np.array(
    [
        [1.0, np.nan, 2.0, np.nan],
        [np.inf, 1.0, np.inf, -1.0],
        [-np.inf, -np.inf, -np.inf, -np.inf],
        [np.inf, -np.inf, 0.0, 1.0],
        [0.0, -0.0, 0.0, -0.0],
        [3.0, 3.0, 3.0, 3.0],
    ]
)
REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "logsumexp": md.functional.logsumexp,
    "argmax": np.argmax,
    "argsort": np.argsort,
    "cumsum": np.cumsum,
}


@each_dtype
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("repeats", [1, 40])
def test_reductions_over_nan_and_infinity_are_numpys(name, axis, dtype, repeats):
    """The first of equals, NaN as the largest, infinities that cancel to NaN; in short rows and in long ones."""
    x = np.tile(NOT_NUMBERS, (1, repeats) if axis else (repeats, 1)).astype(dtype)
    graph = trace(lambda x: REDUCTIONS[name](x, axis=axis), x)
    (expected,) = run_reference(graph, [x])
    for isa in ISAS:
        (found,) = run_native(graph, [x], isa=isa)
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=isa)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argsort", "cumsum"])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_integers_are_exact(name, axis):
    x = np.random.default_rng(2).integers(-3, 4, size=(30, 40))
    x[3, 5] = 2**53 + 1
    assert_executors_agree(trace(lambda x: REDUCTIONS[name](x, axis=axis), x), [x])


@pytest.mark.parametrize("name", ["sum", "cumsum"])
def test_masks_are_counted(name):
    x = np.random.default_rng(2).normal(size=(50, 70)) > 0
    assert_executors_agree(trace(lambda x: REDUCTIONS[name](x, axis=0), x), [x])
