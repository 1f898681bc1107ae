"""Running a program: from several threads, after a fork, in worker processes; any kind of array, wrong indices."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

import madaline as md
from agreement import ISAS, assert_same_bits, needs_core
from madaline.kernels import core, native
from madaline.kernels.execute import Executable
from madaline.kernels.threads import get_threads

HERE = Path(__file__).parent


def loss(params, x, y):
    hidden = np.tanh(x @ params["W"] + params["b"])
    return np.mean((hidden @ params["v"] - y) ** 2)


def problem(n_rows=1000, dtype=np.float32):
    rng = np.random.default_rng(3)
    params = {"W": rng.normal(size=(20, 48)), "b": rng.normal(size=48), "v": rng.normal(size=48)}
    params = {name: value.astype(dtype) for name, value in params.items()}
    return params, rng.normal(size=(n_rows, 20)).astype(dtype), rng.normal(size=n_rows).astype(dtype)


def flat(result):
    value, slopes = result
    return [np.asarray(value), *slopes.values()]


@pytest.fixture
def step():
    return md.compile(md.value_and_grad(loss), rows=[1, 2])


@pytest.fixture
def threads():
    """Set the number of threads, and put it back."""
    before = get_threads()
    yield md.set_threads
    md.set_threads(before)


@needs_core
@pytest.mark.parametrize("n_rows", [1, 100, 1000, 20_000])
def test_any_number_of_threads_gives_the_same_bits(step, threads, n_rows):
    args = problem(n_rows)
    threads(1)
    alone = flat(step(*args))
    for n in (2, 3, 4):
        threads(n)
        for _ in range(3):
            assert_same_bits(flat(step(*args)), alone)


@needs_core
@pytest.mark.parametrize("isa", ISAS)
def test_a_wide_net_gives_the_same_bits_with_any_number_of_threads(isa):
    """Matrices too large for a cache are split by columns, not by rows."""
    rng = np.random.default_rng(0)
    x, W = rng.normal(size=(300, 700)).astype(np.float32), rng.normal(size=(700, 900)).astype(np.float32)
    graph = md.trace(lambda x, W: np.tanh(x @ W).sum(axis=0), x, W, rows=[0])
    program = Executable(graph).program()
    runs = [native.run(program, [x, W], 300, core=core.load(isa), threads=n) for n in (1, 2, 3, 4)]
    for run in runs[1:]:
        assert_same_bits(run, runs[0])


@needs_core
def test_several_python_threads_run_one_program_at_once(step, threads):
    threads(2)
    args = [problem(n_rows) for n_rows in (50, 700, 1500, 3000)]
    expected = [flat(step(*each)) for each in args]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda i: (i, flat(step(*args[i % 4]))), range(120)))
    for i, found in runs:
        assert_same_bits(found, expected[i % 4])


def test_several_python_threads_may_plan_the_same_graph_at_once():
    args = problem(64)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: flat(md.compile(md.value_and_grad(loss), rows=[1, 2])(*args)), range(16)))
    for found in runs[1:]:
        assert_same_bits(found, runs[0])


def in_child(connection, function, args):
    connection.send([np.asarray(part).tobytes() for part in flat(function(*args))])
    connection.close()


@needs_core
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_program_runs_in_a_child_forked_after_threads_were_used(step, threads):
    threads(2)
    args = problem(5000)
    expected = [part.tobytes() for part in flat(step(*args))]
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        here, there = context.Pipe()
        child = context.Process(target=in_child, args=(there, step, args))
        child.start()
        assert here.poll(60), "the child hangs"
        assert here.recv() == expected
        child.join(10)
        assert child.exitcode == 0
    assert [part.tobytes() for part in flat(step(*args))] == expected, "the parent still runs"


@needs_core
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_plain_fork_may_run_programs_at_once_with_its_parent(step, threads):
    threads(2)
    args = problem(5000)
    expected = flat(step(*args))
    child = os.fork()
    if child == 0:
        same = all(a.tobytes() == b.tobytes() for a, b in zip(flat(step(*args)), expected, strict=True))
        os._exit(0 if same else 1)
    assert_same_bits(flat(step(*args)), expected)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_worker(seed):
    """What a joblib worker does: train a little, and say how many threads it would use."""
    params, x, y = problem(2000)
    value, _ = md.compile(md.value_and_grad(loss), rows=[1, 2])(params, x + np.float32(seed), y)
    return float(value), get_threads(), os.getpid()


@needs_core
def test_joblib_workers_agree_and_do_not_oversubscribe(run_python):
    """In a process of its own: loky's workers outlive the call, and their warnings are not ours."""
    code = f"""
import joblib, os, sys
sys.path[:0] = {[str(HERE), str(HERE.parent)]!r}
from test_runs import in_worker
if __name__ == "__main__":
    alone = [in_worker(seed)[0] for seed in range(4)]
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(in_worker)(seed) for seed in range(4))
    assert [value for value, _, _ in results] == alone, (results, alone)
    assert all(pid != os.getpid() for _, _, pid in results)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert all(threads <= max(1, cpus // 2) for _, threads, _ in results), results
    print("fine")
"""
    result = run_python(code)
    assert result.stdout.strip() == "fine", result.stderr


