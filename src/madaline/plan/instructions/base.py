"""What every instruction is made of: sizes, strided views of buffers, and the methods that each kind defines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import Node

Dim = tuple[int, bool]
"""A size: ``coefficient``, times the rows of the tile if the flag is set."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A strided view into a buffer, in elements; ``row_advance`` is the step from one row of the batch to the next."""

    buffer: int
    offset: int
    row_advance: int
    strides: tuple[int, ...]

    def encode(self) -> tuple[int, int, int, tuple[int, ...]]:
        """The tuple that the native core takes."""
        return (self.buffer, self.offset, self.row_advance, self.strides)


@dataclass(slots=True)
class Frame:
    """Where the reference executor runs an instruction: the memory of all buffers, and the rows of the current tile."""

    memory: list[np.ndarray]
    "One flat array for each buffer, of its type."
    rows: int
    first_row: int = 0
    first_tile: bool = True
    "Whether this is the first tile of a lane, where instructions that accumulate overwrite."

    def size(self, dim: Dim) -> int:
        """The number a size stands for in this tile."""
        coefficient, by_rows = dim
        return coefficient * self.rows if by_rows else coefficient

    def view(self, operand: Operand, dims: Sequence[Dim]) -> np.ndarray:
        """The elements of an operand. NumPy refuses a view that leaves the memory of its buffer."""
        memory = self.memory[operand.buffer]
        shape = tuple([self.size(dim) for dim in dims])
        if 0 in shape:
            return np.empty(shape, memory.dtype)
        itemsize = memory.itemsize
        first = (operand.offset + self.first_row * operand.row_advance) * itemsize
        return np.ndarray(shape, memory.dtype, memory, first, tuple([step * itemsize for step in operand.strides]))


@dataclass(slots=True)
class Instruction(ABC):
    """One instruction of a program; ``nodes`` are what it computes.

    A kind of instruction is one file here: its fields, the rules that lower graph nodes to it, and these methods.
    ``native/kernels`` has a header of the same name.
    """

    nodes: tuple[Node, ...]
    dtype: str

    @abstractmethod
    def reads(self) -> list[Operand]:
        """What it reads."""

    @abstractmethod
    def writes(self) -> list[Operand]:
        """What it writes."""

    def operands(self) -> list[Operand]:
        """Everything it reads or writes."""
        return self.reads() + self.writes()

    @abstractmethod
    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        """The method of the native program that adds it, and its arguments."""

    @abstractmethod
    def run(self, frame: Frame) -> None:
        """Do it with NumPy."""

    def within_limits(self) -> Sequence[Instruction]:
        """The same work by instructions of at most ``MAX_DIMS`` dims."""
        return [self]

    @property
    def title(self) -> str:
        """Its name in descriptions."""
        return type(self).__name__.lower()

    @abstractmethod
    def sizes(self) -> str:
        """Its sizes in descriptions."""

    def details(self) -> str:
        """What else descriptions say of it."""
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
    """Write a partial result of a reduction over the rows, or fold it into that of the tiles before."""
    dst[...] = value if frame.first_tile else fold(dst, value)


def check_indices(name: str, indices: np.ndarray, size: int) -> None:
    """An error, as that of the native core, where an index leaves its axis."""
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise IndexError(f"{name}: index {wrong.flat[0]} is out of range for an axis of size {size}.")


def encode_optional(operand: Operand | None) -> Any:
    """An operand, or None, as the native core takes it."""
    return None if operand is None else operand.encode()


def show_dims(dims: Sequence[Dim]) -> str:
    """Sizes in words; ``n`` is the number of rows.

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
