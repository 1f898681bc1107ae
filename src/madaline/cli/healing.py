"""``madaline train --heal``: remedies are tried in whole trainings, and those that help on validation rows are kept."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madaline.cli.config import RunConfig
from madaline.cli.screen import Screen
from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.finding import Remedy
from madaline.doctor.watch import Doctor
from madaline.errors import MadalineError

SURE = 2.0
"A remedy must lower the loss of the validation rows by this many standard errors, paired over rows and over two seeds."
NUMBERS: dict[str, type] = {
    "dropout": float, "learning_rate": float, "weight_decay": float, "batch_size": int, "epochs": int, "patience": int,
}  # fmt: skip
WORDS = ("activation", "norm", "class_weight")
Fit = Callable[[RunConfig], tuple[Any, Doctor]]
"Trains with these settings: the fitted estimator, and the doctor that watched it."


@dataclass
class CommandHealing:
    """What healing did.

    Attributes
    ----------
    settings : RunConfig
        With the remedies that helped.
    estimator, doctor
        Trained with these settings; None if no remedy helped.
    before, after : float
        Mean loss of the validation rows.
    kept, left_out : list of dict
        Remedies, with the finding that they are for, and for the latter the reason.
    """

    settings: RunConfig
    estimator: Any = None
    doctor: Doctor | None = None
    before: float = 0.0
    after: float = 0.0
    kept: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The healing as plain data."""
        return {"before": self.before, "after": self.after, "kept": self.kept, "left_out": self.left_out}


def heal(settings: RunConfig, diagnosis: Diagnosis, doctor: Doctor, fit: Fit, screen: Screen) -> CommandHealing:
    """Try the first remedies of all alarms, each on top of those that helped before."""
    result = CommandHealing(copy.deepcopy(settings))
    losses = [_validation_losses(doctor), None]
    result.before = result.after = _mean(losses[0])
    for finding in diagnosis.alarms:
        about: dict[str, Any] = {"finding": finding.name}
        if not finding.remedies:
            continue
        remedy = finding.remedies[0]
        changed = with_options(result.settings, remedy)
        about |= {"text": remedy.text, "options": remedy.options}
        if changed is None:
            result.left_out.append(about | {"reason": "no option of this command applies it; it needs your decision"})
            continue
        if losses[0] is None:
            result.left_out.append(about | {"reason": "there are no validation rows to compare on"})
            continue
        screen.say(f"  Trying: {remedy.text}  [{remedy.options}]")
        try:
            estimator, watched = fit(changed)
            tried = [_validation_losses(watched), None]
            if _is_better([losses[0]], [tried[0]]):  # again with another random seed, both
                losses[1] = (
                    losses[1] if losses[1] is not None else _validation_losses(fit(_reseeded(result.settings))[1])
                )
                tried[1] = _validation_losses(fit(_reseeded(changed))[1])
        except MadalineError as error:
            result.left_out.append(about | {"reason": f"training failed: {error}"})
            continue
        about |= {"before": _mean(losses[0]), "after": _mean(tried[0])}
        if tried[1] is None or not _is_better(losses, tried):
            result.left_out.append(
                about | {"reason": "it does not lower the loss of the validation rows by more than chance"}
            )
            continue
        result.kept.append(about)
        result.settings, result.estimator, result.doctor = changed, estimator, watched
        losses, result.after = tried, _mean(tried[0])
    return result


def with_options(settings: RunConfig, remedy: Remedy) -> RunConfig | None:
    """Settings changed by the options of a remedy; None if it has none, or some that need a decision."""
    words = shlex.split(remedy.options)
    if not words or len(words) % 2:
        return None
    changed = copy.deepcopy(settings)
    for flag, value in zip(words[::2], words[1::2], strict=True):
        name = flag.removeprefix("--").replace("-", "_")
        if name == "hidden":
            changed.training.hidden = tuple(map(int, value.split(",")))
        elif name in NUMBERS:
            setattr(changed.training, name, NUMBERS[name](value))
        elif name in WORDS:
            setattr(changed.training, name, value)
        else:
            return None
    flags = set(words[::2])
    changed.training.given = tuple(sorted(flags | set(changed.training.given)))
    return None if changed.training == settings.training else changed


def show_healing(screen: Screen, healing: CommandHealing) -> None:
    """What was tried, kept and left out."""
    if not healing.kept and not healing.left_out:
        screen.say("  There was nothing to heal.")
        return
    if healing.kept:
        screen.title(f"Healed: the loss of the validation rows fell from {healing.before:.4g} to {healing.after:.4g}")
    for each in healing.kept:
        screen.say(
            f"  Kept: {each['text']}  [{each['options']}]  "
            f"({each['finding']}: {each['before']:.4g} to {each['after']:.4g})"
        )
    for each in healing.left_out:
        screen.say(f"  Left out: {each['text']} ({each['finding']}: {each['reason']})")


def _reseeded(settings: RunConfig) -> RunConfig:
    changed = copy.deepcopy(settings)
    changed.training.seed = (settings.training.seed or 0) + 1
    return changed


def _validation_losses(doctor: Doctor | None) -> np.ndarray | None:
    """The loss of each validation row, of the model that the doctor watched."""
    record = None if doctor is None else doctor.record
    if record is None or record.problem.validation is None:
        return None
    found = record.losses(record.problem.validation)
    return found if np.isfinite(found).all() else np.where(np.isfinite(found), found, 1e30)


def _mean(losses: np.ndarray | None) -> float:
    return float("nan") if losses is None else float(losses.mean())


def _is_better(before: list[Any], after: list[Any]) -> bool:
    """Whether the losses fell beyond chance, paired over rows, for every seed and for all together."""
    differences = [a - b for a, b in zip(before, after, strict=True) if a is not None and b is not None]
    d = np.mean(differences, axis=0)
    return bool(all(each.mean() > 0 for each in differences) and d.mean() > SURE * d.std() / np.sqrt(len(d)))
