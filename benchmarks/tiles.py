"""Row tiles or pieces of products: a training step planned in several ways, with one and two threads, interleaved.

    python benchmarks/tiles.py [net ...]
    python benchmarks/tiles.py --wide

For four nets, the constants at the top of ``plan/planner.py`` are set to several values (see decision 0005). The
results are minimum times of many short rounds. The gain of a second thread can only be measured on an idle machine.
With ``--wide``, predictions of wide nets with and without tiles, on one thread.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import harness
import numpy as np

import madaline as md
from madaline.graph.trace import Graph
from madaline.kernels import native
from madaline.kernels.core import core
from madaline.optim.adam import Adam
from madaline.plan import planner

NETS = {
    "tiny": (2, 32, 32, 2, 32),
    "small": (20, 64, 64, 2, 32),
    "tabular": (54, 256, 256, 7, 256),
    "mnist": (784, 256, 128, 10, 128),
}
# Maximum bytes of matrices for tiling, rows per tile, flops per lane.
WAYS = {
    "pieces": (-1, 256, 4_000_000),
    "tiles of 128, few lanes": (1 << 40, 128, 25_000_000),
    "tiles of 128, many lanes": (1 << 40, 128, 4_000_000),
    "tiles of 64, few lanes": (1 << 40, 64, 25_000_000),
}
CARRIED = {0: 0, 1: 1, 2: 2}
WIDE = planner.WIDE


def training_step(widths: tuple[int, ...]) -> Any:
    """Loss, gradient and Adam on one flat vector."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        at = 0
        for n_in, n_out in pairwise(widths):
            W, b = w[at : at + n_in * n_out].reshape(n_in, n_out), w[at + n_in * n_out : at + (n_in + 1) * n_out]
            x = (md.functional.relu(x) if at else x) @ W + b
            at += (n_in + 1) * n_out
        return np.mean(md.functional.logsumexp(x, axis=1) - np.take_along_axis(x, y[:, None], axis=1)[:, 0])

    def step(w: Any, m: Any, v: Any, x: Any, y: Any, t: Any, lr: Any) -> Any:
        value, g = md.value_and_grad(loss)(w, x, y)
        w, (m, v) = Adam().step(w, g, (m, v), t=t, lr=lr)
        return w, m, v, value

    return step


def traced(net: tuple[int, ...]) -> tuple[Graph, list[np.ndarray]]:
    """The step and its arguments; the rate is tiny, so that thousands of steps do not lead to subnormal numbers."""
    *widths, batch = net
    rng = np.random.default_rng(0)
    size = sum((a + 1) * b for a, b in pairwise(widths))
    vectors = [0.1 * rng.normal(size=size), np.zeros(size), np.zeros(size)]
    numbers = [np.array(1.0), np.array(1e-9)]
    x, y = rng.normal(size=(batch, widths[0])), rng.integers(0, widths[-1], size=batch)
    arguments = [*(a.astype(np.float32) for a in (*vectors, x)), y, *(a.astype(np.float32) for a in numbers)]
    return md.trace(training_step(tuple(widths)), *arguments, rows=[3, 4]), arguments


def bound(graph: Graph, arguments: list[np.ndarray], batch: int, way: tuple[int, int, int]) -> Any:
    """The step planned in one way, ready to run."""
    planner.SHARED_BYTES, planner.TILE_ROWS, planner.LANE_FLOPS = way[0], (way[1],), way[2]
    program = planner.plan(graph, CARRIED)
    inputs = [a.copy() for a in arguments] + [
        np.array(node.params["rows"].at(batch), node.dtype) for node in program.row_counts
    ]
    outputs = [inputs[0], inputs[1], inputs[2], np.zeros((), np.float32)]
    return native.encode(program, core()).bind(inputs, outputs, batch)


WIDE_NETS = (
    (8, 10_000, 1),
    (16, 4096, 1),
    (20, 1024, 1),
    (32, 2048, 10),
    (64, 2048, 10),
    (100, 1024, 10),
    (100, 4096, 10),
    (200, 4096, 2),
    (784, 256, 128, 10),
)


def prediction(widths: tuple[int, ...], wide: int) -> Any:
    """A prediction of 4,096 rows by a ReLU net."""
    planner.WIDE = wide

    def net(x: Any, *matrices: Any) -> Any:
        for W in matrices[:-1]:
            x = md.functional.relu(x @ W)
        return x @ matrices[-1]

    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=size).astype(np.float32) for size in ((4096, widths[0]), *pairwise(widths))]
    program = planner.plan(md.trace(net, *arrays, rows=[0]))
    outputs = [np.zeros((4096, widths[-1]), np.float32)]
    return native.encode(program, core()).bind(arrays, outputs, 4096)


def wide_nets() -> None:
    """Times of predictions of wide nets, in microseconds for each row."""
    rows = []
    for widths in WIDE_NETS:
        ways = {"product by product": prediction(widths, 0), "now": prediction(widths, WIDE)}
        timings = harness.interleave({name: lambda run=run: run.run(1) for name, run in ways.items()}, seconds=1.0)
        before, now = (timings[name].best * 1e6 / 4096 for name in ways)
        rows.append(["-".join(map(str, widths)), f"{before:.2f}", f"{now:.2f}", f"{before / now:.2f}"])
    print(harness.table("A prediction, us a row", ["net", "product by product", "now", "gain"], rows))


def main() -> None:
    if sys.argv[1:] == ["--wide"]:
        wide_nets()
    else:
        training_steps(sys.argv[1:] or list(NETS))


def training_steps(names: list[str]) -> None:
    """Times of training steps, planned in several ways."""
    rows = []
    for name in names:
        graph, arguments = traced(NETS[name])
        contestants = {}
        for label, way in WAYS.items():
            run = bound(graph, arguments, NETS[name][-1], way)
            for threads in (1, 2):
                contestants[f"{label}, {threads}"] = lambda run=run, threads=threads: run.run(threads)
        timings = harness.interleave(contestants, seconds=2.0, rounds=100)
        for label in WAYS:
            one, two = (timings[f"{label}, {threads}"].best * 1e6 for threads in (1, 2))
            rows.append([name, label, f"{one:,.1f}", f"{two:,.1f}", f"{one / two:.2f}"])
    print(harness.table("A training step, us", ["net", "plan", "one thread", "two threads", "gain"], rows))


if __name__ == "__main__":
    main()
