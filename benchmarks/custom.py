"""Speed of custom formulas relative to built-in ones: activation, loss and Adam, each a few lines of NumPy.

python benchmarks/custom.py [--seconds 2]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import harness
import numpy as np
from peers.madaline import started
from workloads import WORKLOADS

import madaline as md

TARGETS = {"tiny": 0.5, "mnist": 0.8}
"Minimum speed of custom formulas, relative to the built-in ones."


def rectifier(x: Any) -> Any:
    return np.maximum(x, 0)


def cross_entropy(z: Any, y: Any) -> Any:
    z = z - np.max(z, axis=1, keepdims=True)
    chosen = np.take_along_axis(z, y[:, None], axis=1)[:, 0]
    return np.log(np.sum(np.exp(z), axis=1)) - chosen


def adam(w: Any, g: Any, m: Any, v: Any, *, t: Any, lr: Any) -> Any:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    step = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w - lr * step, m, v


RECIPES: dict[str, dict[str, Any]] = {
    "built in": {"activation": "relu", "loss": "cross_entropy", "optimizer": md.Adam(1e-3)},
    "one's own": {"activation": rectifier, "loss": cross_entropy, "optimizer": adam},
}


def trainer(name: str, recipe: dict[str, Any], threads: int) -> md.Trainer:
    workload = WORKLOADS[name]
    net = md.mlp(*workload.widths[1:], activation=recipe["activation"])
    rest = {key: value for key, value in recipe.items() if key != "activation"}
    return md.Trainer(started(net, workload), threads=threads, **rest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=harness.words, default=list(TARGETS))
    parser.add_argument("--threads", type=harness.numbers, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    for name in options.workloads:
        workload, (X, y) = WORKLOADS[name], WORKLOADS[name].data()
        for threads in options.threads:
            trainers = {key: trainer(name, recipe, threads) for key, recipe in RECIPES.items()}
            losses = [one.partial_fit(X, y, batch_size=workload.batch)["loss"][-1] for one in trainers.values()]
            np.testing.assert_allclose(losses[1], losses[0], rtol=1e-3)
            count = max(1, 1 << 16 >> workload.rows.bit_length() - 1)  # several short epochs per call
            contestants = {
                key: partial(one.partial_fit, X, y, epochs=count, batch_size=workload.batch)
                for key, one in trainers.items()
            }
            timings = harness.interleave(contestants, seconds=options.seconds, rounds=7)
            ratio = harness.ratios(timings, "one's own")["built in"]
            print(
                f"{name}, {threads} threads: {harness.show_ratio(ratio)} of the speed of built-in formulas", flush=True
            )
            speeds = {key: count * workload.steps / timing.median for key, timing in timings.items()}
            found = {"ratio": ratio, "target": TARGETS[name], "steps_per_second": speeds}
            harness.update("custom", f"{name}, {threads} threads", found)


if __name__ == "__main__":
    main()
