"""preset="best" and preset="auto" beside other models, on open tables on which the recipe was not chosen.

MADALINE_DATA=folder python benchmarks/table_ranks.py [--models best auto RealMLP-TD ...] [--splits 2] [--rows 10000]
MADALINE_DATA=folder python benchmarks/table_ranks.py --published
MADALINE_DATA=folder python benchmarks/table_ranks.py --predictions
MADALINE_DATA=folder python benchmarks/table_ranks.py --page

Every set is split at random: a quarter is the test set (at most 10,000 rows), and at most --rows of the others are the
training set, the same for all. Each run has a process of its own and one thread. Runs are kept in
results/table_ranks.json and not measured again without --again; the page is results/table_ranks.md.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import multiprocessing
import resource
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import harness
import numpy as np
import polars as pl
import table_peers
import tabular
from sklearn.metrics import roc_auc_score
from table_sets import REPORT

import madaline as md

NUMBERS = harness.RESULTS / "table_ranks.json"
OURS = ("best", "auto")
MODELS = (*OURS, *table_peers.MODELS)
FIVE = ("RealMLP-TD", "LightGBM", "HistGradientBoosting", "scikit-learn MLP", "linear")
"Those beside which the ranks of six are counted."
COVERAGE = 0.9
MOST_TEST_ROWS = 10_000
LEAST = 1e-6
"Smallest probability for the log loss."


def scores(model: Any, data: tabular.Tabular, Z: pl.DataFrame, truth: np.ndarray) -> dict[str, float]:
    """Scores on the test set: the fraction of wrong rows, log loss and AUC, or the RMSE by the standard deviation."""
    if not data.is_classification:
        residual = truth - np.asarray(model.predict(Z), dtype=np.float64).ravel()
        return {"error": float(np.sqrt(np.mean(residual**2) / np.var(truth)))}
    classes = np.asarray(model.classes_).astype(str).tolist()
    p = np.clip(np.asarray(model.predict_proba(Z), dtype=np.float64), LEAST, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    place = {each: k for k, each in enumerate(classes)}
    known = [p[row, place[each]] if each in place else LEAST for row, each in enumerate(truth.tolist())]
    found = {
        "error": float(np.mean(np.array(classes)[p.argmax(axis=1)] != truth)),
        "log loss": float(-np.mean(np.log(known))),
    }
    areas = [
        roc_auc_score(truth == each, p[:, k]) for each, k in place.items() if 0 < np.sum(truth == each) < len(truth)
    ]
    return found | {"AUC": float(np.mean(areas))}


def ranks(found: np.ndarray) -> np.ndarray:
    """Ranks in each row, 1 for the largest number; ties get the mean of their ranks."""
    better = (found[:, None, :] > found[:, :, None] + 1e-9).sum(axis=2)
    equal = (np.abs(found[:, None, :] - found[:, :, None]) <= 1e-9).sum(axis=2)
    return better + (equal + 1) / 2.0


def make(who: str, data: tabular.Tabular, seed: int) -> Any:
    """A model that was not trained."""
    if who not in OURS:
        return table_peers.MODELS[who](data, seed)
    kind = md.MLPClassifier if data.is_classification else md.MLPRegressor
    return kind(preset=who, random_state=seed, threads=1)


def import_libraries(who: str, is_classification: bool) -> None:
    """Train on a small table, so that what is imported then is not measured."""
    X = pl.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), schema=["a", "b", "c"])
    y = np.arange(200.0) % 2.0
    y = y.astype(np.int64).astype(str) if is_classification else y
    make(who, tabular.Tabular("", X, y, is_classification, (), X), 0).fit(X, y)


def memory() -> float:
    """Largest memory of this process until now, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measure(who: str, name: str, split: int, rows: int) -> dict[str, float]:
    """Scores, processor seconds, and memory beyond that of the libraries and the table."""
    warnings.simplefilter("ignore")  # some runs do not converge
    data = tabular.load(name)
    X, y, Z, truth = data.split(split, most_rows=rows, most_test_rows=MOST_TEST_ROWS)
    import_libraries(who, data.is_classification)
    before, start = memory(), time.process_time()
    model = make(who, data, split).fit(X, y)
    found = {"fit": time.process_time() - start, "memory": memory() - before}
    model.predict(Z)
    start = time.process_time()
    model.predict(Z)
    found |= {"predict": time.process_time() - start, "rows": float(len(X)), "test rows": float(len(Z))}
    found |= scores(model, data, Z, truth)
    if who in OURS and not data.is_classification:
        low, high = model.predict_interval(Z, coverage=COVERAGE)
        inside = (low.ravel() <= truth) & (truth <= high.ravel())
        found |= {"coverage": float(inside.mean()), "width": float(np.mean(high - low) / np.std(truth))}
    return found


