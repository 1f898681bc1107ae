"""Scaling of the training time with batch size, width, depth and rows, compared with the flops.

python benchmarks/growth.py [--seconds 0.3]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np
from peers.madaline import train
from workloads import Workload

SWEEPS: dict[str, tuple[list[int], Callable[[int], Workload], str]] = {
    "batch size": (
        [1, 4, 16, 64, 256, 1024, 4096],
        lambda n: Workload("", (20, 64, 64, 2), n, 16 * n, 0.0),
        "step",
    ),
    "width": (
        [16, 32, 64, 128, 256, 512, 1024],
        lambda n: Workload("", (64, n, n, 2), 64, 1024, 0.0),
        "step",
    ),
    "depth": (
        [1, 2, 4, 8, 16, 32, 64],
        lambda n: Workload("", (64, *(64,) * n, 2), 64, 1024, 0.0),
        "step",
    ),
    "rows": (
        [1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18],
        lambda n: Workload("", (20, 64, 64, 2), 256, n, 0.0),
        "epoch",
    ),
}
"The varied quantity, its values, the net for each value, and what is timed."
FLOPS_A_CALL = 200_000_000
"Number of steps per timed call, so that the overhead of a call is small; epochs are timed one per call."


def slope(sizes: list[int], costs: list[float]) -> float:
    """The exponent of the growth over the last three sizes."""
    return float(np.polyfit(np.log(sizes[-3:]), np.log(costs[-3:]), 1)[0])


def sweep(name: str, threads: int, seconds: float) -> dict[str, Any]:
    sizes, net, what = SWEEPS[name]
    nets = [net(size) for size in sizes]
    repeats = [1 if what == "epoch" else max(1, FLOPS_A_CALL // (w.flops() * w.steps)) for w in nets]
    contestants = {
        str(size): partial(train(w, threads), count) for size, w, count in zip(sizes, nets, repeats, strict=True)
    }
    timings = harness.interleave(contestants, seconds=seconds, rounds=5)
    steps = [1 if what == "epoch" else w.steps for w in nets]
    costs = [t.median / count / n for t, count, n in zip(timings.values(), repeats, steps, strict=True)]
    flops = [float(w.flops() * w.steps / n) for w, n in zip(nets, steps, strict=True)]
    return {
        "what": what,
        "threads": threads,
        "sizes": sizes,
        "seconds": costs,
        "flops": flops,
        "exponent": slope(sizes, costs),
        "exponent_of_flops": slope(sizes, flops),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=harness.numbers, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=0.3, help="measuring time per size")
    options = parser.parse_args()
    for threads in options.threads:
        for name in SWEEPS:
            found = sweep(name, threads, options.seconds)
            print(
                f"{name}, {threads} threads: the time of a {found['what']} grows with exponent "
                f"{found['exponent']:.2f}, its flops with {found['exponent_of_flops']:.2f}",
                flush=True,
            )
            harness.update("growth", f"{name}, {threads} threads", found)


if __name__ == "__main__":
    main()
