"""The reference executor: runs a planned program with NumPy, instruction by instruction. Simple and slow.

It runs the same program as the native core: the same buffers at the same places, tile by tile and lane by lane. Errors
of the planner therefore also occur here, where they can be examined from Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from madaline.kernels.binding import Binding
from madaline.plan.instructions.base import Frame
from madaline.plan.instructions.reduce import FOLDS, identity
from madaline.plan.program import PADDING, Buffer, Combine, Program, Stage

POISON = 0xFF
"Contents of memory before it is written: NaN in floats, -1 in integers."


def run(program: Program, arguments: Sequence[np.ndarray], n_rows: int = 0) -> list[np.ndarray]:
    """The outputs for these arguments.

    Parameters
    ----------
    program : Program
        A planned graph.
    arguments : sequence of arrays
        One for each of ``program.inputs``.
    n_rows : int
        Number of rows of the batch, if there is one.
    """
    binding = Binding(program)
    inputs, outputs = binding.arrays(arguments, n_rows)
    for output in outputs:
        output.reshape(-1).view(np.uint8)[...] = POISON
    execute(program, inputs, outputs, n_rows)
    return binding.results(outputs)


def execute(program: Program, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], n_rows: int) -> None:
    """Run on arrays in their memory layout; a donated output may be the array of its input."""
    memory = _Memory(program, inputs, outputs, n_rows)
    with np.errstate(all="ignore"):
        for stage in program.stages:
            if not stage.tile_rows:
                _run_all(stage, Frame(memory.arrays, n_rows))
                continue
            lanes = _lanes(stage, n_rows)
            for lane in range(lanes):
                memory.enter_lane(lane, stage.combines)
                for frame in _tiles(memory, stage, n_rows, lane, lanes):
                    _run_all(stage, frame)
            for combine in stage.combines:
                memory.fold(combine, lanes)


def _run_all(stage: Stage, frame: Frame) -> None:
    for instruction in stage.instructions:
        instruction.run(frame)


def _lanes(stage: Stage, n_rows: int) -> int:
    return max(1, min(n_rows // stage.lane_rows, stage.max_lanes)) if n_rows else 0


def _tiles(memory: _Memory, stage: Stage, n_rows: int, lane: int, lanes: int) -> Iterator[Frame]:
    """The tiles of a lane, of nearly equal size."""
    begin, end = lane * n_rows // lanes, (lane + 1) * n_rows // lanes
    count = -(-(end - begin) // stage.tile_rows)
    for tile in range(count):
        first, last = ((end - begin) * t // count for t in (tile, tile + 1))
        yield Frame(memory.arrays, last - first, begin + first, tile == 0)


class _Memory:
    """The arenas of a run, and the flat array of each buffer within them."""

    def __init__(
        self, program: Program, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], n_rows: int
    ) -> None:
        self._buffers = program.buffers
        padded = -(-n_rows // PADDING) * PADDING
        lanes = max((_lanes(stage, n_rows) for stage in program.stages if stage.tile_rows), default=0)
        tile_rows = max((stage.tile_rows for stage in program.stages), default=0)
        arena = program.arena
        self._lane_arenas = [_poisoned(arena["lane"]) for _ in range(lanes)]
        arenas = {
            "shared": (_poisoned(arena["shared"]), 1, 1),
            "rows": (_poisoned(arena["rows"] * padded), padded, padded),
            "tile": (_poisoned(arena["tile"]), 1, tile_rows),
            "lane": (_poisoned(arena["lane"]), 1, 1),
        }
        self.arrays = []
        for buffer in program.buffers:
            if buffer.space in ("input", "output"):
                given = inputs if buffer.space == "input" else outputs
                self.arrays.append(given[buffer.offset].reshape(-1))
            else:
                bytes_, unit, count = arenas[buffer.space]
                self.arrays.append(_part(buffer, bytes_, buffer.offset * unit, count))

    def enter_lane(self, lane: int, combines: Sequence[Combine]) -> None:
        """Select the buffers of a lane; the first lane works in the destinations of the combines."""
        for number, buffer in enumerate(self._buffers):
            if buffer.space == "lane":
                self.arrays[number] = _part(buffer, self._lane_arenas[lane], buffer.offset, 1)
        if lane == 0:
            for combine in combines:
                self.arrays[combine.lane_buffer] = self.arrays[combine.dst_buffer]

    def fold(self, combine: Combine, lanes: int) -> None:
        """Combine the partial results of all lanes, in order."""
        place = slice(combine.offset, combine.offset + combine.size)
        dst, buffer = self.arrays[combine.dst_buffer][place], self._buffers[combine.lane_buffer]
        if not lanes:
            dst[...] = identity(combine.op, dst.dtype)
        for arena in self._lane_arenas[1:lanes]:
            FOLDS[combine.op](dst, _part(buffer, arena, buffer.offset, 1)[place], out=dst)


def _poisoned(size: int) -> np.ndarray:
    return np.full(size, POISON, np.uint8)


def _part(buffer: Buffer, arena: np.ndarray, start: int, count: int) -> np.ndarray:
    """The bytes of a buffer; empty if no instruction uses it."""
    size = buffer.bytes * count if buffer.offset >= 0 else 0
    return arena[start : start + size].view(buffer.dtype)
