"""The stopping rules of scikit-learn's MLP and its fitted attributes, as a callback of the trainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.train.events import Callback
from madaline.train.stopping import EarlyStopping

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.parameters import NetParameters
    from madaline.train.events import TrainingView

SMALLEST_RATE = 1e-6
"An adaptive learning rate below this ends the run."


def reset_counters(estimator: NetEstimator, settings: NetParameters) -> None:
    """Set what is counted during training to its values before the first step."""
    estimator.n_iter_ = estimator.t_ = estimator.epochs_without_improvement_ = 0
    estimator.loss_curve_ = []
    estimator.best_weights_ = None
    estimator.validation_scores_ = [] if settings.early_stopping else None
    estimator.best_validation_score_ = -np.inf if settings.early_stopping else None
    estimator.best_loss_ = None if settings.early_stopping else np.inf


class Convergence(Callback):
    """Counts epochs without improvement by ``tol``, of the training loss or of a validation score.

    It fills the attributes where scikit-learn keeps them, ``loss_curve_``, ``n_iter_`` and so on, so that a warm start
    continues counting.

    Parameters
    ----------
    estimator : estimator
        Its attributes are filled.
    settings : NetParameters
    n_rows : int
        Number of rows in an epoch.
    as_reported : callable
        Converts a mean loss into what scikit-learn reports.
    score : callable, optional
        Score on the validation set, given the trainer and the epoch's row; larger is better.
    watched : str, optional
        The column of the history that the trainer's own early stopping watches.
    stops : bool
        False if the trainer or L-BFGS decides when to stop.
    is_resumed : bool
        Whether the run continues from a checkpoint, whose epochs are already in the history.
    """

    def __init__(
        self,
        estimator: NetEstimator,
        settings: NetParameters,
        *,
        n_rows: int,
        as_reported: Callable[[float], float],
        score: Callable[[TrainingView, Mapping[str, float]], float] | None = None,
        watched: str | None = None,
        stops: bool = True,
        is_resumed: bool = False,
    ) -> None:
        self.estimator, self.settings = estimator, settings
        self.n_rows, self.as_reported = n_rows, as_reported
        self.score, self.watched = score, watched
        self.stops, self.is_resumed = stops, is_resumed
        self.is_sgd = settings.solver == "sgd" and settings.optimizer is None
        has_scores = score is not None or watched is not None
        if not has_scores and estimator.best_loss_ is None:  # the previous fit used early stopping, this one does not
            estimator.best_loss_ = np.inf
        if has_scores and estimator.validation_scores_ is None:  # or vice versa
            estimator.validation_scores_, estimator.best_validation_score_ = [], -np.inf

    def resume_settings(self) -> Mapping[str, Any]:
        if not self.stops:
            return {}
        p = self.settings
        rates = {"learning_rate": str(p.learning_rate), "power_t": float(p.power_t)} if self.is_sgd else {}
        return {"tol": float(p.tol), "n_iter_no_change": float(p.n_iter_no_change), **rates}

    def stopping_rule(self) -> EarlyStopping | None:
        """On the validation loss in place of a score, whose unit ``tol`` has."""
        if not self.stops:
            return None
        patience = int(self.settings.n_iter_no_change)
        if self.score is not None:
            return EarlyStopping("val_loss", patience=patience)
        return EarlyStopping("loss", patience=patience, min_delta=max(float(self.settings.tol), 0.0))

    def on_fit_start(self, trainer: TrainingView) -> None:
        if self.is_resumed:
            self._replay(trainer)

    def _replay(self, trainer: TrainingView) -> None:
        """Count the epochs of the checkpoint, which already has their learning rates; stop if they have converged."""
        e, p = self.estimator, self.settings
        rate = p.learning_rate_init
        for epoch in range(trainer.history.epochs):
            self._record(trainer.history.row(epoch))
            if not self.stops:
                continue
            self._count_loss()
            if e.epochs_without_improvement_ > p.n_iter_no_change:
                if not self._adapts or rate <= SMALLEST_RATE:
                    trainer.stop()
                    return
                rate /= 5.0
                e.epochs_without_improvement_ = 0

    def epochs_at_once(self) -> float:
        """Epochs that may run without a return to Python: scores and changing rates need each one."""
        changes_rate = self.settings.learning_rate == "invscaling" and self.is_sgd
        if not self.stops:
            return np.inf
        if self.score is not None or changes_rate:
            return 1
        return float(self.settings.n_iter_no_change - self.estimator.epochs_without_improvement_ + 1)

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        e, p = self.estimator, self.settings
        self._record(row)
        if p.verbose:
            print(f"Iteration {e.n_iter_}, loss = {e.loss_:.8f}")
        if not self.stops:
            return
        self._count(trainer, row)
        if p.learning_rate == "invscaling" and self.is_sgd:
            self._set_rate(trainer, p.learning_rate_init / (e.t_ + 1) ** p.power_t)
        if e.epochs_without_improvement_ > p.n_iter_no_change:
            self._end_or_slow_down(trainer)

    def _record(self, row: Mapping[str, float]) -> None:
        """Fill the attributes with an epoch."""
        e = self.estimator
        e.n_iter_ += 1
        e.loss_ = self.as_reported(row["loss"]) + row.get("penalty", 0.0)
        e.loss_curve_.append(e.loss_)
        if self.stops or self.watched is not None:
            e.t_ += self.n_rows
        if self.watched is not None:
            assert e.validation_scores_ is not None
            e.validation_scores_.append(row[self.watched])

    def _count(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        e, p = self.estimator, self.settings
        if self.score is None:
            self._count_loss()
            return
        assert e.validation_scores_ is not None
        assert e.best_validation_score_ is not None
        score = self.score(trainer, row)
        e.validation_scores_.append(score)
        if p.verbose:
            print(f"Validation score: {score:f}")
        gain = score - e.best_validation_score_
        e.epochs_without_improvement_ = e.epochs_without_improvement_ + 1 if gain < p.tol else 0
        if gain > 0.0 and not np.isnan(score):
            e.best_validation_score_ = score
            e.best_weights_ = trainer.model.params.flat.copy(), trainer.model.state.flat.copy()
            trainer.history.best_epoch = int(row["epoch"])

    def _count_loss(self) -> None:
        """Count an epoch by its training loss."""
        e = self.estimator
        assert e.best_loss_ is not None
        e.epochs_without_improvement_ = (
            e.epochs_without_improvement_ + 1 if e.loss_ > e.best_loss_ - self.settings.tol else 0
        )
        e.best_loss_ = min(e.best_loss_, e.loss_)

    @property
    def _adapts(self) -> bool:
        return self.settings.learning_rate == "adaptive" and self.is_sgd

    def on_fit_end(self, trainer: TrainingView) -> None:
        best = trainer.history.best_epoch
        if self.watched is not None and best is not None:
            self.estimator.best_validation_score_ = float(trainer.history[self.watched][best - 1])

    def _rate(self, trainer: TrainingView) -> float:
        """The current learning rate."""
        return _rate_of_rule(trainer) * trainer.run.progress.rate_scale

    def _set_rate(self, trainer: TrainingView, rate: float) -> None:
        velocity = trainer.run.arrays.get("slot.v")
        if velocity is not None:
            velocity *= self._rate(trainer) / rate  # scikit-learn's velocity includes the learning rate
        trainer.scale_rate(rate / _rate_of_rule(trainer))

    def _end_or_slow_down(self, trainer: TrainingView) -> None:
        e, p = self.estimator, self.settings
        what = "Training loss" if self.score is None else "Validation score"
        message = f"{what} did not improve more than tol={p.tol:f} for {p.n_iter_no_change} consecutive epochs."
        rate = self._rate(trainer) if self._adapts else 0.0
        if rate > SMALLEST_RATE:
            self._set_rate(trainer, rate / 5.0)
            e.epochs_without_improvement_ = 0
            message += f" Setting learning rate to {rate / 5.0:f}"
        else:
            message += " Learning rate too small. Stopping." if self._adapts else " Stopping."
            trainer.stop()
        if p.verbose:
            print(message)


def _rate_of_rule(trainer: TrainingView) -> float:
    rule: Any = trainer.recipe.optimizer  # SGD: only its rates fall
    return float(rule.learning_rate)
