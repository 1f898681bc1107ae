"""Groups of nodes to instructions over buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from madaline.graph.node import BOOL, Node
from madaline.graph.shapes import Rows, Shape
from madaline.plan.fuse import Group
from madaline.plan.join import Home, gaps, runs
from madaline.plan.peephole import with_fused_ops
from madaline.plan.program import (
    Buffer,
    Chain,
    Dim,
    Gather,
    Instruction,
    Op,
    Operand,
    Product,
    Random,
    Reduction,
    Scan,
    row_axis,
)
from madaline.plan.rows import NeedsRowCountError
from madaline.plan.views import (
    View,
    broadcast_strides,
    is_scalar_constant,
    lies_as_stored,
    physical_order,
    stored_strides,
    width,
)


@dataclass(slots=True)
class Lowering:
    """What lowering needs to know of the whole program."""

    views: dict[int, View]
    space_of: Callable[[Node], str]
    tiled: set[int]
    "Ids of the nodes that are computed tile by tile."
    reducing: dict[int, tuple[int, str]]
    "The nodes that reduce over the rows, tile by tile, by id: in which stage, and how partial results are combined."
    homes: dict[int, Home] = field(default_factory=dict)
    "The values that lie within a joined array."
    buffers: list[Buffer] = field(default_factory=list)
    buffer_of: dict[int, int] = field(default_factory=dict)
    lanes: dict[tuple[int, int, str], int] = field(default_factory=dict)
    "The lane buffers: one for all that is joined in one array, in one stage and in one way."
    over: dict[int, int] = field(default_factory=dict)
    "The buffer of the input over which an output is written, by the output's id."

    def buffer(self, node: Node) -> int:
        """The buffer of a stored node."""
        home = self.homes.get(id(node))
        if home is not None:
            self.buffer_of[id(node)] = self.buffer(home.node)
        elif id(node) not in self.buffer_of:
            self.buffer_of[id(node)] = len(self.buffers)
            self.buffers.append(
                Buffer(self.space_of(node), node.dtype.name, width(node.shape), label=node.primitive.name)
            )
        return self.buffer_of[id(node)]

    def operand(self, node: Node, strides: tuple[int, ...] | None = None, offset: int | None = None) -> Operand:
        """The node's elements, by its own view or by other strides over the same storage."""
        view = self.views[id(node)]
        number = self.buffer(view.root)
        rows = row_axis(view.root.shape)
        home = self.homes.get(id(view.root))
        moves = rows is not None and self.buffers[number].space != "tile"
        advance = stored_strides(view.root.shape)[rows] if moves and rows is not None else 0
        return Operand(
            number,
            (view.offset if offset is None else offset) + (0 if home is None else home.offset),
            advance,
            view.strides if strides is None else strides,
        )

    def result(self, node: Node, strides: tuple[int, ...]) -> Operand:
        """Where a node is written: its lane's partial result if it reduces over the rows."""
        if id(node) not in self.reducing:
            return self.operand(node, strides)
        number, offset = self.lane(node)
        return Operand(number, offset, 0, strides)

    def lane(self, node: Node) -> tuple[int, int]:
        """The lane buffer of a reducing node, and where in it (as in the node's own buffer) its partial result is."""
        home = self.homes.get(id(node), Home(node, 0))
        key = (id(home.node), *self.reducing[id(node)])
        if key not in self.lanes:
            self.lanes[key] = len(self.buffers)
            self.buffers.append(Buffer("lane", node.dtype.name, width(home.node.shape), label=node.primitive.name))
        return self.lanes[key], home.offset

    def is_in_place(self, piece: Node, node: Node, first: int) -> bool:
        """Whether a piece lies in the storage of ``node`` already, from element ``first`` on."""
        around = self.homes.get(id(node), Home(node, 0))
        at_home = self.homes.get(id(self.views[id(piece)].root)) == Home(around.node, around.offset + first)
        return at_home and lies_as_stored(piece, self.views[id(piece)])


def dims_of(shape: Shape, axes: Sequence[int]) -> tuple[Dim, ...]:
    """Sizes of some axes."""
    return tuple(_dim(shape[axis]) for axis in axes)


def _dim(size: int | Rows) -> Dim:
    return (1, True) if isinstance(size, Rows) else (size, False)


def lower(group: Group, low: Lowering) -> list[Instruction]:
    """The instructions of a group."""
    if group.chain:
        return [lower_chain(group, low)]
    (node,) = group.nodes
    name = node.primitive.name
    if name == "place":
        return _place(node, low)
    if name in ("sum", "prod", "max", "min", "logsumexp"):
        return [_reduce(node, low, node.params["axes"])]
    if name == "argmax":
        return [_reduce(node, low, (node.params["axis"],))]
    return _RULES[name](node, low)


