"""Outputs that overwrite inputs, and the order of instructions that this requires.

A training step writes new parameters over the old ones. Everything that reads the old ones must come first. Values that
are computed element by element from the old ones are written in place; others are computed into a buffer and copied at
the end. All such writes are in the last stages, so that a step can be abandoned before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from madaline.errors import ConfigError
from madaline.graph.node import Node, topological_order
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import is_symbolic, show
from madaline.graph.trace import Graph
from madaline.plan.fuse import NodeGroup, is_elementwise
from madaline.plan.instructions.rank_one import RANK_ONE_STEP
from madaline.plan.rows import Kind
from madaline.plan.views import View, lies_as_stored


@dataclass(slots=True)
class Donations:
    """The inputs that outputs overwrite, by the id of the output: in place, or by a copy at the end."""

    in_place: dict[int, Node] = field(default_factory=dict)
    copies: dict[int, Node] = field(default_factory=dict)

    def __contains__(self, node: Node) -> bool:
        return id(node) in self.in_place or id(node) in self.copies


def check_donated(graph: Graph, donated: Mapping[int, int]) -> None:
    """Raise an error unless each output matches its input and no input is donated twice."""
    for output, given in donated.items():
        if not (0 <= output < len(graph.outputs) and 0 <= given < len(graph.inputs)):
            raise ConfigError(
                f"donated={dict(donated)!r} names output {output} and input {given}, but there are "
                f"{len(graph.outputs)} outputs and {len(graph.inputs)} inputs. It maps positions of outputs to inputs."
            )
        made, taken = graph.outputs[output], graph.inputs[given]
        if made.shape != taken.shape or made.dtype != taken.dtype:
            raise ConfigError(
                f"donated={dict(donated)!r} puts output {output}, {made.dtype} {show(made.shape)}, in the place of "
                f"input {given}, {taken.dtype} {show(taken.shape)}. Shape and type must be equal."
            )
    if len(set(donated.values())) != len(donated):
        raise ConfigError(f"donated={dict(donated)!r} gives one input to two outputs. Each needs an input of its own.")


def with_copies(graph: Graph, copied: AbstractSet[int]) -> Graph:
    """The graph with a copy of each output whose position is in ``copied``."""
    outputs = [
        Node(PRIMITIVES["identity"], (node,), {}, node.shape, node.dtype) if index in copied else node
        for index, node in enumerate(graph.outputs)
    ]
    return Graph(graph.inputs, tuple(outputs))


def needed_early(
    nodes: Sequence[Node],
    kinds: Mapping[int, Kind],
    views: Mapping[int, View],
    outputs: Sequence[Node],
    donations: Donations,
) -> set[int]:
    """Ids of the nodes that must be computed before any input is overwritten: all except those that overwrite."""
    early = {id(node) for node in outputs if node not in donations}
    for node in reversed(nodes):
        if id(node) not in early and id(node) not in donations.copies:
            is_work = views[id(node)].root is node
            if kinds[id(node)] is Kind.SHARED and (is_elementwise(node) or not is_work):
                continue
            if node.primitive is not RANK_ONE_STEP:  # it overwrites its input
                early.add(id(node))
        early.update(id(item) for item in node.inputs)
    return early


def clashes(
    groups: Sequence[NodeGroup], commit: int, views: Mapping[int, View], donations: Donations, early: AbstractSet[int]
) -> set[int]:
    """Ids of the outputs that cannot be written in place, because the input is read later or at another index."""
    home = {id(node): position for position, group in enumerate(groups) for node in group.nodes}
    writer = {id(given): (key, home[key]) for key, given in donations.in_place.items()}
    found = {key for key in donations.in_place if key in early}
    for position, group in enumerate(groups):
        if group.level != commit:
            continue
        for node in group.nodes:
            for item in node.inputs:
                view = views[id(item)]
                if id(view.root) not in writer:
                    continue
                key, written = writer[id(view.root)]
                same = item.shape == group.shape and lies_as_stored(item, view)
                if position > written or (position == written and not same):
                    found.add(key)
    return found


def cannot_be_in_place(graph: Graph, donated: Mapping[int, int]) -> set[int]:
    """Positions of the donated outputs that certainly need a copy at the end.

    Only elementwise operations on shared values are written in place, and only if no other output needs the value.
    """
    others = topological_order(node for index, node in enumerate(graph.outputs) if index not in donated)
    early = {id(node) for node in others}
    return {index for index in donated if id(graph.outputs[index]) in early or not _goes_in_place(graph.outputs[index])}


def _goes_in_place(node: Node) -> bool:
    return (is_elementwise(node) and not is_symbolic(node.shape)) or node.primitive is RANK_ONE_STEP
