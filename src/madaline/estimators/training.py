"""One fit: a trainer, who listens to it, and what is said about how it ended."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from madaline.errors import ConfigError
from madaline.estimators.callbacks import scikit_learn_listener
from madaline.estimators.losses import reported_by_scikit_learn
from madaline.estimators.parameters import Settings
from madaline.estimators.predictor import Predictor
from madaline.estimators.recipe import SameOrder, regularizer, seed_of, solver
from madaline.estimators.rows import Rows, batch_rows, held_back
from madaline.estimators.stopping import Convergence
from madaline.estimators.threads import allowed_threads
from madaline.optim.lbfgs import LBFGS
from madaline.optim.schedule import as_schedule
from madaline.train.events import as_callbacks
from madaline.train.history import History
from madaline.train.metrics import as_metrics
from madaline.train.trainer import Trainer

NOT_FINITE = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be preprocessed."
)


def new_trainer(estimator: Any, settings: Settings, rng: np.random.RandomState) -> Trainer:
    """A trainer that begins with the estimator's model."""
    return Trainer(
        estimator.model_,
        loss=estimator._loss,
        optimizer=solver(settings),
        schedule=settings.schedule,
        regularizer=regularizer(settings),
        clip_norm=settings.clip_norm,
        constraint=settings.constraint,
        average=settings.average,
        threads=allowed_threads(settings.threads),
        seed=seed_of(rng),
    )


def keeps_schedule(estimator: Any, settings: Settings) -> bool:
    """Whether there is a trainer to go on with: the schedule of a preset ends with its fit."""
    schedule = as_schedule("constant" if settings.schedule is None else settings.schedule)
    return hasattr(estimator, "_trainer") and schedule == estimator._trainer.recipe.schedule


def train(
    estimator: Any,
    trainer: Trainer,
    settings: Settings,
    rows: Rows,
    held: Rows | None,
    rng: np.random.RandomState,
    *,
    given: Rows,
) -> None:
    """All epochs, or until convergence; scikit-learn's callbacks see the rows as they were ``given``."""
    steps = _takes_steps(settings)
    score, larger = _score(estimator, settings, held) if settings.early_stopping and steps else (None, True)
    if score is None:
        estimator._best = None  # that of a fit before, which stopped early
    convergence = Convergence(
        estimator,
        settings,
        n_rows=len(rows),
        as_reported=reported_by_scikit_learn(estimator._loss, rows.y, rows.weight),
        score=score,
        larger_is_better=larger,
        stops=steps,
    )
    history = trainer.fit(
        rows.X,
        rows.y,
        epochs=settings.max_iter,
        batch_size=batch_rows(settings.batch_size, len(rows)),
        sample_weight=rows.weight,
        validation=None if held is None else (held.X, held.y, held.weight),
        metrics=settings.metrics,
        callbacks=[convergence, *scikit_learn_listener(estimator, settings, given), *as_callbacks(settings.callbacks)],
        sampler=SameOrder(rng) if settings.shuffle else None,
        shuffle=False,
        on_divergence="stop",
        progress=settings.progress,
    )
    _say_how_it_ended(estimator, settings, history)
    if estimator._best is not None:
        trainer.model.params.flat[...], trainer.model.state.flat[...] = estimator._best
    estimator.history_ = history


def train_on(estimator: Any, trainer: Trainer, settings: Settings, rows: Rows, rng: np.random.RandomState) -> None:
    """One epoch more, by the rule there is and with the penalties as they are given now, as scikit-learn's."""
    trainer.change_penalties(regularizer(settings))
    reported = reported_by_scikit_learn(estimator._loss, rows.y, rows.weight)
    estimator.history_ = trainer.partial_fit(
        rows.X,
        rows.y,
        batch_size=batch_rows(settings.batch_size, len(rows)),
        sample_weight=rows.weight,
        metrics=settings.metrics,
        callbacks=[
            Convergence(estimator, settings, n_rows=len(rows), as_reported=reported),
            *as_callbacks(settings.callbacks),
        ],
        sampler=SameOrder(rng) if settings.shuffle else None,
        shuffle=False,
        on_divergence="stop",
    )
    if estimator.history_.stopped == "diverged":
        raise ValueError(NOT_FINITE)


