"""More axes than the native machine takes: a Jacobian of tensors by tensors has them soon."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
from agreement import assert_executors_agree, needs_core
from madaline.graph.trace import trace
from madaline.plan.collapse import MAX_DIMS, join

X = np.random.default_rng(0).normal(size=(2, 3, 1, 2, 2, 3, 2, 2))
BACK = (7, 5, 3, 1, 0, 2, 4, 6)
MANY_AXES = {
    "chain": np.exp,
    "chain with a transpose": lambda x: np.exp(x.transpose(BACK)) * 2.0,
    "chain with a broadcast": lambda x: x + x[:, :1, :, :1, :, :1, :, :1],
    "copy": lambda x: x.transpose(BACK),
    "reshape": lambda x: x.transpose(BACK).reshape(-1),
    "join": lambda x: np.concatenate([x, 2.0 * x], axis=5),
    "pad": lambda x: np.pad(x, 1),
    "sum of every other axis": lambda x: x.sum(axis=(0, 2, 4, 6)),
    "sum of a transpose": lambda x: x.transpose(BACK).sum(axis=(1, 3)),
    "max of one axis": lambda x: x.max(axis=3),
    "logsumexp of all": md.functional.logsumexp,
    "argmax": lambda x: x.argmax(axis=4),
    "product": lambda x: x @ x.mT,
    "product of transposes": lambda x: x.transpose(BACK) @ x.transpose(BACK).mT,
    "take": lambda x: np.take(x, np.array([1, 0, 1]), axis=5),
    "cumulative sum": lambda x: np.cumsum(x, axis=1),
    "flip": lambda x: np.flip(x, (0, 5)) * x,
}


@needs_core
@pytest.mark.parametrize("rows", [[], [0]], ids=["known", "batch"])
@pytest.mark.parametrize("f", MANY_AXES.values(), ids=MANY_AXES.keys())
def test_eight_axes_give_what_numpy_gives(f, rows):
    if rows and f in (MANY_AXES["reshape"], MANY_AXES["pad"]):
        pytest.skip("needs the number of rows")
    graph = trace(f, X, rows=rows)
    expected = assert_executors_agree(graph, [X], len(X))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(expected[0], np.asarray(md.compile(f, rows=rows)(X)), rtol=1e-12)


@needs_core
@pytest.mark.parametrize("rows", [[], [0]], ids=["known", "batch"])
def test_gradients_through_eight_axes(rows):
    f = md.value_and_grad(lambda x: np.sum(np.exp(x).max(axis=3) * np.tanh(x).sum(axis=3)))
    assert_executors_agree(trace(f, X, rows=rows), [X], len(X))


def test_the_jacobian_of_a_tensor_by_a_tensor():
    W = np.random.default_rng(1).normal(size=(2, 3, 2, 2))
    jacobian = md.jacobian(lambda W: np.sin(W) * 2.0)(W)
    assert jacobian.shape == W.shape * 2
    np.testing.assert_allclose(jacobian.reshape(24, 24), np.diag(2.0 * np.cos(W).ravel()), atol=1e-14)


sizes = st.lists(st.integers(1, 3), max_size=5)


@given(sizes, st.randoms(use_true_random=False))
def test_joined_axes_visit_the_same_elements_in_the_same_order(shape, random):
    """Two operands: one stored in some order of its axes, one that repeats some."""
    order = random.sample(range(len(shape)), len(shape))
    stored = np.zeros([shape[axis] for axis in order]).transpose(np.argsort(order))
    repeated = np.broadcast_to(np.zeros([size if random.random() < 0.5 else 1 for size in shape]), shape)
    strides = [tuple(step // 8 for step in array.strides) for array in (stored, repeated)]
    dims, joined = join([(size, False) for size in shape], strides)
    assert len(dims) <= len(shape)
    for before, after in zip(strides, joined, strict=True):
        assert offsets(shape, before) == offsets([size for size, _ in dims], after)


def offsets(shape, strides):
    return [int(np.dot(index, strides)) if strides else 0 for index in np.ndindex(*shape)]


def test_the_batch_axis_is_joined_with_nothing():
    assert join([(1, True), (4, False)], [(4, 1)]) == (((1, True), (4, False)), [(4, 1)])


@needs_core
def test_the_limit_is_that_of_the_native_core():
    """One dim less works in one instruction, one more is refused by the core itself."""
    from madaline.kernels import core

    module = core.load(core.cpu_isas()[-1])
    for count in (MAX_DIMS, MAX_DIMS + 1):
        program = module.Program(0, 0, 0, 0)
        x = program.buffer(module.SPACES["input"], module.DTYPES["float64"], 0)
        y = program.buffer(module.SPACES["output"], module.DTYPES["float64"], 0)
        program.shared_stage()
        strides = tuple(2**axis for axis in reversed(range(count)))
        chain = (module.DTYPES["float64"], [(2, False)] * count, [(x, 0, 0, strides), (y, 0, 0, strides)], [], 0)
        if count == MAX_DIMS:
            program.elementwise(*chain, [(module.OPCODES["copy"], 1, 0, -1, -1)])
        else:
            with pytest.raises(ValueError, match="more than 6 dims"):
                program.elementwise(*chain, [(module.OPCODES["copy"], 1, 0, -1, -1)])
