"""preset="auto" compared with scikit-learn's MLP in a pipeline and with gradient boosting, on open tabular data sets.

MADALINE_DATA=folder python benchmarks/presets.py [--seeds 2] [--rows 10000] [--only SET ...] [--published]

Every data set is split at random: a quarter is the test set, and at most ``--rows`` of the other rows are the training
set. All contestants get the same table and the same list of categorical columns. Earlier measurements are kept in
results/presets.json and only repeated with --again; the table is results/presets.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import polars as pl
import table_peers
import tabular

import madaline as md

NUMBERS = harness.RESULTS / "presets.json"


def preset(data: tabular.Tabular, X: pl.DataFrame, y: np.ndarray, Z: pl.DataFrame, seed: int) -> np.ndarray:
    """One word."""
    kind = md.MLPClassifier if data.is_classification else md.MLPRegressor
    return kind(preset="auto", random_state=seed).fit(X, y).predict(Z)


def peer(make: Callable[..., table_peers.Peer]) -> Callable[..., np.ndarray]:
    """A model of another library."""

    def predicted(data: tabular.Tabular, X: pl.DataFrame, y: np.ndarray, Z: pl.DataFrame, seed: int) -> np.ndarray:
        return make(data, seed).fit(X, y).predict(Z)

    return predicted


CONTESTANTS: dict[str, Callable[..., np.ndarray]] = {
    'madaline preset="auto"': preset,
    "scikit-learn MLP, pipeline": peer(table_peers.scikit_mlp),
    "gradient boosting": peer(table_peers.boosting),
}


def score(data: tabular.Tabular, y: np.ndarray, predicted: np.ndarray) -> float:
    """Accuracy or R2."""
    if data.is_classification:
        return float(np.mean(y == predicted))
    return float(1.0 - np.mean((y - predicted) ** 2) / np.var(y))


def measure(data: tabular.Tabular, who: str, seed: int, rows: int) -> dict[str, float]:
    """Score and processor seconds of one contestant on one split."""
    X, y, Z, truth = data.split(seed, most_rows=rows)
    start = time.process_time()
    predicted = CONTESTANTS[who](data, X, y, Z, seed)
    return {"score": score(data, truth, predicted), "seconds": time.process_time() - start}


def ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks in each row, 1 for the best; ties get the mean of their ranks."""
    better = (scores[:, None, :] > scores[:, :, None] + 1e-9).sum(axis=2)
    equal = (np.abs(scores[:, None, :] - scores[:, :, None]) <= 1e-9).sum(axis=2)
    return better + (equal + 1) / 2.0


ABOUT = """Made by `python benchmarks/presets.py`: {splits}, at most {most:,} training rows. Scores are accuracies or
R2; the best one is bold. Times are processor seconds for training and prediction, in the order of the columns, on a
machine with other load. The preset is `MLPClassifier(preset="auto")` or `MLPRegressor(preset="auto")` on the raw table.
Its settings were chosen by experiments on seventeen of these data sets (about twenty experiments on each of twelve), on
the first of these splits, so its scores are slightly optimistic. Weight averaging was chosen by the validation losses
of eleven data sets on a separate split. scikit-learn's MLP has a pipeline with an imputer with indicators, one-hot
encoding, standardised numbers (and targets) and early stopping; gradient boosting is scikit-learn's
HistGradientBoosting."""

