"""``heal``: try remedies on copies and keep those that help."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.clock import Clock
from madaline.doctor.diagnose import diagnosis_of, for_estimator
from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.intercept import planned
from madaline.doctor.judgement import judge
from madaline.doctor.patients import Patient
from madaline.doctor.polish import IMPATIENT, polish, without_overridden
from madaline.doctor.setup import Setup, python_change
from madaline.doctor.trials import SURE, improvement
from madaline.errors import ConfigError
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets

FAR_BETTER = 0.15
"Usual settings must gain this much more than the remedies, as a fraction of what can be learned."
NEAR = 0.05
"Without a finding, other rates and lengths are tried if usual settings gain more than this."
CAUTION = 0.4
"A remedy may gain less here than a finding needs: nobody is alarmed by it."


@dataclass(frozen=True)
class Healing:
    """What healing did.

    Attributes
    ----------
    thing : Trainer or estimator
        A copy, trained with the remedies that helped; with the old settings if none did.
    before, after : float
        Mean loss on held-out rows with the old settings and with the remedies.
    remedies : sequence of Remedy
        What was changed, in the order in which it was applied.
    diagnosis : Diagnosis
        The findings that the remedies are for.
    """

    thing: Patient
    before: float
    after: float
    remedies: Sequence[Remedy]
    diagnosis: Diagnosis

    def __str__(self) -> str:
        if not self.remedies:
            return f"No remedy helped; the loss on held-out rows is {self.before:.4g}."
        lines = [f"The loss on held-out rows fell from {self.before:.4g} to {self.after:.4g}, by these changes:"]
        for remedy in self.remedies:
            lines.append(f"  {remedy.text}")
            lines += [f"    Python: {remedy.python}"] if remedy.python else []
            lines += [f"    Command line: {remedy.options}"] if remedy.options else []
        return "\n".join(lines)


def heal(
    thing: Patient, X: Inputs | None, y: Targets | None = None, *, max_seconds: float = 60.0, **fit_arguments: Any
) -> Healing:
    """Try remedies on copies, keep those that help on held-out rows, and train a copy with them.

    Parameters
    ----------
    thing : Trainer or estimator
        It does not change.
    X, y
        Data, as for ``fit``.
    max_seconds : float, default 60
        Approximate time limit of the search, without the final training.
    **fit_arguments
        Further arguments of ``fit``.

    Returns
    -------
    Healing
        With the trained copy as ``thing``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(400, 3)); y = X[:, 0] * X[:, 1]
    >>> sick = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(1e-6))
    >>> healing = md.heal(sick, X, y, epochs=60, batch_size=32)
    >>> healing.after < 0.5 * healing.before
    True
    >>> healing.remedies[0].options
    '--learning-rate 0.001'
    """
    if not max_seconds > 0:
        raise ConfigError(f"max_seconds={max_seconds!r} must be a number of seconds above 0.")
    record = planned(thing, X, y, **fit_arguments)
    if isinstance(record.setup.recipe.loss, dict):
        raise ConfigError("heal needs a net with one output; this one has several.")
    exam = Exam(record.setup, record.problem, clock=Clock(max_seconds))
    exam.is_complete, exam.caution = True, CAUTION
    judgement = judge(exam)
    before = float(exam.before_losses.mean())
    after = before
    remedies: Sequence[Remedy] = judgement.remedies
    setup = judgement.setup
    if setup is not None:
        after = float(exam.losses(setup).mean())
    if setup is not None or exam.potential > NEAR or _is_impatient(exam):
        polished = polish(exam, setup or exam.setup)
        if polished.remedies:
            setup, remedies = polished.setup, without_overridden([*remedies, *polished.remedies])
            after = float(exam.losses(setup).mean())
    if isinstance(thing, Trainer) and (usual := _usual(exam, setup)) is not None:
        setup, remedies = usual[0], [usual[1]]
        after = float(exam.losses(setup).mean())
    healed = _trainer(thing, X, y, setup, fit_arguments) if isinstance(thing, Trainer) else None
    if healed is None:
        healed, remedies = _estimator(thing, X, y, remedies, fit_arguments)
    return Healing(
        healed,
        before,
        after,
        tuple(remedies),
        diagnosis_of(exam, judgement, is_estimator=not isinstance(thing, Trainer)),
    )


def _is_impatient(exam: Exam) -> bool:
    rule = exam.setup.early_stopping
    return rule is not None and rule.patience < IMPATIENT


def _usual(exam: Exam, setup: Setup | None) -> tuple[Setup, Remedy] | None:
    """A net with usual settings in place of the given one, if no change of it comes near to what that one learns."""
    usual = exam.reference.setup
    before = exam.before_losses if setup is None else exam.losses(setup)
    gain, sureness = improvement(exam, before, exam.losses(usual))
    if gain < FAR_BETTER or sureness < SURE or exam.clock.left <= 0:
        return None
    text = "Start again from usual settings: scaled inputs, two hidden layers of 64 units, AdamW and early stopping."
    return usual, Remedy(text, lambda _: usual, python=python_change(exam.setup, usual), gain=gain)


def _trainer(thing: Trainer, X: Any, y: Any, setup: Any, fit_arguments: dict[str, Any]) -> Trainer:
    """A trainer with the changed settings, trained on all rows."""
    if setup is None:
        trainer, arguments = copy.copy(thing), dict(fit_arguments)
    else:
        trainer = setup.trainer()
        arguments = fit_arguments | {
            name: value for name, value in setup.fit_arguments().items() if name != "class_weight" or value
        }
        rule = setup.early_stopping
        if rule is not None and arguments.get("validation") is None:
            arguments["validation"] = 0.2
    arguments |= {"progress": False, "on_divergence": "stop"}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        trainer.fit(X, y, **arguments)
    return trainer


def _estimator(
    thing: Any, X: Any, y: Any, remedies: Sequence[Remedy], fit_arguments: dict[str, Any]
) -> tuple[Any, Sequence[Remedy]]:
    """A fitted clone with the parameters of the remedies that estimators have."""
    from sklearn.base import clone

    known = thing.get_params(deep=False)
    usable = [remedy for remedy in remedies if remedy.parameters and set(remedy.parameters) <= set(known)]
    healed = clone(thing)
    for remedy in usable:
        healed.set_params(**dict(remedy.parameters))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        healed.fit(X, y, **fit_arguments)
    return healed, [for_estimator(remedy) for remedy in usable]
