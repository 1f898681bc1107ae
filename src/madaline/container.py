"""Files that hold arrays and one JSON document: safetensors, written atomically and read without running code.

The metadata of a file hold its checksum; a file that was altered is not read.
"""

from __future__ import annotations

import functools
import glob
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from madaline import checksum
from madaline.errors import FileFormatError

MOST_ARRAYS = 100_000
"Maximum number of arrays in a file; each takes memory and time before anything can be checked."
LONGEST_LIST = 100_000_000
"Maximum number of bytes of the header (the list of arrays and the document); the limit of safetensors."
DOCUMENT = "madaline"
"The key of the document in the file's metadata."
MODEL = "model.madaline"
"Name of the model file in the folder of a run."
DTYPES = frozenset({"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F16", "F32", "F64"})
"The number types of safetensors that NumPy has, too."


def write(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], document: Mapping[str, Any]) -> None:
    """Write a file. If writing fails, the path still holds the old file.

    Parameters
    ----------
    path : path
        Path of the file. Its folder must exist.
    arrays : dict of array
        Their dtypes are kept.
    document : dict
        Numbers, strings, lists and dicts; NaN and infinities are allowed.
    """
    from safetensors.numpy import save  # imported late, because only saving needs it

    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    # At least one array, because the format does not allow a file without any.
    metadata = {DOCUMENT: json.dumps(document)}
    with replacing(path) as file:
        file.writelines(checksum.sealed(save(whole or {"": np.zeros(0)}, metadata=metadata)))


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file of any kind atomically: the path holds either the old file or the complete new one."""
    with replacing(path) as file:
        file.write(content)


_create = cast(Callable[[Path], BinaryIO], functools.partial(open, mode="x+b"))  # "x" fails at a link, as at any file


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
    opened: list[BinaryIO] = []
    try:
        try:
            # One call in C creates the file and keeps it, so that Ctrl-C cannot come between the two.
            opened.extend(map(_create, [beside]))
            file = opened[0]
            yield file
            file.flush()
            os.fsync(file.fileno())
            if hasattr(os, "fchmod") and target.is_file():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            if not os.path.samestat(os.fstat(file.fileno()), beside.lstat()):
                raise OSError(f"{str(beside)!r} was exchanged for another file while it was written.")
        finally:
            for each in opened:
                each.close()
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
    """Remove temporary files of processes that were killed while they wrote ``path``."""
    target = Path(path)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        left.unlink(missing_ok=True)


@contextmanager
def reading(
    path: str | os.PathLike[str],
    what: str = "a madaline file",
    *,
    keep: tuple[type[Exception], ...] = (FileFormatError,),
) -> Iterator[None]:
    """Turn every failure inside the block into a FileFormatError that names the file.

    Damaged files make readers fail in many ways. A panic of a reader written in Rust is not even an Exception.

    Parameters
    ----------
    path : path
        Path of the file.
    what : str
        The kind of file that is expected, with its article.
    keep : tuple of types
        Exceptions that are passed on unchanged.
    """
    try:
        yield
    except keep:
        raise
    except Exception as error:  # whatever a damaged file makes a reader raise
        raise FileFormatError(_damaged(path, what, error)) from error
    except BaseException as error:  # a panic of a Rust library is not an Exception
        if type(error).__name__ != "PanicException":
            raise
        raise FileFormatError(_damaged(path, what, error)) from error


def _damaged(path: str | os.PathLike[str], what: str, error: BaseException) -> str:
    reason = f"the entry {error} is missing" if type(error) is KeyError else str(error) or type(error).__name__
    return f"{os.fspath(path)!r} is damaged or not {what}: {reason.rstrip('.')}."


def read(path: str | os.PathLike[str], *, kind: str | tuple[str, ...]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read the arrays and the document of a file of this kind, or of one of these kinds.

    Raises
    ------
    FileFormatError
        If the file is damaged, incomplete or of another kind.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    kinds = (kind,) if isinstance(kind, str) else kind
    if path.is_dir():
        raise FileFormatError(f"{str(path)!r} is a folder, not a {kinds[0]} file.")
    arrays, metadata = read_safetensors(path)
    text = metadata.get(DOCUMENT)
    if text is None:
        raise FileFormatError(f"{str(path)!r} was not written by madaline: it has no description of its contents.")
    checksum.check_sealed(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{str(path)!r} has a damaged description: {error}.") from error
    if not isinstance(document, dict) or document.get("kind") not in kinds:
        found = document.get("kind") if isinstance(document, dict) else None
        raise FileFormatError(f"{str(path)!r} is a {found!r} file, and a {kinds[0]!r} file is needed.")
    return arrays, document


def read_safetensors(path: Path, what: str = "a madaline file") -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read the arrays and the metadata of a safetensors file; ``what`` says which kind of file is expected."""
    from safetensors import safe_open

    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if not path.is_file():
        raise FileFormatError(f"{str(path)!r} is not a regular file.")
    _check_header(path)
    with reading(path, what), safe_open(path, framework="numpy") as file:
        arrays = {name: _array(file, name, path) for name in file.keys() if name}  # noqa: SIM118 - no dict
        return arrays, file.metadata() or {}


def _array(file: Any, name: str, path: Path) -> np.ndarray:
    dtype = file.get_slice(name).get_dtype()
    if dtype not in DTYPES:
        raise FileFormatError(
            f"{str(path)!r}: the array {name!r} has dtype {dtype}, which is not supported. Save it as float32."
        )
    found: np.ndarray = file.get_tensor(name)
    return found


def _check_header(path: Path) -> None:
    """Raise an error if the header lists too many arrays; other errors are found later."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            listed = file.read(length).count(b'"data_offsets"') if length <= LONGEST_LIST else 0
    except OSError as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if listed > MOST_ARRAYS:
        raise FileFormatError(f"{str(path)!r} lists {listed:,} arrays, and at most {MOST_ARRAYS:,} are allowed.")
