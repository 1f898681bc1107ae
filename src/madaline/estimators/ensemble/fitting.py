"""Train the members of an ensemble on folds, weigh them on rows they did not see, and join them into one model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from madaline.container import write_whole
from madaline.errors import ConfigError, FileFormatError
from madaline.estimators.ensemble.folds import make_folds
from madaline.estimators.ensemble.joining import TrainedEnsemble, joined
from madaline.estimators.ensemble.kernel import affordable_rows, kernel_member
from madaline.estimators.ensemble.members import EnsembleMember, Task, train_side_by_side
from madaline.estimators.ensemble.plan import EnsemblePlan, kinds_for
from madaline.estimators.ensemble.timing import measured_cost
from madaline.estimators.preset import shortened
from madaline.estimators.row_set import RowSet
from madaline.estimators.threads import allowed_threads
from madaline.estimators.training import EstimatorFitOptions
from madaline.nn.layers.ensemble import AVERAGES

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.parameters import NetParameters


LINEAR_SHARE = 0.25
"Largest fraction of the time limit for the linear members."
KERNEL_SHARE = 0.15
"The same for the kernel member."
PLAN = "plan.json"
"File of the plan in the folder of checkpoints."


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
    average = output_activation if output_activation in AVERAGES else "identity"
    members, stopped = _train(estimator, settings, rows, strata=strata, seed=seed, options=options, average=average)
    return joined(members, rows, estimator.loss_function_, average, stopped)


def _train(
    estimator: NetEstimator,
    settings: NetParameters,
    rows: RowSet,
    *,
    strata: np.ndarray | None,
    seed: int,
    options: EstimatorFitOptions,
    average: str,
) -> tuple[list[EnsembleMember], str]:
    plan = _plan(estimator, settings, rows, strata=strata, seed=seed, options=options)
    if plan.epochs < settings.max_iter:
        settings = shortened(estimator, settings, plan.epochs, min(plan.rows, len(rows)))
    kinds = kinds_for(settings, plan)
    folds = {
        repeat: plan.sampled(_folds(rows, plan.folds, strata, seed + repeat, options), len(rows), seed)
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
    limit = options.seconds_left
    with threadpool_limits(1, user_api="blas"):  # threads of SciPy's small products would only wait for each other
        linear, stopped = train_side_by_side(
            estimator,
            [task for task in tasks if task.kind.is_linear],
            rows,
            seed=seed,
            options=EstimatorFitOptions(max_seconds=None if limit is None else LINEAR_SHARE * limit),
        )
    if stopped == "interrupted":
        return _complete(linear), stopped
    limit = options.seconds_left
    nets, stopped = train_side_by_side(
        estimator,
        [task for task in tasks if not task.kind.is_linear],
        rows,
        seed=seed,
        options=replace(options, max_seconds=limit and limit * (1.0 - KERNEL_SHARE if plan.kernel_rows else 1.0)),
    )
    if not (nets and plan.kernel_rows) or stopped == "interrupted":
        return _complete(nets + linear), stopped
    try:
        kernel = kernel_member(
            nets,
            rows,
            estimator.loss_function_,
            number=len(tasks),
            most_rows=plan.kernel_rows,
            average=average,
            seed=seed,
            threads=allowed_threads(estimator.threads),
        )
    except KeyboardInterrupt:
        return nets + linear, "interrupted"
    return nets + linear + ([] if kernel is None else [kernel]), stopped


def _complete(members: list[EnsembleMember]) -> list[EnsembleMember]:
    if not members:
        raise ConfigError("No member of the ensemble could be trained. Allow more time, or use fewer rows.")
    return members


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
) -> EnsemblePlan:
    """How many nets are trained, and for how long; a run that is resumed has the plan of its checkpoint."""
    file = None if options.checkpoint is None else Path(options.checkpoint) / PLAN
    if options.resume and file is not None and file.exists():
        return _read_plan(file)
    full = EnsemblePlan.of(len(rows), settings.max_iter)
    cost = None
    if options.max_seconds is not None:
        folds = _folds(rows, full.folds, strata, seed, options)
        cost = measured_cost(estimator, settings, rows, folds[0], seed)
    plan = full
    if cost is not None:
        left = options.seconds_left or 0.0
        if full.kernel_rows:
            affordable = affordable_rows(KERNEL_SHARE * left, rows.y, len(folds), allowed_threads(estimator.threads))
            full = replace(full, kernel_rows=min(full.kernel_rows, affordable))
        seconds = (1.0 - LINEAR_SHARE - (KERNEL_SHARE if full.kernel_rows else 0.0)) * left
        n_workers = options.n_cpus or allowed_threads(estimator.threads)
        plan = cost.within(full, len(rows), n_workers * seconds)
    if file is not None:
        file.parent.mkdir(exist_ok=True)
        write_whole(file, json.dumps(vars(plan)).encode())
    return plan


def _read_plan(file: Path) -> EnsemblePlan:
    try:
        found = EnsemblePlan(**json.loads(file.read_text(encoding="utf-8")))
        numbers = vars(found) | {"kernel_rows": found.kernel_rows + 1}  # the only one that may be 0
        if not all(type(value) is int and value > 0 for value in numbers.values()):
            raise ValueError
    except (TypeError, ValueError):
        raise FileFormatError(f"The file {str(file)!r} is not the plan of an ensemble. Start the run again.") from None
    return found
