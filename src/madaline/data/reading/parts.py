"""Tables that are texts, and tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from madaline.data.reading.assumption import Assumption
from madaline.data.reading.content import Content
from madaline.data.reading.delimiter import find_delimiter
from madaline.data.reading.dialect import Dialect, quoting_of
from madaline.data.reading.format import TableFormat
from madaline.data.reading.known import KnownFormat
from madaline.data.reading.layout import Layout, find_layout
from madaline.data.reading.panics import readable
from madaline.data.reading.part import Part, stripped
from madaline.data.reading.records import (
    UNIT_SEPARATOR,
    LooseQuotes,
    joined_blanks,
    sample_lines,
    with_delimiter,
    with_strict_quotes,
    with_unit_separators,
)
from madaline.data.reading.text import Text, read_text, rewritten
from madaline.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.reading.options import ReadOptions

ROW = "\0row"
"Column for the number of a record; no column of a text can have this name."


class TextPart(Part):
    """A text, and where its rows are."""

    def __init__(self, text: Text, layout: Layout, dialect: Dialect, assumptions: tuple[Assumption, ...]) -> None:
        super().__init__(text.name, layout.names, layout.n_records - layout.first_row - len(layout.dropped))
        self.text, self.layout, self.dialect = text, layout, dialect
        self.unnamed, self.assumptions = layout.unnamed, assumptions

    @classmethod
    def read(
        cls,
        content: Content,
        options: ReadOptions,
        stack: ExitStack,
        earlier_format: TableFormat | None = None,
    ) -> TextPart:
        """Read the text of a file, in the format of an earlier table if one is given."""
        known = None
        if earlier_format is not None and earlier_format.dialect is not None:
            known = KnownFormat(earlier_format.dialect, tuple(earlier_format.columns))
        usual = None if known is None else known.dialect.encoding
        text = read_text(content, encoding=options.encoding, stack=stack, usual_encoding=usual)
        sign, notes = find_delimiter(text, options.delimiter, options.skip or 0, known)
        quoting, delimiter = quoting_of(sample_lines(text), sign), sign
        if sign == " ":
            text, delimiter = rewritten(text, (joined_blanks(line) + "\n" for line in text.lines()), stack), "\t"
        elif len(sign) > 1:
            lines = (with_unit_separators(line, sign) for line in text.lines())
            text, delimiter = rewritten(text, lines, stack), UNIT_SEPARATOR
        elif not sign.isascii():
            text, delimiter = with_delimiter(text, sign, ",", stack), ","
        find = partial(find_layout, header=options.header, skip=options.skip, ragged=options.ragged, known=known)
        try:
            layout = find(text, delimiter)
        except LooseQuotes:
            text = with_strict_quotes(text, delimiter, stack)
            layout = find(text, delimiter)
        dialect = Dialect(sign, quoting, text.encoding, text.line_end, layout.has_header)
        return cls(text, layout, dialect, (*text.assumptions, *notes, *layout.assumptions))

    def texts(self, names: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
        """All fields as texts without outer blanks; blank ones are null."""
        n_records = 0
        for batch in self._records():
            n_records += len(batch)
            part = batch.select(ROW, stripped(names)).filter(self._is_row(names))
            if len(part):
                yield int(part[ROW][0]), part.drop(ROW)
        if n_records < self.layout.n_records:
            raise FileFormatError(
                f"{self.name}: the quotes in it do not match. Look for a field with a single double quote; inside of "
                "quotes it must be doubled."
            )

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows, read in a format."""
        for batch in self._records():
            part = batch.with_columns(stripped(self.names)).filter(self._is_row(self.names))
            if len(part):
                yield table_format.read(part, names)

    def _records(self) -> Iterator[pl.DataFrame]:
        """All records as texts in blocks: polars would map the whole file into memory."""
        import polars as pl

        count = 0
        for block in self.text.blocks():
            with readable(self.name, "not a table that can be read"):
                found = pl.read_csv(
                    block,
                    has_header=False,
                    separator=self.layout.delimiter,
                    quote_char='"' if self.text.has_quotes else None,
                    schema=dict.fromkeys(self.names, pl.String),
                    truncate_ragged_lines=True,
                    missing_columns="insert",
                    row_index_name=ROW,
                    row_index_offset=count,
                )
            count += len(found)
            yield found

    def _is_row(self, names: Sequence[str]) -> Any:
        import polars as pl

        row = pl.col(ROW)
        found = (row >= self.layout.first_row) & (row < self.layout.n_records)
        if self.layout.dropped:
            found &= ~row.is_in(self.layout.dropped)
        return found & ~pl.all_horizontal(pl.col(names).is_null())


class FramePart(Part):
    """A table in memory."""

    def __init__(self, frame: pl.DataFrame, name: str) -> None:
        super().__init__(name, frame.columns, len(frame))
        self._frame = frame

    def batches(self, table_format: TableFormat, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The table itself."""
        yield self._frame.select(names)
