"""The folder of a training run: made beside its place, and put there when it is whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from madaline import container
from madaline.errors import ConfigError


class StoppedRun(Exception):  # noqa: N818 - it is no error
    """A run that was stopped by Ctrl-C, and can go on."""


CHECKPOINT, CONFIG, MODEL = "checkpoint.madaline", "config.toml", "model.madaline"


class RunFolder:
    """Where a run writes to.

    While training goes on, all is in ``NAME.unfinished``; at the end that becomes ``NAME`` in one move. Whatever
    happens meanwhile, ``NAME`` is what it was before or what it is to be.

    Parameters
    ----------
    path : Path
        Of the finished folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path.with_name(f"{path.name}.unfinished")

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
    def is_taken(self) -> bool:
        """Whether a run is or was there."""
        return self.path.exists() or self.work.exists()

    @property
    def checkpoint(self) -> Path:
        """The file that training goes on from."""
        return self.work / CHECKPOINT

    def start(self, *, force: bool) -> None:
        """Make room for a new run; what is finished stays until the new one is."""
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"There is no folder {str(self.path.parent)!r} to write the run to.")
        if self.work.exists() and not force:
            raise FileExistsError(
                f"There is an unfinished run in {str(self.work)!r}. Go on with madaline train --resume {self.path}, "
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

    def resume(self) -> None:
        """Prepare to go on with a run that was stopped."""
        if self.work.is_dir():
            if not (self.work / CONFIG).exists():
                raise ConfigError(f"{str(self.work)!r} has no {CONFIG}: the run had not begun. Start it anew.")
            return
        if not (self.path / CONFIG).exists():
            raise FileNotFoundError(f"There is no run in {str(self.path)!r} to go on with.")
        if not (self.path / CHECKPOINT).exists():
            raise ConfigError(f"The run in {str(self.path)!r} came to its end: there is nothing to go on with.")
        beside = self.path.with_name(f"{self.path.name}.copy")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        for name in (CONFIG, CHECKPOINT):
            shutil.copy2(self.path / name, beside / name)
        beside.replace(self.work)

    def discard(self) -> None:
        """Leave no trace of a run that did not begin."""
        shutil.rmtree(self.work, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        """A text of the run that goes on, whole or not at all."""
        container.write_whole(self.work / name, text.encode())

    def finish(self) -> None:
        """Put the whole folder in its place."""
        old = self.path.with_name(f"{self.path.name}.old")
        if self.path.exists():
            shutil.rmtree(old, ignore_errors=True)
            self.path.replace(old)
        self.work.replace(self.path)
        shutil.rmtree(old, ignore_errors=True)
