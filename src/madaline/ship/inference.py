"""What is exported: the graph of a net outside of training, its weights as constants, each node with its layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from madaline.errors import ConfigError, ExportError, MadalineError
from madaline.functional.model import Model
from madaline.graph.node import INPUT, Node, constant, is_constant, new_input, substitute, topological_order
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape, is_symbolic, show
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, unflatten
from madaline.nn.context import Context
from madaline.nn.layer import Layer, Param
from madaline.plan.simplify import simplified
from madaline.plan.views import width
from madaline.ship.names import RESERVED, leaf_names, new_name, one_line

LOOKS = frozenset({"reshape", "transpose", "cast", "slice"})
"Primitives after which weights are still those weights, looked at otherwise."


@dataclass(frozen=True)
class Port:
    """An input or output: its name in the exported file, its shape, the type."""

    name: str
    shape: Shape
    dtype: np.dtype[Any]
    kind: str = "array"
    """``array``; for a column of a table ``number`` (NaN is a missing one), ``category`` (the place among its values,
    -1 for another, -2 for none) or ``date`` (days since 1970); for an output ``label`` (the place among its values)."""
    values: tuple[Any, ...] = ()
    "The texts of a category, or the classes of a label."
    title: str = ""
    "What users call it."
    place: int = 0
    "Which column of the table it is."

    @property
    def is_column(self) -> bool:
        """Whether it is a column of a table."""
        return self.kind in ("number", "category", "date")

    @property
    def size(self) -> int:
        """Numbers in a row."""
        return width(self.shape)


@dataclass(frozen=True)
class Inference:
    """A graph from inputs to outputs without parameters: what depends on weights alone is computed already."""

    graph: Graph
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    title: str
    "What it is, in a line, for the head of a file."
    weights: dict[int, str] = field(default_factory=dict)
    "Names of the constants that are arrays, by id of the node: ``layer_0_W``."
    learned: frozenset[str] = frozenset()
    "The names of those that are parameters as they were trained."
    layers: dict[int, str] = field(default_factory=dict)
    "The layer in which each node came to be, by id, as messages call it."

    @property
    def takes(self) -> str:
        """The inputs, as a sentence names them."""
        return _shown(self.inputs)

    @property
    def gives(self) -> str:
        """The outputs, as a sentence names them."""
        return _shown(self.outputs)

    @property
    def nodes(self) -> list[Node]:
        """What is to be computed, in order: no inputs and no constants."""
        return [n for n in topological_order(self.graph.outputs) if n.primitive is not INPUT and not is_constant(n)]

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, in the order in which they are used."""
        nodes = topological_order(self.graph.outputs)
        return {self.weights[id(node)]: node.params["value"] for node in nodes if id(node) in self.weights}

    def written_with(self, table: Mapping[str, Any], target: str) -> Inference:
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
                    raise self.error(node, target, "has no rule there")
                formulas[id(node)] = formula
        if not formulas:
            return self
        graph = Graph(self.graph.inputs, tuple(substitute(self.graph.outputs, formulas)))
        return replace(self, graph=graph).written_with(table, target)

    def error(self, node: Node, target: str, why: str) -> ExportError:
        """What to say of a node that cannot be exported."""
        return ExportError(
            f"{self.layers.get(id(node), self.title)} cannot be exported to {target}: its primitive "
            f"{node.primitive.name!r}, which gives {show(node.shape)}, {why}. Use another target, or export the "
            "layers without it: model[:k]."
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
    before = {id(item) for item in topological_order(node.inputs)}
    new = [item for item in topological_order([made]) if id(item) not in before]
    return None if any(item.primitive is node.primitive for item in new) else made


def _shown(ports: Sequence[Port]) -> str:
    return ", ".join(
        f"{one_line(port.title, 60)} ({port.kind})"
        if port.is_column
        else f"{port.name} {show(port.shape)} of {'classes' if port.values else port.dtype}"
        for port in ports
    )


class _Constants:
    """The arrays of a model as constants of a graph."""

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
class Pass:
    """A net run on nodes: what came out, and what is known of the nodes between."""

    y: Any
    paths: dict[int, str]
    "Paths of the model's arrays, by id of their nodes."
    layers: dict[int, str]
    "The layer of each node, by id."
    nodes: list[Node]
    "The nodes themselves, so that ids stay theirs."


def run(model: Model, x: Any, dtype: np.dtype[Any], before: Mapping[int, str] | None = None) -> Pass:
    """Run a net in evaluation mode; its arrays are constants of that type. ``before`` says what nodes before it do."""
    network = model.network
    store = _Constants(model, dtype)
    context = Context(store, train=False, key=np.zeros(2, dtype=np.int64), dtype=dtype, freeze=network.freeze)
    y = context.enter(network.net, x)
    paths = {id(node): path for path, node in store.nodes.items()}
    outputs = [leaf for output in context.outputs.values() for leaf in flatten(output)[0]]
    return Pass(y, paths, _layers_of(context, x, before or {}), [*store.nodes.values(), *outputs])


def number_type(model: Model, dtype: Any) -> np.dtype[Any]:
    """The type of floats: that asked for, or the model's own."""
    if dtype not in (None, "float32", "float64"):
        raise ConfigError(f"dtype={dtype!r} must be 'float32' or 'float64'.")
    return np.dtype(dtype or model.network.dtype)


def inference_of(model: Model, dtype: Any = None) -> Inference:
    """The graph of a model in evaluation mode, with floats of this type or of the model's own."""
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
            raise ExportError(f"The output {name!r} has shape {show(node.shape)}: it has not a row for each row given.")
    return completed(inputs, outputs, repr(network.net), passed, frozenset(network.params))


def completed(
    inputs: Sequence[Node],
    outputs: Mapping[str, Node],
    title: str,
    passed: Pass | None = None,
    learned: frozenset[str] = frozenset(),
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> Inference:
    """A traced graph made smaller: what is known is computed, needless nodes go, arrays get names.

    Parameters
    ----------
    inputs, outputs
        Nodes of the traced graph; the outputs by name.
    title : str
        What it is.
    passed : Pass, optional
        Of the net inside.
    learned : set
        Those paths of its arrays that are parameters.
    known : dict, optional
        Kind, values and the like of inputs and outputs, by name.
    """
    known = known or {}
    paths, layers = (passed.paths, passed.layers) if passed else ({}, {})
    graph = Graph(tuple(inputs), tuple(outputs.values()))
    folded, paths = _folded(graph, dict(paths))
    better = simplified(Graph(graph.inputs, tuple(folded[id(node)] for node in graph.outputs)))
    small = Graph(graph.inputs, tuple(better[id(folded[id(node)])] for node in graph.outputs))
    layer_of: dict[int, str] = {}
    for node in topological_order(graph.outputs):
        new = better.get(id(folded[id(node)]))
        if new is not None and id(node) in layers:
            layer_of.setdefault(id(new), layers[id(node)])
    weights, learned_names = _weight_names(small, paths, learned)
    taken: set[str] = set()
    names = [*(node.params["name"] for node in inputs), *outputs]
    ports = [
        Port(new_name(name, taken, RESERVED), node.shape, node.dtype, **{"title": name, **known.get(name, {})})
        for name, node in zip(names, (*inputs, *small.outputs), strict=True)
    ]
    return Inference(
        small,
        tuple(ports[: len(inputs)]),
        tuple(ports[len(inputs) :]),
        one_line(title),
        weights,
        learned_names,
        layer_of,
    )


def _folded(graph: Graph, paths: dict[int, str]) -> tuple[dict[int, Node], dict[int, str]]:
    """Each node's stand-in, by id, with values for all nodes that depend on no input; and the paths of these."""
    new: dict[int, Node] = {}
    for node in topological_order(graph.outputs):
        inputs = tuple(new[id(item)] for item in node.inputs)
        current = node
        # What a broadcast repeats is not written out: what follows it repeats by itself.
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
    graph: Graph, paths: Mapping[int, str], learned: frozenset[str]
) -> tuple[dict[int, str], frozenset[str]]:
    names: dict[int, str] = {}
    taken: set[str] = set()
    parameters: set[str] = set()
    for node in topological_order(graph.outputs):
        if not is_constant(node) or node.shape == ():
            continue
        path = paths.get(id(node))
        name = names[id(node)] = new_name(f"layer_{path}" if path else "computed", taken)
        if path in learned:
            parameters.add(name)
    return names, frozenset(parameters)


def _layers_of(context: Context, x: Any, before: Mapping[int, str]) -> dict[int, str]:
    """The innermost layer around each node: outputs are noted innermost first. What leads to the inputs is none's."""
    found = {id(node): before.get(id(node), "Inputs") for node in topological_order(flatten(x)[0])}
    for path, output in context.outputs.items():
        layer: Layer = context.layers[path]
        title = one_line(f"Layer {path!r} ({layer!r})" if path else f"{layer!r}")
        for node in topological_order(flatten(output)[0]):
            found.setdefault(id(node), title)
    return found
