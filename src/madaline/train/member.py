"""A member of a population: a trainer with its rows, options and checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from madaline.errors import ConfigError, MadalineError
from madaline.train.arguments import check_path
from madaline.train.chosen import ChosenRows
from madaline.train.history import History
from madaline.train.options import FitOptions
from madaline.train.session import Session
from madaline.train.shared import SharedParts
from madaline.train.trainer import Trainer

OF_ALL = ("progress", "checkpoint", "resume", "on_divergence", "cluster")
"Options of a whole population, which its members do not have."


@dataclass
class Member:
    """One trainer, and what it is trained on; see :class:`madaline.train.side_by_side.Training`."""

    trainer: Trainer
    X: Any
    y: Any
    options: FitOptions
    chosen: ChosenRows
    shared: SharedParts
    has_run: bool = False

    @property
    def max_threads(self) -> int | None:
        """The limit of the trainer."""
        return self.trainer.threads

    @property
    def has_checkpoint(self) -> bool:
        """Whether it is resumed from a checkpoint of its own."""
        return self.options.resume is not None

    def start(self, *, threads: int, max_seconds: float | None) -> Session:
        """The session, ready to run."""
        options = self.options
        if max_seconds is not None:
            own = max_seconds if options.max_seconds is None else options.max_seconds
            options = changed(options, max_seconds=min(max_seconds, own))
        return self.trainer.new_session(
            self.X, self.y, options, chosen=self.chosen, shared=self.shared, threads=threads
        )

    def run(self, session: Session) -> None:
        """Run it; the trainer keeps the result, and no data."""
        self.has_run = True
        try:
            self.trainer.run_session(session)
        finally:
            self.trainer.forget_session()

    def history(self, reason: str) -> History:
        """The history; an empty one if the member was not started, for this reason."""
        if self.has_run:
            return self.trainer.history
        found = History()
        found.stopped = reason
        return found


def changed(options: FitOptions, **values: Any) -> FitOptions:
    """The same options with other values."""
    own = {option.name: getattr(options, option.name) for option in fields(FitOptions)}
    return FitOptions(**own | values)


def member_options(
    common: Mapping[str, Any], single: Sequence[Mapping[str, Any] | None], on_divergence: str
) -> list[FitOptions]:
    """The options of each member: the common ones, replaced by its own."""
    known = [option.name for option in fields(FitOptions) if option.name not in OF_ALL]
    found = []
    for number, own in enumerate(single):
        merged = {**common, **(own or {})}
        for name in merged:
            if name not in known:
                raise TypeError(f"A member of a population has no option {name!r}. Options: {', '.join(known)}.")
        try:
            # A member raises its divergence, so that it is explained; the population decides what to do about it.
            on = "raise" if on_divergence == "stop" else on_divergence
            found.append(FitOptions(**merged, on_divergence=on, progress=False))
        except MadalineError as error:
            raise type(error)(f"Member {number}: {error}" if own else str(error)) from None
    return found


def with_checkpoints(given: Sequence[FitOptions], folder: Any, resume: Any) -> list[FitOptions]:
    """Options with a file for checkpoints in a folder, which is made if needed, and perhaps one to resume from."""
    check_path("checkpoint", folder)
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ConfigError(f"checkpoint={str(path)!r} is a file; it must be a folder, with a file for each member.")
    if not path.parent.is_dir():
        raise ConfigError(f"checkpoint={str(path)!r}: the folder {str(path.parent)!r} does not exist.")
    found = list(given)
    if resume is not None:
        check_path("resume", resume)
        if Path(resume) != path or path.exists():
            found = resuming(found, resume)
    path.mkdir(exist_ok=True)
    if resume is None:
        for old in _files(path):
            old.unlink()
    return [changed(one, checkpoint=path / _file_name(number)) for number, one in enumerate(found)]


def resuming(given: Sequence[FitOptions], folder: Any) -> list[FitOptions]:
    """Options with the checkpoint to resume from, for the members that have one."""
    check_path("resume", folder)
    path = Path(folder)
    if not path.is_dir():
        raise ConfigError(f"resume={str(path)!r} is not a folder of checkpoints.")
    names = {file.name for file in _files(path)}
    ours = [_file_name(number) for number in range(len(given))]
    if others := sorted(names - set(ours)):
        raise ConfigError(
            f"resume={str(path)!r} has {others[0]!r}, but there are {len(given)} trainers. Give the same trainers as "
            "before."
        )
    return [changed(one, resume=path / name) if name in names else one for one, name in zip(given, ours, strict=True)]


def _file_name(number: int) -> str:
    return f"member-{number:05d}.checkpoint"


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("member-*.checkpoint"))
