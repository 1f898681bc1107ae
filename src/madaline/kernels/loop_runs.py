"""One run of a loop by each of the two executors. They must agree."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from math import prod
from types import ModuleType
from typing import Any, Literal

import numpy as np

from madaline.errors import FileFormatError
from madaline.graph.shapes import is_symbolic, resolve
from madaline.kernels import native, reference
from madaline.kernels.execute import Executable
from madaline.kernels.loop_arguments import LoopArguments
from madaline.plan.program import Program

Reason = Literal["finished", "guard", "interrupted"]


class ReferenceRun:
    """A run in NumPy, step by step."""

    def __init__(self, executable: Executable, arguments: LoopArguments, guard: int | None) -> None:
        self.steps = 0
        self._executable = executable
        self._arguments = arguments
        self._guard = guard
        self._stopping = False

    def stop(self) -> None:
        """Stop the run before the next step."""
        self._stopping = True

    def run(self) -> Reason:
        """Do all steps."""
        given = self._arguments
        for step in range(given.n_steps):
            if self._stopping:
                return "interrupted"
            results = self._one(step)
            rows = slice(*given.starts[step : step + 2])
            for index, array in given.emitted.items():
                array[rows if is_symbolic(given.graph.outputs[index].shape) else step] = results[index]
            if self._guard is not None and not np.isfinite(results[self._guard]):
                return "guard"
            self._commit(results, step + 1)
        return "finished"

    def _one(self, step: int) -> list[np.ndarray]:
        given = self._arguments
        rows = given.order[slice(*given.starts[step : step + 2])]
        n_rows = int(given.row_counts[step])
        values: dict[int, np.ndarray] = dict(given.fixed)
        values |= {index: table[step] for index, table in given.tables.items()}
        for index, source in given.gathered.items():
            values[index] = source.take(rows, given.graph.inputs[index].dtype)
        program, constants = self._executable.bound(n_rows)
        return reference.run(program, [*(values[i] for i in range(len(values))), *constants], n_rows)

    def _commit(self, results: Sequence[np.ndarray], steps: int) -> None:
        """Update all carried values; Ctrl-C is handled afterwards."""
        try:
            self._carry(results, steps)
        except KeyboardInterrupt:
            self._carry(results, steps)
            raise

    def _carry(self, results: Sequence[np.ndarray], steps: int) -> None:
        for output, index in self._arguments.carried.items():
            np.copyto(self._arguments.fixed[index], results[output])
        self.steps = steps


class NativeRun:
    """A run in the compiled core, which returns to Python only for signals and at the end."""

    def __init__(
        self, executable: Executable, arguments: LoopArguments, guard: int | None, *, core: ModuleType, threads: int
    ) -> None:
        self._executable = executable
        self._arguments = arguments
        self._guard = guard
        self._core = core
        self._threads = threads
        self._control = core.Control()
        self._before = 0
        self._stopping = False

    @property
    def steps(self) -> int:
        """Number of complete steps."""
        return self._before + int(self._control.steps)

    def stop(self) -> None:
        """Stop the run at the next boundary between instructions or tiles."""
        self._stopping = True
        self._control.stop()

    def run(self) -> Reason:
        """Run all steps; consecutive steps with the same program run together."""
        for first, last, program, constants in self._stretches():
            self._before = first
            self._control = self._core.Control()
            if self._stopping:
                return "interrupted"
            reason = self._stretch(first, last, program, constants)
            if reason != "finished":
                return reason
        return "finished"

    def _stretches(self) -> Iterator[tuple[int, int, Program, list[np.ndarray]]]:
        counts = self._arguments.row_counts
        changes = np.flatnonzero(counts[1:] != counts[:-1]) + 1
        first = 0
        for last in (*changes.tolist(), len(counts)):
            if last == first:
                continue
            program, constants = self._executable.bound(int(counts[first]))
            if last < len(counts) and self._executable.bound(int(counts[last]))[0] is program:
                continue
            yield first, last, program, constants
            first = last

    def _stretch(self, first: int, last: int, program: Program, constants: list[np.ndarray]) -> Reason:
        given = self._arguments
        most_rows = int(given.row_counts[first:last].max())
        compiled = native.compiled(program, self._core)
        inputs: list[Any] = [None] * len(given.graph.inputs)
        outputs: list[Any] = []
        for index, array in given.fixed.items():
            inputs[index] = (array, 0, 0)
        for index, table in given.tables.items():
            inputs[index] = (table[first:last], _item_bytes(table), 0)
        inputs.extend((np.require(array, None, ("C", "A")), 0, 0) for array in constants)
        row_counts = [
            (len(inputs) + i, rows.coefficient, rows.offset) for i, (rows, _) in enumerate(compiled.row_counts)
        ]
        inputs.extend([None] * len(row_counts))
        for index, node in enumerate(given.graph.outputs):
            to = given.emitted.get(index)
            if index in given.carried:
                outputs.append(inputs[given.carried[index]])
            elif to is None:
                outputs.append((np.empty(resolve(node.shape, most_rows), node.dtype), 0, 0))
            elif is_symbolic(node.shape):
                outputs.append((to, 0, _item_bytes(to)))
            else:
                outputs.append((to[first:last], _item_bytes(to), 0))
        gathered = [
            (index, source.native(self._core, given.graph.inputs[index].dtype))
            for index, source in given.gathered.items()
        ]
        try:
            reason: Reason | Literal["unreadable"] = self._core.run_loop(
                self._control,
                compiled.program,
                inputs,
                outputs,
                gathered,
                row_counts,
                program.commit,
                -1 if self._guard is None else self._guard,
                given.order,
                given.starts[first : last + 1],
                self._threads,
                threading.current_thread() is threading.main_thread(),
            )
        except MemoryError:
            raise compiled.too_large(most_rows, self._threads) from None
        if reason == "unreadable":
            raise self._unreadable()
        return reason

    def _unreadable(self) -> FileFormatError:
        """The error for a mapped file that was cut; of several files, the one that is too short now."""
        files = [source.file for source in self._arguments.gathered.values() if source.file is not None]
        for file in files:
            file.check()
        return files[0].error()


def _item_bytes(array: np.ndarray) -> int:
    """Bytes from one item along the first axis to the next."""
    return prod(array.shape[1:]) * array.itemsize
