"""The definition of a sickness, and the registry of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy, Severity
from madaline.doctor.picture import Picture
from madaline.public import import_all

SICKNESSES: dict[str, Sickness] = {}
"Every sickness by name, in the order of the catalogue."


@dataclass(frozen=True)
class Symptom:
    """What was measured about a sickness.

    Attributes
    ----------
    evidence : mapping of str to float
    where : str
        Layer, columns, rows or steps.
    confidence : float
        How sure the measurement alone is, between 0 and 1.
    picture : Picture, optional
    """

    evidence: Mapping[str, float]
    where: str = ""
    confidence: float = 0.7
    picture: Picture | None = None
    harm: float = field(default=0.0)
    "For facts: what the sickness costs, as a fraction of what can be learned."
    min_gain_factor: float = 1.0
    "Factor of the gain that a remedy must have; below 1 for values that no sound run has."
    columns: Sequence[int] = ()
    "Places of the input columns that a remedy is about."
    rows: np.ndarray | None = field(default=None, compare=False)
    "Whether each validation row is one that it is about."
    severity: Severity | None = None
    "If it depends on what was measured; otherwise that of the sickness."
    is_certain: bool = False
    "Whether the value is wrong by any standard: of a run that is harmed it is reported without a trial of its own."
    cause: int | None = None
    "Place among causes, if it depends on what was measured; otherwise that of the sickness."


class Sickness(ABC):
    """One sickness: how it is measured, from which value on it is a symptom, why it harms, and what helps.

    Attributes
    ----------
    name : str
        Public name; tests, reports and users' code rely on it.
    number : int
        Place in the catalogue.
    title : str
        What is wrong, as one sentence.
    severity : {"error", "warning", "info"}
    proof : {"trial", "fact"}
        Whether it is reported only if one of its remedies helps in a trial, or whenever it is measured.
    cause : int
        Findings with equal gains are ranked by this: 0 and 1 for what is wrong by construction, 2 for data, 3 and 4
        for the net, 5 for the rate, 6 for the length of training, 7 for what follows from others, 8 for mere
        consequences.
    min_gain : float
        Minimum gain of a remedy, as a fraction of what can be learned.
    why : str
        Why it harms, with the formula.
    concept : str
        Page of the documentation.
    """

    name: ClassVar[str]
    number: ClassVar[int]
    title: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    proof: ClassVar[Literal["trial", "fact"]] = "trial"
    cause: ClassVar[int] = 6
    min_gain: ClassVar[float] = 0.08
    why: ClassVar[str]
    concept: ClassVar[str] = ""
    is_relaxed: ClassVar[bool] = True
    "Whether a remedy that takes away a large part of the loss needs a smaller gain."
    before_training: ClassVar[bool] = True
    "Whether a checkup looks for it."

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "name"):
            SICKNESSES[cls.name] = cls()

    @abstractmethod
    def symptom(self, exam: Exam) -> Symptom | None:
        """What was measured, if it exceeds the threshold."""

    def remedies(self, exam: Exam, symptom: Symptom) -> Sequence[Remedy]:
        """What may help, the most promising first."""
        return ()

    def last_resorts(self, exam: Exam, symptom: Symptom) -> Sequence[Remedy]:
        """What is tried if no remedy helps, not even with another rate."""
        return ()


def all_sicknesses() -> list[Sickness]:
    """Every sickness, in the order of the catalogue."""
    from madaline.doctor import sicknesses

    import_all(sicknesses.__name__, sicknesses.__path__)
    return sorted(SICKNESSES.values(), key=lambda sickness: sickness.number)
