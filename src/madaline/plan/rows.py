"""Classification of operations as row-wise, reducing or shared, and the assignment to stages.

Row-wise operations and the reductions of their results form a *rows stage*, which runs tile by tile. Operations that
need the result of a reduction are in a later stage. Even levels are rows stages, odd levels shared ones; level -1 comes
first and contains everything that does not depend on rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import Enum

from madaline.graph.node import Node
from madaline.graph.shapes import Rows, Shape, is_symbolic

REDUCIBLE = {"sum": "sum", "max": "max", "min": "min", "prod": "prod", "matmul": "sum", "scatter_add": "sum"}
"""Primitives that can reduce over the rows tile by tile, and how partial results are combined."""


LEAF_LEVEL = -2
"The level of inputs and constants."


class Kind(Enum):
    """How a node's value relates to the rows of the batch."""

    LEAF = "leaf"
    SHARED = "shared"
    TILED = "tiled"
    REDUCING = "reducing"
    UNTILED = "untiled"


class NeedsRowCountError(Exception):
    """The layout of a value depends on the number of rows, so the graph is planned for each number separately."""


def kind_of(node: Node) -> Kind:
    """The kind of one node."""
    if not node.inputs and node.primitive.name != "random_uniform":
        return Kind.LEAF
    batched = [item.shape for item in node.inputs if is_symbolic(item.shape)]
    if not is_symbolic(node.shape):
        if not batched:
            return Kind.SHARED
        return Kind.REDUCING if _reduces_rows(node) else Kind.UNTILED
    if plain_rows(node.shape) and all(plain_rows(shape) for shape in batched):
        shapes = tuple(item.shape for item in node.inputs)
        if node.primitive.keeps_rows(shapes, node.shape, **node.params):
            return Kind.TILED
    return Kind.UNTILED


def _reduces_rows(node: Node) -> bool:
    name = node.primitive.name
    if name not in REDUCIBLE:
        return False
    if not all(plain_rows(item.shape) for item in node.inputs if is_symbolic(item.shape)):
        return False
    if name == "matmul":
        return node.inputs[0].ndim == 2
    if name == "scatter_add":
        values, indices = node.inputs
        axis = node.params["axis"]
        return axis == 0 and values.shape[:1] == indices.shape[:1] == (Rows(),)
    return True


def plain_rows(shape: Shape) -> bool:
    """Whether the number of rows occurs in the shape once, without a factor."""
    rows = [size for size in shape if isinstance(size, Rows)]
    return len(rows) == 1 and rows[0] == Rows()


def check_layouts(nodes: list[Node]) -> None:
    """Raise an error for values whose strides would depend on the number of rows."""
    for node in nodes:
        if is_symbolic(node.shape) and not plain_rows(node.shape):
            raise NeedsRowCountError(node)


def levels(
    nodes: list[Node],
    kinds: dict[int, Kind],
    last: Mapping[int, int] | None = None,
    early: AbstractSet[int] = frozenset(),
) -> dict[int, int]:
    """The level of each node: as early as its inputs allow; shared nodes as late as their users allow.

    This way, operations of an update that do not depend on the gradient are fused into the update instead of stored.

    Parameters
    ----------
    nodes : list of Node
        In topological order.
    kinds : dict
        The kind of each node, by id.
    last : dict, optional
        Ids of nodes that come after all others: those with 0 in the first shared stage after everything, those with 1
        in the next one.
    early : set
        Ids of nodes that must come before them.
    """
    level = _earliest(nodes, kinds)
    end = max(level.values(), default=LEAF_LEVEL)
    end += 1 + end % 2
    last = last or {}
    level.update({key: end + 2 * turn for key, turn in last.items()})
    latest: dict[int, int] = {}
    for node in reversed(nodes):
        kind = kinds[id(node)]
        if kind is Kind.SHARED and id(node) not in last:
            limit = latest.get(id(node), level[id(node)])
            level[id(node)] = min(limit, end - 2) if id(node) in early else limit
        limit = level[id(node)] - (kind in (Kind.TILED, Kind.REDUCING))
        for item in node.inputs:
            latest[id(item)] = min(limit, latest.get(id(item), limit))
    return level


def _earliest(nodes: list[Node], kinds: dict[int, Kind]) -> dict[int, int]:
    level: dict[int, int] = {}
    for node in nodes:
        kind = kinds[id(node)]
        if kind is Kind.LEAF:
            level[id(node)] = LEAF_LEVEL
            continue
        by_row = kind in (Kind.TILED, Kind.REDUCING)
        earliest = 0 if by_row else -1
        for item in node.inputs:
            arrived = level[id(item)]
            item_kind = kinds[id(item)]
            if item_kind is Kind.LEAF:
                continue
            same_stage = (by_row and item_kind is Kind.TILED) or (
                not by_row and item_kind in (Kind.SHARED, Kind.UNTILED)
            )
            earliest = max(earliest, arrived if same_stage else arrived + 1)
        if by_row and earliest % 2:
            earliest += 1
        if not by_row and earliest % 2 == 0:
            earliest += 1
        level[id(node)] = earliest
    return level
