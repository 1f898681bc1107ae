"""Fusion of ops in a chain: common patterns of optimizers and layers become a single pass over the block.

Each rule replaces several ops by one that computes in the same order with the same rounding, so results do not change:

    a b + c                      multiply_add
    s a + t b                    scaled_sum            s, t, u: one number for the whole chain
    s a + (t b) b                scaled_sum_square
    a - (s b) / (sqrt(t c) + u)  adaptive_step
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.plan.instructions.base import Dim, Operand

FUSED: dict[str, Callable[..., Any]] = {
    "copy": np.copy,
    "multiply_add": lambda a, b, c: a * b + c,
    "scaled_sum": lambda a, b, s, t: s * a + t * b,
    "scaled_sum_square": lambda a, b, s, t: s * a + (t * b) * b,
    "adaptive_step": lambda a, b, c, s, t, u: a - (s * b) / (np.sqrt(t * c) + u),
}
"The ops of a chain that are not primitives."


@dataclass(frozen=True, slots=True)
class Op:
    """One step of a fused chain; slots are numbered: first operands, then constants, then scratch registers."""

    name: str
    dst: int
    args: tuple[int, ...]


def with_fused_ops(ops: Sequence[Op], dims: Sequence[Dim], operands: Sequence[Operand], n_constants: int) -> list[Op]:
    """The ops of a chain of floats with patterns replaced; each slot is written once, and the last are registers."""
    return _Fusion(ops, dims, operands, n_constants).ops()


class _Fusion:
    def __init__(self, ops: Sequence[Op], dims: Sequence[Dim], operands: Sequence[Operand], n_constants: int) -> None:
        self.made = {op.dst: op for op in ops}
        self.order = [op.dst for op in ops]
        self.uses = Counter(arg for op in ops for arg in op.args)
        self.n_operands = len(operands)
        self.free = max([len(operands) + n_constants, *(op.dst + 1 for op in ops)])
        # Numbers are the same for all elements, vectors vary along the innermost dim; a column is neither.
        axes = [axis for axis, dim in enumerate(dims) if dim != (1, False)]
        self.numbers = {slot for slot, o in enumerate(operands) if not any(o.strides[axis] for axis in axes)}
        self.numbers.update(range(len(operands), len(operands) + n_constants))
        self.vectors = {slot for slot, o in enumerate(operands) if axes and o.strides[axes[-1]]}
        for op in ops:
            if all(arg in self.numbers for arg in op.args):
                # An array that is filled with one number stays an array: its block is read element by element.
                if op.dst >= self.n_operands:
                    self.numbers.add(op.dst)
            elif any(arg in self.vectors for arg in op.args):
                self.vectors.add(op.dst)
            else:
                self.vectors.discard(op.dst)

    def ops(self) -> list[Op]:
        """Replace patterns, later ops first, so that the largest pattern has priority."""
        for slot in self.order[::-1]:
            op = self.made.get(slot)
            if op is None or slot in self.numbers:
                continue
            if op.name == "subtract":
                self._adaptive_step(op) or self._difference(op)
            elif op.name == "add":
                self._scaled_sum(op) or self._multiply_add(op)
        return [self.made[slot] for slot in self.order if slot in self.made]

    def _inner(self, slot: int, name: str) -> Op | None:
        """The op that writes a slot, if it has this name and no other op reads the slot."""
        op = self.made.get(slot)
        alone = op is not None and op.name == name and self.uses[slot] == 1 and slot >= self.n_operands
        return op if alone and slot not in self.numbers else None

    def _scaled(self, slot: int) -> tuple[int, int] | None:
        """Number and vector, if the slot is their product."""
        op = self._inner(slot, "multiply")
        if op is None:
            return None
        a, b = op.args
        if a in self.numbers and b in self.vectors:
            return (a, b)
        return (b, a) if b in self.numbers and a in self.vectors else None

    def _replace(self, old: Op, name: str, args: tuple[int, ...], replaced_slots: Iterable[int]) -> bool:
        for slot in replaced_slots:
            self.uses.subtract(self.made.pop(slot).args)
        self.uses.subtract(old.args)
        self.uses.update(args)
        self.made[old.dst] = Op(name, old.dst, args)
        return True

    def _adaptive_step(self, op: Op) -> bool:
        a, quotient = op.args
        divide = self._inner(quotient, "divide")
        if divide is None or a not in self.vectors:
            return False
        step, total = self._scaled(divide.args[0]), self._inner(divide.args[1], "add")
        if step is None or total is None:
            return False
        for root, u in (total.args, total.args[::-1]):
            sqrt = self._inner(root, "sqrt")
            scaled = self._scaled(sqrt.args[0]) if sqrt is not None else None
            if sqrt is not None and scaled is not None and u in self.numbers:
                replaced_slots = (quotient, *divide.args, root, *sqrt.args)
                return self._replace(
                    op, "adaptive_step", (a, step[1], scaled[1], step[0], scaled[0], u), replaced_slots
                )
        return False

    def _scaled_sum(self, op: Op) -> bool:
        for first, second in (op.args, op.args[::-1]):
            a, b = self._scaled(first), self._scaled(second)
            if a is None:
                continue
            if b is not None:
                return self._replace(op, "scaled_sum", (a[1], b[1], a[0], b[0]), op.args)
            square = self._inner(second, "multiply")
            for inner, factor in (square.args, square.args[::-1]) if square is not None else ():
                b = self._scaled(inner)
                if b is not None and b[1] == factor:
                    return self._replace(op, "scaled_sum_square", (a[1], factor, a[0], b[0]), (first, second, inner))
        return False

    def _multiply_add(self, op: Op) -> bool:
        for first, second in (op.args, op.args[::-1]):
            product = self._inner(first, "multiply")
            if product is not None:
                return self._replace(op, "multiply_add", (*product.args, second), (first,))
        return False

    def _difference(self, op: Op) -> bool:
        """``a - s b`` as ``(-s) b + a``, which is bit-identical."""
        a, product = op.args
        scaled = self._scaled(product)
        if scaled is None:
            return False
        number, vector = scaled
        negated, self.free = self.free, self.free + 1
        self.numbers.add(negated)
        self.made[negated] = Op("negative", negated, (number,))
        self.order.insert(self.order.index(product), negated)
        self.uses[number] += 1
        return self._replace(op, "multiply_add", (negated, vector, a), (product,))
