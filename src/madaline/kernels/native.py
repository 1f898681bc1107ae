"""The native executor: run a program in the compiled core."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from madaline.kernels.binding import Binding
from madaline.plan.program import Program


def run(
    program: Program, arguments: Sequence[np.ndarray], n_rows: int = 0, *, core: ModuleType, threads: int = 1
) -> list[np.ndarray]:
    """The outputs for these arguments, as for :func:`madaline.kernels.reference.run`."""
    return compiled(program, core).run(arguments, n_rows, threads)


def compiled(program: Program, core: ModuleType) -> NativeProgram:
    """The program inside the core, created once."""
    found: NativeProgram | None = program.native.get(core.__name__)
    if found is None:
        found = program.native[core.__name__] = NativeProgram(program, core)
    return found


class NativeProgram:
    """A program inside the core, with its binding of arrays."""

    def __init__(self, program: Program, core: ModuleType) -> None:
        self.program = encode(program, core)
        self._binding = Binding(program)
        self._donated = program.donated
        self.row_counts = self._binding.row_counts
        self.is_transposed = self._binding.is_transposed

    def run(self, arguments: Sequence[np.ndarray], n_rows: int, threads: int) -> list[np.ndarray]:
        """Bind arrays, run the program, and return the outputs with their logical axes."""
        try:
            return self._run(arguments, n_rows, threads)
        except ValueError:
            # The core does not accept unaligned arrays; they are too rare to check for in advance.
            if all(np.asarray(argument).flags.aligned for argument in arguments):
                raise
            return self._run([np.array(argument) for argument in arguments], n_rows, threads)

    def _run(self, arguments: Sequence[np.ndarray], n_rows: int, threads: int) -> list[np.ndarray]:
        inputs, outputs = self._binding.arrays(arguments, n_rows)
        try:
            self.program.run(inputs, outputs, n_rows, threads)
        except MemoryError:
            raise self.too_large(n_rows, threads) from None
        return self._binding.results(outputs)

    def profile(self, arguments: Sequence[np.ndarray], n_rows: int, repeats: int) -> np.ndarray:
        """Seconds of each instruction (columns, in the order of the description) in several runs (rows) on one thread.

        Donated outputs overwrite copies of their arguments.
        """
        inputs, outputs = self._binding.arrays(arguments, n_rows)
        for output, place in self._donated.items():
            outputs[output] = inputs[place] = np.array(inputs[place])
        bound = self.program.bind(inputs, outputs, n_rows)
        return np.array([bound.profile() for _ in range(repeats)])

    def memory(self, n_rows: int, threads: int) -> int:
        """Bytes of the arenas of a run."""
        return int(self.program.memory(n_rows, threads))

    def too_large(self, n_rows: int, threads: int) -> MemoryError:
        """The error for insufficient memory."""
        return MemoryError(
            f"The program needs {self.memory(n_rows, threads):,} bytes in addition to its arguments and results, more "
            "than is available. Use fewer rows at a time; program.describe() shows what takes most."
        )


def encode(program: Program, core: ModuleType) -> Any:
    """The program as an object of the core."""
    arena = program.arena
    native = core.Program(arena["shared"], arena["rows"], arena["tile"], arena["lane"])
    for buffer in program.buffers:
        native.buffer(core.SPACES[buffer.space], core.DTYPES[buffer.dtype], max(buffer.offset, 0))
    for stage in program.stages:
        if stage.tile_rows:
            native.rows_stage(stage.tile_rows, stage.lane_rows, stage.max_lanes)
        else:
            native.shared_stage()
        for instruction in stage.instructions:
            method, arguments = instruction.encode(core)
            getattr(native, method)(*arguments)
        for combine in stage.combines:
            native.combine(
                core.REDUCTIONS[combine.op],
                core.DTYPES[combine.dtype],
                combine.lane_buffer,
                combine.dst_buffer,
                combine.size,
                combine.offset,
            )
    return native
