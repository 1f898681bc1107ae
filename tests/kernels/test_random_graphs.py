"""Random graphs over all primitives: the native core against the reference, values and gradients."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agreement import (
    ISAS,
    assert_close,
    assert_executors_agree,
    assert_same_bits,
    needs_core,
    run_native,
    run_reference,
)
from graph_values import largest_value
from madaline.errors import TraceError
from madaline.graph.node import topological_order
from madaline.graph.trace import Graph
from madaline.kernels.execute import structure, with_arrays_as_inputs, with_rows
from madaline.plan.planner import plan
from madaline.plan.rows import NeedsRowCountError
from random_graphs import INDEXING, Case, cases

pytestmark = needs_core

BATCH_SIZES = (0, 1, 2, 7, 63, 64, 65, 191, 193, 255, 256, 257, 1000)  # around the sizes of tiles
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])
each_size = pytest.mark.parametrize("n_rows", BATCH_SIZES)


def gradient_of(case: Case) -> Graph:
    try:
        graph = case.gradient
    except TraceError:
        graph = None  # a product of a batch, whose derivative needs the number of rows
    assume(graph is not None)
    return graph


def needs_a_row(graph: Graph) -> bool:
    """Whether it takes the largest or smallest of the rows, which no rows do not have."""
    return any(n.primitive.name in ("max", "min", "argmax") for n in topological_order(graph.outputs))


@each_dtype
def test_values_agree(dtype):
    @settings(max_examples=150)
    @given(cases(dtype=dtype))
    def check(case):
        assert_executors_agree(case.graph, case.arguments())

    check()


@each_dtype
def test_gradients_agree(dtype):
    @settings(max_examples=150)
    @given(cases(dtype=dtype))
    def check(case):
        assert_executors_agree(gradient_of(case), case.arguments())

    check()


@pytest.mark.parametrize("only", [None, INDEXING], ids=["all steps", "indexing"])
@each_dtype
def test_values_of_all_types_and_empty_shapes_agree(dtype, only):
    """A node that can be made can be run by both executors, with the type that it states."""

    @settings(max_examples=120)
    @given(cases(dtype=dtype, wide=True, only=only))
    def check(case):
        found = assert_executors_agree(case.graph, case.arguments())
        assert [value.dtype for value in found] == [node.dtype for node in case.graph.outputs]

    check()


@each_size
@each_dtype
def test_batches_agree(dtype, n_rows):
    """An open number of rows: native, reference, and the plan for this number alone all give the same."""

    @settings(max_examples=20)
    @given(cases(dtype=dtype, batch=True))
    def check(case):
        for graph in (case.graph, gradient_of(case)):
            assume(n_rows > 0 or not needs_a_row(graph))
            arguments = case.arguments(n_rows)
            expected = assert_executors_agree(graph, arguments, n_rows)
            concrete = with_rows(graph, n_rows)
            scale = largest_value(graph, arguments, n_rows)
            assert_close(run_native(concrete, arguments), expected, graph.outputs, scale=scale, what="concrete")

    check()


def test_some_random_batches_are_planned_once_for_all_sizes():
    """Else the tests above would only ever try plans for one number of rows."""
    planned = []

    @settings(max_examples=60)
    @given(cases(batch=True))
    def count(case):
        try:
            plan(with_arrays_as_inputs(case.graph, structure(case.graph)[1]))
            planned.append(True)
        except NeedsRowCountError:
            planned.append(False)

    count()
    assert sum(planned) > len(planned) / 2


@each_size
def test_the_number_of_threads_changes_no_bit(n_rows):
    @settings(max_examples=15)
    @given(cases(dtype="float32", batch=True), st.sampled_from(ISAS))
    def check(case, isa):
        graph = gradient_of(case)
        assume(n_rows > 0 or not needs_a_row(graph))
        arguments = case.arguments(n_rows)
        alone = run_native(graph, arguments, n_rows, isa=isa, threads=1)
        for threads in (1, 2, 3, 4):
            assert_same_bits(run_native(graph, arguments, n_rows, isa=isa, threads=threads), alone)

    check()


@settings(max_examples=60)
@given(cases(batch=True))
def test_the_reference_does_not_care_whether_the_number_of_rows_was_open(case):
    assume(not needs_a_row(case.graph))
    for n_rows in (0, 3):
        arguments = case.arguments(n_rows)
        open_ = run_reference(case.graph, arguments, n_rows)
        known = run_reference(with_rows(case.graph, n_rows), arguments)
        scale = largest_value(case.graph, arguments, n_rows)
        assert_close(open_, known, case.graph.outputs, scale=scale, what="open")
