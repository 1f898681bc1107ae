"""A graph as steps for one row: which nodes are computed in one loop, and where their results are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from madaline.graph.node import Node, is_constant, topological_order
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import is_symbolic
from madaline.plan.arena import Lifetime, place
from madaline.plan.rows import Kind, kind_of
from madaline.plan.views import View, views_of, width
from madaline.ship.inference import InferenceGraph

Strides = Sequence[int]


@dataclass
class RowLoop:
    """Nodes computed in one loop. Only the last one is stored; the others are used by it only."""

    nodes: list[Node] = field(default_factory=list)

    @property
    def result(self) -> Node:
        """The node whose result is stored."""
        return self.nodes[-1]


@dataclass(frozen=True)
class RowwisePlan:
    """Steps in order. Each result has a place in the scratch array of its dtype, or is an output."""

    steps: list[RowLoop]
    views: dict[int, View]
    "Where the elements of each node are stored, by id."
    outputs: dict[int, str]
    "Names of the results that are written directly to an output, by id."
    copies: list[tuple[str, Node]]
    "Outputs that are copied at the end."
    offsets: dict[int, int]
    "Offset of each other result in the scratch array of its dtype, by id."
    scratch: dict[str, int]
    "Size of the scratch array of each dtype."


def plan_of(inference: InferenceGraph, target: str) -> RowwisePlan:
    """The steps; an error if a node combines rows, because rows are computed one at a time."""
    nodes = topological_order(inference.graph.outputs)
    for node in inference.nodes:
        if kind_of(node) in (Kind.UNTILED, Kind.REDUCING):
            raise inference.error(
                node, target, "combines the rows of a batch, and this target computes one row at a time"
            )
    views = views_of(nodes)
    steps = _steps(inference, nodes, views)
    outputs: dict[int, str] = {}
    copies = []
    for port, node in zip(inference.outputs, inference.graph.outputs, strict=True):
        if views[id(node)].root is node and node.inputs and id(node) not in outputs:
            outputs[id(node)] = port.name
        else:
            copies.append((port.name, node))
    offsets, scratch = _places(steps, views, outputs, copies)
    return RowwisePlan(steps, views, outputs, copies, offsets, scratch)


def _steps(inference: InferenceGraph, nodes: Sequence[Node], views: dict[int, View]) -> list[RowLoop]:
    """Elementwise nodes join the loop of their users, if all users are in that loop and have the same shape."""
    users: dict[int, list[Node]] = {}
    for node in nodes:
        for item in node.inputs:
            users.setdefault(id(item), []).append(node)
    wanted = {id(node) for node in inference.graph.outputs}
    step_of: dict[int, RowLoop] = {}
    for node in reversed(nodes):
        if not node.inputs or views[id(node)].root is not node:
            continue
        using = users.get(id(node), [])
        homes = {id(step_of.get(id(user))) for user in using}
        joins = (
            isinstance(node.primitive, Elementwise)
            and id(node) not in wanted
            and len(homes) == 1
            and all(isinstance(user.primitive, Elementwise) and user.shape == node.shape for user in using)
        )
        home = step_of[id(using[0])] if joins else RowLoop()
        home.nodes.insert(0, node)
        step_of[id(node)] = home
    found: dict[int, RowLoop] = {}
    for node in nodes:
        step = step_of.get(id(node))
        if step is not None and step.result is node:
            found[id(step)] = step
    return list(found.values())


def _places(
    steps: Sequence[RowLoop], views: dict[int, View], outputs: dict[int, str], copies: Sequence[tuple[str, Node]]
) -> tuple[dict[int, int], dict[str, int]]:
    """Offsets and sizes of scratch arrays; space is reused when a result is no longer needed."""
    made = {id(step.result): number for number, step in enumerate(steps)}
    last = dict(made)
    for number, step in enumerate(steps):
        for node in step.nodes:
            for item in node.inputs:
                root = id(views[id(item)].root)
                if root in last:
                    last[root] = number
    for _, node in copies:
        last[id(views[id(node)].root)] = len(steps)
    offsets: dict[int, int] = {}
    scratch: dict[str, int] = {}
    kept = [step.result for step in steps if id(step.result) not in outputs]
    for dtype in dict.fromkeys(node.dtype.name for node in kept):
        own = [node for node in kept if node.dtype.name == dtype]
        lifetimes = [Lifetime(max(width(node.shape), 1), made[id(node)], last[id(node)]) for node in own]
        found, scratch[dtype] = place(lifetimes, 1)
        offsets.update(zip(map(id, own), found, strict=True))
    return offsets, scratch


def sizes(node: Node) -> list[int]:
    """The sizes of a node's axes, for one row."""
    return [1 if is_symbolic((size,)) else int(size) for size in node.shape]


def is_number(node: Node) -> bool:
    """Whether it is one known number."""
    return is_constant(node) and node.shape == ()


def place_of(indices: Sequence[str], strides: Strides) -> str:
    """The position of an element: the sum of each index times its stride."""
    terms = [
        (stride, index if abs(stride) == 1 else f"{abs(stride)} * {index}")
        for index, stride in zip(indices, strides, strict=True)
        if stride and index != "0"
    ]
    terms.sort(key=lambda term: term[0] < 0)
    text = "".join(f" {'-' if stride < 0 else '+'} {term}" for stride, term in terms)
    return text.removeprefix(" + ").strip() or "0"


def moved(offset: int, at: str) -> str:
    """A position plus an offset."""
    if not offset:
        return at
    return str(offset) if at == "0" else f"{offset} {at}" if at.startswith("-") else f"{offset} + {at}"
