"""Tables written in the dialect of a file that was read."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

from madaline.data.date_formats import SEVERAL, has_clock
from madaline.data.reading.dialect import Dialect
from madaline.data.reading.format import ColumnFormat, TableFormat
from madaline.data.reading.records import UNIT_SEPARATOR
from madaline.errors import InputError

if TYPE_CHECKING:
    import polars as pl


FORMULA = r"^[=+\-@\t\r]"
"The beginning of a text that spreadsheet programs run."


def written(frame: pl.DataFrame, table_format: TableFormat, *, is_first: bool = True) -> bytes:
    r"""Rows as the bytes of a file in the dialect of another table.

    Delimiter, decimal mark, quotes, encoding, line ends, header and the format of dates are those of the table that was
    read. Numbers are written without currency signs and thousands separators, and missing values as empty fields.

    Parameters
    ----------
    frame : polars data frame
        Rows, with any columns. Those that the format knows are written as they were read.
    table_format : TableFormat
        How the other table was read. The format of a file with types, such as Parquet, gives a plain CSV file.
    is_first : bool
        Whether these are the first rows of the file, which may be preceded by a header and a byte order mark.

    Examples
    --------
    >>> import polars as pl
    >>> semicolons = TableFormat(decimal=",", dialect=Dialect(delimiter=";", line_end="\r\n"))
    >>> written(pl.DataFrame({"size": [1.5, None], "city": ["Rome", "a;b"]}), semicolons)
    b'size;city\r\n1,5;Rome\r\n;"a;b"\r\n'
    """
    dialect = table_format.dialect or Dialect()
    shown = frame.with_columns(
        _shown(name, dtype, table_format.columns.get(name, ColumnFormat())) for name, dtype in frame.schema.items()
    )
    is_ascii = dialect.delimiter.isascii() and len(dialect.delimiter) == 1  # polars takes no other
    quoting: Any = dialect.quoting if is_ascii or dialect.quoting == "always" else "non_numeric"
    # A blank stands for any number of blanks, so that an empty field would vanish.
    missing = next((each for each in ("NA", *table_format.missing) if each in table_format.missing), "NA")
    text = shown.write_csv(
        include_header=dialect.has_header and is_first,
        separator=dialect.delimiter if is_ascii else UNIT_SEPARATOR,
        line_terminator=dialect.line_end,
        quote_style=quoting,
        null_value=missing if dialect.delimiter == " " else "",
        decimal_comma=table_format.decimal == ",",
    )
    text = text if is_ascii else text.replace(UNIT_SEPARATOR, dialect.delimiter)
    return _encoded(text, dialect.encoding, is_first=is_first)


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with an apostrophe before texts and names that a spreadsheet program would take for formulas.

    Examples
    --------
    >>> import polars as pl
    >>> without_formulas(pl.DataFrame({"=a": ["=1+2", "b", "-c"], "n": [-1, 0, 1]})).rows()
    [("'=1+2", -1), ('b', 0), ("'-c", 1)]
    """
    import polars as pl

    texts = pl.col(pl.String)
    quoted = pl.when(texts.str.contains(FORMULA)).then("'" + texts).otherwise(texts)
    return frame.with_columns(quoted.name.keep()).rename(lambda name: f"'{name}" if re.match(FORMULA, name) else name)


def _shown(name: str, dtype: pl.DataType, column: ColumnFormat) -> pl.Expr:
    """A column as polars is to write it: dates and times of day as text."""
    import polars as pl

    given = pl.col(name)
    if isinstance(dtype, (pl.Date, pl.Datetime)) and column.is_date:
        return given.dt.to_string(_pattern(column))
    if dtype.is_numeric() and column.kind == "time":
        seconds = (given * 3600.0).round().cast(pl.Int64)
        parts = (seconds // 3600, seconds // 60 % 60, seconds % 60)
        return pl.concat_str([part.cast(pl.String).str.zfill(2) for part in parts], separator=":")
    return given


def _pattern(column: ColumnFormat) -> str:
    """The format to write dates in: the first, or the one with the longest time of day."""
    found = column.pattern.split(SEVERAL)
    best = max(filter(has_clock, found), key=len, default=found[0]) if column.kind == "datetime" else found[0]
    return best.replace("%B", "%b").replace("%#z", "Z")


def _encoded(text: str, encoding: str, *, is_first: bool) -> bytes:
    name = codecs.lookup(encoding).name
    if not is_first:  # a byte order mark stands at the beginning only
        name = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(name, name)
    try:
        content = text.encode(name)
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        raise InputError(
            f"{sign!r} cannot be written in {encoding}, the encoding of the table. Write a Parquet file, or convert "
            "the table to UTF-8 first."
        ) from None
    # On every machine alike, so that later rows fit.
    if is_first and name in ("utf-16", "utf-32"):
        little = codecs.BOM_UTF16_LE if name == "utf-16" else codecs.BOM_UTF32_LE
        return little + text.encode(f"{name}-le")
    return content