def measured_apart(*task: Any) -> dict[str, float]:
    """A measurement in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, task)


PUBLISHED = {
    "california_housing": ("RMSE", 0.4948, 0.4275),
    "adult": ("accuracy", 0.8540, 0.8679),
    "covertype": ("accuracy", 0.9630, 0.9755),
}
"""Metric, and published scores of a tuned MLP and of a tuned TabM-mini with piecewise linear embeddings."""


def measure_published(who: str, name: str) -> dict[str, Any]:
    """The score on a set with published results, on its own split or with a fifth as the test set."""
    data = tabular.load(name)
    if name == "adult":
        is_test = (data.all["part"] == "test").to_numpy()
    else:
        is_test = np.random.default_rng(0).permutation(len(data.y)) < len(data.y) // 5
    start = time.process_time()
    model = make(who, data, 0).fit(data.X.filter(~is_test), data.y[~is_test])
    seconds = time.process_time() - start
    error = scores(model, data, data.X.filter(is_test), data.y[is_test])["error"]
    score = error * float(np.std(data.y[is_test])) if PUBLISHED[name][0] == "RMSE" else 1.0 - error
    return {"score": score, "seconds": seconds}


def measure_predictions(name: str, rows: int) -> dict[str, float]:
    """Microseconds of a prediction of a row by both presets, in turn, with one thread: the least of seven rounds."""
    data = tabular.load(name)
    X, y, Z, _ = data.split(0, most_rows=rows, most_test_rows=MOST_TEST_ROWS)
    models = {who: make(who, data, 0).fit(X, y) for who in OURS}
    found: dict[str, float] = {}
    for _ in range(7):
        for who, model in models.items():
            start = time.process_time()
            model.predict(Z)
            seconds = time.process_time() - start
            found[who] = min(found.get(who, np.inf), 1e6 * seconds / len(Z))
    return found


class Runs:
    """What was measured: runs by model, set and split."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.runs = found["runs"]

    def splits(self, who: Sequence[str], name: str) -> list[str]:
        """The splits of a set that all models were measured on."""
        return sorted(set.intersection(*(set(self.runs.get(each, {}).get(name, ())) for each in who)))

    def each(self, who: Sequence[str], what: str) -> Iterator[tuple[str, str, list[float]]]:
        """Set, split and the numbers of all models."""
        for name in REPORT:
            for split in self.splits(who, name):
                rows = [self.runs[each][name][split] for each in who]
                if all(what in row for row in rows):
                    yield name, split, [row[what] for row in rows]

    def ranks(self, who: Sequence[str], what: str, sign: float = -1.0) -> dict[str, np.ndarray]:
        """The ranks of models on each split, a row for each set."""
        found: dict[str, list[list[float]]] = {}
        for _, split, values in self.each(who, what):
            found.setdefault(split, []).append([sign * value for value in values])
        return {split: ranks(np.array(rows)) for split, rows in found.items()}


