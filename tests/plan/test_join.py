"""Pieces written straight into the array they are joined in: fewer copies, the same values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madaline as md
from agreement import assert_executors_agree, needs_core
from madaline.graph.node import constant, new_input
from madaline.graph.primitives.shape import place
from madaline.graph.trace import Graph, trace
from madaline.plan.planner import plan

X = np.arange(12.0).reshape(4, 3)


def copies(program):
    """How many instructions joining takes besides computing the pieces."""
    return sum(step.nodes[0].primitive.name == "place" for step in program.instructions)


def placed(pieces, size, starts, steps=1):
    return place(pieces, (size,), [(start,) for start in starts], [(steps,)] * len(pieces))


JOINED = {
    "products": (lambda x: np.concatenate([(x @ x.T).reshape(16), (x.T @ x).reshape(9)]), 0),
    "a sum and a chain": (lambda x: np.concatenate([x.sum(axis=0), np.exp(x[0])]), 0),
    "rows of a matrix": (lambda x: np.concatenate([x @ np.ones((3, 3)), np.sin(x)]), 0),
    "the same twice": (lambda x: np.concatenate([y := np.cumsum(x[0]), y]), 1),
    "an input": (lambda x: np.concatenate([x[0], np.cumsum(x[1])]), 1),
    "a transpose": (lambda x: np.concatenate([(x @ np.ones((3, 2))).T.reshape(8), np.cumsum(x[1])]), 0),
    "joined twice": (
        lambda x: np.concatenate([np.concatenate([np.cumsum(x[0]), x.sum(axis=0)]), np.cumsum(x[1]), x.sum(axis=1)]),
        0,
    ),
    "a piece that is read too": (lambda x: np.concatenate([y := np.cumsum(x[0]), np.flip(y) * 2.0]), 0),
    "a piece that is an output": (lambda x: (y := np.cumsum(x[0]), np.concatenate([y, x.sum(axis=0)])), 1),
    "joined for a product": (lambda x: np.concatenate([np.cumsum(x[0]), x.sum(axis=0)]) @ np.ones(6), 0),
    "columns side by side": (lambda x: np.concatenate([np.exp(x), np.sin(x)], axis=1), 2),
    "a gap": (lambda x: placed([np.cumsum(x[0]), x.sum(axis=0)], 9, (1, 5)), 3),
    "overlapping": (lambda x: placed([np.cumsum(x[0]), x.sum(axis=0)], 9, (1, 3)), 3),
    "every other element": (lambda x: placed([np.cumsum(x[0])], 6, (1,), 2), 2),
    "joined twice in different orders": (
        lambda x: np.concatenate([y := np.tanh(x[0]), x[1]]) @ np.concatenate([x[1], y]),
        3,
    ),
    "nothing in it": (lambda x: np.concatenate([x[0][:0], np.cumsum(x[1]), x[2][:0]]), 0),
}


@needs_core
@pytest.mark.parametrize("name", JOINED)
def test_pieces_are_written_where_they_belong(name):
    f, n_copies = JOINED[name]
    graph = trace(f, X)
    assert_executors_agree(graph, [X])
    assert copies(plan(graph)) == n_copies


@needs_core
def test_constants_and_integers_are_joined():
    x = new_input(0, (3,), np.int64)
    graph = Graph((x,), (np.concatenate([x * 2, constant(np.array([5, 6])), np.cumsum(x)]),))
    assert_executors_agree(graph, [np.arange(3)])


def flat_net(first, second, x):
    return np.tanh(x @ first[:12].reshape(3, 4) + first[12:16]) @ second[16:24].reshape(4, 2) + second[24:]


@needs_core
@pytest.mark.parametrize("n_rows", [0, 1, 7, 100, 2000])
@pytest.mark.parametrize("first", [0, 16], ids=["all", "without the first layer"])
def test_the_gradient_of_a_flat_vector_is_one_buffer_and_one_combine(n_rows, first):
    """Reductions over the rows meet in it from every lane; elements that nobody needs are zero."""

    def loss(w, fixed, x):
        return np.mean(np.square(flat_net(fixed if first else w, w, x)))

    rng = np.random.default_rng(0)
    w, x = rng.normal(size=26), rng.normal(size=(n_rows, 3))
    graph = trace(md.grad(loss), w, w, x, rows=[2])
    assert_executors_agree(graph, [w, w, x], n_rows)
    program = plan(graph)
    (combine,) = [c for stage in program.stages for c in stage.combines]
    assert combine.size == 26 - first
    assert copies(program) == (1 if first else 0)


MADE = {
    "input": lambda x: x,
    "chain": lambda x: np.tanh(x) * 2.0,
    "scan": np.cumsum,
    "reversed": lambda x: x[::-1],
    "product": lambda x: np.outer(x, x) @ x,
    "part": lambda x: np.exp(x)[1:],
}


@needs_core
@settings(max_examples=60)
@given(data=st.data())
def test_values_may_enter_several_joins(data):
    """Each value has one home at most; the other joins copy it."""
    names = data.draw(st.lists(st.sampled_from(sorted(MADE)), min_size=1, max_size=3), label="values")
    picks = st.lists(st.integers(0, len(names) - 1), min_size=1, max_size=4)
    first, second = data.draw(picks, label="first"), data.draw(picks, label="second")
    nested = data.draw(st.booleans(), label="nested")

    def f(x):
        made = [MADE[name](x + index) for index, name in enumerate(names)]
        one = np.concatenate([made[index] for index in first])
        two = np.concatenate([*([one] if nested else []), *(made[index] for index in second)])
        return np.sum(one * one) * np.sum(np.sin(two)), one, two

    x = np.linspace(-1.0, 1.0, 3)
    assert_executors_agree(trace(f, x), [x])
    assert_executors_agree(trace(md.grad(lambda x: f(x)[0]), x), [x])
