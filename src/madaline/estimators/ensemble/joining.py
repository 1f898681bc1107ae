"""Members of an ensemble joined into one model, with weights from the rows that they did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from madaline.estimators.ensemble.members import EnsembleMember
from madaline.estimators.ensemble.weights import best_temperature, greedy_weights
from madaline.estimators.row_set import RowSet
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.nn.layers.ensemble import HAVE_LOGITS, averaged
from madaline.train.ensemble import joined_model

MOST_OUTPUTS, FEWEST_ROWS = 150_000, 2_000
"""Weights are chosen on at most this many outputs, or this many rows: they are averaged some hundred times. On so many
rows, the loss of a mixture hardly depends on the sample."""


@dataclass(frozen=True)
class TrainedEnsemble:
    """Members, their weights, and the ensemble as one model.

    Attributes
    ----------
    members : list of EnsembleMember
    weights : array
        One for each member; they sum to 1.
    model : Model
    outputs : array of shape (n_rows, n_outputs)
        Outputs for rows of the training set, each by the members that did not see the row.
    is_known : array of bool
        The rows that have such outputs: all, unless training ended before the last fold.
    stopped : str
        Why training ended.
    """

    members: list[EnsembleMember]
    weights: np.ndarray
    model: Model
    outputs: np.ndarray
    is_known: np.ndarray
    stopped: str


def joined(members: list[EnsembleMember], rows: RowSet, loss: Loss, average: str, stopped: str) -> TrainedEnsemble:
    """Weigh the kinds of members on the rows that they did not see; all members of a kind have the same weight."""
    kinds: dict[str, list[EnsembleMember]] = {}
    for member in members:
        kinds.setdefault(member.task.kind.name, []).append(member)
    by_kind_name = {name: held_out_outputs(each, len(rows), average) for name, each in kinds.items()}
    is_known = next(iter(by_kind_name.values()))[1]  # of the nets, if there are any
    # Training may have ended before some kind had all folds. Kinds are compared on the same rows.
    kinds = {name: each for name, each in kinds.items() if by_kind_name[name][1][is_known].all()}
    found = [by_kind_name[name] for name in kinds]
    chosen = rows_to_weigh_on(np.flatnonzero(is_known), len(kinds) * found[0][0].shape[1])
    known = rows.take(chosen)
    outputs = [each[chosen] for each, _ in found]

    def loss_of(weights: Sequence[float], temperature: float = 1.0) -> float:
        z = averaged(average, outputs, weights, temperature)
        return float(np.average(loss.rows(z, known.y), weights=known.weight))

    by_kind = greedy_weights(len(kinds), loss_of)
    temperature = best_temperature(lambda t: loss_of(by_kind, t), len(known)) if average in HAVE_LOGITS else 1.0
    share = {name: weight / len(each) for (name, each), weight in zip(kinds.items(), by_kind, strict=True)}
    weights = np.array([share.get(member.task.kind.name, 0.0) for member in members])
    used = [(member.model, weight) for member, weight in zip(members, weights, strict=True) if weight > 0.0]
    model = joined_model([model for model, _ in used], average, [weight for _, weight in used], temperature)
    every = np.zeros((len(rows), outputs[0].shape[1]))
    every[is_known] = averaged(average, [each[is_known] for each, _ in found], by_kind, temperature)
    return TrainedEnsemble(members, weights, model, every, is_known, stopped)


def rows_to_weigh_on(numbers: np.ndarray, width: int) -> np.ndarray:
    """Of many rows, a random sample that is large enough to choose weights and a temperature on.

    Parameters
    ----------
    numbers : array of int
        Numbers of rows.
    width : int
        Number of outputs of all members for a row.
    """
    most = max(MOST_OUTPUTS // max(width, 1), FEWEST_ROWS)
    if len(numbers) <= most:
        return numbers
    return np.sort(np.random.default_rng(0).choice(numbers, most, replace=False))


def held_out_outputs(members: Sequence[EnsembleMember], n_rows: int, average: str) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of members of one kind for the rows that they did not see, and which rows these are."""
    found, known = [], []
    for repeat in sorted({member.task.kind.repeat for member in members}):
        total, count = np.zeros((n_rows, members[0].outputs.shape[1])), np.zeros(n_rows)
        for member in members:
            if member.task.kind.repeat == repeat:
                np.add.at(total, member.task.held, member.outputs)
                np.add.at(count, member.task.held, 1)
        found.append(total / np.maximum(count, 1.0)[:, None])
        known.append(count > 0)
    complete = [each for each, seen in zip(found, known, strict=True) if seen.all()] or found[:1]
    return averaged(average, complete, [1.0] * len(complete)), np.ones(n_rows, bool) if known[0].all() else known[0]
