"""The native machine, driven directly: stages, threads and profiles of whole programs."""

from __future__ import annotations

import concurrent.futures
import math

import numpy as np
import pytest

from core_build import Build
from madaline.graph.trace import trace
from madaline.kernels import core as cores
from madaline.kernels import native
from madaline.plan.planner import plan

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


def training_step(core, tile_rows, lane_rows, max_lanes):
    """h = relu(X W + b), z = h * scale - 1/2, then X^T z, the sums of z by column and over all, and its maximum."""
    n_in, n_out = 20, 33
    lane = {"dW": 0, "db": 2688, "total": 2880, "largest": 2944}
    b = Build(core, row=4 * n_out, tile=64 * math.ceil(4 * n_out * tile_rows / 64), lane=3008, shared=3008)
    f = b.dtype("float32")
    X, W, bias, scale = (b.buffer("input", "float32", i) for i in range(4))
    H, Z, DW, DB, TOTAL, LARGEST = (b.buffer("output", "float32", i) for i in range(6))
    h, rows = b.buffer("tile", "float32"), b.buffer("rows", "float32")
    lanes = {name: b.buffer("lane", "float32", offset) for name, offset in lane.items()}
    R = (1, True)
    p = b.program
    p.rows_stage(tile_rows, lane_rows, max_lanes)
    copy = (f, [R, (n_out, False)], [(h, 0, 0, [n_out, 1]), (H, 0, n_out, [n_out, 1])], [], 0, b.ops(("copy", 1, 0)))
    p.matmul(
        f, [], R, (n_out, False), (n_in, False),
        A=(X, 0, n_in, [n_in, 1]), B=(W, 0, 0, [n_out, 1]), C=(h, 0, 0, [n_out, 1]),
        bias=(bias, 0, 0, [1]), relu=True, epilogue=copy,
    )  # fmt: skip
    operands = [(h, 0, 0, [n_out, 1]), (scale, 0, 1, [1, 0]), (rows, 0, n_out, [n_out, 1])]
    ops = b.ops(("multiply", 4, 0, 1), ("subtract", 2, 4, 3))
    p.elementwise(f, [R, (n_out, False)], operands, [0.5], 1, ops)
    p.matmul(
        f,
        [],
        (n_in, False),
        (n_out, False),
        R,
        A=(X, 0, n_in, [1, n_in]),
        B=(rows, 0, n_out, [n_out, 1]),
        C=(lanes["dW"], 0, 0, [n_out, 1]),
        accumulate=True,
    )
    p.reduce(
        core.REDUCTIONS["sum"],
        f,
        [(n_out, False)],
        [R],
        (rows, 0, n_out, [1, n_out]),
        (lanes["db"], 0, 0, [1]),
        accumulate=True,
    )
    p.reduce(
        core.REDUCTIONS["sum"],
        f,
        [],
        [(n_out, True)],
        (rows, 0, n_out, [1]),
        (lanes["total"], 0, 0, []),
        accumulate=True,
    )
    p.reduce(
        core.REDUCTIONS["max"],
        f,
        [],
        [(n_out, True)],
        (rows, 0, n_out, [1]),
        (lanes["largest"], 0, 0, []),
        accumulate=True,
    )
    for name, out, size in (("dW", DW, n_in * n_out), ("db", DB, n_out), ("total", TOTAL, 1)):
        p.combine(core.REDUCTIONS["sum"], f, lanes[name], out, size)
    p.combine(core.REDUCTIONS["max"], f, lanes["largest"], LARGEST, 1)
    p.shared_stage()
    p.elementwise(f, [(n_out, True)], [(rows, 0, 0, [1]), (Z, 0, 0, [1])], [], 0, b.ops(("copy", 1, 0)))
    return b


def step_arguments(n, rng):
    inputs = [rng.normal(size=s).astype("float32") for s in [(n, 20), (20, 33), (33,), (n, 1)]]
    outputs = [np.zeros(s, "float32") for s in [(n, 33), (n, 33), (20, 33), (33,), (), ()]]
    return inputs, outputs


