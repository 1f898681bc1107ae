"""``diagnose``: examine a training run that has ended."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from madaline.doctor.clock import Clock
from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Finding, Remedy
from madaline.doctor.history_findings import findings_of_history
from madaline.doctor.judgement import Judgement, judge
from madaline.doctor.patients import Patient
from madaline.doctor.record import Record
from madaline.doctor.search_findings import findings_of_search
from madaline.doctor.sickness import SICKNESSES
from madaline.doctor.torch_recorder import TorchRecorder
from madaline.doctor.watch import Doctor
from madaline.errors import ConfigError, FileFormatError
from madaline.train.history import History
from madaline.train.trainer import Trainer

MAX_SECONDS = 10.0
RESULT = "result.json"


def diagnose(
    thing: Patient | TorchRecorder | History | str | os.PathLike[str], *, max_seconds: float = MAX_SECONDS
) -> Diagnosis:
    """Examine a training run: what is wrong, how sure that is, and what helps.

    Remedies are tried on copies with a sample of the rows. A problem is reported only if a remedy lowers the loss on
    held-out rows by more than chance, or if it is a fact, such as rows that are in both the training and the validation
    set.

    Parameters
    ----------
    thing : Trainer, estimator, TorchRecorder, History or path
        A trainer after ``fit``, even if ``fit`` raised an error; an estimator with ``callbacks=md.Doctor()``; the
        history of a run, which shows less; or the folder of a run of ``madaline train``. Of the result of
        :func:`madaline.search`, the edges of its ranges are examined as well.
    max_seconds : float, default 10
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
    if isinstance(thing, (str, os.PathLike)):
        return of_run_folder(Path(thing))
    found = _examined(thing, max_seconds)
    return replace(found, findings=(*found.findings, *findings_of_search(thing)))


def _examined(thing: Any, max_seconds: float) -> Diagnosis:
    """The diagnosis of the training, without that of a search."""
    record = record_of(thing)
    if record is None:
        found = findings_of_history(_history(thing))
        if isinstance(thing, TorchRecorder):
            return replace(found, limits=(f"remedies, because {thing.why_not_tried}",))
        return found
    if isinstance(record.setup.recipe.loss, dict):
        diagnosis = findings_of_history(record.history)
        return Diagnosis(
            diagnosis.findings, diagnosis.reasons, ("nets with several outputs; only the history was used",)
        )
    exam = record.exam(Clock(max_seconds))
    return diagnosis_of(exam, judge(exam), is_estimator=not isinstance(thing, (Trainer, TorchRecorder)))


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
    if isinstance(thing, TorchRecorder):
        return thing.record
    given = getattr(thing, "callbacks", None)
    for callback in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(callback, Doctor) and callback.record is not None:
            return callback.record.named(thing)
    return None


def diagnosis_of(exam: Exam, judgement: Judgement, *, is_estimator: bool = False) -> Diagnosis:
    """The findings in order, or the reasons why there are none."""
    found = in_order(judgement.findings)
    if is_estimator:
        found = [replace(each, remedies=tuple(map(for_estimator, each.remedies))) for each in found]
    limits = []
    if exam.clock.left <= 0:
        over = "the machine is slow or busy" if exam.clock.is_over_time else "max_seconds gives more"
        limits.append(f"some remedies, because the time was over; {over}")
    return Diagnosis(tuple(found), tuple(_reasons(exam)), tuple(limits))


def for_estimator(remedy: Remedy) -> Remedy:
    """The remedy with the code that changes an estimator."""
    shown = ", ".join(f"{name}={value!r}" for name, value in remedy.parameters.items())
    text = remedy.estimator_text or remedy.text
    return replace(remedy, text=text, python=f"estimator.set_params({shown})" if shown else "")


def of_run_folder(folder: Path) -> Diagnosis:
    """The diagnosis that ``madaline train`` wrote."""
    path = folder / RESULT
    if not path.is_file():
        raise FileNotFoundError(f"{str(folder)!r} is not the folder of a run: it has no {RESULT}.")
    try:
        return Diagnosis.from_dict(json.loads(path.read_text(encoding="utf-8"))["diagnosis"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise FileFormatError(
            f"{str(path)!r} has no diagnosis: the run was trained with --no-doctor, or the file is damaged. Train it "
            "again."
        ) from None


def in_order(findings: list[Finding]) -> list[Finding]:
    """Facts about the data, then what was tried in its order, other facts, what follows from those, information."""

    def place(finding: Finding) -> int:
        sickness = SICKNESSES[finding.name]
        is_other = sickness.proof == "fact" and sickness.cause > 0
        return 3 if finding.severity == "info" else 2 if finding.explained_by else 1 if is_other else 0

    return sorted(findings, key=place)


def _reasons(exam: Exam) -> list[str]:
    constant, loss = exam.constant_loss, float(exam.before_losses.mean())
    if loss >= constant:
        return []
    found = [f"the loss on held-out rows is {loss:.3g}, and that of a constant prediction is {constant:.3g}"]
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
