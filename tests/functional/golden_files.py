"""Model files as versions of madaline wrote them, with what they predict: they must be read forever.

Run as a script it writes those of this version; files of a format that was released are never written anew.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from madaline.estimators.tabular.learned import Learned

import madaline as md
from madaline.data.encode import TablePlan
from madaline.data.target import TargetPlan
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


def bump(x):
    return np.exp(-x * x) + 0.1 * x


def model():
    """A net with layers of many kinds, two inputs, a formula of one's own, and shared and frozen layers."""
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


def learned():
    """What ``madaline train`` writes."""
    plan, target = TablePlan.fit(COLUMNS), TargetPlan.fit(ANSWERS)
    net = md.Sequential(plan.front(), md.mlp(5, 2, norm="batch"))
    return Learned(net.init(plan.encode(COLUMNS), seed=2), plan, target, ("answer",), md.CrossEntropy())


def counts():
    """The same for numbers of things: rates, limits, and intervals that widen with the rate."""
    plan, target = TablePlan.fit(COLUMNS), TargetPlan.fit(COUNTS, task="count", scale=False)
    net = md.Sequential(plan.front(), md.mlp(5, 1))
    made = Learned(net.init(plan.encode(COLUMNS), seed=4), plan, target, ("visits",), md.losses.Poisson())
    made.learn_errors(np.array(COUNTS, float)[:, None], made.predict(COLUMNS)[:, None])
    return made


def rates_and_intervals(made):
    """What is recorded of a model of counts: predictions, and both ends of their intervals."""
    rates = made.predict(COLUMNS)[:, None]
    return np.hstack([rates, *made.interval(rates, 0.8)])


def estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is trained too little
        return md.MLPClassifier((4,), data="auto", max_iter=3, random_state=0).fit(COLUMNS, ANSWERS)


def main():
    GOLDEN.mkdir(exist_ok=True)
    made, X = model()
    md.save(made, GOLDEN / f"model_{FORMAT}.madaline")
    np.savez_compressed(GOLDEN / f"model_{FORMAT}.npz", y=made(X), **X)
    for name, thing in (("learned", learned()), ("estimator", estimator())):
        thing.save(GOLDEN / f"{name}_{FORMAT}.madaline")
        np.savez_compressed(GOLDEN / f"{name}_{FORMAT}.npz", y=thing.predict_proba(COLUMNS))
    made = counts()
    made.save(GOLDEN / f"counts_{FORMAT}.madaline")
    np.savez_compressed(GOLDEN / f"counts_{FORMAT}.npz", y=rates_and_intervals(made))


if __name__ == "__main__":
    main()
