"""One fit: a trainer, its callbacks, and the warnings about how it ended."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from madaline.errors import ConfigError
from madaline.estimators.callbacks import scikit_learn_listener
from madaline.estimators.losses import reported_by_scikit_learn
from madaline.estimators.outliers import outlier_hint
from madaline.estimators.parameters import NetParameters
from madaline.estimators.predictor import Predictor
from madaline.estimators.recipe import SameOrder, is_lbfgs, regularizer, seed_of, solver
from madaline.estimators.row_set import RowSet, batch_rows
from madaline.estimators.stopping import Convergence, reset_counters
from madaline.estimators.table_stream import EncodedRows
from madaline.estimators.threads import allowed_threads
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.optim.lbfgs import LBFGS
from madaline.optim.schedule import as_schedule
from madaline.train.checkpoint import learning_rate_in
from madaline.train.events import TrainingView, as_callbacks
from madaline.train.history import History
from madaline.train.metrics import as_metrics
from madaline.train.stopping import EarlyStopping
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from madaline.data.data_types import Folds
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.ensemble.joining import TrainedEnsemble

NOT_FINITE = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be preprocessed."
)
CHECKPOINT_SECONDS = 1.0
RATE_AFTER_DIVERGENCE = 0.25
"A preset's run that diverged is started again once, with the learning rate times this."
LEAST_SHARE, LEAST_SECONDS = 0.1, 0.5
"Fraction of the time limit, and seconds within it, that training has, however long it took to read the table."


@dataclass(frozen=True)
class EstimatorFitOptions:
    """Options of one call of ``fit``, which ``began`` at some time of the monotonic clock.

    ``train_members`` trains the members of an ensemble in another way.
    """

    validation: Any = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: bool = False
    max_seconds: float | None = None
    classes: ArrayLike | None = None
    groups: ArrayLike | None = None
    cv: Folds | None = None
    cluster: str | None = None
    replicas: int = 1
    local_steps: int = 50
    train_members: Callable[..., TrainedEnsemble] | None = None
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.resume and self.checkpoint is None:
            raise ConfigError("resume=True continues from a checkpoint: pass checkpoint=PATH, too.")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise ConfigError(f"max_seconds={self.max_seconds!r} must be a number of seconds above 0.")
        if isinstance(self.cv, Iterator):  # folds are made several times
            object.__setattr__(self, "cv", list(self.cv))

    @property
    def n_cpus(self) -> int | None:
        """Number of CPUs of the cluster; None without one."""
        if self.cluster is None:
            return None
        from madaline.scale.cluster import Cluster  # loaded only when needed

        return Cluster(self.cluster).n_cpus

    def check_seed(self, random_state: Any) -> None:
        """Raise an error if a run with this seed could not be resumed."""
        if self.checkpoint is not None and not isinstance(random_state, (int, np.integer)):
            raise ConfigError(
                f"random_state={random_state!r}: checkpoint= needs an integer random_state, so that the run can be "
                "resumed."
            )

    def check_for_one_net(self) -> None:
        """Raise an error if something was given that only an ensemble has."""
        if self.cluster is not None and self.replicas == 1:
            raise ConfigError(
                f"cluster={self.cluster!r}: one net is trained on a cluster by several replicas. Pass replicas=, for "
                'example the number of CPUs, or use preset="best", whose members are spread over the cluster.'
            )
        for name in ("groups", "cv"):
            if getattr(self, name) is not None:
                raise ConfigError(f'{name}= chooses the folds of preset="best"; without that preset there are none.')

    def check_for_ensemble(self, settings: NetParameters, *, is_stream: bool, continues: bool) -> None:
        """Raise an error if ``preset="best"`` cannot be fitted in this way."""
        if continues:
            raise ConfigError(
                'preset="best" cannot continue training: use fit with warm_start=False, or preset="auto".'
            )
        if self.replicas != 1:
            raise ConfigError('preset="best" trains several nets: leave replicas out, or use preset="auto".')
        if is_stream:
            raise ConfigError('preset="best" needs the whole table in memory. Use preset="auto" for a TableStream.')
        if self.validation is not None or settings.validation is not None:
            raise ConfigError(
                'preset="best" validates each member on its own fold. Leave validation out, or choose the folds by cv= '
                "or groups=."
            )
        if is_lbfgs(settings):
            raise ConfigError('preset="best" trains nets by epochs, and L-BFGS has none. Use another optimizer.')

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time limit since ``fit`` was called, but not less than some of it; None without one."""
        limit = self.max_seconds
        if limit is None:
            return None
        return max(limit - (time.monotonic() - self.began), LEAST_SHARE * limit, min(limit, LEAST_SECONDS))

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        return self.resume and self.checkpoint is not None and Path(self.checkpoint).exists()


