"""A loop that is stopped, by a signal or by another thread, leaves what it carries as a whole step left it."""

from __future__ import annotations

import concurrent.futures
import os
import time

import numpy as np
import pytest

import madaline as md
from agreement import needs_core
from madaline.kernels.loop import Loop

EXECUTORS = [pytest.param("native", marks=needs_core), "reference"]


def counting(n_steps):
    """A loop that counts its steps, slowly enough to be stopped."""
    loop = Loop(md.trace(lambda n: (n + 1, np.cos(n + np.arange(2000.0)).sum()), 0.0), carried={0: 0})
    count = np.zeros(())
    return loop, count, {"order": np.zeros(0, np.int64), "starts": np.zeros(n_steps + 1, np.int64)}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_another_thread_may_stop_a_loop(executor, monkeypatch):
    monkeypatch.setenv("MADALINE_EXECUTOR", executor)
    n_steps = 3_000_000
    loop, count, batches = counting(n_steps)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        run = pool.submit(lambda: loop.run({0: count}, **batches))
        while count == 0 and not run.done():
            time.sleep(0.001)
        while not run.done():
            loop.stop()
            time.sleep(0.01)
    assert run.result().reason == "interrupted"
    assert 0 < run.result().steps < n_steps
    assert count == run.result().steps


LONG_STEPS = """
import os, signal, threading, time
import numpy as np
import madaline as md
from madaline.kernels.loop import Loop
from madaline.kernels.sources import DenseRows

def products(total):
    a = b = np.eye(2000, dtype=np.float32) + total
    for _ in range(30):
        b = np.tanh(a @ b)
    return total + 1, b.sum()

def tiles(total, x):
    for _ in range(150):
        x = np.tanh(x @ np.eye(30, dtype=np.float32))
    return total + 1, x.sum()

def pieces(total):
    x = np.zeros((20_000, 1000), np.float32) + total
    for _ in range(240):
        x = np.exp(np.sin(x))
    return total + 1, x.sum()

def short(total):
    return total + 1, np.cos(total + np.arange(2000.0)).sum()

n_steps = {n_steps}
batches = dict(order=np.zeros(0, np.int64), starts=np.zeros(n_steps + 1, np.int64))
examples, gathered = [np.zeros((), np.float64 if {kind} is short else np.float32)], {{}}
if {kind} is tiles:
    x = np.zeros((1000, 30), np.float32)
    examples.append(x)
    gathered = {{1: DenseRows(x)}}
    batches = dict(order=np.arange(900_000) % 1000, starts=300_000 * np.arange(4))
graph = md.trace({kind}, *examples, rows=[1] if gathered else [])
loop = Loop(graph, carried={{0: 0}}, guard=1)
total = np.zeros((), examples[0].dtype)
seen = []

def interrupt():
    time.sleep(0.4)
    while {kind} is short and total == 0:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

def handler(*_):
    seen.append(1)
    {handler}

signal.signal(signal.SIGINT, handler)
threading.Thread(target=interrupt, daemon=True).start()
try:
    while not seen:
        total[...] = 0
        loop.run({{0: total}}, gathered=gathered, **batches, threads={threads})
    print("finished", end=" ")
except ZeroDivisionError:
    print("raised", end=" ")
print(len(seen), loop.outcome.reason, loop.outcome.steps == total, loop.outcome.steps)
"""


@needs_core
@pytest.mark.skipif(os.name == "nt", reason="sends itself a signal")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["short", "products", "tiles", "pieces"])
def test_a_signal_ends_the_loop_inside_a_step_and_the_step_never_was(kind, threads, run_python):
    n_steps = 3_000_000 if kind == "short" else 3
    done = run_python(LONG_STEPS.format(kind=kind, n_steps=n_steps, threads=threads, handler="1 / 0"))
    assert done.returncode == 0, done.stderr
    outcome = done.stdout.split()
    assert outcome[:4] == ["raised", "1", "interrupted", "True"]
    assert (int(outcome[4]) > 0) == (kind == "short")


@needs_core
@pytest.mark.skipif(os.name == "nt", reason="sends itself a signal")
def test_a_signal_whose_handler_raises_nothing_does_not_end_the_loop(run_python):
    done = run_python(LONG_STEPS.format(kind="short", n_steps=30_000, threads=2, handler="pass"))
    assert done.stdout.split() == ["finished", "1", "finished", "True", "30000"], done.stderr
