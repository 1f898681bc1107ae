"""What each column is used as, and why: a number, a category, a date, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from madaline.data.column import Column
from madaline.data.date_formats import ORDERS
from madaline.data.dates import check_pattern
from madaline.data.leaks import leak_in
from madaline.data.row_numbers import ID_NAME, counts_rows, why_row_number
from madaline.data.table import Table
from madaline.data.text_kind import TextKind, text_kind
from madaline.data.texts import number_text
from madaline.data.words import is_prose
from madaline.description import short
from madaline.errors import ConfigError

MIN_COUNT = 2
"A category with fewer training rows is counted as rare."
KNOWN_SHARE = 0.5
"If frequent values make up a smaller share of the rows, text identifies rows, and is left out."
FEWEST_TEXTS = 50
"With fewer texts of several words, too few words occur often enough to learn from."
MANY_DATES = 0.5
"If a larger share of the rows are dates, and not all, a warning names one that is not."
LEFT_OUT = ("ignored", "constant", "id", "leak", "unusable")
"Roles of columns that the net does not see."
SET = "set by the user"
LONGEST_NAME, LONGEST_REASON = 40, 100
"Number of characters that a listing shows."

Dates = str | Mapping[str, str] | None


@dataclass(frozen=True)
class Role:
    """What a column is used as.

    Attributes
    ----------
    column : str
    role : str
        One of number, boolean, category, date, text; or, for a column that is left out, one of :data:`LEFT_OUT`.
    reason : str
    pattern : str
        The format of dates that are text.
    warning : str
        What a person should look at, in a sentence.
    """

    column: str
    role: str
    reason: str
    pattern: str = ""
    warning: str = ""

    @property
    def is_left_out(self) -> bool:
        """Whether the net does not see the column."""
        return self.role in LEFT_OUT

    @property
    def use(self) -> str:
        """The role as a listing shows it.

        Examples
        --------
        >>> Role("age", "number", "").use, Role("key", "id", "").use
        ('number', 'left out (id)')
        """
        return f"left out ({self.role})" if self.is_left_out else self.role


def listing(roles: Sequence[Role], most: int) -> str:
    """One line per column with its name, role and reason; after ``most`` of them, the number of others."""
    shown = [(_cut(role.column, LONGEST_NAME), role.use, _cut(role.reason, LONGEST_REASON)) for role in roles[:most]]
    widths = [max((len(row[k]) for row in shown), default=0) for k in (0, 1)]
    lines = [f"{name:{widths[0]}}  {use:{widths[1]}}  {reason}" for name, use, reason in shown]
    return "\n".join([*lines, *([f"and {len(roles) - most:,} more"] if len(roles) > most else [])])


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def infer_roles(
    table: Table,
    y: Column | None = None,
    *,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
    text: Collection[str] = (),
    dates: Dates = None,
) -> tuple[Role, ...]:
    """The role of every column.

    Parameters
    ----------
    table : Table
        The training data without the target.
    y : Column, optional
        The target. A column that gives it away is a leak.
    ignore, categorical, numeric, text : collections of str
        Columns to leave out, and to use as categories, as numbers, and as text of several words.
    dates : {"dmy", "mdy", "ymd"} or dict of str, optional
        The order of day, month and year in text; or formats of columns such as ``{"sold": "%d/%m/%Y"}``.

    Examples
    --------
    >>> for role in infer_roles(Table.of({"id": [1, 2, 3], "age": [31, 18, 31], "city": ["Rome", "Oslo", "Rome"]})):
    ...     print(f"{role.column}: {role.role}, {role.reason}")
    id: id, identifier: integers that are all different
    age: number, 2 different whole numbers
    city: category, 2 different texts
    """
    given = {"ignore": ignore, "categorical": categorical, "numeric": numeric, "text": text}
    for argument, names in given.items():
        if isinstance(names, str):
            raise ConfigError(f"{argument}={names!r} must be a list of columns: [{names!r}].")
        if unknown := [name for name in names if name not in table]:
            raise ConfigError(f"{argument} names the column {unknown[0]!r}. The table has: {', '.join(table.names)}.")
    for one, other in combinations(("categorical", "numeric", "text"), 2):
        if both := sorted(set(given[one]) & set(given[other])):
            raise ConfigError(f"Column {both[0]!r} is listed in {one} and in {other}. List it in one of them only.")
    _check_dates(dates)
    roles = [_role(table, name, y, given, dates) for name in table.names]
    if all(role.is_left_out for role in roles):
        roles = [_kept_counter(role, table) for role in roles]
    return tuple(roles)


def _check_dates(dates: Dates) -> None:
    if isinstance(dates, Mapping):
        for pattern in dates.values():
            check_pattern(pattern)
    elif dates is not None and dates not in ORDERS:
        raise ConfigError(
            f"dates={dates!r} must be one of {', '.join(map(repr, ORDERS))}, or a dict of formats: "
            "{'sold': '%d/%m/%Y'}."
        )


def _kept_counter(role: Role, table: Table) -> Role:
    """The role of a column of a table without any other: what looks like a row number may be the only measurement."""
    column = table[role.column]
    is_counter = role.role == "id" and column.kind == "number" and counts_rows(column.whole.values)
    if not is_counter or ID_NAME.search(role.column):
        return role
    return replace(role, role="number", reason="increases in equal steps, and is the only column")


def _role(table: Table, name: str, y: Column | None, given: Mapping[str, Collection[str]], dates: Dates) -> Role:
    if name in given["ignore"]:
        return Role(name, "ignored", SET)
    column = table[name]
    if column.kind == "other":
        return Role(name, "unusable", f"a net cannot use {next(iter(column.values), 'nothing')}")
    if name in given["categorical"]:
        return Role(name, "category", SET)
    if name in given["numeric"]:
        return Role(name, "number", SET)
    if name in given["text"]:
        return Role(name, "text", SET)
    if y is not None and (leak := leak_in(column, y)):
        return Role(name, "leak", leak, warning=_leak_warning(column, leak))
    if column.is_text:
        return _role_of_text(column, dates)
    missing = column.missing()
    values = column.values[~missing]
    if not len(values):
        return Role(name, "constant", "no value in any row")
    if not missing.any() and (values == values[0]).all():
        shown = number_text(values[0]) if column.kind == "number" else str(values[0])
        return Role(name, "constant", f"{shown} in every row")
    gaps = f", {missing.sum():,} missing" if missing.any() else ""
    if column.kind == "boolean":
        return Role(name, "boolean", f"true and false{gaps}")
    if column.kind == "date":
        span = f"from {values.min().astype('M8[D]')} to {values.max().astype('M8[D]')}{gaps}"
        return Role(name, "date", span, dates.get(name, "") if isinstance(dates, Mapping) else "")
    if not is_whole(values):
        return Role(name, "number", f"from {number_text(values.min())} to {number_text(values.max())}{gaps}")
    whole = column.whole.values
    if not np.isnan(whole.astype(np.float64)).any() and (why := why_row_number(name, whole)):
        return Role(name, "id", why)
    return Role(name, "number", f"{len(np.unique(values)):,} different whole numbers{gaps}")


def _role_of_text(column: Column, dates: Dates) -> Role:
    name, texts = column.name, column.values
    n_missing = texts.n_missing
    n_given = len(texts) - n_missing
    gaps = f", {n_missing:,} missing" if n_missing else ""
    if not n_given:
        return Role(name, "constant", "no value in any row")
    # Rows that are held out from training must be readable too, so all rows of the table decide.
    whole, found = column.whole, TextKind("text")
    if column.kind == "text":
        pattern = dates.get(name, "") if isinstance(dates, Mapping) else ""
        found = text_kind(whole.values, order=dates if isinstance(dates, str) else None, pattern=pattern)
    if found.kind == "number":
        return Role(name, "number", f"text read as numbers{gaps}")
    if found.kind == "date":
        warning = _order_warning(column, found) if found.is_assumed else ""
        return Role(name, "date", f"text read as dates, {found.describe()}{gaps}", found.pattern, warning)
    counts = texts.counts()
    n_distinct = int(np.count_nonzero(counts))
    if n_distinct == 1 and not n_missing:
        return Role(name, "constant", f"{short(texts[0])} in every row")
    mixed, warning = _mixed_dates(whole, found)
    frequent = int(counts[counts >= MIN_COUNT].sum())
    if column.kind == "text" and n_distinct > 2 and frequent < KNOWN_SHARE * n_given:
        if n_given >= FEWEST_TEXTS and is_prose(texts.present()):
            return Role(name, "text", f"{n_distinct:,} different texts of several words{gaps}", "", warning)
        return Role(name, "id", f"text with {n_distinct:,} different values in {n_given:,} rows{mixed}", "", warning)
    return Role(name, "category", f"{n_distinct:,} different texts{gaps}{mixed}", "", warning)


def _mixed_dates(whole: Column, found: TextKind) -> tuple[str, str]:
    """What to add to the reason, and a warning, if many texts of a column are dates and others are not."""
    n_given = len(whole) - whole.values.n_missing
    if not found.n_dates or found.n_dates <= MANY_DATES * n_given:
        return "", ""
    odd = f"row {found.first_odd} holds {short(whole.values[found.first_odd])}"
    text = (
        f"Column {whole.name!r} is not used as dates: {found.n_dates:,} of {n_given:,} texts are dates "
        f"({found.describe()}), but {odd}. Correct such texts or leave them empty to use the dates."
    )
    return f"; {found.n_dates:,} of them are dates, but {odd}", text


def _order_warning(column: Column, found: TextKind) -> str:
    example = next(text for text in column.whole.values.distinct)
    return (
        f"Column {column.name!r} has dates such as {example!r}, and no value shows whether the day or the month comes "
        "first. The day is assumed to come first. If it is the month, pass dates='mdy' to TablePlan.fit, or "
        "data={'dates': 'mdy'} to an estimator. To confirm the day, pass 'dmy'."
    )


def _leak_warning(column: Column, reason: str) -> str:
    is_number = column.kind in ("number", "boolean")
    if column.kind == "text":
        is_number = text_kind(column.whole.values).kind == "number"
    option = "numeric" if is_number else "categorical"
    return (
        f"Column {column.name!r} is left out: it is {reason}. To use it anyway, pass "
        f"{option}=[{column.name!r}] to TablePlan.fit, or data={{'{option}': [{column.name!r}]}} to an estimator."
    )


def is_whole(values: np.ndarray) -> bool:
    """Whether all numbers are integers, of whatever dtype."""
    if values.dtype.kind in "iu":
        return True
    return all(bool((some == np.floor(some)).all()) for some in (values[:1000], values))
