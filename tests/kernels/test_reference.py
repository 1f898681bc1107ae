"""The reference executor runs the planned program: it gives what the graph says, and shows where a plan is wrong."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import madaline as md
from graph_values import output_values
from madaline.graph.trace import trace
from madaline.kernels import reference
from madaline.kernels.execute import structure, with_arrays_as_inputs
from madaline.plan.instructions.scan import Cumsum
from madaline.plan.planner import plan

N_ROWS = 700


def loss(w, x, y):
    h = np.tanh(x @ w[:24].reshape(4, 6) + w[24:30])
    h = (h - h.mean(axis=0)) / np.sqrt(h.var(axis=0) + 1e-5)
    h = h * (md.random.uniform(md.random.key(3), (x.shape[0], 6), dtype=w.dtype) > 0.25)
    z = np.maximum(h, 0.0) @ w[30:48].reshape(6, 3)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.take_along_axis(z, y[:, None], axis=1)[:, 0])


def step(w, m, x, y):
    value, g = md.value_and_grad(loss)(w, x, y)
    m = 0.9 * m + g / np.sqrt(np.sum(g * g))
    return w - 0.1 * m, m, value, np.argsort(w), np.cumsum(w)


@pytest.fixture(scope="module", params=["float32", "float64"])
def planned(request):
    """A training step with all kinds of stages, its arguments, and its results by the graph alone."""
    rng = np.random.default_rng(0)
    w, m = rng.normal(size=(2, 48)).astype(request.param)
    x = rng.normal(size=(N_ROWS, 4)).astype(request.param)
    given = [w, m, x, rng.integers(0, 3, size=N_ROWS)]
    graph = trace(step, *given, rows=[2, 3])
    arrays = structure(graph)[1]
    graph = with_arrays_as_inputs(graph, arrays)
    return plan(graph), [*given, *arrays], output_values(graph, [*given, *arrays], N_ROWS)


def is_right(program, arguments, expected):
    found = reference.run(program, arguments, N_ROWS)
    return all(
        np.allclose(one, other, rtol=1e-4, atol=1e-5) and one.dtype == other.dtype
        for one, other in zip(found, expected, strict=True)
    )


def test_a_plan_gives_what_the_graph_says(planned):
    program, arguments, expected = planned
    assert is_right(program, arguments, expected)
    assert any(stage.combines for stage in program.stages)
    assert len({buffer.space for buffer in program.buffers}) == 6


def test_a_plan_without_instructions_gives_nothing(planned):
    program, arguments, _ = planned
    for output in reference.run(replace(program, stages=[]), arguments, N_ROWS):
        assert np.isnan(output).all() if output.dtype.kind == "f" else (output == -1).all()


def test_every_instruction_of_a_plan_is_needed(planned):
    program, arguments, expected = planned
    for stage_number, stage in enumerate(program.stages):
        for number in range(len(stage.instructions)):
            wrong = copy.copy(program)
            rest = stage.instructions[:number] + stage.instructions[number + 1 :]
            wrong.stages = [*program.stages]
            wrong.stages[stage_number] = replace(stage, instructions=rest)
            assert not is_right(wrong, arguments, expected), (stage_number, number)


def test_combines_and_lanes_are_needed(planned):
    program, arguments, expected = planned
    many = [replace(stage, lane_rows=100) if stage.tile_rows else stage for stage in program.stages]
    assert is_right(replace(program, stages=many), arguments, expected)
    without = [replace(stage, combines=[]) for stage in many]
    assert not is_right(replace(program, stages=without), arguments, expected)


@pytest.mark.parametrize("space", ["shared", "rows", "tile"])
def test_buffers_that_overlap_while_both_are_needed_are_seen(planned, space):
    program, arguments, expected = planned
    buffers = [replace(b, offset=0) if b.space == space else b for b in program.buffers]
    assert sum(b.space == space for b in buffers) > 1
    assert not is_right(replace(program, buffers=buffers), arguments, expected)


def test_an_operand_that_leaves_its_buffer_is_refused(planned):
    program, arguments, _ = planned
    scan = next(step for step in program.instructions if isinstance(step, Cumsum))
    wrong = replace(scan, dst=replace(scan.dst, offset=scan.dst.offset + 1))
    stages = [replace(s, instructions=[wrong if i is scan else i for i in s.instructions]) for s in program.stages]
    with pytest.raises(ValueError, match="buffer"):
        reference.run(replace(program, stages=stages), arguments, N_ROWS)
