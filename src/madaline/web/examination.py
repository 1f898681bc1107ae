"""The doctor on a training that may still run."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from madaline.doctor.clock import Clock
from madaline.doctor.diagnose import diagnosis_of
from madaline.doctor.judgement import judge
from madaline.doctor.record import Record
from madaline.functional.model import Model

if TYPE_CHECKING:
    from madaline.doctor.diagnosis import Diagnosis
    from madaline.train.session import Session


def examine(session: Session, start: Model | None, model: Model, *, seconds: float) -> tuple[Diagnosis, int]:
    """The diagnosis of the epochs so far, and their number.

    Parameters
    ----------
    session : Session
        The training.
    start, model : Model
        Copies of the net before the first step and now.
    seconds : float
        Time limit.
    """
    history = copy.deepcopy(session.history)
    record = Record.of_session(session, start=start, model=model)
    record = replace(record, history=history, setup=replace(record.setup, epochs=max(history.epochs, 1)))
    exam = record.exam(Clock(seconds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return diagnosis_of(exam, judge(exam)), history.epochs
