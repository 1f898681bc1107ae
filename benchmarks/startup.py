"""Time from import to a trained model of iris in new processes: madaline's Trainer and MLPClassifier, compared with
scikit-learn's MLPClassifier.

    python benchmarks/startup.py [--runs 7]

All train one hidden layer of 100 rectifiers with Adam for 100 epochs with mini-batches of 32 rows. Compiled Python
files are cached, as for installed packages.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import harness
import numpy as np

PROGRAMS = {
    "madaline": """
import madaline as md
trainer = md.Trainer(md.mlp(100, 3), loss="cross_entropy", optimizer=md.Adam(1e-3))
imported = time.perf_counter()
trainer.fit(X, y, epochs=100, batch_size=32, progress=False)
fitted = time.perf_counter()
accuracy = (trainer.predict(X).argmax(axis=1) == y).mean()
""",
    "sklearn": """
import warnings
warnings.simplefilter("ignore")
from sklearn.neural_network import MLPClassifier
model = MLPClassifier((100,), max_iter=100, batch_size=32, alpha=0.0, tol=0.0, n_iter_no_change=100, random_state=0)
imported = time.perf_counter()
model.fit(X, y)
fitted = time.perf_counter()
accuracy = model.score(X, y)
""",
}
PROGRAMS["estimator"] = PROGRAMS["sklearn"].replace("sklearn.neural_network", "madaline")
FRAME = """
import json, sys, time
import numpy as np
data = np.load(sys.argv[1])
X, y = data["X"], data["y"]
start = time.perf_counter()
{program}
print(json.dumps({{"import": imported - start, "fit": fitted - imported, "accuracy": float(accuracy)}}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {name: [] for name in PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        path = iris(Path(folder))
        kept = {"PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | kept
        for run in range(options.runs + 1):
            for name, program in PROGRAMS.items():
                command = [sys.executable, "-c", FRAME.format(program=program), str(path)]
                text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
                if run:  # the first run fills caches and compiles
                    found[name].append(json.loads(text))
    for name, runs in found.items():
        middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        print(f"{name:10s} import {middle['import']:.2f} s, fit {middle['fit']:.2f} s, right {middle['accuracy']:.1%}")
        harness.update("startup", name, {"runs": runs, "median": total(runs)})
    for name in ("madaline", "estimator"):
        print(f"{name} takes {total(found[name]) / total(found['sklearn']):.2f} of scikit-learn's time")


def iris(folder: Path) -> Path:
    """A file with the iris data set, standardized, as float32."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    path = folder / "iris.npz"
    np.savez(path, X=((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32), y=y)
    return path


def total(runs: list[dict[str, Any]]) -> float:
    """The median time from import to trained model."""
    return statistics.median(run["import"] + run["fit"] for run in runs)


if __name__ == "__main__":
    main()
