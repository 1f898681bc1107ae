"""Means over the steps of an epoch, from sums that do not depend on the pieces in which it was run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def added(before: Mapping[str, float], values: Mapping[str, np.ndarray], weights: np.ndarray) -> dict[str, float]:
    r"""The sums of an epoch after some more steps: :math:`\sum_k w_k` as ``weight``, :math:`\sum_k w_k v_k` by name.

    Parameters
    ----------
    before : mapping from str to float
        The sums before these steps; empty at the start of the epoch.
    values : mapping from str to array
        A value for each step; it may be NaN for a batch that was left out, whose weight is 0.
    weights : array
        The weight of each step.

    Examples
    --------
    >>> added({"weight": 1.0, "loss": 5.0}, {"loss": np.array([2.0, 3.0])}, np.array([1.0, 2.0]))
    {'weight': 4.0, 'loss': 13.0}
    """
    if not len(weights):
        return dict(before)
    terms = {"weight": weights}
    terms |= {name: np.where(weights > 0.0, value * weights, 0.0) for name, value in values.items()}
    return {name: _one_by_one(before.get(name, 0.0), part) for name, part in terms.items()}


def means(sums: Mapping[str, float]) -> dict[str, float]:
    """Sums divided by the sum of the weights."""
    weight = sums.get("weight", 0.0)
    return {name: value / weight if weight else math.nan for name, value in sums.items() if name != "weight"}


def named(values: Mapping[str, T], *, has_penalty: bool) -> dict[str, T]:
    """The outputs of steps by the names of the history; with penalties the objective differs from the loss."""
    found = {"loss": values.get("loss", values["objective"])}
    found |= {name.removeprefix("metric."): value for name, value in values.items()}
    if not has_penalty:
        del found["objective"]
    return found


def mean_row(sums: Mapping[str, float], *, has_penalty: bool) -> dict[str, float]:
    """The columns of an epoch's row of the history that are means over its steps."""
    row = named({"objective": math.nan} | means(sums), has_penalty=True)
    objective = row.pop("objective")
    penalty = {"penalty": objective - row["loss"]} if has_penalty and row["loss"] != objective else {}
    return {"loss": row.pop("loss")} | penalty | row


def _one_by_one(start: float, terms: np.ndarray) -> float:
    """The sum from left to right; NumPy's ``sum`` adds pairwise."""
    if start:
        terms = np.concatenate(([start], terms))
    return 0.0 + float(terms.cumsum()[-1]) if len(terms) else 0.0
