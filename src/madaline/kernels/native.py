"""The native executor: hand a program to the compiled core and run it there."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.shapes import is_symbolic, resolve
from madaline.plan.program import (
    Chain,
    ClassLoss,
    Gather,
    Instruction,
    Operand,
    Product,
    Program,
    Random,
    RankOneStep,
    Reduction,
    Scan,
)
from madaline.plan.views import physical_order


def run(
    program: Program, arguments: Sequence[np.ndarray], n_rows: int = 0, *, core: ModuleType, threads: int = 1
) -> list[np.ndarray]:
    """The outputs for these arguments, as :func:`madaline.kernels.reference.run` gives them."""
    return compiled(program, core).run(arguments, n_rows, threads)


def compiled(program: Program, core: ModuleType) -> Compiled:
    """The program inside the core, made once."""
    found: Compiled | None = program.native.get(core.__name__)
    if found is None:
        found = program.native[core.__name__] = Compiled(program, core)
    return found


class Compiled:
    """A program inside the core, and what is needed to call it."""

    def __init__(self, program: Program, core: ModuleType) -> None:
        self.program = encode(program, core)
        self._dtypes = [node.dtype for node in program.inputs]
        self._donated = program.donated
        self.row_counts = [(node.params["rows"], node.dtype) for node in program.row_counts]
        self._results = []
        for node in program.outputs:
            order = physical_order(node.shape)
            back = tuple(int(axis) for axis in np.argsort(order)) if order != tuple(range(node.ndim)) else None
            self._results.append((tuple(node.shape[axis] for axis in order), is_symbolic(node.shape), node.dtype, back))
        self.is_turned = any(back is not None for *_, back in self._results)

    def run(self, arguments: Sequence[np.ndarray], n_rows: int, threads: int) -> list[np.ndarray]:
        """Bind, run, and give the outputs their logical axes."""
        try:
            return self._run(arguments, n_rows, threads)
        except ValueError:
            # The core takes no array that starts between two addresses of its type; they are too rare to look for.
            if all(np.asarray(argument).flags.aligned for argument in arguments):
                raise
            return self._run([np.array(argument) for argument in arguments], n_rows, threads)

    def _run(self, arguments: Sequence[np.ndarray], n_rows: int, threads: int) -> list[np.ndarray]:
        inputs, outputs = self._arrays(arguments, n_rows)
        try:
            self.program.run(inputs, outputs, n_rows, threads)
        except MemoryError:
            raise self.too_large(n_rows, threads) from None
        if not self.is_turned:
            return outputs
        return [
            output if back is None else output.transpose(back)
            for output, (*_, back) in zip(outputs, self._results, strict=True)
        ]

    def profile(self, arguments: Sequence[np.ndarray], n_rows: int, repeats: int) -> np.ndarray:
        """Seconds of each instruction (columns, in the order of the description) in some runs on one thread (rows).

        What may take the place of an argument takes that of a copy of it.
        """
        inputs, outputs = self._arrays(arguments, n_rows)
        for output, place in self._donated.items():
            outputs[output] = inputs[place] = np.array(inputs[place])
        bound = self.program.bind(inputs, outputs, n_rows)
        return np.array([bound.profile() for _ in range(repeats)])

    def _arrays(self, arguments: Sequence[np.ndarray], n_rows: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        inputs = [
            np.ascontiguousarray(argument, dtype=dtype) for argument, dtype in zip(arguments, self._dtypes, strict=True)
        ]
        for rows, dtype in self.row_counts:
            inputs.append(np.array(rows.at(n_rows), dtype=dtype))
        outputs = [
            np.empty(resolve(shape, n_rows) if symbolic else shape, dtype)
            for shape, symbolic, dtype, _ in self._results
        ]
        return inputs, outputs

    def memory(self, n_rows: int, threads: int) -> int:
        """Bytes of the arenas of a run."""
        return int(self.program.memory(n_rows, threads))

    def too_large(self, n_rows: int, threads: int) -> MemoryError:
        """What to raise when there is less memory than that."""
        return MemoryError(
            f"The program needs {self.memory(n_rows, threads):,} bytes beside its arguments and results, more than "
            "there are. Use fewer rows at a time; program.describe() shows what takes most."
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
            _add(native, core, instruction)
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


def _add(native: Any, core: ModuleType, step: Instruction) -> None:
    dtype = core.DTYPES[step.dtype]
    if isinstance(step, Chain):
        native.elementwise(*_chain(core, step))
    elif isinstance(step, Product):
        native.matmul(
            dtype,
            batch=list(step.batch),
            m=step.m,
            n=step.n,
            k=step.k,
            A=step.A.encode(),
            B=step.B.encode(),
            C=step.C.encode(),
            accumulate=step.accumulate,
            bias=_optional(step.bias),
            relu=step.relu,
            gate=_optional(step.gate),
            epilogue=None if step.epilogue is None else _chain(core, step.epilogue),
        )
    elif isinstance(step, Reduction):
        op = core.REDUCTIONS[step.op]
        keep, reduce = list(step.keep), list(step.reduce)
        src, dst, times = step.src.encode(), step.dst.encode(), _optional(step.times)
        native.reduce(op, dtype, keep, reduce, src, dst, step.accumulate, times)
    elif isinstance(step, Gather):
        sizes = (step.outer, step.count, step.inner, step.axis_size)
        operands = (step.src.encode(), step.indices.encode(), step.dst.encode())
        if step.scatter:
            native.scatter_add(dtype, *sizes, *operands, step.accumulate)
        else:
            native.take(dtype, *sizes, *operands)
    elif isinstance(step, Scan):
        scan = (dtype, step.outer, step.axis, step.inner, step.src.encode(), step.dst.encode())
        if step.op == "cumsum":
            native.cumsum(*scan, step.reverse)
        else:
            native.argsort(*scan)
    elif isinstance(step, ClassLoss):
        rows = (step.logits.encode(), step.indices.encode(), step.factor.encode(), step.dst.encode())
        native.class_loss(dtype, step.n, step.classes, *rows)
    elif isinstance(step, RankOneStep):
        parts = [(*place, _optional(a), d.encode()) for *place, a, d in step.parts]
        native.rank_one_step(dtype, step.size, step.w.encode(), step.rate.encode(), step.dst.encode(), parts)
    elif isinstance(step, Random):
        native.random(dtype, list(step.dims), step.dst.encode(), step.key.encode(), step.stream, step.rows)
    else:
        raise AssertionError(f"no encoding for {type(step).__name__}")


def _optional(operand: Operand | None) -> Any:
    return None if operand is None else operand.encode()


def _chain(core: ModuleType, chain: Chain) -> tuple[Any, ...]:
    return (
        core.DTYPES[chain.dtype],
        list(chain.dims),
        [operand.encode() for operand in chain.operands],
        list(chain.constants),
        chain.n_scratch,
        [(core.OPCODES[op.name], op.dst, *op.args) for op in chain.ops],
    )
