"""The folder of a training run: written beside its place, and moved there when it is complete."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from shlex import quote

from madaline import container
from madaline.cli.exchange import exchange
from madaline.errors import ConfigError


class StoppedRun(Exception):  # noqa: N818 - not an error
    """A run that was stopped by Ctrl-C and can be resumed."""


CHECKPOINT, CONFIG, MODEL = "checkpoint.madaline", "config.toml", container.MODEL
INPUT = "input"
"Copy of standard input, so that the run can be resumed."
MARK = ".unfinished"
"A file in the folder of an unfinished run; a folder with a model and without it has been replaced by another."
NEEDED_TO_TRAIN = ("rows-*",)
NEEDED_TO_RESUME = (CHECKPOINT, INPUT)
"Files that are not needed when a run has ended."


class RunFolder:
    """Where a run is written.

    During training everything is in ``NAME.unfinished``. At the end that folder becomes ``NAME`` in one step,
    exchanging places with an existing one, so that ``NAME`` is always complete. Where folders cannot be exchanged, the
    old one is first moved to ``.NAME.replaced``; if the process ends at that moment, the next one that uses the folder
    moves it back.

    Parameters
    ----------
    path : Path
        The finished folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path.with_name(f"{path.name}.unfinished")
        self._old = path.with_name(f".{path.name}.replaced")

    @classmethod
    def free(cls, wanted: Path | None, source: str) -> RunFolder:
        """The given folder, or one named after the data with a free number."""
        if wanted is not None:
            return cls(Path(os.path.normpath(wanted)))
        named = Path(source) if not glob.has_magic(Path(source).name) else Path(source).parent
        stem = named.name.split(".")[0] or "table"
        stem = "stdin" if source == "-" else stem
        count = 1
        while (folder := cls(Path(f"{stem}-run" if count == 1 else f"{stem}-run-{count}"))).is_taken:
            count += 1
        return folder

    @property
    def typed(self) -> str:
        """The path, quoted for a shell."""
        return quote(str(self.path))

    @property
    def is_taken(self) -> bool:
        """Whether the folder is in use."""
        return self.path.exists() or self.work.exists() or self._old.exists()

    @property
    def checkpoint(self) -> Path:
        """The checkpoint: a file, or for an ensemble a folder with a file for each net."""
        return self.work / CHECKPOINT

    def put_back(self) -> None:
        """Move a finished run back to its place, if a process ended while it was being replaced."""
        if not self.path.exists() and (self._old / MODEL).exists():
            self._old.replace(self.path)

    def _clear_up(self) -> None:
        """Finish what a process that ended while it was moving a folder had begun."""
        self.put_back()
        shutil.rmtree(self._old, ignore_errors=True)
        for left in self.path.parent.glob(f".{glob.escape(self.path.name)}.*.copy"):
            shutil.rmtree(left, ignore_errors=True)
        if (self.work / MODEL).exists() and not (self.work / MARK).exists():  # replaced, and to be removed
            shutil.rmtree(self.work)
        if self.path.is_dir():
            (self.path / MARK).unlink(missing_ok=True)

    def start(self, *, force: bool) -> None:
        """Start a new run; an existing finished one stays until the new one is complete."""
        self._clear_up()
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"The folder {str(self.path.parent)!r} for the run does not exist.")
        if self.work.exists() and not force:
            raise FileExistsError(
                f"There is an unfinished run in {str(self.work)!r}. Continue it with madaline train --resume "
                f"{self.typed}, or start again with --force."
            )
        if self.path.exists() and not force:
            raise FileExistsError(f"{str(self.path)!r} already exists. Choose another --out, or use --force.")
        if (
            self.path.exists()
            and not (self.path / MODEL).exists()
            and (self.path.is_file() or any(self.path.iterdir()))
        ):
            raise FileExistsError(f"{str(self.path)!r} is not a run folder, and --force replaces only those.")
        if self.work.exists():
            shutil.rmtree(self.work)
        self.work.mkdir()
        (self.work / MARK).touch()

    def resume(self) -> None:
        """Prepare to resume a run that was stopped."""
        self._clear_up()
        if self.work.is_dir():
            if not (self.work / CONFIG).exists():
                raise ConfigError(f"{str(self.work)!r} has no {CONFIG}: training had not started. Start the run again.")
            return
        if not (self.path / CONFIG).exists():
            raise FileNotFoundError(f"There is no run to resume in {str(self.path)!r}.")
        if not (self.path / CHECKPOINT).exists():
            raise ConfigError(f"The run in {str(self.path)!r} is complete: there is nothing to resume.")
        beside = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.", suffix=".copy", dir=self.path.parent))
        beside.chmod(stat.S_IMODE(self.path.stat().st_mode))
        (beside / MARK).touch()
        for name in (CONFIG, CHECKPOINT, INPUT):
            if (self.path / name).is_dir():
                shutil.copytree(self.path / name, beside / name)
            elif (self.path / name).exists():
                shutil.copy2(self.path / name, beside / name)
        beside.replace(self.work)

    def input_of(self, source: str, *, resume: bool) -> Path | None:
        """The file with the copy of standard input; None if the table is a file."""
        if source != "-":
            return None
        file = self.work / INPUT
        if not resume:
            with file.open("wb") as kept:
                shutil.copyfileobj(sys.stdin.buffer, kept)
        elif not file.exists():
            raise ConfigError(
                f"{str(self.work)!r} does not have the table, which came from standard input. Start the run again."
            )
        return file

    def discard(self) -> None:
        """Remove a run that did not begin."""
        shutil.rmtree(self.work, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        """Write a text file of the run, whole or not at all."""
        container.write_whole(self.work / name, text.encode())

    def finish(self, *, can_resume: bool) -> None:
        """Move the folder to its place, with the files that are needed to resume if that is possible."""
        for pattern in NEEDED_TO_TRAIN if can_resume else (*NEEDED_TO_TRAIN, *NEEDED_TO_RESUME):
            for file in self.work.glob(pattern):
                shutil.rmtree(file) if file.is_dir() else file.unlink()
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()
        if not self.path.exists():
            self.work.replace(self.path)
        elif exchange(self.work, self.path):
            self.work.replace(self._old)
        else:
            self.path.replace(self._old)
            self.work.replace(self.path)
        self._clear_up()


def model_of(path: Path) -> Path:
    """The model file: the path itself, or the one in a run folder."""
    folder = path.parent if path.name == MODEL else path
    if not folder.exists():
        RunFolder(folder).put_back()
    return path / MODEL if path.is_dir() else path
