"""What a part of a graph takes from outside: values that do not depend on its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from madaline.graph.node import Node, is_constant, topological_order


def residuals(images: Sequence[Node], seeds: Sequence[Node]) -> list[Node]:
    """The traced values that a computation needs and that do not depend on its arguments ``seeds``."""
    dependent = {id(seed) for seed in seeds}
    order = topological_order(images)
    for node in order:
        if any(id(item) in dependent for item in node.inputs):
            dependent.add(id(node))
    kept: dict[int, Node] = {}
    wanted = [item for node in order if id(node) in dependent for item in node.inputs] + list(images)
    for item in wanted:
        if id(item) not in dependent and not is_constant(item):
            kept.setdefault(id(item), item)
    return list(kept.values())
