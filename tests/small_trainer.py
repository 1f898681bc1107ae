"""A trainer of a small net, in float64, for tests that compare with formulas."""

from __future__ import annotations

import madaline as md


def small(**options):
    options = {"loss": "cross_entropy", "optimizer": md.SGD(0.1), "dtype": "float64"} | options
    return md.Trainer(md.Sequential(md.Linear(5), "tanh", md.Linear(3)), **options)
