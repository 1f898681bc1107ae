"""Several nets side by side: ``md.Population`` against the same nets one after another on one thread.

python benchmarks/population.py [--members 8] [--threads 2] [--seconds 10] [--jax]

With ``--jax`` (installed by ``make bench``) also against ``jax.vmap`` over whole epochs, which are compiled before the
time is taken.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import harness
from peers.madaline import OPTIMIZERS, net
from workloads import WORKLOADS, Workload

import madaline as md

NETS = {
    "tiny": (WORKLOADS["tiny"], 40),
    "small": (WORKLOADS["small"], 20),
    "3x128": (Workload("3x128", (20, 128, 128, 128, 2), 256, 8_192, 1.0), 10),
}
"Nets, and epochs of a run: together about a second on one thread, as little as a population is worth."
TARGET = 1.7
"How many times faster the population has to be on two threads."


def trainers(workload: Workload, members: int) -> list[md.Trainer]:
    optimizer = OPTIMIZERS[workload.optimizer](workload.rate)
    return [
        md.Trainer(net(workload), loss=workload.loss, optimizer=optimizer, threads=1, seed=seed)
        for seed in range(members)
    ]


def contestants(workload: Workload, options: argparse.Namespace, **settings: Any) -> dict[str, Callable[[], Any]]:
    X, y = workload.data()
    settings |= {"batch_size": workload.batch}

    def population() -> None:
        md.Population(trainers(workload, options.members), threads=options.threads).fit(X, y, **settings)

    def one_after_another() -> None:
        for trainer in trainers(workload, options.members):
            trainer.fit(X, y, **settings)

    found = {"population": population, "one after another": one_after_another}
    if options.jax and "validation" not in settings:
        from peers import jax

        epochs = jax.train_population(workload, options.members)
        found["jax.vmap"] = lambda: epochs(settings["epochs"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", type=harness.words, default=list(NETS))
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--jax", action="store_true")
    options = parser.parse_args()
    for name in options.nets:
        workload, epochs = NETS[name]
        for title, extra in (("", {}), (", validation", {"validation": 0.2})):
            timings = harness.interleave(
                contestants(workload, options, epochs=epochs, **extra), seconds=options.seconds, rounds=15
            )
            ratios = harness.ratios(timings, "population")
            shown = ", ".join(f"{harness.show_ratio(ratio)} times {other}" for other, ratio in ratios.items())
            print(f"{name}{title}: {shown}", flush=True)
            settings = {"members": options.members, "threads": options.threads, "epochs": epochs}
            seconds = {other: timing.median for other, timing in timings.items()}
            harness.update(
                "population", name + title, {"ratios": ratios, "seconds": seconds, "target": TARGET, **settings}
            )


if __name__ == "__main__":
    main()
