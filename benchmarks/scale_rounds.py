"""What rounds cost on a Ray cluster of this machine, and rows per second against workers, replicas and local steps."""

from __future__ import annotations

import logging
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scale_curves

import madaline as md

UNITS = (64, 256, 512, 1024)
"Units of two hidden layers, for nets of 6,000 to 1.1 million parameters."
REPLICAS = (2, 4, 8)
N_ROUNDS = 25
STEPS = (1, 8, 64)
TARGET = 0.65
"Validation loss of covertype whose time is measured."


class Clock(md.Callback):
    """The time of every step."""

    every = 1

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_steps(self, trainer: Any, step: int, values: Any) -> None:
        self.times.append(time.perf_counter())


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """The address of a cluster of so many nodes on this machine, with one CPU each."""
    import ray
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        for _ in range(nodes - 1):
            found.add_node(num_cpus=1)
        ray.init(found.address, log_to_driver=False, logging_level=logging.ERROR)
        try:
            yield found.address
        finally:
            ray.shutdown()
            found.shutdown()


def round_seconds(units: int, replicas: int, address: str | None) -> tuple[int, list[float]]:
    """Number of parameters, and seconds of rounds of one step with one row for each replica."""
    rng = np.random.default_rng(0)
    n_rows = replicas * (N_ROUNDS + 2)
    X, y = rng.normal(size=(n_rows, 16)).astype("float32"), rng.normal(size=(n_rows, 1)).astype("float32")
    clock = Clock()
    trainer = md.Trainer(md.mlp(units, units, 1), optimizer=md.Adam(1e-4))
    trainer.fit(
        X, y, epochs=1, batch_size=1, replicas=replicas, local_steps=1, cluster=address, callbacks=clock, progress=False
    )
    return trainer.model.network.n_params, np.diff(clock.times)[1:].tolist()


def rounds() -> dict[str, Any]:
    """Seconds of a round against parameters and replicas, on two nodes and in one process."""
    found = []
    with cluster(2) as address:
        for units in UNITS:
            for replicas in REPLICAS:
                for where, given in (("process", None), ("cluster", address)):
                    parameters, seconds = round_seconds(units, replicas, given)
                    record = {"where": where, "parameters": parameters, "replicas": replicas}
                    record |= {"median": statistics.median(seconds), "least": min(seconds)}
                    found.append(record)
                    print(record, flush=True)
    return {"rounds": found, "nodes": 2, "arrays": 3}


def workers() -> dict[str, Any]:
    """Rows per second, and seconds to a validation loss, for one process and for clusters of 1, 2 and 4 workers."""
    data = scale_curves.real("covertype")
    found = []
    for count in (0, 1, 2, 4):
        if not count:
            found += [_run(data, 1, 1, None, 0), *(_run(data, 4, steps, None, 0) for steps in STEPS)]
            continue
        with cluster(count) as address:
            _run(data, 4, 64, address, count)  # starts the workers
            found += [_run(data, 4, steps, address, count) for steps in STEPS]
            found += [_run(data, 8, 64, address, count)] if count == 2 else []
    return {"runs": found, "target": TARGET, "batch": scale_curves.BATCH}


def _run(data: Any, replicas: int, steps: int, address: str | None, count: int) -> dict[str, Any]:
    x, y, net, loss = data
    train, held = slice(0, 60_000), slice(-10_000, None)
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(3e-3), seed=1)
    outer = {"replicas": replicas, "local_steps": steps, "cluster": address} if replicas > 1 else {}
    portions = md.Stream(scale_curves.Portions(x, y, np.arange(train.stop)))
    started = time.perf_counter()
    history = trainer.fit(
        portions,
        epochs=scale_curves.POINTS,
        batch_size=scale_curves.BATCH,
        validation=(x[held], y[held]),
        progress=False,
        **outer,
    )
    whole = time.perf_counter() - started
    passed, losses = np.cumsum(history["seconds"]), history["val_loss"]
    reached = np.flatnonzero(losses <= TARGET)
    record = {
        "workers": count,
        "replicas": replicas,
        "local_steps": steps,
        "rows_per_second": train.stop / whole,
        "seconds_to_loss": float(passed[reached[0]]) if len(reached) else None,
        "last_loss": float(losses[-1]),
    }
    print(record, flush=True)
    return record


PARTS: dict[str, Callable[[], dict[str, Any]]] = {"rounds": rounds, "workers": workers}
