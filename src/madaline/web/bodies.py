"""Bodies of requests as tables: JSON with the keys of MLflow, CSV, Arrow."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from madaline.data.reading.format import TableFormat
from madaline.data.reading.unpacking import OPENERS
from madaline.data.table import Table
from madaline.description import short
from madaline.errors import MadalineError
from madaline.web.arrow_stream import check_stream
from madaline.web.errors import RequestError, about_rows

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
KEYS = ("dataframe_split", "dataframe_records", "instances", "inputs")
"Keys of MLflow's scoring server, one of which holds the rows."
PARAMS = "params"
"The key of MLflow's scoring server for options."
COMPRESSED = tuple(OPENERS)
"First bytes of files that reading would decompress: a few kilobytes can hold gigabytes."
ADVICE = (
    'Send {"dataframe_records": [{"column": value, ...}, ...]}, {"dataframe_split": {"columns": [...], "data": '
    '[[...], ...]}}, {"inputs": {"column": [...], ...}}, {"instances": [...]}, or one row as {"column": value, ...}.'
)


@dataclass
class Body:
    """A request: rows and options.

    Attributes
    ----------
    params : mapping
        Options.
    row : dict or None
        The only row, if it came as an object.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    row: dict[str, Any] | None = None
    given: Table | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return 1 if self.row is not None else self.table.n_rows

    @property
    def table(self) -> Table:
        """All rows."""
        if self.given is None:
            assert self.row is not None
            self.given = _table({name: [value] for name, value in self.row.items()})
        return self.given


def read_body(content: bytes, media_type: str, reading: TableFormat, columns: frozenset[str], most_rows: int) -> Body:
    """The rows of a request.

    Parameters
    ----------
    content : bytes
    media_type : str
        Without parameters, in lower case.
    reading : TableFormat
        How texts of the training table were read; CSV is read in the same way.
    columns : set of str
        Columns that the model uses. A JSON object that has one of them as a key is a row.
    most_rows : int
        Largest number of rows.
    """
    if media_type == JSON or media_type.endswith("+json"):
        body = _from_json(content, columns)
    elif media_type == CSV:
        body = Body(given=_from_csv(content, reading))
    elif media_type == ARROW:
        check_stream(content, most_rows)
        body = Body(given=_from_arrow(content))
    else:
        given = f"The content type {media_type!r} is" if media_type else "A request without content type is"
        raise RequestError(415, f"{given} not supported. Use {JSON} (curl --json), {CSV} or {ARROW}.")
    if not body.n_rows:
        raise RequestError(422, "The request has no rows.")
    if body.n_rows > most_rows:
        raise RequestError(
            413, f"The request has {body.n_rows:,} rows, and {most_rows:,} are allowed. Send fewer at a time."
        )
    return body


def _from_json(content: bytes, columns: frozenset[str]) -> Body:
    try:
        document = json.loads(content, object_pairs_hook=_object)
    except RecursionError:
        raise RequestError(400, "The JSON document is nested too deeply.") from None
    except ValueError as error:  # also of the decoding of bytes, and of numbers with thousands of digits
        raise RequestError(400, f"The body is not a JSON document: {_one_line(error)}.") from None
    if isinstance(document, list):
        return _body(document, "The body", _from_rows)
    if not isinstance(document, dict):
        raise RequestError(400, f"The body is a single value. {ADVICE}")
    given = [key for key in KEYS if key in document]
    is_row = not columns.isdisjoint(document)
    if is_row or not given:
        if not is_row and columns:
            raise RequestError(400, f"The body has none of the keys {', '.join(KEYS)}, and no column. {ADVICE}")
        return Body(row=document)
    params = document.get(PARAMS) or {}
    if not isinstance(params, dict):
        raise RequestError(400, f"'{PARAMS}' must be an object, such as {{\"proba\": true}}.")
    if len(given) > 1 or (others := [key for key in document if key not in (*KEYS, PARAMS)]):
        wrong = given[1] if len(given) > 1 else others[0]
        raise RequestError(400, f"The key {wrong!r} is not allowed beside {given[0]!r}. {ADVICE}")
    return _body(document[given[0]], f"'{given[0]}'", _READERS[given[0]], params)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a document; an error if it has a key twice, because nobody can tell which value was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = _twice(key for key, _ in pairs)
        raise RequestError(400, f"An object of the JSON document has the key {short(twice)} twice.")
    return found


