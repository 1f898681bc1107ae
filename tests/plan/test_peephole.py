"""Ops joined into fatter ones: the optimizers' updates in a few passes, and never another bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import madaline.plan.instructions.elementwise
from agreement import assert_same_bits, needs_core, run_native
from madaline.graph.trace import trace
from madaline.kernels import core, native
from madaline.optim.adagrad import Adagrad
from madaline.optim.adam import Adam, AdamW
from madaline.optim.rmsprop import RMSprop
from madaline.optim.sgd import SGD
from madaline.plan.planner import plan
from random_graphs import cases

N = 700


def update_of(optimizer):
    slots = len(optimizer.slots)

    def update(w, g, t, lr, *state):
        new, state = optimizer.step(w, g, state, t=t, lr=lr)
        return new, *state

    rng = np.random.default_rng(0)
    vectors = [rng.uniform(0.1, 1.0, size=N).astype(np.float32) for _ in range(2 + slots)]
    numbers = [np.array(3, np.float32), np.array(0.01, np.float32)]
    return update, [*vectors[:2], *numbers, *vectors[2:]]


def vector_ops(program):
    """Names of the ops that are run for every element."""
    (chain,) = [step for step in program.instructions if step.dims == ((N, False),)]
    numbers = {slot for slot, operand in enumerate(chain.places) if operand.strides == (0,)}
    numbers.update(range(len(chain.places), len(chain.places) + len(chain.constants)))
    names = []
    for op in chain.ops:
        if numbers.issuperset(op.args):
            numbers.add(op.dst)
        else:
            names.append(op.name)
    return names


UPDATES = {
    "adam": (Adam(), ["scaled_sum", "scaled_sum_square", "adaptive_step"]),
    "adamw": (AdamW(), ["multiply", "multiply_add", "scaled_sum", "scaled_sum_square", "adaptive_step"]),
    "sgd": (SGD(), ["multiply_add"]),
    "momentum": (SGD(momentum=0.9), ["multiply_add", "multiply_add"]),
    "nesterov": (SGD(momentum=0.9, nesterov=True), ["multiply_add"] * 3),
    "rmsprop": (RMSprop(), ["scaled_sum_square", "sqrt", "add", "divide", "multiply_add"]),
    "adagrad": (Adagrad(), ["multiply_add", "sqrt", "add", "multiply", "divide", "subtract"]),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_is_a_few_fat_ops(name):
    optimizer, expected = UPDATES[name]
    update, arguments = update_of(optimizer)
    assert sorted(vector_ops(plan(trace(update, *arguments)))) == sorted(expected)


def without_fusing(monkeypatch):
    monkeypatch.setattr(madaline.plan.instructions.elementwise, "with_fused_ops", lambda ops, *_: list(ops))


@needs_core
@pytest.mark.parametrize("isa", core.cpu_isas())
@pytest.mark.parametrize("name", UPDATES)
def test_fusing_changes_no_bit_of_an_update(name, isa, monkeypatch):
    update, arguments = update_of(UPDATES[name][0])
    graph = trace(update, *arguments)
    found = native.run(plan(graph), arguments, core=core.load(isa))
    without_fusing(monkeypatch)
    assert_same_bits(found, native.run(plan(graph), arguments, core=core.load(isa)))


COLUMNS = {
    "columns are neither numbers nor vectors": lambda x: 2.0 * x + 3.0 * x[:, :1],
    "a column times a vector": lambda x: x * x[:, :1] + 0.5 * x,
    "a row for all": lambda x: 0.5 * x + 2.0 * np.sum(x, axis=0),
    "squares of columns": lambda x: 0.5 * x + (2.0 * x[:, :1]) * x[:, :1],
    "one column": lambda x: 0.5 * x[:, :1] + 2.0 * x[:, 1:2],
    "a product that is an output": lambda x: (y := 2.0 * x, y + 0.5 * x),
    "a product used twice": lambda x: (2.0 * x + 0.5 * x) * (2.0 * x),
    "both products are of numbers": lambda x: 0.5 * np.sum(x) + 2.0 * np.max(x) + x,
    "the difference of products": lambda x: 0.5 * x - 2.0 * x * x,
    "a step with the divisor the other way round": lambda x: x - 0.5 * x / (1e-3 + np.sqrt(2.0 * x)),
    "a step of one column": lambda x: x - 0.5 * x[:, :1] / (np.sqrt(2.0 * x) + 1e-3),
    "an output made of numbers": lambda x: (y := np.sum(x) * np.ones_like(x), 2.0 * x + y * x),
    "cancelling": lambda x: x * x - x * x + 0.5 * x,
}


@needs_core
@pytest.mark.parametrize("rows", [[], [0]], ids=["known", "batch"])
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("shape", [(3, 5), (3, 600), (1, 5), (4, 2)], ids=str)
def test_fusing_changes_no_bit_of_other_chains(name, shape, rows, monkeypatch):
    x = np.random.default_rng(0).uniform(0.1, 2.0, size=shape).astype(np.float32)
    graph = trace(COLUMNS[name], x, rows=rows)
    module = core.load(core.cpu_isas()[-1])
    found = native.run(plan(graph), [x], len(x), core=module)
    without_fusing(monkeypatch)
    assert_same_bits(found, native.run(plan(graph), [x], len(x), core=module))


@needs_core
def test_fusing_changes_no_bit_of_random_graphs():
    fused = madaline.plan.instructions.elementwise.with_fused_ops
    names = set()

    def plain_or_fused(ops, *rest):
        made = fused(ops, *rest)
        names.update(op.name for op in made)
        return made

    @settings(max_examples=150)
    @given(cases(dtype="float32", only=("binary", "binary", "unary", "reduce")))
    def check(case):
        from madaline.kernels.execute import CACHE

        results = []
        for rule in (plain_or_fused, lambda ops, *_: list(ops)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(madaline.plan.instructions.elementwise, "with_fused_ops", rule)
                CACHE._programs.clear()
                results.append(run_native(case.graph, case.arguments()))
        CACHE._programs.clear()
        assert_same_bits(*results)

    check()
    assert "multiply_add" in names
