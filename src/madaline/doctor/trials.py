"""Evidence of harm: remedies are tried on copies, and only those that help on held-out rows count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.setup import Outcome, Setup, python_change
from madaline.doctor.sickness import Sickness, Symptom

SURE = 2.5
"A difference of this many standard errors is not chance."
ROUNDS = 3
"Maximum number of remedies that are combined."
NEARLY = 0.75
"Gains above this fraction of the best one count as equal to it."


@dataclass(frozen=True)
class Candidate:
    """A sickness with a symptom, and its remedies."""

    sickness: Sickness
    symptom: Symptom
    remedies: Sequence[Remedy]

    @property
    def name(self) -> str:
        """The name of the sickness."""
        return self.sickness.name


@dataclass(frozen=True)
class Trial:
    """A remedy that was tried.

    Attributes
    ----------
    candidate : Candidate
    remedy : Remedy
    setup : Setup
        With the remedy.
    outcome : Outcome
    gain : float
        Decrease of the loss on held-out rows, as a fraction of what can be learned.
    sureness : float
        Decrease in standard errors, paired over rows.
    """

    candidate: Candidate
    remedy: Remedy
    setup: Setup
    outcome: Outcome
    gain: float
    sureness: float

    @property
    def helps(self) -> bool:
        """Whether the remedy helps beyond chance."""
        return self.sureness > SURE and self.gain > self.candidate.sickness.min_gain


def improvement(exam: Exam, before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The decrease of the loss as a fraction of what can be learned, and in standard errors."""
    d = before - after
    learnable = max(exam.constant_loss - float(after.mean()), 0.05 * abs(exam.constant_loss), 1e-12)
    error = float(d.std() / np.sqrt(len(d))) + 1e-12
    return float(d.mean() / learnable), float(d.mean() / error)


def try_remedies(exam: Exam, candidate: Candidate) -> Trial | None:
    """Try the remedies of a candidate one after another; the best, or None if there was no time."""
    best: Trial | None = None
    for remedy in candidate.remedies:
        found = try_remedy(exam, candidate, remedy)
        if found is None:
            break
        if best is None or found.gain > best.gain * 1.1:
            best = found
    return best


def try_remedy(exam: Exam, candidate: Candidate, remedy: Remedy) -> Trial | None:
    """Train with a remedy; None if it changes nothing or there is no time."""
    if remedy.change is None or exam.clock.left < 2 * exam.before.seconds:
        return None
    setup = remedy.change(exam.setup)
    if setup == exam.setup:
        return None
    n_rows = len(exam.problem.train)
    factor = max(setup.steps(n_rows) / exam.setup.steps(n_rows), 1.0)
    outcome = setup.limited(n_rows, int(factor * exam.max_steps)).run(exam.problem)
    gain, sureness = improvement(exam, exam.before_losses, exam.held_losses(outcome))
    changed = replace(remedy, python=python_change(exam.setup, setup), gain=gain)
    return Trial(candidate, changed, setup, outcome, gain, sureness)


def is_confirmed(exam: Exam, trial: Trial, *, seeds: Sequence[int] = (1,)) -> bool:
    """Whether the remedy also helps with other random seeds and initial weights."""
    for number in seeds:
        if exam.clock.left < 2 * exam.before.seconds:
            return True
        seed = exam.setup.seed + 1000 * number
        n_rows = len(exam.problem.train)
        fresh = replace(exam.setup, start=None) if exam.setup.start is not None else exam.setup
        after = replace(trial.setup, start=None) if trial.setup.start is not None else trial.setup
        factor = max(after.steps(n_rows) / fresh.steps(n_rows), 1.0)
        base = fresh.limited(n_rows, exam.max_steps).run(exam.problem, seed=seed)
        cure = after.limited(n_rows, int(factor * exam.max_steps)).run(exam.problem, seed=seed)
        gain, sureness = improvement(exam, exam.held_losses(base), exam.held_losses(cure))
        if gain < 0.5 * trial.candidate.sickness.min_gain or sureness < 0.5 * SURE:
            return False
    return True


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """By gain; among nearly equal gains, causes come before consequences."""
    left = sorted(trials, key=lambda trial: -trial.gain)
    found: list[Trial] = []
    while left:
        near = [trial for trial in left if trial.gain >= NEARLY * left[0].gain]
        first = min(
            near, key=lambda trial: (trial.candidate.sickness.cause, -trial.candidate.symptom.confidence, -trial.gain)
        )
        found.append(first)
        left.remove(first)
    return found
