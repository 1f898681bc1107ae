"""When scikit-learn's MLP stops, and what it writes down on the way: as a listener of the trainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.train.events import Callback

if TYPE_CHECKING:
    from madaline.estimators.parameters import Settings
    from madaline.train.events import TrainingView

SMALLEST_RATE = 1e-6
"An adaptive rate that has fallen so low ends the run."


class Convergence(Callback):
    """Counts epochs without improvement by ``tol``, of the training loss or of a validation score.

    What it learns goes into the estimator, where scikit-learn keeps it: ``loss_curve_``, ``n_iter_`` and the others, so
    that a warm start goes on counting.

    Parameters
    ----------
    estimator : estimator
        Whose attributes are filled.
    settings : Settings
        The parameters that rule.
    n_rows : int
        Rows of an epoch.
    as_reported : callable
        Turns a mean loss of ours into what scikit-learn reports.
    score : callable, optional
        Given the trainer and the epoch's row, says how good the net is on validation rows: early stopping.
    larger_is_better : bool
        Whether that score should rise.
    stops : bool
        False for L-BFGS, which knows itself when it is done.
    """

    def __init__(
        self,
        estimator: Any,
        settings: Settings,
        *,
        n_rows: int,
        as_reported: Callable[[float], float],
        score: Callable[[TrainingView, Mapping[str, float]], float] | None = None,
        larger_is_better: bool = True,
        stops: bool = True,
    ) -> None:
        self.estimator, self.settings = estimator, settings
        self.n_rows, self.as_reported = n_rows, as_reported
        self.score, self.sign = score, 1.0 if larger_is_better else -1.0
        self.stops = stops
        self.is_sgd = settings.solver == "sgd" and settings.optimizer is None

        if score is None and estimator.best_loss_ is None:  # the fit before stopped early, and this one does not
            estimator.best_loss_ = np.inf
        if score is not None and estimator.validation_scores_ is None:  # or the other way round
            estimator.validation_scores_, estimator.best_validation_score_ = [], -np.inf

    def epochs_at_once(self) -> float:
        """Until patience can be over at the earliest nothing is done but counting; scores and rates need each epoch."""
        changes_rate = self.settings.learning_rate == "invscaling" and self.is_sgd
        if not self.stops:
            return np.inf
        if self.score is not None or changes_rate:
            return 1
        return float(self.settings.n_iter_no_change - self.estimator._no_improvement_count + 1)

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        e, p = self.estimator, self.settings
        e.n_iter_ += 1
        e.loss_ = self.as_reported(row["loss"]) + row.get("penalty", 0.0)
        e.loss_curve_.append(e.loss_)
        if p.verbose:
            print(f"Iteration {e.n_iter_}, loss = {e.loss_:.8f}")
        if not self.stops:
            return
        e.t_ += self.n_rows
        self._count(trainer, row)
        if p.learning_rate == "invscaling" and self.is_sgd:
            self._set_rate(trainer, p.learning_rate_init / (e.t_ + 1) ** p.power_t)
        if e._no_improvement_count > p.n_iter_no_change:
            self._end_or_slow_down(trainer)

    def _count(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        e, p = self.estimator, self.settings
        if self.score is None:
            e._no_improvement_count = e._no_improvement_count + 1 if e.loss_ > e.best_loss_ - p.tol else 0
            e.best_loss_ = min(e.best_loss_, e.loss_)
            return
        score = self.score(trainer, row)
        e.validation_scores_.append(score)
        if p.verbose:
            print(f"Validation score: {score:f}")
        gain = self.sign * (score - e.best_validation_score_)
        if np.isinf(e.best_validation_score_):
            gain = np.inf
        e._no_improvement_count = e._no_improvement_count + 1 if gain < p.tol else 0
        if gain > 0.0 and not np.isnan(score):
            e.best_validation_score_ = score
            e._best = trainer.model.params.flat.copy(), trainer.model.state.flat.copy()
            trainer.history.best_epoch = int(row["epoch"])

    def _rate(self, trainer: TrainingView) -> float:
        """The rate now: that of the rule, times what calls before this one have made of it."""
        return _rate_of_rule(trainer) * trainer.run.progress.rate_scale

    def _set_rate(self, trainer: TrainingView, rate: float) -> None:
        velocity = trainer.run.arrays.get("slot.v")
        if velocity is not None:
            velocity *= self._rate(trainer) / rate  # scikit-learn's velocity has the rate in it, and keeps its speed
        trainer.scale_rate(rate / _rate_of_rule(trainer))

    def _end_or_slow_down(self, trainer: TrainingView) -> None:
        e, p = self.estimator, self.settings
        what = "Training loss" if self.score is None else "Validation score"
        message = f"{what} did not improve more than tol={p.tol:f} for {p.n_iter_no_change} consecutive epochs."
        adapts = p.learning_rate == "adaptive" and self.is_sgd
        rate = self._rate(trainer) if adapts else 0.0
        if rate > SMALLEST_RATE:
            self._set_rate(trainer, rate / 5.0)
            e._no_improvement_count = 0
            message += f" Setting learning rate to {rate / 5.0:f}"
        else:
            message += " Learning rate too small. Stopping." if adapts else " Stopping."
            trainer.stop()
        if p.verbose:
            print(message)


def _rate_of_rule(trainer: TrainingView) -> float:
    rule: Any = trainer.recipe.optimizer  # SGD: only its rates fall
    return float(rule.learning_rate)
