"""The test whether a net can learn a few rows by heart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam

ROWS, STEPS = 32, 1000


def learns_few_rows(exam: Exam) -> float | None:
    """The loss on 32 rows after training on them, over that of a constant; None if they differ in no input."""
    train = exam.problem.train
    few = train.take(np.sort(np.random.default_rng(0).choice(len(train), min(ROWS, len(train)), replace=False)))
    if not few.matrix.shape[1] or not few.matrix.std():
        return None
    setup = exam.setup
    setup = setup.with_net(nets.with_dropout(setup.net, 0.0)) if nets.most_dropout(setup.net) else setup
    setup = replace(setup, epochs=STEPS, batch_size=None, early_stopping=None, accumulate=1)
    outcome = exam.run(setup, replace(exam.problem, train=few, held=few))
    losses = exam.held_losses(outcome) if outcome.model is None else outcome.row_losses(few)
    constant = float(exam.constant.mean())
    if losses is None or not np.isfinite(losses).all():
        return 10.0
    return float(losses.mean()) / max(abs(constant), 1e-12)
