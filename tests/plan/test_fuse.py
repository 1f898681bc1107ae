"""Fusing: which nodes share an instruction, and that nothing is computed before what it needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import madaline as md
from agreement import assert_executors_agree, assert_same_bits, needs_core, run_native
from madaline.graph.node import topological_order
from madaline.graph.trace import trace
from madaline.kernels.execute import Executable
from madaline.plan.fuse import MAX_CHAIN, chain_dtype, fuse
from madaline.plan.instructions.elementwise import Chain
from madaline.plan.instructions.product import MatrixProduct
from madaline.plan.instructions.reduce import Reduction
from madaline.plan.planner import plan
from madaline.plan.rows import LEAF_LEVEL, check_layouts, kind_of, levels
from madaline.plan.rows import NeedsRowCountError as NeedsRowCount
from madaline.plan.simplify import simplify
from madaline.plan.views import views_of
from random_graphs import cases


def fused(graph):
    graph = simplify(graph)
    nodes = topological_order([*graph.inputs, *graph.outputs])
    level = levels(nodes, {id(node): kind_of(node) for node in nodes})
    nodes.sort(key=lambda node: level[id(node)])
    views = views_of(nodes)
    return nodes, level, views, fuse(nodes, level, views)


def check(graph):
    nodes, level, views, groups = fused(graph)
    home = {id(node): position for position, group in enumerate(groups) for node in group.nodes}
    stored = [n for n in nodes if views[id(n)].root is n and level[id(n)] != LEAF_LEVEL]
    assert sorted(home) == sorted(id(n) for n in stored), "every stored node is in exactly one group"
    for position, group in enumerate(groups):
        assert group.chain or len(group.nodes) == 1
        assert len(group.nodes) <= MAX_CHAIN
        placed = set()
        for node in group.nodes:
            assert level[id(node)] == group.level
            assert node.shape == group.shape
            assert not group.chain or chain_dtype(node) in (None, group.dtype)
            for item in node.inputs:
                root = views[id(item)].root
                if id(root) not in home:
                    continue
                if home[id(root)] == position:
                    assert item is root, "a chain cannot read its own result through a view"
                    assert item.shape == node.shape, "nor repeat it"
                    assert id(item) in placed
                else:
                    assert home[id(root)] < position
            placed.add(id(node))
    assert [group.level for group in groups] == sorted(group.level for group in groups)


@settings(max_examples=200)
@given(cases())
def test_every_node_comes_after_what_it_needs(case):
    check(case.graph)


@settings(max_examples=200)
@given(cases(batch=True))
def test_every_node_of_a_batch_comes_after_what_it_needs(case):
    try:
        check_layouts(topological_order(case.graph.outputs))
    except NeedsRowCount:
        return
    check(case.graph)


def instructions(f, *args, rows=()):
    return Executable(trace(f, *args, rows=rows)).program().instructions


X, W, B = np.ones((5, 3)), np.ones((3, 4)), np.ones(4)


def test_an_elementwise_formula_is_one_instruction():
    (chain,) = instructions(lambda x: np.tanh(x) * x + np.exp(-x * x) / (1.0 + x), X)
    assert isinstance(chain, Chain)


def test_casts_within_a_formula_need_no_instruction_of_their_own():
    (chain,) = instructions(lambda x: x * (x > 0), X)
    assert isinstance(chain, Chain)


def test_another_type_needs_another_chain():
    assert len(instructions(lambda x: np.exp(x).astype(np.float32) * np.float32(2), X)) == 2


def test_bias_and_rectifier_go_into_the_product():
    (product,) = instructions(lambda x, W, b: md.functional.relu(x @ W + b), X, W, B)
    assert isinstance(product, MatrixProduct)
    assert product.bias is not None
    assert product.relu
    assert product.epilogue is None


def test_other_activations_are_the_products_epilogue():
    (product,) = instructions(lambda x, W, b: np.tanh(x @ W + b), X, W, B)
    assert isinstance(product, MatrixProduct)
    assert product.bias is not None
    assert [op.name for op in product.epilogue.ops] == ["tanh"]


@pytest.mark.parametrize("rows", [[], [0]])
def test_a_value_that_is_needed_unrectified_too_is_kept(rows):
    def f(x, W, b):
        z = x @ W + b
        return md.functional.relu(z), z

    found = md.compile(f, rows=rows)(X, -W, B)
    np.testing.assert_array_equal(found[0], np.maximum(X @ -W + B, 0))
    np.testing.assert_array_equal(found[1], X @ -W + B)


def test_a_long_formula_is_split():
    def f(x):
        for step in range(200):
            x = np.sin(x) + step
        return x

    found = instructions(f, X)
    assert 1 < len(found) < 400 / MAX_CHAIN + 4
    np.testing.assert_allclose(md.compile(f)(X), f(X))


def test_two_values_of_one_shape_that_do_not_depend_on_each_other_share_a_chain():
    (chain,) = instructions(lambda x, y: (np.exp(x), np.sin(y)), X, X)
    assert isinstance(chain, Chain)


# Masks are made where they are used


def slope(x, W, V):
    return md.value_and_grad(lambda W: np.sum(md.functional.relu(x @ W) @ V))(W)


@pytest.mark.parametrize("rows", [[], [0]], ids=["known", "batch"])
def test_the_mask_of_a_rectifier_is_not_kept(rows):
    """Its values are kept for the next product, and tell it again."""
    x, W, V = np.ones((5, 3)), np.ones((3, 4)), np.ones((4, 2))
    program = plan(trace(slope, x, W, V, rows=rows))
    assert all(buffer.dtype != "bool" for buffer in program.buffers)


def test_a_mask_that_is_wanted_or_used_twice_is_made_once():
    def f(x, W):
        y = md.functional.relu(x @ W)
        mask = y > 0
        return mask, np.where(mask, y @ np.ones((4, 4)), 0.0)

    program = plan(trace(f, np.ones((5, 3)), np.ones((3, 4))))
    assert sum(op.name == "greater" for chain in chains(program) for op in chain.ops) == 1


def chains(program):
    epilogues = [getattr(step, "epilogue", None) for step in program.instructions]
    return [step for step in [*program.instructions, *epilogues] if isinstance(step, Chain)]


def test_single_numbers_do_not_part_a_chain():
    def f(w, t):
        decayed = w * 0.5
        return w - decayed * np.exp(t) + np.sqrt(t)

    program = plan(trace(f, np.ones(8), 2.0))
    assert [step.dims for step in program.instructions] == [(), ((8, False),)]


def rectifier_slope(x, w, y):
    return np.where(y > 0, x @ w, 0.0)


@pytest.mark.parametrize("f", [rectifier_slope, lambda x, w, y: np.tanh(rectifier_slope(x, w, y)) * y])
def test_the_slope_of_a_rectifier_goes_into_the_product_before_it(f):
    rng = np.random.default_rng(0)
    for rows, inner, columns in [(1, 1, 1), (5, 3, 2), (40, 20, 33), (300, 1, 7), (9, 70, 3)]:
        x, w, y = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns)), rng.normal(size=(rows, columns))
        y[rng.random(y.shape) < 0.2] = 0.0
        y[0, 0], x[-1, 0] = np.nan, np.inf
        graph = trace(f, x, w, y, rows=[0, 2])
        (product,) = [step for step in plan(graph).instructions if isinstance(step, MatrixProduct)]
        assert product.gate is not None
        assert_executors_agree(graph, [x, w, y], rows)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w, y: np.where(y > 1, x @ w, 0.0),
        lambda x, w, y: np.where(y > 0, x @ w, -0.0),
        lambda x, w, y: np.where(y > 0, 0.0, x @ w),
        lambda x, w, y: np.where(y > 0, x @ w, 0.0) + (x @ w),
        lambda x, w, y: np.where(y[:, :1] > 0, x @ w, 0.0),
    ],
)
def test_what_is_not_the_slope_of_a_rectifier_stays_a_chain(f):
    rng = np.random.default_rng(0)
    x, w, y = rng.normal(size=(6, 3)), rng.normal(size=(3, 4)), rng.normal(size=(6, 4))
    graph = trace(f, x, w, y, rows=[0, 2])
    assert all(step.gate is None for step in plan(graph).instructions if isinstance(step, MatrixProduct))
    assert_executors_agree(graph, [x, w, y], 6)


def moments(x, y):
    return np.sum(x * y, axis=0), np.sum(x * x, axis=0), x - np.sum(x, axis=0) / x.shape[0]


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 2), (5, 9), (33, 31), (300, 130), (2000, 64)])
def test_products_that_are_only_summed_down_the_rows_are_not_stored(rows, columns):
    rng = np.random.default_rng(rows)
    x, y = rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns))
    graph = trace(moments, x, y, rows=[0, 1])
    steps = plan(graph).instructions
    assert sum(isinstance(step, Reduction) and step.times is not None for step in steps) == 2
    assert_executors_agree(graph, [x, y], rows)


@needs_core
def test_threads_change_no_bit_of_sums_of_products():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3000, 300)).astype(np.float32)
    graph = trace(moments, x, y, rows=[0, 1])
    alone = run_native(graph, [x, y], len(x), threads=1)
    for threads in (2, 3, 4):
        assert_same_bits(run_native(graph, [x, y], len(x), threads=threads), alone)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.sum(x * y, axis=1),
        lambda x, y: np.sum(x * y[:, :1], axis=0),
        lambda x, y: (np.sum(x * y, axis=0), x * y),
        lambda x, y: np.max(x * y, axis=0),
        lambda x, y: np.sum(np.sin(x) * np.cos(y), axis=0),
    ],
)
def test_other_sums_are_of_what_is_stored(f):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20, 5))
    graph = trace(f, x, y, rows=[0, 1])
    assert all(step.times is None for step in plan(graph).instructions if isinstance(step, Reduction))
    assert_executors_agree(graph, [x, y], 20)


def test_a_gradient_times_factors_is_made_where_it_is_used():
    """Batch normalisation: the gradient is kept for its sum over the rows; scaled, it is needed once, later."""

    def f(g, factors, x):
        total = np.sum(g, axis=0)
        return g * factors + total * x

    rng = np.random.default_rng(0)
    g, factors, x = rng.normal(size=(30, 8)), rng.normal(size=8), rng.normal(size=(30, 8))
    graph = trace(lambda a, w, factors, x: f(a @ w, factors, x), g, rng.normal(size=(8, 8)), factors, x, rows=[0, 3])
    product = next(step for step in plan(graph).instructions if isinstance(step, MatrixProduct))
    assert product.epilogue is None
    assert_executors_agree(graph, [g, rng.normal(size=(8, 8)), factors, x], 30)
