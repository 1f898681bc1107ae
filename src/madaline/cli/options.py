"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from madaline.data.reading.options import ReadOptions
from madaline.errors import ConfigError

READING = "Reading the file (what was assumed is shown first, each line with its option)"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for scripts, and nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
Delimiter = Annotated[
    str | None, typer.Option(help="The sign between fields, or tab, space, semicolon.", rich_help_panel=READING)
]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark: . or ,", rich_help_panel=READING)]
Encoding = Annotated[str | None, typer.Option(help="As utf-8 or latin-1.", rich_help_panel=READING)]
Header = Annotated[int | None, typer.Option(help="Lines of the header; 0 for none.", rich_help_panel=READING)]
Skip = Annotated[int | None, typer.Option(help="Lines before the header.", rich_help_panel=READING)]
Missing = Annotated[
    str | None, typer.Option(help="Texts that mean a missing value, with commas: NA,-200", rich_help_panel=READING)
]
Dates = Annotated[str | None, typer.Option(help="The order in dates: dmy, mdy, ymd, or none.", rich_help_panel=READING)]
Ragged = Annotated[
    str,
    typer.Option(
        help="Rows with more or fewer fields: auto, refuse, fill, drop.", rich_help_panel=READING, metavar="WHAT"
    ),
]
Unnamed = Annotated[
    str, typer.Option(help="Columns without a name: auto, keep, drop.", rich_help_panel=READING, metavar="WHAT")
]
MaxUnpacked = Annotated[
    str | None,
    typer.Option(help="Largest size of a compressed file after decompression: 20GB", rich_help_panel=READING),
]


def words(given: str | None) -> tuple[str, ...]:
    """Names parted by commas; a comma in a name is written twice.

    Examples
    --------
    >>> words("age, fare"), words("a,,b,c"), words(None)
    (('age', 'fare'), ('a,b', 'c'), ())
    """
    if not given:
        return ()
    hidden = given.replace(",,", "\0")
    return tuple(word.strip().replace("\0", ",") for word in hidden.split(",") if word.strip())


def several(given: Sequence[str] | None) -> tuple[str, ...]:
    """The names of an option that may be given several times, each with commas."""
    return tuple(word for item in given or () for word in words(item))


def read_options(
    *,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    header: int | None,
    skip: int | None,
    missing: str | None,
    dates: str | None,
    ragged: str,
    unnamed: str,
    max_unpacked: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
) -> ReadOptions:
    """The reading options as they were typed."""
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
        numeric=tuple(numeric),
        categorical=tuple(categorical),
    )


def check_free(path: Path, *, force: bool) -> None:
    """An error if something is there already."""
    if path.exists() and not force:
        raise FileExistsError(f"There is {str(path)!r} already. Choose another name, or say --force to replace it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to write {path.name!r} to.")


def seconds(given: str | None) -> float | None:
    """A length of time as people type it.

    Examples
    --------
    >>> seconds("90"), seconds("5m"), seconds("1h30m"), seconds(None)
    (90.0, 300.0, 5400.0, None)
    """
    import re

    if given is None:
        return None
    found = re.fullmatch(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?", given.strip())
    if not given.strip() or found is None:
        raise ConfigError(f"--time {given} is no length of time. Write it as 90s, 5m or 1h30m.")
    hours, minutes, rest = (float(part or 0.0) for part in found.groups())
    total = 3600.0 * hours + 60.0 * minutes + rest
    if total <= 0.0:
        raise ConfigError(f"--time {given} must be more than nothing.")
    return total


def said(document: Any) -> Any:
    """What was assumed, for JSON."""
    return [{"text": assumption.text, "option": assumption.flag} for assumption in document]
