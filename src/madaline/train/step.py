"""The graph of one training step: forward, loss, backward, clipping, update, averages, probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError
from madaline.graph.node import Node, as_node, constant, new_input
from madaline.graph.reverse_mode import cotangents
from madaline.graph.shapes import Rows, Shape
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, tree_map, unflatten
from madaline.losses.loss import Loss
from madaline.nn.context import Context
from madaline.nn.layers.activation import Activation, LearnedHinge, PReLU
from madaline.nn.network import Entry, Network
from madaline.optim.optimizer import Optimizer
from madaline.train.metrics import Metric
from madaline.train.probe_samples import OUTPUTS, ProbeLayout, probe_outputs
from madaline.train.recipe import EVERYWHERE, Recipe, group_factors, matches

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from madaline.data.data_types import Targets


@dataclass(frozen=True)
class TargetSpec:
    """Shape of the rows of a target, and its type."""

    shape: Shape
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class StepGraph:
    """A graph with named inputs and outputs; several arrays of one input are ``x[0]``, ``x[1]`` ..."""

    graph: Graph
    inputs: dict[str, int]
    outputs: dict[str, int]
    probes: ProbeLayout | None = None
    "What the probed outputs hold; they are the last ones."

    @property
    def unwatched(self) -> StepGraph:
        """The same step without probes."""
        if self.probes is None:
            return self
        outputs = {name: position for name, position in self.outputs.items() if name not in OUTPUTS}
        return StepGraph(Graph(self.graph.inputs, self.graph.outputs[: len(outputs)]), self.inputs, outputs)

    def carried(self) -> dict[int, int]:
        """Positions of outputs that are inputs of the next step: those of the same name."""
        return {position: self.inputs[name] for name, position in self.outputs.items() if name in self.inputs}


class StepInputs:
    """Input nodes in the order in which they are made."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def new(self, name: str, shape: Shape, dtype: DTypeLike) -> Node:
        self.nodes[name] = new_input(len(self.nodes), shape, np.dtype(dtype), name)
        return self.nodes[name]

    def tree(self, name: str, specs: Any) -> Any:
        leaves, structure = flatten(specs)
        return unflatten(
            structure,
            [self.new(f"{name}[{i}]", (Rows(), *spec.shape), spec.dtype) for i, spec in enumerate(leaves)],
        )


def training_step(
    network: Network,
    recipe: Recipe,
    targets: Any,
    *,
    weighted: bool,
    metrics: Sequence[Metric] = (),
    probes: Sequence[str] = (),
) -> StepGraph:
    """One step of an optimizer.

    Inputs: ``w``, the optimizer's slots, ``state``, ``average``, ``frozen``, ``x``, ``y``, ``weight``, ``t``, ``lr``,
    ``key``; those that a net does not need are left out. Outputs: the carried ones under the same names, ``objective``
    (what is minimized), ``loss`` (without penalties, if there are any), the metrics, and what
    is probed.

    Parameters
    ----------
    network : Network
        The net.
    recipe : Recipe
        Training settings.
    targets : TargetSpec, or dict or tuple of them
        Targets.
    weighted : bool
        Whether rows have weights.
    metrics : sequence of Metric
        Metrics that are means over rows.
    probes : sequence of str
        Paths of the probed layers.
    """
    optimizer = recipe.optimizer
    if not isinstance(optimizer, Optimizer):
        raise ConfigError(f"{optimizer!r} takes no steps.")
    given = StepInputs()
    dtype = network.dtype
    w = given.new("w", (network.n_trainable,), dtype)
    slots = [
        given.new(f"slot.{name}", np.shape(value), dtype)
        for name, value in zip(optimizer.slots, optimizer.state(np.zeros(network.n_trainable, dtype)), strict=True)
    ]
    average = None if recipe.average is None else given.new("average", w.shape, dtype)
    data = _StepData(given, network, targets, weighted)
    t, lr = given.new("t", (), dtype), given.new("lr", (), dtype)
    with open_trace(list(given.nodes.values())):
        context, objective, outputs = _objective(network, recipe, w, data, metrics, train=True)
        g = _gradient(objective, w)
        raw_gradient = g
        if recipe.clip is not None:
            g = _clipped(recipe, network, g, w)
        rate, decay = group_factors(recipe, network)
        new_w, new_slots = optimizer.step(w, g, slots, t=t, lr=lr, rate=rate, decay=decay)
        if recipe.constraints:
            new_w = _constrained(recipe, network, new_w)
        outputs["w"] = new_w
        outputs |= {f"slot.{name}": value for name, value in zip(optimizer.slots, new_slots, strict=True)}
        if network.n_state:
            outputs["state"] = network.state_after(context, data.state)
        if recipe.average is not None and average is not None:
            outputs["average"] = recipe.average.update(average, new_w, t=t)
        layout: ProbeLayout | None = None
        if probes:
            layout, probed = probe_outputs(network, context, probes, w=w, g=raw_gradient, new_w=new_w)
            outputs |= probed
    return replace(_finished(given, outputs, dtype), probes=layout)


