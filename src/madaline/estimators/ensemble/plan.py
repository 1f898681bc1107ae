"""Which members an ensemble has, by the number of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from madaline.estimators.parameters import NetParameters

LINEAR_ALPHAS = (1e-3, 1.0)
"Strengths of the L2 penalty of the linear members, which the greedy selection chooses between."


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
        Whether it is a linear model of the encoded columns.
    """

    name: str
    settings: NetParameters
    repeat: int = 0
    is_linear: bool = False


def number_of_folds(n_rows: int) -> int:
    """More folds for few rows, where each row counts."""
    return 8 if n_rows <= 5_000 else 5 if n_rows <= 50_000 else 3


def number_of_repeats(n_rows: int) -> int:
    """Times that the folds are drawn anew; each repeat costs as much as the first."""
    return 2 if n_rows <= 1_000 else 1


def kinds_for(settings: NetParameters, n_rows: int) -> list[Kind]:
    """The kinds of members, in the order in which they are trained."""
    nets = [Kind("net", settings, repeat) for repeat in range(number_of_repeats(n_rows))]
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
    found = [nets[0]]
    found += [
        Kind(f"linear, alpha {alpha:g}", replace(settings, alpha=alpha, **linear), is_linear=True)
        for alpha in LINEAR_ALPHAS
    ]
    return found + nets[1:]
