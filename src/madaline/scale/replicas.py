"""Replicas of data-parallel training as tasks on a Ray cluster."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from madaline.scale.cluster import Cluster
from madaline.train.data import TrainingData
from madaline.train.replicas import ReplicaResult, ReplicaSetup, ReplicaWork, ReplicaWorker

MOST_WORKERS = 4
"Number of runs whose programs a worker process keeps."
LOOK_SECONDS = 1.0
"Seconds between two looks at the number of nodes."
_workers: dict[str, ReplicaWorker] = {}


class RayReplicas:
    """Runs each replica of a round as a task; the arrays of a replica travel with it.

    A task depends on its arguments alone, so that Ray may run it anywhere and repeat it if a node is lost: the loss of
    a worker costs less than a round, nodes may come and go, and the result stays the same.
    """

    def __init__(self, setup: ReplicaSetup, address: str) -> None:
        self._cluster, self._key = Cluster(address), uuid.uuid4().hex
        self._setup = self._cluster.put(setup)
        self._data: tuple[TrainingData, Any] | None = None
        self._is_stopped = False
        self._described = -LOOK_SECONDS, ""

    def run(self, data: TrainingData, works: Sequence[ReplicaWork], *, threads: int) -> list[ReplicaResult] | None:
        """The results in the order of ``works``; None if it was stopped before all were there."""
        self._is_stopped = False
        if self._data is None or self._data[0] is not data:
            self._data = data, self._cluster.put(data)
        tasks = [(self._key, self._setup, self._data[1], work) for work in works]
        found = dict(self._cluster.run(run_replica, tasks, may_go_on=lambda: not self._is_stopped))
        return [found[number] for number in range(len(works))] if len(found) == len(works) else None

    def stop(self) -> None:
        """End soon; may be called from other threads."""
        self._is_stopped = True

    def describe(self) -> str:
        """Number of nodes and CPUs; the cluster is asked once a second."""
        now = time.monotonic()
        if now - self._described[0] > LOOK_SECONDS:
            self._described = now, self._cluster.describe()
        return self._described[1]


def run_replica(key: str, setup: ReplicaSetup, data: TrainingData, work: ReplicaWork) -> ReplicaResult:
    """Take the steps of one replica on a worker, whose programs are kept for the next round."""
    if key not in _workers:
        while len(_workers) >= MOST_WORKERS:
            del _workers[next(iter(_workers))]
        # Arrays that come from the cluster cannot be written.
        _workers[key] = ReplicaWorker(setup.with_own_arrays())
    return _workers[key].run(data, work, threads=1)
