"""The base class of instructions, with sizes and strided views of buffers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node

Dim = tuple[int, bool]
"""A size: ``coefficient``, times the number of rows of the tile if the flag is set."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A strided view into a buffer, in elements; ``row_advance`` is the step from one row of the batch to the next."""

    buffer: int
    offset: int
    row_advance: int
    strides: tuple[int, ...]

    def encode(self) -> tuple[int, int, int, tuple[int, ...]]:
        """The tuple for the native core."""
        return (self.buffer, self.offset, self.row_advance, self.strides)


@dataclass(slots=True)
class Frame:
    """The context of the reference executor: the memory of all buffers, and the rows of the current tile."""

    memory: list[np.ndarray]
    "One flat array per buffer, with its type."
    rows: int
    first_row: int = 0
    first_tile: bool = True
    "Whether this is the first tile of a lane, where instructions that accumulate overwrite."

    def size(self, dim: Dim) -> int:
        """The value of a size in this tile."""
        coefficient, by_rows = dim
        return coefficient * self.rows if by_rows else coefficient

    def view(self, operand: Operand, dims: Sequence[Dim]) -> np.ndarray:
        """The elements of an operand. A view that exceeds the memory of its buffer raises an error."""
        memory = self.memory[operand.buffer]
        shape = tuple([self.size(dim) for dim in dims])
        if 0 in shape:
            return np.empty(shape, memory.dtype)
        itemsize = memory.itemsize
        first = (operand.offset + self.first_row * operand.row_advance) * itemsize
        return np.ndarray(shape, memory.dtype, memory, first, tuple([step * itemsize for step in operand.strides]))


@dataclass(slots=True)
class Instruction(ABC):
    """An instruction of a program; it computes ``nodes``.

    A kind of instruction is one file here: its fields, the rules that lower graph nodes to it, and these methods.
    ``native/kernels`` has a header of the same name.
    """

    nodes: tuple[Node, ...]
    dtype: str

    @abstractmethod
    def reads(self) -> list[Operand]:
        """The operands that it reads."""

    @abstractmethod
    def writes(self) -> list[Operand]:
        """The operands that it writes."""

    def operands(self) -> list[Operand]:
        """All operands."""
        return self.reads() + self.writes()

    @abstractmethod
    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        """The name of the method of the native program that adds it, and the arguments."""

    @abstractmethod
    def run(self, frame: Frame) -> None:
        """Run the instruction with NumPy."""

    def within_limits(self) -> Sequence[Instruction]:
        """Equivalent instructions with at most ``MAX_DIMS`` dims."""
        return [self]

    @property
    def title(self) -> str:
        """Its name in descriptions."""
        return type(self).__name__.lower()

    @abstractmethod
    def sizes(self) -> str:
        """Its sizes in descriptions."""

    def details(self) -> str:
        """Details for descriptions."""
        return ""


@dataclass(slots=True)
class AxisInstruction(Instruction):
    """An instruction that writes as many values as it reads along the middle one of three dims."""

    outer: Dim
    axis: Dim
    inner: Dim
    src: Operand
    dst: Operand

    @property
    def dims(self) -> tuple[Dim, Dim, Dim]:
        """The index space of both operands."""
        return self.outer, self.axis, self.inner

    def reads(self) -> list[Operand]:
        return [self.src]

    def writes(self) -> list[Operand]:
        return [self.dst]

    def encode_axis(self, core: ModuleType) -> tuple[Any, ...]:
        """The arguments of the native program that all such instructions have."""
        return core.DTYPES[self.dtype], *self.dims, self.src.encode(), self.dst.encode()

    def sizes(self) -> str:
        return show_dims(self.dims)


def accumulated(frame: Frame, dst: np.ndarray, value: Any, fold: Any = np.add) -> None:
    """Write a partial result of a reduction over the rows, or combine it with that of earlier tiles."""
    dst[...] = value if frame.first_tile else fold(dst, value)


def check_indices(name: str, indices: np.ndarray, size: int) -> None:
    """Raise the same error as the native core if an index is out of range."""
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise IndexError(f"{name}: index {wrong.flat[0]} is out of range for an axis of size {size}.")


def encode_optional(operand: Operand | None) -> Any:
    """An operand or None, encoded for the native core."""
    return None if operand is None else operand.encode()


def show_dims(dims: Sequence[Dim]) -> str:
    """Sizes as text; ``n`` is the number of rows.

    Examples
    --------
    >>> show_dims([(1, True), (4, False)])
    'n x 4'
    """
    return " x ".join(_show_dim(dim) for dim in dims) or "1"


def _show_dim(dim: Dim) -> str:
    coefficient, by_rows = dim
    if not by_rows:
        return str(coefficient)
    return "n" if coefficient == 1 else f"{coefficient}n"


def plural(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
