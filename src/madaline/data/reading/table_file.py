"""Tables from files of all kinds, from folders, standard input, and data sets of the package."""

from __future__ import annotations

import difflib
import glob
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from madaline.data.datasets import DATASETS
from madaline.data.reading.assumption import Assumption, counted, listed, named
from madaline.data.reading.content import TABLE_SUFFIXES, read_content
from madaline.data.reading.evidence import MISSING, Evidence, look_at_all
from madaline.data.reading.format import TableFormat
from madaline.data.reading.format_choice import find_decimal, find_format, found_again
from madaline.data.reading.keywords import keywords_in_errors
from madaline.data.reading.kinds import part_of
from madaline.data.reading.options import ReadOptions
from madaline.data.reading.part import Part
from madaline.data.reading.parts import FramePart, TextPart
from madaline.data.reading.statements import date_assumptions, format_assumptions
from madaline.data.reading.typed_parts import join_types
from madaline.errors import ConfigError, FileFormatError
from madaline.extras import require

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (*TABLE_SUFFIXES, ".txt")
"Files of a folder that are read."
NEARLY_EMPTY = 0.01
"A column without a name that has values in a smaller share of rows is left out."


@dataclass
class TableFile:
    """A table that is open for reading, as a whole or in batches.

    Attributes
    ----------
    name : str
        The name in messages.
    names : tuple of str
        Names of the columns.
    format : TableFormat
        How its texts are read.
    n_rows : int
    assumptions : list of Assumption
        What was assumed about it.
    """

    name: str
    parts: list[Part]
    options: ReadOptions
    format: TableFormat = field(default_factory=TableFormat)
    names: tuple[str, ...] = ()
    n_rows: int = 0
    assumptions: list[Assumption] = field(default_factory=list)

    def frame(self) -> pl.DataFrame:
        """The whole table."""
        import polars as pl

        frames = list(self.batches())
        return pl.concat(frames, rechunk=True) if frames else pl.DataFrame()

    def batches(self) -> Iterator[pl.DataFrame]:
        """The table in batches of rows, all of the same types."""
        for part in self.parts:
            yield from part.batches(self.format, self.names)


@contextmanager
def open_table(
    source: str | os.PathLike[str] | IO[bytes],
    options: ReadOptions | None = None,
    *,
    earlier_format: TableFormat | None = None,
    name: str | None = None,
    only_text: bool = False,
) -> Iterator[TableFile]:
    """Open a table to read it in batches; :func:`read_table` reads it as a whole.

    Parameters
    ----------
    source : path, str or binary stream
        A file or stream of any kind that :func:`read_table` reads, a folder of such files, a pattern
        (``"big/*.parquet"``), ``"-"`` for standard input, or the name of a data set.
    options : ReadOptions, optional
    earlier_format : TableFormat, optional
        The format of an earlier table, to read this one in the same way. Its delimiter, header, encoding, decimal mark
        and dates are used where they fit.
    name : str, optional
        The name of a file in messages; by default its path.
    only_text : bool
        Whether only CSV-like texts are read, for input from strangers.
    """
    require("polars", "Reading a table from a file")
    options = options or ReadOptions()
    with ExitStack() as stack:
        name, parts, notes = _parts(source, options, stack, name, earlier_format, only_text=only_text)
        table = TableFile(name, parts, options, assumptions=notes)
        _check_alike(parts)
        for part in parts[:1]:
            table.assumptions += part.assumptions
        table.names = parts[0].names
        if parts[0].is_text:
            _look_at_texts(table, earlier_format)
        else:
            _look_at_types(table, earlier_format)
        if not table.n_rows:
            raise FileFormatError(f"{name} has no rows: there is nothing to learn from or to predict.")
        yield table


