"""Planning as a whole: programs that read nothing before it is written, for every graph there may be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import madaline as md
from agreement import ISAS, assert_executors_agree, assert_same_bits, bound, needs_core, run_native
from madaline.graph.node import constant, new_input
from madaline.graph.trace import Graph, trace
from madaline.kernels import core, native
from madaline.kernels.execute import Executable
from madaline.plan.instructions.product import MatrixProduct
from madaline.plan.planner import plan
from random_graphs import cases
from steps import steps
from training_step import adam_arguments, adam_step


def extent(program, number):
    """Bytes of a buffer within its arena (a tile's: of the whole tile)."""
    buffer = program.buffers[number]
    rows = max((stage.tile_rows for stage in program.stages), default=1) if buffer.space == "tile" else 1
    return buffer.offset, buffer.offset + buffer.bytes * max(rows, 1)


def assert_nothing_is_overwritten_while_it_is_needed(program):
    """Replay the program on paper: every byte remembers who wrote it last.

    A rows stage is replayed twice, since its instructions run again for the next tile.
    """
    owner = {space: np.full(program.arena[space], -1) for space in ("shared", "rows", "tile", "lane")}

    def write(number):
        space = program.buffers[number].space
        if space in owner:
            first, last = extent(program, number)
            assert first >= 0
            assert last <= len(owner[space])
            owner[space][first:last] = number

    def read(number, step):
        space = program.buffers[number].space
        if space in owner:
            first, last = extent(program, number)
            assert (owner[space][first:last] == number).all(), f"{step} reads what was overwritten or never written"

    for stage in program.stages:
        for _ in range(2 if stage.tile_rows else 1):
            for step in stage.instructions:
                written = {operand.buffer for operand in step.writes()}
                for operand in step.operands():
                    if operand.buffer not in written:
                        read(operand.buffer, step)
                for number in written:
                    write(number)
                for number in written:
                    read(number, step)
        for combine in stage.combines:
            read(combine.lane_buffer, combine)
            write(combine.dst_buffer)
    outputs = {buffer.offset for buffer in program.buffers if buffer.space == "output"}
    assert outputs == set(range(len(program.outputs)))


@settings(max_examples=200)
@given(cases())
def test_a_program_reads_only_what_has_been_written(case):
    for graph in (case.graph, case.gradient or case.graph):
        assert_nothing_is_overwritten_while_it_is_needed(bound(graph, case.arguments())[0])


@settings(max_examples=200)
@given(cases(batch=True))
def test_a_program_for_batches_reads_only_what_has_been_written(case):
    assert_nothing_is_overwritten_while_it_is_needed(bound(case.graph, case.arguments(3), 3)[0])


def test_a_training_step_reads_only_what_has_been_written():
    assert_nothing_is_overwritten_while_it_is_needed(
        Executable(trace(adam_step, *adam_arguments(), rows=[3, 4])).program()
    )


# Outputs of every kind

X = np.arange(12.0).reshape(4, 3)
OUTPUTS = {
    "an input": lambda x: x,
    "an input twice": lambda x: (x, x),
    "a constant": lambda x: (2.0, x),
    "an array": lambda x: (np.arange(3.0), x),
    "a view": lambda x: x.T,
    "a view, twice": lambda x: (x.T, x.T),
    "a view and what it shows": lambda x: (y := np.exp(x), y.T, y[:, 1]),
    "one value twice": lambda x: (y := np.exp(x), y),
    "equal values": lambda x: (np.exp(x), np.exp(x)),
    "a broadcast": lambda x: np.broadcast_to(x[:, :1], (x.shape[0], 5)),
    "a number": lambda x: x.sum(),
    "a slice backwards": lambda x: x[:, ::-1],
    "a product and its transpose": lambda x: (y := x @ np.ones((3, 2)), y.T),
    "a rectified product and the product": lambda x: (y := x @ np.ones((3, 2)), md.functional.relu(y)),
    "nothing but constants": lambda x: (1.0, np.ones(2)),
}


@pytest.mark.parametrize("rows", [[], [0]], ids=["known", "batch"])
@pytest.mark.parametrize("f", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_any_value_may_be_an_output(f, rows):
    expected = f(X)
    found = md.compile(f, rows=rows)(X)
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_no_outputs_at_all():
    x = new_input(0, (3,), np.float64)
    assert Executable(Graph((x,), ()))([np.ones(3)]) == []


def test_an_input_nobody_needs():
    assert md.compile(lambda x, y: y * 2.0)(np.ones(3), 4.0) == 8.0


EMPTY = {
    "chain": lambda x: np.exp(x) + 1.0,
    "sum to nothing": lambda x: x.sum(axis=1),
    "sum of nothing": lambda x: x.sum(axis=0),
    "sum of nothing to a number": lambda x: x.sum(),
    "product of nothing": lambda x: np.prod(x) * 2.0,
    "empty times matrix": lambda x: x @ np.ones((3, 2)),
    "matrix times empty": lambda x: np.ones((2, 3)) @ x.T,
    "inner product of nothing": lambda x: x.T @ x,
    "then used": lambda x: np.ones((3, 3)) + (x.T @ x),
    "concatenated": lambda x: np.concatenate([x, np.ones((2, 3))]),
    "taken": lambda x: np.take(x, np.array([0, 2]), axis=1),
    "cumulative": lambda x: np.cumsum(x, axis=0),
    "reshaped": lambda x: x.reshape(3, 0, 2),
    "argmax of columns": lambda x: x.argmax(axis=1),
}


@pytest.mark.parametrize("f", EMPTY.values(), ids=EMPTY.keys())
def test_values_without_elements(f):
    x = np.ones((0, 3))
    assert_executors_agree(trace(f, x), [x]) if core.cpu_isas() else None
    found, expected = md.compile(f)(x), f(x)
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)


def test_values_without_axes():
    def f(x, y):
        return np.where(x > y, x * y, np.maximum(x, y)), x.reshape(1, 1), np.stack([x, y])

    for one, other in zip(md.compile(f)(2.0, 3.0), f(np.float64(2), np.float64(3)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_six_axes_in_any_order():
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 3, 2, 2))
    f = lambda x: np.exp(x.transpose(5, 2, 0, 4, 1, 3)) * x.transpose(2, 5, 0, 4, 3, 1)  # noqa: E731
    np.testing.assert_allclose(md.compile(f)(x), f(x), rtol=1e-14)


# Deep and wide graphs


def chain(depth, *, fusable):
    x = new_input(0, (3,), np.float64)
    y = x
    for step in range(depth):
        y = np.sin(y) if fusable or step % 2 else np.flip(np.cumsum(y) * 0.1)
    return Graph((x,), (y,))


@needs_core
@pytest.mark.parametrize("fusable", [True, False], ids=["elementwise", "with scans and flips"])
def test_a_chain_of_thousands_of_nodes_is_planned_and_run(fusable):
    """Without recursion: five times deeper than Python lets functions call each other, and more if they fuse.

    The work grows with the length and not with its square, which would make it sixteen times as much.
    """
    graph = chain(20_000 if fusable else 5_000, fusable=fusable)
    native.run(plan(graph), [np.ones(3)], core=core.load("baseline"))

    def work(depth):
        graph = chain(depth, fusable=fusable)
        return steps(lambda: native.encode(plan(graph), core.load("baseline")))

    assert work(2_000) < 5 * work(500)


@needs_core
def test_a_wide_graph_is_planned_in_linear_time():
    """Thousands of values that are all alive at once: the gradient of a long recurrence."""

    def work(width):
        x = new_input(0, (3,), np.float64)
        pieces = [np.cumsum(x * float(i)) for i in range(width)]
        total = constant(0.0)
        for piece in reversed(pieces):
            total = total * 0.5 + np.flip(piece)
        graph = Graph((x,), (total,))
        return steps(lambda: plan(graph))

    assert work(1_000) < 6 * work(250)


def test_many_stages_are_planned_in_linear_time():
    """Each needs the mean of the one before."""

    def f(count):
        def function(x):
            for _ in range(count):
                x = np.tanh(x - x.mean(axis=0))
            return x

        return function

    def work(count):
        graph = trace(f(count), X, rows=[0])
        assert len(plan(graph).stages) >= 2 * count - 1
        return steps(lambda: plan(graph))

    assert work(400) < 5 * work(100)
    np.testing.assert_allclose(md.compile(f(20), rows=[0])(X), f(20)(X), rtol=1e-12)


@needs_core
def test_a_long_gradient_is_planned_and_run():
    def recurrence(x):
        y = x
        for _ in range(3_000):
            y = np.sin(y) * 1.01
        return y.sum()

    slope = md.grad(recurrence)(np.array([0.3, -0.2]))
    assert np.isfinite(slope).all()


def test_a_training_step_is_right_for_every_batch_size():
    """One program, a few steps; the numbers against the same formulas run by NumPy alone."""
    step = md.compile(adam_step, rows=[3, 4])
    for n_rows in (1, 31, 200):
        params, m, v, x, y, t = adam_arguments(n_rows=n_rows)
        value, new = step(params, m, v, x, y, t)
        hidden = x
        for W, b in params[:-1]:
            hidden = np.maximum(hidden @ W + b, 0)
        z = hidden @ params[-1][0] + params[-1][1]
        losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(n_rows), y]
        assert value == pytest.approx(losses.mean(), rel=1e-5)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        p[np.arange(n_rows), y] -= 1
        g = hidden.T @ p / n_rows
        np.testing.assert_allclose(new[-1][0][1], 0.1 * g, rtol=1e-3, atol=1e-6)
        moved = params[-1][0] - new[-1][0][0]
        np.testing.assert_allclose(moved, 1e-3 * g / (np.abs(g) + 1e-8), rtol=0.05, atol=2e-5)


