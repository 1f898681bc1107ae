"""The table of a command: read, cut to size, with the target found."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from madaline.cli.config import RunConfig
from madaline.cli.sampling import SampledTable
from madaline.data.datasets import DATASETS
from madaline.data.reading.assumption import Assumption, counted, listed, named
from madaline.data.reading.table_file import TableFile, folder_files, open_table, pattern_files
from madaline.errors import ConfigError, TargetError


def source_name(data: str) -> str:
    """The name of a table in settings and models: the full path of a file, or the name of a data set."""
    return data if data == "-" or not Path(data).exists() else str(Path(data).resolve())


def one_source(given: Sequence[str]) -> str:
    """The name of a table, or of all tables of a folder, as a shell lists them for ``big/*.parquet``."""
    if len(given) == 1:
        path = Path(given[0])
        return str(path.absolute()) if not path.exists() and pattern_files(path) else source_name(given[0])
    files, folder = [Path(each).resolve() for each in given], Path(given[0]).resolve().parent
    others = sorted({*folder_files(folder)} ^ {*files}) if folder.is_dir() else files
    if others:
        what = f"is not a table of {str(folder)!r}" if others[0] in files else "is also in it"
        raise ConfigError(
            f"Several files must be all tables of one folder: {str(others[0])!r} {what}. Give the folder, or a pattern "
            f"in quotes: '{folder}/*{files[0].suffix}'."
        )
    return str(folder)


@contextmanager
def opened(settings: RunConfig, file: Path | None) -> Iterator[TableFile]:
    """The table to train on; standard input is read from the ``file`` that holds its copy."""
    data = settings.data
    reading = replace(settings.reading, numeric=data.numeric, categorical=data.categorical)
    name = None if file is None else "Standard input"
    with open_table(file or data.source, reading, name=name) as table:
        yield table


def targets_of(settings: RunConfig, names: Sequence[str]) -> tuple[str, ...]:
    """The target columns: those given, or that of a data set."""
    given = settings.data.target
    if not given and settings.data.source in DATASETS:
        given = (DATASETS[settings.data.source].target,)
    if not given:
        raise ConfigError(f"Choose the column to predict: --target COLUMN. Columns: {listed(names)}.")
    found = tuple(find_column(name, names, "--target") for name in given)
    if len(found) == len(names):
        raise ConfigError("All columns are targets: no feature columns are left.")
    return found


def find_column(given: str, names: Sequence[str], flag: str) -> str:
    """A column by its name, or by its number from 1 if no column has that name; -1 is the last.

    Errors name the option by which it was given, ``flag``; empty for the target of a model.

    Examples
    --------
    >>> find_column("age", ["age", "fare"], "--target"), find_column("-1", ["age", "fare"], "--target")
    ('age', 'fare')
    """
    if given in names:
        return given
    if given.lstrip("-").isdecimal() and 1 <= abs(int(given)) <= len(names):
        number = int(given)
        return names[number - 1 if number > 0 else number]
    if near := [name for name in names if name.casefold() == given.casefold()]:
        return near[0]
    close = difflib.get_close_matches(given, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    what = f"{flag} {given}: there is no such column" if flag else f"The table has no column {given!r}, the target"
    raise ConfigError(f"{what}.{hint} Columns: {listed(names)}.")


def without_gaps(sampled: SampledTable, targets: Sequence[str], assumptions: list[Assumption]) -> None:
    """Leave out the rows that have no target."""
    gone = sampled.leave_out_gaps(targets)
    if not len(sampled.frame):
        raise TargetError(f"{named(list(targets))} has no values: there is nothing to learn. Choose another --target.")
    if gone:
        text = (
            f"{counted(gone, 'row')} without a value in {named(list(targets))} {'is' if gone == 1 else 'are'} left out."
        )
        assumptions.append(Assumption(text, "--target"))


def ignored_columns(settings: RunConfig, names: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Columns that the user leaves out, and the one that groups rows."""
    given = [("--ignore", name) for name in settings.data.ignore]
    if settings.split.way == "group" and settings.split.by is not None:
        given.append(("--group", settings.split.by))
    found = [find_column(name, names, flag) for flag, name in given]
    for (flag, _), name in zip(given, found, strict=True):
        if name in targets:
            raise ConfigError(f"{flag} {name}: it is the target, and cannot be left out.")
    return found


def without_duplicates(sampled: SampledTable, ignored: Sequence[str], assumptions: list[Assumption]) -> None:
    """Leave out the rows that are equal to an earlier one in every column that is not ignored."""
    if sampled.is_sample:
        raise ConfigError(
            "--drop-duplicates needs the table in memory, and this one is larger. Use a random sample (--rows 100000), "
            "or more memory (--memory 8GB)."
        )
    gone = sampled.leave_out_duplicates(ignored)
    text = f"{counted(gone, 'row')} {'is' if gone == 1 else 'are'} equal to an earlier one and left out."
    assumptions.append(Assumption(text if gone else "No row is equal to an earlier one.", "--drop-duplicates"))
