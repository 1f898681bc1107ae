"""Outputs over inputs: the same bits as with arrays of their own, however the program is run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madaline as md
from agreement import ISAS, assert_same_bits, needs_core
from madaline.errors import ConfigError
from madaline.graph.shapes import resolve, show
from madaline.graph.trace import Graph, trace
from madaline.kernels import core, native, reference
from madaline.kernels.execute import Executable
from madaline.plan.donate import cannot_be_in_place
from madaline.plan.instructions.elementwise import Chain
from madaline.plan.planner import plan
from madaline.plan.views import physical_order
from random_graphs import cases


def bound(graph, donated, arguments, n_rows):
    program, constants = Executable(graph, donated=donated).bound(n_rows)
    given = zip([*arguments, *constants], program.inputs, strict=True)
    return program, [np.array(value, dtype=node.dtype, order="C") for value, node in given]


def run_over(program, inputs, n_rows=0, *, threads=1, isa=None):
    """The outputs after a run in which donated outputs and their inputs are one array; ``isa`` may be "reference"."""
    inputs = [array.copy() for array in inputs]
    counts = [np.array(node.params["rows"].at(n_rows), node.dtype) for node in program.row_counts]
    outputs = [
        inputs[program.donated[index]]
        if index in program.donated
        else np.empty(resolve(tuple(node.shape[axis] for axis in physical_order(node.shape)), n_rows), node.dtype)
        for index, node in enumerate(program.outputs)
    ]
    if isa == "reference":
        reference.execute(program, [*inputs, *counts], outputs, n_rows)
    else:
        native.encode(program, core.load(isa or ISAS[-1])).run([*inputs, *counts], outputs, n_rows, threads)
    return outputs, inputs


def donations(graph):
    """Every output to the first free input like it."""
    found = {}
    for index, node in enumerate(graph.outputs):
        for position, given_ in enumerate(graph.inputs):
            same = show(given_.shape) == show(node.shape) and given_.dtype == node.dtype
            if same and position not in found.values():
                found[index] = position
                break
    return found


def with_updates(graph):
    """The graph with one more output for each input of floats, so that there is something to donate."""
    return Graph(graph.inputs, (*graph.outputs, *(np.sin(node) for node in graph.inputs if node.dtype.kind == "f")))


def assert_donating_changes_nothing(graph, arguments, n_rows=0, isas=ISAS, threads=(1, 2, 3, 4)):
    donated = donations(graph)
    program, inputs = bound(graph, donated, arguments, n_rows)
    plain, plain_inputs = bound(graph, {}, arguments, n_rows)
    expected = reference.run(plain, plain_inputs, n_rows)
    assert_same_bits(reference.run(program, inputs, n_rows), expected)
    found, _ = run_over(program, inputs, n_rows, isa="reference")
    assert_same_bits(found, [stored(node, value) for node, value in zip(program.outputs, expected, strict=True)])
    assert_commits_last(program)
    for isa in isas:
        module = core.load(isa)
        expected = native.run(plain, plain_inputs, n_rows, core=module)
        assert_same_bits(native.run(program, inputs, n_rows, core=module), expected)
        for count in threads:
            found, _ = run_over(program, inputs, n_rows, threads=count, isa=isa)
            assert_same_bits(
                found, [stored(node, value) for node, value in zip(program.outputs, expected, strict=True)]
            )
    return donated


def stored(node, value):
    """An output as it lies in memory: the batch axis outermost."""
    return value.transpose(physical_order(node.shape)).copy(order="C")


def assert_commits_last(program):
    """Stages before ``commit`` write no donated output, those from it on write nothing else that the caller sees."""
    for number, stage in enumerate(program.stages):
        for step in stage.instructions:
            for buffer in (program.buffers[operand.buffer] for operand in step.writes()):
                if buffer.space == "output":
                    assert (buffer.offset in program.donated) == (number >= program.commit)
        for combine in stage.combines:
            assert program.buffers[combine.dst_buffer].space != "output" or number < program.commit
        assert number < program.commit or (not stage.tile_rows and all(type(s) is Chain for s in stage.instructions))


@needs_core
@settings(max_examples=150)
@given(cases(dtype="float32"), st.sampled_from(ISAS))
def test_random_graphs_give_the_same_bits_over_their_inputs(case, isa):
    graph = with_updates(case.graph)
    assert_donating_changes_nothing(graph, case.arguments(), isas=[isa], threads=(1, 3))


@needs_core
@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_random_batches_give_the_same_bits_over_their_inputs(n_rows):
    @settings(max_examples=40)
    @given(cases(dtype="float32", batch=True), st.sampled_from(ISAS))
    def check(case, isa):
        graph = with_updates(case.graph)
        assert_donating_changes_nothing(graph, case.arguments(n_rows), n_rows, isas=[isa], threads=(1, 4))

    check()


VECTORS = {
    "one step in place": (lambda w, v: (w - 0.1 * v, 0.9 * v + w), "in place"),
    "each needs the other's old value": (lambda w, v: (w + v, w - v), "in place"),
    "the old value is read after the new one is known": (lambda w, v: (np.exp(w), v + w), "in place"),
    "an exchange": (lambda w, v: (v, w), "in place"),
    "nothing changes": (lambda w, v: (w, v), "in place"),
    "backwards": (lambda w, v: (w[::-1], v + w[::-1]), "copied"),
    "shifted": (lambda w, v: (np.concatenate([w[1:], w[:1]]), v * w), "copied"),
    "one element for all": (lambda w, v: (w * w[0], v), "copied"),
    "a sum of the old value": (lambda w, v: (w / w.sum(), v + w.sum()), "in place"),
    "a sum of the new value": (lambda w, v: (w * 2.0, v + (w * 2.0).sum()), "copied"),
    "cumulative": (lambda w, v: (np.cumsum(w), np.cumsum(v) + w), "copied"),
}


@needs_core
@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("size", [1, 5, 2000, 70_000])
def test_an_update_gives_the_same_bits_in_place(name, size):
    f, how = VECTORS[name]
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=size).astype(np.float32) for _ in range(2)]
    graph = trace(f, *arguments)
    assert assert_donating_changes_nothing(graph, arguments) == {0: 0, 1: 1}
    program = plan(graph, {0: 0, 1: 1})
    copied = any(buffer.space == "shared" for buffer in program.buffers if buffer.size == size > 1)
    assert copied == (how == "copied" and size > 1)


def training_step(w, v, x, y, lr):
    def loss(w):
        return np.mean((np.tanh(x @ w[:12].reshape(3, 4) + w[12:16]) @ w[16:20] - y) ** 2)

    value, g = md.value_and_grad(loss)(w)
    v = 0.9 * v + g
    return w - lr * v, v, value, np.sum(v * v)


@needs_core
@pytest.mark.parametrize("n_rows", [1, 32, 1000])
def test_a_training_step_gives_the_same_bits_over_its_parameters(n_rows):
    rng = np.random.default_rng(0)
    shapes = [(20,), (20,), (n_rows, 3), (n_rows,), ()]
    arguments = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    graph = trace(training_step, *arguments, rows=[2, 3])
    assert assert_donating_changes_nothing(graph, arguments, n_rows) == {0: 0, 1: 1, 2: 4}


@needs_core
def test_a_run_that_stops_at_commit_has_told_the_loss_and_changed_nothing():
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=shape).astype(np.float32) for shape in [(20,), (20,), (8, 3), (8,), ()]]
    graph = trace(training_step, *arguments, rows=[2, 3])
    program = plan(graph, {0: 0, 1: 1})
    assert 0 < program.commit < len(program.stages)
    expected = native.run(program, arguments, 8, core=core.load(ISAS[-1]))
    outputs, inputs = run_over(replace(program, stages=program.stages[: program.commit]), arguments, 8)
    assert_same_bits(inputs, arguments)
    assert_same_bits(outputs[2:], expected[2:])


def test_what_needs_a_copy_is_known_before_planning_where_another_output_needs_it():
    def step(w, v):
        new_v = 0.9 * v + w
        new_w = w - new_v
        return new_w, new_v, np.sum(new_w * new_w)

    graph = trace(step, np.ones(3), np.ones(3))
    unwatched = Graph(graph.inputs, graph.outputs[:-1])
    assert cannot_be_in_place(unwatched, {0: 0, 1: 1}) == set()
    assert cannot_be_in_place(graph, {0: 0, 1: 1}) == {0, 1}
    assert cannot_be_in_place(graph, {1: 1}) == {1}
    assert cannot_be_in_place(trace(lambda w: w[::-1], np.ones(3)), {0: 0}) == {0}


def test_without_donations_everything_stands_before_commit():
    program = plan(trace(lambda w: w * 2.0, np.ones(3)))
    assert program.commit == len(program.stages) == 1
    assert program.donated == {}


def test_programs_of_one_graph_with_and_without_donations_are_not_mixed_up():
    graph = trace(lambda w: w * 2.0, np.ones(3))
    assert Executable(graph).program().donated == {}
    assert Executable(graph, donated={0: 0}).program().donated == {0: 0}
    assert Executable(graph).program().donated == {}


def test_the_description_says_which_input_an_output_takes_the_place_of():
    assert "out 0: float64 (3,) over in 1" in plan(trace(lambda v, w: w * v, np.ones(3), np.ones(3)), {0: 1}).describe()


@pytest.mark.parametrize(
    ("donated", "message"),
    [
        ({0: 2}, r"names output 0 and input 2, but there are 2 outputs and 2 inputs"),
        ({3: 0}, r"names output 3 and input 0"),
        ({0: 1}, r"puts output 0, float64 \(3,\), in the place of input 1, float64 \(4,\)"),
        ({0: 0, 1: 0}, r"gives one input to two outputs"),
    ],
)
def test_donations_that_cannot_be_are_refused(donated, message):
    graph = trace(lambda v, w: (v * 2.0, v + 1.0), np.ones(3), np.ones(4))
    with pytest.raises(ConfigError, match=message):
        plan(graph, donated)
