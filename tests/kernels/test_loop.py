"""A loop does what calling its step again and again does, for any data, batches and number of threads."""

from __future__ import annotations

import concurrent.futures
import itertools

import numpy as np
import pytest

import madaline as md
from agreement import assert_same_bits, needs_core
from madaline.kernels.execute import Executable
from madaline.kernels.loop import Loop, Outcome
from madaline.kernels.sources import DenseRows

N_IN, N_HIDDEN = 5, 7
N_PARAMS = N_IN * N_HIDDEN + 2 * N_HIDDEN


def loss(w, x, y):
    W = w[: N_IN * N_HIDDEN].reshape(N_IN, N_HIDDEN)
    b, v = w[N_IN * N_HIDDEN : -N_HIDDEN], w[-N_HIDDEN:]
    return np.mean((np.tanh(x @ W + b) @ v - y) ** 2)


def step(w, m, x, y, lr):
    """Gradient descent with momentum: gives the loss, the new parameters, the new momentum, and the predictions."""
    value, slope = md.value_and_grad(loss)(w, x, y)
    m = 0.9 * m + slope
    return value, w - lr * m, m, x.sum(axis=1)


def problem(n_rows=50, dtype=np.float32):
    rng = np.random.default_rng(1)
    w = (rng.normal(size=N_PARAMS) / 3).astype(dtype)
    x = rng.normal(size=(n_rows, N_IN)).astype(dtype)
    y = rng.normal(size=n_rows).astype(dtype)
    return w, np.zeros_like(w), x, y


def step_graph(dtype=np.float32):
    w, m, x, y = problem(3, dtype)
    return md.trace(step, w, m, x, y, dtype(0.1), rows=[2, 3])


def batches(n_rows, size, seed=0):
    order = np.random.default_rng(seed).permutation(n_rows)
    return order, np.append(np.arange(0, n_rows, size), n_rows)


def rates(n_steps):
    return np.linspace(0.1, 0.01, n_steps)


def one_by_one(graph, w, m, x, y, lrs, order, starts):
    """The same steps by calling the program for each."""
    executable = Executable(graph)
    losses = []
    for k, rate in enumerate(lrs):
        rows = order[starts[k] : starts[k + 1]]
        value, w, m, _ = executable([w, m, x[rows], y[rows], rate], len(rows))
        losses.append(value)
    return w, m, np.array(losses)


def run_loop(loop, x, y, order, starts, *, threads=1, dtype=np.float32, n_rows=50, sources=None):
    w, m, *_ = problem(n_rows, dtype)
    n_steps = len(starts) - 1
    losses, sums = np.zeros(n_steps, dtype), np.zeros(len(order), dtype)
    outcome = loop.run(
        {0: w, 1: m},
        gathered=sources or {2: DenseRows(x), 3: DenseRows(y)},
        tables={4: rates(n_steps)},
        emitted={0: losses, 3: sums},
        order=order,
        starts=starts,
        threads=threads,
    )
    return outcome, [w, m, losses, sums]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 7, 16, 50])
def test_a_loop_equals_its_steps_one_by_one(size, dtype):
    graph = step_graph(dtype)
    w, m, x, y = problem(dtype=dtype)
    order, starts = batches(50, size)
    outcome, (w_loop, m_loop, losses, sums) = run_loop(
        Loop(graph, carried={1: 0, 2: 1}, guard=0), x, y, order, starts, dtype=dtype
    )
    expected = one_by_one(graph, w, m, x, y, rates(len(starts) - 1).astype(dtype), order, starts)
    assert outcome == Outcome(len(starts) - 1, "finished")
    assert_same_bits([w_loop, m_loop, losses], expected)
    np.testing.assert_allclose(sums, x[order].sum(axis=1), rtol=1e-5, atol=1e-5)


def test_nothing_happens_in_no_steps():
    w, m, x, y = problem()
    outcome, (w_loop, m_loop, *_) = run_loop(
        Loop(step_graph(), carried={1: 0, 2: 1}, guard=0), x, y, np.arange(0), np.zeros(1, np.int64)
    )
    assert outcome == Outcome(0, "finished")
    assert_same_bits([w_loop, m_loop], [w, m])


@needs_core
@pytest.mark.parametrize("size", [1, 7, 50])
def test_both_executors_agree(size, monkeypatch):
    _, _, x, y = problem(dtype=np.float64)
    order, starts = batches(50, size)
    loop = Loop(step_graph(np.float64), carried={1: 0, 2: 1}, guard=0)
    outcome, results = run_loop(loop, x, y, order, starts, dtype=np.float64)
    monkeypatch.setenv("MADALINE_EXECUTOR", "reference")
    expected_outcome, expected = run_loop(loop, x, y, order, starts, dtype=np.float64)
    assert outcome == expected_outcome
    for found, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@needs_core
def test_any_number_of_threads_gives_the_same_bits():
    """A net large enough to be split, and rows many enough to be gathered by several threads."""
    graph, run = wide_net(n_rows=3000, width=300, batch=1200)
    runs = [run(Loop(graph, carried={1: 0}, guard=0), threads) for threads in (1, 2, 3, 4)]
    assert runs[0][0] == Outcome(3, "finished")
    for found in runs[1:]:
        assert found[0] == runs[0][0]
        assert_same_bits(found[1], runs[0][1])