def gradient_step(network: Network, recipe: Recipe, targets: Any, *, weighted: bool) -> StepGraph:
    """Objective and gradient without an update, for L-BFGS: outputs ``objective``, ``g``."""
    given = StepInputs()
    w = given.new("w", (network.n_trainable,), network.dtype)
    data = _StepData(given, network, targets, weighted)
    with open_trace(list(given.nodes.values())):
        context, objective, outputs = _objective(network, recipe, w, data, (), train=True)
        outputs["g"] = _gradient(objective, w)
        if network.n_state:
            outputs["state"] = network.state_after(context, data.state)
    return _finished(given, outputs, network.dtype)


class _StepData:
    """The inputs besides the trained parameters."""

    def __init__(self, given: StepInputs, network: Network, targets: Any, weighted: bool) -> None:
        frozen = network.n_params - network.n_trainable
        self.frozen = given.new("frozen", (frozen,), network.dtype) if frozen else None
        self.state = given.new("state", (network.n_state,), network.dtype) if network.n_state else None
        self.x = given.tree("x", network.inputs)
        self.y = given.tree("y", targets)
        self.weight = given.new("weight", (Rows(),), network.dtype) if weighted else None
        self.key = given.new("key", (2,), np.int64)


def _objective(
    network: Network, recipe: Recipe, w: Node, data: _StepData, metrics: Sequence[Metric], *, train: bool
) -> tuple[Context, Node, dict[str, Any]]:
    context = network.run(w, data.state, data.x, frozen=data.frozen, key=data.key, train=train)
    prediction = context.outputs[""]
    loss = total_loss(recipe.loss, prediction, data.y, data.weight)
    n_rows = flatten(data.y)[0][0].shape[0] if data.weight is None else _sum_or_1(data.weight)
    penalties = _penalties(recipe, network, context, w, n_rows)
    outputs: dict[str, Any] = {}
    objective = loss
    if penalties:
        outputs["loss"] = loss
        for penalty in penalties:
            objective = objective + penalty
    outputs["objective"] = objective
    for metric in metrics:
        rows = metric.rows(recipe.loss, prediction, data.y)
        outputs[f"metric.{metric.name}"] = mean_over_rows(rows.astype(network.dtype), data.weight)
    return context, as_node(objective), outputs


def total_loss(loss: Loss | dict[str, Loss], prediction: Any, target: Any, weight: Any) -> Any:
    """The loss of a batch: the weighted mean over its rows, summed over the outputs of the net."""
    if isinstance(loss, dict):
        parts = [total_loss(item, prediction[name], target[name], weight) for name, item in loss.items()]
        return sum(parts[1:], parts[0])
    if weight is None:
        return loss(prediction, target)
    return mean_over_rows(None, weight, total=loss(prediction, target, weight, reduction="sum"))


