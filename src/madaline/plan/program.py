"""The flat program: buffers and stages of instructions, as defined in ``native/FORMAT.md``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from madaline.graph.node import Node
from madaline.plan.instructions.base import Instruction


@dataclass(slots=True)
class Buffer:
    """The memory of one value; ``space`` is input, output, shared, rows, tile or lane.

    ``size`` is the number of elements, per row for a batch.
    """

    space: str
    dtype: str
    size: int
    offset: int = -1
    label: str = ""

    @property
    def bytes(self) -> int:
        """Number of bytes (per row for a batch)."""
        return self.size * ITEMSIZE[self.dtype]


PADDING = 64
"A batch in the rows arena is padded to a multiple of this many rows."
ITEMSIZE = {"float32": 4, "float64": 8, "int64": 8, "bool": 1}


@dataclass(frozen=True, slots=True)
class Combine:
    """Combines the partial results of the lanes: ``size`` elements from ``offset`` on, of both buffers."""

    op: str
    dtype: str
    lane_buffer: int
    dst_buffer: int
    size: int
    offset: int = 0


@dataclass(slots=True)
class Stage:
    """Instructions that run once (``tile_rows`` is 0) or for every tile of rows."""

    tile_rows: int = 0
    lane_rows: int = 0
    max_lanes: int = 1
    instructions: list[Instruction] = field(default_factory=list)
    combines: list[Combine] = field(default_factory=list)


@dataclass(slots=True)
class Program:
    """A planned graph: inputs and outputs, stages of instructions, and sizes of arenas.

    The arguments of the native core are the inputs of the graph, followed by the numbers of rows that it needs.
    """

    inputs: list[Node]
    row_counts: list[Node]
    outputs: list[Node]
    buffers: list[Buffer]
    stages: list[Stage]
    arena: dict[str, int]
    donated: dict[int, int] = field(default_factory=dict)
    "Outputs (by position) that may be bound to the array of an input (by position)."
    commit: int = -1
    "The first stage that writes a donated output; all other outputs are written before. Without any, the end."
    native: dict[str, Any] = field(default_factory=dict)
    "The program inside the native core, by instruction set."

    @property
    def instructions(self) -> list[Instruction]:
        """All instructions, in order."""
        return [instruction for stage in self.stages for instruction in stage.instructions]

    def describe(self) -> str:
        """The program as text: stages, instructions with their sizes, memory."""
        from madaline.plan.describe import describe

        return describe(self)
