"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from madaline.data.reading.assumption import Assumption
from madaline.errors import ConfigError

Json = Annotated[bool, typer.Option("--json", help="Print only one JSON document, for scripts.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


def words(given: str | None) -> tuple[str, ...]:
    """Names separated by commas; a comma in a name is written twice.

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
    """The names of an option that may be given several times, each with several names."""
    return tuple(word for item in given or () for word in words(item))


def check_free(path: Path, *, force: bool) -> None:
    """Raise an error if the file already exists, or if its folder does not."""
    if path.exists() and not force:
        raise FileExistsError(f"{str(path)!r} already exists. Choose another name, or use --force to overwrite it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(path.parent)!r} for {path.name!r} does not exist.")


def seconds(given: str | None) -> float | None:
    """A duration such as 90s, 5m or 1h30m in seconds.

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
        raise ConfigError(f"--time {given} is not a duration. Use for example 90s, 5m or 1h30m.")
    hours, minutes, rest = (float(part or 0.0) for part in found.groups())
    total = 3600.0 * hours + 60.0 * minutes + rest
    if total <= 0.0:
        raise ConfigError(f"--time {given} must be longer than 0 seconds.")
    return total


def assumed(assumptions: Sequence[Assumption]) -> list[dict[str, str]]:
    """Assumptions about a table, for JSON."""
    return [{"text": assumption.text, "option": assumption.flag} for assumption in assumptions]
