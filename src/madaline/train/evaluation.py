"""Loss and metrics of predictions: at the end of an epoch, or when asked."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.functional.compile import CompiledFunction
from madaline.functional.forward import Forward
from madaline.functional.model import Model
from madaline.kernels.sources import DenseRows
from madaline.losses.loss import Loss
from madaline.train.data import Data
from madaline.train.inference import Inference
from madaline.train.metrics import Metric
from madaline.train.step import mean_over_rows, total_loss

if TYPE_CHECKING:
    from madaline.train.run import Run


@dataclass(frozen=True)
class Held:
    """Rows that are not trained on."""

    data: Data
    rows: np.ndarray

    @functools.cached_property
    def array(self) -> np.ndarray | None:
        """All inputs as one array, if that is where they lie already and in this order."""
        source = self.data.x[0]
        if len(self.data.x) > 1 or not isinstance(source, DenseRows):
            return None
        return source.array if np.array_equal(self.rows, np.arange(source.n_rows)) else None


class Evaluator:
    """Evaluates a model on validation rows, and on training rows where a metric needs all predictions at once."""

    def __init__(
        self,
        inference: Inference,
        loss: Loss | dict[str, Loss],
        metrics: Sequence[Metric],
        *,
        validation: Held | None,
        threads: int,
        sees_training: bool = True,
    ) -> None:
        self.inference, self.loss, self.metrics, self.validation = inference, loss, tuple(metrics), validation
        self.threads = threads
        self.sees_training = sees_training
        self._of_all = [metric for metric in metrics if metric.needs_all]
        self._of_rows = [metric for metric in metrics if not metric.needs_all]
        self._forward: Forward | None = None
        self._means = CompiledFunction(self._mean_values, [0, 1, 2])

    @property
    def is_needed(self) -> bool:
        """Whether an epoch ends with an evaluation."""
        return self.validation is not None or bool(self._of_all and self.sees_training)

    def epoch_row(self, run: Run) -> dict[str, float]:
        """What an epoch's row of the history has besides means over its steps."""
        row: dict[str, float] = {}
        if self.metrics and run.takes_all_rows:
            found = self.scores(run.model, run.data, run.rows, self._of_all)
            row |= {name: value for name, value in found.items() if name != "loss"}
        elif self._of_all and self.sees_training:
            row |= self.scores(run.model, run.data, run.rows, self._of_all, with_means=False)
        if self.validation is not None:
            held = self.validation
            prediction = self._quickly(run.model, held)
            found = self.scores(run.model, held.data, held.rows, self._of_all, prediction=prediction)
            row |= {f"val_{name}": value for name, value in found.items()}
        return row

    def _quickly(self, model: Model, held: Held) -> Any:
        """The outputs for rows that need not be gathered; None where they must be."""
        if held.array is None:
            return None
        if self._forward is None:
            self._forward = Forward(model.network, model.params.flat, model.state.flat)
        return self._forward(held.array, self.threads)

    def scores(
        self,
        model: Model,
        data: Data,
        rows: np.ndarray,
        of_all: Sequence[Metric],
        *,
        with_means: bool = True,
        prediction: Any = None,
    ) -> dict[str, float]:
        """Loss and metrics on some rows; ``prediction`` are the net's outputs for them, if somebody has them."""
        if prediction is None:
            prediction = self.inference(model.params.flat, model.state.flat, data.x, rows, threads=self.threads)
        target, weight = data.take(rows)
        found: dict[str, float] = {}
        if with_means:
            means = self._means(
                prediction, target, np.ones(len(rows), model.network.dtype) if weight is None else weight
            )
            counts = weight is None or weight.any()
            found |= {name: float(value) if counts else float("nan") for name, value in means.items()}
        return found | {metric.name: metric.whole(self.loss, prediction, target, weight) for metric in of_all}

    def _mean_values(self, prediction: Any, target: Any, weight: Any) -> dict[str, Any]:
        values = {"loss": total_loss(self.loss, prediction, target, weight)}
        for metric in self._of_rows:
            rows = metric.rows(self.loss, prediction, target)
            values[metric.name] = mean_over_rows(rows.astype(weight.dtype), weight)
        return values
