"""The setup of a training run, without running it."""

from __future__ import annotations

import copy
import warnings
from typing import Any

from madaline.doctor.record import Record
from madaline.functional.model import Model
from madaline.train.events import Callback, TrainingView
from madaline.train.trainer import Trainer


class _Stop(BaseException):
    """Ends a fit before its first step; no handler of errors may catch it."""


class _Intercept(Callback):
    """Keeps the session of a fit and ends it."""

    def __init__(self) -> None:
        self.record: Record | None = None

    def on_fit_start(self, trainer: TrainingView) -> None:
        model = trainer.model
        start = Model(model.network, model.params.flat.copy(), model.state.flat.copy())
        self.record = Record.of_session(trainer.run, start=start, model=start)
        raise _Stop


def planned(thing: Any, X: Any, y: Any, **arguments: Any) -> Record:
    """What training would do: the setup, the rows as the net gets them, and the initial parameters.

    Parameters
    ----------
    thing : Trainer or estimator
        It is copied and does not change.
    X, y
        Data, as for ``fit``.
    **arguments
        Further arguments of ``fit``.
    """
    intercept = _Intercept()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(thing, Trainer):
                copy.copy(thing).fit(X, y, **arguments | {"callbacks": intercept, "progress": False})
            else:
                from sklearn.base import clone

                thing = clone(thing).set_params(callbacks=intercept)
                thing.fit(X, y, **arguments)
    except _Stop:
        pass
    assert intercept.record is not None
    return intercept.record.named(thing)
