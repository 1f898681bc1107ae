"""What is to be learned: told from the values of the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.data.column import TRUTH, Column
from madaline.data.roles import reads_as
from madaline.data.series import column_of
from madaline.data.table import Table
from madaline.errors import TargetError

TASKS = ("binary", "multiclass", "multilabel", "regression", "count")
"What can be learned. A count is a regression whose target is a number of things: 0, 1, 2 ..."
MANY = 10
"Whole numbers with more different values, or each in one row, are quantities; with fewer they are taken for classes."

FEW, SHORT = 5, 60
"Classes that are listed, and characters of the list."


def is_matrix(y: Any) -> bool:
    """Whether a target has an axis of columns, be it of one."""
    shape = getattr(y, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) > 1
    return isinstance(y, Sequence) and len(y) > 0 and isinstance(y[0], (list, tuple, np.ndarray))


def columns_of(y: Any) -> list[Column]:
    """The columns of a target."""
    return list(Table.of(y)) if is_matrix(y) or isinstance(y, dict) else [column_of("y", y)]


def the_column(columns: list[Column], task: str) -> Column:
    """The one column of a target."""
    if len(columns) > 1:
        raise TargetError(f"task={task!r} needs a target of one column, and it has {len(columns)}.")
    return columns[0]


def matrix_of(columns: list[Column]) -> np.ndarray:
    """Columns of numbers as one matrix; an error that names the row of one that is none."""
    for column in columns:
        if column.kind in ("text", "category"):
            import polars as pl

            wrong = column.values.str.strip_chars().cast(pl.Float64, strict=False).is_null().arg_true()
            if len(wrong):
                shown = column.values[int(wrong[0])]
                raise TargetError(
                    f"Row {wrong[0]} of the target is {shown!r}, and numbers are needed. Choose another task or target."
                )
    matrix = np.stack([column.numbers().astype(np.float64) for column in columns], axis=1)
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        row, place = wrong[0]
        raise TargetError(f"Row {row} of the target is {matrix[row, place]}. Correct it, or drop the row.")
    return matrix


def check_no_gaps(column: Column) -> None:
    """An error that names the rows where the target is missing."""
    rows = np.flatnonzero(column.missing()) if column.kind != "other" else ()
    if len(rows):
        shown = ", ".join(map(str, rows[:5])) + (" ..." if len(rows) > 5 else "")
        raise TargetError(f"The target has {len(rows)} missing values, in rows {shown}. Drop those rows.")


def classes_of(column: Column) -> tuple[Any, ...]:
    """What differs, in order: whole numbers as int, text as str."""
    if column.kind in ("number", "boolean"):
        values = np.unique(column.values)
        whole = values.dtype.kind == "f" and bool(((values == np.floor(values)) & (np.abs(values) < 2**53)).all())
        return tuple((values.astype(np.int64) if whole else values).tolist())
    return tuple(column.texts().unique().sort().to_list())


def _reads_as(column: Column) -> str | None:
    return reads_as(column, column.values) if column.kind == "text" else None


def _truth_words(column: Column) -> set[str]:
    """The values of a column that says for each row whether something is so, in small letters; none of another."""
    if column.kind == "boolean":
        return {"true", "false"}
    if column.kind == "number":
        return {"0", "1"} if not set(np.unique(column.values)) - {0, 1} else set()
    if column.kind not in ("text", "category"):
        return set()
    words = set(column.values.drop_nulls().unique().str.strip_chars().str.to_lowercase())
    return set() if words - TRUTH.keys() else words


def _listed(column: Column) -> str:
    """The classes, where they are few and short."""
    shown = ", ".join(map(str, classes_of(column))) if column.kind != "other" else ""
    return f": {shown}" if shown.count(", ") < FEW and len(shown) <= SHORT else ""


def infer_task(columns: list[Column]) -> tuple[str, str]:
    """What the values look like, and why."""
    if len(columns) > 1:
        words = {word for c in columns for word in _truth_words(c)}
        if all(_truth_words(c) for c in columns):
            kind = "yes and no, learned as 1 and 0" if words & {"yes", "no"} else "0 and 1"
            return "multilabel", f"{len(columns)} columns of {kind}"
        for c in columns:
            if c.kind in ("date", "other") or (c.kind in ("text", "category") and _reads_as(c) != "number"):
                raise TargetError(
                    f"Several targets must all be numbers, or all be 0 and 1, true and false, yes and no; {c.name!r} "
                    "is not. Learn it by itself."
                )
        return "regression", f"{len(columns)} columns of numbers"
    column = columns[0]
    if column.kind == "text" and _reads_as(column) == "number":
        column = Column(column.name, "number", column.numbers())
    if column.kind == "date":
        raise TargetError("The target holds dates. Give numbers, as the days from one date to another.")
    if column.kind == "other":
        raise TargetError(f"The target holds {next(iter(column.values))}, which cannot be learned.")
    n_different = len(np.unique(column.values)) if column.kind == "number" else column.texts().n_unique()
    if column.kind != "number" and n_different == len(column) >= MANY:
        raise TargetError(
            f"The target has a different text in each of its {n_different:,} rows, as names have: nothing repeats that "
            "could be learned. Choose another column."
        )
    if column.kind != "number":
        return "binary" if n_different == 2 else "multiclass", f"{n_different:,} different values{_listed(column)}"
    whole = bool((column.values == np.floor(column.values)).all())
    if whole and (n_different <= 2 or n_different <= min(MANY, len(column) // 2)):
        return "binary" if n_different == 2 else "multiclass", f"{n_different} different whole numbers{_listed(column)}"
    if whole and column.values.min() >= 0 and (column.values == 0).any():
        return "count", f"whole numbers from 0 to {column.values.max():g}"
    return "regression", f"numbers from {column.values.min():g} to {column.values.max():g}"
