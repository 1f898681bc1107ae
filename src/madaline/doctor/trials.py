"""Evidence of harm: remedies are tried on copies, and only those that help on held-out rows count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.remedies import rate_times
from madaline.doctor.setup import Setup, python_change
from madaline.doctor.sickness import Sickness, Symptom

SURE = 2.0
"A difference of this many standard errors is not chance."
SURE_OF_MANY = 3.0
"The same for the best of some fifteen remedies, if nothing but its gain speaks for it."
ROUNDS = 4
"Maximum number of remedies that are combined."
ENOUGH = 0.9
"A remedy with this gain is not followed by others."
LARGE_PART, LEAST_GAIN, RELAXED = 0.3, 0.04, 0.35
"A remedy that takes away this part of the loss itself needs a smaller fraction of the usual gain, at least this one."
OTHER_SEED = 1000
OF_TRAINING = (5, 6)
"Places of sicknesses of the rate and of the length of training, which another seed of the run shows as well."
CERTAIN, SURE_SYMPTOM = 0.3, 0.8
NEARLY = 0.75
"Gains above this fraction of the best one count as equal to it."


@dataclass(frozen=True)
class Candidate:
    """A sickness with a symptom, and its remedies."""

    sickness: Sickness
    symptom: Symptom
    remedies: Sequence[Remedy]
    min_gain: float = 0.0

    @property
    def name(self) -> str:
        """The name of the sickness."""
        return self.sickness.name

    @property
    def cause(self) -> int:
        """Place among causes."""
        return self.sickness.cause if self.symptom.cause is None else self.symptom.cause

    @property
    def is_minor(self) -> bool:
        """Whether its remedy is tried only if there is no alarm: what it gains is information."""
        return self.sickness.proof == "trial" and self.symptom.severity == "info"


@dataclass(frozen=True)
class Trial:
    """A remedy that was tried.

    Attributes
    ----------
    candidate : Candidate
    remedy : Remedy
    setup : Setup
        With the remedy.
    gain : float
        Decrease of the loss on held-out rows, as a fraction of what can be learned.
    sureness : float
        Decrease in standard errors, paired over rows.
    part : float
        Decrease as a fraction of the loss before.
    """

    candidate: Candidate
    remedy: Remedy
    setup: Setup
    gain: float
    sureness: float
    part: float = 0.0
    together: float = 0.0
    "If it was tried together with others: the gain of all of them."

    @property
    def min_gain(self) -> float:
        """Minimum gain: smaller if a large part of the loss is gone, as for data with little noise.

        Rate and length of training are excepted if their values are usual: more training makes easy data easier still.
        So are sicknesses, and values, that are common among sound runs.
        """
        least, factor = self.candidate.min_gain, self.candidate.symptom.min_gain_factor
        is_common = not self.candidate.sickness.is_relaxed or factor > 1.0
        is_excepted = is_common or (self.candidate.cause in OF_TRAINING and factor == 1.0)
        if self.part < LARGE_PART or is_excepted:
            return least
        return min(max(RELAXED * least, LEAST_GAIN), least)

    @property
    def helps(self) -> bool:
        """Whether the remedy helps beyond chance.

        Another rate or length is tried for most runs, so that the best of these trials is lucky. If the value at fault
        is one that sound runs have, and the symptom is not a sure one either, the gain must be surer.
        """
        symptom = self.candidate.symptom
        is_common = symptom.min_gain_factor >= 1.0 and symptom.confidence < SURE_SYMPTOM
        is_doubtful = is_common and self.candidate.cause in OF_TRAINING
        return self.sureness > (SURE_OF_MANY if is_doubtful else SURE) and self.gain > self.min_gain


def improvement(exam: Exam, before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The decrease of the loss as a fraction of what can be learned, and in standard errors.

    A loss above that of a constant prediction counts like it: nothing was learned in either case.
    """
    limit = exam.constant_loss
    top = limit + 2 * abs(limit)
    gain = (min(float(before.mean()), limit) - min(float(after.mean()), limit)) / exam.learnable
    sureness = max(_in_errors(before - after), _in_errors(np.minimum(before, top) - np.minimum(after, top)))
    return gain, sureness


def _part(before: np.ndarray, after: np.ndarray) -> float:
    """The decrease of the loss as a fraction of it; 0 for losses that can be negative."""
    return 1.0 - float(after.mean() / before.mean()) if before.mean() > 0 and after.min() >= 0 else 0.0


def _in_errors(d: np.ndarray) -> float:
    """The mean of differences in standard errors."""
    return float(d.mean() / (d.std() / np.sqrt(len(d)) + 1e-12))


