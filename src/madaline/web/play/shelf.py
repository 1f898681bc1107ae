"""The runs of a server: a few at a time, so that memory is bounded."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from typing import Any

from madaline.web.errors import RequestError
from madaline.web.play.exercise import Exercise
from madaline.web.play.findings import Examiner
from madaline.web.play.frame import Viewer
from madaline.web.play.problem import make_problem
from madaline.web.play.run import Run
from madaline.web.play.settings import Settings
from madaline.web.play.source_code import command_line, python_code
from madaline.web.play.tables import TableStore

MOST_RUNS = 12


class ShownRun:
    """A run, its pictures and its diagnosis."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.run = Run(exercise)
        if self.run.start is None:
            raise RequestError(422, self.run.message or "The training did not start.")
        self.viewer = Viewer(exercise, self.run.start)
        self.examiner = Examiner(self.run)

    def frame(self, *, at: int | None, seen_rows: int) -> bytes:
        """The frame at a step, or at the end."""
        return self.viewer.frame(self.run.state(), at=at, seen_rows=seen_rows)

    def close(self) -> None:
        """End the training."""
        self.examiner.close()
        self.run.close()

    def to_plain(self, number: int) -> dict[str, Any]:
        """What a page is told about a new run."""
        exercise, problem = self.exercise, self.exercise.problem
        settings = exercise.settings
        network = self.viewer
        return {
            "run": number,
            "link": settings.link(),
            "settings": settings.to_plain(),
            "task": problem.task,
            "loss": exercise.loss.name,
            "metric": exercise.metric,
            "inputs": problem.inputs,
            "classes": problem.classes,
            "axes": problem.axes,
            "extent": problem.extent(),
            "training": {"at": problem.coordinates.round(4).tolist(), "y": problem.y.round(4).tolist()},
            "test": {"at": problem.coordinates_test.round(4).tolist(), "y": problem.y_test.round(4).tolist()},
            "outputs": exercise.n_outputs,
            "stages": len(network.stages),
            "stepsAnEpoch": self.run.steps_an_epoch,
            "notes": problem.notes,
            "python": python_code(exercise),
            "command": command_line(settings),
        }


class RunShelf:
    """Runs by number. The one that was not asked for the longest time is closed when there are too many."""

    def __init__(self, tables: TableStore) -> None:
        self._tables = tables
        self._runs: OrderedDict[int, ShownRun] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def add(self, settings: Settings) -> tuple[int, ShownRun]:
        """Start a run; it waits for a command."""
        shown = ShownRun(Exercise(settings, make_problem(settings, self._tables)))
        with self._lock:
            number = next(self._numbers)
            self._runs[number] = shown
            dropped = [self._runs.popitem(last=False)[1] for _ in range(len(self._runs) - MOST_RUNS)]
        for each in dropped:
            each.close()
        return number, shown

    def get(self, number: int) -> ShownRun:
        """A run by its number."""
        with self._lock:
            found = self._runs.get(number)
            if found is None:
                raise RequestError(404, "This run was closed. The page starts it again.")
            self._runs.move_to_end(number)
        found.run.ask()
        return found

    def remove(self, number: int) -> None:
        """Close a run."""
        with self._lock:
            found = self._runs.pop(number, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Close all runs."""
        with self._lock:
            every = list(self._runs.values())
            self._runs.clear()
        for each in every:
            each.close()
