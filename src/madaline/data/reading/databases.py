"""Tables of databases: SQLite and DuckDB, opened for reading only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from madaline.data.reading.assumption import listed
from madaline.data.reading.content import Content
from madaline.data.reading.options import ReadOptions
from madaline.data.reading.typed_parts import TypedPart
from madaline.errors import ConfigError, FileFormatError
from madaline.extras import require

if TYPE_CHECKING:
    import polars as pl

SQLITE_TABLES = """
select name from sqlite_master
where type = 'table' and name not like 'sqlite\\_%' escape '\\' and sql not like 'create virtual%' order by name
"""
DUCKDB_TABLES = """
select case schema_name when 'main' then table_name else schema_name || '.' || table_name end, schema_name, table_name
from duckdb_tables() where not internal and not temporary order by 1
"""
DUCKDB_SETTINGS: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}
"A database may neither read other files nor load code."


class SqlitePart(TypedPart):
    """A table of an SQLite database. A column of several types is read as text, or as numbers if it has only those."""

    def __init__(self, connection: sqlite3.Connection, name: str, table: str) -> None:
        self._connection, self._table = connection, _in_backticks(table)
        with _readable(name, "SQLite"):
            names = [row[1] for row in connection.execute(f"pragma table_info({self._table})")]
            connection.text_factory = _decoded
            counts = connection.execute(
                f"select count(*), {', '.join(map(_type_counts, names))} from {self._table}"  # noqa: S608 - quoted
            ).fetchone()
        self._types = {name: _sqlite_type(*counts[1 + 4 * k : 5 + 4 * k]) for k, name in enumerate(names)}
        super().__init__(name, "a damaged database", self._types, int(counts[0]))

    def read_columns(self, names: Sequence[str], size: int) -> Iterator[pl.DataFrame]:
        """Columns in batches."""
        import polars as pl

        chosen = {name: self._types[name] for name in names}
        columns = (
            f"cast({_in_backticks(name)} as text)" if chosen[name] == pl.String else _in_backticks(name)
            for name in names
        )
        with _readable(self.name, "SQLite"):
            cursor = self._connection.execute(f"select {', '.join(columns)} from {self._table}")  # noqa: S608 - quoted
            while rows := cursor.fetchmany(size):
                yield pl.DataFrame(rows, schema=chosen, orient="row", strict=False)


def _type_counts(name: str) -> str:
    """SQL that counts the values of each type."""
    kind = f"typeof({_in_backticks(name)})"
    return ", ".join(f"coalesce(sum({kind} = '{each}'), 0)" for each in ("integer", "real", "text", "blob"))


def _sqlite_type(n_integers: int, n_reals: int, n_texts: int, n_blobs: int) -> Any:
    """The type of a column, from how many of its values have each type of SQLite."""
    import polars as pl

    if n_blobs:
        return pl.Binary()
    if n_texts or not n_integers + n_reals:
        return pl.String()
    return pl.Float64() if n_reals else pl.Int64()


class DuckDbPart(TypedPart):
    """A table of a DuckDB database."""

    def __init__(self, connection: Any, name: str, table: str) -> None:
        self._connection, self._table = connection, table
        with _readable(name, "DuckDB"), connection.cursor() as cursor:
            described = cursor.execute(f"describe {table}").fetchall()
            ((n_rows,),) = cursor.execute(f"select count(*) from {table}").fetchall()  # noqa: S608 - quoted
        self._columns = {column: _duckdb_column(column, kind) for column, kind, *_ in described}
        types = {column: dtype for column, (_, _, dtype) in self._columns.items()}
        super().__init__(name, "a damaged database", types, int(n_rows))

    def read_columns(self, names: Sequence[str], size: int) -> Iterator[pl.DataFrame]:
        """Columns in batches. DuckDB converts them to plain values, so that no other package is needed."""
        import polars as pl

        columns = ", ".join(self._columns[name][0] for name in names)
        plain = {name: self._columns[name][1] for name in names}
        casts: Any = {name: self._columns[name][2] for name in names}
        with _readable(self.name, "DuckDB"), self._connection.cursor() as cursor:
            cursor.execute(f"select {columns} from {self._table}")  # noqa: S608 - quoted
            while rows := cursor.fetchmany(size):
                yield pl.DataFrame(rows, schema=plain, orient="row").cast(casts)


def _duckdb_column(name: str, kind: str) -> tuple[str, Any, Any]:
    """A column as SQL that gives plain values, their type, and the type that they stand for."""
    import polars as pl

    column, kind = _quoted(name), kind.partition("(")[0]
    if kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"):
        return f"{column}::bigint", pl.Int64, pl.Int64()
    if kind in ("UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL"):
        return f"{column}::double", pl.Float64, pl.Float64()
    if kind in ("TIME", "INTERVAL"):
        return f"date_part('epoch', {column}) / {3600 if kind == 'TIME' else 1}", pl.Float64, pl.Float64()
    if kind == "BOOLEAN":
        return column, pl.Boolean, pl.Boolean()
    if kind == "DATE":
        return f"({column} - date '1970-01-01')::integer", pl.Int32, pl.Date()
    if kind.startswith("TIMESTAMP"):
        return f"epoch_us({column})", pl.Int64, pl.Datetime("us")
    if kind in ("VARCHAR", "ENUM", "UUID"):
        return f"{column}::varchar", pl.String, pl.String()
    return column, pl.Object, pl.Object()


def sqlite_part(content: Content, options: ReadOptions, stack: ExitStack) -> SqlitePart:
    """The table of an SQLite database that is asked for, or its only one."""
    address = f"{content.in_file(stack).resolve().as_uri()}?mode=ro&immutable=1"
    with _readable(content.name, "SQLite"):
        connection = sqlite3.connect(address, uri=True)
        stack.callback(connection.close)
        for setting in ("trusted_schema = off", "cell_size_check = on", "mmap_size = 0"):
            connection.execute(f"pragma {setting}")
        tables = [row[0] for row in connection.execute(SQLITE_TABLES)]
    return SqlitePart(connection, content.name, _chosen(tables, content, options))


def duckdb_part(content: Content, options: ReadOptions, stack: ExitStack) -> DuckDbPart:
    """The table of a DuckDB database that is asked for, or its only one."""
    require("duckdb", "Reading a DuckDB database")
    import duckdb

    with _readable(content.name, "DuckDB"):
        connection = duckdb.connect(str(content.in_file(stack)), read_only=True, config=DUCKDB_SETTINGS)
        stack.callback(connection.close)
        tables = {name: f"{_quoted(schema)}.{_quoted(table)}" for name, schema, table in
                  connection.execute(DUCKDB_TABLES).fetchall()}  # fmt: skip
    return DuckDbPart(connection, content.name, tables[_chosen(list(tables), content, options)])


def _chosen(tables: list[str], content: Content, options: ReadOptions) -> str:
    name, wanted = content.name, None if content.is_chosen else options.table
    if not tables:
        raise FileFormatError(f"{name} is a database without tables.")
    if wanted in tables:
        return str(wanted)
    listing = f"Tables: {listed(map(repr, tables))}."
    if wanted is not None:
        raise ConfigError(f"--table {wanted!r}: {name} has no table of this name. {listing}")
    if len(tables) > 1:
        raise ConfigError(
            f"{name} has {len(tables):,} tables. Choose one, for example --table {tables[0]!r}. {listing}"
        )
    return tables[0]


def _quoted(name: str) -> str:
    """A name in the SQL of DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def _in_backticks(name: str) -> str:
    """A name in the SQL of SQLite, which takes an unknown one in double quotes for a text."""
    return "`" + name.replace("`", "``") + "`"


def _decoded(text: bytes) -> str:
    return text.decode(errors="replace")


@contextmanager
def _readable(name: str, kind: str) -> Iterator[None]:
    """Turn errors of a database into a FileFormatError."""
    try:
        yield
    except Exception as error:  # DuckDB, which may not be installed, has its own
        if not isinstance(error, (sqlite3.Error, UnicodeError)) and not type(error).__module__.startswith(
            ("duckdb", "_duckdb")
        ):
            raise
        first = str(error).split("\n", 1)[0].rstrip(".")
        raise FileFormatError(f"{name} cannot be read by {kind}: {first}. Download or copy it again.") from error
