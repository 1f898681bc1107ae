"""The bytes of a table: a file or a stream, decompressed, or one file of a zip archive."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from madaline.data.reading.assumption import Assumption, listed
from madaline.data.reading.encoding import BLOCK, opened
from madaline.data.reading.options import ReadOptions
from madaline.data.reading.temporary import temporary_folder
from madaline.data.reading.unpacking import OPENERS, Unpacked
from madaline.errors import ConfigError, FileFormatError

IN_MEMORY = 1 << 26
"Content of at most this many bytes is kept in memory; a larger one stays in its file or goes to a temporary one."
START = 4096
"Number of bytes from which the kind of a file is told."
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
WORKBOOK = "xl/workbook.xml"
"The file that makes a zip archive an Excel workbook."
OTHER_ARCHIVES = {
    "xl/workbook.bin": "a binary Excel workbook. Open it in a spreadsheet program and save it as .xlsx or CSV",
    "content.xml": "an OpenDocument file. Open it in a spreadsheet program and save the sheet as .xlsx or CSV",
    "word/document.xml": "a Word document. Copy its table into a spreadsheet program and save the sheet as CSV",
    "ppt/presentation.xml": "a PowerPoint presentation. A table in a CSV, Excel or Parquet file is needed",
}
"Zip archives that are documents of other programs, by a file in them."
MOST_LAYERS = 3
"How often a table may be compressed: a .csv.gz in a zip archive is compressed twice."


@dataclass(frozen=True)
class Content:
    """The content of a table, decompressed.

    Attributes
    ----------
    raw : Path or bytes
        The bytes, or the file that holds them.
    name : str
        The name in messages.
    assumptions : tuple of Assumption
    is_chosen : bool
        Whether the user's choice of a table was that of a file in an archive.
    """

    raw: Path | bytes
    name: str
    assumptions: tuple[Assumption, ...] = ()
    is_chosen: bool = False

    def start(self) -> bytes:
        """The first bytes."""
        with opened(self.raw) as stream:
            found: bytes = stream.read(START)
            return found

    def in_file(self, stack: ExitStack) -> Path:
        """The file that holds the bytes, which may be a temporary one."""
        if isinstance(self.raw, Path):
            return self.raw
        path = temporary_folder(stack) / "table"
        path.write_bytes(self.raw)
        return path


def read_content(
    source: Path | IO[bytes], name: str, options: ReadOptions, stack: ExitStack, *, unpack: bool = True
) -> Content:
    """The content of a file or stream.

    Parameters
    ----------
    source : Path or binary stream
    name : str
        The name in messages.
    options : ReadOptions
        ``max_unpacked`` limits the size, and ``table`` chooses a file of a zip archive.
    stack : ExitStack
        Removes temporary files.
    unpack : bool
        Whether compressed files are decompressed.
    """
    raw = source if isinstance(source, Path) else stored(lambda: source.read(BLOCK), stack)
    content = Content(raw, name)
    for _ in range(MOST_LAYERS if unpack else 0):
        start = content.start()
        if start.startswith(tuple(OPENERS)):
            with Unpacked(content.raw, name, options.max_unpacked) as unpacked:
                content = replace(content, raw=stored(unpacked.read, stack))
        elif start.startswith(ZIP) and not is_workbook(content):
            content = _from_archive(content, options, stack)
        else:
            break
    return content


def stored(read: Callable[[], bytes], stack: ExitStack) -> Path | bytes:
    """All blocks that ``read`` returns, in memory or in a temporary file."""
    content = bytearray()
    while len(content) <= IN_MEMORY:
        block = read()
        if not block:
            return bytes(content)
        content += block
    path = temporary_folder(stack) / "table"
    with path.open("xb") as file:
        file.write(content)
        content.clear()
        while block := read():
            file.write(block)
    return path


@contextmanager
def open_archive(content: Content) -> Iterator[zipfile.ZipFile]:
    """A zip archive; a FileFormatError if it is damaged."""
    with opened(content.raw) as file:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            text = f"{content.name} is a damaged zip file: {error}. Download or copy it again."
            raise FileFormatError(text) from error
        with archive:
            yield archive


def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> IO[bytes]:
    """The decompressed bytes of a file in a zip archive."""
    if member.flag_bits & 1:
        raise FileFormatError(f"{name} is protected by a password. Unpack it first.")
    try:
        return archive.open(member)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(f"{name} cannot be unpacked: {error}. Unpack it first, or download it again.") from error


def is_workbook(content: Content) -> bool:
    """Whether this is an Excel workbook; an error for other documents that are zip archives."""
    if not content.start().startswith(ZIP):
        return False
    with open_archive(content) as archive:
        names = set(archive.namelist())
    for member, what in OTHER_ARCHIVES.items():
        if member in names and (member != "content.xml" or "mimetype" in names):
            raise FileFormatError(f"{content.name} is {what}.")
    return WORKBOOK in names


def _from_archive(content: Content, options: ReadOptions, stack: ExitStack) -> Content:
    """The one table of a zip archive, or the one that is asked for."""
    with open_archive(content) as archive:
        named = [each for each in archive.infolist() if each.filename]
        files = [each for each in named if not each.is_dir() and not _is_hidden(each.filename)]
        wanted = None if content.is_chosen else options.table
        chosen = _chosen([each.filename for each in files], content.name, wanted)
        name = f"{content.name}/{chosen}"
        member = next(each for each in files if each.filename == chosen)
        stream = open_member(archive, member, name)
        with Unpacked(content.raw, name, options.max_unpacked, stream=stream) as unpacked:
            raw = stored(unpacked.read, stack)
    notes = content.assumptions
    if len(files) > 1 and wanted is None:
        text = f"{chosen!r} is read, the only table among {len(files):,} files of the archive."
        notes += (Assumption(text, "--table"),)
    return Content(raw, name, notes, is_chosen=content.is_chosen or (len(files) > 1 and wanted is not None))


def _is_hidden(name: str) -> bool:
    """Files that computers add on their own."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _chosen(names: list[str], archive: str, wanted: str | None) -> str:
    if not names:
        raise FileFormatError(f"{archive} is an archive without files: there is no table in it.")
    if len(names) == 1:
        return names[0]
    if wanted is not None:
        found = [name for name in names if wanted in (name, name.rpartition("/")[2])]
        if len(found) != 1:
            raise ConfigError(
                f"--table {wanted!r}: {archive} has {'no' if not found else 'more than one'} file of this name. Files: "
                f"{listed(map(repr, names), 10)}."
            )
        return found[0]
    tables = [name for name in names if name.lower().endswith(TABLE_SUFFIXES)]
    if len(tables) == 1:
        return tables[0]
    raise ConfigError(
        f"{archive} has {len(names):,} files. Choose one, for example --table {names[0]!r}. Files: "
        f"{listed(map(repr, names), 10)}."
    )


PACKED_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst", ".zip")
TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".jsonl", ".ndjson", ".json")
TABLE_SUFFIXES = (
    *(f"{suffix}{packed}" for suffix in TEXT_SUFFIXES for packed in PACKED_SUFFIXES if suffix != ".txt" or packed),
    *(".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".xlsm", ".sqlite", ".sqlite3", ".duckdb"),
)
"How names of tables end, and of nothing else: a .txt file may be a description."