PUBLISHED_HEADER = (
    "## Comparison with published scores of tuned nets",
    "",
    'Published: tuned MLPs of Gorishniy et al. 2021, "Revisiting deep learning models for tabular data", table 2, and',
    "tuned ensembles, TabM-mini with piecewise linear embeddings, of Gorishniy et al. 2024. One seed here, without",
    "tuning on these data sets; Adult has its own split, for the others a fifth is the test set, not the published",
    "one.",
    "",
    '| set | metric | published MLP | published TabM-mini | preset="auto" | seconds | preset="best" | seconds |',
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


def table(found: dict[str, Any]) -> str:
    """Scores, ranks and times as Markdown."""
    lines = [f"| set | rows | score | {' | '.join(CONTESTANTS)} | seconds |", f"|{' --- |' * 7}"]
    scores = []
    for name, entry in found["sets"].items():
        seeds = set.intersection(*(set(entry["runs"].get(who, ())) for who in CONTESTANTS))
        if not seeds:
            continue
        means, times = (
            [float(np.mean([entry["runs"][who][seed][what] for seed in seeds])) for who in CONTESTANTS]
            for what in ("score", "seconds")
        )
        scores.append(means)
        shown = [f"**{mean:.4f}**" if mean == max(means) else f"{mean:.4f}" for mean in means]
        seconds = " / ".join(f"{each:.1f}" for each in times)
        lines.append(f"| {name} | {entry['rows']:,} | {entry['metric']} | {' | '.join(shown)} | {seconds} |")
    mean_ranks = ranks(np.array(scores)).mean(axis=0)
    lines.append(f"| **mean rank** | | | {' | '.join(f'**{rank:.2f}**' for rank in mean_ranks)} | |")
    wins = int((np.array(scores)[:, 0] > np.array(scores)[:, 1]).sum())
    splits = "one random split" if found["seeds"] == 1 else f"means over {found['seeds']} random splits"
    about = ABOUT.format(splits=splits, most=found["most"])
    ahead = f"madaline's preset has a better score than scikit-learn's MLP on {wins} of {len(scores)} data sets."
    parts = ['# preset="auto" on open tabular data sets', about, "\n".join(lines), ahead]
    if found.get("published"):
        rows = [
            f"| {name} | {entry['metric']} | {PUBLISHED[name][1]} | {PUBLISHED[name][2]} | "
            + " | ".join(
                f"{entry[which]['score']:.4f} | {entry[which]['seconds']:.0f}" if which in entry else "- | -"
                for which in ("auto", "best")
            )
            + " |"
            for name, entry in found["published"].items()
        ]
        parts.append("\n".join([*PUBLISHED_HEADER, *rows]))
    return "\n\n".join(parts) + "\n"


PUBLISHED = {
    "california_housing": ("RMSE", 0.4985, 0.4275),
    "adult": ("accuracy", 0.8522, 0.8679),
    "covertype": ("accuracy", 0.9625, 0.9755),
}
LARGEST = 100_000
'preset="best" is measured on sets of at most so many rows.'


def measure_published(name: str) -> dict[str, Any]:
    """Scores on a data set with published results, on its own split or with a fifth as the test set."""
    data = tabular.load(name)
    if name == "adult":
        is_test = (data.all["part"] == "test").to_numpy()
    else:
        is_test = np.random.default_rng(0).permutation(len(data.y)) < len(data.y) // 5
    X, y, Z, truth = data.X.filter(~is_test), data.y[~is_test], data.X.filter(is_test), data.y[is_test]
    metric = PUBLISHED[name][0]
    found: dict[str, Any] = {"metric": metric}
    kind = md.MLPClassifier if data.is_classification else md.MLPRegressor
    for which in ("auto", "best") if len(data.y) <= LARGEST else ("auto",):
        start = time.process_time()
        predicted = kind(preset=which, random_state=0).fit(X, y).predict(Z)
        seconds = time.process_time() - start
        error = float(np.sqrt(np.mean((truth - predicted) ** 2))) if metric == "RMSE" else score(data, truth, predicted)
        found[which] = {"score": error, "seconds": seconds}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=None, help="names of data sets (default: all)")
    parser.add_argument(
        "--again", nargs="*", default=(), help="contestants to measure again, by the start of their name"
    )
    parser.add_argument(
        "--published", nargs="*", default=None, help="also the data sets with published scores, or some of them"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # some runs do not converge
    found: dict[str, Any] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {"sets": {}}
    found |= {"seeds": given.seeds, "most": given.rows, "machine": harness.machine()}
    for again in given.again:
        for entry in found["sets"].values():
            entry["runs"] = {who: runs for who, runs in entry["runs"].items() if not who.startswith(again)}
    sets = {name: tabular.load(name) for name in (given.only or tabular.names())}
    for seed in range(given.seeds):
        for name, data in sets.items():
            metric = "accuracy" if data.is_classification else "R2"
            entry = found["sets"].setdefault(name, {"runs": {}}) | {"rows": len(data.y), "metric": metric}
            found["sets"][name] = entry
            for who in CONTESTANTS:
                runs = entry["runs"].setdefault(who, {})
                if str(seed) not in runs:
                    runs[str(seed)] = measure(data, who, seed, given.rows)
                    print(name, who, seed, runs[str(seed)], flush=True)
            write(found)
    for name in PUBLISHED if given.published == [] else given.published or ():
        found.setdefault("published", {})[name] = measure_published(name)
        print(name, found["published"][name], flush=True)
        write(found)
    write(found)


def write(found: dict[str, Any]) -> None:
    order = {name: place for place, name in enumerate(tabular.names())}
    found["sets"] = dict(sorted(found["sets"].items(), key=lambda item: order[item[0]]))
    harness.save("presets", found, table(found))


if __name__ == "__main__":
    main()