def _twice(names: Iterable[str]) -> str:
    """The first name that comes again."""
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def _body(given: Any, name: str, read: Callable[[Any, str], Table], params: Mapping[str, Any] | None = None) -> Body:
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], dict):
        return Body(params or {}, given[0])
    return Body(params or {}, given=read(given, name))


def _from_rows(rows: Any, name: str) -> Table:
    """A table from objects, which must all have the same keys, or from lists of equal length."""
    if not isinstance(rows, list) or not rows:
        raise RequestError(422, f"{name} must be a list of rows, at least one.")
    first = rows[0]
    if isinstance(first, dict):
        for place, row in enumerate(rows):
            if not isinstance(row, dict):
                raise RequestError(422, f"{name}: row {place} is not an object, but row 0 is.", row=place)
            if row.keys() != first.keys():
                other = min(row.keys() ^ first.keys())
                which = place if other in first else 0
                raise RequestError(
                    422, f"{name}: row {which} has no column {other!r}. Write null for a missing value.",
                    column=other, row=which,
                )  # fmt: skip
        return _table({name: [row[name] for row in rows] for name in first})
    if isinstance(first, list):
        for place, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != len(first):
                raise RequestError(422, f"{name}: row {place} is not a list of {len(first)} values.", row=place)
        return _table(rows)
    raise RequestError(422, f'{name}: row 0 must be an object {{"column": value, ...}} or a list of values.', row=0)


def _from_split(split: Any, name: str) -> Table:
    if not isinstance(split, dict) or not {"columns", "data"} <= split.keys() or split.keys() - _SPLIT:
        raise RequestError(422, f"{name} must be an object with the keys 'columns' and 'data'.")
    columns, data = split["columns"], split["data"]
    if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
        raise RequestError(422, f"{name}: 'columns' must be a list of column names.")
    if len(set(columns)) < len(columns):
        twice = _twice(columns)
        raise RequestError(422, f"{name}: 'columns' has {twice!r} more than once.", column=twice)
    if not isinstance(data, list) or not data:
        raise RequestError(422, f"{name}: 'data' must be a list of rows, at least one.")
    for place, row in enumerate(data):
        if not isinstance(row, list) or len(row) != len(columns):
            raise RequestError(
                422, f"{name}: row {place} must be a list of {len(columns)} values, one for each column.", row=place
            )
    return _table(dict(zip(columns, map(list, zip(*data, strict=True)), strict=True)))


def _from_inputs(inputs: Any, name: str) -> Table:
    """A table from an object of columns, or from a list of rows."""
    if not isinstance(inputs, dict):
        return _from_rows(inputs, name)
    columns = {key: values if isinstance(values, list) else [values] for key, values in inputs.items()}
    return _table(columns)


_SPLIT = {"columns", "data", "index"}
_READERS = {
    "dataframe_split": _from_split,
    "dataframe_records": _from_rows,
    "instances": _from_rows,
    "inputs": _from_inputs,
}


def _from_csv(content: bytes, reading: TableFormat) -> Table:
    from madaline.data.reading.table_file import open_table

    if content.startswith(COMPRESSED):
        raise RequestError(415, "The CSV file is compressed. Send it without compression.")
    try:
        with open_table(io.BytesIO(content), earlier_format=reading, only_text=True) as table:
            return Table.of(table.frame())
    except MadalineError as error:
        text = str(error).replace("The stream", "The body")
        raise RequestError(400, text) from None


def _from_arrow(content: bytes) -> Table:
    import polars as pl

    try:
        return Table.of(pl.read_ipc_stream(io.BytesIO(content)))
    except (MadalineError, MemoryError):
        raise
    except BaseException as error:  # polars panics at some streams, with an exception that is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise RequestError(400, "The Arrow stream cannot be read.") from None


def _table(given: Any) -> Table:
    try:
        return Table.of(given)
    except MadalineError as error:
        raise about_rows(error) from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
