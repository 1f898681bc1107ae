"""Arrays whose memory is a file: another process may cut the file while it is read."""

from __future__ import annotations

import mmap
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import FileFormatError

LEAST_BYTES = 1 << 16
"Smaller arrays of other libraries are not looked up in the list of mapped files, which takes a millisecond."


@dataclass(frozen=True)
class MappedFile:
    """The file of an array.

    ``mapping`` is None if the file was mapped by another library; ``n_bytes`` is the length that the file must have.
    """

    path: str
    mapping: mmap.mmap | None = None
    n_bytes: int = 0

    def check(self) -> None:
        """Raise an error if the file is shorter than it was when it was mapped: reading it would end the process."""
        if self.mapping is not None and self.mapping.size() < self.n_bytes:
            raise self.error()

    def error(self) -> FileFormatError:
        """The error for a file that was cut."""
        name = f" {self.path!r}" if self.path else ""
        return FileFormatError(
            f"The file{name} of a memory-mapped array cannot be read: it became shorter while the array was in use. "
            "Let the program that writes it write a new file and rename it, or copy the array: np.array(X)."
        )


def mapped_file(array: np.ndarray, least_bytes: int = LEAST_BYTES) -> MappedFile | None:
    """The file that the memory of an array is mapped to, or None.

    Parameters
    ----------
    array : array
        Any array.
    least_bytes : int
        Smaller arrays of other libraries are not looked up.

    Examples
    --------
    >>> mapped_file(np.zeros(3)) is None
    True
    """
    view: Any = array
    path, offset = "", 0
    while isinstance(view, (np.ndarray, memoryview)):
        if isinstance(view, np.memmap) and not path:
            path, offset = str(view.filename or ""), int(view.offset)
        owner = view.base if isinstance(view, np.ndarray) else view.obj
        if owner is None:
            return None
        view = owner
    if not isinstance(view, mmap.mmap):
        return _of_other_library(array) if array.nbytes >= least_bytes else None
    try:
        view.size()
    except (OSError, ValueError):  # memory without a file
        return None
    return MappedFile(path, view, offset - offset % mmap.ALLOCATIONGRANULARITY + len(view))


def check_files(*values: object) -> None:
    """Raise an error for arrays whose file is too short already, before NumPy reads them; other values are skipped."""
    for value in values:
        file = mapped_file(value, sys.maxsize) if isinstance(value, np.ndarray) else None
        if file is not None:
            file.check()


def _of_other_library(array: np.ndarray) -> MappedFile | None:
    """The file at the address of an array, from the system's list of this process's memory."""
    address = int(array.__array_interface__["data"][0])
    try:
        lines = Path("/proc/self/maps").read_bytes().splitlines()
    except OSError:  # not Linux
        return None
    for line in lines:
        area, _, _, _, inode, *name = line.split(maxsplit=5)
        start, stop = (int(text, 16) for text in area.split(b"-"))
        if start <= address < stop:
            return MappedFile(os.fsdecode(name[0]) if name else "") if inode != b"0" else None
    return None
