"""The callback that watches training, and keeps what a diagnosis needs: the initial parameters and some rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from madaline.doctor.record import Record
from madaline.functional.model import Model
from madaline.train.events import TrainingView
from madaline.train.probes import Probes


class Doctor(Probes):
    """Watches training, so that :func:`madaline.diagnose` can examine it afterwards.

    It copies the initial parameters and at most 4,000 rows, and samples statistics of every layer during training:
    activations, dead and saturated units, gradients and updates; see ``history.probes``. A ``Trainer`` has
    ``fit(..., doctor=True)`` for it.

    Parameters
    ----------
    layers : bool or sequence of str
        Paths of the layers that are sampled; by default all that have parameters or are activations. False samples
        none.
    sample_every : int, optional
        Number of steps between samples; by default two samples per epoch, fewer if they would take more than about 2 %
        of the time.

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

    def __init__(self, layers: bool | Sequence[str] = True, *, sample_every: int | None = None) -> None:
        super().__init__(layers, sample_every=sample_every)
        self.record: Record | None = None
        self._start: Model | None = None

    def on_fit_start(self, trainer: TrainingView) -> None:
        model = trainer.model
        self._start = Model(model.network, model.params.flat.copy(), model.state.flat.copy())

    def on_fit_end(self, trainer: TrainingView) -> None:
        model = trainer.model
        final = Model(model.network, np.array(model.params.flat), np.array(model.state.flat))
        self.record = Record.of_session(trainer.run, start=self._start, model=final)