@pytest.mark.parametrize("stage", [(1, 1, 1), (8, 16, 4), (32, 1, 16), (64, 64, 8), (1000, 1, 8)], ids=str)
@pytest.mark.parametrize("n", [0, 1, 31, 256, 1001])
def test_a_rows_stage_equals_the_whole_batch(core, stage, n, rng):
    b = training_step(core, *stage)
    inputs, outputs = step_arguments(n, rng)
    X, W, bias, scale = inputs
    h = np.maximum(X @ W + bias, 0)
    z = h * scale - np.float32(0.5)
    expected = [h, z, X.T @ z, z.sum(axis=0), z.sum(), z.max() if n else -np.inf]
    first = None
    for threads in (1, 2, 3, 4):
        for y in outputs:
            y[...] = 77
        b.program.run(inputs, outputs, n, threads)
        for got, value in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=1e-4 * math.sqrt(n + 1))
        data = [y.tobytes() for y in outputs]
        first = data if first is None else first
        assert data == first, f"threads={threads} changed the bits"
    assert b.program.instruction_count == 7
    assert b.program.memory(n, 4) >= b.program.memory(n, 1) > 0


def test_a_bound_program_keeps_its_program_and_arguments(core, rng):
    b = training_step(core, 16, 32, 4)
    inputs, outputs = step_arguments(100, rng)
    b.program.run(inputs, outputs, 100, 1)
    expected = [y.tobytes() for y in outputs]
    for y in outputs:
        y[...] = 0
    bound = b.program.bind(inputs, outputs, 100)
    del b, inputs
    for threads in (1, 2):
        bound.run(threads)
        assert [y.tobytes() for y in outputs] == expected
    with pytest.raises(ValueError, match="threads must be at least 1"):
        bound.run(0)


def test_several_python_threads_may_run_one_program(core, rng):
    b = training_step(core, 16, 32, 4)
    cases = [step_arguments(n, rng) for n in (40, 300, 999, 64)]
    expected = []
    for inputs, outputs in cases:
        b.program.run(inputs, outputs, len(inputs[0]), 1)
        expected.append([y.tobytes() for y in outputs])

    def work(k):
        inputs, _ = cases[k % len(cases)]
        _, outputs = step_arguments(len(inputs[0]), np.random.default_rng(0))
        for _ in range(30):
            b.program.run(inputs, outputs, len(inputs[0]), 1 + k % 3)
        return [y.tobytes() for y in outputs]

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for k, got in enumerate(pool.map(work, range(24))):
            assert got == expected[k % len(cases)]


def test_a_forked_child_runs_programs_on_several_threads(core, run_python):
    code = f"""
import os, sys, numpy as np
from madaline.graph.trace import trace
from madaline.kernels import core as cores
from madaline.kernels import native
from madaline.plan.planner import plan
core = cores.load({core.isa!r})
p = core.Program(0, 0, 0, 0)
f = core.DTYPES["float32"]
x, y = p.buffer(core.SPACES["input"], f, 0), p.buffer(core.SPACES["output"], f, 0)
p.shared_stage()
p.elementwise(f, [(1, True)], [(x, 0, 0, [1]), (y, 0, 0, [1])], [], 0, [(core.OPCODES["square"], 1, 0, -1, -1)])
X = np.arange(300_000, dtype=np.float32)
Y = np.zeros_like(X)
p.run([X], [Y], X.size, 2)
child = os.fork()
Y[:] = 0
p.run([X], [Y], X.size, 2)
assert (Y == X * X).all()
if child == 0:
    os._exit(0)
_, status = os.waitpid(child, 0)
sys.exit(status != 0)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr


def test_a_profile_has_a_time_for_every_instruction_and_leaves_the_arguments_alone(core):
    def step(w, x):
        return w - 0.1 * np.sum(np.tanh(x @ w)), np.sum(x)

    w, x = np.ones((3, 2)), np.ones((40, 3))
    program = plan(trace(step, w, x, rows=[1]), {0: 0})
    seconds = native.compiled(program, core).profile([w, x], 40, 7)
    assert seconds.shape == (7, sum(len(stage.instructions) for stage in program.stages))
    assert np.all(seconds >= 0.0)
    assert np.all(seconds.sum(axis=1) > 0.0)
    np.testing.assert_array_equal(w, 1.0)
