"""What is known of a model when it has been trained and tried: all that a report shows, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from madaline.functional.model import Model
from madaline.train.history import History

NUMBERS = ("regression", "count")
"Tasks whose answers are numbers."
INTERVAL = 0.9
"The share of cases in which an interval is to hold the truth, in charts."


class Score(Protocol):
    """A number that says how good predictions are, and where 95% of resamples have it; its text shows all three."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def meaning(self) -> str: ...


@dataclass(frozen=True)
class Dependence:
    """What is predicted on average if a column has one value in every row.

    Attributes
    ----------
    values : array
        Numbers, dates or texts, (n_values,).
    prediction : array
        Mean predictions, (n_values, n_outputs).
    """

    values: np.ndarray
    prediction: np.ndarray


@dataclass(frozen=True)
class Effect:
    """What a column does for the predictions.

    Attributes
    ----------
    column : str
    importance : float
        How much the error grows when its values are shuffled among the rows.
    spread : float
        Standard deviation of that over shuffles.
    dependence : Dependence, optional
    """

    column: str
    importance: float
    spread: float = 0.0
    dependence: Dependence | None = None


@dataclass(frozen=True)
class Effects:
    """The effects of columns, the most important first, of ``n_columns``; ``error`` names what grows."""

    error: str
    columns: Sequence[Effect]
    n_columns: int
    n_rows: int


@dataclass
class Findings:
    """All that a report shows; what is empty has no section.

    Attributes
    ----------
    title : str
    task : {"binary", "multiclass", "multilabel", "regression", "count"}
    facts : mapping of str to str
        A few words each: rows, time, how training ended.
    scores : mapping of str to sequences of Score
        By model, this one first, then those to compare with; the same scores for each.
    targets : sequence of str
        The columns that are predicted.
    classes : sequence
        Classes or labels; none for numbers.
    truth : array, optional
        Of rows that training did not see: numbers of classes (n,), labels (n, k), or numbers (n, k).
    prediction : array, optional
        Of the same rows: probabilities (n, classes) or (n, labels), or numbers (n, k).
    covered : array of bool, optional
        Of the same rows, if numbers are predicted: whether the interval of a share of :data:`INTERVAL` holds the truth,
        (n, k).
    history : History, optional
        Learning curves, and what the probes saw.
    model : Model, optional
        The net, to draw it and its first weights.
    inputs : sequence of str
        The names of what the first layer with weights takes, if known.
    effects : Effects, optional
    columns : sequence of (name, role, reason)
        Of the training table.
    assumptions, warnings : sequences of str
        About the data.
    advice : sequence of (text, options)
        What to try next.
    usage : sequence of str
        Lines that use the model.
    config : str
        The settings that train the same model again.
    made : str
        When, and by which versions.
    """

    title: str
    task: str
    facts: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    targets: Sequence[str] = ()
    classes: Sequence[object] = ()
    truth: np.ndarray | None = None
    prediction: np.ndarray | None = None
    covered: np.ndarray | None = None
    history: History | None = None
    model: Model | None = None
    inputs: Sequence[str] = ()
    effects: Effects | None = None
    columns: Sequence[tuple[str, str, str]] = ()
    assumptions: Sequence[str] = ()
    warnings: Sequence[str] = ()
    advice: Sequence[tuple[str, str]] = ()
    usage: Sequence[str] = ()
    config: str = ""
    made: str = ""
