"""Train the members of an ensemble on folds, weigh them on rows they did not see, and join them into one model."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from madaline.container import write_whole
from madaline.errors import ConfigError, FileFormatError
from madaline.estimators.ensemble.folds import make_folds
from madaline.estimators.ensemble.plan import Kind, Plan, kinds_for
from madaline.estimators.ensemble.weights import best_temperature, greedy_weights
from madaline.estimators.predictor import Predictor
from madaline.estimators.preset import shortened
from madaline.estimators.row_set import RowSet, batch_rows
from madaline.estimators.threads import allowed_threads
from madaline.estimators.training import CHECKPOINT_SECONDS, EstimatorFitOptions, new_trainer
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.nn.layers.ensemble import AVERAGES, HAVE_LOGITS, averaged
from madaline.train.ensemble import joined_model
from madaline.train.history import History
from madaline.train.population import Population
from madaline.train.stopping import EarlyStopping

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.parameters import NetParameters


LINEAR_SHARE = 0.25
"Largest fraction of the time limit for the linear members."
TRIAL_EPOCHS = 3
"Number of epochs of the short training by which the time of an epoch is measured."
PLAN = "plan.json"
"File of the plan in the folder of checkpoints."


@dataclass(frozen=True)
class Task:
    """A member to train: its number, kind and fold, the rows that train it, and those that it does not see."""

    number: int
    kind: Kind
    fold: int
    train: np.ndarray
    held: np.ndarray


@dataclass(frozen=True)
class Member:
    """A trained member, with its outputs on the rows that it did not see."""

    task: Task
    model: Model
    history: History
    outputs: np.ndarray


@dataclass(frozen=True)
class TrainedEnsemble:
    """Members, their weights, and the ensemble as one model.

    Attributes
    ----------
    members : list of Member
    weights : array
        One for each member; they sum to 1.
    model : Model
    outputs : array of shape (n_rows, n_outputs)
        Outputs for rows of the training set, each by the members that did not see the row.
    is_known : array of bool
        The rows that have such outputs: all, unless training ended before the last fold.
    stopped : str
        Why training ended.
    """

    members: list[Member]
    weights: np.ndarray
    model: Model
    outputs: np.ndarray
    is_known: np.ndarray
    stopped: str


def fit_ensemble(
    estimator: NetEstimator,
    settings: NetParameters,
    rows: RowSet,
    *,
    strata: np.ndarray | None,
    seed: int,
    options: EstimatorFitOptions,
    output_activation: str,
) -> TrainedEnsemble:
    """Train all members that the time allows, and join them.

    Parameters
    ----------
    estimator : NetEstimator
        With its loss and the plan of its table.
    settings : NetParameters
        How its nets are built and trained.
    rows : RowSet
        All rows, as inputs of the nets.
    strata : array of int, optional
        Classes that are spread evenly over the folds.
    seed : int
        Random seed of folds, initial weights and the order of rows.
    options : EstimatorFitOptions
    output_activation : str
        The function that turns outputs into predictions, which are averaged.
    """
    members, stopped = _train(estimator, settings, rows, strata=strata, seed=seed, options=options)
    average = output_activation if output_activation in AVERAGES else "identity"
    return _joined(members, rows, estimator.loss_function_, average, stopped)


def _train(
    estimator: NetEstimator,
    settings: NetParameters,
    rows: RowSet,
    *,
    strata: np.ndarray | None,
    seed: int,
    options: EstimatorFitOptions,
) -> tuple[list[Member], str]:
    began = time.monotonic()
    plan = _plan(estimator, settings, rows, strata=strata, seed=seed, options=options)
    if plan.epochs < settings.max_iter:
        settings = shortened(estimator, settings, plan.epochs, len(rows))
    kinds = kinds_for(settings, plan)
    folds = {
        repeat: _folds(rows, plan.folds, strata, seed + repeat, options)
        for repeat in sorted({kind.repeat for kind in kinds})
    }
    tasks = [
        Task(number, kind, fold, *rows_of)
        for number, (kind, fold, rows_of) in enumerate(
            (kind, fold, rows_of) for kind in kinds for fold, rows_of in enumerate(folds[kind.repeat])
        )
    ]
    # Linear models first: they take little time, and there is a model however short the time is. L-BFGS, which trains
    # them, has no checkpoints; they are trained again when a run is resumed.
    limit = options.max_seconds
    linear, _ = _train_side_by_side(
        estimator,
        [task for task in tasks if task.kind.is_linear],
        rows,
        seed=seed,
        options=EstimatorFitOptions(max_seconds=None if limit is None else LINEAR_SHARE * limit),
    )
    left = None if limit is None else max(limit - (time.monotonic() - began), 0.01)
    nets, stopped = _train_side_by_side(
        estimator,
        [task for task in tasks if not task.kind.is_linear],
        rows,
        seed=seed,
        options=replace(options, max_seconds=left),
    )
    if not nets and not linear:
        raise ConfigError("No member of the ensemble could be trained: the time was too short.")
    return nets + linear, stopped


def _folds(
    rows: RowSet, n_folds: int, strata: np.ndarray | None, seed: int, options: EstimatorFitOptions
) -> list[tuple[np.ndarray, np.ndarray]]:
    return make_folds(len(rows), n_folds=n_folds, strata=strata, groups=options.groups, cv=options.cv, seed=seed)


def _plan(
    estimator: NetEstimator,
    settings: NetParameters,
    rows: RowSet,
    *,
    strata: np.ndarray | None,
    seed: int,
    options: EstimatorFitOptions,
) -> Plan:
    """How many nets are trained, and for how long; a run that is resumed has the plan of its checkpoint."""
    file = None if options.checkpoint is None else Path(options.checkpoint) / PLAN
    if options.resume and file is not None and file.exists():
        return _read_plan(file)
    began, full = time.monotonic(), Plan.of(len(rows), settings.max_iter)
    if options.max_seconds is None:
        plan = full
    else:
        fold = _folds(rows, full.folds, strata, seed, options)[0]
        trial = replace(settings, max_iter=TRIAL_EPOCHS, callbacks=None, progress=False)
        task = Task(0, Kind("trial", trial), 0, *fold)
        (member,), _ = _train_side_by_side(estimator, [task], rows, seed=seed, options=EstimatorFitOptions())
        cost = float(np.min(member.history["seconds"]))
        left = (1.0 - LINEAR_SHARE) * (options.max_seconds - (time.monotonic() - began))
        plan = full.within(allowed_threads(estimator.threads) * left / cost)
    if file is not None:
        file.parent.mkdir(exist_ok=True)
        write_whole(file, json.dumps(vars(plan)).encode())
    return plan


def _read_plan(file: Path) -> Plan:
    try:
        found = Plan(**json.loads(file.read_text(encoding="utf-8")))
        if not all(type(value) is int and value > 0 for value in vars(found).values()):
            raise ValueError
    except (TypeError, ValueError):
        raise FileFormatError(f"The file {str(file)!r} is not the plan of an ensemble. Start the run again.") from None
    return found


def _train_side_by_side(
    estimator: NetEstimator, tasks: Sequence[Task], rows: RowSet, *, seed: int, options: EstimatorFitOptions
) -> tuple[list[Member], str]:
    """Train some members as one population, and why that ended."""
    trainers, own = [], []
    for task in tasks:
        rng = check_random_state((seed + 7919 * task.number) % 2**32)
        settings = replace(task.kind.settings, threads=1)
        model = estimator.new_model(settings, rows.take(task.train), rng, is_linear=task.kind.is_linear)
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
    )
    members = []
    for number in population.usable:
        task, model = tasks[number], population.trainers[number].model
        predictor = Predictor(model, estimator.loss_function_, activation="identity", threads=estimator.threads)
        outputs = predictor.outputs(rows.take(task.held).X)
        members.append(Member(task, model, histories[number], np.asarray(outputs, dtype=np.float64)))
    return members, population.stopped


def _options_of(settings: NetParameters, n_rows: int, *, is_first: bool) -> dict[str, Any]:
    """The options in which a member differs from others; the user's callbacks see the first one."""
    found: dict[str, Any] = {
        "epochs": settings.max_iter,
        "batch_size": batch_rows(settings.batch_size, n_rows),
        "metrics": settings.metrics if is_first else (),
        "shuffle": settings.shuffle,
    }
    if settings.early_stopping:
        rule = EarlyStopping(settings.monitor or "val_loss", patience=settings.n_iter_no_change, min_delta=settings.tol)
        found["early_stopping"] = rule
    if is_first and settings.callbacks is not None:
        found["callbacks"] = settings.callbacks
    return found


