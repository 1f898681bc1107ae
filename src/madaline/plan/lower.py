"""Groups of nodes to instructions over buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from madaline.graph.node import BOOL, Node, name_of
from madaline.graph.shapes import Rows, Shape
from madaline.plan.chain import copy_chain, fill_chain, lower_chain
from madaline.plan.fuse import Group
from madaline.plan.join import gaps, runs
from madaline.plan.lowering import Lowering, dim_of, dims_of
from madaline.plan.program import (
    Chain,
    ClassLoss,
    Dim,
    Gather,
    Instruction,
    Op,
    Operand,
    Product,
    Random,
    RankOneStep,
    Reduction,
    Scan,
    row_axis,
)
from madaline.plan.rows import NeedsRowCountError
from madaline.plan.views import broadcast_strides, physical_order, stored_strides, width


def lower(group: Group, low: Lowering) -> list[Instruction]:
    """The instructions of a group."""
    if group.chain:
        return [lower_chain(group, low)]
    *before, node = group.nodes
    name = node.primitive.name
    if name == "place":
        return _place(node, low)
    if name in ("sum", "prod", "max", "min", "logsumexp"):
        return [_reduce(node, low, node.params["axes"], *before)]
    if name == "argmax":
        return [_reduce(node, low, (node.params["axis"],))]
    return _RULES[name](node, low)


def _reshape(node: Node, low: Lowering) -> list[Instruction]:
    """A reshape that no strides can say: copy the elements, in the order of the old shape."""
    (x,) = node.inputs
    batched = row_axis(x.shape) is not None or row_axis(node.shape) is not None
    if batched and not node.primitive.keeps_rows((x.shape,), node.shape, **node.params):
        raise NeedsRowCountError(node)
    strides = stored_strides(x.shape)
    return [copy_chain((node,), x.shape, low.operand(x), low.operand(node, strides), name_of(node.dtype))]


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
    instructions: list[Instruction] = [] if covered else [fill_chain(node, low, 0.0)]
    base = stored_strides(node.shape)
    for piece, box in zip(node.inputs, boxes, strict=True):
        if width(piece.shape) == 0:
            continue
        offset = sum(start * stride for (start, _, _), stride in zip(box, base, strict=True))
        strides = tuple(step * stride for (_, step, _), stride in zip(box, base, strict=True))
        dst = low.operand(node, strides, offset)
        instructions.append(
            copy_chain((node,), piece.shape, low.operand(piece), dst, name_of(node.dtype), add=not disjoint)
        )
    return instructions


def _run(node: Node, low: Lowering, first: int, last: int, piece: Node | None = None) -> Chain:
    """Fill a run of elements with a piece, or with zeros."""
    if piece is not None:
        dst = low.operand(node, stored_strides(piece.shape), first)
        return copy_chain((node,), piece.shape, low.operand(piece), dst, name_of(node.dtype))
    dst = low.operand(node, (1,), first)
    return Chain((node,), name_of(node.dtype), ((last - first, False),), (dst,), (0.0,), 0, (Op("copy", 0, (1,)),))


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
    gate: Node | None = None,
    epilogue: Chain | None = None,
) -> Product:
    """A matrix product whose result, after bias, relu and gate, is the node ``stored``."""
    x, W = node.inputs
    strides = low.views[id(stored)].strides
    swap = node.ndim == 2 and strides[-1] != 1 and node.shape[-1] != 1 and bias is None
    if swap:
        # The batch axis stands last, so it is the transpose that is stored by rows: C' = W' x'.
        x_strides, W_strides = low.views[id(x)].strides, low.views[id(W)].strides
        return Product(
            (node,),
            name_of(node.dtype),
            m=dim_of(node.shape[-1]),
            n=dim_of(node.shape[-2]),
            k=dim_of(x.shape[-1]),
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
        name_of(node.dtype),
        dims_of(node.shape, lead),
        dim_of(node.shape[-2]),
        dim_of(node.shape[-1]),
        dim_of(x.shape[-1]),
        low.operand(x, arranged(low.views[id(x)].strides)),
        low.operand(W, arranged(low.views[id(W)].strides)),
        low.result(stored, out),
        id(node) in low.reducing,
        bias_operand,
        relu,
        None if gate is None else low.operand(gate),
        epilogue,
    )


def _reduce(node: Node, low: Lowering, axes: tuple[int, ...], product: Node | None = None) -> Reduction:
    """A reduction; of a sum, ``product`` may be what is summed, which is then not computed by itself."""
    x, *others = node.inputs if product is None else product.inputs
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = row_axis(x.shape)
    keep_order = sorted(kept, key=lambda axis: axis != rows)
    reduce_order = sorted(axes, key=lambda axis: axis != rows)
    out = stored_strides(node.shape)

    def arranged(item: Node) -> Operand:
        strides = low.views[id(item)].strides
        return low.operand(item, tuple(strides[axis] for axis in (*keep_order, *reduce_order)))

    return Reduction(
        (node,),
        name_of(x.dtype) if x.dtype != BOOL else "int64",
        node.primitive.name,
        dims_of(x.shape, keep_order),
        dims_of(x.shape, reduce_order),
        arranged(x),
        low.result(node, tuple(out[kept.index(axis)] for axis in keep_order)),
        id(node) in low.reducing,
        arranged(others[0]) if others else None,
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
            name_of(node.dtype),
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
            name_of(node.dtype),
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
    size, inner = dim_of(node.shape[axis]), width(tuple(node.shape[a] for a in after))
    strides = (size[0] * inner, inner, 1)
    return [
        Scan(
            (node,),
            name_of(node.inputs[0].dtype),
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
    if row_axis(node.shape) is not None and not node.primitive.keeps_rows((), node.shape, **node.params):
        raise NeedsRowCountError(node)
    units = width(node.shape)
    dims: tuple[Dim, ...] = ((units, False),)
    strides: tuple[int, ...] = (1,)
    if node.params["rows"]:
        first = dim_of(node.shape[0])
        units = units if first[1] else units // max(first[0], 1)
        dims, strides = (first, (units, False)), (units, 1)
    return [
        Random(
            (node,),
            name_of(node.dtype),
            dims,
            low.operand(node, strides),
            low.operand(node.inputs[0]),
            node.params["stream"],
            node.params["rows"],
        )
    ]


def _rank_one_step(node: Node, low: Lowering) -> list[Instruction]:
    w, rate, *values = [low.operand(item, (1,)) for item in node.inputs]
    given = iter(values)
    parts = tuple(
        (start, rows, columns, next(given) if rows else None, next(given))
        for start, rows, columns in node.params["parts"]
    )
    return [RankOneStep((node,), name_of(node.dtype), width(node.shape), w, rate, low.operand(node), parts)]


def _class_loss(node: Node, low: Lowering) -> list[Instruction]:
    operands = [low.operand(item) for item in (*node.inputs, node)]
    n, columns = node.shape  # of each row the classes' slopes, then the loss
    assert isinstance(columns, int)
    return [ClassLoss((node,), name_of(node.dtype), dim_of(n), columns - 1, *operands)]


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
    "class_loss": _class_loss,
    "rank_one_step": _rank_one_step,
}

NEEDS_CONTIGUOUS: dict[str, Sequence[int]] = {
    "take": (0, 1),
    "scatter_add": (0, 1),
    "take_along": (0, 1),
    "scatter_along": (0, 1),
    "argsort": (0,),
    "cumsum": (0,),
    "random_uniform": (0,),
    "rank_one_step": range(1 << 16),
}
"""Which arguments must lie as if stored; the planner copies views that do not."""
