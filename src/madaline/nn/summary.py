"""A summary of each layer of a net: path, inputs, outputs, parameters and flops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from madaline.graph.listing import node_flops
from madaline.graph.node import Node
from madaline.graph.shapes import Rows
from madaline.graph.tree import flatten, tree_map
from madaline.nn.context import Context
from madaline.nn.inputs import InputSpec
from madaline.nn.layer import Layer


@dataclass(frozen=True)
class LayerRow:
    """One layer: a row of the table that a net prints."""

    path: str
    layer: Layer
    inputs: Any
    "An :class:`InputSpec`, or a dict or tuple of them."
    out_shape: Any
    n_params: int
    "Parameters of a layer that occurs twice are counted once."
    flops: int
    home: str = ""
    "The path of its arrays: its own, or the first path of a layer that occurs twice."
    frozen: bool = False

    @property
    def title(self) -> str:
        """Its name in error messages."""
        return f"Layer {self.path!r} ({self.layer!r})" if self.path else f"{self.layer!r}"

    @property
    def in_shape(self) -> Any:
        """The shape of the input; the first axis is the batch."""
        return tree_map(lambda spec: (Rows(), *spec.shape), self.inputs)


def layer_rows(context: Context, sizes: Mapping[str, int]) -> Iterator[LayerRow]:
    """One row per layer, inner layers before outer ones; flops are for one row of the batch.

    Parameters
    ----------
    context : Context
        The context after a pass.
    sizes : dict
        Number of elements of each parameter, by its path.
    """
    seen: set[int] = set()
    flops: Counter[str] = Counter()
    n_params: Counter[str] = Counter()
    for path, size in sizes.items():
        for outer in _around(path):
            n_params[outer] += size
    for path, output in context.outputs.items():
        new = sum(node_flops(node, 1) for node in _unseen(flatten(output)[0], seen))
        for outer in (path, *_around(path)):
            flops[outer] += new
        yield LayerRow(
            path,
            context.layers[path],
            tree_map(lambda leaf: InputSpec(leaf.shape[1:], leaf.dtype), context.inputs[path]),
            tree_map(lambda leaf: leaf.shape, output),
            n_params[path],
            flops[path],
            home=context.homes[path],
            frozen=path in context.frozen_paths,
        )


def _around(path: str) -> Iterator[str]:
    """The paths of the layers around something: of ``2.0.W``, ``2.0``, ``2`` and that of the whole net."""
    while path:
        path = path.rpartition(".")[0]
        yield path


def _unseen(outputs: Sequence[Node], seen: set[int]) -> Iterator[Node]:
    """The nodes that lead to some outputs and were not met before."""
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            waiting.extend(node.inputs)
            yield node
