"""From a function to its formula: trace it for several shapes and find what does not depend on them."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.graph.formula import Formula, Variant, canonical, is_elementwise
from madaline.graph.node import CONSTANT, ROW_COUNT, Node, as_node, new_input
from madaline.graph.plain import graph_to_dict
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape
from madaline.graph.trace import Graph, call_traced, parameter_names, refuse_foreign_inputs

Signature = Sequence[tuple[Shape, Any]]
"Shape and type of each argument."

_LEADS_BACK = ("broadcast_to", "reshape")
"Primitives that only bring a single number to a shape; in an elementwise formula, broadcasting does."


def is_found_by_name(function: Callable[..., Any]) -> bool:
    """Whether pickle finds a function by its module and its name. It does not find a lambda or a local function.

    Examples
    --------
    >>> is_found_by_name(np.tanh), is_found_by_name(lambda x: x)
    (True, False)
    """
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def as_formula(
    function: Callable[..., Any],
    families: Sequence[Sequence[Signature]],
    *,
    names: Sequence[str] = (),
    any_size: bool = False,
) -> Formula:
    """A formula from a function.

    Parameters
    ----------
    function : callable
        Written with NumPy. A formula is given back as it is.
    families : sequence of sequences of signatures
        What to trace it for. Signatures of one family differ in sizes or ranks alone, from small to large: where the
        graphs are the same from some size on, the formula is for all larger sizes too. After a family of different
        ranks for which the function is elementwise, others of the same types are not needed and left out.
    names : sequence of str
        Names of the arguments. By default those of the function.
    any_size : bool
        Whether it must be for all sizes.

    Raises
    ------
    ConfigError
        If it cannot be traced for any of them, or depends on sizes though it must not.
    """
    if isinstance(function, Formula):
        return function
    names = names or parameter_names(function)
    variants: list[Variant] = []
    done: set[tuple[Any, ...]] = set()
    errors: list[Exception] = []
    for family in families:
        types = tuple(np.dtype(dtype) for _, dtype in family[0])
        if types in done:
            continue
        graphs: list[Graph] = []
        for signature in family:
            try:
                graphs.append(_without_broadcasts(_traced(function, signature, names)))
            except Exception as error:  # noqa: BLE001 - whatever the user's function raises for this shape
                errors.append(error)
        if len({len(signature[0][0]) for signature in family}) == 1:
            variants.extend(_joined(graphs))
        elif len(graphs) == len(family) and all(map(is_elementwise, graphs)) and len(set(map(_key, graphs))) == 1:
            variants.append(Variant(graphs[-1], (None,) * len(types)))
            done.add(types)
    if not variants:
        raise ConfigError(f"The function cannot be saved, since it cannot be traced: {errors[0]}") from errors[0]
    if any_size and not any(None in variant.least or any(variant.least) for variant in variants):
        raise ConfigError(
            "The function cannot be saved: its graph depends on the sizes of its arguments other than through a mean, "
            "so it is not valid for other sizes. Rewrite it without these sizes, or define a class with a name instead."
        )
    return Formula(canonical({"variants": [variant.to_dict() for variant in variants]}))


def _traced(function: Callable[..., Any], signature: Signature, names: Sequence[str]) -> Graph:
    inputs = tuple(
        new_input(index, shape, dtype, name or f"x{index + 1}")
        for index, ((shape, dtype), name) in enumerate(itertools.zip_longest(signature, names[: len(signature)]))
    )
    result = call_traced(function, inputs, inputs)
    outputs = tuple(as_node(leaf) for leaf in (result if isinstance(result, (tuple, list)) else (result,)))
    refuse_foreign_inputs(inputs, outputs)
    return _with_own_numbers(Graph(inputs, outputs))


def _with_own_numbers(graph: Graph) -> Graph:
    """The graph with a node for every use of a single number.

    Equal numbers are one node in a trace. A mean over four columns would then share its 4 with other fours.
    """
    made = {id(node): node for node in graph.inputs}

    def own(node: Node) -> Node:
        is_number = node.primitive is CONSTANT and node.shape == ()
        return Node(CONSTANT, (), node.params, (), node.dtype) if is_number else made[id(node)]

    for node in graph.nodes[len(graph.inputs) :]:
        made[id(node)] = Node(node.primitive, tuple(map(own, node.inputs)), node.params, node.shape, node.dtype)
    return Graph(graph.inputs, tuple(map(own, graph.outputs)))


def _joined(graphs: Sequence[Graph]) -> list[Variant]:
    """The last graphs that are alike as one variant, the others each for its own shapes; exact ones come first."""
    groups = [list(group) for _, group in itertools.groupby(graphs, key=_skeleton)]
    alike = groups.pop() if groups and len(groups[-1]) > 1 else []
    sizes = _sizes(alike)
    fixed = graphs if sizes is None or not alike else list(itertools.chain(*groups))
    variants = [Variant(graph, ({},) * len(graph.inputs)) for graph in fixed]
    if sizes is None or not alike:
        return variants
    least: list[dict[int, int]] = []
    for same in zip(*(graph.inputs for graph in alike), strict=True):
        columns = enumerate(zip(*(node.shape for node in same), strict=True))
        least.append({axis: min(found) for axis, found in columns if len(set(found)) > 1})
    return [*variants, Variant(alike[-1], tuple(least), sizes)]


def _sizes(graphs: Sequence[Graph]) -> tuple[tuple[int, int, tuple[int, ...]], ...] | None:
    """Constants that differ between alike graphs as the size of an argument does; None if they differ otherwise."""
    found = []
    for number, nodes in enumerate(zip(*(graph.nodes for graph in graphs), strict=True)):
        if nodes[0].primitive is CONSTANT:
            values = [node.params["value"] for node in nodes]
        elif nodes[0].primitive is ROW_COUNT:
            values = [np.array([node.params["rows"].coefficient, node.params["rows"].offset]) for node in nodes]
        else:
            continue
        if all(np.array_equal(value, values[0], equal_nan=True) for value in values):
            continue
        size = next((one for one in _candidates(graphs[0]) if _is_size(values, graphs, *one)), None)
        if size is None:
            return None
        found.append((number, *size))
    return tuple(found)


def _candidates(graph: Graph) -> Iterator[tuple[int, tuple[int, ...]]]:
    for of, node in enumerate(graph.inputs):
        known = [axis for axis, size in enumerate(node.shape) if not isinstance(size, Rows)]
        for count in range(1, len(known) + 1):
            yield from ((of, axes) for axes in itertools.combinations(known, count))


def _is_size(values: Sequence[Any], graphs: Sequence[Graph], of: int, axes: tuple[int, ...]) -> bool:
    sizes: list[Any] = [math.prod(graph.inputs[of].shape[axis] for axis in axes) for graph in graphs]
    # A number of rows has its size as coefficient, and no offset.
    return all(
        np.array_equal(value, size if value.shape == () else [size, 0])
        for value, size in zip(values, sizes, strict=True)
    )


def _without_broadcasts(graph: Graph) -> Graph:
    """An elementwise graph without the nodes that bring single numbers to a shape; other graphs as they are."""
    replaced: dict[int, Any] = {id(node): node for node in graph.inputs}
    for node in graph.nodes[len(graph.inputs) :]:
        inputs = [replaced[id(item)] for item in node.inputs]
        leads_back = node.primitive.name in _LEADS_BACK and inputs[0].shape == ()
        if leads_back:
            replaced[id(node)] = inputs[0]
        elif isinstance(node.primitive, Elementwise):
            replaced[id(node)] = node.primitive(*inputs, **node.params)
        elif node.primitive is CONSTANT:
            replaced[id(node)] = node
        else:
            return graph
    return Graph(graph.inputs, tuple(replaced[id(node)] for node in graph.outputs))


def _key(graph: Graph) -> str:
    """The graph as text, but for the shapes of its inputs."""
    return canonical(graph_to_dict(graph) | {"inputs": len(graph.inputs)})


def _skeleton(graph: Graph) -> str:
    """The same without the values of single numbers, which may be sizes."""
    data = graph_to_dict(graph)
    for node in data["nodes"]:
        if node["do"] == "row_count" or (node["do"] == "constant" and node["shape"] == []):
            node |= {"values": [], "rows": ""}
    return canonical(data | {"inputs": len(graph.inputs)})