@dataclass(frozen=True)
class FitData:
    """Data of one call of ``fit``.

    Attributes
    ----------
    rows, validation : RowSet
        Training and validation sets as the net takes them.
    given : RowSet
        The rows as the user gave them, for scikit-learn's callbacks and for messages.
    stream : EncodedRows, optional
        The training set, if it is not in memory; ``rows`` are a sample of it then.
    """

    rows: RowSet
    validation: RowSet | None
    given: RowSet
    stream: EncodedRows | None = None

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.rows) if self.stream is None else self.stream.n_rows


def new_trainer(model: Model, loss: Loss, settings: NetParameters, rng: np.random.RandomState) -> Trainer:
    """A trainer that starts from a model."""
    return Trainer(
        model,
        loss=loss,
        optimizer=solver(settings),
        schedule=settings.schedule,
        regularizer=regularizer(settings),
        clip_norm=settings.clip_norm,
        constraint=settings.constraint,
        average=settings.average,
        threads=allowed_threads(settings.threads),
        seed=seed_of(rng),
    )


def keeps_schedule(trainer: Trainer, settings: NetParameters) -> bool:
    """Whether ``partial_fit`` can continue with the same trainer: the schedule of a preset ends with its fit."""
    return as_schedule("constant" if settings.schedule is None else settings.schedule) == trainer.recipe.schedule


def train(
    estimator: NetEstimator,
    settings: NetParameters,
    data: FitData,
    rng: np.random.RandomState,
    *,
    make_predictor: Callable[[Model], Predictor],
    options: EstimatorFitOptions,
) -> Trainer:
    """Train for all epochs, or until convergence. Returns the trainer.

    Parameters
    ----------
    estimator : NetEstimator
        With its fresh model.
    settings : NetParameters
    data : FitData
    rng : RandomState
    make_predictor : callable
        Returns the predictor of a model that is being trained.
    options : EstimatorFitOptions
    """
    rate = settings.learning_rate_init
    if options.has_checkpoint and settings.preset is not None and options.checkpoint is not None:
        # The checkpoint may be of a run that was started again with a lower rate.
        lowered = RATE_AFTER_DIVERGENCE * rate
        rate = lowered if learning_rate_in(options.checkpoint) == lowered else rate
    batch_size = batch_rows(settings.batch_size, data.n_rows)
    start = estimator.model_.params.flat.copy(), estimator.model_.state.flat.copy()
    for attempt in (1, 2):
        current = replace(settings, learning_rate_init=rate, batch_size=batch_size)
        trainer = new_trainer(estimator.model_, estimator.loss_function_, current, rng)
        history = _run(estimator, trainer, current, data, rng, make_predictor=make_predictor, options=options)
        is_lowered = rate != settings.learning_rate_init
        if history.stopped != "diverged" or settings.preset is None or is_lowered or attempt == 2:
            break
        rate *= RATE_AFTER_DIVERGENCE
        warnings.warn(
            f"Training diverged in epoch {estimator.n_iter_ + 1}; it is started again with a learning rate of "
            f"{rate:.2g}.{outlier_hint(data.given.X)}",
            ConvergenceWarning,
            stacklevel=4,
        )
        estimator.model_.params.flat[...], estimator.model_.state.flat[...] = start
        reset_counters(estimator, settings)
        options = replace(options, resume=False)
    settings.learning_rate_init = rate
    _warn_about_end(estimator, settings, history, data.given)
    if estimator.best_weights_ is not None:
        trainer.model.params.flat[...], trainer.model.state.flat[...] = estimator.best_weights_
    estimator.history_ = history
    return trainer


