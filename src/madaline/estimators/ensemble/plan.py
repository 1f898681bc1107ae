"""Which members an ensemble has, by the number of rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from madaline.estimators.parameters import NetParameters

PLAIN: Mapping[str, Any] = {"waves": 0, "bins": 0, "scale_rate": 0.0}
NETS: dict[str, Mapping[str, Any]] = {"net": {}, "plain net": PLAIN}
"""Kinds of nets, by the features of numbers in which they differ from the preset, in the order in which they are added.
On few rows, nets without bins and waves are sometimes better, and they err elsewhere."""
FEW_ROWS = 1_000
"Up to this number of rows there are several kinds of nets."
LINEAR_ALPHAS = (1e-3, 1.0)
"Strengths of the L2 penalty of the linear members, which the greedy selection chooses between."
ADDITIVE_ALPHAS = (1.0,)
"The same for additive members: linear models of the bins of each number."
ADDITIVE_BINS = 16
"Number of bins of each number for additive members."
FEWEST_EPOCHS = 5
"Number of epochs of a net, however short the time is."
FEWEST_ROWS = 2_000
"Number of rows that are used, however short the time is, if there are as many."
FULL_FOLDS_TO = 4_000
"Up to this number of rows there are eight folds."
KERNEL_FROM, KERNEL_TO, KERNEL_ROWS = 1_000, 50_000, 10_000
"""There is a kernel member for at least the first and at most the second number of rows, trained on a sample of at
most the third. On fewer rows it hardly helps, and on more the sample is too small."""


def kernel_rows(n_rows: int) -> int:
    """The largest number of rows that train a kernel member of an ensemble for so many rows; 0 if it has none."""
    return KERNEL_ROWS if KERNEL_FROM <= n_rows <= KERNEL_TO else 0


@dataclass(frozen=True)
class EnsembleKind:
    """A kind of member: one net for every fold.

    Attributes
    ----------
    name : str
        For messages and tables.
    settings : NetParameters
        How its nets are built and trained.
    repeat : int
        Members of the same settings with another repeat have other folds and other initial weights.
    is_linear : bool
        Whether it is a linear model.
    features : mapping
        Features of numbers in which it differs from the table plan, as in
        :meth:`~madaline.data.encode.TablePlan.with_features`.
    """

    name: str
    settings: NetParameters
    repeat: int = 0
    is_linear: bool = False
    features: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EnsemblePlan:
    """How many nets are trained: folds, kinds of nets (each with folds of its own), and epochs of each net.

    ``rows`` is the number of rows that are used, a random sample if it is smaller than that of the table. The kernel
    member is trained on ``kernel_rows``; with 0 there is none.
    """

    folds: int
    repeats: int
    epochs: int
    rows: int = sys.maxsize
    kernel_rows: int = 0

    @classmethod
    def of(cls, n_rows: int, epochs: int) -> EnsemblePlan:
        """The plan without a time limit: more folds and kinds for few rows, where each row counts."""
        folds = 8 if n_rows <= FULL_FOLDS_TO else 5 if n_rows <= 50_000 else 3
        kinds = len(NETS) if n_rows <= FEW_ROWS else 1
        return cls(min(folds, n_rows), kinds, epochs, kernel_rows=kernel_rows(n_rows))

    def within(self, epochs: float, n_rows: int) -> EnsemblePlan:
        """The plan for at most this many epochs of all nets together.

        First there are fewer repeats, then fewer folds and epochs, and last, if a few epochs would take too long, only
        a random sample of the ``n_rows`` rows.
        """
        for folds, repeats in ((self.folds, self.repeats), (self.folds, 1), (5, 1), (3, 1), (2, 1)):
            if folds <= self.folds and folds * repeats * self.epochs <= epochs:
                return replace(self, folds=folds, repeats=repeats)
        folds, fewest = min(self.folds, 2), min(FEWEST_EPOCHS, self.epochs)
        if epochs >= folds * fewest or n_rows <= FEWEST_ROWS:
            return replace(self, folds=folds, repeats=1, epochs=int(min(max(epochs / folds, fewest), self.epochs)))
        rows = max(int(n_rows * epochs / (folds * fewest)), FEWEST_ROWS)
        return replace(self, folds=folds, repeats=1, epochs=fewest, rows=rows, kernel_rows=0)

    def sampled(
        self, folds: list[tuple[np.ndarray, np.ndarray]], n_rows: int, seed: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and held-out rows of each fold, without those that are not used."""
        if self.rows >= n_rows:
            return folds
        is_used = np.zeros(n_rows, dtype=bool)
        is_used[np.random.default_rng(seed).choice(n_rows, self.rows, replace=False)] = True
        some = [(train[is_used[train]], held[is_used[held]]) for train, held in folds]
        return some if all(len(train) and len(held) for train, held in some) else folds


def kinds_for(settings: NetParameters, plan: EnsemblePlan) -> list[EnsembleKind]:
    """The kinds of members."""
    linear: dict[str, Any] = {
        "hidden_layer_sizes": (),
        "dropout": 0.0,
        "optimizer": None,
        "solver": "lbfgs",
        "weight_decay": None,
        "schedule": None,
        "average": None,
        "max_iter": 200,
        "tol": 1e-5,
        "early_stopping": False,
        "callbacks": None,
        "init": "zeros",
    }
    nets = [
        EnsembleKind(name, settings, repeat, features=features)
        for repeat, (name, features) in enumerate(list(NETS.items())[: plan.repeats])
    ]
    return nets + [
        EnsembleKind(
            f"{name}, alpha {alpha:g}", replace(settings, alpha=alpha, **linear), is_linear=True, features=features
        )
        for name, alphas, features in (
            ("linear", LINEAR_ALPHAS, PLAIN),
            ("additive", ADDITIVE_ALPHAS, {"waves": 0, "bins": ADDITIVE_BINS, "scale_rate": 0.0}),
        )
        for alpha in alphas
    ]
