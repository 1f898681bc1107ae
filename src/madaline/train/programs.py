"""Compiled programs of a net that is trained: steps and predictions, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from madaline.functional.compile import CompiledFunction
from madaline.kernels.loop import Loop
from madaline.nn.network import Network
from madaline.train.data import TrainingData
from madaline.train.evaluation import Evaluator
from madaline.train.inference import BatchedForward
from madaline.train.metrics import Metric
from madaline.train.recipe import Recipe
from madaline.train.step import StepGraph, training_step


class Programs:
    """The programs for one net and one recipe.

    Parameters
    ----------
    network : Network
        The net.
    recipe : Recipe
        Training settings.

    Attributes
    ----------
    inference : BatchedForward
        The forward pass.
    """

    def __init__(self, network: Network, recipe: Recipe) -> None:
        self.network, self.recipe = network, recipe
        self.inference = BatchedForward(network)
        self._steps: dict[Any, tuple[StepGraph, Loop]] = {}
        self._means: dict[tuple[Metric, ...], CompiledFunction] = {}

    def twin(self, network: Network, recipe: Recipe) -> Programs:
        """The same programs for an equal net, whose recipe may have another schedule; both can run at the same time."""
        found = Programs(network, recipe)
        found.inference = self.inference.twin(network)
        found._steps = {key: (step, loop.twin()) for key, (step, loop) in self._steps.items()}
        found._means = self._means
        return found

    def evaluator(self, metrics: Sequence[Metric], *, threads: int) -> Evaluator:
        """What computes the loss and these metrics."""
        found = Evaluator(self.inference, self.recipe.loss, metrics, threads=threads)
        found.means = self._means.setdefault(tuple(found.of_rows), found.means)
        return found

    def training(self, data: TrainingData, metrics: Sequence[Metric], probes: Sequence[str]) -> tuple[StepGraph, Loop]:
        """A training step for such data; the same step without probes is made with it."""
        is_weighted = data.weight is not None
        key = (str(data.target_specs), is_weighted, tuple(metrics))
        if (*key, tuple(probes)) not in self._steps:
            step = training_step(
                self.network, self.recipe, data.target_specs, weighted=is_weighted, metrics=metrics, probes=probes
            )
            for paths, made in (((), step.unwatched), (tuple(probes), step)):
                if (*key, paths) not in self._steps:
                    loop = Loop(made.graph, carried=made.carried(), guard=made.outputs["objective"])
                    self._steps[*key, paths] = made, loop
        return self._steps[*key, tuple(probes)]

    def loops(self) -> list[Loop]:
        """The loops of all steps made so far."""
        return [loop for _, loop in self._steps.values()]
