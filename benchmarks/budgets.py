"""How well preset="auto" and preset="best" hold a time limit, and their time without one.

python benchmarks/budgets.py [--limits 5 20] [--rows 100 10000 500000] [--presets auto best] [--unlimited]
python benchmarks/budgets.py --prediction

Tables are synthetic: 12 numbers and 4 columns of categories. Wall-clock seconds of ``fit`` with two threads, including
reading and encoding the table and the first import of libraries; every fit runs in a process of its own. Processor
seconds stand beside them. With --prediction, the processor time of predictions by preset="best" is compared with that
of one net. Numbers are kept in results/budgets.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import harness
import numpy as np
import polars as pl

NUMBERS = harness.RESULTS / "budgets.json"


def table(n_rows: int, *, is_classification: bool) -> tuple[pl.DataFrame, np.ndarray]:
    """Numbers and categories, with thresholds and interactions."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 12))
    codes = rng.integers(0, (3, 8, 20, 40), size=(n_rows, 4))
    effects = rng.normal(size=40)
    z = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + (x[:, 3] > 0.5) + effects[codes[:, 3]] + 0.5 * effects[codes[:, 2]]
    z += 0.5 * rng.normal(size=n_rows)
    frame = pl.DataFrame({f"x{k}": x[:, k] for k in range(12)}).with_columns(
        pl.Series(f"c{k}", [f"value {code}" for code in codes[:, k]]) for k in range(4)
    )
    return frame, np.digitize(z, np.quantile(z, (0.33, 0.67))) if is_classification else z


def measure(preset: str, task: str, n_rows: int, limit: float | None) -> dict[str, Any]:
    """Seconds of one fit in this process."""
    X, y = table(n_rows, is_classification=task == "classification")
    start, cpu = time.monotonic(), time.process_time()
    import madaline as md

    kind = md.MLPClassifier if task == "classification" else md.MLPRegressor
    estimator = kind(preset=preset, random_state=0, threads=2).fit(X, y, max_seconds=limit)
    found = {"seconds": time.monotonic() - start, "cpu": time.process_time() - cpu}
    members = getattr(estimator, "members_", [])
    return found | {"epochs": estimator.n_iter_, "members": len(members)}


def prediction_ratio(n_rows: int, n_predicted: int = 20_000) -> dict[str, Any]:
    """Processor time of a prediction of many rows by an ensemble and by one net; both are trained for 30 epochs."""
    import madaline as md

    X, y = table(n_rows, is_classification=False)
    Z, _ = table(n_predicted, is_classification=False)
    seconds = {}
    for preset in ("auto", "best"):
        estimator = md.MLPRegressor(preset=preset, max_iter=30, random_state=0, threads=1).fit(X, y)
        estimator.predict(Z)
        start = time.process_time()
        for _ in range(3):
            estimator.predict(Z)
        seconds[preset] = (time.process_time() - start) / 3
    used = [each for each in estimator.members_ if each["weight"] > 0.0]
    nets = sum("net" in each["kind"] for each in used)
    return {"nets": nets, "linear models": len(used) - nets, **seconds, "ratio": seconds["best"] / seconds["auto"]}


def keep(key: str, found: dict[str, Any]) -> None:
    """Print and keep a result."""
    kept = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    kept[key] = {name: round(value, 3) for name, value in found.items()}
    NUMBERS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(key, kept[key], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["auto", "best"])
    parser.add_argument("--tasks", nargs="+", default=["classification", "regression"])
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 10_000, 500_000])
    parser.add_argument("--limits", nargs="+", type=float, default=[5.0, 20.0])
    parser.add_argument("--unlimited", action="store_true", help="without a time limit")
    parser.add_argument("--prediction", action="store_true", help="the time of predictions instead")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        limit = None if given.unlimited else given.limits[0]
        print(json.dumps(measure(given.presets[0], given.tasks[0], given.rows[0], limit)))
        return
    if given.prediction:
        for rows in (800, 4_000):
            keep(f"prediction, {rows} training rows", prediction_ratio(rows))
        return
    for limit in [None] if given.unlimited else given.limits:
        for rows in given.rows:
            for preset in given.presets:
                for task in given.tasks:
                    asked = ["--unlimited"] if limit is None else ["--limits", str(limit)]
                    command = [sys.executable, __file__, "--one", "--presets", preset, "--tasks", task, *asked]
                    done = subprocess.run([*command, "--rows", str(rows)], capture_output=True, text=True, check=True)
                    found = json.loads(done.stdout)
                    keep(f"{preset}, {task}, {rows} rows, limit {limit}", found)


if __name__ == "__main__":
    main()
