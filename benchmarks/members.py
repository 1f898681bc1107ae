"""Kinds of ensemble members trained once on the same folds, and mixtures of them without training again.

MADALINE_DATA=folder MADALINE_KEEP=folder python benchmarks/members.py --run KIND ... [--half small] [--rows 2000]
MADALINE_DATA=folder MADALINE_KEEP=folder python benchmarks/members.py --mix [--half small] [--rows 2000] [--folds 5]

The out-of-fold outputs of each kind and its outputs on the test set are kept in the folder MADALINE_KEEP, so that rules
for weights and temperatures, and sets of kinds, can be compared in seconds. --mix writes the scores of all mixtures
whose kinds were trained to results/recipe.json. Splits and sets are those of recipe.py.
"""

from __future__ import annotations

import argparse
import os
import tempfile
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
from recipe import HALVES, MOST_TEST_ROWS, keep, key
from recipe_variants import Blend
from scipy.special import expit, log_softmax, logit, softmax

import madaline as md
from madaline.estimators.ensemble import fitting, plan
from madaline.estimators.ensemble.joining import held_out_outputs
from madaline.estimators.ensemble.plan import EnsembleKind
from madaline.estimators.ensemble.weights import best_temperature, greedy_weights
from madaline.estimators.predictor import Predictor
from madaline.estimators.tables import plain_matrix
from madaline.nn.layers.ensemble import averaged

KEEP = Path(os.environ.get("MADALINE_KEEP") or Path(tempfile.gettempdir()) / "madaline-members")
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

    def chosen(settings: Any, where: Any) -> list[EnsembleKind]:
        lines = {kind.is_linear: kind for kind in original(settings, where)}
        found = []
        for name in names:
            member = KINDS[name]
            base = lines[member.base == "linear"]
            changed = replace(base.settings, **member.settings)
            repeats = range(where.repeats if member.base == "net" else 1)
            found += [
                EnsembleKind(name, changed, repeat, is_linear=base.is_linear, features=member.features)
                for repeat in repeats
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
        extra["bounds"] = [
            (each - np.ravel(shift)[0]) / np.ravel(scale)[0] for each in estimator._bounds or (-1e9, 1e9)
        ]
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


LINEAR = ("linear 0.001", "linear 1", "additive 1")
MIXTURES: dict[str, tuple[tuple[str, ...], bool]] = {
    "nets, greedy": (("net", *LINEAR), False),
    "nets, bagged": (("net", *LINEAR), True),
    "more linear, bagged": (("net", *LINEAR, "linear 10", "additive 10"), True),
    "nets and firm nets, bagged": (("net", "firm", *LINEAR), True),
    "nets and plain nets, greedy": (("net", "plain", *LINEAR), False),
    "nets and plain nets, bagged": (("net", "plain", *LINEAR), True),
    "nets and relu nets, bagged": (("net", "relu, 48 bins", *LINEAR), True),
    "nets, firm and plain nets, bagged": (("net", "firm", "plain", *LINEAR), True),
}
"The kinds of each mixture, and whether its weights are means over bootstrap samples."


TO_MEAN: dict[str, Any] = {"identity": np.asarray, "softmax": lambda z: softmax(z, axis=-1), "sigmoid": expit}
FROM_MEAN: dict[str, Any] = {
    "identity": np.asarray,
    "softmax": lambda p: np.log(np.maximum(p, 1e-12)),
    "sigmoid": lambda p: logit(np.clip(p, 1e-12, 1.0 - 1e-12)),
}
"What is averaged, and outputs from the average."
SAMPLES = 16
"Number of bootstrap samples over which weights are averaged."


def bagged_weights(n_members: int, losses_of: Any) -> list[float]:
    """The mean of greedy weights over bootstrap samples of the rows."""
    rng = np.random.default_rng(0)
    n_rows = len(losses_of([1.0 / n_members] * n_members))
    total = np.zeros(n_members)
    for _ in range(SAMPLES):
        share = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows) / n_rows
        total += greedy_weights(n_members, lambda w, share=share: float(share @ losses_of(w)))
    return (total / SAMPLES).tolist()


def losses(average: str, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared errors or log losses of rows; a class that training did not see has number -1."""
    y = np.asarray(y).ravel()
    if average == "identity":
        return np.asarray((z.ravel() - y) ** 2)
    if average == "sigmoid":
        return np.logaddexp(0.0, np.where(y > 0.5, -z.ravel(), z.ravel()))
    of_row = log_softmax(z, axis=1)[np.arange(len(z)), np.maximum(y, 0).astype(int)]
    return np.asarray(-np.where(y >= 0, of_row, np.log(1e-6)))


def mixed(kinds: tuple[str, ...], is_bagged: bool, name: str, split: int, rows: int, folds: int | None) -> Any:
    """Scores of a mixture on the test set, as recipe.py has them; None if a kind was not trained."""
    files = [file_of(kind, name, split, rows, folds) for kind in kinds]
    if not all(file.exists() for file in files):
        return None
    found = [dict(np.load(file)) for file in files]
    average, y, truth = str(found[0]["average"]), found[0]["y"], found[0]["truth"]
    values = np.stack([TO_MEAN[average](each["oof"]) for each in found])

    def losses_of(weights: Any) -> np.ndarray:
        return losses(average, FROM_MEAN[average](np.tensordot(weights, values, axes=1)), y)

    if is_bagged:
        weights = bagged_weights(len(found), losses_of)
    else:
        weights = greedy_weights(len(found), lambda w: float(losses_of(w).mean()))
    z, out = (averaged(average, [each[part] for each in found], weights) for part in ("oof", "test"))
    if average == "identity":
        residual = np.clip(out.ravel(), *found[0]["bounds"]) - truth
        return {"error": float(np.sqrt(np.mean(residual**2) / np.var(truth)))}
    out = out / best_temperature(lambda t: float(losses(average, z / t, y).mean()), len(y))
    predicted = out.argmax(axis=1) if average == "softmax" else out.ravel() > 0
    log_loss = np.minimum(losses(average, out, truth), -np.log(1e-6)).mean()
    return {"error": float(np.mean(predicted != truth)), "log loss": float(log_loss)}


def mix_all(half: str, splits: list[int], rows: int, folds: int | None) -> None:
    """Keep the scores of all mixtures whose kinds were trained."""
    for who, (kinds, is_bagged) in MIXTURES.items():
        for name in HALVES[half]:
            for split in splits:
                scores = mixed(kinds, is_bagged, name, split, rows, folds)
                if scores is not None:
                    keep((key(rows, folds), who, name, str(split)), scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", nargs="+", default=(), help="kinds to train")
    parser.add_argument("--mix", action="store_true", help="compute the scores of all mixtures")
    parser.add_argument("--half", choices=list(HALVES), default="development")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--splits", nargs="+", type=int, default=[0])
    parser.add_argument("--folds", type=int)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for split in given.splits:
        for name in given.only or HALVES[given.half]:
            names = [kind for kind in given.run if not file_of(kind, name, split, given.rows, given.folds).exists()]
            if names:
                start = time.process_time()
                run(names, name, split, given.rows, given.folds)
                print(name, split, names, round(time.process_time() - start, 1), flush=True)
    if given.mix:
        mix_all(given.half, given.splits, given.rows, given.folds)


if __name__ == "__main__":
    main()
