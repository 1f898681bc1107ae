"""Adapter for scikit-learn's callbacks."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from madaline.functional.model import Model
from madaline.train.events import Callback

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator
    from madaline.estimators.parameters import NetParameters
    from madaline.estimators.predictor import Predictor
    from madaline.estimators.row_set import RowSet
    from madaline.train.events import TrainingView


class ScikitLearnListener(Callback):
    """Reports each epoch as a task of the fit to the callbacks of ``set_callbacks``.

    Callbacks can request the estimator as if the fit had ended with this epoch, and can stop the fit.
    """

    def __init__(
        self, estimator: NetEstimator, context: Any, rows: RowSet, make_predictor: Callable[[Model], Predictor]
    ) -> None:
        self.estimator, self.context, self.make_predictor = estimator, context, make_predictor
        self.task_facts = {"estimator": estimator, "X": rows.X, "y": rows.y, "metadata": _metadata(rows)}
        self.epoch: Any = None

    def on_fit_start(self, trainer: TrainingView) -> None:
        self.context.call_on_fit_task_begin(**self.task_facts)
        self._begin(trainer)

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        stops = self.epoch.call_on_fit_task_end(**self.task_facts, reconstruction_attributes=self._as_if_ended(trainer))
        self.epoch = None
        if stops:
            trainer.stop()
        elif not trainer.run.stop_reason and trainer.history.epochs < self.context.max_subtasks:
            self._begin(trainer)

    def on_fit_end(self, trainer: TrainingView) -> None:
        if self.epoch is not None:  # started but not run: L-BFGS converged, or the run was interrupted
            self.epoch.call_on_fit_task_end(estimator=self.estimator)
        self.context.call_on_fit_task_end(**self.task_facts, reconstruction_attributes=self._as_if_ended(trainer))

    def _begin(self, trainer: TrainingView) -> None:
        self.epoch = self.context.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(**self.task_facts, reconstruction_attributes=self._as_if_ended(trainer))

    def _as_if_ended(self, trainer: TrainingView) -> Any:
        """The fitted attributes of the estimator, computed on demand."""

        def attributes() -> dict[str, Any]:
            model = trainer.model
            now = Model(model.network, model.params.flat.copy(), model.state.flat.copy())
            history = copy.copy(trainer.history)
            return {"model_": now, "history_": history, "_predictor": self.make_predictor(now)}

        return attributes


def has_callbacks(estimator: NetEstimator) -> bool:
    """Whether the estimator, or one that contains it, has scikit-learn callbacks."""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")


def with_sklearn_callbacks(fit: Any) -> Any:
    """Decorator of a ``fit`` method that tears down the callbacks at the end, if there are any."""
    if not has_callbacks(fit.__self__):
        return fit
    from sklearn.callback import with_callbacks

    return functools.partial(with_callbacks(fit.__func__), fit.__self__)


def scikit_learn_listener(
    estimator: NetEstimator, settings: NetParameters, rows: RowSet, make_predictor: Callable[[Model], Predictor]
) -> list[Callback]:
    """A listener, if the estimator or one that contains it has scikit-learn callbacks."""
    if not has_callbacks(estimator):
        return []
    from sklearn.callback import CallbackSupportMixin

    begin = CallbackSupportMixin._init_callback_context  # noqa: SLF001 - what estimators of third parties call
    context = begin(estimator, max_subtasks=settings.max_iter)
    if not hasattr(estimator, "_skl_callbacks"):
        return []
    return [ScikitLearnListener(estimator, context, rows, make_predictor)]


def _metadata(rows: RowSet) -> dict[str, Any] | None:
    return None if rows.weight is None else {"sample_weight": rows.weight}