def _joined(members: list[Member], rows: RowSet, loss: Loss, average: str, stopped: str) -> TrainedEnsemble:
    """Weigh the kinds of members on the rows that they did not see; all members of a kind have the same weight."""
    kinds: dict[str, list[Member]] = {}
    for member in members:
        kinds.setdefault(member.task.kind.name, []).append(member)
    found = [_held_out(each, len(rows), average) for each in kinds.values()]
    is_known = np.logical_and.reduce([known for _, known in found])
    if not is_known.any():  # training ended before each kind had a fold in common
        found, kinds = found[:1], dict([next(iter(kinds.items()))])
        is_known = found[0][1]
    known = rows.take(np.flatnonzero(is_known))
    outputs = [each[is_known] for each, _ in found]

    def loss_of(weights: Sequence[float], temperature: float = 1.0) -> float:
        z = averaged(average, outputs, weights, temperature)
        return float(np.average(loss.rows(z, known.y), weights=known.weight))

    by_kind = greedy_weights(len(kinds), loss_of)
    temperature = best_temperature(lambda t: loss_of(by_kind, t), len(known)) if average in HAVE_LOGITS else 1.0
    share = {name: weight / len(each) for (name, each), weight in zip(kinds.items(), by_kind, strict=True)}
    weights = np.array([share.get(member.task.kind.name, 0.0) for member in members])
    used = [(member.model, weight) for member, weight in zip(members, weights, strict=True) if weight > 0.0]
    model = joined_model([model for model, _ in used], average, [weight for _, weight in used], temperature)
    every = np.zeros((len(rows), outputs[0].shape[1]))
    every[is_known] = averaged(average, outputs, by_kind, temperature)
    return TrainedEnsemble(members, weights, model, every, is_known, stopped)


def _held_out(members: Sequence[Member], n_rows: int, average: str) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of members of one kind for the rows that they did not see, and which rows these are."""
    found, known = [], []
    for repeat in sorted({member.task.kind.repeat for member in members}):
        total, count = np.zeros((n_rows, members[0].outputs.shape[1])), np.zeros(n_rows)
        for member in members:
            if member.task.kind.repeat == repeat:
                np.add.at(total, member.task.held, member.outputs)
                np.add.at(count, member.task.held, 1)
        found.append(total / np.maximum(count, 1.0)[:, None])
        known.append(count > 0)
    complete = [each for each, seen in zip(found, known, strict=True) if seen.all()] or found[:1]
    return averaged(average, complete, [1.0] * len(complete)), np.ones(n_rows, bool) if known[0].all() else known[0]
