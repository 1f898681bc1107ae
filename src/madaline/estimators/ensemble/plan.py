"""Which members an ensemble has, by the number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from madaline.estimators.parameters import NetParameters

LINEAR_ALPHAS = (1e-3, 1.0)
"Strengths of the L2 penalty of the linear members, which the greedy selection chooses between."
ADDITIVE_ALPHAS = (1.0,)
"The same for additive members: linear models of the bins of each number."
ADDITIVE_BINS = 16
"Number of bins of each number for additive members."
FEWEST_EPOCHS = 5
"Number of epochs of a net, however short the time is."


@dataclass(frozen=True)
class Kind:
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
class Plan:
    """How many nets are trained: folds, times that folds are drawn anew, and epochs of each net."""

    folds: int
    repeats: int
    epochs: int

    @classmethod
    def of(cls, n_rows: int, epochs: int) -> Plan:
        """The plan without a time limit: more folds and repeats for few rows, where each row counts."""
        folds = 8 if n_rows <= 12_000 else 5 if n_rows <= 50_000 else 3
        return cls(min(folds, n_rows), 2 if n_rows <= 1_000 else 1, epochs)

    def within(self, epochs: float) -> Plan:
        """The plan for at most this many epochs of all nets together: first fewer repeats, then folds, then epochs."""
        for folds, repeats in ((self.folds, self.repeats), (self.folds, 1), (5, 1), (3, 1), (2, 1)):
            if folds <= self.folds and folds * repeats * self.epochs <= epochs:
                return Plan(folds, repeats, self.epochs)
        folds = min(self.folds, 2)
        return Plan(folds, 1, int(min(max(epochs / folds, FEWEST_EPOCHS), self.epochs)))


def kinds_for(settings: NetParameters, plan: Plan) -> list[Kind]:
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
    nets = [Kind("net", settings, repeat) for repeat in range(plan.repeats)]
    return nets + [
        Kind(f"{name}, alpha {alpha:g}", replace(settings, alpha=alpha, **linear), is_linear=True, features=features)
        for name, alphas, features in (
            ("linear", LINEAR_ALPHAS, {"waves": 0, "bins": 0, "scale_rate": 0.0}),
            ("additive", ADDITIVE_ALPHAS, {"waves": 0, "bins": ADDITIVE_BINS, "scale_rate": 0.0}),
        )
        for alpha in alphas
    ]