# Arguments of every kind

each_executor = pytest.mark.parametrize("executor", [pytest.param("native", marks=needs_core), "reference"])


@pytest.fixture
def on(monkeypatch):
    return lambda executor: monkeypatch.setenv("MADALINE_EXECUTOR", executor)


def layouts():
    x = np.random.default_rng(1).normal(size=(6, 4))
    locked = x.copy()
    locked.flags.writeable = False
    wide = np.zeros((12, 8))
    wide[::2, ::-2] = x
    return {
        "C": x,
        "Fortran": np.asfortranarray(x),
        "strided": wide[::2, ::-2],
        "broadcast": np.broadcast_to(x[:1], (6, 4)),
        "read-only": locked,
        "big-endian": x.astype(">f8"),
        "unaligned": np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(6, 4),
    }


@each_executor
@pytest.mark.parametrize("layout", layouts())
def test_arguments_may_lie_in_memory_in_any_way(executor, layout, on):
    on(executor)
    x = layouts()[layout]
    before = x.copy()
    for rows in ([], [0]):
        found = md.compile(lambda x: (2 * x.T, x.sum(axis=0)), rows=rows)(x)
        np.testing.assert_array_equal(found[0], 2 * before.T)
        np.testing.assert_allclose(found[1], before.sum(axis=0), rtol=1e-14)
    np.testing.assert_array_equal(x, before)


@each_executor
@pytest.mark.parametrize(
    ("dtype", "computed"),
    [(np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.int8, np.int64),
     (np.uint16, np.int64), (np.int64, np.int64), (np.bool_, np.int64)],
)  # fmt: skip
def test_arguments_of_every_type_are_computed_in_one_of_four(executor, dtype, computed, on):
    on(executor)
    x = np.array([[0, 1], [1, 1], [3, 0]]).astype(dtype)
    found = md.compile(lambda x: x * 3 + x, rows=[0])(x)
    assert found.dtype == computed
    np.testing.assert_array_equal(found, x.astype(computed) * 4)


@each_executor
def test_results_are_fresh_arrays_that_may_be_written(executor, on):
    on(executor)
    x = np.ones((3, 2))
    f = md.compile(lambda x: (x, x.T, x[:, 0], x))
    first, second = f(x), f(x)
    arrays = [*first, *second, x]
    for i, a in enumerate(arrays):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in arrays[:i])


@each_executor
@pytest.mark.parametrize(
    ("f", "x", "index"),
    [
        (lambda x, i: np.take(x, i, axis=0), np.arange(5.0), np.array([0, 5])),
        (lambda x, i: np.take(x, i, axis=0), np.arange(5.0), np.array([-6])),
        (lambda x, i: np.take(x, i, axis=1), np.ones((3, 2)), np.array([[2]])),
        (lambda x, i: np.take_along_axis(x, i, axis=1), np.ones((2, 3)), np.array([[0], [3]])),
        (lambda x, i: x[i], np.ones((4, 2)), np.array([4])),
    ],
    ids=["take", "take before the start", "take columns", "take along", "getitem"],
)
def test_a_traced_index_out_of_range_is_an_index_error(executor, f, x, index, on):
    on(executor)
    compiled = md.compile(f)
    with pytest.raises(IndexError, match=r"index -?\d+ is out of (range|bounds) for (an )?axis .*size \d"):
        compiled(x, index)
    compiled(x, np.zeros_like(index))  # and the program is still good


@each_executor
def test_an_index_out_of_range_in_a_late_tile_is_an_index_error(executor, on):
    on(executor)
    x, index = np.ones((1000, 3)), np.zeros((1000, 1), dtype=np.int64)
    compiled = md.compile(lambda x, i: np.take_along_axis(x, i, axis=1).sum(), rows=[0, 1])
    assert compiled(x, index) == 1000
    index[997] = 3
    with pytest.raises(IndexError, match="3"):
        compiled(x, index)
    index[997] = 2
    assert compiled(x, index) == 1000


@each_executor
def test_nothing_has_no_largest_element(executor, on):
    """An empty batch has a sum, but no maximum: an error rather than an infinity."""
    on(executor)
    assert md.compile(lambda x: x.sum(axis=0), rows=[0])(np.ones((0, 3))).tolist() == [0, 0, 0]
    for f in (lambda x: x.max(axis=0), lambda x: x.min(), lambda x: x.argmax(axis=0)):
        with pytest.raises(ValueError, match=r"no value|zero-size|empty"):
            md.compile(f, rows=[0])(np.ones((0, 3)))


def test_an_unknown_executor_is_refused(on):
    on("gpu")
    with pytest.raises(md.errors.ConfigError, match="MADALINE_EXECUTOR='gpu' is not an executor"):
        md.compile(np.sin)(1.0)


@needs_core
def test_a_program_that_does_not_fit_says_how_much_it_needs():
    huge = md.compile(lambda x: np.sort(np.broadcast_to(x, (10**13,)))[0])
    with pytest.raises(MemoryError, match=r"needs [\d,]{18,} bytes in addition to its arguments.*fewer rows"):
        huge(1.0)
