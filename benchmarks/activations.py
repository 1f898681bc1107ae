"""Speed of activations: compiled values and derivatives, one thread, float32. Lecture row B6 (the cost of exp).

python benchmarks/activations.py [--quick]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["MADALINE_THREADS"] = "1"

import harness
import numpy as np

import madaline as md
from madaline.nn.activation_function import ActivationFunction

Array = np.ndarray[Any, Any]
SIZE = 100_000


def contestant(activation: ActivationFunction, what: str, x: Array) -> Callable[[], Array]:
    """A function that computes the values or the derivatives of an activation for ``x``."""
    if what == "value":
        return partial(md.compile(activation), x)
    return partial(md.compile(lambda x, x_dot: md.jvp(activation, (x,), (x_dot,))[1]), x, np.ones_like(x))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="run for a tenth of the time, as a test")
    quick = parser.parse_args().quick
    x = np.random.default_rng(0).normal(size=SIZE).astype(np.float32)
    things = [thing for thing in md.nn.ACTIVATIONS if thing.elementwise]
    data: dict[str, Any] = {"machine": harness.machine(), "elements": SIZE}
    for what in ("value", "derivative"):
        contestants = {thing.name: contestant(thing, what, x) for thing in things}
        timings = harness.interleave(contestants, seconds=0.03 if quick else 0.3)
        data[what] = {name: timing.median / SIZE for name, timing in timings.items()}
    value, derivative = data["value"], data["derivative"]
    rows = [
        [name, f"{1e9 * value[name]:.2f}", f"{1e9 * derivative[name]:.2f}", f"{value[name] / value['relu']:.1f}"]
        for name in sorted(value, key=value.__getitem__)
    ]
    header = ["activation", "value, ns per element", "derivative, ns per element", "value, relative to relu"]
    text = harness.table(f"{SIZE:,} float32 numbers, one thread, {data['machine']['cpu']}", header, rows)
    print(text)
    if not quick:
        title = (
            "# Speed of activations\n\nMade by `python benchmarks/activations.py`; medians of interleaved rounds.\n\n"
        )
        harness.save("activations", data, title + text)


if __name__ == "__main__":
    main()
