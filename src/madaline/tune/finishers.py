"""Trials that were trained to the end: their nets, kept in memory and in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from madaline import container
from madaline.errors import FileFormatError
from madaline.estimators.ensemble.members import EnsembleMember, Task
from madaline.functional import files
from madaline.train.saved_state import history_from_plain, history_to_plain
from madaline.tune.record import FINISHED, TrialRecord


@dataclass(frozen=True)
class Finisher:
    """A finished trial and its nets, one for each fold."""

    record: TrialRecord
    members: Sequence[EnsembleMember]


class Finishers:
    """The best finished trials.

    Parameters
    ----------
    most : int
        How many are kept.
    folder : Path, optional
        Where their nets are written.
    """

    def __init__(self, most: int, folder: Path | None) -> None:
        self.most, self.folder = most, folder
        self.found: list[Finisher] = []

    def add(self, finisher: Finisher) -> None:
        """Keep a trial if it is one of the best."""
        self.found = sorted([*self.found, finisher], key=lambda each: (each.record.loss, each.record.number))
        if self.folder is not None and finisher in self.found[: self.most]:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(self._file(finisher.record.number), finisher.members)
        self.found = self.found[: self.most]

    def clear_up(self) -> None:
        """Remove the files of trials that are no longer among the best; only when the round is in the storage."""
        if self.folder is not None:
            kept = {self._file(each.record.number) for each in self.found}
            for file in self.folder.glob("trial-*.madaline"):
                if file not in kept:
                    file.unlink()

    def load(self, records: Sequence[TrialRecord], tasks_of: Callable[[TrialRecord], Sequence[Task]]) -> None:
        """Read the nets of trials that were finished before."""
        if self.folder is None:
            return
        best = sorted((each for each in records if each.state == FINISHED), key=lambda each: (each.loss, each.number))
        for record in best:
            file = self._file(record.number)
            if file.exists() and len(self.found) < self.most:
                self.found.append(Finisher(record, _read(file, tasks_of(record))))

    def _file(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / f"trial-{number:05d}.madaline"


def _write(path: Path, members: Sequence[EnsembleMember]) -> None:
    arrays: dict[str, np.ndarray] = {}
    documents = []
    for member in members:
        fold, history = member.task.fold, member.history
        arrays |= {f"{fold}.{name}": array for name, array in files.model_arrays(member.model).items()}
        arrays[f"{fold}.outputs"] = member.outputs
        ended = {"stopped": history.stopped, "converged": history.converged}
        documents.append(files.describe(member.model) | {"fold": fold, "history": history_to_plain(history) | ended})
    container.write(path, arrays, {"kind": "trial", "members": documents})


def _read(path: Path, tasks: Sequence[Task]) -> list[EnsembleMember]:
    arrays, document = container.read(path, kind="trial")
    found = []
    with container.reading(path, "a complete file of a trial", keep=()):
        for each in document["members"]:
            task = next(task for task in tasks if task.fold == each["fold"])
            prefix = f"{task.fold}."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            outputs = own.pop("outputs")
            if len(outputs) != len(task.held):
                raise FileFormatError("its predictions are for other rows")
            history = history_from_plain(each["history"])
            history.stopped, history.converged = str(each["history"]["stopped"]), each["history"]["converged"]
            found.append(EnsembleMember(task, files.restored(each, own), history, outputs))
    return found
