"""What all attacks share: a limit of time, the name of what went wrong, and the files of results."""

from __future__ import annotations

import contextlib
import datetime as dt
import platform
import signal
import traceback
from pathlib import Path

import madaline as md

RESULTS = Path(__file__).parent / "results"
"Summaries of long attacks, one file for each kind."

GOOD = ("refused", "used", "unchanged")
"Outcomes of an attack that did no harm."
SLOWDOWN = 1.0
"By how much the time limits are longer, for a core with sanitizers."


class Hang(BaseException):
    """Raised by the alarm; no reader catches it."""


@contextlib.contextmanager
def no_longer_than(seconds):
    """Raise :class:`Hang` after this much processor time."""

    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SLOWDOWN * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def failure_of(error):
    """A short text for an exception that should not have been raised; Ctrl-C is raised again."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, Hang):
        return "hang"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}".replace("\n", " ")[:160]


def save(name, text):
    """Write the summary of an attack into the folder of results, with the date and the machine."""
    RESULTS.mkdir(exist_ok=True)
    date = dt.datetime.now(dt.UTC).date()
    system = f"{platform.system()} {platform.machine()}"
    head = f"{date}, madaline {md.__version__}, Python {platform.python_version()}, {system}"
    (RESULTS / f"{name}.txt").write_text(f"{head}\n{text}", encoding="utf-8")
