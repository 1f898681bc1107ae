"""How much memory there is for a table, and how much it would take."""

from __future__ import annotations

import os
from pathlib import Path

from madaline.data.reading.table_file import TableFile
from madaline.data.reading.unpacking import UNITS, n_bytes

SHARE = 0.5
"Of the memory that is free, so much is for the table unless told."
TIMES = 4.0
"What training takes for every byte of a table in memory: the table, its parts, and what the net takes, copies of each."
UNKNOWN = 1 << 32
"Bytes that are taken for free where the system does not say."
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"Where a container says what it may use."


def size(given: str) -> int:
    """A number of bytes as people type it.

    Examples
    --------
    >>> size("500MB"), size("1.5 GB"), size("2g")
    (500000000, 1500000000, 2000000000)
    """
    return n_bytes(given, "--memory")


def shown(count: float) -> str:
    """A number of bytes as people read it.

    Examples
    --------
    >>> shown(1_234_567), shown(25e9)
    ('1.2 MB', '25 GB')
    """
    unit = next(name for name in "TGMK" if count >= UNITS[name] or name == "K")
    value = count / UNITS[unit]
    return f"{value:.1f} {unit}B" if value < 10 else f"{value:,.0f} {unit}B"


def free() -> int:
    """Bytes that are free for this process: of the machine, or of the container it is in."""
    found = [UNKNOWN]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")] or found
    except OSError:
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2]
    for limit in LIMITS:
        try:
            found.append(int(Path("/sys/fs/cgroup", limit).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(found)


def needed(table: TableFile) -> float:
    """Bytes that training on all rows of a table would take, told from its first ones."""
    first = next(table.batches())
    return TIMES * table.n_rows * first.estimated_size() / len(first)
