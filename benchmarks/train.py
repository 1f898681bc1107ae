"""Training speed on the workloads of workloads.py: madaline and its peers, interleaved, in steps per second.

    python benchmarks/train.py                                  everything, several minutes
    python benchmarks/train.py --only madaline                  only madaline, some seconds
    python benchmarks/train.py --workloads tiny,small --peers torch,jax --threads 1 --seconds 2

Before a workload is timed, all contestants are trained without shuffling and dropout from the same weights, and must
reach the same losses. Results are saved per workload in ``results/train.json``; ``report.py`` makes tables and plots.
"""

from __future__ import annotations

import argparse
from typing import Any

import harness
from peers import PEERS, TITLES, CannotError
from roofline import Peaks, peaks
from workers import Worker, faster_of_each, interleave, workers
from workloads import WORKLOADS, Workload

EPOCHS_TO_AGREE = 2
TOLERANCE = 2e-3
"Maximum relative difference of losses: float32 sums in a different order, amplified by a few dozen steps."


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=harness.words, default=list(WORKLOADS))
    parser.add_argument("--peers", type=harness.words, default=list(PEERS))
    parser.add_argument("--only", choices=["madaline", *PEERS], help="run only this contestant, and save nothing")
    parser.add_argument("--threads", type=harness.numbers, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time per contestant and workload")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-save", action="store_true")
    return parser.parse_args()


def measure(contestants: list[Worker], workload: Workload, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One record per contestant."""
    records: dict[Worker, dict[str, Any]] = {}
    for worker in contestants:
        record = records[worker] = {"name": worker.name, "threads": worker.threads, "wait": worker.wait}
        try:
            if options.only is None:
                record["first_losses"] = worker.ask("losses", workload.for_agreement(), EPOCHS_TO_AGREE)
            ready = worker.ask("train", workload)
        except CannotError as reason:
            record["cannot"] = str(reason)
            continue
        record |= {"ready_seconds": ready["seconds"], "first_epoch_loss": ready["loss"]}
    able = [worker for worker in contestants if "cannot" not in records[worker]]
    running = faster_of_each(able)
    timings = interleave(running, seconds=options.seconds, rounds=options.rounds)
    for worker, timing in zip(running, timings, strict=True):
        records[worker]["steps_per_second"] = [workload.steps / seconds for seconds in timing.rounds]
        records[worker]["median"] = workload.steps / timing.median
    return [records[worker] for worker in contestants if worker in running or worker not in able]


def different(records: list[dict[str, Any]]) -> dict[str, float]:
    """Contestants whose losses differ from those of the first one, with the largest relative difference."""
    found = {}
    for record in records[1:]:
        losses = record.get("first_losses", "")
        if isinstance(losses, str):
            continue
        pairs = zip(records[0]["first_losses"], losses, strict=True)
        largest = max(abs(mine - theirs) / abs(mine) for mine, theirs in pairs)
        if not largest <= TOLERANCE:
            found[f"{record['name']} {record['threads']}"] = largest
    return found


def show(workload: Workload, records: list[dict[str, Any]], limits: dict[int, Peaks]) -> None:
    print(f"{workload.name}: {workload.describe()}", flush=True)
    for record in records:
        title = f"  {TITLES[record['name']]:20s} {record['threads']} threads"
        if "cannot" in record:
            print(f"{title}  not supported: {record['cannot']}")
            continue
        fraction = record["median"] * limits[record["threads"]].step(workload)
        print(f"{title} {record['median']:12,.1f} steps/s {fraction:7.1%} of the roofline", flush=True)
    for who, size in different(records).items():
        print(f"  {who}: losses differ by {size:.2g}")


def main() -> None:
    options = arguments()
    names = [options.only] if options.only else ["madaline", *options.peers]
    limits = {threads: peaks(threads) for threads in options.threads}
    with workers(names, options.threads) as contestants:
        for name in options.workloads:
            workload = WORKLOADS[name]
            records = measure(contestants, workload, options)
            show(workload, records, limits)
            if not options.only and not options.no_save:
                found = {"description": workload.describe(), "contestants": records, "different": different(records)}
                harness.update("train", name, found)


if __name__ == "__main__":
    main()
