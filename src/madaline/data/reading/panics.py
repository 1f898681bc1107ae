"""Errors of polars at damaged files: panics of its native code, and the text that they print."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from madaline.errors import FileFormatError

PANICKED = b"panicked at "
"What every report of a panic holds."


@contextmanager
def readable(name: str, what: str, advice: str = "Download or copy it again.") -> Iterator[None]:
    """Turn errors of polars, and panics of its native code, into a FileFormatError."""
    import polars as pl

    try:
        with without_panic_text():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = str(error).split("\n", 1)[0].rstrip(".")
        if isinstance(error, pl.exceptions.PanicException):
            first = "its parts contradict each other"
        raise FileFormatError(f"{name} is {what}: {first}. {advice}") from error


@contextmanager
def without_panic_text() -> Iterator[None]:
    """Drop the report of a panic, which native code writes to the standard error stream; other text is kept.

    The stream belongs to the whole process, so it is left alone if other threads of Python run: they may write to it,
    or start processes that inherit it.
    """
    if threading.active_count() > 1:
        yield
        return
    try:
        stream = os.dup(2)
    except OSError:  # a process without this stream
        yield
        return
    with tempfile.TemporaryFile() as captured:
        os.dup2(captured.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stream, 2)
            os.close(stream)
            captured.seek(0)
            text = captured.read()
            if text and PANICKED not in text:
                os.write(2, text)