def _takes_steps(settings: Settings) -> bool:
    """False for L-BFGS, which sees all rows at once and knows itself when it is done."""
    return not isinstance(solver(settings), LBFGS)


def parted(estimator: Any, settings: Settings, rows: Rows, rng: np.random.RandomState) -> tuple[Rows, Rows | None]:
    """Rows to train on, and those to judge by: held back, given, or none."""
    given = settings.validation
    if isinstance(given, (tuple, list)):
        if len(given) not in (2, 3):
            raise ConfigError("validation must be a fraction, (X, y) or (X, y, sample_weight).")
        return rows, estimator._read(settings, *given, fresh=False)
    if given is not None and not (isinstance(given, (float, np.floating)) and 0.0 < given < 1.0):
        raise ConfigError(f"validation={given!r} must be a fraction between 0 and 1, (X, y) or (X, y, sample_weight).")
    if given is None and not (settings.early_stopping and _takes_steps(settings)):
        return rows, None
    fraction = settings.validation_fraction if given is None else given
    return held_back(rows, float(fraction), rng, strata=estimator._strata(rows))


Score = Callable[[Trainer, Mapping[str, float]], float]


def _score(estimator: Any, settings: Settings, held: Rows | None) -> tuple[Score, bool]:
    """What early stopping watches after each epoch, and whether it should rise."""
    column = settings.monitor
    if column is not None:
        larger = {"loss": False} | {m.name: m.larger_is_better for m in as_metrics(settings.metrics)}
        if column.removeprefix("val_") not in larger:
            known = ", ".join(f"val_{name}, {name}" for name in larger)
            raise ConfigError(f"monitor={column!r} is no column of history_. Columns: {known}. Add it to metrics.")
        rises = larger[column.removeprefix("val_")]
        if rises is None:
            raise ConfigError(
                f"monitor={column!r}: a function of yours does not say whether small or large is good. Make it a "
                "md.train.Metric whose larger_is_better says so."
            )
        return lambda trainer, row: float(row[column]), rises
    assert held is not None
    predictor: Predictor | None = None

    def score(trainer: Trainer, row: Mapping[str, float]) -> float:
        nonlocal predictor
        predictor = predictor or estimator._make_predictor(trainer.model)
        prediction = predictor(held.X)
        return float(estimator._score_rows(prediction, held)) if np.isfinite(prediction).all() else float("nan")

    return score, True


def _say_how_it_ended(estimator: Any, settings: Settings, history: History) -> None:
    """Warnings and errors as scikit-learn has them."""
    message = ""
    if history.stopped == "diverged":
        if estimator._best is None:
            raise ValueError(NOT_FINITE)
        estimator.validation_scores_.append(float("nan"))
        message = (
            f"Training diverged in epoch {estimator.n_iter_ + 1}; the weights of the best epoch are kept. Lower the "
            "learning rate, or scale the inputs."
        )
    elif history.stopped == "interrupted":
        warnings.warn("Training interrupted by user.", stacklevel=5)
    elif history.converged is False:
        message = (
            f"lbfgs failed to converge after {estimator.n_iter_} iteration(s): it reached max_iter={settings.max_iter} "
            f"iterations or max_fun={settings.max_fun} evaluations.\nIncrease them, or scale the data as shown in:\n"
            "    https://scikit-learn.org/stable/modules/preprocessing.html"
        )
    elif history.stopped == "finished" and history.converged is None and settings.schedule is None:
        message = (
            f"Stochastic Optimizer: Maximum iterations ({settings.max_iter}) reached and the optimization hasn't "
            "converged yet."
        )
    if message:
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
