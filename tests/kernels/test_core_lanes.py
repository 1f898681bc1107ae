"""The lanes of a rows stage: partial sums that end in one destination, side by side."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")

N = 5


@pytest.fixture(params=cores.cpu_isas())
def core(request):
    return cores.load(request.param)


class Sums:
    """Two sums over the rows of a batch of N columns, in one lane buffer, for one output: at 1 and at N + 3."""

    def __init__(self, core, *, lane_rows=16):
        self.core, self.f32 = core, core.DTYPES["float32"]
        self.program = core.Program(0, 0, 0, 256)
        self.x, self.y, self.lane = (
            self.program.buffer(core.SPACES[space], self.f32, 0) for space in ("input", "output", "lane")
        )
        self.program.rows_stage(8, lane_rows, 4)
        for offset in (1, N + 3):
            self.sum(offset)

    def sum(self, offset):
        source, target = (self.x, 0, N, [1, N]), (self.lane, offset, 0, [1])
        self.program.reduce(0, self.f32, [(N, False)], [(1, True)], source, target, True)

    def combine(self, offset, size=N, *, dst=None):
        self.program.combine(0, self.f32, self.lane, self.y if dst is None else dst, size, offset)


@pytest.mark.parametrize("n", [0, 1, 16, 40, 100])
def test_lanes_end_in_one_destination_and_leave_alone_what_is_between(core, n):
    sums = Sums(core)
    sums.combine(1)
    sums.combine(N + 3)
    x = np.random.default_rng(0).normal(size=(n, N)).astype(np.float32)
    results = []
    for threads in (1, 2, 4):
        y = np.full(2 * N + 4, 7.0, np.float32)
        sums.program.run([x], [y], n, threads)
        results.append(y)
    np.testing.assert_allclose(results[0][1 : N + 1], x.sum(axis=0), atol=1e-5)
    np.testing.assert_array_equal(results[0][N + 3 : 2 * N + 3], results[0][1 : N + 1])
    np.testing.assert_array_equal(results[0][[0, N + 1, N + 2, -1]], 7.0)
    assert all(y.tobytes() == results[0].tobytes() for y in results)


def test_the_destination_must_hold_all_that_the_lanes_use(core):
    """The first lane works there, also beyond what is combined."""
    sums = Sums(core)
    sums.combine(1)
    with pytest.raises(ValueError, match=f"Output 0 has {N + 1} elements; the program reaches {2 * N + 3}"):
        sums.program.run([np.zeros((3, N), np.float32)], [np.zeros(N + 1, np.float32)], 3, 1)


def test_a_lane_buffer_has_one_destination(core):
    sums = Sums(core)
    other = sums.program.buffer(core.SPACES["output"], sums.f32, 1)
    sums.combine(1)
    with pytest.raises(ValueError, match="combined into one destination only"):
        sums.combine(N + 3, dst=other)


def test_instructions_come_before_combines(core):
    sums = Sums(core)
    sums.combine(1)
    with pytest.raises(ValueError, match="come before its combines"):
        sums.sum(0)


PLAIN = {
    "multiply_add": [("multiply", 5, 0, 1), ("add", 4, 5, 2)],
    "scaled_sum": [("multiply", 5, 0, 6), ("multiply", 9, 1, 7), ("add", 4, 5, 9)],
    "scaled_sum_square": [("multiply", 5, 0, 6), ("multiply", 9, 1, 7), ("multiply", 9, 9, 1), ("add", 4, 5, 9)],
    "adaptive_step": [
        ("multiply", 5, 2, 7), ("sqrt", 5, 5), ("add", 5, 5, 8), ("multiply", 9, 1, 6), ("divide", 9, 9, 5),
        ("subtract", 4, 0, 9),
    ],
}  # fmt: skip
FUSED = {
    "multiply_add": (0, 1, 2),
    "scaled_sum": (0, 1, 6, 7),
    "scaled_sum_square": (0, 1, 6, 7),
    "adaptive_step": (0, 1, 2, 6, 7, 8),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUSED)
def test_fused_ops_give_the_bits_of_the_plain_ones(core, name, dtype):
    """Slots: 0 to 2 are read, 4 is written, 6 to 8 are numbers, 5 and 9 registers."""
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=777).astype(dtype) for _ in range(2)] + [rng.uniform(size=777).astype(dtype)]
    results = []
    for ops in (PLAIN[name], [(name, 4, *FUSED[name])]):
        slot = {0: 0, 1: 1, 2: 2, 4: 3, 6: 4, 7: 5, 8: 6, 5: 7, 9: 8}
        program = core.Program(0, 0, 0, 0)
        buffers = [program.buffer(core.SPACES["input"], core.DTYPES[np.dtype(dtype).name], i) for i in range(3)]
        buffers.append(program.buffer(core.SPACES["output"], core.DTYPES[np.dtype(dtype).name], 0))
        program.shared_stage()
        encoded = [(core.OPCODES[op], *(slot[number] for number in rest)) for op, *rest in ops]
        operands = [(buffer, 0, 0, [1]) for buffer in buffers]
        program.elementwise(core.DTYPES[np.dtype(dtype).name], [(777, False)], operands, [0.9, 0.37, 1e-3], 2, encoded)
        result = np.empty(777, dtype)
        program.run(vectors, [result], 0, 1)
        results.append(result)
    assert results[0].tobytes() == results[1].tobytes()
