"""The flat program: buffers, stages and instructions, as ``native/FORMAT.md`` describes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from madaline.graph.node import Node
from madaline.graph.shapes import Rows, Shape

Dim = tuple[int, bool]
"""A size: ``coefficient``, times the rows of the tile if the flag is set."""


@dataclass(slots=True)
class Buffer:
    """A place for one value; ``space`` is input, output, shared, rows, tile or lane.

    ``size`` counts elements; of one row, if it holds a batch.
    """

    space: str
    dtype: str
    size: int
    offset: int = -1
    label: str = ""

    @property
    def bytes(self) -> int:
        """Bytes it takes (for each row, where it holds a batch)."""
        return self.size * ITEMSIZE[self.dtype]


ITEMSIZE = {"float32": 4, "float64": 8, "int64": 8, "bool": 1}


@dataclass(frozen=True, slots=True)
class Operand:
    """A strided view into a buffer, in elements; ``row_advance`` is the step from one row of the batch to the next."""

    buffer: int
    offset: int
    row_advance: int
    strides: tuple[int, ...]

    def encode(self) -> tuple[int, int, int, tuple[int, ...]]:
        """As the native core takes it."""
        return (self.buffer, self.offset, self.row_advance, self.strides)


@dataclass(frozen=True, slots=True)
class Op:
    """One step of a fused chain: slots count operands first, then constants, then scratch registers."""

    name: str
    dst: int
    args: tuple[int, ...]


@dataclass(slots=True)
class Instruction:
    """One instruction; ``nodes`` are what it computes."""

    nodes: tuple[Node, ...]
    dtype: str


@dataclass(slots=True)
class Chain(Instruction):
    """A fused elementwise chain over an index space."""

    dims: tuple[Dim, ...] = ()
    operands: tuple[Operand, ...] = ()
    constants: tuple[float, ...] = ()
    n_scratch: int = 0
    ops: tuple[Op, ...] = ()


@dataclass(slots=True)
class Product(Instruction):
    """A matrix product with what is done to its rows while they are in cache."""

    batch: tuple[Dim, ...] = ()
    m: Dim = (0, False)
    n: Dim = (0, False)
    k: Dim = (0, False)
    A: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    B: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    C: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    accumulate: bool = False
    bias: Operand | None = None
    relu: bool = False
    gate: Operand | None = None
    "Elements where it is not above 0 become 0."
    epilogue: Chain | None = None


@dataclass(slots=True)
class Reduction(Instruction):
    """A reduction of some dims of a view."""

    op: str = "sum"
    keep: tuple[Dim, ...] = ()
    reduce: tuple[Dim, ...] = ()
    src: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    dst: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    accumulate: bool = False
    times: Operand | None = None
    "What each element is multiplied by before it is summed."


@dataclass(slots=True)
class Gather(Instruction):
    """``take`` or, with ``scatter``, its transpose."""

    outer: Dim = (1, False)
    count: Dim = (1, False)
    inner: Dim = (1, False)
    axis_size: int = 0
    src: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    indices: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    dst: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    scatter: bool = False
    accumulate: bool = False


@dataclass(slots=True)
class Scan(Instruction):
    """A pass along one axis: ``cumsum`` or ``argsort``."""

    op: str = "cumsum"
    outer: Dim = (1, False)
    axis: Dim = (1, False)
    inner: Dim = (1, False)
    src: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    dst: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    reverse: bool = False


@dataclass(slots=True)
class Random(Instruction):
    """Counter-based uniform numbers."""

    dims: tuple[Dim, ...] = ()
    dst: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    key: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    stream: int = 0
    rows: bool = False
    "Whether the first dim counts rows."


@dataclass(slots=True)
class ClassLoss(Instruction):
    """Softmax cross-entropy: the slopes of ``classes`` logits and, behind them, the loss of each row."""

    n: Dim = (1, True)
    classes: int = 0
    logits: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    indices: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    factor: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    dst: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))


@dataclass(slots=True)
class RankOneStep(Instruction):
    """``dst = w - rate * g``, where ``g`` is made of outer products ``a d^T`` and vectors ``d``."""

    size: int = 0
    w: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    rate: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    dst: Operand = field(default_factory=lambda: Operand(-1, 0, 0, ()))
    parts: tuple[tuple[int, int, int, Operand | None, Operand], ...] = ()
    "Where each starts, its rows (0: a vector) and columns, ``a`` and ``d``."


@dataclass(frozen=True, slots=True)
class Combine:
    """Fold the lanes' partial results into one: ``size`` elements from ``offset`` on, of both buffers."""

    op: str
    dtype: str
    lane_buffer: int
    dst_buffer: int
    size: int
    offset: int = 0


@dataclass(slots=True)
class Stage:
    """Instructions run once (``tile_rows`` is 0) or for every tile of rows."""

    tile_rows: int = 0
    lane_rows: int = 0
    max_lanes: int = 1
    instructions: list[Instruction] = field(default_factory=list)
    combines: list[Combine] = field(default_factory=list)


@dataclass(slots=True)
class Program:
    """A planned graph: what to bind, what to run, how much memory it takes.

    The native core is given the graph's inputs, then the numbers of rows it asks for.
    """

    schedule: list[Node]
    inputs: list[Node]
    row_counts: list[Node]
    outputs: list[Node]
    buffers: list[Buffer]
    stages: list[Stage]
    arena: dict[str, int]
    donated: dict[int, int] = field(default_factory=dict)
    "Outputs (by position) that may be bound to the array of an input (by position), and are then right nevertheless."
    commit: int = -1
    "The first stage that writes a donated output; all other outputs are written before it. Without any: past the last."
    native: dict[str, Any] = field(default_factory=dict)
    "What the native core made of it, by instruction set."

    @property
    def instructions(self) -> list[Instruction]:
        """All of them, in order."""
        return [instruction for stage in self.stages for instruction in stage.instructions]

    def describe(self) -> str:
        """The program in words: stages, instructions with their sizes, memory."""
        from madaline.plan.describe import describe

        return describe(self)


def row_axis(shape: Shape) -> int | None:
    """Position of the batch axis, if there is one."""
    for axis, size in enumerate(shape):
        if isinstance(size, Rows):
            return axis
    return None


OPERANDS = ["A", "B", "C", "bias", "gate", "src", "times", "logits", "factor", "w", "rate", "dst", "indices", "key"]
"Attributes of instructions that may be one operand."


def operands_of(instruction: Instruction) -> list[Operand]:
    """Everything an instruction reads or writes."""
    if isinstance(instruction, Chain):
        return list(instruction.operands)
    found = [value for name in OPERANDS if isinstance(value := getattr(instruction, name, None), Operand)]
    if isinstance(instruction, Product) and instruction.epilogue is not None:
        found.extend(instruction.epilogue.operands)
    if isinstance(instruction, RankOneStep):
        found.extend(value for *_, a, d in instruction.parts for value in (a, d) if value is not None)
    return found


def written_by(instruction: Instruction) -> set[int]:
    """The buffers an instruction writes."""
    if isinstance(instruction, Chain):
        operands = instruction.operands
        return {operands[op.dst].buffer for op in instruction.ops if op.dst < len(operands)}
    result = getattr(instruction, "C", None) or getattr(instruction, "dst", None)
    found = {result.buffer} if isinstance(result, Operand) else set()
    if isinstance(instruction, Product) and instruction.epilogue is not None:
        found |= written_by(instruction.epilogue)
    return found
