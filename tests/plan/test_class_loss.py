"""Cross-entropy with its slope as one instruction: where it is used, and that it computes what the formula says."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from agreement import ISAS, assert_same_bits, needs_core, run_native, run_reference
from madaline.graph.trace import trace
from madaline.plan.instructions.class_loss import MOST_CLASSES, SoftmaxCrossEntropy
from madaline.plan.planner import plan

ROWS = md.CrossEntropy().rows


def weighted(z, k, g):
    return md.value_and_grad(lambda z: np.sum(ROWS(z, k) * g))(z)


def problem(rows, classes, dtype=np.float64):
    rng = np.random.default_rng(rows * 100 + classes)
    z = (rng.normal(size=(rows, classes)) * 3).astype(dtype)
    return z, rng.integers(-classes, classes, rows), rng.uniform(0, 2, rows).astype(dtype)


def by_hand(z, k, g):
    """Loss and slope in float64, as in a textbook."""
    z, g = z.astype(np.float64), g.astype(np.float64)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    own = np.eye(z.shape[1])[k]
    return -(g * np.log((p * own).sum(axis=1))).sum(), g[:, None] * (p - own)


def losses_in(function, *arguments):
    graph = trace(function, *arguments, rows=range(len(arguments)))
    return sum(isinstance(step, SoftmaxCrossEntropy) for step in plan(graph).instructions)


SHAPES = [(1, 2), (3, 1), (7, 2), (8, 3), (9, 10), (33, 7), (260, MOST_CLASSES), (700, 5)]


@needs_core
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "classes"), SHAPES)
def test_loss_and_slope_are_those_of_the_formula(rows, classes, dtype, isa):
    arguments = problem(rows, classes, dtype)
    graph = trace(weighted, *arguments, rows=[0, 1, 2])
    assert any(isinstance(step, SoftmaxCrossEntropy) for step in plan(graph).instructions)
    expected = by_hand(*arguments)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    for value, slope in (run_native(graph, arguments, rows, isa=isa), run_reference(graph, arguments, rows)):
        np.testing.assert_allclose(value, expected[0], rtol=tolerance)
        np.testing.assert_allclose(slope, expected[1], rtol=tolerance, atol=tolerance)


@needs_core
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(("rows", "classes"), SHAPES)
def test_a_batch_of_one_size_is_no_different(rows, classes, isa):
    arguments = problem(rows, classes, np.float32)
    fixed, any_size = trace(weighted, *arguments), trace(weighted, *arguments, rows=[0, 1, 2])
    assert any(isinstance(step, SoftmaxCrossEntropy) for step in plan(fixed).instructions)
    assert_same_bits([run_native(fixed, arguments, isa=isa)[1]], [run_native(any_size, arguments, rows, isa=isa)[1]])


@needs_core
def test_a_row_has_the_same_bits_alone_and_among_others():
    z, k, g = problem(37, 5, np.float32)
    graph = trace(weighted, z, k, g, rows=[0, 1, 2])
    _, slope = run_native(graph, (z, k, g), 37)
    for row in range(37):
        part = slice(row, row + 1)
        assert_same_bits([run_native(graph, (z[part], k[part], g[part]), 1)[1]], [slope[part]])


@needs_core
def test_threads_change_no_bit():
    arguments = problem(50_000, 3, np.float32)
    graph = trace(weighted, *arguments, rows=[0, 1, 2])
    alone = run_native(graph, arguments, 50_000, threads=1)
    for threads in (2, 3):
        assert_same_bits(run_native(graph, arguments, 50_000, threads=threads), alone)


@needs_core
@pytest.mark.parametrize("bad", [3, -4, 2**40])
def test_a_class_that_does_not_exist_is_an_error(bad):
    z, k, g = problem(20, 3)
    k[11] = bad
    with pytest.raises(IndexError, match=f"index {bad} is out of range for an axis of size 3"):
        run_native(trace(weighted, z, k, g, rows=[0, 1, 2]), (z, k, g), 20)


@needs_core
def test_what_is_not_finite_stays_in_its_row():
    z, k, g = problem(9, 3)
    z[2, 1], z[4, 0], z[6] = np.nan, np.inf, [-np.inf, 0.0, 1.0]
    k[6] = 1
    graph = trace(weighted, z, k, g, rows=[0, 1, 2])
    slope = run_native(graph, (z, k, g), 9)[1]
    np.testing.assert_allclose(slope, run_reference(graph, (z, k, g), 9)[1], rtol=1e-13, atol=1e-15)
    assert np.isnan(slope[[2, 4]]).all()
    assert np.isfinite(np.delete(slope, [2, 4], axis=0)).all()


def test_the_loss_of_a_training_step_is_one_instruction():
    z, k, _ = problem(6, 4)
    mean = md.CrossEntropy()
    assert losses_in(lambda z, k: md.value_and_grad(lambda z: mean(z, k))(z), z, k) == 1


def test_two_losses_are_two():
    z, k, g = problem(6, 4)
    assert losses_in(lambda z, k, g: (weighted(z, k, g), weighted(2 * z, k, g + 1)), z, k, g) == 2


def test_a_loss_whose_weight_depends_on_it_is_left_as_it_is():
    def focal(z, k):
        return md.value_and_grad(lambda z: np.sum(ROWS(z, k) * md.functional.stop_gradient(np.tanh(ROWS(z, k)))))(z)

    z, k, _ = problem(6, 4)
    assert losses_in(focal, z, k) == 0


def test_many_classes_are_left_to_instructions_of_their_own():
    assert losses_in(weighted, *problem(5, MOST_CLASSES + 1)) == 0


def test_a_loss_without_its_slope_is_left_as_it_is():
    z, k, _ = problem(6, 4)
    assert losses_in(md.CrossEntropy(), z, k) == 0
