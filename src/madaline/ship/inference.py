"""The graph that is exported: a net in evaluation mode, with its weights as constants and the layer of each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import ConfigError, ExportError, MadalineError
from madaline.functional.model import Model
from madaline.graph.node import INPUT, Node, constant, is_constant, new_input, substitute, topological_order
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape, is_symbolic, show
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, unflatten
from madaline.nn.context import Context
from madaline.nn.layer import Layer, Param
from madaline.nn.layers.embedding import Embedding
from madaline.plan.simplify import simplified
from madaline.plan.views import width
from madaline.ship.escape import Untrusted
from madaline.ship.names import Identifiers, leaf_names

LOOKS = frozenset({"reshape", "transpose", "cast", "slice"})
"Primitives whose result still has the values of the weights they are applied to."


@dataclass(frozen=True)
class Port:
    """An input or output of the exported file."""

    name: str
    "Identifier in the exported file."
    title: Untrusted
    "The name that users gave it."
    shape: Shape
    dtype: np.dtype[Any]
    kind: str = "array"
    """``array``; for a column of a table ``number`` (NaN if missing), ``category`` (index in ``values``, -1 if unknown,
    -2 if missing) or ``date`` (days since 1970-01-01); for an output ``label`` (index in ``values``)."""
    values: tuple[Untrusted, ...] = ()
    "The categories of a column, or the classes of a label."
    place: int = 0
    "Position of the column in the table."

    @property
    def is_column(self) -> bool:
        """Whether it is a column of a table."""
        return self.kind in ("number", "category", "date")

    @property
    def size(self) -> int:
        """Number of elements per row."""
        return width(self.shape)


@dataclass(frozen=True)
class InferenceGraph:
    """A graph from inputs to outputs without parameters: values that depend only on weights are already computed."""

    graph: Graph
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    title: Untrusted
    "A description of the model, for the head of a file."
    weights: dict[int, str] = field(default_factory=dict)
    "Names of the constants that are arrays, by id of the node: ``layer_0_W``."
    learned: frozenset[str] = frozenset()
    "Names of the constants that are trained parameters."
    layers: dict[int, Untrusted] = field(default_factory=dict)
    "A description of the layer that each node belongs to, by id of the node."

    @property
    def takes(self) -> str:
        """The inputs, for a docstring."""
        return _shown(self.inputs)

    @property
    def gives(self) -> str:
        """The outputs, for a docstring."""
        return _shown(self.outputs)

    @property
    def nodes(self) -> list[Node]:
        """The nodes to compute, in order: neither inputs nor constants."""
        return [n for n in topological_order(self.graph.outputs) if n.primitive is not INPUT and not is_constant(n)]

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The weights by name, in the order of their use."""
        nodes = topological_order(self.graph.outputs)
        return {self.weights[id(node)]: node.params["value"] for node in nodes if id(node) in self.weights}

    def written_with(self, table: Mapping[str, Any], target: str) -> InferenceGraph:
        """The same with only primitives that the target has a rule for.

        An elementwise primitive without a rule is written as its value is computed, if other primitives can say that.

        Raises
        ------
        ExportError
            If some primitive can be written neither way; it names the layer.
        """
        formulas: dict[int, Node] = {}
        for node in self.nodes:
            if node.primitive.name not in table:
                formula = _formula(node)
                if formula is None:
                    raise self.error(node, target, "is not supported there")
                formulas[id(node)] = formula
        if not formulas:
            return self
        graph = Graph(self.graph.inputs, tuple(substitute(self.graph.outputs, formulas)))
        return replace(self, graph=graph).written_with(table, target)

    def error(self, node: Node, target: str, why: str) -> ExportError:
        """The error for a node that cannot be exported."""
        return ExportError(
            f"{self.layers.get(id(node), self.title).shown()} cannot be exported to {target}: its primitive "
            f"{node.primitive.name!r} with output shape {show(node.shape)} {why}. Use another target, or export only "
            "the layers before it: model[:k]."
        )


