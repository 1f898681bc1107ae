"""The plan of a column, fitted to its values in the training table."""

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
from madaline.data.words import Words, frequent_words
from madaline.errors import InputError


def fit_column(
    table: Table, role: Role, *, scaling: str = "robust", clip: str = "smooth", one_hot: int = 8, embedding: int = 8
) -> ColumnPlan:
    """The plan of one column; see :meth:`TablePlan.fit` for the parameters."""
    if role.role == "number":
        return _number(table[role.column], role.reason, scaling, clip=clip)
    if role.role == "boolean":
        return Flag(role.column, reason=role.reason)
    if role.role == "date":
        return _moment(table[role.column], role)
    if role.role == "text":
        return Words(role.column, reason=role.reason, words=frequent_words(table[role.column].texts().to_list()))
    if role.role == "category":
        return _category(table[role.column], role.reason, one_hot, embedding)
    return Dropped(role.column, why=role.role, reason=role.reason)


def _number(column: Column, reason: str, scaling: str, *, clip: str) -> ColumnPlan:
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
        low=float(given.min()),
        high=float(given.max()),
        is_whole=bool((given == np.floor(given)).all()),
    )


def _category(column: Column, reason: str, one_hot: int, embedding: int) -> ColumnPlan:
    texts = column.texts()
    counts = dict(zip(texts.distinct, texts.counts().tolist(), strict=True))
    every = [text for text, count in counts.items() if count]
    frequent = [text for text in every if counts[text] >= MIN_COUNT]
    categories = tuple(sorted(frequent if len(frequent) >= 2 else every))
    has_other, has_missing = len(categories) < len(every), texts.n_missing > 0
    if len(categories) <= one_hot:
        return OneHot(column.name, reason=reason, categories=categories, has_other=has_other, has_missing=has_missing)
    width = min(embedding, math.ceil(len(categories) / 2))
    return Embedded(column.name, reason=reason, categories=categories, width=width)


def _moment(column: Column, role: Role) -> ColumnPlan:
    dates = column.dates(role.pattern)
    missing = np.isnat(dates)
    given = dates[~missing]
    found = []
    for name in PARTS:
        values = part(given, name)
        if (values != values[:1]).any():
            centre, scale = centre_and_scale(values[:, 0], "standard" if name in LINEAR else "none")
            found.append((name, float(centre), float(scale)))
    names, centres, scales = zip(*found, strict=True) if found else ((), (), ())
    return Moment(
        column.name,
        reason=role.reason,
        pattern=role.pattern,
        parts=names,
        centres=centres,
        scales=scales,
        has_gaps=bool(missing.any()),
    )
