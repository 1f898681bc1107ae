"""Nodes that are drawn in one box: chains of operations, one layer of a net in each."""

from __future__ import annotations

from collections.abc import Sequence

from madaline.graph.box_text import used
from madaline.graph.node import Node

STARTS = frozenset({"matmul"})
"Operations that begin a new box: with a product begins a layer."


def chains(nodes: Sequence[Node], outputs: Sequence[Node]) -> list[list[Node]]:
    """The nodes in groups, each in order: a node joins the one before it if nothing else uses that.

    Inputs and constants stay alone, and so does an output. Of several nodes that could be continued, the one with the
    longest chain is.
    """
    uses: dict[int, int] = {}
    for node in nodes:
        for item in used(node):
            uses[id(item)] = uses.get(id(item), 0) + 1
    results = {id(node) for node in outputs}
    group_of: dict[int, list[Node]] = {}
    groups: list[list[Node]] = []
    for node in nodes:
        found = [
            group_of[id(item)]
            for item in used(node)
            if item.inputs and uses[id(item)] == 1 and id(item) not in results and id(item) in group_of
        ]
        group = max(found, key=len) if found and node.primitive.name not in STARTS else []
        if not group:
            groups.append(group)
        group.append(node)
        group_of[id(node)] = group
    place = {id(node): number for number, node in enumerate(nodes)}
    return sorted(groups, key=lambda group: place[id(group[-1])])
