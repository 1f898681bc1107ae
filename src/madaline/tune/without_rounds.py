"""A search that does not wait: a trial starts as soon as there is room for it on the cluster."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from madaline.estimators.ensemble.members import EnsembleMember
from madaline.estimators.training import EstimatorFitOptions
from madaline.train.population import ENDED
from madaline.tune.halving import promoted
from madaline.tune.record import DIVERGED, LATE, STOPPED, TrialRecord
from madaline.tune.rounds import RoundSearch
from madaline.tune.trial_nets import seconds_of

LOOK_SECONDS = 0.1
"Seconds between two looks at the time limit and Ctrl-C."


@dataclass
class _Trial:
    """A trial that runs."""

    number: int
    labels: Mapping[str, Any]
    losses: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0
    rung: int = 0


_Answer = tuple[_Trial, list[EnsembleMember], str] | BaseException


class SearchWithoutRounds(RoundSearch):
    """Trains as many trials at a time as the cluster has room for; the others are asked for when one has ended.

    A trial is compared with those that have reached the same rung by then (asynchronous successive halving, Li et al.
    2020). So the trials depend on the speed of the nodes, and no trial waits for another one. The nets of each trial
    are those of a search in rounds.
    """

    def _run(self) -> None:
        while not self.stopped and not self.study.records:
            super()._next_round(1)  # trial 0, as in a search by rounds
        if self.stopped:
            return
        asked = 1 + max(each.number for each in self.study.records)
        running: dict[int, _Trial] = {}
        answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        while not self.stopped:
            while len(running) < self._room() and self._may_start(len(running)):
                trial = _Trial(asked, self._ask(asked, running))
                asked += 1
                running[trial.number] = trial
                self._start(trial, answers)
            self._show(len(running))
            if not running:
                self.stopped = "time" if self.limits.is_over else "finished"
                break
            try:
                answer = answers.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            if isinstance(answer, BaseException):
                raise answer
            if not self._take(*answer, answers):
                del running[answer[0].number]

    def _room(self) -> int:
        """Number of trials that keep all CPUs busy, with one net for each; nodes may come and go."""
        cpus = EstimatorFitOptions(cluster=self.cluster).n_cpus or 1
        return math.ceil(cpus / len(self.nets.folds))

    def _may_start(self, n_running: int) -> bool:
        limit = self.limits.trials
        return not self.limits.is_over and (limit is None or len(self.study.records) + n_running < limit)

    def _ask(self, number: int, running: Mapping[int, _Trial]) -> dict[str, Any]:
        """Values of a new trial that differ from those that run, if the sampler has others."""
        seed = (self.nets.seed + 104729 * number) % 2**32
        known = [dict(trial.labels) for trial in running.values()]
        if self.study.is_shared:
            self.study.load()
        asked = self.study.ask(1 + len(running), seed=seed)
        return next((labels for labels in asked if labels not in known), asked[0])

    def _start(self, trial: _Trial, answers: queue.SimpleQueue[_Answer]) -> None:
        """Train the nets of a trial on its rung, in a thread that waits for the cluster.

        If the search is interrupted, nobody waits for these threads.
        """

        def train() -> None:
            try:
                members, stopped = self.nets.train({trial.number: trial.labels}, trial.rung)
                answers.put((trial, members.get(trial.number, []), stopped))
            except BaseException as error:  # noqa: BLE001 - the calling thread raises it
                answers.put(error)

        threading.Thread(target=train, name=f"trial {trial.number}", daemon=True).start()

    def _take(
        self, trial: _Trial, members: list[EnsembleMember], stopped: str, answers: queue.SimpleQueue[_Answer]
    ) -> bool:
        """Judge a trial that has reached the end of its rung; whether it goes on to the next one."""
        trial.seconds += seconds_of(members)
        is_whole = len(members) == len(self.nets.folds) and all(net.history.stopped in ENDED for net in members)
        if not is_whole:
            if stopped != "time":
                self._end(trial, DIVERGED)
            elif trial.losses:  # its losses on lower rungs are known
                self._end(trial, LATE)
            return False
        trial.losses[trial.rung] = self.nets.loss(members)
        if trial.rung == self.nets.rungs - 1:
            record = self._finished(
                trial.number, self.study.next_round, trial.labels, trial.losses, members, trial.seconds
            )
            self._add(record)
            return False
        earlier = [each.losses[trial.rung] for each in self.study.records if trial.rung in each.losses]
        if trial.number not in promoted({trial.number: trial.losses[trial.rung]}, earlier):
            self._end(trial, STOPPED)
            return False
        if self.limits.is_over:
            self._end(trial, LATE)
            return False
        trial.rung += 1
        self._start(trial, answers)
        return True

    def _end(self, trial: _Trial, state: str) -> None:
        rung = max(trial.losses, default=0)
        epochs = self.nets.epochs_of(trial.labels, trial.number, rung)
        self._add(
            TrialRecord(trial.number, self.study.next_round, trial.labels, trial.losses, state, epochs, trial.seconds)
        )

    def _add(self, record: TrialRecord) -> None:
        self.study.add([record])
        self.finishers.clear_up()

    def _show(self, n_running: int) -> None:
        known = [each.record.loss for each in self.finishers.found]
        words = f"{n_running} trial{'s' if n_running != 1 else ''} at a time"
        self.progress.update(trials=len(self.study.records), best=min(known, default=math.nan), rung=words)
