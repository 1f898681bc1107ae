"""Several training runs side by side, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from madaline.report.findings import Score
from madaline.train.history import History

UNKNOWN = "unknown"


@dataclass(frozen=True)
class ComparedRun:
    """A run, or a model that was saved from Python.

    Attributes
    ----------
    name : str
        The path, as the user typed it.
    task : str
    targets : tuple of str
    source : str
        The training table; empty if unknown.
    rows : mapping of str to int
        Number of rows of the "train", "validation" and "test" sets, as far as they are known.
    split : str
        How rows were split, and the random seed; empty if unknown.
    test_rows : str
        A fingerprint of the test set; empty if unknown.
    scores : sequence of Score
        Scores on the test set; none if unknown.
    epochs : int
    seconds : float, optional
        Time of the whole run.
    n_params : int
        Number of parameters of the net.
    parameters : mapping
        The hyperparameters that were used.
    history : History, optional
    """

    name: str
    task: str
    targets: tuple[str, ...]
    source: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)
    split: str = ""
    test_rows: str = ""
    scores: Sequence[Score] = ()
    epochs: int = 0
    seconds: float | None = None
    n_params: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    history: History | None = None

    def score(self, name: str) -> Score | None:
        """The score of this name."""
        return next((score for score in self.scores if score.name == name), None)


def table_of(runs: Sequence[ComparedRun]) -> list[tuple[str, ...]]:
    """A row for each fact, with one text for each run: what it is, scores, then parameters that differ."""
    facts: list[tuple[str, Callable[[ComparedRun], str]]] = [
        ("task", lambda run: run.task),
        ("target", lambda run: ", ".join(run.targets)),
        ("table", lambda run: run.source or UNKNOWN),
        ("split", lambda run: run.split or UNKNOWN),
        ("training rows", lambda run: _count(run.rows.get("train"))),
        ("test rows", lambda run: _count(run.rows.get("test"))),
    ]
    rows = [(name, *(fact(run) for run in runs)) for name, fact in facts]
    rows += [(name, *(_score(run.score(name)) for run in runs)) for name in score_names(runs)]
    rows.append(("epochs", *(f"{run.epochs:,}" for run in runs)))
    rows.append(("seconds", *("" if run.seconds is None else f"{run.seconds:,.1f}" for run in runs)))
    rows.append(("net parameters", *(f"{run.n_params:,}" for run in runs)))
    return rows + [
        (name, *(_parameter(run.parameters[name]) if name in run.parameters else "" for run in runs))
        for name in differing(runs)
    ]


def score_names(runs: Sequence[ComparedRun]) -> list[str]:
    """Names of the scores that some run has."""
    return list(dict.fromkeys(score.name for run in runs for score in run.scores))


def differing(runs: Sequence[ComparedRun]) -> list[str]:
    """Names of the hyperparameters that are not the same in all runs."""
    names = dict.fromkeys(name for run in runs for name in run.parameters)
    return [name for name in names if len({_parameter(run.parameters.get(name)) for run in runs}) > 1]


def best(runs: Sequence[ComparedRun], name: str) -> list[int]:
    """Indices of the runs with the best value of a score, if several runs have it."""
    found = {place: score for place, run in enumerate(runs) if (score := run.score(name)) is not None}
    values = {place: score.value for place, score in found.items() if score.value == score.value}
    if len(values) < 2:
        return []
    larger = getattr(next(iter(found.values())), "larger_is_better", True)
    target = max(values.values()) if larger else min(values.values())
    return [place for place, value in values.items() if value == target]


def warnings_of(runs: Sequence[ComparedRun]) -> list[str]:
    """Reasons why the scores of the runs cannot be compared."""
    found = []
    for what, values in (("tasks", [run.task for run in runs]), ("targets", [", ".join(run.targets) for run in runs])):
        if len(set(values)) > 1:
            listed = "; ".join(f"{run.name}: {value}" for run, value in zip(runs, values, strict=True))
            found.append(f"The runs have different {what} ({listed}), so their scores cannot be compared.")
    without = [run.name for run in runs if not run.scores]
    if without:
        found.append(
            f"{', '.join(without)}: there are no scores on a test set, since the model was not trained with madaline "
            "train. Score all models on one table with madaline evaluate."
        )
    tested = [run for run in runs if run.scores]
    if len(tested) > 1 and (reasons := _different_tests(tested)):
        found.append(
            f"The runs were tested on different rows ({', '.join(reasons)}), so differences of their scores may come "
            "from the rows. Score all models on one table that none was trained on with madaline evaluate, or train "
            "again with the same table, --split, --test and --seed."
        )
    return found


def _different_tests(runs: Sequence[ComparedRun]) -> list[str]:
    """How the test sets differ; nothing if they are the same rows."""
    prints = {run.test_rows for run in runs}
    if len(prints) == 1 and "" not in prints:
        return []
    reasons = [
        f"different {what}"
        for what, values in (
            ("tables", {run.source for run in runs}),
            ("splits", {run.split for run in runs}),
            ("numbers of test rows", {run.rows.get("test") for run in runs}),
        )
        if len(values) > 1
    ]
    return reasons or (["different contents"] if "" not in prints else [])


def _count(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _score(score: Score | None) -> str:
    return "" if score is None else str(score)


def _parameter(value: Any) -> str:
    """A hyperparameter as a text; lists from files and tuples are the same."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_parameter, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
