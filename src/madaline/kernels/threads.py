"""The number of threads of a run, on which results do not depend."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from madaline.errors import ConfigError


class Threads(NamedTuple):
    """A number of threads and its origin."""

    n: int
    reason: str


MOST_THREADS = 1024
"Maximum number of threads; each needs memory."

_current: Threads | None = None


def get_threads() -> int:
    """The maximum number of threads of a run.

    It is the number passed to :func:`set_threads`, else ``MADALINE_THREADS``, else ``OMP_NUM_THREADS`` (which joblib
    sets in its workers; at most the number of CPUs), else the number of CPUs that this process may use.

    Examples
    --------
    >>> import madaline as md
    >>> md.get_threads() >= 1
    True
    """
    return current().n


def set_threads(n: int) -> None:
    """Set the maximum number of threads for this process.

    Parameters
    ----------
    n : int
        Number of threads, from 1 to 1024. More than the number of CPUs is allowed, but slow.
    """
    global _current  # noqa: PLW0603 - one setting of the process, like the environment variable it replaces
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST_THREADS:
        raise ConfigError(f"n={n!r} is not a number of threads. It must be an integer from 1 to {MOST_THREADS}.")
    _current = Threads(n, "set_threads")


def current() -> Threads:
    """The number of threads and its origin; the environment is read at the first call."""
    global _current  # noqa: PLW0603  see set_threads
    if _current is None:
        _current = from_environment(os.environ)
    return _current


def from_environment(environment: os._Environ[str] | dict[str, str]) -> Threads:
    """The number of threads from environment variables, else the number of CPUs."""
    cpus = usable_cpus()
    if asked := environment.get("MADALINE_THREADS", "").strip():
        if not asked.isdecimal() or not 1 <= int(asked) <= MOST_THREADS:
            raise ConfigError(
                f"MADALINE_THREADS={asked!r} is not a number of threads. It must be an integer from 1 to "
                f"{MOST_THREADS}."
            )
        return Threads(int(asked), "MADALINE_THREADS")
    # OpenMP allows a list with one number per nesting level; the first is used. Invalid values are ignored, since the
    # variable belongs to OpenMP.
    openmp = environment.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if openmp.isdecimal() and int(openmp) >= 1:
        return Threads(min(int(openmp), cpus.n), "OMP_NUM_THREADS")
    return cpus


def usable_cpus(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> Threads:
    """The CPUs of the affinity mask, or fewer if the control group has a quota (as containers do)."""
    if hasattr(os, "sched_getaffinity"):
        cpus = Threads(len(os.sched_getaffinity(0)), "CPUs of the affinity mask")
    else:
        cpus = Threads(os.cpu_count() or 1, "CPUs of the machine")
    quota = _cgroup_quota(proc, cgroups)
    if quota is not None and quota < cpus.n:
        # Rounded down: if threads exceed the quota, all of them are suspended until the next period.
        return Threads(max(1, int(quota)), "CPU quota of the control group")
    return cpus


def _cgroup_quota(proc: Path, cgroups: Path) -> float | None:
    """The smallest quota, in CPUs, of the control group of this process and its parents."""
    quotas = []
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # Version 2 has a single tree without a list of controllers; version 1 has one tree per list of controllers.
        root = cgroups / controllers
        folder = root / path.strip("/")
        while True:
            quotas.append(_quota_in(folder))
            if folder == root or root not in folder.parents:
                break
            folder = folder.parent
    return min((quota for quota in quotas if quota is not None), default=None)


def _quota_in(folder: Path) -> float | None:
    fields = _read(folder / "cpu.max").split() or [
        *_read(folder / "cpu.cfs_quota_us").split(),
        *_read(folder / "cpu.cfs_period_us").split(),
    ]
    try:
        quota, period = (float(field) for field in fields)  # "max" and a missing file end here too
    except ValueError:
        return None
    return quota / period if quota > 0 and period > 0 else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
