"""Changes of rate, length and optimizer that healing tries on top of the remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from madaline.doctor import remedies
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.setup import Setup, python_change
from madaline.doctor.trials import improvement

GAIN, SURENESS = 0.02, 1.0
"A change is kept if it gains this fraction of what can be learned, by this many standard errors."
IMPATIENT = 5
"A patience below this ends a training by chance: it is raised unless that does harm."
PATIENCE, LONGER, MOST_EPOCHS = 20, 4, 1000


@dataclass(frozen=True)
class Polished:
    """A setup with small changes, and the remedies that made them."""

    setup: Setup
    remedies: tuple[Remedy, ...] = ()


def polish(exam: Exam, setup: Setup) -> Polished:
    """Try other lengths, rates and Adam one after another, and keep what lowers the loss on held-out rows."""
    found = Polished(setup)
    losses = exam.losses(setup)
    for kind in ("activation", "patience", "length", "optimizer", "higher rate", "lower rate"):
        for remedy, least in _changes(kind, Exam(found.setup, exam.problem, clock=exam.clock)):
            changed = found.setup if remedy.change is None else remedy.change(found.setup)
            if changed == found.setup or exam.clock.left < 2 * exam.before.seconds:
                continue
            after = exam.losses(changed)
            if not _is_kept(exam, losses, after, least):
                continue
            gain, _ = improvement(exam, losses, after)
            shown = replace(
                remedy,
                python=python_change(found.setup, changed),
                gain=gain,
                losses=(float(losses.mean()), float(after.mean())),
            )
            found, losses = Polished(changed, (*found.remedies, shown)), after
    return found


def _is_kept(exam: Exam, before: np.ndarray, after: np.ndarray, least: float) -> bool:
    gain, sureness = improvement(exam, before, after)
    return gain > least and (least < 0 or sureness > SURENESS)


def _changes(kind: str, exam: Exam) -> Iterator[tuple[Remedy, float]]:
    """Changes of a kind, each with the gain that it must have."""
    setup = exam.setup
    if setup.learning_rate is None:
        return
    rule = setup.early_stopping
    if kind == "activation" and list(exam.start_gradients.values())[:1] == [0.0]:
        yield remedies.activation(exam, "relu"), GAIN  # no gradient at all reaches the first layer, as with steps
    elif kind == "patience" and rule is not None and rule.patience < IMPATIENT:
        yield remedies.more_patience(exam, rule, 6 * IMPATIENT), -GAIN
    elif kind == "length" and setup.epochs < MOST_EPOCHS:
        longer = _named(remedies.more_epochs(exam, LONGER), f"Train for {LONGER * setup.epochs} epochs.")
        yield (longer if rule is not None else remedies.both(longer, remedies.early_stopping(exam, PATIENCE))), GAIN
    elif kind == "optimizer" and not remedies.scales_steps(exam):
        yield remedies.adam(exam), GAIN
    elif kind.endswith("rate"):
        factor = 3.0 if kind == "higher rate" else 1 / 3
        remedy = remedies.rate_times(exam, factor)
        yield _named(remedy, f"Use a learning rate of {remedy.parameters['learning_rate_init']:.2g}."), GAIN


def _named(remedy: Remedy, text: str) -> Remedy:
    """The remedy without the value before, which another change may have made."""
    return replace(remedy, text=text)


def without_overridden(changes: Sequence[Remedy]) -> list[Remedy]:
    """The changes without those of which later ones change every setting again."""
    kept: list[Remedy] = []
    later: set[str] = set()
    for remedy in reversed(changes):
        if not remedy.parameters or not set(remedy.parameters) <= later:
            kept.append(remedy)
        later |= set(remedy.parameters)
    return kept[::-1]
