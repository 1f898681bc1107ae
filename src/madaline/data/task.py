"""The task, inferred from the values of the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.data.column import TRUTH, Column
from madaline.data.counts import is_count
from madaline.data.roles import is_whole
from madaline.data.series import column_of
from madaline.data.table import Table
from madaline.data.text_kind import text_kind
from madaline.data.texts import number_text, numbers_in
from madaline.errors import TargetError

TASKS = ("binary", "multiclass", "multilabel", "regression", "count")
"Kinds of tasks. A count is a regression whose target is a number of things: 0, 1, 2 ..."
TASK_NAMES = {
    "binary": "binary classification",
    "multiclass": "classification",
    "multilabel": "multilabel classification",
    "regression": "regression",
    "count": "count regression",
}
"What tasks are called in texts."
MANY = 10
"Integers with more distinct values, or with a different one in each row, are quantities; others are classes."

FEW, SHORT = 5, 60
"Number of classes that a message lists, and of characters in the list."


def is_matrix(y: Any) -> bool:
    """Whether a target has an axis of columns, even if it has only one column."""
    shape = getattr(y, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) > 1
    return isinstance(y, Sequence) and len(y) > 0 and isinstance(y[0], (list, tuple, np.ndarray))


def columns_of(y: Any) -> list[Column]:
    """The columns of a target. A series keeps its name."""
    if is_matrix(y) or isinstance(y, dict):
        return list(Table.of(y))
    name = getattr(y, "name", None)
    return [column_of(name if isinstance(name, str) else "y", y)]


def the_column(columns: list[Column], task: str) -> Column:
    """The column of a target that must have only one."""
    if len(columns) > 1:
        raise TargetError(f"task={task!r} needs a target with one column, but it has {len(columns)}.")
    return columns[0]


def matrix_of(columns: list[Column]) -> np.ndarray:
    """Columns of numbers as one matrix; an error names the row of a value that is not a finite number."""
    for column in columns:
        if column.is_text:
            is_read = column.values.spread(numbers_in(column.values.distinct)[1], missing=False)
            if not is_read.all():
                row = int(np.flatnonzero(~is_read)[0])
                raise TargetError(
                    f"Row {row} of the target is {column.values[row]!r}, but numbers are needed. Choose another task "
                    "or target."
                )
    matrix = np.stack([column.numbers().astype(np.float64) for column in columns], axis=1)
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        row, place = wrong[0]
        raise TargetError(f"Row {row} of the target is {matrix[row, place]}. Correct it, or drop the row.")
    return matrix


def check_no_gaps(column: Column) -> None:
    """Raise an error that names the rows in which the target is missing."""
    rows = np.flatnonzero(column.missing()) if column.kind != "other" else ()
    if len(rows):
        shown = ", ".join(map(str, rows[:5])) + (" ..." if len(rows) > 5 else "")
        raise TargetError(f"The target has {len(rows)} missing values, in rows {shown}. Drop those rows.")


def classes_of(column: Column) -> tuple[Any, ...]:
    """The distinct values in order: whole numbers as int, text as str."""
    if column.kind in ("number", "boolean"):
        values = np.unique(column.values)
        whole = values.dtype.kind == "f" and is_whole(values) and bool((np.abs(values) < 2**53).all())
        if whole or values.dtype != np.float32:
            return tuple((values.astype(np.int64) if whole else values).tolist())
        return tuple(float(str(value)) for value in values)  # 0.1, not 0.10000000149011612
    return tuple(sorted(column.texts().present()))


def _is_numeric_text(column: Column) -> bool:
    return column.kind == "text" and text_kind(column.values).kind == "number"


def _truth_words(column: Column) -> set[str]:
    """The values of a column of true and false, in lower case; empty for another column."""
    if column.kind == "boolean":
        return {"true", "false"}
    if column.kind == "number":
        return {"0", "1"} if not set(np.unique(column.values)) - {0, 1} else set()
    if not column.is_text:
        return set()
    words = {text.strip().lower() for text in column.values.present()}
    return set() if words - TRUTH.keys() else words


def _listed(column: Column) -> str:
    """The classes, if they are few and short."""
    shown = ", ".join(map(str, classes_of(column))) if column.kind != "other" else ""
    return f": {shown}" if shown.count(", ") < FEW and len(shown) <= SHORT else ""


def infer_task(columns: list[Column]) -> tuple[str, str]:
    """The task that fits the values of a target, and why.

    Text and few distinct integers are classes; other numbers are quantities. Those that pass
    :func:`~madaline.data.counts.is_count` are counts, all others regression.
    """
    if len(columns) > 1:
        return _task_of_several(columns)
    column = columns[0]
    if _is_numeric_text(column):
        column = Column(column.name, "number", column.numbers())
    if column.kind == "date":
        raise TargetError("The target holds dates. Give numbers, for example the number of days since a date.")
    if column.kind == "other":
        raise TargetError(f"The target holds {next(iter(column.values))}, which cannot be learned.")
    n_distinct = len(np.unique(column.values)) if column.kind == "number" else len(column.texts().present())
    if column.kind != "number" and n_distinct == len(column) >= MANY:
        raise TargetError(
            f"The target has a different text in each of its {n_distinct:,} rows, like a column of names: nothing "
            "repeats, so nothing can be learned. Choose another column."
        )
    if column.kind != "number":
        return "binary" if n_distinct == 2 else "multiclass", f"{n_distinct:,} different values{_listed(column)}"
    values = column.values.astype(np.float64)
    whole = is_whole(values)
    if whole and is_count(values, column.name, few=MANY):
        why = "distributed like numbers of things: predicted by a Poisson regression"
        return "count", f"whole numbers from {number_text(values.min())} to {number_text(values.max())}, {why}"
    if whole and (n_distinct <= 2 or n_distinct <= min(MANY, len(column) // 2)):
        return "binary" if n_distinct == 2 else "multiclass", f"{n_distinct} different whole numbers{_listed(column)}"
    return "regression", f"numbers from {number_text(values.min())} to {number_text(values.max())}"


def _task_of_several(columns: list[Column]) -> tuple[str, str]:
    words = {word for column in columns for word in _truth_words(column)}
    if all(_truth_words(column) for column in columns):
        kind = "yes and no, learned as 1 and 0" if words & {"yes", "no"} else "0 and 1"
        return "multilabel", f"{len(columns)} columns of {kind}"
    for column in columns:
        if column.kind in ("date", "other") or (column.is_text and not _is_numeric_text(column)):
            raise TargetError(
                f"Several targets must all be numbers, or all be 0 and 1, true and false, yes and no; {column.name!r} "
                "is not. Train a separate model for it."
            )
    return "regression", f"{len(columns)} columns of numbers"
