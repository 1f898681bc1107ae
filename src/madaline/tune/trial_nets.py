"""The nets of trials: their settings, their training side by side, and their loss on rows that they did not see."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import DivergenceError
from madaline.estimators.ensemble.joining import TrainedEnsemble, held_out_outputs, joined, rows_to_weigh_on
from madaline.estimators.ensemble.kernel import affordable_rows, kernel_member
from madaline.estimators.ensemble.members import EnsembleMember, Task, train_side_by_side
from madaline.estimators.ensemble.plan import EnsembleKind, EnsemblePlan, kernel_rows, kinds_for
from madaline.estimators.ensemble.weights import best_temperature
from madaline.estimators.parameters import NetParameters
from madaline.estimators.row_set import RowSet
from madaline.estimators.threads import allowed_threads
from madaline.estimators.training import EstimatorFitOptions
from madaline.nn.layers.ensemble import HAVE_LOGITS, averaged
from madaline.tune.halving import epochs_of, n_rungs
from madaline.tune.parameters import as_parameters, settings_of
from madaline.tune.progress import LEAST_SECONDS, SearchLimits
from madaline.tune.space import Space

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator

LINEAR_SHARE = 0.1
"Largest fraction of the time that is left for linear models."
KERNEL_SHARE = 0.7
"Largest fraction of the time that is kept for the end of the search, for the kernel machine."
LARGEST = 1e300
"In place of a loss that is not finite, which storages do not take."


@dataclass(frozen=True)
class TrialNets:
    """Trains the nets of trials.

    Attributes
    ----------
    estimator : NetEstimator
        With its loss and the plan of its table.
    template : NetEstimator
        The estimator whose hyperparameters are searched, without callbacks.
    space : Space
    settings : NetParameters
        How nets of the estimator with its own parameters are trained.
    rows : RowSet
        All rows, as inputs of the nets.
    folds : list of (training rows, held-out rows)
    epochs : int
        Number of epochs of a trial that is trained to the end.
    average : str
        How predictions are averaged.
    seed : int
    limits : SearchLimits
    """

    estimator: NetEstimator
    template: NetEstimator
    space: Space
    settings: NetParameters
    rows: RowSet
    folds: list[tuple[np.ndarray, np.ndarray]]
    epochs: int
    average: str
    seed: int
    limits: SearchLimits
    cluster: str | None = None

    @property
    def rungs(self) -> int:
        """Number of rungs."""
        return n_rungs(self.epochs)

    def parameters(self, labels: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Parameters of a trial; the first has those of the estimator, also if they are not in the space."""
        if number == 0:
            return {}
        values = {name: part.value(labels[name]) for name, part in self.space.items()}
        return as_parameters(values, self.settings.hidden_layer_sizes)

    def epochs_of(self, labels: Mapping[str, Any], number: int, rung: int) -> int:
        """Epochs of a trial on a rung."""
        epochs = self.epochs
        own = self.parameters(labels, number).get("max_iter")
        if own is not None:
            epochs = max(int(own * self.epochs / self.settings.max_iter + 0.5), 1)
        return epochs_of(rung, self.rungs, epochs)

    def settings_of(self, labels: Mapping[str, Any], number: int, rung: int) -> NetParameters:
        """Settings of a trial on a rung."""
        parameters = self.parameters(labels, number)
        epochs = self.epochs_of(labels, number, rung)
        if epochs != self.settings.max_iter or "max_iter" in parameters:
            parameters["max_iter"] = epochs
        found = settings_of(self.template, parameters, len(self.rows))
        return replace(found, callbacks=None, metrics=(), progress=False)

    def tasks(self, labels: Mapping[str, Any], number: int, rung: int) -> list[Task]:
        """The nets of a trial on a rung, one for each fold."""
        return self.tasks_with(self.settings_of(labels, number, rung), number)

    def tasks_with(self, settings: NetParameters, number: int) -> list[Task]:
        """Nets with given settings, one for each fold."""
        kind, count = EnsembleKind(f"trial {number}", settings), len(self.folds)
        return [Task(number * count + fold, kind, fold, *rows) for fold, rows in enumerate(self.folds)]

    def linear_models(self) -> tuple[list[list[EnsembleMember]], str]:
        """Linear models of the encoded columns, as ``preset="best"`` has them, and why their training ended."""
        if self.settings.preset is None:
            return [], ""
        kinds = kinds_for(self.settings, EnsemblePlan(len(self.folds), 1, self.epochs))
        count = len(self.folds)
        tasks = [
            Task(-(place + 1) * count + fold, kind, fold, *rows)
            for place, kind in enumerate(kind for kind in kinds if kind.is_linear)
            for fold, rows in enumerate(self.folds)
        ]
        found, stopped = self.run(tasks, share=LINEAR_SHARE) if tasks else ({}, "")
        return [members for members in found.values() if len(members) == count], stopped

    def kernel(self, nets: Sequence[EnsembleMember]) -> list[list[EnsembleMember]]:
        """A kernel machine with the directions of the nets of a trial, as ``preset="best"`` has it, or none."""
        most_rows = 0 if self.settings.preset is None else kernel_rows(len(self.rows))
        threads = allowed_threads(self.estimator.threads)
        if most_rows and self.limits.seconds is not None:
            left = KERNEL_SHARE * self.limits.until_end
            most_rows = min(most_rows, affordable_rows(left, self.rows.y, len(self.folds), threads))
        if not most_rows:
            return []
        found = kernel_member(
            nets,
            self.rows,
            self.estimator.loss_function_,
            number=0,
            most_rows=most_rows,
            average=self.average,
            seed=self.seed,
            threads=threads,
        )
        return [] if found is None else [[found]]

    def train(self, trials: Mapping[int, Mapping[str, Any]], rung: int) -> tuple[dict[int, list[EnsembleMember]], str]:
        """The trained nets of some trials on a rung, and why training ended; those that diverged are missing."""
        tasks = [task for number, labels in trials.items() for task in self.tasks(labels, number, rung)]
        if 0 in trials:  # the user's callbacks and metrics see the first net of the search
            own = replace(tasks[0].kind.settings, callbacks=self.settings.callbacks, metrics=self.settings.metrics)
            tasks[0] = replace(tasks[0], kind=replace(tasks[0].kind, settings=own))
        return self.run(tasks)

    def run(self, tasks: Sequence[Task], share: float = 1.0) -> tuple[dict[int, list[EnsembleMember]], str]:
        """Train nets side by side within a fraction of the time that is left; see :meth:`train`."""
        left = self.limits.left
        limit = None if left is None else max(share * left, LEAST_SECONDS)
        # Linear models take little time, so they are trained here.
        options = EstimatorFitOptions(max_seconds=limit, cluster=self.cluster if share == 1.0 else None)
        try:
            members, stopped = train_side_by_side(self.estimator, tasks, self.rows, seed=self.seed, options=options)
        except DivergenceError:
            return {}, ""
        found: dict[int, list[EnsembleMember]] = {}
        for member in members:
            found.setdefault(member.task.number // len(self.folds), []).append(member)
        return found, stopped

    def loss(self, members: Sequence[EnsembleMember]) -> float:
        """The loss on held-out rows; of probabilities after temperature scaling, which the ensemble has, too."""
        outputs, is_known = held_out_outputs(members, len(self.rows), self.average)
        known = np.flatnonzero(is_known)

        def at(temperature: float, rows: np.ndarray) -> float:
            return self._mean_loss(averaged(self.average, [outputs[rows]], [1.0], temperature), rows)

        temperature = 1.0
        if self.average in HAVE_LOGITS:
            few = rows_to_weigh_on(known, outputs.shape[1])
            temperature = best_temperature(lambda t: at(t, few), len(few))
        found = at(temperature, known)
        return found if math.isfinite(found) else LARGEST

    def joined(self, trials: Sequence[Sequence[EnsembleMember]], stopped: str) -> tuple[TrainedEnsemble, float]:
        """The ensemble of trials and other models, and its loss; the first one alone if no mixture is better."""
        choices = [[member for members in trials for member in members]]
        choices += [list(trials[0])] if len(trials) > 1 else []
        found = [joined(each, self.rows, self.estimator.loss_function_, self.average, stopped) for each in choices]
        losses = [self._mean_loss(each.outputs[each.is_known], np.flatnonzero(each.is_known)) for each in found]
        best = int(np.argmin(losses))
        return found[best], losses[best]

    def _mean_loss(self, outputs: np.ndarray, rows: np.ndarray) -> float:
        weight = self.rows.weight
        losses = self.estimator.loss_function_.rows(outputs, self.rows.y[rows])
        return float(np.average(losses, weights=None if weight is None else weight[rows]))


def seconds_of(members: Sequence[EnsembleMember]) -> float:
    """Time of the training of some nets, added up."""
    return math.fsum(float(each.history["seconds"].sum()) for each in members if each.history.epochs)
