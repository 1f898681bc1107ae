"""md.MLPClassifier and md.MLPRegressor compared with scikit-learn's at equal settings: scores and times.

    MADALINE_DATA=folder python benchmarks/estimators.py [--seeds 5] [--rows 10000] [--only SET ...]

Both are trained on the same preprocessed rows (missing values imputed, categories one-hot encoded, features and numeric
targets standardised), with scikit-learn's defaults except early stopping. Times are processor seconds of `fit` on one
thread, measured alternately. Earlier measurements are kept in results/estimators.json; the table is
results/estimators.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
import tabular
from presets import categories, in_pandas
from sklearn import neural_network as theirs
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import madaline as md

NUMBERS = harness.RESULTS / "estimators.json"
SMALL = {"digits": load_digits, "breast_cancer": load_breast_cancer, "diabetes": load_diabetes, "wine": load_wine}
"Data sets of scikit-learn."

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def small(name: str, seed: int) -> tuple[Split, bool]:
    """A data set of scikit-learn, with a quarter as the test set; and whether targets are classes."""
    X, y = SMALL[name](return_X_y=True)
    X, Z, y, truth = train_test_split(X, y, random_state=seed)
    scaler = StandardScaler().fit(X)
    return (scaler.transform(X), y, scaler.transform(Z), truth), name != "diabetes"


def large(name: str, seed: int, rows: int) -> tuple[Split, bool]:
    """The same for an open data set, with categories encoded and missing values imputed."""
    data = tabular.load(name)
    X, y, Z, truth = data.split(seed, most_rows=rows)
    train, test = in_pandas(X), in_pandas(Z)
    named = categories(data, train)
    for frame in (train, test):
        frame[named] = frame[named].astype(str).where(frame[named].notna(), "missing")
    others = [column for column in train.columns if column not in named]
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), others),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False), named),
    )
    X, Z = prepare.fit_transform(train), prepare.transform(test)
    return (np.ascontiguousarray(X), y, np.ascontiguousarray(Z), truth), data.is_classification


def measure(split: Split, is_classes: bool, seed: int) -> dict[str, dict[str, float]]:
    """Score, number of epochs and seconds of both."""
    X, y, Z, truth = split
    kind = "MLPClassifier" if is_classes else "MLPRegressor"
    if not is_classes:
        middle, spread = y.mean(), y.std()
        y, truth = (y - middle) / spread, (truth - middle) / spread
    found = {}
    for name, module in (("madaline", md), ("sklearn", theirs)):
        start = time.process_time()
        with threadpool_limits(1):
            model = getattr(module, kind)(early_stopping=True, random_state=seed).fit(X, y)
        seconds = time.process_time() - start
        found[name] = {"score": float(model.score(Z, truth)), "epochs": model.n_iter_, "seconds": seconds}
    return found


def single_rows() -> dict[str, list[float]]:
    """Time of `predict_proba` for one row: both in microseconds, and the speedup."""
    found = {}
    for name, load in (("iris", load_iris), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        models = {who: module.MLPClassifier(max_iter=5).fit(X, y) for who, module in (("ours", md), ("theirs", theirs))}
        calls = {who: partial(model.predict_proba, X[:1].copy()) for who, model in models.items()}
        timings = harness.interleave(calls, seconds=1.0)
        ratio = harness.ratios(timings, "ours")["theirs"][0]
        found[name] = [1e6 * timings["ours"].best, 1e6 * timings["theirs"].best, ratio]
    return found


def rows_of(parts: dict[str, Any]) -> Iterator[list[str]]:
    """The rows of the table, one per data set."""
    for name, part in parts.items():
        runs = list(part["runs"].values())
        means = {}
        for who in ("madaline", "sklearn"):
            scores = np.array([run[who]["score"] for run in runs])
            means[who] = f"{scores.mean():.4f} ± {scores.std():.4f}"
        gap = np.mean([run["madaline"]["score"] - run["sklearn"]["score"] for run in runs])
        ratio = np.median([run["sklearn"]["seconds"] / run["madaline"]["seconds"] for run in runs])
        same = sum(run["madaline"]["epochs"] == run["sklearn"]["epochs"] for run in runs)
        metric = "accuracy" if part["classes"] else "R2"
        size = f"{part['rows']:,} x {part['columns']:,}"
        yield [name, size, metric, *means.values(), f"{gap:+.4f}", f"{same} of {len(runs)}", f"{ratio:.1f}"]


ABOUT = """# Estimators at equal settings

Made by `python benchmarks/estimators.py`: `md.MLPClassifier` and `md.MLPRegressor` compared with scikit-learn's, with
all parameters at their defaults except `early_stopping=True`, on the same rows (numbers standardised, categories
one-hot encoded); mean and standard deviation over the seeds. Both use the same random numbers and take the same steps,
so they differ only by rounding.

Over {n} data sets the mean difference of the scores is {mean:+.5f}, the largest {largest:+.4f}. `fit` of scikit-learn
takes {ratio:.1f} times as long (median, processor seconds, one thread each, on a machine with other load).

Machine: {cpu}, {cpus} CPUs.

"""


def page(data: dict[str, Any]) -> str:
    """The results as Markdown."""
    parts = data["parts"]
    all_runs = [run for part in parts.values() for run in part["runs"].values()]
    ratios = [run["sklearn"]["seconds"] / run["madaline"]["seconds"] for run in all_runs]
    gaps = [
        np.mean([run["madaline"]["score"] - run["sklearn"]["score"] for run in part["runs"].values()])
        for part in parts.values()
    ]
    machine = data["machine"]
    text = ABOUT.format(
        n=len(parts),
        mean=np.mean(gaps),
        largest=gaps[int(np.argmax(np.abs(gaps)))],
        ratio=np.median(ratios),
        cpu=machine["cpu"],
        cpus=machine["cpus"],
    )
    header = ["set", "rows x columns", "score", "madaline", "scikit-learn", "difference", "same epochs", "times faster"]
    text += harness.table("Scores and times", header, list(rows_of(parts)))
    rows = [
        [name, f"{ours:.1f}", f"{other:.1f}", f"{ratio:.1f}"] for name, (ours, other, ratio) in data["one_row"].items()
    ]
    return text + harness.table(
        "predict_proba of one row", ["set", "madaline, us", "scikit-learn, us", "times faster"], rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=None, help="names of data sets (default: all)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # some runs do not converge
    md.set_threads(1)
    known: dict[str, Any] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {"parts": {}}
    known["one_row"] = known.get("one_row") or single_rows()
    measure(*small("wine", 0), 0)  # warm up: imports and planning
    for seed in range(given.seeds):
        for name in given.only or [*SMALL, *tabular.names()]:
            if str(seed) in known["parts"].get(name, {"runs": {}})["runs"]:
                continue
            split, is_classes = small(name, seed) if name in SMALL else large(name, seed, given.rows)
            part = known["parts"].setdefault(name, {"runs": {}})
            part |= {"rows": len(split[0]), "columns": split[0].shape[1], "classes": is_classes}
            part["runs"][str(seed)] = found = measure(split, is_classes, seed)
            known["machine"] = harness.machine()
            harness.save("estimators", known, page(known))
            print(name, seed, {who: f"{run['score']:.4f} in {run['seconds']:.2f} s" for who, run in found.items()})


if __name__ == "__main__":
    main()
