"""Options for reading a table. Each overrides one assumption."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from madaline.data.reading.unpacking import n_bytes
from madaline.errors import ConfigError

UNNAMED = ("auto", "keep", "drop")
DATES = ("dmy", "mdy", "ymd", "none")


@dataclass(frozen=True)
class ReadOptions:
    """What is known about a table. By default everything is inferred from the file.

    Attributes
    ----------
    delimiter : str, optional
        The character between fields. A blank stands for any number of blanks.
    decimal : {".", ","}, optional
        The decimal mark.
    encoding : str, optional
        The name of an encoding such as ``"latin-1"``.
    header : int, optional
        Number of lines of the header; 0 for none.
    skip : int, optional
        Number of lines before the header.
    missing : tuple of str, optional
        Texts that mean a missing value. Blank fields are always missing.
    dates : {"dmy", "mdy", "ymd", "none"}, optional
        The order of day, month and year in dates. With "none", dates are not read.
    ragged : {"auto", "refuse", "fill", "drop"}
        What to do with rows that have more or fewer fields than there are columns. "auto" fills short ones and refuses
        long ones.
    unnamed : {"auto", "keep", "drop"}
        What to do with columns without a name. "auto" leaves out those that are nearly empty.
    numeric, categorical : tuple of str
        Columns to read as numbers, and as texts.
    max_unpacked : str, optional
        Maximum size of a compressed file after decompression, such as ``"20GB"``. By default 200 times the size of the
        file, and at least 256 MiB.
    table : str, optional
        The sheet of an Excel workbook, the table of a database, or the file of a zip archive. By default the first
        sheet that has values, or the only table or file.
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
    max_unpacked: str | None = None
    table: str | None = None

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
        if self.max_unpacked is not None:
            n_bytes(self.max_unpacked)

    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {
            each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default
        }
