"""Speed of two checkouts of madaline, measured in turn: training steps, fits of estimators, predictions.

    python benchmarks/revisions.py OLD NEW [--rounds 10] [--only tiny small ...]

OLD and NEW are Python executables of environments in which the two revisions are installed. Every round starts each of
them once for every measurement, in changing order, so that other load and changes of the clock affect both; the result
is the median of the ratios OLD / NEW of processor times (above 1: NEW is faster) with the quartiles.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess

TRAIN = """
from time import process_time
import numpy as np, madaline as md
widths, batch, rows, repeat = {widths}, {batch}, {rows}, {repeat}
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, widths[0])).astype("float32")
y = rng.integers(0, widths[-1], rows)
model = md.mlp(*widths[1:]).init(widths[0])
trainer = md.Trainer(model, loss="cross_entropy", optimizer=md.Adam(1e-3), threads=1)
trainer.partial_fit(X, y, epochs=2, batch_size=batch)
times = []
for _ in range(5):
    start = process_time()
    trainer.partial_fit(X, y, epochs=repeat, batch_size=batch)
    times.append(process_time() - start)
print(min(times) / repeat)
"""
FIT = """
from time import process_time
from sklearn.datasets import {data} as data
import madaline as md
X, y = data(return_X_y=True)
X = (X - X.mean(0)) / (X.std(0) + 1e-9)
times = []
for seed in range(4):
    start = process_time()
    md.{kind}(random_state=seed, max_iter=30, {options}).fit(X, y)
    times.append(process_time() - start)
print(min(times))
"""
ONE_ROW = """
from time import process_time
from sklearn.datasets import load_digits
import madaline as md
X, y = load_digits(return_X_y=True)
model = md.MLPClassifier(random_state=0, max_iter=3).fit(X, y)
row = X[:1]
model.{method}(row)
times = []
for _ in range(30):
    start = process_time()
    for _ in range(100):
        model.{method}(row)
    times.append(process_time() - start)
print(min(times) / 100)
"""
IMPORT = """
from time import process_time
start = process_time()
import madaline
print(process_time() - start)
"""
PARTS = {
    "tiny": TRAIN.format(widths=(2, 32, 32, 2), batch=32, rows=4096, repeat=60),
    "small": TRAIN.format(widths=(20, 64, 64, 2), batch=32, rows=4096, repeat=30),
    "tabular": TRAIN.format(widths=(54, 256, 256, 7), batch=256, rows=16384, repeat=2),
    "fit classifier": FIT.format(data="load_digits", kind="MLPClassifier", options=""),
    "fit regressor": FIT.format(data="load_diabetes", kind="MLPRegressor", options=""),
    "fit early stopping": FIT.format(data="load_breast_cancer", kind="MLPClassifier", options="early_stopping=True"),
    "predict one row": ONE_ROW.format(method="predict"),
    "predict_proba one row": ONE_ROW.format(method="predict_proba"),
    "import": IMPORT,
}


def seconds(python: str, code: str) -> float:
    done = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{python} failed:\n{done.stderr}")
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    for part in options.only:
        pairs = []
        for number in range(options.rounds):
            order = (options.old, options.new) if number % 2 else (options.new, options.old)
            times = {python: seconds(python, PARTS[part]) for python in order}
            pairs.append((times[options.old], times[options.new]))
        low, middle, high = statistics.quantiles((old / new for old, new in pairs), n=4)
        new = statistics.median(new for _, new in pairs)
        print(f"{part:24s} {middle:5.2f} ({low:.2f} to {high:.2f})   {new:.3g} s", flush=True)


if __name__ == "__main__":
    main()