def _formula(node: Node) -> Node | None:
    """An elementwise node over other primitives, if its value is computed by NumPy functions that can be traced."""
    if not isinstance(node.primitive, Elementwise):
        return None
    try:
        made = node.primitive.value(*node.inputs, **node.params)
    except (MadalineError, TypeError):
        return None
    if not isinstance(made, Node) or made.shape != node.shape or made.dtype != node.dtype:
        return None
    new = topological_order([made], {id(item) for item in node.inputs})
    return None if any(item.primitive is node.primitive for item in new) else made


def _shown(ports: Sequence[Port]) -> str:
    return ", ".join(
        f"{port.title.shown(60)} ({port.kind})"
        if port.is_column
        else f"{port.name} {show(port.shape)} of {'classes' if port.values else port.dtype}"
        for port in ports
    )


class _Constants:
    """The arrays of a model as constants in a graph."""

    def __init__(self, model: Model, dtype: np.dtype[Any]) -> None:
        self.nodes: dict[str, Node] = {}
        self._model, self._dtype = model, dtype

    def param(self, path: str, spec: Param, context: Context) -> Any:
        return self._of(self._model.params, path)

    def state(self, path: str, spec: Param) -> Any:
        return self._of(self._model.state, path)

    def _of(self, arrays: Mapping[str, np.ndarray], path: str) -> Node:
        if path not in self.nodes:
            self.nodes[path] = constant(arrays[path].astype(self._dtype))
        return self.nodes[path]


@dataclass(frozen=True)
class AppliedNet:
    """The result of a net applied to nodes."""

    y: Any
    paths: dict[int, str]
    "Paths of the model's arrays, by id of their nodes."
    layers: dict[int, str]
    "The layer of each node, by id."
    nodes: list[Node]
    "The nodes, kept alive so that their ids stay valid."
    vectors: list[tuple[str, Node]]
    "The outputs of embeddings, each with the name of the input that it embeds."


def run(model: Model, x: Any, dtype: np.dtype[Any], before: Mapping[int, str] | None = None) -> AppliedNet:
    """Apply a net in evaluation mode, with its arrays as constants of this dtype.

    ``before`` describes the nodes that lead to its inputs, by id.
    """
    network = model.network
    store = _Constants(model, dtype)
    context = Context(store, train=False, key=np.zeros(2, dtype=np.int64), dtype=dtype, freeze=network.freeze)
    y = context.enter(network.net, x)
    paths = {id(node): path for path, node in store.nodes.items()}
    outputs = [leaf for output in context.outputs.values() for leaf in flatten(output)[0]]
    vectors = [
        (path.rpartition(".")[2], context.outputs[path])
        for path, layer in context.layers.items()
        if isinstance(layer, Embedding)
    ]
    return AppliedNet(y, paths, _layers_of(context, x, before or {}), [*store.nodes.values(), *outputs], vectors)


def number_type(model: Model, dtype: DTypeLike | None) -> np.dtype[Any]:
    """The floating-point dtype of the exported file: the one asked for, by default the model's."""
    if dtype not in (None, "float32", "float64"):
        raise ConfigError(f"dtype={dtype!r} must be 'float32' or 'float64'.")
    return np.dtype(dtype or model.network.dtype)


def inference_of(model: Model, dtype: DTypeLike | None = None) -> InferenceGraph:
    """The graph of a model in evaluation mode, in this floating-point dtype or the model's."""
    network = model.network
    number = number_type(model, dtype)
    specs, structure = flatten(network.inputs)
    names = leaf_names(network.inputs, "x")
    inputs = [
        new_input(index, (Rows(), *spec.shape), spec.dtype if spec.dtype.kind == "i" else number, name)
        for index, (spec, name) in enumerate(zip(specs, names, strict=True))
    ]
    with open_trace(inputs):
        passed = run(model, unflatten(structure, inputs), number)
    outputs = dict(zip(leaf_names(passed.y, "y"), flatten(passed.y)[0], strict=True))
    for name, node in outputs.items():
        if node.shape[:1] != (Rows(),):
            raise ExportError(f"The output {name!r} has shape {show(node.shape)}: its first axis is not the rows.")
    return completed(inputs, outputs, repr(network.net), passed, frozenset(network.params))


