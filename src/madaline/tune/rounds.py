"""The search: rounds of trials on shared folds, successive halving in each, and an ensemble of the finished trials."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError, MadalineWarning
from madaline.estimators.ensemble.joining import TrainedEnsemble
from madaline.estimators.ensemble.members import EnsembleMember
from madaline.estimators.parameters import NetParameters
from madaline.estimators.row_set import RowSet
from madaline.estimators.threads import allowed_threads
from madaline.estimators.training import EstimatorFitOptions
from madaline.nn.layers.ensemble import AVERAGES
from madaline.train.population import ENDED
from madaline.tune.finishers import Finisher, Finishers
from madaline.tune.halving import promoted
from madaline.tune.parameters import as_parameters, as_values, settings_of
from madaline.tune.plan import FIRST_SHARE, SearchPlan, folds_of, most_finishers
from madaline.tune.progress import SearchLimits, SearchProgress
from madaline.tune.record import DIVERGED, FINISHED, LATE, STOPPED, TrialRecord
from madaline.tune.space import Space
from madaline.tune.study import SearchStudy
from madaline.tune.trial_nets import TrialNets, seconds_of

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator

ROUND = 8
"Number of trials that are asked for together. It is fixed, so that results do not depend on the number of threads."
TRIAL_EPOCHS, MEASURED_ROWS = 3, 10_000
"Numbers of epochs and rows of the short training by which the time of an epoch is measured."


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Context without warnings about trials: their table says which diverged. All threads share the filters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MadalineWarning)
        yield


class RoundSearch:
    """Trains the trials of a search; called by the estimator in place of the training of other ensembles.

    Parameters
    ----------
    template : NetEstimator
        The estimator whose hyperparameters are searched, not fitted and without callbacks.
    space : Space
    study : SearchStudy
    limits : SearchLimits
    folder : Path, optional
        Where the nets of finished trials are written.
    about : mapping
        What the storage should say about the search.
    progress : SearchProgress
    cluster : str, optional
        Ray cluster on which the nets are trained.

    Attributes
    ----------
    best : TrialRecord
        The best finished trial.
    ensemble_loss : float
        Loss of the ensemble on held-out rows.
    nets : TrialNets
    stopped : str
        Why the search ended: "finished", "time" or "interrupted".
    """

    best: TrialRecord
    ensemble_loss: float
    nets: TrialNets
    finishers: Finishers

    def __init__(
        self,
        template: NetEstimator,
        space: Space,
        study: SearchStudy,
        limits: SearchLimits,
        *,
        folder: Path | None,
        about: Mapping[str, Any],
        progress: SearchProgress,
        cluster: str | None = None,
    ) -> None:
        self.cluster = cluster
        self.template, self.space, self.study, self.limits = template, space, study, limits
        self.folder, self.about, self.progress = folder, about, progress
        self.stopped = ""

    def __call__(
        self,
        estimator: NetEstimator,
        settings: NetParameters,
        rows: RowSet,
        *,
        strata: np.ndarray | None,
        seed: int,
        options: EstimatorFitOptions,
        output_activation: str,
    ) -> TrainedEnsemble:
        """Search, and join the best trials into one model."""

        def nets(plan: SearchPlan) -> TrialNets:
            folds = folds_of(
                len(rows), plan.folds, strata=strata, groups=options.groups, cv=options.cv, seed=seed % 2**32
            )
            average = output_activation if output_activation in AVERAGES else "identity"
            return TrialNets(
                estimator,
                self.template,
                self.space,
                settings,
                rows,
                folds,
                plan.epochs,
                average,
                seed,
                self.limits,
                self.cluster,
            )

        full = SearchPlan.of(len(rows), settings.max_iter)
        with without_warnings():
            self.nets = nets(self._plan(full, nets(full)))
        n_held_out = sum(len(held) for _, held in self.nets.folds)
        self.finishers = Finishers(most_finishers(len(self.nets.folds), n_held_out, estimator.n_outputs_), self.folder)
        self.study.load()
        last = self.nets.rungs - 1
        self.finishers.load(self.study.records, lambda each: self.nets.tasks(each.labels, each.number, last))
        linear: list[list[EnsembleMember]] = []
        try:
            with without_warnings():
                linear, stopped = self.nets.linear_models()
                self.stopped = "interrupted" if stopped == "interrupted" else ""
                self._run()
        except KeyboardInterrupt:  # between two trainings; the model is made of what is known
            self.stopped = "interrupted"
        if not self.finishers.found:
            if self.stopped == "interrupted":
                raise KeyboardInterrupt
            raise ConfigError("No trial of the search could be trained. Allow more time, or use fewer rows.")
        self.best = self.finishers.found[0].record
        used = vars(self.nets.settings_of(self.best.labels, self.best.number, last))
        estimator.resolved_params_ |= {
            name: value for name, value in used.items() if name not in ("callbacks", "metrics", "progress")
        }
        kernel: list[list[EnsembleMember]] = []
        try:
            if self.stopped != "interrupted":
                kernel = self.nets.kernel(self.finishers.found[0].members)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        kinds = [*(each.members for each in self.finishers.found), *linear, *kernel]
        ensemble, self.ensemble_loss = self.nets.joined(kinds, self.stopped)
        return ensemble

    def parameter_names(self) -> list[str]:
        """Names of the parameters of the estimator that the space has."""
        return list(as_parameters(dict.fromkeys(self.space, 1), self.nets.settings.hidden_layer_sizes))

    def _plan(self, full: SearchPlan, nets: TrialNets) -> SearchPlan:
        """The plan of the storage, or a new one; with a time limit, the time of an epoch is measured."""
        about = {**self.about, "n_rows": len(nets.rows)}
        known = self.study.known()
        if known is not None:
            self.study.agree(about)
            return SearchPlan(**known["plan"])
        plan = full
        if self.limits.seconds is not None:
            settings = settings_of(self.template, {"max_iter": TRIAL_EPOCHS}, len(nets.rows))
            task = nets.tasks_with(replace(settings, callbacks=None, metrics=(), progress=False), 0)[0]
            few = replace(task, train=task.train[:MEASURED_ROWS], held=task.held[:MEASURED_ROWS])
            found, stopped = nets.run([few])
            if stopped == "interrupted":
                raise KeyboardInterrupt
            if found and found[0][0].history.epochs:  # it may have diverged
                cost = float(np.min(found[0][0].history["seconds"])) * len(task.train) / len(few.train)
                budget = FIRST_SHARE * max(self.limits.left or 0.0, 0.0)
                n_workers = EstimatorFitOptions(cluster=self.cluster).n_cpus or allowed_threads(self.template.threads)
                threads = 1 if len(nets.folds) == 1 else n_workers
                plan = full.within(threads * budget / max(cost, 1e-9))
        self.study.agree(about | {"plan": vars(plan)})
        return plan

    def _run(self) -> None:
        """Rounds until the number of trials or the time is reached."""
        while not self.stopped:
            if self.study.is_shared:
                self.study.load()
            done, limit = len(self.study.records), self.limits.trials
            known = [each.record.loss for each in self.finishers.found]
            self.progress.update(trials=done, best=min(known, default=math.nan), rung="")
            if limit is not None and done >= limit:
                self.stopped = "finished"
            elif self.limits.is_over and self.finishers.found:
                self.stopped = "time"
            else:
                self._next_round(ROUND if limit is None else min(ROUND, limit - done))

    def _next_round(self, size: int) -> None:
        number = self.study.next_round
        records = self._default() if number == 0 else self._round(number, size)
        if records:
            self.study.add(records)
            self.finishers.clear_up()

    def _default(self) -> list[TrialRecord]:
        """Trial 0: the estimator with its own parameters, trained to the end."""
        last = self.nets.rungs - 1
        values = as_values(self.nets.settings_of({}, 0, last))
        labels = {
            name: part.label(values[name])
            for name, part in self.space.items()
            if name in values and part.holds(values[name])
        }
        members, stopped = self.nets.train({0: labels}, last)
        self.stopped = stopped if stopped in ("interrupted", "time") else ""
        if not members.get(0):
            if not self.stopped:
                raise ConfigError(
                    "All nets of trial 0, which has the parameters of the estimator, diverged. Lower its learning rate."
                )
            return []
        # However short the time was, this is a model. An interrupted one is trained again when the search is resumed.
        record = self._finished(0, 0, labels, {}, members[0], seconds_of(members[0]))
        return [] if self.stopped == "interrupted" else [record]

    def _round(self, round_number: int, size: int) -> list[TrialRecord]:
        """A round of trials: all on the first rung, and the best third of each rung on the next one."""
        asked = self.study.ask(size, seed=(self.nets.seed + 104729 * round_number) % 2**32)
        first = 1 + (round_number - 1) * ROUND
        labels = dict(enumerate(asked, start=first))
        alive = dict(labels)
        losses: dict[int, dict[int, float]] = {number: {} for number in labels}
        seconds = dict.fromkeys(labels, 0.0)
        found: dict[int, TrialRecord] = {}

        def end(number: int, state: str, rung: int) -> None:
            epochs = self.nets.epochs_of(labels[number], number, rung)
            found[number] = TrialRecord(
                number, round_number, labels[number], losses[number], state, epochs, seconds[number]
            )
            alive.pop(number)

        for rung in range(self.nets.rungs):
            if not alive:
                break
            if self.limits.is_over:
                self.stopped = "time"
                break
            self.progress.update(rung=f"rung {rung + 1} of {self.nets.rungs}: {len(alive)} trials")
            members, stopped = self.nets.train(alive, rung)
            self.stopped = stopped if stopped in ("interrupted", "time") else ""
            if self.stopped == "interrupted":
                return []
            for number in list(alive):
                nets = members.get(number, [])
                seconds[number] += seconds_of(nets)
                if len(nets) == len(self.nets.folds) and all(net.history.stopped in ENDED for net in nets):
                    losses[number][rung] = self.nets.loss(nets)
                elif not self.stopped:
                    end(number, DIVERGED, rung)
            reached = {number: losses[number][rung] for number in alive if rung in losses[number]}
            if rung == self.nets.rungs - 1:
                for number in reached:
                    found[number] = self._finished(
                        number, round_number, labels[number], losses[number], members[number], seconds[number]
                    )
                    del alive[number]
            elif not self.stopped:
                earlier = [each.losses[rung] for each in self.study.records if rung in each.losses]
                for number in sorted(alive.keys() - set(promoted(reached, earlier))):
                    end(number, STOPPED, rung)
            if self.stopped:
                break
        for number in list(alive):  # the time was over; their losses on lower rungs are known
            if losses[number]:
                end(number, LATE, max(losses[number]))
        return [found[number] for number in sorted(found)]

    def _finished(
        self,
        number: int,
        round_number: int,
        labels: Mapping[str, Any],
        losses: dict[int, float],
        members: Sequence[EnsembleMember],
        seconds: float,
    ) -> TrialRecord:
        last = self.nets.rungs - 1
        losses.setdefault(last, self.nets.loss(members))
        epochs = self.nets.epochs_of(labels, number, last)
        record = TrialRecord(number, round_number, labels, losses, FINISHED, epochs, seconds)
        self.finishers.add(Finisher(record, members))
        return record