def try_remedies(exam: Exam, candidate: Candidate) -> Trial | None:
    """Try the remedies of a candidate one after another; the best, or None if there was no time."""
    best: Trial | None = None
    for remedy in candidate.remedies:
        found = try_remedy(exam, candidate, remedy)
        if found is not None and (best is None or found.gain > best.gain + 0.05 or (found.helps and not best.helps)):
            best = found
        if best is not None and best.gain > ENOUGH:
            break
    return best


def try_later(exam: Exam, trial: Trial) -> Trial | None:
    """Try the remedies that come after one that failed; the best of them."""
    texts = [remedy.text for remedy in trial.candidate.remedies]
    place = texts.index(trial.remedy.text) + 1 if trial.remedy.text in texts else len(texts)
    return try_remedies(exam, replace(trial.candidate, remedies=trial.candidate.remedies[place:]))


def try_remedy(exam: Exam, candidate: Candidate, remedy: Remedy) -> Trial | None:
    """Train with a remedy; None if it changes nothing or there is no time."""
    if remedy.change is None or exam.clock.left < 2 * exam.before.seconds:
        return None
    setup = remedy.change(exam.setup)
    if setup == exam.setup:
        return None
    before, after = exam.before_losses, exam.losses(setup)
    gain, sureness = improvement(exam, before, after)
    losses = float(before.mean()), float(after.mean())
    changed = replace(remedy, python=python_change(exam.setup, setup), gain=gain, losses=losses)
    return Trial(candidate, changed, setup, gain, sureness, _part(before, after))


def try_together(exam: Exam, pairs: Sequence[tuple[Candidate, Remedy]]) -> Trial | None:
    """Train with several remedies; the trial has the name of the first candidate."""

    def change(setup: Setup) -> Setup:
        for _, remedy in pairs:
            setup = remedy.change(setup) if remedy.change is not None else setup
        return setup

    return try_remedy(exam, pairs[0][0], Remedy(" ".join(remedy.text for _, remedy in pairs), change))


def try_with_rates(exam: Exam, candidate: Candidate) -> tuple[Trial, Remedy, float] | None:
    """Try a remedy together with other learning rates, and count only what no rate alone gains.

    Returns the trial, the change of the rate and its factor.
    """
    if exam.setup.learning_rate is None or not candidate.remedies:
        return None
    of_rate = 0.0
    for factor in (10.0, 100.0, 0.1):
        rate = rate_times(exam, factor)
        both = try_together(exam, [(candidate, candidate.remedies[0]), (candidate, rate)])
        if both is None or not both.helps:
            continue
        alone = try_remedy(exam, candidate, rate)
        of_rate = max(of_rate, alone.gain if alone is not None else 0.0)  # also by a rate that was tried before
        gain = both.gain - of_rate
        if gain > both.min_gain:
            return replace(both, gain=gain), rate, factor
    return None


def is_confirmed(exam: Exam, trial: Trial) -> bool:
    """Whether the remedy also helps with another random seed and other initial weights."""
    if exam.clock.left < 2 * exam.before.seconds:
        return True
    fresh = replace(trial.setup, start=None) if trial.setup.start is not None else trial.setup
    after = exam.losses(fresh, seed=exam.setup.seed + OTHER_SEED)
    compared = [exam.before_losses]
    if trial.candidate.cause in OF_TRAINING:  # the run itself may have been unlucky, too
        compared.append(exam.losses_again(exam.setup.seed + OTHER_SEED))
    gains = [improvement(exam, before, after) for before in compared]
    return all(gain > 0.6 * trial.min_gain and sureness > 0.6 * SURE for gain, sureness in gains)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """By gain; among nearly equal gains, causes come before consequences."""
    left = sorted(trials, key=lambda trial: -trial.gain)
    found: list[Trial] = []
    while left:
        near = [trial for trial in left if trial.gain >= _share(trial) * left[0].gain]
        first = min(near, key=_place)
        found.append(first)
        left.remove(first)
    return found


def _share(trial: Trial) -> float:
    """The fraction of the best gain that lets a trial come first: less for what is wrong by construction."""
    is_plain = trial.candidate.name == "rate_too_low" and trial.candidate.symptom.confidence > SURE_SYMPTOM
    return CERTAIN if trial.candidate.cause <= 1 or is_plain else NEARLY


def _place(trial: Trial) -> tuple[float, ...]:
    return trial.candidate.cause, -trial.candidate.symptom.confidence, -trial.gain
