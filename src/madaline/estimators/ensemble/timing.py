"""The time of a net, measured by a short training on few rows, and the plan of an ensemble for a time limit."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from madaline.estimators.ensemble.members import Task, train_side_by_side
from madaline.estimators.ensemble.plan import EnsembleKind, EnsemblePlan
from madaline.estimators.row_set import RowSet
from madaline.estimators.training import EstimatorFitOptions

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.parameters import NetParameters

TRIAL_EPOCHS, TRIAL_BATCHES = 3, 8
"Number of epochs, and of mini-batches in each, of the training by which the time is measured."
PREDICTION = 0.3
"Time to predict a row, compared with that of a step for a row."


@dataclass(frozen=True)
class Cost:
    """Seconds that a net takes with one thread: to be built, and for each row in each epoch."""

    net: float
    row: float

    def prediction(self, n_rows: int) -> float:
        """Seconds to predict the rows that are held out, each once."""
        return PREDICTION * self.row * n_rows

    def within(self, full: EnsemblePlan, n_rows: int, seconds: float) -> EnsemblePlan:
        """The plan for so many seconds of one thread."""
        seconds = max(seconds - self.prediction(n_rows), 0.1 * seconds)
        epoch = self.row * n_rows * (1.0 - (1.0 - PREDICTION) / full.folds)  # training rows, and validation rows
        nets = full.folds * full.repeats * self.net
        return full.within(max(seconds - nets, 0.3 * seconds) / epoch, n_rows)


def measured_cost(
    estimator: NetEstimator, settings: NetParameters, rows: RowSet, fold: tuple[np.ndarray, np.ndarray], seed: int
) -> Cost | None:
    """The cost of a net of the ensemble; None if training on few rows diverged."""
    began = time.monotonic()
    rng = np.random.default_rng(seed)
    size = settings.batch_size if isinstance(settings.batch_size, int) else 200
    train, held = (
        each if len(each) <= most else np.sort(rng.choice(each, most, replace=False))
        for each, most in zip(fold, (TRIAL_BATCHES * size, size), strict=True)
    )
    trial = replace(settings, max_iter=TRIAL_EPOCHS, callbacks=None, progress=False)
    task = Task(0, EnsembleKind("trial", trial), 0, train, held)
    members, stopped = train_side_by_side(estimator, [task], rows, seed=seed, options=EstimatorFitOptions())
    if stopped == "interrupted":
        raise KeyboardInterrupt
    if not members or not members[0].history.epochs:
        return None
    epochs = np.asarray(members[0].history["seconds"], dtype=float)
    net = max(time.monotonic() - began - float(epochs.sum()), 0.0)
    return Cost(net, max(float(epochs.min()), 1e-6) / (len(train) + PREDICTION * len(held)))
