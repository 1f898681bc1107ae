"""Members of an ensemble: what they are trained on, and their training side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from madaline.estimators.ensemble.plan import EnsembleKind
from madaline.estimators.network import looks_at_rows
from madaline.estimators.predictor import Predictor
from madaline.estimators.row_set import RowSet, batch_rows
from madaline.estimators.threads import allowed_threads
from madaline.estimators.training import CHECKPOINT_SECONDS, EstimatorFitOptions, new_trainer
from madaline.functional.model import Model
from madaline.nn.layers.piecewise import sampled
from madaline.train.history import History
from madaline.train.population import Population
from madaline.train.stopping import EarlyStopping

if TYPE_CHECKING:
    from madaline.data.encode import TablePlan
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.parameters import NetParameters


@dataclass(frozen=True)
class Task:
    """A member to train: its number, kind and fold, the rows that train it, and those that it does not see."""

    number: int
    kind: EnsembleKind
    fold: int
    train: np.ndarray
    held: np.ndarray


@dataclass(frozen=True)
class EnsembleMember:
    """A trained member, with its outputs on the rows that it did not see."""

    task: Task
    model: Model
    history: History
    outputs: np.ndarray


def train_side_by_side(
    estimator: NetEstimator, tasks: Sequence[Task], rows: RowSet, *, seed: int, options: EstimatorFitOptions
) -> tuple[list[EnsembleMember], str]:
    """Train some members as one population, and why that ended."""
    trainers, own = [], []
    for task in tasks:
        rng = check_random_state((seed + 7919 * task.number) % 2**32)
        settings = replace(task.kind.settings, threads=1)
        plan: TablePlan | None = getattr(estimator, "table_plan_", None)
        plan = None if plan is None else plan.with_features(**task.kind.features)
        seen = rows  # most models need only the columns
        if looks_at_rows(settings.init):
            seen = rows.take(task.train)
        elif plan is not None and plan.bins > 0:
            seen = rows.take(task.train[sampled(len(task.train))])
        model = estimator.new_model(settings, seen, rng, plan=plan)
        trainers.append(new_trainer(model, estimator.loss_function_, settings, rng))
        own.append(_options_of(settings, len(task.train), is_first=task is tasks[0]))
    population = Population(trainers, threads=allowed_threads(estimator.threads))
    folder = None if options.checkpoint is None else os.fspath(options.checkpoint)
    histories = population.fit(
        rows.X,
        rows.y,
        rows=[task.train for task in tasks],
        validation_rows=[None if task.kind.is_linear else task.held for task in tasks],
        member_options=own,
        sample_weight=rows.weight,
        max_seconds=options.max_seconds,
        progress=tasks[0].kind.settings.progress,
        checkpoint=folder,
        resume=folder if options.resume else None,
        checkpoint_seconds=None if folder is None else CHECKPOINT_SECONDS,
        cluster=options.cluster,
    )
    members = []
    for number in population.usable:
        task, model = tasks[number], population.trainers[number].model
        predictor = Predictor(model, estimator.loss_function_, activation="identity", threads=estimator.threads)
        outputs = predictor.outputs(rows.take(task.held).X)
        members.append(EnsembleMember(task, model, histories[number], np.asarray(outputs, dtype=np.float64)))
    return members, population.stopped


def _options_of(settings: NetParameters, n_rows: int, *, is_first: bool) -> dict[str, Any]:
    """The options in which a member differs from others; the user's callbacks see the first one."""
    size = settings.batch_size
    found: dict[str, Any] = {
        "epochs": settings.max_iter,
        "batch_size": batch_rows(size if size == "auto" else min(size, n_rows), n_rows),  # folds may be small
        "metrics": settings.metrics if is_first else (),
        "shuffle": settings.shuffle,
    }
    if settings.early_stopping:
        rule = EarlyStopping(settings.monitor or "val_loss", patience=settings.n_iter_no_change, min_delta=settings.tol)
        found["early_stopping"] = rule
    if is_first and settings.callbacks is not None:
        found["callbacks"] = settings.callbacks
    return found
