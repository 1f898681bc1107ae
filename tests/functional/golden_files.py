"""Model files as versions of madaline wrote them, with what they predict: they must be read forever.

Run as a script, it writes those of this version. Files of a format that was released are never written again.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl

import madaline as md
from madaline.data.reading.format import ColumnFormat, TableFormat
from madaline.estimators.provenance import Provenance
from madaline.functional.files import FORMAT

GOLDEN = Path(__file__).parent / "golden"
COLUMNS = {
    "size": [1.5, None, 2.5, 4.0, 3.0, 2.0, 1.0, 3.5] * 3,
    "city": ["Rome", "Oslo", None, "Rome", "Lima", "Oslo", "Rome", "Lima"] * 3,
    "built": ["1999-05-17", "2004-02-29", "1970-01-01", None, "2020-12-31", "2001-01-01", "1985-07-04", "2011-11-11"]
    * 3,
    "zip": [f"z{k % 11}" for k in range(24)],
}  # fmt: skip
ANSWERS = ["yes", "no", "no", "yes", "yes", "no", "yes", "no"] * 3
COUNTS = [3, 0, 1, 12, 5, 0, 2, 7] * 3
NUMBERS = np.random.default_rng(5).normal(size=(30, 3))


def bump(x):
    return np.exp(-x * x) + 0.1 * x


def model():
    """A net with layers of many kinds, two inputs, a custom formula, and shared and frozen layers."""
    shared = md.Linear(6, trainable=False)
    net = md.Sequential(
        md.Parallel(shop=md.Embedding(5, 2), numbers=md.nn.Standardize((0.0, 1.0, 2.0), (1.0, 2.0, 3.0))), md.Concat(),
        md.Linear(6), md.BatchNorm(momentum=0.2), md.nn.Activation(bump), shared, md.nn.LeakyReLU(slope=0.2), shared,
        md.Residual(md.Linear(6), "gelu", norm="layer"), md.Dropout(0.3), md.nn.WeightNorm(md.Linear(4)),
        md.nn.Maxout(3), md.nn.PReLU(), md.Linear(2, init="orthogonal"),
    )  # fmt: skip
    rng = np.random.default_rng(7)
    X = {"shop": rng.integers(0, 5, size=9), "numbers": rng.normal(size=(9, 3))}
    return net.init(X, seed=3), X


def estimator():
    """A classifier of a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is trained too little
        return md.MLPClassifier((4,), data="auto", max_iter=3, random_state=0).fit(COLUMNS, ANSWERS)


def trained():
    """What ``madaline train`` writes: a preset, with names of targets and how the table was read."""
    made = md.MLPClassifier(preset="auto", hidden_layer_sizes=(4,), max_iter=3, random_state=0)
    made.fit(COLUMNS, pl.Series("answer", ANSWERS), validation=(COLUMNS, ANSWERS))
    made.provenance_ = Provenance(TableFormat(decimal=",", columns={"size": ColumnFormat("number")}), {"seed": 0})
    return made


def counts():
    """The same for counts: rates, bounds, and intervals that widen with the rate."""
    made = md.MLPRegressor("poisson", preset="auto", hidden_layer_sizes=(4,), max_iter=3, random_state=0)
    return made.fit(COLUMNS, pl.Series("visits", COUNTS), validation=(COLUMNS, COUNTS))


def density():
    """A mixture density of two numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = md.MixtureDensityRegressor((4,), components=2, max_iter=3, random_state=0)
        return made.fit(NUMBERS, NUMBERS[:, :2] ** 2)


def units():
    """A classical estimator, without a net."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return md.classical.Madaline(max_iter=3, random_state=0).fit(
            NUMBERS, np.where(NUMBERS[:, 0] > 0.0, "up", "down")
        )


ESTIMATORS = {
    "estimator": (estimator, lambda made: made.predict_proba(COLUMNS)),
    "trained": (trained, lambda made: made.predict_proba(COLUMNS)),
    "counts": (counts, lambda made: np.stack([made.predict(COLUMNS), *made.predict_interval(COLUMNS, 0.8)], axis=1)),
    "density": (density, lambda made: made.predict_quantiles(NUMBERS)),
    "units": (units, lambda made: made.decision_function(NUMBERS)),
}
"What is saved, and what is recorded of its answers."


def main():
    GOLDEN.mkdir(exist_ok=True)
    made, X = model()
    md.save(made, GOLDEN / f"model_{FORMAT}.madaline")
    np.savez_compressed(GOLDEN / f"model_{FORMAT}.npz", y=made(X), **X)
    for name, (make, answers) in ESTIMATORS.items():
        made = make()
        md.save(made, GOLDEN / f"{name}_{FORMAT}.madaline")
        np.savez_compressed(GOLDEN / f"{name}_{FORMAT}.npz", y=answers(made))


if __name__ == "__main__":
    main()
