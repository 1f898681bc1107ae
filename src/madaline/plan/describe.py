"""A program as text: arguments and results, the instructions of each stage with their sizes, and memory."""

from __future__ import annotations

from collections.abc import Sequence

from madaline.graph.node import Node
from madaline.graph.shapes import show
from madaline.plan.instructions.base import Instruction, plural
from madaline.plan.program import PADDING, Program, Stage

EXAMPLE_ROWS = 32
"The batch size for which the memory is computed."
LINE = 110
"Maximum number of characters in a line of inputs and outputs."


def describe(program: Program) -> str:
    """The program as text, one line per instruction.

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
        plural(len(program.instructions), "instruction"),
        plural(len(program.stages), "stage"),
        plural(len(program.inputs), "input"),
        plural(len(program.outputs), "output"),
    ]
    return f"{counts[0]} in {counts[1]}; {counts[2]}, {counts[3]}"


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
    """Items in columns, as many per line as fit."""
    cells = [f"{space} {index}: {item}" for index, item in enumerate(items)]
    width = max((len(cell) for cell in cells), default=1) + 3
    count = max(LINE // width, 1)
    return ["".join(cell.ljust(width) for cell in cells[i : i + count]).rstrip() for i in range(0, len(cells), count)]


def _stages(program: Program) -> list[str]:
    numbers = iter(range(1, len(program.instructions) + 1))
    tables = []
    for stage in program.stages:
        rows = [
            (str(next(numbers)), step.title, step.sizes(), step.dtype, step.details(), _places(step, program))
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
    lanes = f"a lane for each {stage.lane_rows} rows, at most {plural(stage.max_lanes, 'lane')}"
    return f"rows, tiles of {stage.tile_rows}, {lanes}"


def _places(step: Instruction, program: Program) -> str:
    written = {operand.buffer for operand in step.writes()}
    places = dict.fromkeys(operand.buffer for operand in step.operands())
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
