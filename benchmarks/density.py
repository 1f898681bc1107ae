"""Quality of predicted densities: log-likelihood and coverage on UCI data sets with their published splits.

``MADALINE_DATA=... python benchmarks/density.py [--sets yacht,concrete] [--splits 20]`` takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import madaline as md

Array = np.ndarray[Any, Any]
COVERAGE = 0.9
N_NETS = 5
N_MASKS = 50
SETTINGS: dict[str, Any] = {
    "learning_rate_init": 0.005,
    "batch_size": 64,
    "max_iter": 500,
    "early_stopping": True,
    "n_iter_no_change": 20,
    "threads": 1,
}
"Settings of all data sets and nets: a tenth of the training rows is the validation set for early stopping."


@dataclass(frozen=True)
class Published:
    """Means over the splits: root mean squared error and log-likelihood."""

    pbp: tuple[float, float]
    dropout: tuple[float, float]
    ensemble: tuple[float, float]


@dataclass(frozen=True)
class Set:
    """A data set: its target, the number of hidden units in the papers, and the published results."""

    target: str
    published: Published
    units: int = 50
    not_features: tuple[str, ...] = ()


SETS = {
    "boston_housing": Set("MEDV", Published((3.01, -2.57), (2.97, -2.46), (3.28, -2.41))),
    "concrete": Set("Strength", Published((5.67, -3.16), (5.23, -3.04), (6.03, -3.06))),
    "energy_efficiency": Set("Y1", Published((1.80, -2.04), (1.66, -1.99), (2.09, -1.38)), not_features=("Y2",)),
    "kin8nm": Set("y", Published((0.10, 0.90), (0.10, 0.95), (0.09, 1.20))),
    "naval_propulsion": Set(
        "compressor_decay", Published((0.01, 3.73), (0.01, 3.80), (0.00, 5.63)), not_features=("turbine_decay",)
    ),
    "power_plant": Set("PE", Published((4.12, -2.84), (4.02, -2.80), (4.11, -2.79))),
    "protein_structure": Set("RMSD", Published((4.73, -2.97), (4.36, -2.89), (4.71, -2.83)), units=100),
    "wine_quality_red": Set("quality", Published((0.64, -0.97), (0.62, -0.93), (0.64, -0.94))),
    "yacht": Set("Rr", Published((1.02, -1.63), (1.11, -1.55), (1.58, -1.18))),
}
SOURCES = (
    "Published: Lakshminarayanan et al. (2017), table 1, which also has the results of Hernandez-Lobato & Adams (2015, "
    "probabilistic backpropagation) and of Gal & Ghahramani (2016, MC-dropout); log-likelihoods are theirs with the "
    "sign turned."
)


def load(folder: Path, name: str) -> tuple[Array, Array, list[Array]]:
    """Features, targets, and the test rows of each published split."""
    table = pl.read_parquet(folder / "tabular" / f"{name}.parquet")
    card = json.loads((folder / "tabular" / f"{name}.json").read_text(encoding="utf-8"))
    one = SETS[name]
    left_out = {one.target, *one.not_features, *card["not_features"]}
    X = table.select([column for column in table.columns if column not in left_out]).to_numpy().astype(np.float64)
    with np.load(folder / "tabular" / f"{name}_splits.npz") as file:
        splits = [file[f"test_{number}"] for number in range(len(file.files))]
    return X, table[one.target].to_numpy().astype(np.float64), splits


def together(nets: Sequence[Any], X: Array) -> md.losses.GaussianMixture:
    """The mean of the densities of several nets."""
    found = [net.distribution(X) for net in nets]
    weights, means, factors = (
        np.concatenate([getattr(one, name) for one in found], axis=1) for name in ("weights", "means", "factors")
    )
    return md.losses.GaussianMixture(weights / len(nets), means, factors)


def scores(density: md.losses.GaussianMixture, y: Array) -> dict[str, float]:
    """Error of the mean, log-likelihood, and coverage of the central interval of the density."""
    low, high = density.quantiles([(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])[:, :, 0]
    return {
        "rmse": float(np.sqrt(np.mean((density.mean()[:, 0] - y) ** 2))),
        "likelihood": float(np.mean(density.log_density(y[:, None]))),
        "coverage": float(np.mean((low <= y) & (y <= high))),
    }


def intervals(net: Any, X: Array, y: Array) -> dict[str, float]:
    """Coverage and mean width of prediction intervals, in standard deviations of the targets."""
    low, high = net.predict_interval(X, COVERAGE)
    return {"coverage": float(np.mean((low <= y) & (y <= high))), "width": float(np.mean(high - low) / np.std(y))}


def measure(X: Array, y: Array, test: Array, *, units: int, seed: int) -> dict[str, dict[str, float]]:
    """Scores of all methods on one split."""
    train = np.setdiff1d(np.arange(len(y)), test)
    scaler = StandardScaler().fit(X[train])
    A, B, a, b = scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test]
    nets = [md.GaussianMLPRegressor((units,), random_state=seed + k, **SETTINGS).fit(A, a) for k in range(N_NETS)]
    thinned = md.GaussianMLPRegressor((units,), dropout=0.05, mc_dropout=N_MASKS, random_state=seed, **SETTINGS).fit(
        A, a
    )
    mixture = md.MixtureDensityRegressor((units,), components=3, random_state=seed, **SETTINGS).fit(A, a)
    found = {
        "Gaussian": scores(nets[0].distribution(B), b),
        "5 Gaussians": scores(together(nets, B), b),
        "MC-dropout": scores(thinned.distribution(B), b),
        "mixture of 3": scores(mixture.distribution(B), b),
    }
    fitted, apart, of_fitted, of_apart = train_test_split(A, a, test_size=0.2, random_state=seed)
    for name, kind in (("Gaussian", md.GaussianMLPRegressor), ("quantiles", md.QuantileMLPRegressor)):
        net = kind((units,), random_state=seed, **SETTINGS).fit(fitted, of_fitted)
        found[f"{name}, interval"] = intervals(net, B, b)
        found[f"{name}, calibrated"] = intervals(net.calibrate(apart, of_apart), B, b)
    return found


def averaged(found: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """Mean and standard error over the splits."""
    return {
        name: {
            key: [
                float(np.mean(values)),
                float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0,
            ]
            for key in found[0][name]
            for values in [[one[name][key] for one in found]]
        }
        for name in found[0]
    }


def with_error(mean: float, error: float) -> str:
    """A mean and its error, to two decimals or to the digits that small numbers need."""
    decimals = max(2, 1 - math.floor(math.log10(abs(mean)))) if mean else 2
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def report() -> str:
    """The text of the page."""
    data = json.loads((harness.RESULTS / "density.json").read_text(encoding="utf-8"))
    parts, machine = data["parts"], data["machine"]
    contestants = ("Gaussian", "5 Gaussians", "MC-dropout", "mixture of 3")
    likelihoods, errors, coverages = [], [], []
    for name, one in SETS.items():
        if name not in parts:
            continue
        found, p = parts[name]["scores"], one.published
        title = f"{name} ({parts[name]['rows']:,} rows, {parts[name]['splits']} splits)"
        for rows, key, place in ((likelihoods, "likelihood", 1), (errors, "rmse", 0)):
            ours = [with_error(*found[kind][key]) for kind in contestants]
            rows.append([title, *ours, *(f"{theirs[place]:.2f}" for theirs in (p.pbp, p.dropout, p.ensemble))])
        shown = [f"{found[kind]['coverage'][0]:.1%}" for kind in ("Gaussian", "5 Gaussians")]
        for kind in ("Gaussian", "quantiles"):
            for form in ("interval", "calibrated"):
                cell = found[f"{kind}, {form}"]
                shown.append(f"{cell['coverage'][0]:.1%} ({cell['width'][0]:.2f})")
        coverages.append([title, *shown])
    header = ["set", *(f"ours: {kind}" for kind in contestants), "PBP", "MC-dropout", "Deep Ensembles"]
    head = (
        "# Densities: log-likelihood and coverage\n\n"
        "Made by `benchmarks/density.py`. UCI data sets with the published splits; one hidden layer of 50 units (100 "
        "for protein_structure) as in the papers; features are standardised with the statistics of the training set. "
        "All data sets have the same settings, none of which was chosen on test sets. Means over the splits with "
        "standard errors.\n\n"
        f"{SOURCES} madaline's nets use early stopping on a tenth of the training rows. The targets of "
        "wine_quality_red are integers: a mixture can place narrow peaks on them, so its likelihood means little.\n\n"
        f"Machine: {machine['cpu']}, {machine['cpus']} CPUs.\n\n"
    )
    covered = [
        "set", "one Gaussian", "5 Gaussians", "Gaussian, 80% of the rows", "the same, calibrated",
        "quantiles, 80% of the rows", "the same, calibrated",
    ]  # fmt: skip
    note = (
        f"Fraction of test rows inside the {COVERAGE:.0%} prediction intervals; in brackets the mean width, in "
        "standard deviations of the targets. Calibrated: adjusted with the other 20% of the training rows "
        "(`calibrate`).\n\n"
    )
    return (
        head
        + harness.table("Mean log-likelihood per row (larger is better)", header, likelihoods)
        + harness.table("Root mean squared error", header, errors)
        + harness.table("Coverage", covered, coverages)
        + note
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=harness.words, default=list(SETS))
    parser.add_argument("--splits", type=int, default=20, help="maximum number of published splits")
    options = parser.parse_args()
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds tabular/yacht.parquet.")
    folder = Path(os.environ["MADALINE_DATA"])
    for name in options.sets:
        X, y, splits = load(folder, name)
        chosen = splits[: options.splits]
        found: list[dict[str, dict[str, float]]] = []
        for k, test in enumerate(chosen):
            found.append(measure(X, y, test, units=SETS[name].units, seed=100 * k))
            result = averaged(found)
            harness.update("density", name, {"rows": len(y), "splits": len(found), "scores": result})
            (harness.RESULTS / "density.md").write_text(report(), encoding="utf-8")
        likelihoods = ", ".join(f"{k} {v['likelihood'][0]:.2f}" for k, v in result.items() if "likelihood" in v)
        shares = ", ".join(f"{k} {v['coverage'][0]:.1%}" for k, v in result.items())
        print(f"{name}: {likelihoods}; {shares}", flush=True)


if __name__ == "__main__":
    main()
