"""The programs of a net as bytes: one for training steps, one for everything that the page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.graph.node import as_node, constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, open_trace
from madaline.kernels.core import core
from madaline.kernels.execute import Executable
from madaline.kernels.serial import serialise
from madaline.losses.loss import Loss, softmax
from madaline.optim.optimizer import Optimizer
from madaline.train.metrics import as_metrics
from madaline.train.step import StepInputs, target_specs, training_step
from madaline.web.play.exercise import Exercise
from madaline.web.play.frame import stages


@dataclass(frozen=True)
class PageProgram:
    """A program and what the page must know to run it.

    Attributes
    ----------
    content : bytes
        The program.
    inputs, outputs : tuple of str
        Their names, in order.
    counts : tuple of pairs
        For each further input that is a number of rows: coefficient and offset.
    commit : int
        The stage from which carried values are written.
    """

    content: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    counts: tuple[tuple[int, int], ...]
    commit: int

    @classmethod
    def of(cls, graph: Graph, names: tuple[list[str], list[str]], donated: dict[int, int] | None = None) -> PageProgram:
        """The program of a graph; an error if the page cannot run it."""
        native = core()
        if native is None:
            raise ConfigError("The page without a server needs the native core, which this installation lacks.")
        program, constants = Executable(graph, donated=donated).bound(2)
        if constants:
            raise ConfigError("This net has constant arrays, which the page without a server does not keep.")
        counts = [node.params["rows"] for node in program.row_counts]
        return cls(
            serialise(program, native),
            tuple(names[0]),
            tuple(names[1]),
            tuple((int(rows.coefficient), int(rows.offset)) for rows in counts),
            program.commit if program.commit >= 0 else len(program.stages),
        )


def step_program(exercise: Exercise, model: Model) -> PageProgram:
    """The program of a training step, as ``fit`` runs it."""
    recipe = exercise.trainer().recipe
    metrics = [each for each in as_metrics(exercise.metric, recipe.loss) if not each.needs_all]
    targets = _targets(exercise, model)
    step = training_step(model.network, recipe, targets, weighted=False, metrics=metrics)
    names = list(step.inputs), list(step.outputs)
    return PageProgram.of(step.graph, names, step.carried())


def view_program(exercise: Exercise, model: Model) -> PageProgram:
    """The program of what is shown: outputs of the layers, predictions, loss, and its gradient."""
    network, given = model.network, StepInputs()
    w = given.new("w", (network.n_trainable,), network.dtype)
    state = given.new("state", (network.n_state,), network.dtype) if network.n_state else None
    x = given.tree("x", network.inputs)
    y = given.tree("y", _targets(exercise, model))
    with open_trace(list(given.nodes.values())):
        context = network.run(w, state, x, train=False)
        raw = context.outputs[""]
        loss = as_node(exercise.loss(raw, y))
        (g,) = cotangents([loss], [w], [constant(1.0, loss.dtype)])
        outputs = {f"units{place}": context.outputs[path] for place, (_, path) in enumerate(stages(model)[:-1])}
        outputs |= {"raw": raw + 0.0, "shown": shown(exercise.loss, raw), "loss": loss, "g": g}
    return PageProgram.of(
        Graph(tuple(given.nodes.values()), tuple(outputs.values())), (list(given.nodes), list(outputs))
    )


def slots(exercise: Exercise, model: Model) -> dict[str, np.ndarray]:
    """The state of the optimizer before the first step."""
    optimizer = exercise.optimizer()
    assert isinstance(optimizer, Optimizer)
    n = model.network.n_trainable
    return dict(zip(optimizer.slots, map(np.asarray, optimizer.state(np.zeros(n, np.float32))), strict=True))


def shown(loss: Loss, raw: Any) -> Any:
    """Probabilities, or predicted numbers."""
    if loss.out_activation == "identity" and len(raw.shape) == 2 and raw.shape[1] > 1:
        return softmax(raw)
    return loss.predict(raw) + 0.0


def _targets(exercise: Exercise, model: Model) -> Any:
    return target_specs(exercise.problem.y, model.network.dtype)
