"""Members of a population as tasks on a Ray cluster."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from madaline import container
from madaline.errors import DivergenceError
from madaline.scale.cluster import Cluster
from madaline.train.chosen import ChosenRows
from madaline.train.interrupts import Interrupts
from madaline.train.member import Member, changed
from madaline.train.options import FitOptions
from madaline.train.session import Session
from madaline.train.shared import SharedParts
from madaline.train.side_by_side import SideBySide
from madaline.train.trainer import Trainer


@dataclass(frozen=True)
class MemberTask:
    """A member as it travels to a worker; data and weights, which members share, are sent apart."""

    trainer: Trainer
    options: FitOptions
    chosen: ChosenRows
    deadline: float | None
    "Time of day after which it is not started, and soon ends."
    checkpoint: bytes | None
    "The checkpoint to resume from."
    keeps_checkpoint: bool


@dataclass(frozen=True)
class MemberResult:
    """A trained member."""

    trainer: bytes
    "The trainer, pickled, since arrays that come from the cluster cannot be written."
    has_run: bool
    checkpoint: bytes | None
    error: DivergenceError | None


class ClusterMembers:
    """Trains members on a cluster; takes the place of :class:`madaline.train.side_by_side.SideBySide`.

    Members with callbacks are trained by this process, at the same time. Results are those of one computer.

    Attributes
    ----------
    sessions, done, errors, stopped
        As those of SideBySide; sessions on the cluster are not among them.
    """

    def __init__(
        self,
        members: Sequence[Member],
        address: str,
        *,
        threads: int,
        max_seconds: float | None,
        raises_divergence: bool,
        watch: Callable[[Any], Any],
    ) -> None:
        self.members, self.cluster, self.watch = members, Cluster(address), watch
        self.max_seconds, self.raises_divergence = max_seconds, raises_divergence
        self._remote = [number for number, member in enumerate(members) if not member.options.listeners]
        self._here = [number for number in range(len(members)) if number not in set(self._remote)]
        self._local = SideBySide(
            [members[number] for number in self._here],
            threads=threads,
            max_seconds=max_seconds,
            raises_divergence=raises_divergence,
            watch=lambda run: self.watch(self),
        )
        self._done: set[int] = set()
        self._errors: dict[int, DivergenceError] = {}
        self.stopped = ""

    @property
    def sessions(self) -> dict[int, Session]:
        """Sessions in this process, by the number of the member."""
        return {self._here[number]: session for number, session in self._local.sessions.items()}

    @property
    def done(self) -> set[int]:
        """Members that have ended."""
        return self._done | {self._here[number] for number in self._local.done}

    @property
    def errors(self) -> dict[int, DivergenceError]:
        """The errors of members that diverged."""
        return self._errors | {self._here[number]: error for number, error in self._local.errors.items()}

    @property
    def reason(self) -> str:
        """Why members that had not ended did not."""
        return "interrupted" if self.stopped == "callback" else self.stopped

    def stop(self, member: int | None = None, *, reason: str = "callback") -> None:
        """End all members; one on the cluster cannot be stopped alone and is completed."""
        if member is None:
            self.stopped = self.stopped or reason
            self._local.stop(reason=reason)
        elif member in self._here:
            self._local.stop(self._here.index(member))

    def run(self) -> None:
        """Train all members. Tasks of a lost node are repeated; an error other than a divergence is raised."""
        interrupts = Interrupts(lambda: self.stop(reason="interrupted"))
        deadline = None if self.max_seconds is None else time.time() + self.max_seconds
        stored: dict[int, Any] = {}

        def put(value: Any) -> Any:
            if id(value) not in stored:  # members share data and mostly weights, which are stored once
                stored[id(value)] = self.cluster.put(value)
            return stored[id(value)]

        tasks = [
            (put(member.X), put(member.y), put(member.options.sample_weight), self._task(member, deadline))
            for member in (self.members[number] for number in self._remote)
        ]
        results = self.cluster.run(run_member, tasks, may_go_on=self._may_go_on)
        try:
            with interrupts, interrupts.deferred():
                if self._here:
                    self._local.run()
                    self.stopped = self.stopped or self._local.stopped
                for position, result in results:
                    self._take(self._remote[position], result)
                    self.watch(self)
        except KeyboardInterrupt:
            self.stopped = "interrupted"

    def _may_go_on(self) -> bool:
        self.watch(self)
        return self.stopped in ("", "time")

    def _task(self, member: Member, deadline: float | None) -> MemberTask:
        options = member.options
        known = Path(options.resume).read_bytes() if options.resumes and options.resume is not None else None
        own = changed(options, sample_weight=None, checkpoint=None, resume=None)
        return MemberTask(member.trainer, own, member.chosen, deadline, known, options.checkpoint is not None)

    def _take(self, number: int, result: MemberResult) -> None:
        """Keep a member that has ended."""
        from ray import cloudpickle

        member = self.members[number]
        if result.has_run:
            member.trainer.become(cloudpickle.loads(result.trainer))
            member.has_run = True
        elif not self.stopped:
            self.stopped = "time"
        if result.checkpoint is not None and member.options.checkpoint is not None:
            container.write_whole(member.options.checkpoint, result.checkpoint)
        if result.error is not None:
            self._errors[number] = result.error
            if self.raises_divergence:
                result.error.add_note(f"This happened in member {number} of the population.")
                self.stop(reason="error")
                raise result.error
        self._done.add(number)


def run_member(X: Any, y: Any, sample_weight: Any, task: MemberTask) -> MemberResult:
    """Train one member on a worker, with one thread."""
    from ray import cloudpickle

    left = None if task.deadline is None else task.deadline - time.time()
    if left is not None and left <= 0 and task.checkpoint is None:
        return MemberResult(b"", has_run=False, checkpoint=None, error=None)
    error = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "member.checkpoint"
        options = changed(task.options, sample_weight=sample_weight, checkpoint_epochs=None, checkpoint_seconds=None)
        if task.checkpoint is not None:
            path.write_bytes(task.checkpoint)
            options = changed(options, resume=path)
        if task.keeps_checkpoint:
            options = changed(options, checkpoint=path)
        member = Member(task.trainer, X, y, options, task.chosen, SharedParts())
        try:
            session = member.start(threads=1, max_seconds=None if left is None else max(left, 0.0))
            member.run(session)
        except DivergenceError as found:
            error = found
        written = path.read_bytes() if task.keeps_checkpoint and path.exists() and error is None else None
    return MemberResult(cloudpickle.dumps(member.trainer), has_run=True, checkpoint=written, error=error)