EPILOGUES = {
    "a flat chain": lambda c, s, mask: np.tanh(c),
    "a row of factors": lambda c, s, mask: np.tanh(c) * s,
    "a mask and a second result": lambda c, s, mask: (np.where(mask, c, 0.0), c > 0.0),
}


@needs_core
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", EPILOGUES)
@pytest.mark.parametrize("n", [192, 600])
@pytest.mark.parametrize("rows", [None, [0, 3]])
def test_a_product_with_a_chain_is_split_among_threads_without_changing_a_bit(name, n, rows, isa):
    """Large enough for pieces of columns; 192 columns are so few that a block of the chain spans several rows."""
    rng = np.random.default_rng(n)
    x, W, s = (rng.normal(size=shape).astype(np.float32) for shape in ((128, 300), (300, n), (n,)))
    arguments = (x, W, s, rng.random((128, n)) < 0.5)
    graph = trace(lambda x, W, s, mask: EPILOGUES[name](x @ W, s, mask), *arguments, rows=rows or ())
    n_rows = 128 if rows else 0
    assert any(isinstance(step, MatrixProduct) and step.epilogue for step in plan(graph).instructions)
    expected = assert_executors_agree(graph, arguments, n_rows, isas=[isa])
    alone = run_native(graph, arguments, n_rows, isa=isa, threads=1)
    assert [one.shape for one in alone] == [one.shape for one in expected]
    for threads in (2, 3, 4):
        assert_same_bits(run_native(graph, arguments, n_rows, isa=isa, threads=threads), alone)


def wide(x, W, V):
    """A net with one hidden layer."""
    return np.tanh(x @ W) @ V


def arena_of(f, *arrays):
    return plan(trace(f, *arrays, rows=[0])).arena


def test_values_of_wide_layers_with_few_inputs_are_kept_for_a_tile_of_rows_only():
    x, W, V = (np.zeros(shape, np.float32) for shape in ((4, 8), (8, 10_000), (10_000, 1)))
    assert arena_of(wide, x, W, V)["rows"] == 0
    many = [np.zeros(shape, np.float32) for shape in ((4, 500), (500, 2_000), (2_000, 500))]
    assert arena_of(wide, *many)["rows"] > 0  # matrices that are large for their layers are read once for all rows


def test_a_gradient_of_wide_layers_has_no_tiles():
    """Each lane would have partial sums as large as the matrices."""
    gradient = md.grad(lambda W, x, V: np.sum(wide(x, W, V)))
    W, x, V = (np.zeros(shape, np.float32) for shape in ((8, 10_000), (4, 8), (10_000, 1)))
    assert plan(trace(gradient, W, x, V, rows=[1])).arena["lane"] == 0
