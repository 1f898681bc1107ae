"""Bring instructions over many axes within the number the native machine takes: join axes, then unroll the smallest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from madaline.plan.program import Chain, Dim, Instruction, Operand, Product, Reduction

MAX_DIMS = 6
"Dims of an operand at most: ``kMaxDims`` of ``native/kernels/program.h``."
JOINS = frozenset({"matmul", "sum", "prod", "max", "min", "logsumexp", "argmax"})
"Primitives that cannot do with unrolling alone: arguments of many axes are stored anew, so that axes can be joined."

Strides = tuple[int, ...]


def within_limits(step: Instruction) -> list[Instruction]:
    """The same work by instructions of at most ``MAX_DIMS`` dims; nearly always the instruction itself."""
    if isinstance(step, Chain) and len(step.dims) > MAX_DIMS:
        return [*_unrolled(_joined_chain(step))]
    if isinstance(step, Reduction) and len(step.keep) + len(step.reduce) > MAX_DIMS:
        return [*_unrolled_reduction(_joined_reduction(step))]
    if isinstance(step, Product) and len(step.batch) + 2 > MAX_DIMS:
        return [_joined_product(step)]
    return [step]


def join(dims: Sequence[Dim], strides: Sequence[Strides]) -> tuple[tuple[Dim, ...], list[Strides]]:
    """Fewer dims over the same elements in the same order: neighbours become one where every operand walks them alike.

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


def _with(operand: Operand, strides: Strides, shift: int = 0) -> Operand:
    return Operand(operand.buffer, operand.offset + shift, operand.row_advance, strides)


def _joined_chain(step: Chain) -> Chain:
    dims, strides = join(step.dims, [operand.strides for operand in step.operands])
    operands = tuple(_with(operand, new) for operand, new in zip(step.operands, strides, strict=True))
    return replace(step, dims=dims, operands=operands)


def _smallest(dims: Sequence[Dim]) -> int:
    return min((axis for axis, dim in enumerate(dims) if not dim[1]), key=lambda axis: dims[axis][0])


def _without(values: Sequence[int], axis: int) -> Strides:
    return (*values[:axis], *values[axis + 1 :])


def _unrolled(step: Chain) -> list[Chain]:
    if len(step.dims) <= MAX_DIMS:
        return [step]
    axis = _smallest(step.dims)
    dims = step.dims[:axis] + step.dims[axis + 1 :]
    return [
        piece
        for index in range(step.dims[axis][0])
        for piece in _unrolled(
            replace(
                step,
                dims=dims,
                operands=tuple(_with(o, _without(o.strides, axis), index * o.strides[axis]) for o in step.operands),
            )
        )
    ]


def _joined_reduction(step: Reduction) -> Reduction:
    count = len(step.keep)
    keep, (src_keep, dst) = join(step.keep, [step.src.strides[:count], step.dst.strides])
    reduced, (src_reduced,) = join(step.reduce, [step.src.strides[count:]])
    return replace(
        step, keep=keep, reduce=reduced, src=_with(step.src, (*src_keep, *src_reduced)), dst=_with(step.dst, dst)
    )


def _unrolled_reduction(step: Reduction) -> list[Reduction]:
    if len(step.keep) + len(step.reduce) <= MAX_DIMS or all(by_rows for _, by_rows in step.keep):
        return [step]
    axis = _smallest(step.keep)
    keep = step.keep[:axis] + step.keep[axis + 1 :]
    src, dst = step.src, step.dst
    return [
        piece
        for index in range(step.keep[axis][0])
        for piece in _unrolled_reduction(
            replace(
                step,
                keep=keep,
                src=_with(src, _without(src.strides, axis), index * src.strides[axis]),
                dst=_with(dst, _without(dst.strides, axis), index * dst.strides[axis]),
            )
        )
    ]


def _joined_product(step: Product) -> Product:
    operands = (step.A, step.B, step.C)
    batch, strides = join(step.batch, [operand.strides[:-2] for operand in operands])
    A, B, C = (_with(operand, (*new, *operand.strides[-2:])) for operand, new in zip(operands, strides, strict=True))
    return replace(step, batch=batch, A=A, B=B, C=C)
