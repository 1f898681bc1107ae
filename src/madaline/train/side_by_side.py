"""Runs training sessions side by side: each thread takes whole sessions, and nobody waits for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from madaline.errors import DivergenceError
from madaline.train.interrupts import Interrupts
from madaline.train.session import Session

LOOK_SECONDS = 0.05
"Seconds between two looks at Ctrl-C, the time limit and the progress."


class Training(Protocol):
    """One of the trainings."""

    @property
    def max_threads(self) -> int | None:
        """Maximum number of threads of this member; None for as many as there are."""

    @property
    def has_checkpoint(self) -> bool:
        """Whether the member is resumed from a checkpoint of its own."""

    def start(self, *, threads: int, max_seconds: float | None) -> Session:
        """The session, ready to run with at most this many threads and seconds."""

    def run(self, session: Session) -> None:
        """Run the session to its end."""


class SideBySide:
    """Runs members on a number of threads.

    A thread takes the next member when it has finished one. When no members are left, the threads that are free help
    with those that still run.

    Parameters
    ----------
    members : sequence of Training
        In the order in which they are started.
    threads : int
        Maximum number of threads.
    max_seconds : float or None
        Time limit: no member is started after it, and those that run end after their current epoch, or within a long
        one. Each thread runs at least one member.
    watch : callable
        Called with this object a few times a second, in the calling thread.

    Attributes
    ----------
    sessions : dict
        Sessions of the members that run now, by number.
    done : set of int
        Members that have ended.
    errors : dict
        The errors of members that diverged.
    stopped : str
        Why everything was ended early: ``"interrupted"``, ``"callback"``, ``"time"``, or ``"error"``; empty if it was
        not.
    """

    def __init__(
        self,
        members: Sequence[Training],
        *,
        threads: int,
        max_seconds: float | None,
        raises_divergence: bool,
        watch: Callable[[SideBySide], Any],
    ) -> None:
        self.members, self.threads, self.max_seconds = members, threads, max_seconds
        self.raises_divergence, self.watch = raises_divergence, watch
        self.sessions: dict[int, Session] = {}
        self.done: set[int] = set()
        self.errors: dict[int, DivergenceError] = {}
        self.stopped = ""
        self._stopping: set[int] = set()
        self._failure: BaseException | None = None
        self._next = 0
        self._n_active = 0
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._started = time.monotonic()

    def stop(self, member: int | None = None, *, reason: str = "callback") -> None:
        """End all members, or one of them, after their current step. It takes no lock, so a signal handler may call it.

        The thread that waits for the members repeats it, for a member that is about to begin and does not notice.
        """
        if member is None:
            self.stopped = self.stopped or reason
        else:
            self._stopping.add(member)
        self._pass_on()

    @property
    def reason(self) -> str:
        """Why members that had not ended did not: as ``stopped``, but a member did not ask for it."""
        return "interrupted" if self.stopped == "callback" else self.stopped

    def run(self) -> None:
        """Run all members. An error other than a divergence ends the others and is raised."""
        interrupts = Interrupts(lambda: self.stop(reason="interrupted"))
        workers = [
            threading.Thread(target=self._work, name=f"population-{number}", daemon=True)
            for number in range(min(self.threads, len(self.members)))
        ]
        self._started, self._n_active = time.monotonic(), len(workers)
        try:
            # Ctrl-C takes effect when all threads have ended, which its handler makes them do soon.
            with interrupts, interrupts.deferred():
                started = self._start(workers)
                if started:
                    self._wait(started)
                else:
                    self._work()
                    self.watch(self)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        if self._failure is not None:
            raise self._failure

    def _start(self, workers: list[threading.Thread]) -> list[threading.Thread]:
        """Start as many threads as the system allows; it may allow none."""
        for number, worker in enumerate(workers):
            try:
                worker.start()
            except RuntimeError:
                with self._lock:
                    self._n_active -= len(workers) - max(1, number)
                return workers[:number]
        return workers

    def _wait(self, workers: list[threading.Thread]) -> None:
        try:
            while any(worker.is_alive() for worker in workers):
                self._changed.wait(LOOK_SECONDS)
                self._changed.clear()
                self._pass_on()
                self.watch(self)
        except BaseException:
            self.stop(reason="error")
            raise
        finally:
            while any(worker.is_alive() for worker in workers):
                self._pass_on()
                workers[0].join(LOOK_SECONDS)
                workers = [worker for worker in workers if worker.is_alive()]

    def _pass_on(self) -> None:
        """Tell sessions to stop."""
        if self.stopped and self.stopped != "time":
            for session in list(self.sessions.values()):
                session.stop(self.reason)
        for number in list(self._stopping):
            if number in self.sessions:
                self.sessions[number].stop()

    def _work(self) -> None:
        while (number := self._take()) is not None:
            try:
                self._run(number)
            except DivergenceError as error:
                self.errors[number] = error
                if self.raises_divergence:
                    self._fail(number, error)
            except BaseException as error:  # noqa: BLE001 - the calling thread raises it
                self._fail(number, error)
            finally:
                with self._lock:
                    self.sessions.pop(number, None)
                    self.done.add(number)
                self._changed.set()
        with self._lock:
            self._n_active -= 1
            self._share_threads()
        self._changed.set()

    def _take(self) -> int | None:
        """The next member; None if there is none to be started."""
        with self._lock:
            if self.stopped not in ("", "time"):
                return None
            is_late = self.max_seconds is not None and self._seconds > self.max_seconds
            while is_late and min(self.threads, len(self.members)) <= self._next < len(self.members):
                if self.members[self._next].has_checkpoint:
                    break  # what an earlier run has trained is kept, however short the time is
                self.stopped = "time"
                self._next += 1
            if self._next >= len(self.members):
                return None
            self._next += 1
            return self._next - 1

    def _run(self, number: int) -> None:
        left = None if self.max_seconds is None else max(self.max_seconds - self._seconds, 0.0)
        member = self.members[number]
        session = member.start(threads=self._threads_of(member), max_seconds=left)
        with self._lock:
            self.sessions[number] = session
            self._share_threads()
        prepared = session.when_prepared
        try:
            if not self.stopped or self.stopped == "time":
                member.run(session)  # else it has not begun, and there is nothing to keep
        finally:
            prepared()  # others wait for it, also if the session ended before its first step

    def _fail(self, number: int, error: BaseException) -> None:
        error.add_note(f"This happened in member {number} of the population.")
        with self._lock:
            self._failure = self._failure or error
        self.stop(reason="error")

    def _threads_of(self, member: Training) -> int:
        """How many threads a member may use. One member at a time has the pool, the others run alone."""
        free = max(self.threads - self._n_active + 1, 1)
        return free if member.max_threads is None else min(free, member.max_threads)

    def _share_threads(self) -> None:
        for number, session in self.sessions.items():
            session.use_threads(self._threads_of(self.members[number]))

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started
