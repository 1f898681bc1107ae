"""The columns of a table or matrix, with the values that partial dependence tries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np

from madaline.data.categories import Embedded
from madaline.data.encode import NUMBERS, TablePlan
from madaline.data.plans import ColumnPlan, Dropped, Flag, Moment, Number
from madaline.data.table import Table
from madaline.report.effects import Feature

N_VALUES = 24
"Values that are tried for a number column."
N_CATEGORIES = 12
"Categories that are tried: the most frequent ones."
EDGES = (0.02, 0.98)
"Quantiles between which numbers are tried: there are few training rows beyond them."


def table_features(plan: TablePlan, table: Any) -> list[Feature]:
    """The columns that a plan uses, with values from this table to try."""
    table = Table.of(table)
    names = [each.column for each in plan.columns] if plan.has_names and table.has_names else list(table.names)
    inputs = plan.inputs()
    found, place = [], 0
    for name, column in zip(names, plan.columns, strict=True):
        width = len(column.features())
        if not width and not isinstance(column, Embedded):
            continue
        values = _values(column, table, name)
        alone = TablePlan((column,))
        encoded = alone.encode({column.column: values}) if len(values) else {}
        arrays = next(iter(encoded.values()), np.empty(0))
        if width:
            found.append(Feature(column.column, NUMBERS, slice(place, place + width), values, arrays))
        else:
            found.append(Feature(column.column, inputs[column.column], None, values, arrays))
        place += width
    return found


def column_kinds(plan: TablePlan, table: Table) -> dict[str, str]:
    """What the used columns of a table are used as ("number", "date", "category"), by their names in the table."""
    names = [each.column for each in plan.columns] if plan.has_names and table.has_names else table.names
    kinds = {Number: "number", Moment: "date"}
    return {
        name: kinds.get(type(column), "category")
        for name, column in zip(names, plan.columns, strict=True)
        if not isinstance(column, Dropped)
    }


def matrix_features(X: np.ndarray, names: Sequence[str], *, name: str = NUMBERS) -> list[Feature]:
    """The columns of a matrix of numbers."""
    found = []
    for place, column in enumerate(names):
        values = _grid(X[:, place])
        found.append(Feature(column, name, slice(place, place + 1), values, values[:, None].astype(X.dtype)))
    return found


def series_feature(name: str, values: Sequence[Any]) -> Feature:
    """A column whose values are tried as they are in the table."""
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124 - NaN is not itself
    is_date = bool(known) and all(isinstance(value, date) for value in known)
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known)
    if is_date or is_number:
        found = sorted(set(known))
        if len(found) > N_VALUES:
            low, high = (edge * (len(found) - 1) for edge in EDGES)
            found = [found[place] for place in np.linspace(low, high, N_VALUES).astype(int)]
        shown = np.array(found, dtype="datetime64[s]" if is_date else np.float64)
    else:
        found = sorted((value for value, _ in Counter(known).most_common(N_CATEGORIES)), key=str)
        shown = np.array([str(value) for value in found], dtype=object)
    return Feature(str(name), name, None, shown, objects(found))


def objects(values: Sequence[Any]) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def input_names(plan: TablePlan) -> list[str]:
    """Names of the inputs of the first linear layer of a net that begins with :meth:`TablePlan.front`, in order."""
    added = [
        f"{p.column} {what} {k + 1}"
        for what, count in (("bin", plan.bins), ("wave", plan.waves))
        for p in plan.columns
        if isinstance(p, Number)
        for k in range(count)
    ]
    vectors = [f"{p.column} [{k + 1}]" for p in plan.columns if isinstance(p, Embedded) for k in range(p.width)]
    return [*plan.features(), *added, *vectors]


def _values(plan: ColumnPlan, table: Table, name: str) -> np.ndarray:
    """Values of a column to try, as they are in the table."""
    column = table[name]
    if isinstance(plan, Number):
        return _grid(np.asarray(column.numbers(), np.float64))
    if isinstance(plan, Flag):
        return np.array([False, True])
    if isinstance(plan, Moment):
        dates = plan.read(column)
        known = np.sort(dates[~np.isnat(dates)])
        return np.unique(known[np.linspace(0, len(known) - 1, N_VALUES).astype(int)]) if len(known) else known
    return np.sort(np.array(column.texts().most_common(N_CATEGORIES), dtype=object))


def _grid(values: np.ndarray) -> np.ndarray:
    """Numbers at equal distances, or all different numbers if they are few."""
    known = values[np.isfinite(values)]
    different = np.unique(known)
    if len(different) <= N_VALUES:
        return different
    low, high = np.quantile(known, EDGES)
    return np.unique(np.linspace(low, high, N_VALUES))
