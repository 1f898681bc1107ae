"""The callback that keeps what a diagnosis needs: the initial parameters and some rows."""

from __future__ import annotations

import numpy as np

from madaline.doctor.record import Record
from madaline.functional.model import Model
from madaline.train.events import Callback, TrainingView


class Doctor(Callback):
    """Watches training, so that :func:`madaline.diagnose` can examine it afterwards.

    It copies the initial parameters and at most 4,000 rows, and takes no time during training. A ``Trainer`` has
    ``fit(..., doctor=True)`` for it.

    Attributes
    ----------
    record : Record or None
        What was kept of the last training.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.linspace(-1, 1, 200).reshape(-1, 1)
    >>> reg = md.MLPRegressor("mse", 16, schedule="cosine", max_iter=5, random_state=0, callbacks=md.Doctor())
    >>> diagnosis = md.diagnose(reg.fit(X, np.sin(3 * X[:, 0])))
    >>> diagnosis.is_healthy
    False
    """

    watches_epochs = False

    def __init__(self) -> None:
        self.record: Record | None = None
        self._start: Model | None = None

    def on_fit_start(self, trainer: TrainingView) -> None:
        model = trainer.model
        self._start = Model(model.network, model.params.flat.copy(), model.state.flat.copy())

    def on_fit_end(self, trainer: TrainingView) -> None:
        model = trainer.model
        final = Model(model.network, np.array(model.params.flat), np.array(model.state.flat))
        self.record = Record.of_session(trainer.run, start=self._start, model=final)