def read_table(source: str | os.PathLike[str] | IO[bytes], **options: Any) -> tuple[pl.DataFrame, list[Assumption]]:
    r"""Read the table of a file.

    Parameters
    ----------
    source : path, str or binary stream
        A CSV-like file with any delimiter, decimal mark and encoding; an Excel workbook (.xlsx); JSON lines or a list
        of JSON objects; a Parquet, Arrow or Feather file; a table of an SQLite or DuckDB database; any of these
        compressed by gzip, bzip2, xz, zstd or zip; a folder of such files, or a pattern (``"big/*.parquet"``); ``"-"``
        for standard input; or the name of a data set that comes with the package. Excel, zstd and DuckDB need an extra,
        which the error message names.
    **options
        See :class:`ReadOptions`. Each overrides one assumption.

    Returns
    -------
    frame : polars data frame
    assumptions : list of Assumption
        What was assumed about the file.

    Examples
    --------
    >>> import io
    >>> frame, assumptions = read_table(io.BytesIO("price;sold\n1.200,50 €;03/12/2024\n?;24/12/2024".encode()))
    >>> frame.rows()
    [(1200.5, datetime.date(2024, 12, 3)), (None, datetime.date(2024, 12, 24))]
    >>> print(*assumptions, sep="\n")
    Fields are separated by a semicolon.  (--delimiter)
    Numbers have a decimal comma.  (--decimal)
    '?' means a missing value (1 time in 'price').  (--missing)
    'price' has amounts with a currency sign, which is removed.  (--categorical)
    'sold' has dates (day/month/year).  (--dates)
    """
    known = [option.name for option in fields(ReadOptions)]
    if unknown := [name for name in options if name not in known]:
        near = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Options: {', '.join(known)}."
        raise TypeError(f"read_table has no option {unknown[0]!r}.{hint}")
    with keywords_in_errors(), open_table(source, ReadOptions(**options)) as table:
        return table.frame(), table.assumptions


