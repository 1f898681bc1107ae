"""Cost of probes: time of training with default probes, compared with training without.

python benchmarks/probes.py [--seconds 20]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import harness
from peers.madaline import OPTIMIZERS, net, started
from workloads import WORKLOADS, Workload

import madaline as md

LIMIT = 1.03
"Maximum time of training with probes, relative to training without."
STEPS = {"tiny": 65_536, "small": 32_768, "deep": 4_096, "tabular": 512, "mnist": 512}
"Number of steps: about a second of training, so that tracing the program with probes is a small part of it."


def trainer(workload: Workload, threads: int) -> md.Trainer:
    optimizer = OPTIMIZERS[workload.optimizer](workload.rate)
    return md.Trainer(started(net(workload), workload), loss=workload.loss, optimizer=optimizer, threads=threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=harness.words, default=list(STEPS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    for name in options.workloads:
        workload, (X, y) = WORKLOADS[name], WORKLOADS[name].data()
        settings: dict[str, Any] = {"epochs": STEPS[name] // workload.steps, "batch_size": workload.batch}
        contestants = {
            "without": partial(trainer(workload, options.threads).fit, X, y, **settings),
            "with": partial(trainer(workload, options.threads).fit, X, y, probes=True, **settings),
        }
        timings = harness.interleave(contestants, seconds=options.seconds, rounds=7)
        ratio = harness.ratios(timings, "without")["with"]
        samples = len(set(contestants["with"]().probes["step"].tolist()))
        print(f"{name}: {harness.show_ratio(ratio)} of the time, {samples} samples", flush=True)
        harness.update("probes", name, {"ratio": ratio, "limit": LIMIT, "steps": STEPS[name], "samples": samples})


if __name__ == "__main__":
    main()
