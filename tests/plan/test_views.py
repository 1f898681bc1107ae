"""Views: whatever NumPy can say by strides, a view says by the same elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_values import evaluate
from madaline.graph.node import new_input, topological_order
from madaline.graph.numpy_api import dispatch as _numpy_functions  # noqa: F401 - nodes need NumPy's functions
from madaline.graph.shapes import Rows, resolve
from madaline.graph.trace import trace
from madaline.plan.views import broadcast_strides, is_view, physical_order, stored_strides, views_of, width
from random_graphs import cases

MOVES = ("reshape", "transpose", "broadcast", "slice", "item", "flip")
ROWS = Rows()


def storage(root, value):
    """The memory of a stored value: batch axis outermost, then row-major."""
    return np.ascontiguousarray(value.transpose(physical_order(root.shape))).ravel()


def through_strides(view, memory, shape):
    """The elements a view points to. Reading out of bounds raises, which raw strides would not."""
    index = np.full(shape, view.offset)
    for axis, (size, stride) in enumerate(zip(shape, view.strides, strict=True)):
        index += (np.arange(size) * stride).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    assert index.size == 0 or index.min() >= 0, "reads before the start"
    return memory[index]


def assert_views_read_what_numpy_gives(graph, arguments, n_rows=0):
    nodes = topological_order([*graph.inputs, *graph.outputs])
    views = views_of(nodes)
    values = dict(zip(map(id, graph.inputs), arguments, strict=True))
    for node in nodes:
        if id(node) not in values:
            values[id(node)] = evaluate(node, [values[id(item)] for item in node.inputs], n_rows)
        root = views[id(node)].root
        found = through_strides(
            views[id(node)], storage(root, np.asarray(values[id(root)])), resolve(node.shape, n_rows)
        )
        np.testing.assert_array_equal(found, values[id(node)], err_msg=str(node))
    return views


@settings(max_examples=300)
@given(cases(only=MOVES))
def test_every_move_of_known_sizes_reads_the_same_elements_as_numpy(case):
    assert_views_read_what_numpy_gives(case.graph, case.arguments())


@settings(max_examples=300)
@given(cases(only=MOVES, batch=True), st.sampled_from([0, 1, 5]))
def test_every_move_of_a_batch_reads_the_same_elements_as_numpy(case, n_rows):
    assert_views_read_what_numpy_gives(case.graph, case.arguments(n_rows), n_rows)


VIEWS = {
    "transpose": lambda x: x.transpose(2, 0, 1),
    "broadcast": lambda x: np.broadcast_to(x[:, :1], (5, 4, 6, 3)),
    "slice": lambda x: x[1:, ::2, 2:3],
    "backwards": lambda x: x[::-1, :, ::-2],
    "item": lambda x: x[:, 3],
    "flip": lambda x: np.flip(x, (0, 2)),
    "split an axis": lambda x: x.reshape(4, 2, 3, 3),
    "join axes": lambda x: x.reshape(24, 3),
    "new axes": lambda x: x[:, None, :, None],
    "split a flipped axis": lambda x: np.flip(x, 1).reshape(4, 3, 2, 3),
    "join after a slice of the first axis": lambda x: x[1:3].reshape(36),
}


@pytest.mark.parametrize("f", VIEWS.values(), ids=VIEWS.keys())
def test_what_strides_can_say_costs_nothing(f):
    x = np.arange(72.0).reshape(4, 6, 3)
    graph = trace(f, x)
    views = assert_views_read_what_numpy_gives(graph, [x])
    assert views[id(graph.outputs[0])].root is graph.inputs[0]
    assert is_view(graph.outputs[0])


COPIES = {
    "join transposed axes": lambda x: x.transpose(1, 0, 2).reshape(24, 3),
    "join after a slice of the second axis": lambda x: x[:, 1:].reshape(-1),
    "join a broadcast axis": lambda x: np.broadcast_to(x[:, :1], (4, 6, 3)).reshape(24, 3),
}


@pytest.mark.parametrize("f", COPIES.values(), ids=COPIES.keys())
def test_what_strides_cannot_say_is_stored_anew(f):
    x = np.arange(72.0).reshape(4, 6, 3)
    graph = trace(f, x)
    views = assert_views_read_what_numpy_gives(graph, [x])
    assert views[id(graph.outputs[0])].root is graph.outputs[0]
    assert not is_view(graph.outputs[0])


def test_a_batch_lies_row_by_row_wherever_its_axis_stands():
    assert physical_order((3, ROWS, 2)) == (1, 0, 2)
    assert stored_strides((3, ROWS, 2)) == (2, 6, 1)
    assert stored_strides((ROWS, 3, 2)) == (6, 2, 1)
    assert stored_strides((4, 3, 2)) == (6, 2, 1)
    assert width((3, ROWS, 2)) == 6


def test_a_transposed_batch_is_a_view():
    x = new_input(0, (ROWS, 3), np.float64)
    views = views_of([x, y := x.T])
    assert views[id(y)].root is x
    assert views[id(y)].strides == (1, 3)


def test_a_flip_over_the_rows_is_no_view_since_its_start_depends_on_their_number():
    x = new_input(0, (ROWS, 3), np.float64)
    views = views_of([x, y := np.flip(x, 0), z := np.flip(x, 1)])
    assert views[id(y)].root is y
    assert views[id(z)].root is x


@pytest.mark.parametrize(
    ("shape", "target"),
    [((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1, 1), (4, 5)), ((1, 3), (1, 3)), ((2, 0), (5, 2, 0))],
)
def test_broadcasting_gives_numpys_strides(shape, target):
    x = np.zeros(shape)
    strides = tuple(s // 8 for s in np.broadcast_to(x, target).strides)
    ours = broadcast_strides(stored_strides(shape), shape, target)
    assert [a for a, size in zip(ours, target, strict=True) if size > 1] == [
        b for b, size in zip(strides, target, strict=True) if size > 1
    ]