def _parts(
    source: str | os.PathLike[str] | IO[bytes],
    options: ReadOptions,
    stack: ExitStack,
    name: str | None,
    earlier_format: TableFormat | None,
    *,
    only_text: bool,
) -> tuple[str, list[Part], list[Assumption]]:
    """The files of a source."""

    def read(given: Path | IO[bytes], name: str) -> Part:
        try:
            content = read_content(given, name, options, stack, unpack=not only_text)
            if only_text:
                return TextPart.read(content, options, stack, earlier_format)
            return part_of(content, options, stack, earlier_format)
        except OSError as error:
            if not isinstance(given, Path):
                raise
            raise FileFormatError(f"{str(given)!r} cannot be read: {error.strerror or error}.") from error

    if not isinstance(source, (str, os.PathLike)):
        return "The stream", [read(source, "The stream")], []
    if source == "-":
        return "Standard input", [read(sys.stdin.buffer, "Standard input")], []
    path = Path(source)
    if "://" in str(source) and not path.exists():
        raise FileFormatError(
            f"{str(source)!r} is a web address, and only files are read. Download it and give its path."
        )
    if not path.exists() and (matching := pattern_files(path)):
        notes = [Assumption(f"{counted(len(matching), 'file')} of the pattern, one after the other.", "a file instead")]
        return f"The files {str(path)!r}", [read(each, str(each)) for each in matching], notes
    if not path.exists():
        if str(source) in DATASETS:
            return f"The data set {str(source)!r}", [FramePart(DATASETS[str(source)].table(), str(source))], []
        near = difflib.get_close_matches(str(source), DATASETS.names(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "`madaline datasets` lists the data sets."
        raise FileNotFoundError(f"There is no file {str(source)!r}, and no data set of that name. {hint}")
    if path.is_fifo() or path.is_char_device():  # can be read only once
        with path.open("rb") as stream:
            return name or str(path), [read(stream, name or str(path))], []
    if not path.is_dir():
        return name or str(path), [read(path, name or str(path))], []
    files = folder_files(path)
    notes = [Assumption(f"{counted(len(files), 'file')} of the folder, one after the other.", "a file instead")]
    return f"The folder {str(path)!r}", [read(each, str(each)) for each in files], notes


def pattern_files(pattern: Path) -> list[Path]:
    """The files that match a pattern such as ``big/*.parquet``, in the order of their names."""
    text = os.fspath(pattern)
    found = glob.glob(text, recursive=True) if glob.has_magic(text) else []  # noqa: PTH207 - may be absolute
    return sorted(each for each in map(Path, found) if each.is_file())


def folder_files(folder: Path) -> list[Path]:
    """The tables in a folder, in the order of their names; an error if there are none."""
    found = sorted(each for each in folder.iterdir() if each.is_file() and each.name.lower().endswith(SUFFIXES))
    if not found:
        raise FileFormatError(f"The folder {str(folder)!r} has no table in it: no file that ends in .csv or .parquet.")
    return found


def _check_alike(parts: Sequence[Part]) -> None:
    """Files of a folder must have the same columns and be of one kind."""
    for part in parts[1:]:
        other = sorted(set(part.names) ^ set(parts[0].names))
        if other:
            raise FileFormatError(
                f"{part.name} has other columns than {parts[0].name}: only one of them has "
                f"{listed(map(repr, other), 5)}."
            )
        if part.is_text != parts[0].is_text:
            raise FileFormatError(
                f"{part.name} and {parts[0].name} are of different kinds: put texts, such as CSV, and files with "
                "types, such as Parquet, in different folders."
            )
    join_types(parts)


def _order(options: ReadOptions) -> str | None:
    return None if options.dates == "none" else options.dates


def _look_at_texts(table: TableFile, given: TableFormat | None) -> None:
    """Count the rows of text files, and find how to read their columns."""
    options = table.options
    markers = options.missing if options.missing is not None else given.missing if given else MISSING
    columns = {name: Evidence() for name in table.names}
    for part in table.parts:
        for first_row, texts in part.texts(table.names):
            table.n_rows += len(texts)
            look_at_all(columns, texts, markers, _order(options), first_row)
    _check_names(table)
    _leave_out(table, columns)
    decimal = options.decimal or find_decimal(columns.values(), given.decimal if given else None)
    found = {}
    for name, column in columns.items():
        numeric = True if name in options.numeric else False if name in options.categorical else None
        known = given.columns.get(name) if given else None
        if known is None or numeric is not None:
            found[name] = find_format(column, decimal, numeric=numeric, with_dates=options.dates != "none")
        else:
            found[name] = found_again(known, column, decimal)
    table.format = TableFormat(decimal, markers, found, table.parts[0].dialect)
    table.assumptions += format_assumptions(table.format, columns, given)


def _look_at_types(table: TableFile, given: TableFormat | None) -> None:
    """Count the rows of files with types, and find which columns of text are dates in every row."""
    table.n_rows = sum(part.n_rows for part in table.parts)
    options = table.options
    is_set = (*options.numeric, *options.categorical)
    columns = {
        name: Evidence()
        for name in table.parts[0].text_names()
        if name not in is_set and all(name in part.text_names() for part in table.parts)
    }
    if options.dates == "none" or not columns:
        return
    _, first = next(table.parts[0].texts(tuple(columns)), (0, None))
    for name in tuple(columns):
        probe = Evidence()
        if first is not None:
            probe.look_at_dates(first[name], _order(options))
        if not probe.n_dates.total():
            del columns[name]
    for part in table.parts if columns else ():
        for _, texts in part.texts(tuple(columns)):
            for name, column in columns.items():
                column.n += len(texts) - texts[name].null_count()
                column.look_at_dates(texts[name], _order(options))
    found = {}
    for name, column in columns.items():
        known = given.columns.get(name) if given else None
        chosen = find_format(column, ".", numeric=None, with_dates=True)
        chosen = found_again(known, column, ".") if known is not None and known.is_date else chosen
        if chosen.is_date and column.dates_of(chosen.pattern) == column.n:
            found[name] = chosen
    table.format = TableFormat(columns=found)
    table.assumptions += date_assumptions(table.format, columns, given)


def _check_names(table: TableFile) -> None:
    for flag, names in (("--numeric", table.options.numeric), ("--categorical", table.options.categorical)):
        if missing := [name for name in names if name not in table.names]:
            raise ConfigError(f"{flag}: {table.name} has no column {named(missing)}. Columns: {listed(table.names)}.")


def _leave_out(table: TableFile, columns: dict[str, Evidence]) -> None:
    """Leave out columns without a name that have nearly no values."""
    unnamed = table.parts[0].unnamed
    if table.options.unnamed == "keep" or len(unnamed) == len(columns):
        return
    is_all = table.options.unnamed == "drop"
    empty = [name for name in columns if name in unnamed and (is_all or columns[name].n < NEARLY_EMPTY * table.n_rows)]
    for name in empty:
        del columns[name]
    if empty:
        table.names = tuple(columns)
        table.assumptions.append(
            Assumption(f"{counted(len(empty), 'column')} without a name, nearly empty, left out.", "--unnamed")
        )