def completed(
    inputs: Sequence[Node],
    outputs: Mapping[str, Node],
    title: str,
    passed: AppliedNet | None = None,
    learned: frozenset[str] = frozenset(),
    *,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> InferenceGraph:
    """Simplify a traced graph: compute constants, remove unneeded nodes, give names to arrays.

    Parameters
    ----------
    inputs, outputs
        Nodes of the traced graph; the outputs by name.
    title : str
        A description of the model.
    passed : AppliedNet, optional
        The result of the net inside the graph.
    learned : set
        Paths of the net's arrays that are parameters.
    columns, known : dict, optional
        Kind, values and the like of inputs and of outputs, by name.
    """
    paths, layers = (passed.paths, passed.layers) if passed else ({}, {})
    graph = Graph(tuple(inputs), tuple(outputs.values()))
    folded, paths = _folded(graph, dict(paths))
    better = simplified(Graph(graph.inputs, tuple(folded[id(node)] for node in graph.outputs)))
    small = Graph(graph.inputs, tuple(better[id(folded[id(node)])] for node in graph.outputs))
    layer_of: dict[int, Untrusted] = {}
    for node in topological_order(graph.outputs):
        new = better.get(id(folded[id(node)]))
        if new is not None and id(node) in layers:
            layer_of.setdefault(id(new), Untrusted(layers[id(node)]))
    names = Identifiers()
    weights, learned_names = _weight_names(small, paths, learned, names)
    titles = [node.params["name"] for node in inputs]
    return InferenceGraph(
        small,
        tuple(_port(names.new("x", name), name, node, columns) for name, node in zip(titles, inputs, strict=True)),
        tuple(_port(names.output(name), name, node, known) for name, node in zip(outputs, small.outputs, strict=True)),
        Untrusted(title),
        weights,
        learned_names,
        layer_of,
    )


def _port(name: str, title: str, node: Node, known: Mapping[str, Mapping[str, Any]] | None) -> Port:
    about = dict((known or {}).get(title, {}))
    about["values"] = tuple(map(Untrusted, about.get("values", ())))
    return Port(name, Untrusted(title), node.shape, node.dtype, **about)


def _folded(graph: Graph, paths: dict[int, str]) -> tuple[dict[int, Node], dict[int, str]]:
    """A replacement for each node, by id, where nodes that depend on no input are constants; and the paths of these."""
    new: dict[int, Node] = {}
    for node in topological_order(graph.outputs):
        inputs = tuple(new[id(item)] for item in node.inputs)
        current = node
        # A broadcast constant is not expanded, because the operations that follow broadcast anyway.
        if inputs and all(map(is_constant, inputs)) and not _grows(node) and not is_symbolic(node.shape):
            with np.errstate(all="ignore"):
                value = node.primitive.value(*(item.params["value"] for item in inputs), **node.params)
            current = constant(np.asarray(value, dtype=node.dtype))
            if node.primitive.name in LOOKS and id(inputs[0]) in paths:
                paths[id(current)] = paths[id(inputs[0])]
        elif any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            current = Node(node.primitive, inputs, node.params, node.shape, node.dtype)
        new[id(node)] = current
    return new, paths


def _grows(node: Node) -> bool:
    return node.primitive.name == "broadcast_to"


def _weight_names(
    graph: Graph, paths: Mapping[int, str], learned: frozenset[str], names: Identifiers
) -> tuple[dict[int, str], frozenset[str]]:
    found: dict[int, str] = {}
    parameters: set[str] = set()
    for node in topological_order(graph.outputs):
        if not is_constant(node) or node.shape == ():
            continue
        path = paths.get(id(node))
        name = found[id(node)] = names.new("layer", path) if path else names.new("computed", "computed")
        if path in learned:
            parameters.add(name)
    return found, frozenset(parameters)


def _layers_of(context: Context, x: Any, before: Mapping[int, str]) -> dict[int, str]:
    """The innermost layer of each node: ``context.outputs`` lists inner layers first. Nodes before ``x`` have none."""
    found = {id(node): before.get(id(node), "Inputs") for node in topological_order(flatten(x)[0])}
    done = set(found)
    for path, output in context.outputs.items():
        layer: Layer = context.layers[path]
        title = f"Layer {path!r} ({layer!r})" if path else f"{layer!r}"
        found |= {id(node): title for node in topological_order(flatten(output)[0], done)}
    return found