def mean_over_rows(rows: Any, weight: Any, *, total: Any = None) -> Any:
    """The weighted mean; 0 for a batch whose weights are all 0."""
    if weight is None:
        return np.mean(rows)
    return (np.sum(rows * weight) if total is None else total) / _sum_or_1(weight)


def _sum_or_1(weight: Any) -> Any:
    """The sum of the weights, or 1 if it is 0, so that one can divide by it."""
    whole = np.sum(weight)
    return np.where(whole > 0.0, whole, 1.0).astype(weight.dtype)


def _gradient(objective: Node, w: Node) -> Any:
    (g,) = cotangents([objective], [w], [constant(1.0, objective.dtype)])
    return g if g is not None else w * 0.0


def trainable_entries(network: Network) -> list[Entry]:
    """Trainable arrays in the order of the flat vector."""
    return sorted((entry for entry in network.params.values() if not entry.frozen), key=lambda entry: entry.offset)


def _penalties(recipe: Recipe, network: Network, context: Context, w: Node, n_rows: Any) -> list[Any]:
    found: list[Any] = []
    for pattern, regularizer in recipe.regularizers:
        if regularizer.on == "activations":
            found += [
                regularizer(output)
                for path, output in context.outputs.items()
                if (path == pattern or (pattern == EVERYWHERE and is_activation(context.layers[path])))
            ]
            continue
        for entry in trainable_entries(network):
            wanted = matches(pattern, entry.path) and (entry.decays or pattern == entry.path)
            if wanted and (regularizer.on == "weights" or len(entry.shape) == 2):
                penalty = regularizer(entry.of(w))
                found.append(penalty / n_rows if regularizer.per_row else penalty)
    return found


def is_activation(layer: Any) -> bool:
    """Whether a layer is an activation."""
    return isinstance(layer, (Activation, PReLU, LearnedHinge))


def _by_array(network: Network, function: Any, *vectors: Any) -> Any:
    """A function applied to every array of flat vectors; the results are concatenated."""
    entries = trainable_entries(network)
    pieces = [function(entry, *(entry.of(vector) for vector in vectors)) for entry in entries]
    return np.concatenate([piece.reshape(-1) for piece in pieces])


def _clipped(recipe: Recipe, network: Network, g: Any, w: Any) -> Any:
    clip = recipe.clip
    assert clip is not None
    if clip.on == "all":
        return clip(g)
    return _by_array(network, lambda entry, g, w: clip(g, w), g, w)


def _constrained(recipe: Recipe, network: Network, w: Any) -> Any:
    def bring_back(entry: Entry, W: Any) -> Any:
        for pattern, constraint in recipe.constraints:
            if matches(pattern, entry.path) and (entry.decays or pattern == entry.path):
                W = constraint(W)
        return W

    return _by_array(network, bring_back, w)


def _finished(given: StepInputs, outputs: dict[str, Any], dtype: np.dtype[Any]) -> StepGraph:
    def as_expected(name: str, value: Any) -> Node:
        """Converted to the type of its input, or of the net; a custom formula may have changed it."""
        node = as_node(value)
        like = given.nodes[name].dtype if name in given.nodes else dtype if node.dtype.kind == "f" else node.dtype
        return node if node.dtype == like else node.astype(like)

    nodes = {name: as_expected(name, value) for name, value in outputs.items()}
    inputs = {name: position for position, name in enumerate(given.nodes)}
    graph = Graph(tuple(given.nodes.values()), tuple(nodes.values()))
    return StepGraph(graph, inputs, {name: position for position, name in enumerate(nodes)})


def target_specs(y: Targets, dtype: np.dtype[Any]) -> Any:
    """Specifications of targets: integers stay integers, others get the type of the net."""
    return tree_map(lambda leaf: TargetSpec(tuple(leaf.shape[1:]), target_dtype(leaf.dtype, dtype)), y)


def target_dtype(given: np.dtype[Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of targets in the graph, for data of this type."""
    return np.dtype(np.int64) if given.kind in "iub" else dtype
