"""The options with which every command that reads a table can say how to read it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from madaline.cli.options import words
from madaline.data.reading.options import ReadOptions

READING = "Reading the file (inferred by default)"


def _option(text: str, **settings: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=READING, **settings)


def reading_options(
    delimiter: Annotated[str | None, _option("Field delimiter: a character, or tab, space, semicolon.")] = None,
    decimal: Annotated[str | None, _option("Decimal mark: . or ,")] = None,
    encoding: Annotated[str | None, _option("Text encoding, for example utf-8 or latin-1.")] = None,
    header: Annotated[int | None, _option("Number of header lines; 0 for none.")] = None,
    skip: Annotated[int | None, _option("Number of lines to skip before the header.")] = None,
    missing: Annotated[str | None, _option("Texts that mean a missing value, separated by commas: NA,-200")] = None,
    dates: Annotated[str | None, _option("Order of day, month and year in dates: dmy, mdy, ymd, or none.")] = None,
    ragged: Annotated[
        str,
        _option("What to do with rows that have more or fewer fields: auto, refuse, fill, drop.", metavar="WHAT"),
    ] = "auto",
    unnamed: Annotated[
        str, _option("What to do with columns without a name: auto, keep, drop.", metavar="WHAT")
    ] = "auto",
    max_unpacked: Annotated[
        str | None,
        _option(
            "Maximum size of a compressed file after decompression, for example 20GB.",
            show_default="200 times the size of the file",
        ),
    ] = None,
    table: Annotated[
        str | None,
        _option(
            "Sheet of an Excel workbook, table of a database, or file of a zip archive.",
            metavar="NAME",
            show_default="the first sheet with values, or the only table",
        ),
    ] = None,
) -> ReadOptions:
    """Make the options for reading a table. This signature defines their names, defaults and descriptions."""
    return ReadOptions(
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        missing=None if missing is None else words(missing),
        dates=dates,
        ragged=ragged,
        unnamed=unnamed,
        max_unpacked=max_unpacked,
        table=table,
    )


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that gives a command all reading options in place of its last parameter, ``reading``."""
    options = inspect.signature(reading_options, eval_str=True).parameters
    *own, reading = inspect.signature(command, eval_str=True).parameters.values()
    assert reading.name == "reading"

    @functools.wraps(command)
    def run(**given: Any) -> None:
        read = {name: given.pop(name) for name in options}
        command(**given, reading=reading_options(**read))

    run.__signature__ = inspect.Signature([*own, *options.values()])  # type: ignore[attr-defined]  # as inspect has it
    run.__annotations__ = {each.name: each.annotation for each in (*own, *options.values())}
    return run
