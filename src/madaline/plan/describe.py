"""A program in words: what is bound, what runs in which stage and over which sizes, and how much memory it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from madaline.graph.node import Node
from madaline.graph.shapes import show
from madaline.plan.program import (
    Chain,
    ClassLoss,
    Dim,
    Gather,
    Instruction,
    Op,
    Product,
    Program,
    Random,
    RankOneStep,
    Reduction,
    Scan,
    Stage,
    operands_of,
    written_by,
)

EXAMPLE_ROWS = 32
"The batch size for which memory is added up."
LINE = 110
"Characters on a line of inputs and outputs."
PADDING = 64
"A batch in the rows arena is padded to a multiple of this many rows."


def describe(program: Program) -> str:
    """The program as text, one line for each instruction.

    ``n`` is the number of rows. A place is written as its space and offset in bytes: ``in 0``, ``out 1``,
    ``shared+1280``, ``tile+0`` (within the tile of the running thread), ``lane+64`` (partial sums of a lane),
    ``rows+8n`` (a whole batch).

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> f = md.compile(lambda x, W, b: np.tanh(x @ W + b).sum(), rows=[0])
    >>> print(f.program(np.ones((5, 3)), np.ones((3, 4)), np.ones(4)).describe())
    2 instructions in 1 stage; 3 inputs, 1 output
    <BLANKLINE>
    in 0: float64 (n, 3)   in 1: float64 (3, 4)   in 2: float64 (4,)
    out 0: float64 ()
    <BLANKLINE>
    stage 1: rows, tiles of ..., a lane for each ... rows, at most 8 lanes
      1  product  n x 4 x 3   float64  + bias, then tanh  in 0, in 1, in 2 -> tile+..., tile+0
      2  sum      n x 4 -> 1  float64  over the rows      tile+0 -> lane+0
         combine  1           float64  sum of lanes       lane+0 -> out 0
    ...
    """
    parts = [_head(program), _bindings(program), *_stages(program), _memory(program)]
    return "\n\n".join(part for part in parts if part)


def _head(program: Program) -> str:
    counts = [
        _plural(len(program.instructions), "instruction"),
        _plural(len(program.stages), "stage"),
        _plural(len(program.inputs), "input"),
        _plural(len(program.outputs), "output"),
    ]
    return f"{counts[0]} in {counts[1]}; {counts[2]}, {counts[3]}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _bindings(program: Program) -> str:
    given = [_binding(node, str(node.params.get("name", ""))) for node in program.inputs]
    given += [_binding(node, f"= {node.params['rows']}") for node in program.row_counts]
    made = [
        _binding(node, f"over in {program.donated[index]}" if index in program.donated else "")
        for index, node in enumerate(program.outputs)
    ]
    return "\n".join([*_wrapped("in", given), *_wrapped("out", made)])


def _binding(node: Node, name: str) -> str:
    return f"{node.dtype.name} {show(node.shape)}{f' {name}' if name else ''}"


def _wrapped(space: str, items: Sequence[str]) -> list[str]:
    """As many on a line as fit, in columns."""
    cells = [f"{space} {index}: {item}" for index, item in enumerate(items)]
    width = max((len(cell) for cell in cells), default=1) + 3
    count = max(LINE // width, 1)
    return ["".join(cell.ljust(width) for cell in cells[i : i + count]).rstrip() for i in range(0, len(cells), count)]


def _stages(program: Program) -> list[str]:
    numbers = iter(range(1, len(program.instructions) + 1))
    tables = []
    for stage in program.stages:
        rows = [
            (str(next(numbers)), _kind(step), _sizes(step), step.dtype, _details(step), _places(step, program))
            for step in stage.instructions
        ]
        rows += [
            (
                "",
                "combine",
                str(combine.size),
                combine.dtype,
                f"{combine.op} of lanes",
                f"{_place(combine.lane_buffer, program)} -> {_place(combine.dst_buffer, program)}",
            )
            for combine in stage.combines
        ]
        tables.append(rows)
    widths = [max((len(row[column]) for rows in tables for row in rows), default=0) for column in range(5)]
    return [
        "\n".join([f"stage {number}: {_stage_kind(stage)}", *(_line(row, widths) for row in rows)])
        for number, (stage, rows) in enumerate(zip(program.stages, tables, strict=True), start=1)
    ]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    number = row[0].rjust(max(widths[0], 1) + 2)
    cells = [row[column].ljust(widths[column]) for column in range(1, 5)]
    return "  ".join([number, *cells, row[5]]).rstrip()


def _stage_kind(stage: Stage) -> str:
    if not stage.tile_rows:
        return "shared, run once"
    lanes = f"a lane for each {stage.lane_rows} rows, at most {_plural(stage.max_lanes, 'lane')}"
    return f"rows, tiles of {stage.tile_rows}, {lanes}"


def _kind(step: Instruction) -> str:
    if isinstance(step, ClassLoss):
        return "class loss"
    if isinstance(step, RankOneStep):
        return "step"
    if isinstance(step, Chain):
        moves = all(op.name == "copy" for op in step.ops)
        return "copy" if moves else "chain"
    if isinstance(step, Gather):
        return "scatter" if step.scatter else "take"
    if isinstance(step, Reduction):
        return step.op
    if isinstance(step, Scan):
        return step.op
    return type(step).__name__.lower()


def _size(dim: Dim) -> str:
    coefficient, by_rows = dim
    if not by_rows:
        return str(coefficient)
    return "n" if coefficient == 1 else f"{coefficient}n"


def _box(dims: Sequence[Dim]) -> str:
    return " x ".join(_size(dim) for dim in dims) or "1"


def _sizes(step: Instruction) -> str:
    if isinstance(step, Product):
        box = _box((step.m, step.n, step.k))
        return f"{_box(step.batch)} of {box}" if step.batch else box
    if isinstance(step, Reduction):
        return f"{_box((*step.keep, *step.reduce))} -> {_box(step.keep)}"
    if isinstance(step, Gather):
        axis, count = (step.axis_size, False), step.count
        before, after = (count, axis) if step.scatter else (axis, count)
        inner = () if step.inner == (1, False) else (step.inner,)
        return f"{_box((step.outer, before, *inner))} -> {_box((step.outer, after, *inner))}"
    if isinstance(step, Scan):
        return _box((step.outer, step.axis, step.inner))
    if isinstance(step, ClassLoss):
        return _box((step.n, (step.classes, False)))
    if isinstance(step, RankOneStep):
        return str(step.size)
    return _box(step.dims) if isinstance(step, (Chain, Random)) else ""


def _details(step: Instruction) -> str:
    if isinstance(step, Chain):
        return _ops(step.ops) if _kind(step) == "chain" else _names(step.nodes)
    if isinstance(step, Product):
        flags = {"+ bias": step.bias is not None, "relu": step.relu, "gate": step.gate is not None}
        steps = [name for name, is_there in (flags | {"over the rows": step.accumulate}).items() if is_there]
        if step.epilogue is not None:
            steps.append(f"then {_ops(step.epilogue.ops)}")
        return ", ".join(steps)
    if isinstance(step, Scan):
        return "from the end" if step.reverse else ""
    if isinstance(step, Random):
        return f"stream {step.stream}"
    if isinstance(step, RankOneStep):
        outer = sum(rows > 0 for _, rows, *_ in step.parts)
        return f"{_plural(outer, 'outer product')}, {_plural(len(step.parts) - outer, 'vector')}"
    over = ["over the rows"] * getattr(step, "accumulate", False)
    return ", ".join(["of products"] * (getattr(step, "times", None) is not None) + over)


def _ops(ops: Sequence[Op]) -> str:
    """What a chain does, in the order in which it is first done: ``multiply 3, add, tanh``."""
    counts = Counter(op.name for op in ops)
    return ", ".join(name if count == 1 else f"{name} {count}" for name, count in counts.items())


def _names(nodes: Sequence[Node]) -> str:
    return ", ".join(dict.fromkeys(node.primitive.name for node in nodes))


def _places(step: Instruction, program: Program) -> str:
    written = written_by(step)
    places = dict.fromkeys(operand.buffer for operand in operands_of(step))
    reads = [_place(number, program) for number in places if number not in written]
    writes = [_place(number, program) for number in places if number in written]
    return f"{', '.join(reads)} -> {', '.join(writes)}".lstrip()


def _place(number: int, program: Program) -> str:
    buffer = program.buffers[number]
    if buffer.space in ("input", "output"):
        return f"{'in' if buffer.space == 'input' else 'out'} {buffer.offset}"
    return f"{buffer.space}+{buffer.offset}{'n' if buffer.space == 'rows' and buffer.offset else ''}"


def _memory(program: Program) -> str:
    arena = program.arena
    wheres = {"shared": "", "rows": " a row", "tile": " for each thread", "lane": " for each lane"}
    used = [f"{space} {_kib(arena[space])}{where}" for space, where in wheres.items() if arena.get(space)]
    padded = -(-EXAMPLE_ROWS // PADDING) * PADDING
    total = arena["shared"] + arena["rows"] * padded + arena["tile"] + arena["lane"]
    inputs, outputs = (_bytes(program, space) for space in ("input", "output"))
    sums = f"{_kib(total)} in arenas, {_kib(inputs)} of inputs, {_kib(outputs)} of outputs"
    return f"arenas: {', '.join(used) or 'none'}\nfor {EXAMPLE_ROWS} rows, one thread: {sums}"


def _bytes(program: Program, space: str) -> int:
    """Bytes of all inputs or outputs for the example batch."""
    nodes = program.inputs if space == "input" else program.outputs
    sizes = {(buffer.space, buffer.offset): buffer.bytes for buffer in program.buffers}
    return sum(
        sizes.get((space, index), 0) * (EXAMPLE_ROWS if any(not isinstance(size, int) for size in node.shape) else 1)
        for index, node in enumerate(nodes)
    )


def _kib(size: int) -> str:
    return f"{size / 1024:.1f} KiB"
