"""Remedies of the doctor as settings of the playground, or as Python code if it has no such setting."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from madaline.doctor.finding import Finding, Remedy
from madaline.errors import MadalineError
from madaline.optim.optimizer import Optimizer
from madaline.web.play.settings import Settings

LARGER_TESTS = (0.3, 0.5)
"Test fractions, one of which a larger validation set gets."
NUMBERS = {
    "learning_rate_init": "rate",
    "max_iter": "epochs",
    "batch_size": "batch",
    "dropout": "dropout",
    "clip_norm": "clip",
    "n_iter_no_change": "patience",
}
"Arguments of estimators that are numbers, and the settings of the same meaning."


def plain_finding(finding: Finding, settings: Settings, columns: Sequence[str] = ()) -> dict[str, Any]:
    """A finding as the page shows it; a remedy has the settings that it changes, or Python code.

    Parameters
    ----------
    finding : Finding
    settings : Settings
        Those of the run.
    columns : sequence of str
        The feature columns of its table.
    """
    remedies = [_plain(remedy, changes(remedy, settings, finding.name, columns)) for remedy in finding.remedies[:3]]
    names = ("name", "title", "severity", "where", "why", "explained_by")
    return {name: getattr(finding, name) for name in names} | {"remedies": remedies}


def changes(remedy: Remedy, settings: Settings, finding: str = "", columns: Sequence[str] = ()) -> dict[str, Any]:
    """The settings that a remedy changes; none if the playground cannot do what it says."""
    found: dict[str, Any] = {}
    if finding in OF_FINDING:
        found = OF_FINDING[finding](remedy, settings, columns)
    else:
        for name, value in remedy.parameters.items():
            change = _change(name, value, settings)
            if change is None:
                return {}
            found |= change
    try:
        settings.changed(**found)
    except MadalineError:
        return {}
    return {name: value for name, value in found.items() if value != getattr(settings, name)}


def in_python(remedy: Remedy) -> str:
    """How to apply a remedy in Python; empty if its text says all."""
    if remedy.python:
        return remedy.python
    arguments = ", ".join(f"{name}={_shown(value)}" for name, value in remedy.parameters.items())
    return f"{arguments} (argument of an estimator)" if arguments else ""


def _shown(value: Any) -> str:
    return f"md.optim.{type(value).__name__}({value.learning_rate:g})" if isinstance(value, Optimizer) else repr(value)


def _plain(remedy: Remedy, found: dict[str, Any]) -> dict[str, Any]:
    python = "" if found else in_python(remedy)
    return {"text": remedy.text, "tried": remedy.gain is not None, "changes": found, "python": python}


def _change(name: str, value: Any, settings: Settings) -> Mapping[str, Any] | None:
    """One argument of an estimator as settings; None if there are none for it."""
    if name in NUMBERS and isinstance(value, (int, float)) and not isinstance(value, bool):
        return {NUMBERS[name]: value}
    if name == "optimizer" and isinstance(value, Optimizer):
        return {"optimizer": value.name, "rate": value.learning_rate}
    if name == "activation" and isinstance(value, str):
        return {"layers": ",".join(f"{units}{value}" for units, _ in settings.hidden)}
    if name == "early_stopping" and isinstance(value, bool):
        return {} if value else {"patience": 0}
    if name == "tol" and value == 0:
        return {}  # any lower test loss counts in the playground
    if name == "class_weight" and value in (None, "balanced"):
        return {"balance": value is not None}
    if name == "init" and value in (None, "auto"):
        return {"init": "auto"}
    if name == "norm" and (value is None or isinstance(value, str)):
        return {"norm": value or "none"}
    if name == "dtype" and isinstance(value, str):
        return {"precision": value}
    if name == "data" and value == "auto":
        return {"standardize": True}
    if name == "residual" and isinstance(value, bool):
        return {"residual": value}
    if name == "hidden_layer_sizes" and isinstance(value, tuple):
        return {"layers": _at_least(value, settings)}
    return None


def _at_least(units: tuple[int, ...], settings: Settings) -> str:
    """The hidden layers, with at least so many units; as many layers as given if there are none."""
    hidden = settings.hidden or tuple((1, "tanh") for _ in units)
    return ",".join(f"{max(units[0], number)}{activation}" for number, activation in hidden)


def _without_columns(remedy: Remedy, settings: Settings, columns: Sequence[str]) -> dict[str, Any]:
    """Leave out the columns that an option of ``madaline train`` names."""
    words = shlex.split(remedy.options)
    ignored = {name.replace(",,", ",") for flag, name in itertools.pairwise(words) if flag == "--ignore"}
    kept = [name for name in columns if name not in ignored]
    if settings.kind != "table" or not kept or len(kept) == len(columns):
        return {}
    return {"columns": ",".join(quote(name, safe=" ") for name in kept), "axes": ""}


def _larger_test(remedy: Remedy, settings: Settings, columns: Sequence[str]) -> dict[str, Any]:
    larger = [part for part in LARGER_TESTS if part > settings.test]
    return {"test": larger[0]} if larger else {}


OF_FINDING: dict[str, Callable[[Remedy, Settings, Sequence[str]], dict[str, Any]]] = {
    "target_leak": _without_columns,
    "small_validation": _larger_test,
    "label_errors": lambda remedy, settings, columns: {"flip": 0.0} if settings.flip else {},
    "heavy_tails": lambda remedy, settings, columns: {"scaling": "robust"} if settings.kind == "table" else {},
    "excessive_decay": lambda remedy, settings, columns: {"regularizer": "none"},
    "unscaled_target": lambda remedy, settings, columns: {},
    "nonfinite_data": lambda remedy, settings, columns: {},
}
"Findings whose remedies are other settings than their arguments for estimators say."
