"""Programs are cached by the structure of their graph: what may differ, what may not, and nothing stale."""

from __future__ import annotations

import concurrent.futures
import copy

import numpy as np
import pytest

import madaline as md
from madaline.graph.node import constant, new_input
from madaline.graph.trace import Graph, trace
from madaline.kernels import execute
from madaline.kernels.execute import Executable, ProgramCache, structure


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    """A cache of our own, so that no other test's programs are found."""
    monkeypatch.setattr(execute, "CACHE", ProgramCache(8))


def program(f, *args, rows=()):
    return Executable(trace(f, *args, rows=rows)).program()


X, A, B = np.arange(3.0), np.ones(3), np.ones(3)


def test_the_same_formula_is_planned_once():
    assert program(lambda x: np.exp(x) + 1.0, X) is program(lambda x: np.exp(x) + 1.0, X + 5.0)


DIFFERENT = {
    "another operation": (np.sqrt, np.square),
    "another number": (lambda x: x + 1.0, lambda x: x + 2.0),
    "another zero": (lambda x: np.copysign(x, 0.0), lambda x: np.copysign(x, -0.0)),
    "another order": (lambda x: x - 2.0, lambda x: 2.0 - x),
    "another axis": (lambda x: x[None].sum(axis=0), lambda x: x[None].sum(axis=1)),
    "another output": (lambda x: (np.sqrt(x), x), lambda x: (x, np.sqrt(x))),
    "an array for a number": (lambda x: x * 2.0, lambda x: x * np.full(3, 2.0)),
    "the same array twice or two": (
        lambda x, a=A: x * a + a,
        lambda x, a=A, b=B: x * a + b,
    ),
}


@pytest.mark.parametrize(("f", "g"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_another_structure_is_another_program(f, g):
    assert program(f, X) is not program(g, X)
    for function in (f, g):
        expected = function(X)
        found = md.compile(function)(X)
        for one, other in zip(as_tuple(found), as_tuple(expected), strict=True):
            np.testing.assert_array_equal(one, other)


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("other", [np.arange(4.0), X.astype(np.float32), X[None], np.arange(3)])
def test_other_shapes_and_types_are_other_programs(other):
    assert program(lambda x: x * 2, X) is not program(lambda x: x * 2, other)


def test_known_and_open_numbers_of_rows_are_other_programs():
    x = np.ones((4, 3))
    assert program(lambda x: x * 2.0, x) is not program(lambda x: x * 2.0, x, rows=[0])
    assert program(lambda x: x * 2.0, x, rows=[0]) is program(lambda x: x * 2.0, x[:2], rows=[0])


def test_arrays_held_by_a_graph_may_differ_and_are_never_stale():
    """Two closures over different data share a program, not the data."""
    tables = [np.arange(3.0), np.arange(3.0) + 10.0]
    executables = [Executable(trace(lambda x, t=table: x * t, X)) for table in tables]
    assert executables[0].program() is executables[1].program()
    for executable, table in zip(executables, tables, strict=True):
        np.testing.assert_array_equal(executable([X])[0], X * table)


def test_gradients_of_new_data_are_new():
    """A user's loop: the same loss closes over another batch each time."""
    w = np.array([1.0, -2.0])
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=(5, 2))
        slope = md.grad(lambda w, x=x: np.sum((x @ w) ** 2))(w)
        np.testing.assert_allclose(slope, 2 * x.T @ (x @ w), rtol=1e-12)


def test_an_array_changed_in_place_is_seen_by_gradients_but_not_by_what_was_compiled():
    table = np.ones(3)
    compiled = md.compile(lambda x: x * table)
    assert compiled(X).tolist() == [0, 1, 2]
    table[:] = 5.0
    assert compiled(X).tolist() == [0, 1, 2]
    assert md.grad(lambda x: np.sum(x * table))(X).tolist() == [5, 5, 5]


def test_arrays_that_coincide_are_bound_once():
    table = np.arange(3.0)
    _, arrays = structure(trace(lambda x: x * table + x / table, X))
    assert len(arrays) == 1


def test_large_integers_are_held_exactly():
    """Beyond 2**53 a double, which is what a chain holds, would round."""
    big = 2**53 + 1
    found = md.compile(lambda i: i + np.int64(big))(np.array([0, 1]))
    assert found.tolist() == [big, big + 1]


def test_the_cache_is_bounded_and_keeps_what_was_used_last():
    cache = ProgramCache(3)
    for number in range(3):
        cache.keep(number, f"program {number}")
    assert cache.find(0) == "program 0"
    cache.keep(3, "program 3")
    assert [cache.find(number) is not None for number in range(4)] == [True, False, True, True]


def test_the_cache_survives_many_threads():
    cache = ProgramCache(5)

    def work(seed):
        rng = np.random.default_rng(seed)
        for key in map(int, rng.integers(0, 20, size=2000)):
            found = cache.find(key)
            assert found is None or found == key
            cache.keep(key, key)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(cache._programs) <= 5


def test_many_formulas_do_not_pile_up():
    for number in range(30):
        md.compile(lambda x, number=number: x * float(number + 2))(X)
    assert len(execute.CACHE._programs) <= 8


def test_a_formula_that_left_the_cache_still_runs():
    first = md.compile(lambda x: np.exp(x) + x)
    expected = first(X)
    for number in range(20):
        program(lambda x, number=number: x + float(number), X)
    np.testing.assert_array_equal(first(X), expected)


def test_structures_can_be_kept_and_compared():
    """Keys are made of plain values: no arrays, no nodes."""
    key, _ = structure(trace(lambda x: np.exp(x[1:]).sum() + np.ones(2), X))
    again, _ = structure(trace(lambda x: np.exp(x[1:]).sum() + np.ones(2), X))
    assert key == again
    assert hash(key) == hash(again)
    assert copy.deepcopy(key) == key


def test_a_graph_without_inputs_runs():
    (value,) = Executable(Graph((), (np.exp(constant(np.zeros(2))),)))([])
    assert value.tolist() == [1, 1]


def test_two_inputs_of_one_shape_are_told_apart():
    a, b = new_input(0, (2,), np.float64), new_input(1, (2,), np.float64)
    (first,) = Executable(Graph((a, b), (a - b,)))([np.array([3.0, 3]), np.array([1.0, 2])])
    (second,) = Executable(Graph((a, b), (b - a,)))([np.array([3.0, 3]), np.array([1.0, 2])])
    assert first.tolist() == [2, 1]
    assert second.tolist() == [-2, -1]