def lower_chain(group: Group, low: Lowering, skip: frozenset[int] = frozenset()) -> Chain:
    """A fused chain. Nodes in ``skip`` have been computed by a product already."""
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
    for node in members:
        for item in node.inputs:
            if id(item) in inside:
                continue
            root = low.views[id(item)].root
            if is_scalar_constant(root):
                constants.setdefault(_constant_key(root), len(constants))
            else:
                operands.setdefault(outside(item), len(operands))
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
        root = low.views[id(item)].root
        if is_scalar_constant(root):
            return n_operands + constants[_constant_key(root)]
        return operands[outside(item)]

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
    """The ops in an order that is right where an output lies over an input: whoever reads the input comes first.

    ``over`` has the input's buffer for the output's slot; slots from ``free`` on are unused.
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


def _copy(nodes: tuple[Node, ...], shape: Shape, src: Operand, dst: Operand, dtype: str, add: bool = False) -> Chain:
    """``dst = src`` (or ``dst += src``) over a shape; strides are given by axis of the shape."""
    order = physical_order(shape)
    arrange = [Operand(o.buffer, o.offset, o.row_advance, tuple(o.strides[axis] for axis in order)) for o in (src, dst)]
    if add:
        ops = (Op("add", 2, (0, 1)),)
        return Chain(nodes, dtype, dims_of(shape, order), (arrange[0], arrange[1], arrange[1]), (), 0, ops)
    return Chain(nodes, dtype, dims_of(shape, order), tuple(arrange), (), 0, (Op("copy", 1, (0,)),))


def _fill(node: Node, low: Lowering, value: float) -> Chain:
    order = physical_order(node.shape)
    strides = stored_strides(node.shape)
    dst = low.operand(node, tuple(strides[axis] for axis in order))
    return Chain((node,), node.dtype.name, dims_of(node.shape, order), (dst,), (value,), 0, (Op("copy", 0, (1,)),))


def _reshape(node: Node, low: Lowering) -> list[Instruction]:
    """A reshape that no strides can say: copy the elements, in the order of the old shape."""
    (x,) = node.inputs
    batched = row_axis(x.shape) is not None or row_axis(node.shape) is not None
    if batched and not node.primitive.keeps_rows((x.shape,), node.shape, **node.params):
        raise NeedsRowCountError(node)
    strides = stored_strides(x.shape)
    return [_copy((node,), x.shape, low.operand(x), low.operand(node, strides), node.dtype.name)]


def _flip(node: Node, low: Lowering) -> list[Instruction]:
    raise NeedsRowCountError(node)


def _place(node: Node, low: Lowering) -> list[Instruction]:
    found = runs(node)
    if found is not None:
        return [
            *(_run(node, low, *gap) for gap in gaps(node)),
            *(_run(node, low, *run, piece) for piece, run in found if not low.is_in_place(piece, node, run[0])),
        ]
    starts, steps = node.params["starts"], node.params["steps"]
    boxes = [
        [(start, step, size) for start, step, size in zip(starts[i], steps[i], piece.shape, strict=True)]
        for i, piece in enumerate(node.inputs)
    ]
    disjoint = _are_disjoint(boxes)
    covered = disjoint and sum(width(piece.shape) for piece in node.inputs) == width(node.shape)
    instructions: list[Instruction] = [] if covered else [_fill(node, low, 0.0)]
    base = stored_strides(node.shape)
    for piece, box in zip(node.inputs, boxes, strict=True):
        if width(piece.shape) == 0:
            continue
        offset = sum(start * stride for (start, _, _), stride in zip(box, base, strict=True))
        strides = tuple(step * stride for (_, step, _), stride in zip(box, base, strict=True))
        dst = low.operand(node, strides, offset)
        instructions.append(_copy((node,), piece.shape, low.operand(piece), dst, node.dtype.name, add=not disjoint))
    return instructions


def _run(node: Node, low: Lowering, first: int, last: int, piece: Node | None = None) -> Chain:
    """Fill a run of elements with a piece, or with zeros."""
    if piece is not None:
        dst = low.operand(node, stored_strides(piece.shape), first)
        return _copy((node,), piece.shape, low.operand(piece), dst, node.dtype.name)
    dst = low.operand(node, (1,), first)
    return Chain((node,), node.dtype.name, ((last - first, False),), (dst,), (0.0,), 0, (Op("copy", 0, (1,)),))


def _are_disjoint(boxes: list[list[tuple[int, int, int | Rows]]]) -> bool:
    """Whether no two pieces share an element: along some axis their ranges, sorted, follow each other."""
    if len(boxes) < 2:
        return True
    for axis in range(len(boxes[0])):
        spans = []
        for box in boxes:
            start, step, size = box[axis]
            if isinstance(size, Rows):
                break
            spans.append((start, start + max(size - 1, 0) * step))
        else:
            spans.sort()
            if all(before[1] < after[0] for before, after in pairwise(spans)):
                return True
    return False


def _matmul(node: Node, low: Lowering) -> list[Instruction]:
    return [lower_product(node, node, low)]


def lower_product(
    node: Node,
    stored: Node,
    low: Lowering,
    *,
    bias: Node | None = None,
    relu: bool = False,
    epilogue: Chain | None = None,
) -> Product:
    """A matrix product whose result, after bias and relu, is the node ``stored``."""
    x, W = node.inputs
    strides = low.views[id(stored)].strides
    swap = node.ndim == 2 and strides[-1] != 1 and node.shape[-1] != 1 and bias is None
    if swap:
        # The batch axis stands last, so it is the transpose that is stored by rows: C' = W' x'.
        x_strides, W_strides = low.views[id(x)].strides, low.views[id(W)].strides
        return Product(
            (node,),
            node.dtype.name,
            m=_dim(node.shape[-1]),
            n=_dim(node.shape[-2]),
            k=_dim(x.shape[-1]),
            A=low.operand(W, W_strides[::-1]),
            B=low.operand(x, x_strides[::-1]),
            C=low.result(stored, strides[::-1]),
            accumulate=id(node) in low.reducing,
        )
    lead = physical_order(node.shape[:-2])

    def arranged(view_strides: tuple[int, ...]) -> tuple[int, ...]:
        return (*(view_strides[axis] for axis in lead), *view_strides[-2:])

    bias_operand = None
    if bias is not None:
        bias_strides = broadcast_strides(low.views[id(bias)].strides, bias.shape, node.shape)
        bias_operand = low.operand(bias, (bias_strides[-1],))
    # An axis of one column may carry any stride; the core asks for unit stride.
    out = arranged(strides)
    out = (*out[:-1], 1)
    return Product(
        (node,) if stored is node else (node, stored),
        node.dtype.name,
        dims_of(node.shape, lead),
        _dim(node.shape[-2]),
        _dim(node.shape[-1]),
        _dim(x.shape[-1]),
        low.operand(x, arranged(low.views[id(x)].strides)),
        low.operand(W, arranged(low.views[id(W)].strides)),
        low.result(stored, out),
        id(node) in low.reducing,
        bias_operand,
        relu,
        epilogue,
    )


def _reduce(node: Node, low: Lowering, axes: tuple[int, ...]) -> Reduction:
    (x,) = node.inputs
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = row_axis(x.shape)
    keep_order = sorted(kept, key=lambda axis: axis != rows)
    reduce_order = sorted(axes, key=lambda axis: axis != rows)
    view = low.views[id(x)]
    out = stored_strides(node.shape)
    return Reduction(
        (node,),
        x.dtype.name if x.dtype != BOOL else "int64",
        node.primitive.name,
        dims_of(x.shape, keep_order),
        dims_of(x.shape, reduce_order),
        low.operand(x, tuple(view.strides[axis] for axis in (*keep_order, *reduce_order))),
        low.result(node, tuple(out[kept.index(axis)] for axis in keep_order)),
        id(node) in low.reducing,
    )


def _collapsed(shape: Shape, axes: Sequence[int]) -> Dim:
    """Several axes of a stored value as one."""
    rows = any(isinstance(shape[axis], Rows) for axis in axes)
    return (width(tuple(shape[axis] for axis in axes)), rows)


def _around(shape: Shape, first: int, last: int) -> tuple[list[int], list[int], list[int]]:
    """The axes before, at and after ``[first, last)``; the batch axis counts as before unless it stands within."""
    rows = row_axis(shape)
    middle = list(range(first, last))
    before = [axis for axis in range(first) if axis != rows]
    after = [axis for axis in range(last, len(shape)) if axis != rows]
    if rows is not None and rows not in middle:
        before.insert(0, rows)
    return before, middle, after


def _take(node: Node, low: Lowering) -> list[Instruction]:
    return _gather(node, low, whole=node.inputs[0], pieces=node, scatter=False)


def _scatter_add(node: Node, low: Lowering) -> list[Instruction]:
    return _gather(node, low, whole=node, pieces=node.inputs[0], scatter=True)


def _gather(node: Node, low: Lowering, *, whole: Node, pieces: Node, scatter: bool) -> list[Instruction]:
    """``whole`` has the indexed axis, ``pieces`` has the axes of the indices in its place."""
    indices = node.inputs[1]
    axis = node.params["axis"]
    before, _, after = _around(whole.shape, axis, axis + 1)
    rows = row_axis(indices.shape)
    if rows is not None and (
        rows != 0 or width(tuple(whole.shape[a] for a in before)) != 1 or row_axis(whole.shape) is not None
    ):
        raise NeedsRowCountError(node)
    inner = width(tuple(whole.shape[a] for a in after))
    outer, count = _collapsed(whole.shape, before), _collapsed(indices.shape, range(indices.ndim))
    size = whole.shape[axis]
    if isinstance(size, Rows):
        raise NeedsRowCountError(node)
    whole_strides, pieces_strides = (size * inner, inner, 1), (count[0] * inner, inner, 1)
    read, written = (pieces, whole) if scatter else (whole, pieces)
    read_strides, written_strides = (pieces_strides, whole_strides) if scatter else (whole_strides, pieces_strides)
    return [
        Gather(
            (node,),
            node.dtype.name,
            outer,
            count,
            (inner, False),
            size,
            low.operand(read, read_strides),
            low.operand(indices, (0, 1)),
            low.result(written, written_strides),
            scatter,
            id(node) in low.reducing,
        )
    ]


def _take_along(node: Node, low: Lowering) -> list[Instruction]:
    return _gather_along(node, low, size=node.inputs[0].shape[-1], count=node.shape[-1], scatter=False)


def _scatter_along(node: Node, low: Lowering) -> list[Instruction]:
    return _gather_along(node, low, size=node.shape[-1], count=node.inputs[0].shape[-1], scatter=True)


def _gather_along(
    node: Node, low: Lowering, *, size: int | Rows, count: int | Rows, scatter: bool
) -> list[Instruction]:
    if isinstance(size, Rows) or isinstance(count, Rows):
        raise NeedsRowCountError(node)
    x, indices = node.inputs
    whole, pieces = (size, 1, 1), (count, 1, 1)
    return [
        Gather(
            (node,),
            node.dtype.name,
            _collapsed(node.shape, range(node.ndim - 1)),
            (count, False),
            (1, False),
            size,
            low.operand(x, pieces if scatter else whole),
            low.operand(indices, (count, 1)),
            low.operand(node, whole if scatter else pieces),
            scatter,
        )
    ]


def _scan(node: Node, low: Lowering) -> list[Instruction]:
    axis = node.params["axis"]
    before, _, after = _around(node.shape, axis, axis + 1)
    if row_axis(node.shape) == axis:
        # The batch axis lies outermost in memory, whatever stands before it in the shape.
        before, after = [], [a for a in range(node.ndim) if a != axis]
    size, inner = _dim(node.shape[axis]), width(tuple(node.shape[a] for a in after))
    strides = (size[0] * inner, inner, 1)
    return [
        Scan(
            (node,),
            node.inputs[0].dtype.name,
            node.primitive.name,
            _collapsed(node.shape, before),
            size,
            (inner, False),
            low.operand(node.inputs[0], strides),
            low.operand(node, strides),
            node.params.get("reverse", False),
        )
    ]


def _random(node: Node, low: Lowering) -> list[Instruction]:
    units = width(node.shape)
    dims: tuple[Dim, ...] = ((units, False),)
    strides: tuple[int, ...] = (1,)
    if node.params["rows"]:
        first = _dim(node.shape[0])
        units = units if first[1] else units // max(first[0], 1)
        dims, strides = (first, (units, False)), (units, 1)
    return [
        Random(
            (node,),
            node.dtype.name,
            dims,
            low.operand(node, strides),
            low.operand(node.inputs[0]),
            node.params["stream"],
            node.params["rows"],
        )
    ]


_RULES: dict[str, Callable[[Node, Lowering], list[Instruction]]] = {
    "matmul": _matmul,
    "reshape": _reshape,
    "flip": _flip,
    "take": _take,
    "scatter_add": _scatter_add,
    "take_along": _take_along,
    "scatter_along": _scatter_along,
    "argsort": _scan,
    "cumsum": _scan,
    "random_uniform": _random,
}

NEEDS_CONTIGUOUS: dict[str, tuple[int, ...]] = {
    "take": (0, 1),
    "scatter_add": (0, 1),
    "take_along": (0, 1),
    "scatter_along": (0, 1),
    "argsort": (0,),
    "cumsum": (0,),
    "random_uniform": (0,),
}
"""Which arguments must lie as if stored; the planner copies views that do not."""
