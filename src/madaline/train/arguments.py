"""Checks of single arguments; several can be run so that one error names every problem."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import ConfigError, MadalineError


def check_all(checks: Iterable[Callable[[], Any]]) -> None:
    """Run every check; raise the error of the one that failed, or one error with the messages of all that failed."""
    problems: list[MadalineError] = []
    for check in checks:
        try:
            check()
        except MadalineError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise ConfigError("\n".join(map(str, problems)))


def check_whole(name: str, value: Any, *, least: int = 1, most: int | None = None) -> None:
    """Raise an error if the value is not a whole number in this range."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        upto = "" if most is None else f" and at most {most}"
        raise ConfigError(f"{name}={value!r} must be a whole number of at least {least}{upto}.")


def check_seconds(name: str, value: Any) -> None:
    """Raise an error if the value is neither a duration nor None."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if value is not None and not (is_number and not math.isnan(value) and value >= 0):
        raise ConfigError(f"{name}={value!r} must be a number of seconds, not negative.")


def check_path(name: str, path: Any) -> None:
    """Raise an error if the value is not a path."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ConfigError(f"{name}={path!r} must be the path of a file.")


def check_new_file(name: str, path: Any) -> None:
    """Raise an error if a file cannot be written there."""
    check_path(name, path)
    found = Path(path)
    if not found.parent.is_dir():
        raise ConfigError(f"{name}={str(path)!r}: the folder {str(found.parent)!r} does not exist.")
    if found.is_dir():
        raise ConfigError(f"{name}={str(path)!r} is a folder; it must be a file, for example 'run.ckpt'.")
    if not os.access(found.parent, os.W_OK):
        raise ConfigError(f"{name}={str(path)!r}: the folder {str(found.parent)!r} is not writable.")
