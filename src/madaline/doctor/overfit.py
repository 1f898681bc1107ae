"""Training on a few rows, which a net should memorize."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam
from madaline.doctor.sample import Problem, Sample
from madaline.doctor.setup import RepeatedRun, Setup

ROWS, STEPS = 32, 1000


def few_rows(train: Sample, rows: int = ROWS) -> Sample:
    """Some rows of a sample."""
    return train.take(np.sort(np.random.default_rng(0).choice(len(train), min(rows, len(train)), replace=False)))


def memorizing(setup: Setup, steps: int = STEPS) -> Setup:
    """The setup without dropout and early stopping, for steps on all rows."""
    setup = setup.with_net(nets.with_dropout(setup.net, 0.0)) if nets.most_dropout(setup.net) else setup
    return replace(setup, epochs=steps, batch_size=None, early_stopping=None, accumulate=1)


def trained_on(setup: Setup, problem: Problem, few: Sample, steps: int = STEPS) -> RepeatedRun:
    """The net trained on a few rows."""
    return memorizing(setup, steps).run(replace(problem, train=few, held=few))


def learns_few_rows(exam: Exam) -> float | None:
    """The loss on 32 rows after training on them, over that of a constant; None if they differ in no input."""
    few = few_rows(exam.problem.train)
    if not few.matrix.shape[1] or not few.matrix.std():
        return None
    outcome = exam.run(memorizing(exam.setup), replace(exam.problem, train=few, held=few))
    losses = exam.held_losses(outcome) if outcome.model is None else outcome.row_losses(few)
    constant = float(exam.constant.mean())
    if losses is None or not np.isfinite(losses).all():
        return 10.0
    return float(losses.mean()) / max(abs(constant), 1e-12)
