"""How the texts of a table are read: decided once for the training table, kept with the model, and used again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from madaline.annotations import fits
from madaline.data.dates import check_pattern, read_dates
from madaline.data.reading import numbers
from madaline.data.reading.dialect import Dialect
from madaline.data.reading.evidence import MISSING, are_missing, has_digits
from madaline.data.texts import Texts
from madaline.errors import ConfigError, FileFormatError

if TYPE_CHECKING:
    import polars as pl

KINDS = ("integer", "number", "date", "datetime", "time", "text", "empty")


@dataclass(frozen=True)
class ColumnFormat:
    """How the texts of one column are read.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    pattern : str
        The format of dates; several are separated by a stroke.
    is_dressed : bool
        Whether numbers have anything but plain digits and a decimal point: a decimal comma, a thousands separator, a
        currency or percent sign.
    """

    kind: str = "text"
    pattern: str = ""
    is_dressed: bool = False

    @property
    def is_date(self) -> bool:
        """Whether the column has dates, with or without a time of day."""
        return self.kind in ("date", "datetime")


@dataclass(frozen=True)
class TableFormat:
    """How the texts of a table are read, and how to write a table in the same way.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    missing : tuple of str
        Texts that mean a missing value. Blank fields are always missing.
    columns : dict of ColumnFormat
        Columns that are not in it are texts; in a file with types, such as Parquet, they are what their type says.
    dialect : Dialect, optional
        The dialect of a text file; None for a file with types.
    """

    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    columns: Mapping[str, ColumnFormat] = field(default_factory=dict)
    dialect: Dialect | None = None

    def date_patterns(self) -> dict[str, str]:
        """The formats of dates by column, as ``TablePlan.fit`` takes them."""
        return {name: column.pattern for name, column in self.columns.items() if column.is_date}

    def read(self, texts: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Read the columns ``names`` of a table of texts without outer blanks."""
        by_format: dict[ColumnFormat, list[str]] = {}
        for name in names:
            by_format.setdefault(self.columns.get(name, ColumnFormat()), []).append(name)
        # Columns of one format make one expression, as a table may have thousands.
        parts = [
            (found, part)
            for found, same in by_format.items()
            for part in ([[name] for name in same] if found.pattern else [same])
        ]
        return texts.select(self._expression(found, part) for found, part in parts).select(names)

    def with_dates(self, frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """A table with types, in which those of the columns ``names`` that are dates as text are read."""
        found = [(name, self.columns[name]) for name in names if name in self.columns and self.columns[name].is_date]
        return frame.with_columns(_dates(_text(name), column) for name, column in found) if found else frame

    def _expression(self, column: ColumnFormat, names: list[str]) -> pl.Expr:
        import polars as pl

        given = pl.col(names)
        if column.kind == "empty":
            return pl.when(pl.lit(value=False)).then(given)
        if column.kind in ("integer", "number"):
            # Markers without digits are not numbers, and need not be looked for among them.
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
        return _dates(text, column) if column.is_date else text

    def _known(self, text: pl.Expr) -> pl.Expr:
        """Texts, null where they mean a missing value."""
        import polars as pl

        return pl.when(~are_missing(text, self.missing)).then(text)

    def to_plain(self) -> dict[str, Any]:
        """The format as strings, lists and dicts."""
        return {
            "decimal": self.decimal,
            "missing": list(self.missing),
            "columns": {name: asdict(column) for name, column in self.columns.items()},
            "dialect": None if self.dialect is None else asdict(self.dialect),
        }

    @classmethod
    def from_plain(cls, data: Any) -> TableFormat:
        """The inverse of :meth:`to_plain`; a FileFormatError for other data."""
        try:
            columns = {str(name): ColumnFormat(**column) for name, column in data["columns"].items()}
            known = data.get("dialect")  # not in the first files
            dialect = None if known is None else Dialect.from_plain(known)
            found = cls(data["decimal"], tuple(data["missing"]), columns, dialect)
            is_whole = found.decimal in numbers.MARKS and fits(found.missing, tuple[str, ...])
            for column in columns.values():
                is_whole &= column.kind in KINDS and type(column.is_dressed) is bool and isinstance(column.pattern, str)
                check_pattern(column.pattern)
        except (KeyError, TypeError, AttributeError, ConfigError) as error:
            raise FileFormatError(f"The description of how to read tables is damaged: {error}") from error
        if not is_whole:
            raise FileFormatError("The description of how to read tables is damaged: it has unknown values.")
        return found


def _text(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).str.strip_chars()


def _dates(text: pl.Expr, column: ColumnFormat) -> pl.Expr:
    import polars as pl

    moments = text.map_batches(partial(_moments, pattern=column.pattern), return_dtype=pl.Datetime("us"))
    return moments.cast(pl.Date) if column.kind == "date" else moments


def _moments(texts: pl.Series, *, pattern: str) -> pl.Series:
    import polars as pl

    given = Texts.of(texts.to_list())
    return pl.Series(texts.name, given.spread(read_dates(given.distinct, pattern), "NaT"))
