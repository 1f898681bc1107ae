"""Columns that give the target away."""

from __future__ import annotations

import numpy as np

from madaline.data.column import Column

FEWEST_ROWS = 10
"With fewer rows a column may agree with the target by chance."


def leak_in(column: Column, y: Column) -> str | None:
    """Why a column gives the target away, or None if it does not.

    Examples
    --------
    >>> celsius, fahrenheit = np.arange(20.0), 32.0 + 1.8 * np.arange(20.0)
    >>> leak_in(Column("f", "number", fahrenheit), Column("c", "number", celsius))
    'the target in other units: one is a linear function of the other'
    """
    if len(column) < FEWEST_ROWS or len(column) != len(y):
        return None
    if column.kind in ("number", "boolean") and y.kind in ("number", "boolean"):
        x, t = column.values, y.values
        if x[0] == t[0] and np.array_equal(x, t):
            return "equal to the target in every row"
        some = slice(None, 1000)
        if _is_line(x[some], t[some]) and _is_line(x, t):
            return "the target in other units: one is a linear function of the other"
        return None
    if {column.kind, y.kind} <= {"text", "category", "boolean", "number"}:
        return _renamed(column, y)
    return None


def _renamed(column: Column, y: Column) -> str | None:
    x, t = column.texts(), y.texts()
    if set(x.present()) == set(t.present()) and x == t:
        return "equal to the target in every row"
    n_distinct = len(np.unique(x.codes))  # missing values count as one more
    # If nearly all values differ, as names do, each goes with one value of the target anyway.
    if not 1 < n_distinct <= len(x) // 2 or n_distinct != len(np.unique(t.codes)):
        return None
    pairs = np.unique((x.codes + 1) * (len(t.distinct) + 1) + t.codes + 1)
    if len(pairs) == n_distinct:
        return "the target under other names: each of its values occurs with one value of the target only"
    return None


def _is_line(x: np.ndarray, t: np.ndarray) -> bool:
    """Whether one is a linear function of the other, up to rounding."""
    x, t = x.astype(np.float64), t.astype(np.float64)
    with np.errstate(all="ignore"):
        x, t = x - x.mean(), t - t.mean()
        both, own = (x * t).sum(), (x * x).sum() * (t * t).sum()
        return bool(own > 0 and np.isfinite(own) and both * both > own * (1.0 - 1e-12))
