"""Files that hold arrays and one JSON document: safetensors, written whole or not at all, read without running code."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import FileFormatError

MOST_ARRAYS = 100_000
"A file that lists more is none of ours; each takes memory and time before anything can be checked."
LONGEST_LIST = 100_000_000
"Bytes of the list of arrays and the document that safetensors reads at most."
DOCUMENT = "madaline"
"The key of the document in the file's metadata."


def write(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], document: Mapping[str, Any]) -> None:
    """Write a file. Whatever happens meanwhile, the path holds the old file or the new one, never a part.

    Parameters
    ----------
    path : path
        Where; the folder must exist.
    arrays : dict of array
        Their types are kept.
    document : dict
        Numbers, strings, lists and dicts; NaN and infinities are allowed.
    """
    from safetensors.numpy import save  # those who save wait for it

    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    # One array at least, since the format refuses a file without any.
    write_whole(path, save(whole or {"": np.zeros(0)}, metadata={DOCUMENT: json.dumps(document)}))


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file of any kind. Whatever happens, the path holds the old file or the new one, never a part."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write {target.name!r} to.")
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder. Give the name of a file in it.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    if os.name == "posix":  # the new name, too, must reach the disk
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read(path: str | os.PathLike[str], *, kind: str | tuple[str, ...]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the document of a file of this kind, or of one of these.

    Raises
    ------
    FileFormatError
        If it is no such file, or not a whole one.
    FileNotFoundError
        If there is none.
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
    """An error if the list of arrays is out of all proportion; what is not as it should be is found later."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            listed = file.read(length).count(b'"data_offsets"') if length <= LONGEST_LIST else 0
    except OSError as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if listed > MOST_ARRAYS:
        raise FileFormatError(f"{str(path)!r} lists {listed:,} arrays, and at most {MOST_ARRAYS:,} are allowed.")
