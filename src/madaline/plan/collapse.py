"""Reduce the number of axes of instructions to the limit of the native machine: join axes, then unroll the smallest."""

from __future__ import annotations

from collections.abc import Sequence

from madaline.plan.instructions.base import Dim, Operand

MAX_DIMS = 6
"Maximum number of dims of an operand: ``kMaxDims`` of ``native/kernels/program.h``."

Strides = tuple[int, ...]


def join(dims: Sequence[Dim], strides: Sequence[Strides]) -> tuple[tuple[Dim, ...], list[Strides]]:
    """Fewer dims over the same elements in the same order: adjacent dims are joined if all operands allow it.

    Examples
    --------
    >>> join([(2, False), (3, False), (4, False)], [(12, 4, 1), (0, 8, 2)])
    (((2, False), (12, False)), [(12, 1), (0, 2)])
    """
    sizes: list[Dim] = []
    columns: list[Strides] = []
    for axis, (size, by_rows) in enumerate(dims):
        column = tuple(stride[axis] for stride in strides)
        if (size, by_rows) == (1, False):
            continue
        outer = sizes[-1] if sizes else (0, True)
        if not by_rows and not outer[1] and all(a == b * size for a, b in zip(columns[-1], column, strict=True)):
            sizes[-1], columns[-1] = (outer[0] * size, False), column
        else:
            sizes.append((size, by_rows))
            columns.append(column)
    return tuple(sizes), [tuple(column[i] for column in columns) for i in range(len(strides))]


def with_strides(operand: Operand, strides: Strides, shift: int = 0) -> Operand:
    """The operand with other strides, from another element on."""
    return Operand(operand.buffer, operand.offset + shift, operand.row_advance, strides)


def smallest(dims: Sequence[Dim]) -> int:
    """The axis with the fewest elements, except that of the rows."""
    return min((axis for axis, dim in enumerate(dims) if not dim[1]), key=lambda axis: dims[axis][0])


def without(values: Sequence[int], axis: int) -> Strides:
    """The values of all other axes."""
    return (*values[:axis], *values[axis + 1 :])