def interval(rows: np.ndarray) -> tuple[float, float]:
    """A 90 % interval of the mean by bootstrap over sets."""
    draws = np.random.default_rng(0).choice(rows, (2_000, len(rows))).mean(axis=1)
    low, high = np.quantile(draws, (0.05, 0.95))
    return float(low), float(high)


def table_of_ranks(runs: Runs, who: Sequence[str]) -> str:
    """Mean ranks by error, log loss and AUC: over all splits, of each split, and an interval over sets."""
    lines = [f"| mean rank of {len(who)} | {' | '.join(who)} |", f"| --- |{' ---: |' * len(who)}"]
    for what, sign in (("error", -1.0), ("log loss", -1.0), ("AUC", 1.0)):
        by_split = runs.ranks(who, what, sign)
        if not by_split:
            continue
        n_sets = min(len(rows) for rows in by_split.values())
        mean = np.mean([rows[:n_sets] for rows in by_split.values()], axis=0)
        cells = []
        for k in range(len(who)):
            low, high = interval(mean[:, k])
            each = ", ".join(f"{rows[:, k].mean():.2f}" for rows in by_split.values())
            cells.append(f"**{mean[:, k].mean():.2f}** ({low:.2f} to {high:.2f}; {each})")
        lines.append(f"| {what}, {n_sets} sets | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_pairs(runs: Runs, mine: str, others: Sequence[str]) -> str:
    """Wins, and the ratios of errors, log losses and times of one model and each of the others."""
    lines = [
        f"| {mine} against | error: better : worse | ratio | log loss: better : worse | ratio | fit | predict |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for other in others:
        cells = []
        for what in ("error", "log loss"):
            pairs = np.array([values for _, _, values in runs.each((mine, other), what)]) + 1e-2
            better, worse = int((pairs[:, 0] < pairs[:, 1]).sum()), int((pairs[:, 0] > pairs[:, 1]).sum())
            cells.append(f"{better} : {worse} | {np.exp(np.mean(np.log(pairs[:, 0] / pairs[:, 1]))):.3f}")
        for what in ("fit", "predict"):
            pairs = np.array([values for _, _, values in runs.each((mine, other), what)])
            cells.append(f"x {np.exp(np.mean(np.log(pairs[:, 1] / pairs[:, 0]))):.2f}")
        lines.append(f"| {other} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_sets(runs: Runs, who: Sequence[str], what: str, sign: float = -1.0) -> str:
    """Means over the splits of each set."""
    lines = [f"| set | rows | {' | '.join(who)} |", f"| --- | ---: |{' ---: |' * len(who)}"]
    for name in REPORT:
        splits = runs.splits(who, name)
        rows = [[runs.runs[each][name][split] for split in splits] for each in who]
        if not splits or what not in rows[0][0]:
            continue
        values = [float(np.mean([run[what] for run in each])) for each in rows]
        best = max(sign * value for value in values)
        shown = [f"**{value:.4f}**" if sign * value == best else f"{value:.4f}" for value in values]
        lines.append(f"| {name} | {rows[0][0]['rows']:,.0f} | {' | '.join(shown)} |")
    return "\n".join(lines)


def table_of_costs(runs: Runs, who: Sequence[str]) -> str:
    """Processor seconds to fit and to predict, and memory."""
    lines = [
        "| | to fit: median, largest | to predict 1,000 rows: median, largest | memory in MiB: median, largest |",
        "| --- | ---: | ---: | ---: |",
    ]
    for each in who:
        found = [run for name in REPORT for run in runs.runs.get(each, {}).get(name, {}).values()]
        fit, space = (np.array([run[what] for run in found]) for what in ("fit", "memory"))
        predict = np.array([1_000.0 * run["predict"] / run["test rows"] for run in found])
        lines.append(
            f"| {each} | {np.median(fit):.1f} s, {fit.max():.1f} s "
            f"| {1e3 * np.median(predict):.1f} ms, {1e3 * predict.max():.1f} ms "
            f"| {np.median(space):.0f}, {space.max():.0f} |"
        )
    return "\n".join(lines)


def table_of_coverage(runs: Runs) -> str:
    """The part of the test rows in the intervals, and the mean width of these."""
    lines = [
        "| set | in the interval: best | auto | width by standard deviation: best | auto |",
        f"| --- |{' ---: |' * 4}",
    ]
    inside: dict[str, list[list[float]]] = {name: [] for name in REPORT}
    for what in ("coverage", "width"):
        for name, _, values in runs.each(OURS, what):
            inside[name].append(values)
    means = {}
    for name, rows in inside.items():
        if rows:
            half = len(rows) // 2
            means[name] = [*np.mean(rows[:half], axis=0), *np.mean(rows[half:], axis=0)]
            lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in means[name])} |")
    lines.append(f"| **mean** | {' | '.join(f'**{value:.3f}**' for value in np.mean(list(means.values()), axis=0))} |")
    return "\n".join(lines)


def table_of_predictions(found: dict[str, Any]) -> str:
    """Times of predictions by both presets, and their ratio."""
    lines = ["| set | best | auto | ratio |", f"| --- |{' ---: |' * 3}"]
    for name in REPORT:
        if name in found:
            best, auto = (found[name][who] for who in OURS)
            lines.append(f"| {name} | {best:.1f} us | {auto:.1f} us | {best / auto:.1f} |")
    return "\n".join(lines)


def table_of_published(found: dict[str, Any]) -> str:
    lines = [
        '| set | metric | published MLP | published TabM-mini | preset="auto" | seconds | preset="best" | seconds |',
        f"| --- | --- |{' ---: |' * 6}",
    ]
    for name, (metric, *published) in PUBLISHED.items():
        own = found.get(name, {})
        cells = [
            f"{own[who]['score']:.4f} | {own[who]['seconds']:.0f}" if who in own else "- | -" for who in OURS[::-1]
        ]
        lines.append(f"| {name} | {metric} | {' | '.join(f'{each:.4f}' for each in published)} | {' | '.join(cells)} |")
    return "\n".join(lines)


PAGE = """# preset="best" and preset="auto" beside other models

Written by `python benchmarks/table_ranks.py --page` from `table_ranks.json`. Every set is split at random {n_splits}
times: a quarter is the test set (at most {most:,} rows), and at most {rows:,} of the other rows are the training set,
the same for all models, which have their default parameters. The recipe of the presets was chosen on other sets
([recipe.md](recipe.md)), apart from older parts of it. TabM, which takes minutes for a large set on a CPU, was measured
on one split of sets with few rows. The error is the RMSE divided by the standard deviation of the
target, or the fraction of wrong rows; AUC is the mean over classes, each against the rest. Times are processor seconds,
with one thread, on a machine with other load. The scores of `auto` on sets with at least 5,000 rows were measured again
when its validation set became smaller there; its times are those of before, since the change is within 1 %
([recipe.md](recipe.md#what-each-part-of-a-net-is-worth)).

## Ranks
The mean rank over sets and splits; in brackets a 90 % interval by bootstrap over sets, and the mean rank of each split.
Beside the same five models, `best` and `auto`, each for itself:

{six}

{six_auto}

On the sets with more than 2,000 training rows:

{large}

All models:

{every}

## Wins and losses
Over sets and splits, with the geometric mean of the ratios of errors and log losses (below 1, ours is better; 0.01 is
added to both, since some are 0), and the times of the others divided by ours:

{pairs}

{pairs_auto}

## Costs
{costs}

`best` predicts with up to {members} members, and with the training rows themselves if the kernel machine has weight.
Afterwards, its predictions were made faster. Both presets in turn, with one thread of another computer, by
`--predictions`, for a row:

{predictions}

## Prediction intervals
The part of the test rows inside the 90 % prediction intervals, and the mean width of the intervals divided by the
standard deviation of the target:

{coverage}

## Errors
{errors}

## Log losses
{losses}

## Published scores of tuned models
Tuned MLPs of Gorishniy et al. 2021, "Revisiting deep learning models for tabular data", table 2, and tuned ensembles,
TabM-mini with piecewise linear embeddings, of Gorishniy et al. 2024. One seed here, without tuning on these sets, and
with all rows; Adult has its own split, for the others a fifth is the test set, not the published one. Processor
seconds with one thread; `best` was measured on sets of at most {largest:,} rows.

{published}
"""
LARGEST = 100_000
"`best` is measured on published sets of at most so many rows."


def page(found: dict[str, Any]) -> str:
    runs = Runs(found)
    known = [each for each in MODELS if runs.runs.get(each)]
    complete = [each for each in known if len(runs.runs[each]) == len(runs.runs["best"])]
    large = Runs(
        {
            "runs": {
                who: {
                    name: splits for name, splits in sets.items() if all(run["rows"] > 2_000 for run in splits.values())
                }
                for who, sets in runs.runs.items()
            }
        }
    )
    return PAGE.format(
        n_splits=max(len(splits) for splits in runs.runs["best"].values()),
        most=MOST_TEST_ROWS,
        rows=found["rows"],
        six=table_of_ranks(runs, ("best", *FIVE)),
        six_auto=table_of_ranks(runs, ("auto", *FIVE)),
        large="\n\n".join(table_of_ranks(large, (each, *FIVE)) for each in OURS),
        every=table_of_ranks(runs, complete),
        pairs=table_of_pairs(runs, "best", [each for each in known if each != "best"]),
        pairs_auto=table_of_pairs(runs, "auto", [each for each in known if each != "auto"]),
        costs=table_of_costs(runs, known),
        predictions=table_of_predictions(found.get("predictions", {})),
        coverage=table_of_coverage(runs),
        errors=table_of_sets(runs, complete, "error"),
        losses=table_of_sets(runs, complete, "log loss"),
        published=table_of_published(found.get("published", {})),
        largest=LARGEST,
        members=34,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[])
    parser.add_argument("--splits", type=int, nargs="+", default=[0, 1], help="numbers of the random splits")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", default=REPORT, help="names of sets (default: all of the report half)")
    parser.add_argument("--again", action="store_true", help="measure again what was measured")
    parser.add_argument("--published", action="store_true", help="the sets with published scores")
    parser.add_argument("--predictions", action="store_true", help="times of predictions by both presets")
    parser.add_argument("--page", action="store_true", help="write results/table_ranks.md")
    given = parser.parse_args()
    for split in given.splits:
        for who in given.models:
            for name in given.only:
                known = read()["runs"].get(who, {}).get(name, {})
                if given.again or str(split) not in known:
                    run = measured_apart(who, name, split, given.rows)
                    keep(("runs", who, name, str(split)), run, given.rows)
                    print(who, name, split, {key: round(value, 4) for key, value in run.items()}, flush=True)
    if given.published:
        for name in PUBLISHED:
            for who in OURS:
                if who == "auto" or len(tabular.load(name).y) <= LARGEST:
                    keep(("published", name, who), measure_published(who, name), given.rows)
                    print(name, who, read()["published"][name][who], flush=True)
    if given.predictions:
        for name in given.only:
            keep(("predictions", name), measure_predictions(name, given.rows), given.rows)
            print(name, read()["predictions"][name], flush=True)
    if given.page:
        (harness.RESULTS / "table_ranks.md").write_text(page(read()))


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {"runs": {}}
    return found


def keep(where: tuple[str, ...], run: dict[str, Any], rows: int) -> None:
    """Add a run to the file, which another process may have changed since."""
    found = read() | {"rows": rows, "machine": harness.machine()}
    inner = found
    for part in where[:-1]:
        inner = inner.setdefault(part, {})
    inner[where[-1]] = run
    NUMBERS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
