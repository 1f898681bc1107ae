"""From a column's role and its values to its plan."""

from __future__ import annotations

import math

import numpy as np

from madaline.data.calendar import LINEAR, PARTS, part
from madaline.data.categories import Embedded, OneHot
from madaline.data.column import Column
from madaline.data.plans import ColumnPlan, Dropped, Flag, Moment, Number
from madaline.data.roles import MIN_COUNT, Role
from madaline.data.scale import centre_and_scale
from madaline.data.table import Table
from madaline.errors import InputError


def fit_column(
    table: Table, role: Role, *, scaling: str = "robust", clip: bool = True, one_hot: int = 8, embedding: int = 8
) -> ColumnPlan:
    """The plan of one column; parameters as of :meth:`TablePlan.fit`."""
    if role.role == "number":
        return _number(table[role.column], role.reason, scaling, clip=clip)
    if role.role == "boolean":
        return Flag(role.column, reason=role.reason)
    if role.role == "date":
        return _moment(table[role.column], role.reason)
    if role.role == "category":
        return _category(table[role.column], role.reason, one_hot, embedding)
    return Dropped(role.column, why=role.role, reason=role.reason)


def _number(column: Column, reason: str, scaling: str, *, clip: bool) -> ColumnPlan:
    x = column.numbers().astype(np.float64, copy=False)
    missing = np.isnan(x)
    given = x[~missing] if missing.any() else x
    if not len(given):
        return Dropped(column.name, why="constant", reason="no value in any row")
    if np.isinf(given).any():
        row = int(np.flatnonzero(np.isinf(x))[0])
        raise InputError(
            f"Column {column.name!r}: row {column.row(row)} holds {x[row]}. Correct the value or leave it empty."
        )
    centre, scale = centre_and_scale(given, scaling)
    return Number(
        column.name,
        reason=reason,
        centre=float(centre),
        scale=float(scale),
        fill=float(centre if scaling == "robust" else np.median(given)),
        clip=clip,
        has_gaps=bool(missing.any()),
    )


def _category(column: Column, reason: str, one_hot: int, embedding: int) -> ColumnPlan:
    texts = column.texts()
    counts = texts.drop_nulls().value_counts()
    every = counts[counts.columns[0]]
    frequent = every.filter(counts["count"] >= MIN_COUNT)
    kept = frequent if len(frequent) >= 2 else every
    categories = tuple(kept.sort().to_list())
    has_other, has_missing = len(kept) < len(every), texts.null_count() > 0
    if len(categories) <= one_hot:
        return OneHot(column.name, reason=reason, categories=categories, has_other=has_other, has_missing=has_missing)
    width = min(embedding, math.ceil(len(categories) / 2))
    return Embedded(column.name, reason=reason, categories=categories, width=width)


def _moment(column: Column, reason: str) -> ColumnPlan:
    dates = column.dates()
    missing = np.isnat(dates)
    given = dates[~missing]
    found = []
    for name in PARTS:
        values = part(given, name)
        if (values != values[:1]).any():
            centre, scale = centre_and_scale(values[:, 0], "standard" if name in LINEAR else "none")
            found.append((name, float(centre), float(scale)))
    names, centres, scales = zip(*found, strict=True) if found else ((), (), ())
    return Moment(column.name, reason=reason, parts=names, centres=centres, scales=scales, has_gaps=bool(missing.any()))
