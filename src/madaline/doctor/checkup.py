"""``checkup``: examine data, net and settings before training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.clock import Clock
from madaline.doctor.diagnose import diagnosis_of
from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Finding
from madaline.doctor.intercept import planned
from madaline.doctor.judgement import finding_of_fact, judge
from madaline.doctor.patients import Patient
from madaline.doctor.sickness import SICKNESSES, all_sicknesses
from madaline.doctor.sicknesses.nonfinite_data import NonfiniteData
from madaline.doctor.trials import Candidate
from madaline.errors import DtypeError, ShapeError, TargetError
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets

MAX_SECONDS = 4.0


def checkup(
    thing: Patient,
    X: Inputs | None,
    y: Targets | None = None,
    *,
    max_seconds: float = MAX_SECONDS,
    **fit_arguments: Any,
) -> Diagnosis:
    """Examine data, net and settings before training.

    Data and settings are checked, and short trainings of copies on a sample of the rows show what a remedy gains.
    Neither ``thing`` nor the data change.

    Parameters
    ----------
    thing : Trainer or estimator
    X, y
        Data, as for ``fit``.
    max_seconds : float, default 4
        Approximate time limit.
    **fit_arguments
        Further arguments of ``fit``, such as ``epochs``, ``batch_size`` and ``validation``.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 3)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> net = md.Sequential(md.Linear(16), "relu", md.Linear(2), "softmax")
    >>> md.checkup(md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.01)), X, y, epochs=50).names[0]
    'loss_output_mismatch'
    """
    bad = _nonfinite(thing, X, y)
    if bad is not None:
        return Diagnosis((bad,), (), ("everything else, until the data are complete",))
    try:
        record = planned(thing, X, y, **fit_arguments)
    except (TargetError, ShapeError, DtypeError) as error:
        return Diagnosis((_refused(str(error)),), (), ("everything else, until net, loss and targets fit",))
    if isinstance(record.setup.recipe.loss, dict):
        return Diagnosis((), (), ("nets with several outputs",))
    exam = Exam(record.setup, record.problem, clock=Clock(max_seconds))
    return diagnosis_of(exam, judge(exam), is_estimator=not isinstance(thing, Trainer))


def _nonfinite(thing: Any, X: Any, y: Any) -> Finding | None:
    """Missing values, unless the estimator takes tables that may have some."""
    takes_tables = any(getattr(thing, name, None) is not None for name in ("data", "preset"))
    if takes_tables or not isinstance(X, np.ndarray):
        return None
    sickness = NonfiniteData()
    symptom = sickness.of_arrays(X, y if isinstance(y, np.ndarray) else None)
    return None if symptom is None else finding_of_fact(Candidate(sickness, symptom, sickness.remedies(None, symptom)))


def _refused(message: str) -> Finding:
    all_sicknesses()
    sickness = SICKNESSES["loss_output_mismatch"]
    return Finding(
        sickness.name,
        "Net, loss and targets do not fit together.",
        "error",
        1.0,
        message,
        {},
        sickness.why,
        sickness.concept,
    )
