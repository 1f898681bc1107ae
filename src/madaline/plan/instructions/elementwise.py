"""Fused chains of elementwise operations. Kernel: ``native/kernels/elementwise.h``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from madaline.graph.node import BOOL, Node, name_of
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import Shape
from madaline.plan.collapse import MAX_DIMS, join, smallest, with_strides, without
from madaline.plan.fuse import NodeGroup
from madaline.plan.instructions.base import Dim, Frame, Instruction, Operand, show_dims
from madaline.plan.lowering import Lowering, dims_of
from madaline.plan.peephole import FUSED, Op, with_fused_ops
from madaline.plan.views import broadcast_strides, is_scalar_constant, physical_order, stored_strides


@dataclass(slots=True)
class Chain(Instruction):
    """Elementwise operations over an index space, block by block.

    Slots are numbered: first operands, then constants, then scratch registers.
    """

    dims: tuple[Dim, ...]
    places: tuple[Operand, ...]
    constants: tuple[float, ...]
    n_scratch: int
    ops: tuple[Op, ...]

    def _written(self) -> set[int]:
        return {op.dst for op in self.ops}

    def reads(self) -> list[Operand]:
        written = self._written()
        return [operand for slot, operand in enumerate(self.places) if slot not in written]

    def writes(self) -> list[Operand]:
        written = self._written()
        return [operand for slot, operand in enumerate(self.places) if slot in written]

    def operands(self) -> list[Operand]:
        return list(self.places)

    def encode(self, core: ModuleType) -> tuple[str, tuple[Any, ...]]:
        places = [operand.encode() for operand in self.places]
        ops = [(core.OPCODES[op.name], op.dst, *op.args) for op in self.ops]
        dtype = core.DTYPES[self.dtype]
        return "elementwise", (dtype, list(self.dims), places, list(self.constants), self.n_scratch, ops)

    def run(self, frame: Frame) -> None:
        dtype = np.dtype(self.dtype)
        places = [frame.view(operand, self.dims) for operand in self.places]
        # Operands are read when an op needs them, so that an output that overwrites an input too early is detected.
        slots: dict[int, Any] = {len(places) + i: dtype.type(value) for i, value in enumerate(self.constants)}
        for op in self.ops:
            args = [slots[arg] if arg in slots else places[arg].astype(dtype, copy=False) for arg in op.args]
            meaning = FUSED[op.name] if op.name in FUSED else PRIMITIVES[op.name].value
            slots[op.dst] = value = np.asarray(meaning(*args)).astype(dtype, copy=False)
            if op.dst < len(places):
                places[op.dst][...] = value

    def within_limits(self) -> list[Chain]:
        if len(self.dims) <= MAX_DIMS:
            return [self]
        dims, strides = join(self.dims, [operand.strides for operand in self.places])
        places = tuple(with_strides(operand, new) for operand, new in zip(self.places, strides, strict=True))
        return replace(self, dims=dims, places=places).unrolled()

    def unrolled(self) -> list[Chain]:
        if len(self.dims) <= MAX_DIMS:
            return [self]
        axis = smallest(self.dims)
        dims = self.dims[:axis] + self.dims[axis + 1 :]
        found = []
        for index in range(self.dims[axis][0]):
            places = [with_strides(o, without(o.strides, axis), index * o.strides[axis]) for o in self.places]
            found += replace(self, dims=dims, places=tuple(places)).unrolled()
        return found

    @property
    def title(self) -> str:
        return "copy" if all(op.name == "copy" for op in self.ops) else "chain"

    def sizes(self) -> str:
        return show_dims(self.dims)

    def details(self) -> str:
        if self.title == "chain":
            return self.show_ops()
        return ", ".join(dict.fromkeys(node.primitive.name for node in self.nodes))

    def show_ops(self) -> str:
        """The ops in the order in which each first occurs: ``multiply 3, add, tanh``."""
        counts = Counter(op.name for op in self.ops)
        return ", ".join(name if count == 1 else f"{name} {count}" for name, count in counts.items())


def lower_chain(group: NodeGroup, low: Lowering, skip: frozenset[int] = frozenset()) -> Chain:
    """A fused chain. Nodes in ``skip`` are already computed by a product."""
    members = [node for node in group.nodes if id(node) not in skip]
    inside = {id(node) for node in members}
    order = physical_order(group.shape)
    operands: dict[Operand, int] = {}
    constants: dict[str, int] = {}

    def outside(item: Node) -> Operand:
        view = low.views[id(item)]
        strides = broadcast_strides(view.strides, item.shape, group.shape)
        return low.operand(item, tuple(strides[axis] for axis in order))

    stored = [node for node in members if id(node) in low.buffer_of]
    operand_of: dict[int, int] = {}
    constant_of: dict[int, int] = {}
    for node in members:
        for item in node.inputs:
            if id(item) in inside or id(item) in operand_of or id(item) in constant_of:
                continue
            root = low.views[id(item)].root
            if is_scalar_constant(root):
                constant_of[id(item)] = constants.setdefault(_constant_key(root), len(constants))
            else:
                operand_of[id(item)] = operands.setdefault(outside(item), len(operands))
    results = {
        id(node): low.operand(node, tuple(low.views[id(node)].strides[axis] for axis in order)) for node in stored
    }
    result_slot = {key: len(operands) + position for position, key in enumerate(results)}
    n_operands = len(operands) + len(results)
    first_scratch = n_operands + len(constants) + 1
    zero = n_operands + len(constants)
    slot: dict[int, int] = {}
    ops: list[Op] = []

    def slot_of(item: Node) -> int:
        if id(item) in inside:
            return slot[id(item)]
        if id(item) in operand_of:
            return operand_of[id(item)]
        return n_operands + constant_of[id(item)]

    for node in members:
        args = [slot_of(item) for item in node.inputs]
        name = node.primitive.name
        if name in ("cast", "identity", "stop_gradient"):
            if name == "cast" and node.dtype == BOOL and node.inputs[0].dtype != BOOL:
                name, args = "not_equal", [args[0], zero]
            elif id(node) not in results:
                slot[id(node)] = args[0]
                continue
            else:
                name = "copy"
        slot[id(node)] = result_slot.get(id(node), first_scratch + len(ops))
        ops.append(Op(name, slot[id(node)], tuple(args)))
    values = [float.fromhex(key) for key in constants]
    places = (*operands, *results.values())
    over = {result_slot[id(node)]: low.over[id(node)] for node in stored if id(node) in low.over}
    dtype, dims = group.dtype or "float32", dims_of(group.shape, order)
    if dtype in ("float32", "float64"):
        ops = with_fused_ops(ops, dims, places, len(values) + 1)
    ops = _read_before_written(ops, places, over, max([first_scratch, *(op.dst + 1 for op in ops)]))
    n_scratch = max([first_scratch, *(op.dst + 1 for op in ops)]) - first_scratch
    return Chain(tuple(members), dtype, dims, places, (*values, 0.0), n_scratch, tuple(ops))


def _read_before_written(ops: list[Op], operands: Sequence[Operand], over: dict[int, int], free: int) -> list[Op]:
    """The ops in an order that is correct if an output overwrites an input: ops that read the input come first.

    ``over`` maps the slot of the output to the buffer of the input; slots from ``free`` on are unused.
    """
    late: dict[int, int] = {}
    for slot, buffer in over.items():
        written = next(position for position, op in enumerate(ops) if op.dst == slot)
        readers = (position for position, op in enumerate(ops) for arg in op.args if _reads(arg, operands, buffer))
        if max(readers, default=-1) > written:
            late[slot] = free + len(late)
    if not late:
        return ops
    moved = [Op(op.name, late.get(op.dst, op.dst), tuple(late.get(arg, arg) for arg in op.args)) for op in ops]
    return moved + [Op("copy", slot, (register,)) for slot, register in late.items()]


def _reads(slot: int, operands: Sequence[Operand], buffer: int) -> bool:
    return slot < len(operands) and operands[slot].buffer == buffer


def _constant_key(node: Node) -> str:
    # As text, since -0.0 equals 0.0 and NaN equals nothing.
    return float(node.params["value"]).hex()


def copy_chain(
    nodes: tuple[Node, ...], shape: Shape, src: Operand, dst: Operand, dtype: str, add: bool = False
) -> Chain:
    """``dst = src`` (or ``dst += src``) over a shape; strides are given by axis of the shape."""
    order = physical_order(shape)
    arrange = [Operand(o.buffer, o.offset, o.row_advance, tuple(o.strides[axis] for axis in order)) for o in (src, dst)]
    if add:
        ops = (Op("add", 2, (0, 1)),)
        return Chain(nodes, dtype, dims_of(shape, order), (arrange[0], arrange[1], arrange[1]), (), 0, ops)
    return Chain(nodes, dtype, dims_of(shape, order), tuple(arrange), (), 0, (Op("copy", 1, (0,)),))


def fill_chain(node: Node, low: Lowering, value: float) -> Chain:
    """Fill a stored node with one number."""
    order = physical_order(node.shape)
    strides = stored_strides(node.shape)
    dst = low.operand(node, tuple(strides[axis] for axis in order))
    return Chain((node,), name_of(node.dtype), dims_of(node.shape, order), (dst,), (value,), 0, (Op("copy", 0, (1,)),))
