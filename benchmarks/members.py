"""Kinds of ensemble members trained once on the same folds, and mixtures of them without training again.

MADALINE_DATA=folder MADALINE_KEEP=folder python benchmarks/members.py --run KIND ... [--half small] [--rows 2000]

The out-of-fold outputs of each kind and its outputs on the test set are kept in the folder MADALINE_KEEP, so that rules
for weights and temperatures, and sets of kinds, can be compared in seconds. Splits and sets are those of recipe.py.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import tabular
from recipe import HALVES, MOST_TEST_ROWS
from recipe_variants import Blend

import madaline as md
from madaline.estimators.ensemble import fitting, plan
from madaline.estimators.ensemble.joining import held_out_outputs
from madaline.estimators.ensemble.plan import Kind
from madaline.estimators.predictor import Predictor
from madaline.estimators.tables import plain_matrix
from madaline.nn.layers.ensemble import averaged

KEEP = Path(os.environ.get("MADALINE_KEEP", "/tmp/members"))
PLAIN = {"waves": 0, "bins": 0, "scale_rate": 0.0}
BINS = {"waves": 0, "bins": 16, "scale_rate": 0.0}


@dataclass(frozen=True)
class Member:
    """How a kind of member differs from a net of the preset."""

    settings: dict[str, Any]
    features: dict[str, Any]
    base: str = "net"


def net(features: dict[str, Any] | None = None, **settings: Any) -> Member:
    return Member(settings, features or {})


def linear(alpha: float, features: dict[str, Any] = PLAIN) -> Member:
    return Member({"alpha": alpha}, features, "linear")


KINDS: dict[str, Member] = {
    "net": net(),
    **{f"linear {alpha:g}": linear(alpha) for alpha in (1e-3, 1.0, 10.0, 100.0)},
    **{f"additive {alpha:g}": linear(alpha, BINS) for alpha in (0.1, 1.0, 10.0, 100.0)},
    "relu, 48 bins": net({"bins": 48, "waves": 0}, activation="relu"),
    "relu": net(activation="relu"),
    "firm": net(dropout=0.4, weight_decay=0.3),
    "small": net(hidden_layer_sizes=(32, 32), dropout=0.2, weight_decay=0.1),
    "plain": net(PLAIN),
    "wide": net(hidden_layer_sizes=(256, 256), dropout=0.25),
    "last epoch": net(early_stopping=False),
    "slow": net(learning_rate_init=2e-3),
    "sharp": net({"wave_std": 0.5, "bins": 32}),
    "firm, plain": net(PLAIN, dropout=0.4, weight_decay=0.3),
    "beta2 0.95, rate 0.01": net(optimizer=md.optim.AdamW(1e-2, beta2=0.95)),
    "decay 0.1": net(weight_decay=0.1),
    "blended mish": net(activation=Blend()),
    "relu, rate 0.002": net(activation="relu", learning_rate_init=2e-3),
    "64 wide": net(hidden_layer_sizes=(64, 64, 64)),
}


def kinds_for(names: list[str], seed: int) -> Any:
    """A replacement of the function that chooses the kinds."""
    original = plan.kinds_for

    def chosen(settings: Any, where: Any) -> list[Kind]:
        lines = {kind.is_linear: kind for kind in original(settings, where)}
        found = []
        for name in names:
            member = KINDS[name]
            base = lines[member.base == "linear"]
            changed = replace(base.settings, **member.settings)
            repeats = range(where.repeats if member.base == "net" else 1)
            found += [
                Kind(name, changed, repeat, is_linear=base.is_linear, features=member.features) for repeat in repeats
            ]
        return found

    return chosen


def file_of(kind: str, name: str, split: int, rows: int, folds: int | None) -> Path:
    """Where the outputs of a kind are kept."""
    return KEEP / f"{kind}--{name.replace('/', '-')}--{split}--{rows}--{folds or 'own'}.npz"


@contextmanager
def seen_members(names: list[str], seed: int, seen: list[Any]) -> Any:
    """The members of every ensemble that is trained meanwhile."""
    original = fitting.joined

    def joined(members: Any, rows: Any, loss: Any, average: str, stopped: str) -> Any:
        seen[:] = [members, rows, loss, average]
        return original(members, rows, loss, average, stopped)

    with mock.patch.object(fitting, "joined", joined), mock.patch.object(fitting, "kinds_for", kinds_for(names, seed)):
        yield


def run(names: list[str], name: str, split: int, rows: int, folds: int | None) -> None:
    """Train some kinds on one split and keep their outputs."""
    data = tabular.load(name)
    X, y, Z, truth = data.split(split, most_rows=rows, most_test_rows=MOST_TEST_ROWS)
    kind = md.MLPClassifier if data.is_classification else md.MLPRegressor
    estimator: Any = kind(preset="best", random_state=split, threads=1)
    seen: list[Any] = []
    start = time.process_time()
    with seen_members(names, split, seen):
        estimator.fit(X, y, **({"cv": folds} if folds else {}))
    cpu = time.process_time() - start
    members, known, loss, average = seen
    inputs = plain_matrix(estimator.table_plan_.encode(Z))
    extra: dict[str, Any] = {"average": average, "y": known.y}
    if data.is_classification:
        place = {each: k for k, each in enumerate(np.asarray(estimator.classes_).astype(str).tolist())}
        extra["truth"] = np.array([place.get(each, -1) for each in truth.tolist()])
    else:
        shift, scale = estimator.target_scaling_
        extra["truth"] = (truth - np.ravel(shift)[0]) / np.ravel(scale)[0]
        extra["bounds"] = [(each - np.ravel(shift)[0]) / np.ravel(scale)[0] for each in estimator._bounds or (-1e9, 1e9)]  # noqa: SLF001
    for each in names:
        own = [member for member in members if member.task.kind.name == each]
        oof, _ = held_out_outputs(own, len(known), average)
        outputs = [
            np.asarray(Predictor(m.model, loss, activation="identity", threads=1).outputs(inputs), dtype=np.float64)
            for m in own
        ]
        test = averaged(average, outputs, [1.0] * len(outputs))
        epochs = [m.history.epochs for m in own]
        np.savez(
            file_of(each, name, split, rows, folds), oof=oof, test=test, epochs=epochs, cpu=cpu / len(names), **extra
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", nargs="+", required=True)
    parser.add_argument("--half", choices=list(HALVES), default="development")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--splits", nargs="+", type=int, default=[0])
    parser.add_argument("--folds", type=int)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for split in given.splits:
        for name in given.only or HALVES[given.half]:
            names = [
                kind for kind in given.run if not file_of(kind, name, split, given.rows, given.folds).exists()
            ]
            if names:
                start = time.process_time()
                run(names, name, split, given.rows, given.folds)
                print(name, split, names, round(time.process_time() - start, 1), flush=True)


if __name__ == "__main__":
    main()
