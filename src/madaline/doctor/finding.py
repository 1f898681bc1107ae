"""What the doctor reports: findings with evidence, and remedies that can be applied."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from madaline.annotations import fits
from madaline.doctor.picture import Picture

if TYPE_CHECKING:
    from madaline.doctor.setup import Setup

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Remedy:
    """A change of arguments that may cure a problem.

    Attributes
    ----------
    text : str
        What to do, as one sentence.
    change : callable
        Gives the changed copy of a training setup; the original stays as it is.
    parameters : mapping
        The same change for an estimator, as arguments of ``set_params``. Empty if estimators have no such parameter.
    options : str
        The same change for ``madaline train``.
    python : str
        The same change as code for a ``Trainer``.
    gain : float or None
        Decrease of the loss on held-out rows when the remedy was tried, as a fraction of what can be learned; None if
        it was not tried.
    losses : pair of float or None
        Loss on held-out rows without and with the remedy, and with those it was tried with.
    tried_with : sequence of str
        Names of the findings whose remedies were applied in the same trial, if it helps only together with them.
    tried_after : sequence of str
        Names of the findings whose remedies had been applied before.
    estimator_text : str
        What to do with an estimator, if that is not the same as for a ``Trainer``.
    """

    text: str
    change: Callable[[Setup], Setup] | None = field(default=None, compare=False, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: str = ""
    python: str = ""
    gain: float | None = None
    losses: tuple[float, float] | None = None
    tried_with: Sequence[str] = ()
    tried_after: Sequence[str] = ()
    estimator_text: str = field(default="", compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The remedy as plain data."""
        shown = {name: value if isinstance(value, PLAIN) else repr(value) for name, value in self.parameters.items()}
        return {
            "text": self.text,
            "python": self.python,
            "parameters": shown,
            "options": self.options,
            "gain": self.gain,
            "losses": None if self.losses is None else list(self.losses),
            "tried_with": list(self.tried_with),
            "tried_after": list(self.tried_after),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Remedy:
        """A remedy to read, which can no longer be applied automatically. Raises a TypeError for damaged data."""
        _check_types(data, {"text": str, "options": str, "python": str, "gain": float | None, "parameters": dict})
        losses = data.get("losses")
        _check_types({"losses": losses}, {"losses": list[float] | None})
        _check_types(data, {"tried_with": list[str], "tried_after": list[str]})
        if losses is not None and len(losses) != 2:
            raise ValueError(f"losses is {losses!r}")
        return cls(
            data["text"],
            None,
            dict(data["parameters"]),
            data["options"],
            data["python"],
            data["gain"],
            None if losses is None else (losses[0], losses[1]),
            tuple(data.get("tried_with", ())),
            tuple(data.get("tried_after", ())),
        )


PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class Finding:
    """A problem of a training run, or information about it.

    Attributes
    ----------
    name : str
        Stable name, such as ``"rate_too_high"``.
    title : str
        What is wrong, as one sentence.
    severity : {"error", "warning", "info"}
        Information is never an alarm.
    confidence : float
        Between 0 and 1.
    where : str
        Layer, units, columns, rows or steps.
    evidence : mapping of str to float
        Measured numbers.
    why : str
        Why this harms training, with the formula.
    concept : str
        Page of the documentation that explains the concept.
    remedies : sequence of Remedy
        The most promising first.
    gain : float
        Expected decrease of the loss on held-out rows, as a fraction of what can be learned; findings are ranked by it.
    picture : Picture or None
    explains : sequence of str
        Names of other findings that are gone once the remedy of this one is applied.
    explained_by : str
        Name of the finding that this one follows from; such a finding is not an alarm of its own.
    """

    name: str
    title: str
    severity: Severity
    confidence: float
    where: str
    evidence: Mapping[str, float]
    why: str
    concept: str = ""
    remedies: Sequence[Remedy] = ()
    gain: float = 0.0
    picture: Picture | None = None
    explains: Sequence[str] = ()
    explained_by: str = ""

    @property
    def is_alarm(self) -> bool:
        """Whether something should be done about it: it is neither information nor follows from another finding."""
        return self.severity != "info" and not self.explained_by

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "severity": self.severity,
            "confidence": self.confidence,
            "where": self.where,
            "evidence": {name: float(value) for name, value in self.evidence.items()},
            "why": self.why,
            "concept": self.concept,
            "remedies": [remedy.to_dict() for remedy in self.remedies],
            "gain": self.gain,
            "picture": None if self.picture is None else self.picture.to_dict(),
            "explains": list(self.explains),
            "explained_by": self.explained_by,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """The finding from plain data. Raises a TypeError for damaged data."""
        _check_types(data, dict.fromkeys(("name", "title", "where", "why", "concept"), str))
        _check_types(data, {"severity": Severity, "confidence": float, "gain": float, "evidence": dict})
        _check_types(data, {"remedies": list, "explains": list[str], "explained_by": str})
        picture = data["picture"]
        return cls(
            **{
                name: data[name]
                for name in ("name", "title", "severity", "confidence", "where", "why", "concept", "gain")
            },
            evidence={name: _number(value) for name, value in data["evidence"].items()},
            remedies=tuple(Remedy.from_dict(each) for each in data["remedies"]),
            picture=None if picture is None else Picture(**picture | {"values": list(map(_number, picture["values"]))}),
            explains=tuple(data.get("explains", ())),
            explained_by=data.get("explained_by", ""),
        )


def _check_types(data: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    for name, hint in hints.items():
        if name in data and not fits(data[name], hint):
            raise TypeError(f"{name} is {data[name]!r}")


def _number(value: float | None) -> float:
    """A number from JSON, which has no NaN."""
    return math.nan if value is None else float(value)
