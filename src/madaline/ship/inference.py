"""What is exported: the graph of a net outside of training, its weights as constants, each node with its layer."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madaline.errors import ConfigError, ExportError
from madaline.functional.model import Model
from madaline.graph.node import INPUT, Node, constant, is_constant, new_input, topological_order
from madaline.graph.shapes import Rows, Shape, is_symbolic, show
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, unflatten
from madaline.nn.context import Context
from madaline.nn.layer import Layer, Param
from madaline.plan.simplify import simplified
from madaline.plan.views import width

LOOKS = frozenset({"reshape", "transpose", "cast", "slice"})
"Primitives after which weights are still those weights, looked at otherwise."

RESERVED = re.compile(
    r"n|np|torch|math|base64|struct|self|forward|predict|model|scratch|[ijkv]\d*|(layer_|computed|_).*|"
    r"auto|bool|case|char|const|default|do|double|enum|extern|float|goto|inline|int|long|main|register|restrict|short|"
    r"signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|y0f|y1f|[jy][01n]f?"
)
"Names that the files use themselves, or that C does, its library's Bessel functions among them."


@dataclass(frozen=True)
class Port:
    """An input or output: its name in the exported file, its shape, the type."""

    name: str
    shape: Shape
    dtype: np.dtype[Any]

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

    def need(self, table: Mapping[str, Any], target: str) -> None:
        """An error, naming the layer, if the graph has a primitive that the target has no rule for."""
        for node in self.nodes:
            if node.primitive.name not in table:
                raise self.error(node, target, "has no rule there")

    def error(self, node: Node, target: str, why: str) -> ExportError:
        """What to say of a node that cannot be exported."""
        return ExportError(
            f"{self.layers.get(id(node), self.title)} cannot be exported to {target}: its primitive "
            f"{node.primitive.name!r}, which gives {show(node.shape)}, {why}. Use another target, or export the "
            "layers without it: model[:k]."
        )


def _shown(ports: Sequence[Port]) -> str:
    return ", ".join(f"{port.name} {show(port.shape)} of {port.dtype}" for port in ports)


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


def inference_of(model: Model, dtype: Any = None) -> Inference:
    """The graph of a model in evaluation mode, with floats of this type or of the model's own."""
    network = model.network
    if dtype not in (None, "float32", "float64"):
        raise ConfigError(f"dtype={dtype!r} must be 'float32' or 'float64'.")
    number = np.dtype(dtype or network.dtype)
    specs, structure = flatten(network.inputs)
    names = _leaf_names(network.inputs, "x")
    inputs = [
        new_input(index, (Rows(), *spec.shape), spec.dtype if spec.dtype.kind == "i" else number, name)
        for index, (spec, name) in enumerate(zip(specs, names, strict=True))
    ]
    store = _Constants(model, number)
    context = Context(store, train=False, key=np.zeros(2, dtype=np.int64), dtype=number, freeze=network.freeze)
    with open_trace(inputs):
        y = context.enter(network.net, unflatten(structure, inputs))
    paths = {id(node): path for path, node in store.nodes.items()}
    outputs = dict(zip(_leaf_names(y, "y"), flatten(y)[0], strict=True))
    for name, node in outputs.items():
        if node.shape[:1] != (Rows(),):
            raise ExportError(f"The output {name!r} has shape {show(node.shape)}: it has not a row for each row given.")
    return completed(inputs, outputs, repr(network.net), paths, frozenset(network.params), _layers_of(context))


def completed(
    inputs: Sequence[Node],
    outputs: Mapping[str, Node],
    title: str,
    paths: Mapping[int, str],
    learned: frozenset[str],
    layers: Mapping[int, str],
) -> Inference:
    """A traced graph made smaller: what is known is computed, needless nodes go, arrays get names.

    Parameters
    ----------
    inputs, outputs
        Nodes of the traced graph; the outputs by name.
    title : str
        What it is.
    paths : dict
        Paths of the arrays among the constants, by id of the node.
    learned : set
        Those paths that are parameters.
    layers : dict
        The layer of each node, by id.
    """
    graph = Graph(tuple(inputs), tuple(outputs.values()))
    known, paths = _folded(graph, dict(paths))
    better = simplified(Graph(graph.inputs, tuple(known[id(node)] for node in graph.outputs)))
    small = Graph(graph.inputs, tuple(better[id(known[id(node)])] for node in graph.outputs))
    layer_of: dict[int, str] = {}
    for node in topological_order(graph.outputs):
        new = better.get(id(known[id(node)]))
        if new is not None and id(node) in layers:
            layer_of.setdefault(id(new), layers[id(node)])
    weights, learned_names = _weight_names(small, paths, learned)
    taken: set[str] = set()
    names = [*(node.params["name"] for node in inputs), *outputs]
    ports = [
        Port(_new_name(name, taken, RESERVED), node.shape, node.dtype)
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
        name = names[id(node)] = _new_name(f"layer_{path}" if path else "computed", taken)
        if path in learned:
            parameters.add(name)
    return names, frozenset(parameters)


def _layers_of(context: Context) -> dict[int, str]:
    """The innermost layer around each node: outputs are noted innermost first."""
    found: dict[int, str] = {}
    for path, output in context.outputs.items():
        layer: Layer = context.layers[path]
        title = one_line(f"Layer {path!r} ({layer!r})" if path else f"{layer!r}")
        for node in topological_order(flatten(output)[0]):
            found.setdefault(id(node), title)
    return found


def _leaf_names(tree: Any, single: str) -> list[str]:
    """What inputs or outputs are called: by their names, or numbered, or by one letter if there is one."""
    if isinstance(tree, dict):
        return [
            f"{name}_{inner}" if inner else str(name) for name, item in tree.items() for inner in _leaf_names(item, "")
        ]
    if isinstance(tree, (tuple, list)):
        inner = [_leaf_names(item, "") for item in tree]
        return [f"{single}{number}{name}" for number, names in enumerate(inner) for name in names]
    return [single]


def _new_name(wanted: str, taken: set[str], reserved: re.Pattern[str] | None = None) -> str:
    """A name that Python and C take, too, and nobody has: ``layer_0_W`` for ``layer_0.W``."""
    plain = re.sub(r"\W", "_", wanted, flags=re.ASCII)
    if not plain.isidentifier() or keyword.iskeyword(plain) or (reserved and reserved.fullmatch(plain)):
        plain = f"x_{plain}"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return name


def one_line(text: str, limit: int = 160) -> str:
    """A text that is harmless within a comment or docstring of any language."""
    plain = " ".join("".join(sign if sign.isascii() and sign.isprintable() else " " for sign in text).split())
    for sign, stand_in in (("\\", "/"), ('"', "'"), ("*/", "* /"), ("/*", "/ *"), ("??", "? ?")):
        plain = plain.replace(sign, stand_in)
    return plain if len(plain) <= limit else f"{plain[: limit - 3]}..."
