"""Files with arrays and one JSON document (safetensors), and the writing of whole files.

Reading a file runs no code from it.
"""

from __future__ import annotations

import glob
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from madaline.errors import FileFormatError

MOST_ARRAYS = 100_000
"Largest number of arrays in a file; each takes memory and time before anything can be checked."
LONGEST_LIST = 100_000_000
"Largest number of bytes that safetensors reads for the list of arrays and the document."
DOCUMENT = "madaline"
"The key of the document in the file's metadata."


def write(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], document: Mapping[str, Any]) -> None:
    """Write a file. Whatever happens meanwhile, the path holds the old file or the new one, never a part.

    Parameters
    ----------
    path : path
        The file. Its folder must exist.
    arrays : dict of array
        Arrays by name. Their dtypes are kept.
    document : dict
        Numbers, strings, lists and dicts; NaN and infinities are allowed.
    """
    from safetensors.numpy import save  # slow to import

    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    # The format needs at least one array.
    write_whole(path, save(whole or {"": np.zeros(0)}, metadata={DOCUMENT: json.dumps(document)}))


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file of any kind. Whatever happens, the path holds the old file or the new one, never a part."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of ``path`` at the end of the block, if there was no error.

    The new file is written in the same folder under a random name. It is created by this process and never opened by
    name again, so that nobody who can write to the folder can redirect it to another file. It has the permissions of
    the file that it replaces, or those of any new file.

    Parameters
    ----------
    path : path
        The file. Its folder must exist.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write {target.name!r} to.")
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder. Give the name of a file in it.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(beside, flags, 0o666)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if hasattr(os, "fchmod") and target.is_file():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            if not os.path.samestat(os.fstat(file.fileno()), beside.lstat()):
                raise OSError(f"{str(beside)!r} was exchanged for another file while it was written.")
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    if os.name == "posix":  # the new name must reach the disk too
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove what processes that were killed while they wrote ``path`` have left beside it."""
    target = Path(path)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        left.unlink(missing_ok=True)


def read(path: str | os.PathLike[str], *, kind: str | tuple[str, ...]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the document of a file of this kind, or of one of these kinds.

    Raises
    ------
    FileFormatError
        If it is not a complete file of such a kind.
    FileNotFoundError
        If there is no file.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    kinds = (kind,) if isinstance(kind, str) else kind
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if path.is_dir():
        raise FileFormatError(f"{str(path)!r} is a folder, not a {kinds[0]} file.")
    _check_size(path)
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(DOCUMENT)
            arrays = {name: file.get_tensor(name) for name in file.keys() if name}  # noqa: SIM118 - no dict
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged or no madaline file: {error}.") from error
    if text is None:
        raise FileFormatError(f"{str(path)!r} was not written by madaline: it has no description of its contents.")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{str(path)!r} has a damaged description: {error}.") from error
    if not isinstance(document, dict) or document.get("kind") not in kinds:
        found = document.get("kind") if isinstance(document, dict) else None
        raise FileFormatError(f"{str(path)!r} is a {found!r} file, and a {kinds[0]!r} file is needed.")
    return arrays, document


def _check_size(path: Path) -> None:
    """Raise an error if the list of arrays is too long; other damage is found later."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            listed = file.read(length).count(b'"data_offsets"') if length <= LONGEST_LIST else 0
    except OSError as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if listed > MOST_ARRAYS:
        raise FileFormatError(f"{str(path)!r} lists {listed:,} arrays, and at most {MOST_ARRAYS:,} are allowed.")
