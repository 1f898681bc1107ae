"""What a user may say about a table that is to be read; each option overrides one assumption."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from madaline.errors import ConfigError

UNNAMED = ("auto", "keep", "drop")
DATES = ("dmy", "mdy", "ymd", "none")


@dataclass(frozen=True)
class ReadOptions:
    """What is known about a table; None, or nothing, is told from the file.

    Attributes
    ----------
    delimiter : str, optional
        The sign that parts fields; a blank stands for any number of them.
    decimal : {".", ","}, optional
        The decimal mark.
    encoding : str, optional
        As ``"latin-1"``.
    header : int, optional
        Lines of the header; 0 for none.
    skip : int, optional
        Lines before it.
    missing : tuple of str, optional
        Texts that mean a missing value; blank ones always do.
    dates : {"dmy", "mdy", "ymd", "none"}, optional
        The order of day, month and year; "none" reads no dates.
    ragged : {"auto", "refuse", "fill", "drop"}
        What to do about rows with more or fewer fields than columns: "auto" fills up short ones and refuses long ones.
    unnamed : {"auto", "keep", "drop"}
        What to do about columns without a name; "auto" leaves out those that are nearly empty.
    numeric, categorical : tuple of str
        Columns that are to be read as numbers, and as texts.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: int | None = None
    skip: int | None = None
    missing: tuple[str, ...] | None = None
    dates: str | None = None
    ragged: str = "auto"
    unnamed: str = "auto"
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choices = {"decimal": (".", ","), "dates": DATES, "unnamed": UNNAMED}
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise ConfigError(f"--{name} {value} is not known. Choose one of {', '.join(allowed)}.")
        for name in ("header", "skip"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise ConfigError(f"--{name} {value} must be a number of lines.")

    def given(self) -> dict[str, Any]:
        """Those that are not as they would be."""
        return {
            each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default
        }
