"""How the texts of a table are to be read: decided once from all that was seen, kept with a model, used again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from madaline.annotations import fits
from madaline.data import date_formats
from madaline.data.dates import check_pattern, read_dates
from madaline.data.reading import numbers
from madaline.data.reading.evidence import MISSING, Evidence, are_missing, has_digits
from madaline.data.texts import Texts
from madaline.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl

KINDS = ("integer", "number", "date", "datetime", "time", "text", "empty")
MOSTLY = 0.9
"The share of texts that must be numbers for the others to be taken for missing ones."
MANY = 20
"Distinct numbers a column must have for that; with fewer, the others may be categories."


@dataclass(frozen=True)
class ColumnFormat:
    """How the texts of one column are read.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    pattern : str
        The format of dates; several are parted by a stroke.
    is_dressed : bool
        Whether numbers are written in other ways than plain digits with a point.
    """

    kind: str = "text"
    pattern: str = ""
    is_dressed: bool = False


@dataclass(frozen=True)
class TableFormat:
    """How the texts of a table are read.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    missing : tuple of str
        Texts that mean a missing value; blank ones always do.
    columns : dict of ColumnFormat
        Those that are not in it are texts.
    """

    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    columns: Mapping[str, ColumnFormat] = field(default_factory=dict)

    def read(self, texts: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """The columns ``names`` of a table of texts, which have no outer blanks, as they are to be read."""
        by_format: dict[ColumnFormat, list[str]] = {}
        for name in names:
            by_format.setdefault(self.columns.get(name, ColumnFormat()), []).append(name)
        # Columns of one format make one expression, as a table may have thousands; for dates several formats are tried.
        parts = [
            (found, part)
            for found, same in by_format.items()
            for part in ([[name] for name in same] if found.pattern else [same])
        ]
        return texts.select(self._expression(found, part) for found, part in parts).select(names)

    def _expression(self, column: ColumnFormat, names: list[str]) -> pl.Expr:
        import polars as pl

        given = pl.col(names)
        if column.kind == "empty":
            return pl.when(pl.lit(value=False)).then(given)
        if column.kind in ("integer", "number"):
            # Markers without digits are no numbers, and need not be looked for among them.
            source = self._known(given) if any(map(has_digits, self.missing)) else given
            digits = numbers.read_numbers(source, self.decimal) if column.is_dressed else source
            number: pl.Expr = digits.cast(pl.Int64 if column.kind == "integer" else pl.Float64, strict=False)
            return number if column.kind == "integer" else pl.when(number.is_finite()).then(number)
        text = self._known(given)
        if column.kind == "time":
            part = [
                text.str.extract(r"^(\d+)[:.](\d+)(?:[:.](\d+(?:\.\d+)?))?$", k).cast(pl.Float64) for k in (1, 2, 3)
            ]
            return part[0] + part[1] / 60 + part[2].fill_null(0.0) / 3600
        if column.kind in ("date", "datetime"):
            moments = text.map_batches(partial(_moments, pattern=column.pattern), return_dtype=pl.Datetime("us"))
            return moments.cast(pl.Date) if column.kind == "date" else moments
        return text

    def _known(self, text: pl.Expr) -> pl.Expr:
        """Texts, null where they mean a missing value."""
        import polars as pl

        return pl.when(~are_missing(text, self.missing)).then(text)

    def to_plain(self) -> dict[str, Any]:
        """Numbers, strings, lists and dicts."""
        return {
            "decimal": self.decimal,
            "missing": list(self.missing),
            "columns": {name: asdict(column) for name, column in self.columns.items()},
        }

    @classmethod
    def from_plain(cls, data: Any) -> TableFormat:
        """The format again; a FileFormatError for data that :meth:`to_plain` did not give."""
        try:
            columns = {str(name): ColumnFormat(**column) for name, column in data["columns"].items()}
            found = cls(data["decimal"], tuple(data["missing"]), columns)
        except (KeyError, TypeError, AttributeError) as error:
            raise FileFormatError(f"The description of how to read tables is damaged: {error}") from error
        is_whole = found.decimal in numbers.MARKS and fits(found.missing, tuple[str, ...])
        for column in columns.values():
            is_whole &= column.kind in KINDS and isinstance(column.pattern, str) and type(column.is_dressed) is bool
            if is_whole:
                check_pattern(column.pattern)
        if not is_whole:
            raise FileFormatError("The description of how to read tables is damaged: it has values without meaning.")
        return found


def _moments(texts: pl.Series, *, pattern: str) -> pl.Series:
    import polars as pl

    given = Texts.of(texts.to_list())
    return pl.Series(texts.name, given.spread(read_dates(given.distinct, pattern), "NaT"))


def find_decimal(columns: Iterable[Evidence], given: str | None = None) -> str:
    """The decimal mark of most columns that show one; the one ``given``, unless all that show one show the other."""
    shown = [column for column in columns if column.proofs and max(column.n_numbers.values()) >= MOSTLY * column.n]
    if given is not None and (not shown or any(given in column.proofs for column in shown)):
        return given
    commas = sum("," in column.proofs for column in shown)
    return "," if commas > sum("." in column.proofs for column in shown) else "."


def find_format(column: Evidence, decimal: str, *, numeric: bool | None, with_dates: bool) -> ColumnFormat:
    """How a column of which this is known is best read; ``numeric`` says whether the user wants numbers or texts."""
    if numeric is False:
        return ColumnFormat("text")
    if not column.n:
        return ColumnFormat("empty")
    count = column.n_numbers[decimal]
    known = column.n - column.n_maybe
    is_number = count and (count == known or (count >= MOSTLY * known and column.n_distinct >= MANY))
    if numeric or (is_number and not column.has_codes):
        plain = column.n_plain >= count and (decimal == "." or column.n_integers == column.n_plain)
        return ColumnFormat("integer" if plain and column.n_integers == count else "number", is_dressed=not plain)
    if with_dates and column.n_dates:
        pattern = date_formats.SEVERAL.join(date_formats.together(column.n_dates))
        if pattern and column.dates_of(pattern) >= MOSTLY * known:
            return ColumnFormat("datetime" if date_formats.has_clock(pattern) else "date", pattern)
    if column.n_times and column.n_times == known:
        return ColumnFormat("time")
    return ColumnFormat("text")


def found_again(known: ColumnFormat, column: Evidence, decimal: str) -> ColumnFormat:
    """How a column of a later table is read: as it was ``known``, or as its numbers and dates are written now."""
    if not column.n:
        return known
    if known.kind in ("integer", "number"):
        found = find_format(column, decimal, numeric=True, with_dates=False)
        return replace(found, kind=found.kind if known.kind == "integer" else "number")
    if known.kind in ("date", "datetime"):
        found = find_format(column, decimal, numeric=None, with_dates=True)
        if found.pattern and column.dates_of(found.pattern) > column.dates_of(known.pattern):
            return found
    return known
