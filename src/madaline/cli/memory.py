"""The memory that is available for a table, and the memory that it needs."""

from __future__ import annotations

import os
from pathlib import Path

from madaline.data.reading.table_file import TableFile
from madaline.data.reading.unpacking import UNITS, n_bytes

SHARE = 0.5
"Default fraction of the free memory for the table."
TIMES = 4.0
"Bytes that training needs per byte of the table: the table, its split, and the encoded arrays, with copies of each."
UNKNOWN = 1 << 32
"Assumed number of free bytes if the system does not report it."
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"Files with the memory limits of a container."


def size(given: str) -> int:
    """Parse a number of bytes such as 500MB.

    Examples
    --------
    >>> size("500MB"), size("1.5 GB"), size("2g")
    (500000000, 1500000000, 2000000000)
    """
    return n_bytes(given, "--memory")


def shown(count: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> shown(1_234_567), shown(25e9)
    ('1.2 MB', '25 GB')
    """
    unit = next(name for name in "TGMK" if count >= UNITS[name] or name == "K")
    value = count / UNITS[unit]
    return f"{value:.1f} {unit}B" if value < 10 else f"{value:,.0f} {unit}B"


def free() -> int:
    """Number of free bytes for this process, on the machine or in its container."""
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
    """Estimated number of bytes for training on all rows of a table, from its first rows."""
    first = next(table.batches())
    return TIMES * table.n_rows * first.estimated_size() / len(first)