def _run(
    estimator: NetEstimator,
    trainer: Trainer,
    settings: NetParameters,
    data: FitData,
    rng: np.random.RandomState,
    *,
    make_predictor: Callable[[Model], Predictor],
    options: EstimatorFitOptions,
) -> History:
    rows, validation, stream = data.rows, data.validation, data.stream
    steps = _takes_steps(settings)
    stops_early = settings.early_stopping and steps
    watched = _watched_column(settings) if stops_early else None
    score = None
    if stops_early and watched is None:
        assert validation is not None
        score = _validation_score(make_predictor, estimator.score_rows, validation)
    if score is not None and options.checkpoint is not None:
        raise ConfigError('With checkpoint=, early stopping must watch a column of the history: monitor="val_loss".')
    if score is None:
        estimator.best_weights_ = None  # that of an earlier fit, which stopped early
    convergence = Convergence(
        estimator,
        settings,
        n_rows=data.n_rows,
        as_reported=reported_by_scikit_learn(estimator.loss_function_, rows.y, rows.weight),
        score=score,
        watched=watched,
        stops=steps and watched is None,
        is_resumed=options.has_checkpoint,
    )
    own_order = settings.preset is None and options.checkpoint is None and stream is None and options.replicas == 1
    return trainer.fit(
        rows.X if stream is None else stream.stream(),
        rows.y if stream is None else None,
        epochs=settings.max_iter,
        batch_size=int(settings.batch_size),
        sample_weight=rows.weight if stream is None else None,
        validation=None if validation is None else (validation.X, validation.y, validation.weight),
        metrics=settings.metrics,
        early_stopping=None
        if watched is None
        else EarlyStopping(watched, patience=settings.n_iter_no_change, min_delta=settings.tol),
        callbacks=[
            convergence,
            *scikit_learn_listener(estimator, settings, data.given, make_predictor),
            *as_callbacks(settings.callbacks),
        ],
        # scikit-learn's order of rows needs the numbers of its generator one after another, and cannot be resumed.
        sampler=SameOrder(rng) if settings.shuffle and own_order else None,
        shuffle=settings.shuffle and not own_order,
        on_divergence="stop",
        progress=settings.progress,
        max_seconds=options.seconds_left,
        checkpoint=options.checkpoint,
        checkpoint_epochs=None,
        checkpoint_seconds=None if options.checkpoint is None else CHECKPOINT_SECONDS,
        resume=options.checkpoint if options.has_checkpoint else None,
        cluster=options.cluster,
        replicas=options.replicas,
        local_steps=options.local_steps,
    )


def continue_training(
    estimator: NetEstimator, trainer: Trainer, settings: NetParameters, rows: RowSet, rng: np.random.RandomState
) -> None:
    """Train for one more epoch, with the current penalties, as scikit-learn's ``partial_fit``."""
    trainer.change_penalties(regularizer(settings))
    reported = reported_by_scikit_learn(estimator.loss_function_, rows.y, rows.weight)
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


def _takes_steps(settings: NetParameters) -> bool:
    """False for L-BFGS, which sees all rows at once and decides itself when to stop."""
    return not isinstance(solver(settings), LBFGS)


def validation_fraction(settings: NetParameters, given: Any) -> float | None:
    """The fraction of rows to split off: that given to ``fit`` or as a parameter, the default, or none."""
    if given is not None and not (isinstance(given, (float, np.floating)) and 0.0 < given < 1.0):
        raise ConfigError(f"validation={given!r} must be a fraction between 0 and 1, (X, y) or (X, y, sample_weight).")
    if given is None and not (settings.early_stopping and _takes_steps(settings)):
        return None
    return float(settings.validation_fraction if given is None else given)


def _watched_column(settings: NetParameters) -> str | None:
    """The column of the history that early stopping watches; None for the score of the estimator."""
    column = settings.monitor
    if column is None:
        return None
    larger = {"loss": False} | {m.name: m.larger_is_better for m in as_metrics(settings.metrics)}
    if column.removeprefix("val_") not in larger:
        known = ", ".join(f"val_{name}, {name}" for name in larger)
        raise ConfigError(f"monitor={column!r} is not a column of history_. Columns: {known}. Add it to metrics.")
    if larger[column.removeprefix("val_")] is None:
        raise ConfigError(
            f"monitor={column!r}: a function does not say whether small or large values are good. Pass a "
            "md.train.Metric with larger_is_better."
        )
    return column


def _validation_score(
    make_predictor: Callable[[Model], Predictor], score_rows: Callable[[np.ndarray, RowSet], float], rows: RowSet
) -> Callable[[TrainingView, Mapping[str, float]], float]:
    """The estimator's score on the validation set after an epoch, larger is better."""
    predictor: Predictor | None = None

    def score(trainer: TrainingView, row: Mapping[str, float]) -> float:
        nonlocal predictor
        predictor = predictor or make_predictor(trainer.model)
        prediction = predictor(rows.X)
        return float(score_rows(prediction, rows)) if np.isfinite(prediction).all() else float("nan")

    return score


def _warn_about_end(estimator: NetEstimator, settings: NetParameters, history: History, given: RowSet) -> None:
    """Warnings and errors as scikit-learn has them."""
    message = ""
    if history.stopped == "diverged":
        if estimator.best_weights_ is None and history.best_epoch is None:
            raise ValueError(NOT_FINITE + outlier_hint(given.X))
        if estimator.validation_scores_ is not None:
            estimator.validation_scores_.append(float("nan"))
        message = (
            f"Training diverged in epoch {estimator.n_iter_ + 1}; the weights of the best epoch are kept. Lower the "
            f"learning rate, or scale the inputs.{outlier_hint(given.X)}"
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
