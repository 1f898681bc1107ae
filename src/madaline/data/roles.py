"""What each column is, and why: a number, a category, a date, or something to leave out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.data.column import DATE_FORMATS, Column
from madaline.data.table import Table
from madaline.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

MIN_COUNT = 2
"A category that training saw more rarely counts with the others of its kind."
KNOWN_SHARE = 0.5
"Text whose frequent values make up less than this share of the rows tells rows apart, not kinds: it is left out."
ID_NAME = re.compile(
    r"(^|[\W_])(id|idx|index|row|rowid|rownum|uuid|guid|key)$|^unnamed: 0$|^$|(?-i:[a-z](Id|ID|Index|Key)$)",
    re.IGNORECASE,
)
"Names of columns that number the rows."
LEFT_OUT = ("ignored", "constant", "id", "leak", "unusable")
"Roles of columns that a net does not see."
CODE = r"^[+-]?0\d"
"Digits that begin with zeros are a code, as of a place or a phone: as a number they would lose them."


@dataclass(frozen=True)
class Role:
    """What a column is used as: number, boolean, category, date; or ignored, constant, id, leak, unusable."""

    column: str
    role: str
    reason: str

    @property
    def is_left_out(self) -> bool:
        """Whether the net does not see the column."""
        return self.role in LEFT_OUT

    @property
    def use(self) -> str:
        """The role in words for people.

        Examples
        --------
        >>> Role("age", "number", "").use, Role("key", "id", "").use
        ('number', 'left out (id)')
        """
        return f"left out ({self.role})" if self.is_left_out else self.role


def listing(roles: Sequence[Role], most: int) -> str:
    """A line for each column: its name, what it is used as, and why; of more than ``most``, how many more there are."""
    wide = max((len(role.column) for role in roles[:most]), default=0)
    use = max((len(role.use) for role in roles[:most]), default=0)
    lines = [f"{role.column:{wide}}  {role.use:{use}}  {role.reason}" for role in roles[:most]]
    return "\n".join([*lines, *([f"and {len(roles) - most:,} more"] if len(roles) > most else [])])


def infer_roles(
    table: Table,
    y: Any = None,
    *,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
) -> tuple[Role, ...]:
    """The role of every column.

    Parameters
    ----------
    table : Table
        The training data without the target.
    y : Column, optional
        The target; a column that says the same is a leak.
    ignore, categorical, numeric : collections of str
        Columns to leave out, and columns that are what they do not look like.

    Examples
    --------
    >>> for role in infer_roles(Table.of({"id": [1, 2, 3], "age": [31, 18, 31], "city": ["Rome", "Oslo", "Rome"]})):
    ...     print(f"{role.column}: {role.role}, {role.reason}")
    id: id, numbers that are all different, under a name that numbers rows
    age: number, 2 different whole numbers
    city: category, 2 different texts
    """
    told = {"ignore": ignore, "categorical": categorical, "numeric": numeric}
    for argument, names in told.items():
        if isinstance(names, str):
            raise ConfigError(f"{argument}={names!r} must be a list of columns: [{names!r}].")
        if unknown := [name for name in names if name not in table]:
            raise ConfigError(f"{argument} names the column {unknown[0]!r}. The table has: {', '.join(table.names)}.")
    if both := sorted(set(categorical) & set(numeric)):
        raise ConfigError(f"Column {both[0]!r} is named by categorical and by numeric. Name it by one of them.")
    return tuple(_role(table, name, y, told) for name in table.names)


def _role(table: Table, name: str, y: Column | None, told: dict[str, Collection[str]]) -> Role:
    if name in told["ignore"]:
        return Role(name, "ignored", "as told")
    column = table[name]
    if column.kind == "other":
        return Role(name, "unusable", f"{next(iter(column.values), 'nothing')} have no place in a net")
    if name in told["categorical"]:
        return Role(name, "category", "as told")
    if name in told["numeric"]:
        return Role(name, "number", "as told")
    if y is not None and (leak := _leak(column, y)):
        return Role(name, "leak", leak)
    if column.kind in ("text", "category"):
        return _role_of_text(column)
    missing = column.missing()
    values = column.values[~missing]
    if not len(values):
        return Role(name, "constant", "no value in any row")
    if not missing.any() and (values == values[0]).all():
        shown = f"{values[0]:g}" if column.kind == "number" else str(values[0])
        return Role(name, "constant", f"{shown} in every row")
    gaps = f", {missing.sum():,} missing" if missing.any() else ""
    if column.kind == "boolean":
        return Role(name, "boolean", f"true and false{gaps}")
    if column.kind == "date":
        return Role(name, "date", f"from {values.min().astype('M8[D]')} to {values.max().astype('M8[D]')}{gaps}")
    if _is_whole(values[:1000]) and _is_whole(values):
        n_different = len(np.unique(values))
        if n_different == len(missing) and ID_NAME.search(name):
            return Role(name, "id", "numbers that are all different, under a name that numbers rows")
        return Role(name, "number", f"{n_different:,} different whole numbers{gaps}")
    return Role(name, "number", f"from {values.min():g} to {values.max():g}{gaps}")


def _role_of_text(column: Column) -> Role:
    name, series = column.name, column.values
    n_missing = series.null_count()
    gaps = f", {n_missing:,} missing" if n_missing else ""
    given = series.drop_nulls()
    if not len(given):
        return Role(name, "constant", "no value in any row")
    # Whether text is numbers is asked of all rows there are: those kept apart from training must be read too.
    if column.kind == "text" and (read := reads_as(column, column.whole.values.drop_nulls())):
        return Role(name, read, f"text that reads as a {read} in every row{gaps}")
    counts = given.value_counts(sort=True)
    n_different = len(counts)
    if n_different == 1 and not n_missing:
        return Role(name, "constant", f"{given[0]!r} in every row")
    frequent = int(counts["count"].filter(counts["count"] >= MIN_COUNT).sum())
    if column.kind == "text" and n_different > 2 and frequent < KNOWN_SHARE * len(given):
        return Role(name, "id", f"text with {n_different:,} different values in {len(given):,} rows")
    return Role(name, "category", f"{n_different:,} different texts{gaps}")


def reads_as(column: Column, given: pl.Series) -> str | None:
    """``number`` or ``date`` if all texts read so; a few are tried first, so that names cost nothing."""
    import polars as pl

    for some in (given.head(100), given):
        stripped = some.str.strip_chars()
        if not stripped.cast(pl.Float64, strict=False).null_count() and not stripped.str.contains(CODE).any():
            found = "number"
        elif any(not Column(column.name, "text", some).parsed_dates(f).null_count() for f in DATE_FORMATS):
            found = "date"
        else:
            return None
    return found


def _leak(column: Column, y: Column) -> str | None:
    """Why a column gives the target away, if it does."""
    if len(column) < 10 or len(column) != len(y):
        return None
    if column.kind in ("number", "boolean") and y.kind in ("number", "boolean"):
        x, t = column.values, y.values
        if x[0] == t[0] and np.array_equal(x, t):
            return "equal to the target in every row"
        some = slice(None, 1000)
        if _is_line(x[some], t[some]) and _is_line(x, t):
            return "the target in other units: one is a multiple of the other"
        return None
    if {column.kind, y.kind} <= {"text", "category", "boolean", "number"}:
        import polars as pl

        x, t = column.texts().alias("x"), y.texts().alias("t")
        if x.equals(t):
            return "equal to the target in every row"
        n_different = x.n_unique()  # where all values differ, as of names and prices, each goes with one by itself
        if 1 < n_different <= len(x) // 2 and n_different == t.n_unique() == pl.DataFrame([x, t]).n_unique():
            return "the target in other words: each of its values goes with one value of the target"
    return None


def _is_line(x: np.ndarray, t: np.ndarray) -> bool:
    """Whether one is a linear function of the other, up to rounding."""
    x, t = x.astype(np.float64), t.astype(np.float64)
    with np.errstate(all="ignore"):
        x, t = x - x.mean(), t - t.mean()
        both, own = (x * t).sum(), (x * x).sum() * (t * t).sum()
        return bool(own > 0 and np.isfinite(own) and both * both > own * (1.0 - 1e-12))


def _is_whole(values: np.ndarray) -> bool:
    return values.dtype.kind in "iu" or bool((values == np.floor(values)).all())
