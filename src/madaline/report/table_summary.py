"""What the rows of a table look like: distributions, missing values and correlations, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.data.column import Column
from madaline.data.table import Table
from madaline.report.correlation import Correlation, correlate
from madaline.report.findings import NUMBERS

MOST_COLUMNS = 24
"Columns whose distribution is shown."
MOST_GROUPS = 6
"Classes by which counts are split; with more classes they are not split."
MOST_CATEGORIES, MOST_CLASSES = 10, 30
MOST_BARS, MOST_PLACES = 40, 100
"Different whole numbers that have a bar each, and the range of them in bars; others are binned."
N_BINS = 30
TAILS, LONG_TAIL = (0.01, 0.99), 2.0
"If the range of a column is this many times the range between these quantiles, the histogram shows only the latter."
MISSING = "(missing)"
CORRELATED_COLUMNS, CORRELATED_ROWS = 1000, 5000
"Columns and rows of a larger table from which correlations are computed."


@dataclass(frozen=True)
class Distribution:
    """How often the values of a column occur.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "category"}
    values : array
        Centres of the bins, or categories as texts.
    counts : array of int of shape (n_values, n_groups)
        Rows of each value, split by class if there are groups.
    width : float
        Width of a bin, in the units of the column; in days for dates. 0 for categories.
    n_missing : int
        Rows without a value.
    n_other : int
        Rows with values that are not shown: beyond the ends of the histogram, or in rarer categories.
    """

    name: str
    kind: str
    values: np.ndarray
    counts: np.ndarray
    width: float = 0.0
    n_missing: int = 0
    n_other: int = 0


@dataclass(frozen=True)
class TableSummary:
    """A summary of rows.

    Attributes
    ----------
    rows : str
        Which rows these are: "training set" or "test set".
    n_rows, n_columns : int
    groups : sequence of str
        Classes by which counts are split; none if they are not.
    targets : sequence of Distribution
        Of the target columns; for several labels, one distribution of the rows that have each label.
    columns : sequence of Distribution
        Of feature columns, the most important first.
    missing : mapping of str to int
        Number of missing values of the columns that have some.
    correlation : Correlation, optional
        Of number columns.
    """

    rows: str
    n_rows: int
    n_columns: int
    groups: Sequence[str]
    targets: Sequence[Distribution]
    columns: Sequence[Distribution]
    missing: Mapping[str, int]
    correlation: Correlation | None = None


def summarize(
    table: Table,
    truth: np.ndarray,
    *,
    task: str,
    classes: Sequence[object] = (),
    targets: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    n_columns: int | None = None,
    rows: str = "training set",
) -> TableSummary:
    """Summarize the columns and the target of a table.

    Parameters
    ----------
    table : Table
        Feature columns.
    truth : array
        Targets: numbers of classes (n,), labels (n, k), or numbers (n, k).
    task : str
    classes : sequence
        Classes or labels.
    targets : sequence of str
        Names of the targets.
    kinds : mapping of str to str, optional
        What columns are used as ("number", "date", "category"), the most important first; others are left out. By
        default all columns, as the table has them.
    n_columns : int, optional
        Number of feature columns, if the table has only the most important ones of them.
    rows : str
        Which rows these are.
    """
    kinds = kinds_of(table) if kinds is None else kinds
    names = [str(name) for name in classes]
    is_split = task in ("binary", "multiclass") and 1 < len(names) <= MOST_GROUPS
    groups = truth if is_split else np.zeros(table.n_rows, dtype=int)
    n_groups = len(names) if is_split else 1
    shown = list(kinds)[:MOST_COLUMNS]
    missing = {name: int(table[name].missing().sum()) for name in kinds}
    numeric = [name for name, kind in kinds.items() if kind == "number"]
    sample = np.sort(np.random.default_rng(0).permutation(table.n_rows)[:CORRELATED_ROWS])
    numbers = {name: _numbers(table[name])[sample] for name in numeric[:CORRELATED_COLUMNS]}
    return TableSummary(
        rows,
        table.n_rows,
        len(kinds) if n_columns is None else n_columns,
        names if is_split else (),
        _targets(task, truth, names, targets),
        [_distribution(table[name], kinds[name], groups, n_groups) for name in shown],
        {name: count for name, count in missing.items() if count},
        correlate(numbers, len(numeric), task, truth[sample], names, targets),
    )


def kinds_of(table: Table) -> dict[str, str]:
    """What the columns of a table are shown as ("number", "date", "category"); columns of other things are left out."""
    kinds = {"number": "number", "date": "date", "boolean": "category", "text": "category", "category": "category"}
    return {column.name: kinds[column.kind] for column in table if column.kind in kinds}


def _numbers(column: Column) -> np.ndarray:
    values = np.asarray(column.numbers(), np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _targets(task: str, truth: np.ndarray, classes: Sequence[str], names: Sequence[str]) -> list[Distribution]:
    if task == "multilabel":
        counts = (truth > 0.5).sum(axis=0)
        return [_most_frequent("labels", classes, counts, 0)]
    if task in NUMBERS:
        one = np.zeros(len(truth), dtype=int)
        called = [names[k] if k < len(names) else f"target {k + 1}" for k in range(truth.shape[1])]
        return [_histogram(name, truth[:, k].astype(float), one, 1) for k, name in enumerate(called)]
    counts = np.bincount(truth, minlength=len(classes))
    return [_most_frequent(names[0] if names else "target", classes, counts, 0)]


def _most_frequent(name: str, values: Sequence[str], counts: np.ndarray, n_missing: int) -> Distribution:
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    texts = np.array([values[k] for k in kept], dtype=object)
    return Distribution(
        name, "category", texts, counts[kept][:, None], 0.0, n_missing, int(counts.sum() - counts[kept].sum())
    )


def _distribution(column: Column, kind: str, groups: np.ndarray, n_groups: int) -> Distribution:
    if kind == "number":
        return _histogram(column.name, _numbers(column), groups, n_groups)
    if kind == "date":
        days = column.dates().astype("datetime64[s]")
        seconds = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
        found = _histogram(column.name, seconds / 86_400.0, groups, n_groups, whole=False)
        dates = np.round(found.values * 86_400.0).astype(np.int64).astype("datetime64[s]")
        return Distribution(column.name, "date", dates, found.counts, found.width, found.n_missing, found.n_other)
    return _categories(column, groups, n_groups)


def _categories(column: Column, groups: np.ndarray, n_groups: int) -> Distribution:
    texts = column.texts()
    order = np.argsort(-texts.counts(), kind="stable")[:MOST_CATEGORIES]
    names = [texts.distinct[place] for place in order if texts.counts()[place]]
    codes = column.codes(tuple(names))
    n_missing = texts.n_missing
    counts = np.array([_counts(groups[codes == place], n_groups) for place in range(len(names))])
    counts = counts.reshape(len(names), n_groups)
    if n_missing:
        names.append(MISSING)
        counts = np.vstack([counts, _counts(groups[texts.codes < 0], n_groups)])
    n_other = int(len(texts) - counts.sum())
    return Distribution(column.name, "category", np.array(names, dtype=object), counts, 0.0, n_missing, n_other)


def _histogram(name: str, x: np.ndarray, groups: np.ndarray, n_groups: int, *, whole: bool = True) -> Distribution:
    known = np.isfinite(x)
    values, groups = x[known], groups[known]
    n_missing = int(len(x) - len(values))
    different = np.unique(values)
    is_whole = whole and bool((different == np.round(different)).all())
    has_room = len(different) < 2 or different[-1] - different[0] <= MOST_PLACES * _distance(different)
    if is_whole and len(different) <= MOST_BARS and has_room:
        counts = np.array([_counts(groups[values == each], n_groups) for each in different]).reshape(-1, n_groups)
        return Distribution(name, "number", different, counts, _distance(different), n_missing)
    low, high = different[[0, -1]]
    inner = np.quantile(values, TAILS)
    if high - low > LONG_TAIL * (inner[1] - inner[0]) > 0.0:
        low, high = inner
    n_bins = min(N_BINS, max(5, int(np.sqrt(len(values)))))
    edges = _whole_edges(low, high, n_bins) if is_whole else _edges(float(low), float(high), n_bins)
    counts = np.array([np.histogram(values[groups == k], edges)[0] for k in range(n_groups)]).T
    centres = (edges[1:] + edges[:-1]) / 2.0
    return Distribution(
        name, "number", centres, counts, float(edges[1] - edges[0]), n_missing, int(len(values) - counts.sum())
    )


def _whole_edges(low: float, high: float, n_bins: int) -> np.ndarray:
    """Edges between whole numbers, so that every bin has equally many of them."""
    low, high = np.floor(low), np.ceil(high)
    width = np.ceil((high - low + 1.0) / n_bins)
    edges: np.ndarray = low - 0.5 + width * np.arange(np.ceil((high - low + 1.0) / width) + 1.0)
    return edges


def _edges(low: float, high: float, n_bins: int) -> np.ndarray:
    """Edges of bins; all values that are equal, or too close to tell apart, are in the middle one."""
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        half = 0.5 * max(abs(low), 1e-300)
        low, high = low - half, high + half
    edges: np.ndarray = np.linspace(low, high, n_bins + 1)
    return edges


def _distance(different: np.ndarray) -> float:
    """The smallest distance of whole numbers, which is the width of their bars."""
    return float(np.diff(different).min()) if len(different) > 1 else 1.0


def _counts(codes: Any, n_groups: int) -> np.ndarray:
    return np.bincount(codes, minlength=n_groups)
