"""Speed of predictions for one row and for 1,024 rows, from NumPy arrays to probabilities.

    python benchmarks/inference.py [--nets tiny,mnist] [--peers onnxruntime] [--threads 1] [--seconds 0.5] [--no-save]

All contestants have the same weights and must return the same probabilities. Results are saved in
``results/inference.json``; ``report.py`` makes the table and the plot.
"""

from __future__ import annotations

import argparse
from typing import Any

import harness
import numpy as np
from peers import TITLES, CannotError
from roofline import peaks
from workers import Worker, faster_of_each, interleave, workers
from workloads import WORKLOADS, Workload

NETS = ("tiny", "small", "tabular", "mnist")
PEERS = ("onnxruntime", "torch", "jax", "sklearn")
TOLERANCE = 1e-4
"Maximum absolute difference of probabilities."


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", type=harness.words, default=list(NETS))
    parser.add_argument("--peers", type=harness.words, default=list(PEERS))
    parser.add_argument("--rows", type=harness.numbers, default=[1, 1024])
    parser.add_argument("--threads", type=harness.numbers, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=0.5, help="measuring time per contestant and net")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-save", action="store_true")
    return parser.parse_args()


def measure(
    contestants: list[Worker], workload: Workload, n_rows: int, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """One record per installed contestant, madaline first."""
    ready, reference = {}, None
    for worker in contestants:
        try:
            probabilities = worker.ask("predict", workload, n_rows)
        except CannotError as reason:
            print(f"  {TITLES[worker.name]} is skipped: {reason}")
            continue
        reference = probabilities if reference is None else reference
        difference = float(np.abs(probabilities - reference).max())
        if not difference <= TOLERANCE:
            raise RuntimeError(f"Predictions of {worker.name} for {workload.name} differ by {difference:.2g}.")
        ready[worker] = {"name": worker.name, "threads": worker.threads, "wait": worker.wait, "difference": difference}
    running = faster_of_each(list(ready))
    timings = interleave(running, seconds=options.seconds, rounds=options.rounds)
    for worker, timing in zip(running, timings, strict=True):
        ready[worker] |= {"seconds": timing.rounds, "median": timing.median}
    return [ready[worker] for worker in running]


def main() -> None:
    options = arguments()
    limits = {threads: peaks(threads) for threads in options.threads}
    with workers(["madaline", *options.peers], options.threads) as contestants:
        for name in options.nets:
            workload = WORKLOADS[name]
            for n_rows in options.rows:
                print(f"{name}: {workload.describe()}; {n_rows:,} rows", flush=True)
                records = measure(contestants, workload, n_rows, options)
                for record in records:
                    fraction = limits[record["threads"]].prediction(workload, n_rows) / record["median"]
                    who = f"  {TITLES[record['name']]:20s} {record['threads']} threads"
                    print(f"{who} {1e6 * record['median']:10,.1f} us {fraction:7.1%} of the roofline", flush=True)
                if not options.no_save:
                    harness.update("inference", f"{name} {n_rows}", {"contestants": records})


if __name__ == "__main__":
    main()
