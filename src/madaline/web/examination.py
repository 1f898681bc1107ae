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
    from madaline.doctor.finding import Finding
    from madaline.doctor.names import InputNames
    from madaline.train.session import Session


def examine(
    session: Session, start: Model | None, model: Model, *, seconds: float, names: InputNames | None = None
) -> tuple[Diagnosis, int]:
    """The diagnosis of the epochs so far, and their number.

    Parameters
    ----------
    session : Session
        The training.
    start, model : Model
        Copies of the net before the first step and now.
    seconds : float
        Time limit.
    names : InputNames, optional
        What findings call columns and classes.
    """
    history = copy.deepcopy(session.history)
    record = Record.of_session(session, start=start, model=model)
    record = replace(record, history=history, setup=replace(record.setup, epochs=max(history.epochs, 1)))
    if names is not None:
        record = replace(record, problem=replace(record.problem, names=names))
    exam = record.exam(Clock(seconds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return diagnosis_of(exam, judge(exam)), history.epochs


def only_trains_longer(finding: Finding) -> bool:
    """Whether all remedies are to train longer, which a run that has not ended does anyway."""
    kinds = [set(remedy.parameters) for remedy in finding.remedies]
    return bool(kinds) and all(kind == {"max_iter"} for kind in kinds)
