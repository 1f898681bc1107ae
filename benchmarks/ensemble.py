"""preset="best" beside preset="auto", gradient boosting and a linear model, on the open tabular sets.

MADALINE_DATA=folder python benchmarks/ensemble.py [--seeds 1] [--rows 10000] [--only SET ...]

Every set is split at random: a quarter is the test set, and at most --rows of the others are the training set, the same
for all. Scores are accuracy and log loss, or R2 and the share of test rows inside the 90 % prediction interval.
Measured runs are kept in results/ensemble.json and not measured again; the table is results/ensemble.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import harness
import numpy as np
import polars as pl
import table_peers
import tabular
from presets import ranks

import madaline as md

NUMBERS = harness.RESULTS / "ensemble.json"
WHO = ("best", "auto", "gradient boosting", "linear")


def fitted(who: str, data: tabular.Tabular, X: pl.DataFrame, y: np.ndarray, seed: int) -> Any:
    """A fitted model."""
    if who in ("best", "auto"):
        kind = md.MLPClassifier if data.is_classification else md.MLPRegressor
        return kind(preset=who, random_state=seed).fit(X, y)
    make = table_peers.linear if who == "linear" else table_peers.boosting
    return make(data, seed).fit(X, y)


def measure(who: str, data: tabular.Tabular, seed: int, rows: int) -> dict[str, float]:
    """Scores and seconds of one model on one split."""
    X, y, Z, truth = data.split(seed, most_rows=rows)
    start, cpu = time.perf_counter(), time.process_time()
    model = fitted(who, data, X, y, seed)
    found = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    start = time.perf_counter()
    predicted = np.asarray(model.predict(Z))
    found["predict seconds"] = time.perf_counter() - start
    if data.is_classification:
        p = np.clip(model.predict_proba(Z), 1e-7, 1.0)
        place = {name: k for k, name in enumerate(np.asarray(model.classes_).tolist())}
        known = [p[row, place[name]] if name in place else 1e-7 for row, name in enumerate(truth.tolist())]
        return found | {"score": float(np.mean(predicted == truth)), "log loss": float(-np.mean(np.log(known)))}
    found["score"] = float(1.0 - np.mean((truth - predicted) ** 2) / np.var(truth))
    if who in ("best", "auto"):
        low, high = model.predict_interval(Z, coverage=0.9)
        found["coverage"] = float(np.mean((low <= truth) & (truth <= high)))
    return found


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    text = [
        '# preset="best" on open tabular sets',
        "Written by `benchmarks/ensemble.py`: at most {rows:,} training rows, means over {seeds} random split(s). "
        "Score: accuracy or R2. Seconds: wall time of training on a machine with two cores.".format(**found),
        f"| set | score | {' | '.join(WHO)} | log loss: {' / '.join(WHO)} | coverage of 90 %: best / auto | seconds |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | --- | --- |",
    ]
    scores, losses, coverages = [], [], []
    for name, runs in found["sets"].items():
        if not all(who in runs for who in WHO):
            continue
        mean = {
            who: {
                key: float(np.mean([run[key] for run in runs[who].values()])) for key in next(iter(runs[who].values()))
            }
            for who in WHO
        }
        values = [mean[who]["score"] for who in WHO]
        scores.append(values)
        has_classes = "log loss" in mean["best"]
        if has_classes:
            losses.append([-mean[who]["log loss"] for who in WHO])
        else:
            coverages.append([mean[who]["coverage"] for who in ("best", "auto")])
        shown = [f"**{value:.4f}**" if value == max(values) else f"{value:.4f}" for value in values]
        text.append(
            f"| {name} | {'accuracy' if has_classes else 'R2'} | {' | '.join(shown)} "
            f"| {' / '.join(f'{-value:.4f}' for value in losses[-1]) if has_classes else ''} "
            f"| {'' if has_classes else ' / '.join(f'{value:.2f}' for value in coverages[-1])} "
            f"| {' / '.join(format(mean[who]['seconds'], '.1f') for who in WHO)} |"
        )
    if scores:
        text.append(
            f"| **mean rank** | | {' | '.join(f'**{rank:.2f}**' for rank in ranks(np.array(scores)).mean(axis=0))} "
            f"| {' / '.join(f'{rank:.2f}' for rank in ranks(np.array(losses)).mean(axis=0)) if losses else ''} | | |"
        )
        best, auto = np.array(scores)[:, 0], np.array(scores)[:, 1]
        text.append("")
        text.append(f'preset="best" is better than preset="auto" on {int((best > auto).sum())} of {len(best)} sets, ')
        text[-1] += f"worse on {int((best < auto).sum())}."
    return "\n".join(text[:1]) + "\n\n" + text[1] + "\n\n" + "\n".join(text[2:]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", help="sets; by default all")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {"sets": {}}
    found |= {"rows": given.rows, "seeds": given.seeds, "machine": harness.machine()}
    for seed in range(given.seeds):
        for name in given.only or tabular.names():
            data = tabular.load(name)
            runs = found["sets"].setdefault(name, {})
            for who in WHO:
                if str(seed) not in runs.setdefault(who, {}):
                    runs[who][str(seed)] = measure(who, data, seed, given.rows)
                    print(name, who, seed, runs[who][str(seed)], flush=True)
            harness.save("ensemble", found, page(found))


if __name__ == "__main__":
    main()
