"""Loss and metrics of predictions: at the end of an epoch, or on request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from madaline.cached import cached_property
from madaline.functional.compile import CompiledFunction
from madaline.functional.model import Model
from madaline.graph.tree import flatten
from madaline.kernels.sources import DenseRows, Source
from madaline.losses.loss import Loss
from madaline.nn.network import Network
from madaline.train.data import TrainingData
from madaline.train.inference import BatchedForward
from madaline.train.metrics import Metric
from madaline.train.step import mean_over_rows, total_loss

COPIED_BYTES = 1 << 20
"Maximum size of inputs that are copied to be evaluated after every epoch."


@dataclass(frozen=True)
class RowSelection:
    """Some rows of data; all of them if ``rows`` is None."""

    data: TrainingData
    rows: np.ndarray | None = None
    copied: tuple[Source, ...] | None = None
    "Copies of the inputs of these rows."

    def with_copies(self, network: Network) -> RowSelection:
        """The same rows, with copies of their inputs if these are small: they are run faster than gathered rows."""
        specs = flatten(network.inputs)[0]
        size = sum(math.prod(spec.shape) * spec.dtype.itemsize for spec in specs) * len(self)
        if self.rows is None or size > COPIED_BYTES:
            return self
        found = [DenseRows(source.take(self.rows, spec.dtype)) for source, spec in zip(self.data.x, specs, strict=True)]
        return replace(self, copied=tuple(found))

    def __len__(self) -> int:
        return self.data.n_rows if self.rows is None else len(self.rows)

    @cached_property
    def targets(self) -> tuple[Any, Any]:
        """The targets of these rows, and their weights."""
        return self.data.take(self.rows)


class Evaluator:
    """Computes the loss and the metrics of a model.

    Parameters
    ----------
    inference : BatchedForward
        The forward pass.
    loss : Loss or dict of Loss
        The loss.
    metrics : sequence of Metric
        Metrics besides the loss.
    threads : int
        Maximum number of threads.
    """

    def __init__(
        self, inference: BatchedForward, loss: Loss | dict[str, Loss], metrics: Sequence[Metric], *, threads: int
    ) -> None:
        self.inference, self.loss, self.metrics, self.threads = inference, loss, tuple(metrics), threads
        self.of_all = [metric for metric in metrics if metric.needs_all]
        "Metrics of all predictions at once."
        self.of_rows = [metric for metric in metrics if not metric.needs_all]
        "Metrics that are means over rows."
        self.means = CompiledFunction(self._mean_values, [0, 1, 2])
        "Function of predictions, targets and weights; evaluators of equal losses and metrics may share it."

    def scores(self, model: Model, chosen: RowSelection, *, with_means: bool = True) -> dict[str, float]:
        """Loss and metrics by name; without means, only the metrics of all predictions."""
        x, rows = (chosen.data.x, chosen.rows) if chosen.copied is None else (chosen.copied, None)
        prediction = self.inference(model.params.flat, model.state.flat, x, rows, threads=self.threads)
        target, weight = chosen.targets
        found: dict[str, float] = {}
        if with_means:
            means = self.means(
                prediction, target, np.ones(len(chosen), model.network.dtype) if weight is None else weight
            )
            counts = weight is None or weight.any()
            found |= {name: float(value) if counts else float("nan") for name, value in means.items()}
        return found | {metric.name: metric.whole(self.loss, prediction, target, weight) for metric in self.of_all}

    def _mean_values(self, prediction: Any, target: Any, weight: Any) -> dict[str, Any]:
        values = {"loss": total_loss(self.loss, prediction, target, weight)}
        for metric in self.of_rows:
            rows = metric.rows(self.loss, prediction, target)
            values[metric.name] = mean_over_rows(rows.astype(weight.dtype), weight)
        return values
