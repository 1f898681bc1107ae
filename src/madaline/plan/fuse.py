"""Group nodes into instructions: elementwise nodes over one index space, in one stage and type, become one chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from madaline.graph.node import BOOL, Node, name_of
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape, is_symbolic
from madaline.plan.rows import LEAF_LEVEL
from madaline.plan.views import View, is_scalar_constant, width

MAX_CHAIN = 48
"""Maximum number of nodes in a chain: the blocks of more would not fit into the first-level cache."""

MAX_OPERANDS = 64
"Maximum number of values that a chain reads and writes: the limit of the native machine."


@dataclass(slots=True)
class NodeGroup:
    """Nodes that one instruction computes; ``dtype`` is the type of a chain, ``None`` while it is undetermined."""

    level: int
    shape: Shape
    dtype: str | None
    chain: bool
    nodes: list[Node] = field(default_factory=list)
    sources: set[int] = field(default_factory=set)

    def sources_with(self, needed: Iterable[Node], group_of: dict[int, int], position: int) -> set[int]:
        """Ids of the external values that the chain reads if these are added."""
        return self.sources.union(id(item) for item in needed if group_of.get(id(item)) != position)


def chain_dtype(node: Node) -> str | None:
    """The type in which a chain computes this node; ``None`` for logic on masks, which works in any type."""
    if node.primitive.name == "cast" and node.dtype != BOOL:
        return name_of(node.dtype)
    if node.primitive.name == "where":
        return None if node.dtype == BOOL else name_of(node.dtype)
    first = node.inputs[0].dtype
    return None if first == BOOL else name_of(first)


def is_elementwise(node: Node) -> bool:
    """Whether a chain can compute it."""
    return isinstance(node.primitive, Elementwise)


def computed_late(
    nodes: Sequence[Node], users: Mapping[int, Sequence[Node]], views: dict[int, View], outputs: Sequence[Node]
) -> dict[int, Node]:
    """Elementwise nodes that are computed where they are used, by id, with the only node that uses them.

    The inputs of such a node are stored anyway, so computing it later is cheaper than storing it: the mask ``y > 0`` of
    a rectifier whose ``y`` is the input of a product, a gradient times a row of factors, the terms of a sum over the
    rows.
    """
    wanted = {id(node) for node in outputs}

    def is_kept(item: Node) -> bool:
        using = users[id(item)]
        return not item.inputs or len(using) > 2 or any(not is_elementwise(user) for user in using)

    found: dict[int, Node] = {}
    for node in nodes:
        using = users.get(id(node), ())
        if len(using) != 1 or id(node) in wanted or not is_elementwise(node):
            continue
        if not is_symbolic(node.shape) and node.dtype != BOOL:
            continue  # updates may overwrite parameters
        (user,) = using
        known = [item for item in node.inputs if item.shape == node.shape and not is_scalar_constant(item)]
        if not all(views[id(item)].root is item for item in known):
            continue
        if _is_summed_product(node, user):
            is_cheaper = all(is_kept(item) for item in known)
        else:
            is_cheaper = (
                len(known) == 1
                and any(not is_elementwise(other) for other in users[id(known[0])])
                and is_elementwise(user)
                and user.shape == node.shape
                and chain_dtype(node) == chain_dtype(user)
            )
        if is_cheaper:
            found[id(node)] = user
    return found


def _is_summed_product(node: Node, user: Node) -> bool:
    """Whether the core can sum these products over the rows without storing them."""
    if user.primitive.name != "sum" or user.params["axes"] != (0,) or node.primitive.name != "multiply":
        return False
    is_batch = node.ndim == 2 and node.shape[0] == Rows() and width(node.shape) > 1
    return is_batch and node.dtype.kind == "f" and all(item.shape == node.shape for item in node.inputs)


def in_order(
    nodes: Sequence[Node], level: dict[int, int], views: dict[int, View], late: Mapping[int, Node]
) -> list[Node]:
    """The nodes by level; within a level, single numbers come first, so that they do not split chains of vectors.

    Nodes in ``late`` come directly before their users.
    """
    users: dict[int, list[int]] = {}
    waiting: list[int] = []
    heap: list[tuple[int, bool, int]] = []

    def key(index: int) -> tuple[int, bool, int]:
        node = nodes[index]
        is_number = width(node.shape) == 1 and not is_symbolic(node.shape)
        return level[id(node)], not (is_number and (is_elementwise(node) or views[id(node)].root is not node)), index

    for index, node in enumerate(nodes):
        needed = _needed(node, late)
        waiting.append(len(needed))
        if id(node) in late:
            continue
        for item in needed:
            users.setdefault(id(item), []).append(index)
        if not needed:
            heap.append(key(index))
    heapify(heap)
    found: list[Node] = []
    while heap:
        node = nodes[heappop(heap)[2]]
        found.extend(item for item in dict.fromkeys(node.inputs) if id(item) in late)
        found.append(node)
        for index in users.get(id(node), ()):
            waiting[index] -= 1
            if not waiting[index]:
                heappush(heap, key(index))
    return found


def _needed(node: Node, late: Mapping[int, Node]) -> list[Node]:
    """The nodes that must be computed before the node; late nodes are replaced by their inputs."""
    return [source for item in node.inputs for source in (item.inputs if id(item) in late else (item,))]


def fuse(
    nodes: Sequence[Node], level: dict[int, int], views: dict[int, View], late: Mapping[int, Node] | None = None
) -> list[NodeGroup]:
    """Groups in an order that respects all dependencies. ``nodes`` are :func:`in_order`; leaves are left out."""
    late = late or {}
    groups: list[NodeGroup] = []
    group_of: dict[int, int] = {}
    latest: dict[tuple[int, Shape, str | None], int] = {}
    for node in nodes:
        if views[id(node)].root is not node or level[id(node)] == LEAF_LEVEL or id(node) in late:
            continue
        needed = _needed(node, late)
        home = _home(node, needed, level[id(node)], groups, group_of, latest, views) if is_elementwise(node) else None
        if home is None:
            home = len(groups)
            groups.append(NodeGroup(level[id(node)], node.shape, None, is_elementwise(node)))
        group = groups[home]
        made = [*(item for item in dict.fromkeys(node.inputs) if id(item) in late), node]
        group.nodes.extend(made)
        if group.chain:
            group.sources = group.sources_with(needed, group_of, home)
        group_of.update((id(item), home) for item in made)
        if group.chain:
            group.dtype = group.dtype or chain_dtype(node)
            latest[(group.level, group.shape, group.dtype)] = home
    return groups


def _home(
    node: Node,
    inputs: Sequence[Node],
    level: int,
    groups: list[NodeGroup],
    group_of: dict[int, int],
    latest: dict[tuple[int, Shape, str | None], int],
    views: dict[int, View],
) -> int | None:
    """A chain that the node can join: all inputs of the node are computed before the chain or in it."""
    dtype = chain_dtype(node)
    needed, must_follow = -1, -1
    for item in inputs:
        root = views[id(item)].root
        made = group_of.get(id(root), -1)
        needed = max(needed, made)
        if root is not item or item.shape != node.shape:
            must_follow = max(must_follow, made)

    def fits(position: int) -> bool:
        group = groups[position]
        return (
            group.chain
            and group.level == level
            and group.shape == node.shape
            and len(group.nodes) < MAX_CHAIN
            and (dtype is None or group.dtype is None or group.dtype == dtype)
            and position > must_follow
            and len(group.sources_with(inputs, group_of, position)) + len(group.nodes) < MAX_OPERANDS
        )

    if needed >= 0 and fits(needed):
        return needed
    later = latest.get((level, node.shape, dtype))
    return later if later is not None and later > needed and fits(later) else None
