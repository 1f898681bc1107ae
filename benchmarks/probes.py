"""Cost of watching: CPU time of training with probes or with a doctor, compared with training without.

Each pair trains once without and once with, in turn; the result is the median of the ratios and their quartiles. The
time of the process is measured, so that other processes disturb little.

python benchmarks/probes.py [--pairs 20]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np
from peers.madaline import OPTIMIZERS, net, started
from workloads import WORKLOADS, Workload

import madaline as md

LIMIT = 1.03
"Maximum time of training with probes, relative to training without."
STEPS = {"tiny": 163_840, "small": 65_536, "deep": 6_400, "tabular": 1_024, "mnist": 1_024}
"Number of steps: about a second of training, so that tracing the program with probes is a small part of it."
WATCHED = {"ratio": {"probes": True}, "doctor": {"doctor": True}}
"By the name of the result."


def trainer(workload: Workload, threads: int) -> md.Trainer:
    optimizer = OPTIMIZERS[workload.optimizer](workload.rate)
    return md.Trainer(started(net(workload), workload), loss=workload.loss, optimizer=optimizer, threads=threads)


def cpu_seconds(call: Callable[[], Any]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def ratio_of(without: Callable[[], Any], watched: Callable[[], Any], pairs: int) -> tuple[float, float, float]:
    """The median of the ratios of interleaved pairs, and their quartiles."""
    without(), watched()
    found = [cpu_seconds(watched) / cpu_seconds(without) for _ in range(pairs)]
    low, middle, high = np.quantile(found, (0.25, 0.5, 0.75))
    return float(middle), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=harness.words, default=list(STEPS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    for name in options.workloads:
        workload, (X, y) = WORKLOADS[name], WORKLOADS[name].data()
        settings: dict[str, Any] = {
            "epochs": STEPS[name] // workload.steps,
            "batch_size": workload.batch,
            "progress": False,
        }
        without = partial(trainer(workload, options.threads).fit, X, y, **settings)
        found: dict[str, Any] = {"limit": LIMIT, "steps": STEPS[name], "pairs": options.pairs}
        for kind, arguments in WATCHED.items():
            watched = partial(trainer(workload, options.threads).fit, X, y, **settings, **arguments)
            ratio = ratio_of(without, watched, options.pairs)
            found |= {kind: ratio, "samples": len(set(watched().probes["step"].tolist()))}
            print(
                f"{name}, {next(iter(arguments))}: {harness.show_ratio(ratio)} of the time, {found['samples']} samples",
                flush=True,
            )
        harness.update("probes", name, found)


if __name__ == "__main__":
    main()