def wide_net(n_rows, width, batch, n_in=100):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, n_in)).astype(np.float32)
    y = rng.normal(size=n_rows).astype(np.float32)
    w = (rng.normal(size=n_in * width + width) / 10).astype(np.float32)

    def loss(w, x, y):
        hidden = np.tanh(x @ w[: n_in * width].reshape(n_in, width))
        return np.mean((hidden @ w[n_in * width :] - y) ** 2)

    def step(w, x, y):
        value, slope = md.value_and_grad(loss)(w, x, y)
        return value, w - np.float32(0.01) * slope

    graph = md.trace(step, w, x[:1], y[:1], rows=[1, 2])
    order, starts = batches(n_rows, batch)

    def run(loop, threads):
        carried, losses = w.copy(), np.zeros(len(starts) - 1, np.float32)
        outcome = loop.run(
            {0: carried},
            gathered={1: DenseRows(x), 2: DenseRows(y)},
            emitted={0: losses},
            order=order,
            starts=starts,
            threads=threads,
        )
        return outcome, [carried, losses]

    return graph, run


EXECUTORS = [pytest.param("native", marks=needs_core), "reference"]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_ends_the_loop_before_its_step_changes_anything(bad, executor, monkeypatch):
    monkeypatch.setenv("MADALINE_EXECUTOR", executor)
    _, _, x, y = problem()
    order, starts = np.arange(50), np.arange(0, 51, 10)
    loop = Loop(step_graph(), carried={1: 0, 2: 1}, guard=0)
    _, expected = run_loop(loop, x, y, order, starts)
    expected_at_three = one_by_one(step_graph(), *problem(), rates(5)[:3], order, starts)[:2]
    y[35] = bad
    outcome, (w, m, losses, _) = run_loop(loop, x, y, order, starts)
    assert outcome == Outcome(3, "guard") == loop.outcome
    assert_same_bits([losses[:3]], [expected[2][:3]])
    assert not np.isfinite(losses[3])
    assert losses[4] == 0
    assert_same_bits([w, m], expected_at_three)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_without_a_guard_numbers_go_on_as_they_are(executor, monkeypatch):
    monkeypatch.setenv("MADALINE_EXECUTOR", executor)
    _, _, x, y = problem()
    y[35] = np.nan
    outcome, (w, *_) = run_loop(Loop(step_graph(), carried={1: 0, 2: 1}), x, y, np.arange(50), np.arange(0, 51, 10))
    assert outcome == Outcome(5, "finished")
    assert np.isnan(w).any()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_index_out_of_range_ends_the_loop_with_an_error_and_whole_steps(executor, monkeypatch):
    monkeypatch.setenv("MADALINE_EXECUTOR", executor)

    def step(total, classes):
        return total + np.take_along_axis(np.arange(3.0), classes, axis=0).sum()

    loop = Loop(md.trace(step, 0.0, np.array([0]), rows=[1]), carried={0: 0})
    total = np.zeros(())
    classes = np.array([0, 1, 2, 7, 1])
    with pytest.raises(IndexError, match="7"):
        loop.run({0: total}, gathered={1: DenseRows(classes)}, order=np.arange(5), starts=np.arange(6))
    assert loop.outcome == Outcome(3, "interrupted")
    assert total == 3.0


@needs_core
def test_two_loops_run_at_once():
    graph, run = wide_net(n_rows=2000, width=200, batch=500)
    expected = run(Loop(graph, carried={1: 0}), 1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: run(Loop(graph, carried={1: 0}), 2), range(12)))
    for outcome, arrays in runs:
        assert outcome == expected[0]
        assert_same_bits(arrays, expected[1])


def counting(n_steps):
    """A loop that counts its steps, and the batches of its run."""
    loop = Loop(md.trace(lambda n: n + 1, 0.0), carried={0: 0})
    count = np.zeros(())
    return loop, count, {"order": np.zeros(0, np.int64), "starts": np.zeros(n_steps + 1, np.int64)}


@needs_core
def test_one_loop_called_by_two_threads_runs_once_after_the_other():
    loop, count, batches = counting(1000)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: loop.run({0: count}, **batches), range(8)))
    assert count == 8000


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_program_that_depends_on_the_number_of_rows_is_planned_for_each(executor, monkeypatch, rng):
    """The products of all pairs of rows: their layout needs the number."""
    monkeypatch.setenv("MADALINE_EXECUTOR", executor)
    x = rng.normal(size=(11, 3))
    graph = md.trace(lambda total, x: (total + (x @ x.T).sum(), x.shape[0] * 1.0), 0.0, x, rows=[1])
    total, counts = np.zeros(()), np.zeros(4)
    starts = np.array([0, 4, 8, 9, 11])
    Loop(graph, carried={0: 0}).run(
        {0: total}, gathered={1: DenseRows(x)}, emitted={1: counts}, order=np.arange(11), starts=starts
    )
    parts = [x[a:b] for a, b in itertools.pairwise(starts)]
    assert total == pytest.approx(sum((part @ part.T).sum() for part in parts))
    assert counts.tolist() == [4, 4, 1, 2]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_random_numbers_follow_the_key_of_the_step(executor, monkeypatch):
    monkeypatch.setenv("MADALINE_EXECUTOR", executor)
    graph = md.trace(lambda key: md.random.uniform(key, (3,)), np.array([7, 0]))
    keys = np.array([[7, 0], [7, 1], [8, 0], [7, 0]])
    found = np.zeros((4, *graph.outputs[0].shape), graph.outputs[0].dtype)
    Loop(graph, carried={}).run({}, tables={0: keys}, emitted={0: found}, order=[], starts=np.zeros(5, np.int64))
    assert_same_bits([found[0]], [found[3]])
    assert len(np.unique(found[:3])) == found[:3].size
