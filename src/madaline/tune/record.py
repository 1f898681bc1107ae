"""Trials as records, and their conversion to Optuna's trials."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from madaline.tune.optuna_package import optuna

FINISHED, STOPPED, DIVERGED, LATE = "finished", "stopped early", "diverged", "time"
"States of a trial: trained to the end, not promoted to the next rung, not finite, or ended by the time limit."


@dataclass(frozen=True)
class TrialRecord:
    """The result of a trial.

    Attributes
    ----------
    number : int
        0 is the estimator with its own parameters.
    round : int
        The round in which it was asked for.
    labels : dict
        Values of the space, as Optuna has them.
    losses : dict of int to float
        Loss on held-out rows by rung.
    state : str
    epochs : int
        Epochs of its last rung.
    seconds : float
        Time of all its nets, added up.
    """

    number: int
    round: int
    labels: Mapping[str, Any]
    losses: Mapping[int, float]
    state: str
    epochs: int
    seconds: float

    @property
    def loss(self) -> float:
        """Loss at the last rung."""
        return self.losses[max(self.losses)] if self.losses else math.nan

    def frozen(self, distributions: Mapping[str, Any], worker: str = "") -> Any:
        """The trial as Optuna has it."""
        states = optuna().trial.TrialState
        is_complete = self.state == FINISHED
        about = {name: getattr(self, name) for name in ("number", "round", "state", "epochs", "seconds")}
        return optuna().create_trial(
            state=states.COMPLETE if is_complete else states.PRUNED,
            value=self.loss if is_complete else None,
            params=dict(self.labels),
            distributions={name: distributions[name] for name in self.labels},
            intermediate_values=dict(self.losses),
            user_attrs=about | {"worker": worker},
        )

    @classmethod
    def of(cls, trial: Any) -> TrialRecord:
        """The record of a trial of Optuna."""
        about = trial.user_attrs
        return cls(
            int(about["number"]),
            int(about["round"]),
            dict(trial.params),
            {int(rung): float(loss) for rung, loss in trial.intermediate_values.items()},
            str(about["state"]),
            int(about["epochs"]),
            float(about["seconds"]),
        )

    def row(self) -> dict[str, Any]:
        """A row for the table of all trials."""
        return {
            "trial": self.number,
            "round": self.round,
            "state": self.state,
            "loss": self.loss,
            "rung": max(self.losses) + 1 if self.losses else None,
            "epochs": self.epochs,
            "seconds": self.seconds,
            **{f"loss_{rung + 1}": loss for rung, loss in sorted(self.losses.items())},
            **self.labels,
        }
