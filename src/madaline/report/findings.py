"""Everything that a report shows about a trained model, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.functional.model import Model
from madaline.report.value_text import shown
from madaline.train.history import History

if TYPE_CHECKING:
    from madaline.doctor.diagnosis import Diagnosis
    from madaline.report.search_summary import SearchSummary
    from madaline.report.table_summary import TableSummary
    from madaline.report.worst_rows import WorstRows

NUMBERS = ("regression", "count")
"Tasks that predict numbers."
INTERVAL = 0.9
"Nominal coverage of the prediction intervals in charts."


@dataclass(frozen=True)
class Score:
    """A score of predictions with its 95% interval; its text shows all three numbers.

    Attributes
    ----------
    name : str
    value : float
    low, high : float
        Ends of the interval that holds 95% of the scores of resampled rows.
    larger_is_better : bool
    meaning : str
        A few words about the score.
    """

    name: str
    value: float
    low: float
    high: float
    larger_is_better: bool = True
    meaning: str = ""

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "undefined"
        least = 1.0 if self.larger_is_better else 0.0  # 1 is perfect: what is far below it is nothing
        size = max(abs(self.value), abs(self.low), abs(self.high), least)
        return f"{shown(self.value, least)} ({shown(self.low, size)} to {shown(self.high, size)})"


def meanings(scores: Sequence[Score], classes: Sequence[Any]) -> list[tuple[str, str]]:
    """What each score means, and which class the second one is, if a score is about that."""
    found = [(score.name, score.meaning) for score in scores]
    is_about = len(classes) == 2 and any("second class" in meaning for _, meaning in found)
    return [*found, ("second class", str(classes[1]))] if is_about else found


@dataclass(frozen=True)
class Dependence:
    """Partial dependence: the mean prediction if a column had the same value in every row.

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
    """The effect of a column on the predictions.

    Attributes
    ----------
    column : str
    importance : float
        Increase of the error when the values of the column are shuffled among the rows.
    spread : float
        Standard deviation of the importance over shuffles.
    dependence : Dependence, optional
    """

    column: str
    importance: float
    spread: float = 0.0
    dependence: Dependence | None = None


@dataclass(frozen=True)
class Effects:
    """Effects of columns, the most important first; ``error`` is the name of the error that increases."""

    error: str
    columns: Sequence[Effect]
    n_columns: int
    n_rows: int


@dataclass
class Findings:
    """The content of a report; parts that are empty have no section.

    Attributes
    ----------
    title : str
    task : {"binary", "multiclass", "multilabel", "regression", "count"}
    facts : mapping of str to str
        Short facts for the top of the page: rows, time, how training ended.
    scores : mapping of str to sequences of Score
        Scores by model, this one first, then the baselines; the same scores for each.
    targets : sequence of str
        The target columns.
    classes : sequence
        Classes or labels; none for numbers.
    truth : array, optional
        Targets of the test set: numbers of classes (n,), labels (n, k), or numbers (n, k).
    prediction : array, optional
        Predictions of the test set: probabilities (n, classes) or (n, labels), or numbers (n, k).
    covered : array of bool, optional
        For numbers, whether each prediction interval of coverage :data:`INTERVAL` contains the target, (n, k).
    search : SearchSummary, optional
        The hyperparameter search that found the model.
    diagnosis : Diagnosis, optional
        What the doctor found about the training.
    history : History, optional
        Learning curves, and statistics of layers.
    model : Model, optional
        The net, to draw it and its first weights.
    inputs : sequence of str
        Names of the inputs of the first linear layer, if known.
    effects : Effects, optional
    worst : WorstRows, optional
        The rows of the test set with the largest errors.
    data : TableSummary, optional
        Distributions, missing values and correlations.
    columns : sequence of (name, role, reason)
        How the columns of the training table are used.
    assumptions, warnings : sequences of str
        About the data.
    advice : sequence of (text, options)
        What to try next.
    usage : sequence of str
        Commands and code that use the model.
    config : str
        The settings that train the same model again.
    made : str
        Date and versions.
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
    search: SearchSummary | None = None
    diagnosis: Diagnosis | None = None
    history: History | None = None
    model: Model | None = None
    inputs: Sequence[str] = ()
    effects: Effects | None = None
    worst: WorstRows | None = None
    data: TableSummary | None = None
    columns: Sequence[tuple[str, str, str]] = ()
    assumptions: Sequence[str] = ()
    warnings: Sequence[str] = ()
    advice: Sequence[tuple[str, str]] = ()
    usage: Sequence[str] = ()
    config: str = ""
    made: str = ""
