"""``diagnose``: examine a training run that has ended."""

from __future__ import annotations

from typing import Any

from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.exam import Clock, Exam
from madaline.doctor.finding import Finding
from madaline.doctor.history_findings import findings_of_history
from madaline.doctor.judgement import Judgement, judge
from madaline.doctor.record import Record
from madaline.doctor.sickness import SICKNESSES
from madaline.doctor.watch import Doctor
from madaline.errors import ConfigError
from madaline.train.history import History
from madaline.train.trainer import Trainer

MAX_SECONDS = 5.0


def diagnose(thing: Any, *, max_seconds: float = MAX_SECONDS) -> Diagnosis:
    """Examine a training run: what is wrong, how sure that is, and what helps.

    Remedies are tried on copies with a sample of the rows. A problem is reported only if a remedy lowers the loss on
    held-out rows beyond chance, or if it is a fact, such as rows that are in both the training and the validation set.

    Parameters
    ----------
    thing : Trainer, estimator or History
        A trainer after ``fit``, also if ``fit`` raised an error; an estimator with ``callbacks=md.Doctor()``; or the
        history of a run, of which less can be said.
    max_seconds : float, default 5
        Approximate time limit.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 3)); y = X[:, 0] * X[:, 1]
    >>> trainer = md.Trainer(md.Sequential(md.Linear(16), md.Linear(1)), optimizer=md.Adam(0.01))
    >>> history = trainer.fit(X, y, doctor=True, epochs=40)
    >>> md.diagnose(trainer).names[0]
    'missing_nonlinearity'
    """
    record = record_of(thing)
    if record is None:
        return findings_of_history(_history(thing))
    if isinstance(record.setup.recipe.loss, dict):
        diagnosis = findings_of_history(record.history)
        return Diagnosis(
            diagnosis.findings, diagnosis.reasons, ("nets with several outputs; only the history was used",)
        )
    exam = record.exam(Clock(max_seconds))
    return diagnosis_of(exam, judge(exam))


def record_of(thing: Any) -> Record | None:
    """What was kept of the run of a trainer or an estimator."""
    if isinstance(thing, Trainer):
        watching = [each for each in _listeners(thing) if isinstance(each, Doctor)]
        if watching and watching[0].record is not None:
            return watching[0].record
        if not thing.history.n_rows and not _listeners(thing) and not hasattr(thing, "model"):
            raise ConfigError("There has been no training yet: call fit first, or use md.checkup before training.")
        try:
            session = thing.run
        except ConfigError:
            return None
        return Record.of_session(session, start=None, model=thing.model) if session.total_steps is not None else None
    given = getattr(thing, "callbacks", None)
    for callback in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(callback, Doctor) and callback.record is not None:
            return callback.record
    return None


def diagnosis_of(exam: Exam, judgement: Judgement) -> Diagnosis:
    """The findings in order, or the reasons why there are none."""
    return Diagnosis(tuple(in_order(judgement.findings)), tuple(_reasons(exam)), ())


def in_order(findings: list[Finding]) -> list[Finding]:
    """Facts about the data first, then what was tried in its order, then other facts; information last."""

    def place(finding: Finding) -> int:
        sickness = SICKNESSES[finding.name]
        is_other = sickness.proof == "fact" and sickness.cause > 0
        return 2 if not finding.is_alarm else 1 if is_other else 0

    return sorted(findings, key=place)


def _reasons(exam: Exam) -> list[str]:
    constant, loss = exam.constant_loss, float(exam.before_losses.mean())
    found = []
    if loss < constant:
        found.append(f"the loss on held-out rows is {loss:.3g}, that of a constant prediction {constant:.3g}")
    if exam.linear is not None and loss <= float(exam.linear.mean()) * 1.02:
        found.append(f"it is not worse than that of a linear model, {float(exam.linear.mean()):.3g}")
    return [*found, "no remedy that was tried made it clearly better"]


def _listeners(trainer: Trainer) -> list[Any]:
    try:
        return list(trainer.run.callbacks)
    except ConfigError:
        return []


def _history(thing: Any) -> History:
    for found in (thing, getattr(thing, "history_", None), getattr(thing, "history", None)):
        if isinstance(found, History):
            return found
    raise ConfigError(
        f"{type(thing).__name__} has no history. Pass a fitted estimator with callbacks=md.Doctor(), a Trainer, a "
        "History or the folder of a run."
    )
