"""The folder of a training run: made beside its place, and put there when it is whole."""

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


class StoppedRun(Exception):  # noqa: N818 - it is no error
    """A run that was stopped by Ctrl-C, and can go on."""


CHECKPOINT, CONFIG, MODEL = "checkpoint.madaline", "config.toml", "model.madaline"
INPUT = "input"
"What came from standard input, for a run to go on with."
MARK = ".unfinished"
"A file in the folder of a run that goes on: a folder that has a model and no mark has been replaced by another."
NEEDED_TO_TRAIN = ("rows-*",)
NEEDED_TO_GO_ON = (CHECKPOINT, INPUT)
"Files that nobody needs when a run has come to its end."


class RunFolder:
    """Where a run writes to.

    While training goes on, all is in ``NAME.unfinished``; at the end that becomes ``NAME`` in one step, and trades
    places with what is there. Whatever happens meanwhile, ``NAME`` is what it was before or what it is to be. Where
    folders cannot trade places, the old one is moved to ``.NAME.replaced`` first; if the process ends at that very
    moment, the next one that uses the folder puts it back.

    Parameters
    ----------
    path : Path
        Of the finished folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path.with_name(f"{path.name}.unfinished")
        self._old = path.with_name(f".{path.name}.replaced")

    @classmethod
    def free(cls, wanted: Path | None, source: str) -> RunFolder:
        """The folder that was asked for, or one named after the data with a number that is free."""
        if wanted is not None:
            return cls(Path(os.path.normpath(wanted)))
        stem = Path(source).name.split(".")[0] or "table"
        stem = "stdin" if source == "-" else stem
        count = 1
        while (folder := cls(Path(f"{stem}-run" if count == 1 else f"{stem}-run-{count}"))).is_taken:
            count += 1
        return folder

    @property
    def typed(self) -> str:
        """The path as it is typed in a shell."""
        return quote(str(self.path))

    @property
    def is_taken(self) -> bool:
        """Whether a run is or was there."""
        return self.path.exists() or self.work.exists() or self._old.exists()

    @property
    def checkpoint(self) -> Path:
        """The file that training goes on from."""
        return self.work / CHECKPOINT

    def put_back(self) -> None:
        """Bring a finished run back to its place, from which it was taken by a process that ended at that moment."""
        if not self.path.exists() and (self._old / MODEL).exists():
            self._old.replace(self.path)

    def _clear_up(self) -> None:
        """Finish what a process that ended while it put a folder in its place had begun."""
        self.put_back()
        shutil.rmtree(self._old, ignore_errors=True)
        for left in self.path.parent.glob(f".{glob.escape(self.path.name)}.*.copy"):
            shutil.rmtree(left, ignore_errors=True)
        if (self.work / MODEL).exists() and not (self.work / MARK).exists():  # replaced, and to be removed
            shutil.rmtree(self.work)
        if self.path.is_dir():
            (self.path / MARK).unlink(missing_ok=True)

    def start(self, *, force: bool) -> None:
        """Make room for a new run; what is finished stays until the new one is."""
        self._clear_up()
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"There is no folder {str(self.path.parent)!r} to write the run to.")
        if self.work.exists() and not force:
            raise FileExistsError(
                f"There is an unfinished run in {str(self.work)!r}. Go on with madaline train --resume {self.typed}, "
                "or start afresh with --force."
            )
        if self.path.exists() and not force:
            raise FileExistsError(f"There is {str(self.path)!r} already. Choose another --out, or say --force.")
        if (
            self.path.exists()
            and not (self.path / MODEL).exists()
            and (self.path.is_file() or any(self.path.iterdir()))
        ):
            raise FileExistsError(f"{str(self.path)!r} is no folder of a run, and --force replaces only those.")
        if self.work.exists():
            shutil.rmtree(self.work)
        self.work.mkdir()
        (self.work / MARK).touch()

    def resume(self) -> None:
        """Prepare to go on with a run that was stopped."""
        self._clear_up()
        if self.work.is_dir():
            if not (self.work / CONFIG).exists():
                raise ConfigError(f"{str(self.work)!r} has no {CONFIG}: the run had not begun. Start it anew.")
            return
        if not (self.path / CONFIG).exists():
            raise FileNotFoundError(f"There is no run in {str(self.path)!r} to go on with.")
        if not (self.path / CHECKPOINT).exists():
            raise ConfigError(f"The run in {str(self.path)!r} came to its end: there is nothing to go on with.")
        beside = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.", suffix=".copy", dir=self.path.parent))
        beside.chmod(stat.S_IMODE(self.path.stat().st_mode))
        (beside / MARK).touch()
        for name in (CONFIG, CHECKPOINT, INPUT):
            if (self.path / name).exists():
                shutil.copy2(self.path / name, beside / name)
        beside.replace(self.work)

    def input_of(self, source: str, *, resume: bool) -> Path | None:
        """The file that keeps what came from standard input; None if the table is a file itself."""
        if source != "-":
            return None
        file = self.work / INPUT
        if not resume:
            with file.open("wb") as kept:
                shutil.copyfileobj(sys.stdin.buffer, kept)
        elif not file.exists():
            raise ConfigError(
                f"{str(self.work)!r} does not have the table, which came from standard input. Start the run anew."
            )
        return file

    def discard(self) -> None:
        """Leave no trace of a run that did not begin."""
        shutil.rmtree(self.work, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        """A text of the run that goes on, whole or not at all."""
        container.write_whole(self.work / name, text.encode())

    def finish(self, *, goes_on: bool) -> None:
        """Put the whole folder in its place; with what is needed to go on, if it may."""
        for pattern in NEEDED_TO_TRAIN if goes_on else (*NEEDED_TO_TRAIN, *NEEDED_TO_GO_ON):
            for file in self.work.glob(pattern):
                file.unlink()
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
    """The file of a model: the path itself, or that in the folder of a run."""
    folder = path.parent if path.name == MODEL else path
    if not folder.exists():
        RunFolder(folder).put_back()
    return path / MODEL if path.is_dir() else path
