"""What a hyperparameter search found, as plain data for reports and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SearchSummary:
    """A search.

    Attributes
    ----------
    trials : sequence of dict
        A row for each trial: ``trial``, ``state``, ``loss``, ``rung``, ``epochs``, ``seconds``, the losses at each rung
        (``loss_1``, ``loss_2`` ...) and the values of the space.
    space : mapping
        For each hyperparameter a dict with ``low``, ``high``, ``log`` and ``step``, or with ``choices``.
    importances : mapping of str to float
        Importance of each hyperparameter, the most important first.
    edges : sequence of dict
        Values of the best trial at the edge of the space: ``name``, ``end`` ("low" or "high") and ``value``.
    best_trial : int
    losses : mapping of str to float
        Loss of trial 0, of the best trial, and of the ensemble.
    """

    trials: Sequence[Mapping[str, Any]]
    space: Mapping[str, Mapping[str, Any]]
    importances: Mapping[str, float]
    edges: Sequence[Mapping[str, Any]]
    best_trial: int
    losses: Mapping[str, float]

    @classmethod
    def of(cls, estimator: Any) -> SearchSummary | None:
        """The search of an estimator; None if it has none."""
        if not hasattr(estimator, "search_"):
            return None
        found = estimator.search_
        losses = {
            "trial 0 (the estimator's own parameters)": found["default_loss"],
            f"best trial ({found['best_trial']})": found["best_loss"],
            "ensemble": found["ensemble_loss"],
        }
        return cls(
            estimator.trials_,
            found["space"],
            found["importances"],
            found["edges"],
            found["best_trial"],
            {name: loss for name, loss in losses.items() if loss is not None},
        )

    def states(self) -> dict[str, int]:
        """Number of trials by state."""
        found: dict[str, int] = {}
        for trial in self.trials:
            found[trial["state"]] = found.get(trial["state"], 0) + 1
        return found

    def advice(self) -> list[str]:
        """A sentence for each value at the edge of the space."""
        words = {"low": "lower", "high": "upper"}
        return [
            f"Best at the edge of the space: {edge['name']} = {value_text(edge['value'])} is at its "
            f"{words[edge['end']]} end. Widen it."
            for edge in self.edges
        ]


def value_text(value: Any) -> str:
    """A value of a hyperparameter as text."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
