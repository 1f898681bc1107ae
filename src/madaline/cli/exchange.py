"""Atomic exchange of two folders, if the system supports it."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"Linux: paths are relative to the current folder; the two names are exchanged. See renameat2(2)."
RENAME_SWAP = 2
"macOS: the same. See renamex_np(2)."


def exchange(first: Path, second: Path) -> bool:
    """Exchange two paths atomically; returns False, without changes, if the system or the disk cannot."""
    names = os.fsencode(first), os.fsencode(second)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, RENAME_SWAP) == 0)
        return bool(library.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):  # no such function, or no such library
        return False
