"""How predictable the target is without some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from madaline.doctor.baselines import linear_rows
from madaline.doctor.exam import Exam
from madaline.graph.tree import flatten


def loss_without(exam: Exam, columns: Sequence[int]) -> float | None:
    """The loss of a linear model without these columns on held-out rows; None if the inputs are not one array."""
    problem = exam.problem
    if len(flatten(problem.train.X)[0]) != 1 or problem.train.X.ndim != 2:
        return None
    kept = np.setdiff1d(np.arange(problem.train.X.shape[1]), columns)
    if not len(kept):
        return None
    train = replace(problem.train, X=np.ascontiguousarray(problem.train.X[:, kept]))
    held = replace(problem.held, X=np.ascontiguousarray(problem.held.X[:, kept]))
    found = linear_rows(exam.setup, replace(problem, train=train, held=held), exam.n_outputs)
    return None if found is None else float(found.mean())
