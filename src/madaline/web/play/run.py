"""A run of the playground: training in a thread that can be paused, stepped, slowed down and looked back at."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import MadalineError
from madaline.functional.model import Model
from madaline.train.events import Callback, TrainingView
from madaline.web.play.exercise import Exercise

MOST_SNAPSHOTS, MOST_NUMBERS = 400, 4_000_000
"Largest number of snapshots of a run, and of numbers in all of them; every second one is dropped at the limit."
IDLE_SECONDS = 30.0
"A run that no page has asked for in this time is paused."


@dataclass(frozen=True)
class Snapshot:
    """Parameters and state after a step."""

    step: int
    epoch: int
    params: np.ndarray
    state: np.ndarray
    before: np.ndarray
    "The parameters of the snapshot that was taken before."


@dataclass(frozen=True)
class RunState:
    """What is known of a run at one moment; all of it belongs together."""

    status: str
    message: str
    version: int
    step: int
    snapshots: tuple[Snapshot, ...]
    history: Mapping[str, list[Any]]


class Run(Callback):
    """Trains in a thread, as far as it is told.

    Parameters
    ----------
    exercise : Exercise
        Settings and data.

    Attributes
    ----------
    status : {"paused", "running", "finished", "failed"}
    message : str
        Why it failed.
    version : int
        Grows with every change that a page should draw.
    """

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.trainer = exercise.trainer()
        self.status, self.message, self.version = "paused", "", 0
        self.step = self.epoch = 0
        self.start: Model | None = None
        self._snapshots: list[Snapshot] = []
        self._stride, self._count = 1, 0
        self._goal: int | None = 0  # the step to stop after; None to go on
        self._delay = 0.0
        self._is_closed = False
        self._asked = time.monotonic()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._train, name="madaline-play", daemon=True)
        self._thread.start()
        with self._changed:  # errors of settings and data become answers to the request that made the run
            self._changed.wait_for(lambda: self.start is not None or self.status == "failed", timeout=60)

    @property
    def steps_an_epoch(self) -> int:
        """Number of steps of an epoch."""
        return self.trainer.run.steps_an_epoch or 1

    def command(self, action: str, value: float = 0.0) -> None:
        """Run, pause, go on by a step or an epoch, go on until a step, or wait this long after every epoch."""
        with self._changed:
            self._asked = time.monotonic()
            if action == "run":
                self._goal = None
            elif action == "pause":
                self._goal = 0
            elif action == "step":
                self._goal = self.step + 1
            elif action == "epoch":
                self._goal = (self.step // self.steps_an_epoch + 1) * self.steps_an_epoch
            elif action == "until":
                self._goal = int(value)
            elif action == "delay":
                self._delay = min(max(value, 0.0), 5.0)
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread after the current step."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self.trainer.stop()
        self._thread.join(timeout=10)

    def ask(self) -> None:
        """Note that a page looks at the run."""
        self._asked = time.monotonic()

    def state(self) -> RunState:
        """The state of now. The thread may have a row more in its history, which belongs to the next state."""
        with self._changed:
            history = {name: values[: self.epoch] for name, values in self.trainer.history.to_dict().items()}
            return RunState(self.status, self.message, self.version, self.step, tuple(self._snapshots), history)

    def _train(self) -> None:
        problem = self.exercise.problem
        try:
            self.trainer.fit(
                problem.X,
                problem.y,
                validation=(problem.X_test, problem.y_test),
                callbacks=self,
                doctor=True,
                progress=False,
                **self.exercise.fit_options(),
            )
            self._tell("finished")
        except MadalineError as error:
            self._tell("failed", str(error))
        except Exception as error:  # noqa: BLE001 - the page shows it; a thread has no other way to tell
            self._tell("failed", f"Internal error: {type(error).__name__}: {error}")

    def _tell(self, status: str, message: str = "") -> None:
        with self._changed:
            self.status, self.message = status, message
            self.version += 1
            self._changed.notify_all()

    def on_fit_start(self, trainer: TrainingView) -> None:
        model = trainer.model
        self.start = Model(model.network, model.params.flat.copy(), model.state.flat.copy())
        self._take_turn(trainer)

    def on_steps(self, trainer: TrainingView, step: int, values: Mapping[str, float]) -> None:
        if step % self.steps_an_epoch:  # the last step of an epoch is followed by its end
            self._take_turn(trainer)

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        self._take_turn(trainer)

    def _take_turn(self, trainer: TrainingView) -> None:
        """Keep a snapshot; wait until the run may go on."""
        with self._changed:
            self.step, self.epoch = trainer.progress.t, trainer.progress.epoch
            self._keep(trainer.model)
            self.version += 1
            self._changed.notify_all()
            if self._goal is None and self._delay:
                self._changed.wait(self._delay)
            while not self._is_closed and self._must_wait():
                if self.status != "paused":
                    self.status = "paused"
                    self.version += 1
                    self._changed.notify_all()
                self._changed.wait(1.0)
            self.status = "running"
            whole = self.steps_an_epoch - self.step % self.steps_an_epoch
            self.every = None if self._goal is None or self._goal - self.step >= whole else 1
        if self._is_closed:
            trainer.stop()

    def _must_wait(self) -> bool:
        if self._goal is None and time.monotonic() - self._asked > IDLE_SECONDS:
            self._goal = 0
        return self._goal is not None and self._goal <= self.step

    def _keep(self, model: Model) -> None:
        """Keep a snapshot; if there are too many, drop every second one and keep fewer from now on."""
        kept = self._snapshots
        params = model.params.flat.copy()
        before = kept[-1].params if kept else params
        new = Snapshot(self.step, self.epoch, params, model.state.flat.copy(), before)
        if kept and self._count % self._stride:
            kept.pop()  # the newest one is always kept; an odd one only until the next
        kept.append(new)
        self._count += 1
        most = min(MOST_SNAPSHOTS, max(20, MOST_NUMBERS // max(2 * params.size, 1)))
        if len(kept) > most:
            self._snapshots = [*kept[:-1:2], kept[-1]]
            self._stride *= 2
