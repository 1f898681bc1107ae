"""Rows and shared values: what runs tile by tile, what waits for all rows, what needs their number."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from agreement import assert_executors_agree
from madaline.graph.node import new_input
from madaline.graph.numpy_api import dispatch as _numpy_functions  # noqa: F401 - nodes need NumPy's functions
from madaline.graph.numpy_api.reduce import logsumexp_of_shifted
from madaline.graph.shapes import Rows
from madaline.graph.trace import trace
from madaline.kernels.execute import Executable
from madaline.plan.instructions.elementwise import Chain
from madaline.plan.planner import plan
from madaline.plan.rows import Kind, NeedsRowCountError, kind_of
from training_step import adam_arguments, adam_step

X, W = np.ones((5, 3)), np.ones((3, 3))
N = Rows()


def x_node(*shape):
    return new_input(0, shape or (N, 3), np.float64)


KINDS = {
    "elementwise": (np.exp, Kind.TILED),
    "elementwise with a row": (lambda x: x * np.ones(3), Kind.TILED),
    "product with weights": (lambda x: x @ W, Kind.TILED),
    "sum of columns": (lambda x: x.sum(axis=1), Kind.TILED),
    "sum of rows": (lambda x: x.sum(axis=0), Kind.REDUCING),
    "sum of all": (lambda x: x.sum(), Kind.REDUCING),
    "largest of the rows": (lambda x: x.max(axis=0), Kind.REDUCING),
    "X^T X": (lambda x: x.T @ x, Kind.REDUCING),
    "transposed": (lambda x: x.T, Kind.TILED),
    "reshaped within rows": (lambda x: x.reshape(x.shape[0], 3, 1), Kind.TILED),
    "argmax of columns": (lambda x: x.argmax(axis=1), Kind.TILED),
    "argmax of rows": (lambda x: x.argmax(axis=0), Kind.UNTILED),
    "cumulative sum of columns": (lambda x: np.cumsum(x, axis=1), Kind.TILED),
    "cumulative sum of rows": (lambda x: np.cumsum(x, axis=0), Kind.UNTILED),
    "rows backwards": (lambda x: np.flip(x, 0), Kind.UNTILED),
    "columns backwards": (lambda x: np.flip(x, 1), Kind.TILED),
    "logsumexp of rows": (lambda x: logsumexp_of_shifted(x, axis=0), Kind.UNTILED),
    "x x^T": (lambda x: x @ x.T, Kind.UNTILED),
}


@pytest.mark.parametrize(("f", "kind"), KINDS.values(), ids=KINDS.keys())
def test_each_operation_has_its_kind(f, kind):
    assert kind_of(f(x_node())) is kind


def test_what_has_no_rows_is_shared():
    w = new_input(0, (3, 3), np.float64)
    assert kind_of(np.exp(w) @ w) is Kind.SHARED
    assert kind_of(w) is Kind.LEAF


def stages(f, *args, rows=(0,)):
    """'rows' or 'shared' for each stage."""
    program = Executable(trace(f, *args, rows=rows)).program()
    return ["rows" if stage.tile_rows else "shared" for stage in program.stages]


def test_a_training_step_goes_through_the_rows_once():
    """Forward and backward pass in one sweep over the batch; the update follows when all rows are done."""
    found = stages(adam_step, *adam_arguments(), rows=[3, 4])
    assert found.count("rows") == 1
    assert found[-1] == "shared"


def test_a_batch_statistic_costs_another_sweep():
    def normalised(x):
        mean = x.mean(axis=0)
        centred = x - mean
        return (centred / np.sqrt((centred**2).mean(axis=0) + 1e-5)).sum(axis=1)

    found = stages(normalised, X)
    assert found.count("rows") == 3, "one for the mean, one for the variance, one to normalise"
    x = np.random.default_rng(0).normal(size=(500, 3))
    np.testing.assert_allclose(md.compile(normalised, rows=[0])(x), normalised(x), rtol=1e-10, atol=1e-10)


def test_two_statistics_that_do_not_wait_for_each_other_share_a_sweep():
    assert stages(lambda x: (x.sum(axis=0), x.max(axis=0), (x.T @ x).sum()), X).count("rows") == 1


def test_a_program_serves_every_batch_size():
    f = md.compile(lambda x: (np.exp(x), x.sum(axis=0), x.T), rows=[0])
    programs = {id(f.program(np.ones((n, 3)))) for n in (1, 5, 1000)}
    assert len(programs) == 1


def test_values_whose_layout_depends_on_the_number_of_rows_are_planned_for_each_number():
    graph = trace(lambda x: np.exp(x @ x.T), X, rows=[0])
    with pytest.raises(NeedsRowCountError):
        plan(graph)
    executable = Executable(graph)
    assert executable.program(4) is executable.program(4)
    assert executable.program(4) is not executable.program(5)
    for n in (0, 1, 4, 5):
        x = np.random.default_rng(n).normal(size=(n, 3))
        np.testing.assert_allclose(executable([x], n)[0], np.exp(x @ x.T), rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [lambda x: x.reshape(-1), lambda x: np.concatenate([x, x]), lambda x: np.concatenate([x, np.ones((2, 3))])],
    ids=["flattened", "twice", "with two more"],
)
def test_sizes_other_than_the_number_of_rows_still_give_what_numpy_gives(f):
    compiled = md.compile(lambda x: f(x) * 2.0, rows=[0])
    for n in (1, 4, 200):
        x = np.random.default_rng(n).normal(size=(n, 3))
        np.testing.assert_array_equal(compiled(x), f(x) * 2.0)


STACK = np.linspace(-1.0, 1.0, 30).reshape(2, 3, 5).transpose(0, 2, 1)
COLUMNS = {
    "one product": lambda x: STACK[0] @ np.tanh(x).mT,
    "a stack": lambda x: STACK @ np.tanh(x)[None].mT,
    "a stack of single rows": lambda x: STACK[:, :1] @ np.tanh(x)[None].mT,
    "a stack of one": lambda x: STACK[:1] @ np.tanh(x)[None].mT,
    "a stack, transposed": lambda x: (STACK @ np.tanh(x)[None].mT).mT + 1.0,
    "a stack of stacks": lambda x: STACK[:, None] @ np.tanh(x)[None, None].mT,
    "a stack, then its sum": lambda x: (STACK @ x[None].mT).sum(axis=(0, 2)),
    "without rows of weights": lambda x: STACK[:, :0] @ x[None].mT,
}


@pytest.mark.parametrize("f", COLUMNS.values(), ids=COLUMNS.keys())
def test_rows_that_are_the_columns_of_a_stack_of_products_give_what_numpy_gives(f):
    """Rows are stored outermost, so that columns of rows are not next to each other."""
    graph = trace(f, X, rows=[0])
    for n in (1, 4, 200, 1000):
        x = np.random.default_rng(n).normal(size=(n, 3))
        (found,) = assert_executors_agree(graph, [x], n)
        np.testing.assert_allclose(found, f(x), rtol=1e-12, atol=1e-12)


def test_tiles_fit_the_cache_and_lanes_are_whole_tiles():
    program = Executable(trace(adam_step, *adam_arguments(), rows=[3, 4])).program()
    for stage in program.stages:
        if stage.tile_rows:
            assert stage.tile_rows % 16 == 0
            assert stage.lane_rows >= 1
            assert 1 <= stage.max_lanes <= 64


def test_wide_layers_are_not_tiled():
    """Their matrices do not stay in cache from tile to tile, so each product takes the whole batch."""
    W = np.ones((1000, 1000), np.float32)
    assert stages(lambda x, W: np.tanh(x @ W) @ W, np.ones((5, 1000), np.float32), W) == ["shared"]


def test_what_an_update_needs_besides_the_gradient_is_fused_into_the_update():
    """``0.9 * m`` needs no rows, but nobody needs it before the gradient is there."""
    program = Executable(trace(adam_step, *adam_arguments(), rows=[3, 4])).program()
    before = [step for step in program.stages[0].instructions if program.stages[0].tile_rows == 0]
    assert all(isinstance(step, Chain) and step.dims == () for step in before), "only numbers wait for the rows"
    readers = [
        step
        for step in program.instructions
        if any(
            program.buffers[o.buffer].space == "input" and program.buffers[o.buffer].offset == 8
            for o in step.operands()
        )
    ]
    assert len(readers) == 1, "the first moment is read once"


def test_a_shared_value_comes_before_every_stage_that_needs_it():
    def f(x, w):
        a = np.exp(w)
        b = a * 2.0
        return (x * a).sum(axis=0) + b, (x * a).sum()

    assert stages(f, X, np.ones(3)) == ["shared", "rows", "shared"]
    x = np.random.default_rng(0).normal(size=(7, 3))
    for one, other in zip(md.compile(f, rows=[0])(x, np.ones(3)), f(x, np.ones(3)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
