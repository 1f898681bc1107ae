"""Gradient descent on one row: where it is one instruction, and that it does what the formula says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import madaline as md
from agreement import ISAS, assert_same_bits, needs_core
from madaline.graph.trace import trace
from madaline.kernels import core, native, reference
from madaline.kernels.execute import Executable
from madaline.plan.instructions.class_loss import SoftmaxCrossEntropy
from madaline.plan.instructions.rank_one import RankOneStep


def descent(widths, dtype=np.float64, *, bias=True, momentum=0.0):
    """A step of plain gradient descent on the squared error of a net of rectifiers, its parameters in one vector."""
    shapes = [shape for n, m in pairwise(widths) for shape in ((n, m), (m,))[: 1 + bias]]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])

    def loss(w, x, y):
        parts = [w[start:stop].reshape(shape) for (start, stop), shape in zip(pairwise(ends), shapes, strict=True)]
        for k in range(0, len(parts), 1 + bias):
            x = x @ parts[k] + (parts[k + 1] if bias else 0.0)
            x = np.maximum(x, 0.0) if k + 1 + bias < len(parts) else x
        return np.mean(np.sum((x - y) ** 2, axis=1))

    def step(w, x, y, rate):
        value, slope = md.value_and_grad(loss)(w, x, y)
        return w - rate * (slope + momentum * w if momentum else slope), value

    rng = np.random.default_rng(sum(widths))
    w, x, y = (rng.normal(size=shape).astype(dtype) for shape in (ends[-1], (1, widths[0]), (1, widths[-1])))
    return trace(step, w, x, y, np.asarray(0.1, dtype), rows=[1, 2]), (w, x, y, np.asarray(0.1, dtype))


def one_row(graph):
    """The program for one row, in which the new parameters take the place of the old ones."""
    return Executable(graph, donated={0: 0}).bound(1)[0]


def steps_in(graph):
    return [step for step in one_row(graph).instructions if isinstance(step, RankOneStep)]


def run(graph, arguments, isa, threads=1):
    """The new parameters and the loss, written over the old parameters."""
    w, *rest = (np.array(argument) for argument in arguments)
    value = np.zeros((), w.dtype)
    native.compiled(one_row(graph), core.load(isa)).program.run([w, *rest], [w, value], 1, threads)
    return [w, value]


WIDTHS = [(1, 1), (1, 3, 1), (3, 2), (5, 7, 2), (20, 64, 64, 2), (9, 8, 17, 33), (4, 300, 3)]


@needs_core
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("widths", WIDTHS)
def test_the_step_is_that_of_the_formula(widths, bias, dtype, isa):
    graph, arguments = descent(widths, dtype, bias=bias)
    assert len(steps_in(graph)) == 1
    expected = descent(widths, np.float64, bias=bias)[0]
    exact = reference.run(Executable(expected).program(2), [a.astype(np.float64) for a in arguments], 1)
    scale = np.abs(exact[0]).max()
    tolerance = (2e-5 if dtype == np.float32 else 1e-13) * scale
    for found in (run(graph, arguments, isa), reference.run(one_row(graph), list(arguments), 1)):
        np.testing.assert_allclose(found[0], exact[0], rtol=0, atol=tolerance)
        np.testing.assert_allclose(found[1], exact[1], rtol=1e-4 if dtype == np.float32 else 1e-12)


@needs_core
@pytest.mark.parametrize("isa", ISAS)
def test_it_has_the_bits_of_the_step_that_stores_the_gradient(isa):
    graph, arguments = descent((20, 64, 64, 2), np.float32)
    program = Executable(graph).program(2)
    assert not any(isinstance(step, RankOneStep) for step in program.instructions)
    stored = native.run(program, list(arguments), 1, core=core.load(isa))
    assert_same_bits(run(graph, arguments, isa), stored)


@needs_core
def test_threads_change_no_bit():
    graph, arguments = descent((300, 500, 40), np.float32)
    alone = run(graph, arguments, ISAS[-1])
    for threads in (2, 3, 4):
        assert_same_bits(run(graph, arguments, ISAS[-1], threads), alone)


@needs_core
def test_what_is_not_finite_stays_where_it_belongs():
    graph, (w, x, y, rate) = descent((5, 7, 2), np.float32)
    y[0, 1] = np.inf  # the other output goes on learning
    stored = native.run(Executable(graph).program(2), [w, x, y, rate], 1, core=core.load(ISAS[-1]))
    assert 0 < np.isfinite(stored[0]).sum() < len(w)
    for found in (run(graph, (w, x, y, rate), ISAS[-1]), reference.run(one_row(graph), [w, x, y, rate], 1)):
        assert not np.isfinite(found[1])
        np.testing.assert_array_equal(np.isfinite(found[0]), np.isfinite(stored[0]))


def test_a_step_with_more_than_the_gradient_is_left_as_it_is():
    assert steps_in(descent((5, 7, 2), momentum=0.5)[0]) == []


def test_many_rows_have_another_program():
    executable = Executable(descent((5, 7, 2))[0], donated={0: 0})
    assert executable.program(2) is executable.program(3)
    assert executable.program(1) is not executable.program(2)


@needs_core
@pytest.mark.parametrize("optimizer", ["sgd", "adam", md.SGD(0.01, momentum=0.9)])
@pytest.mark.parametrize("rows", [1, 7])
def test_training_row_by_row_follows_the_formula(optimizer, rows, monkeypatch):
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 4)), rng.integers(3, size=rows)

    def losses(executor):
        monkeypatch.setenv("MADALINE_EXECUTOR", executor)
        trainer = md.Trainer(md.mlp(6, 5, 3), loss="cross_entropy", optimizer=optimizer, dtype="float64", seed=3)
        history = trainer.fit(X, y, epochs=4, batch_size=1, progress=False)
        return np.append(history["loss"], trainer.model.params.flat)

    np.testing.assert_allclose(losses("native"), losses("reference"), rtol=1e-10, atol=1e-12)


def test_the_loss_of_one_row_is_one_instruction_too():
    def step(w, x, y, rate):
        value, slope = md.value_and_grad(lambda w: md.CrossEntropy()(x @ w.reshape(4, 3), y))(w)
        return w - rate * slope, value

    graph = trace(step, np.ones(12), np.ones((1, 4)), np.array([2]), np.asarray(0.5), rows=[1, 2])
    kinds = [type(instruction) for instruction in one_row(graph).instructions]
    assert kinds.count(SoftmaxCrossEntropy) == kinds.count(RankOneStep) == 1


def test_the_listing_says_what_it_is_made_of():
    assert "2 outer products, 2 vectors" in one_row(descent((5, 7, 2))[0]).describe()
