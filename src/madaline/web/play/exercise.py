"""From settings and data to a trainer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.losses.loss import LOSSES, Loss
from madaline.losses.targets import Target
from madaline.nn.layers.mlp import mlp
from madaline.nn.layers.sequential import Sequential
from madaline.optim.optimizer import OPTIMIZERS, Optimizer
from madaline.optim.regularizers import Regularizer
from madaline.train.trainer import Trainer
from madaline.web.play import choices
from madaline.web.play.problem import PlayProblem
from madaline.web.play.settings import Settings

DEFAULT_LOSS = {"binary": "binary_cross_entropy", "classes": "cross_entropy", "numbers": "mse"}
METRIC = {"binary": "accuracy", "classes": "accuracy", "numbers": "r2"}


@dataclass(frozen=True)
class Exercise:
    """Settings with their data."""

    settings: Settings
    problem: PlayProblem

    def __post_init__(self) -> None:
        given = next(choice for choice in choices.listed("losses") if choice["value"] == self.settings.loss)
        if self.problem.task not in given.get("tasks", [self.problem.task]):
            kind = "numbers" if self.problem.task == "numbers" else f"{len(self.problem.classes)} classes"
            raise ConfigError(f"The loss {self.settings.loss} is not for {kind}.")

    @property
    def loss(self) -> Loss:
        """The loss."""
        name = self.settings.loss
        return LOSSES[DEFAULT_LOSS[self.problem.task] if name == "auto" else name]()

    @property
    def metric(self) -> str:
        """The metric that is shown besides the loss."""
        return METRIC[self.problem.task]

    @property
    def n_outputs(self) -> int:
        """Units of the last layer."""
        every = np.concatenate([self.problem.y, self.problem.y_test])
        return self.loss.n_outputs(Target.of(every))

    def net_options(self) -> dict[str, Any]:
        """The arguments of ``md.mlp`` that differ from their defaults."""
        settings = self.settings
        activations = [name for _, name in settings.hidden]
        found: dict[str, Any] = {}
        if activations:
            found["activation"] = activations[0] if len(set(activations)) == 1 else activations
        if settings.norm != "none":
            found["norm"] = settings.norm
        if settings.dropout:
            found["dropout"] = settings.dropout
        if settings.residual:
            found["residual"] = True
        if settings.init != "auto":
            found["init"] = settings.init
        if settings.standardize:
            found["standardize"] = True
        return found

    def net(self) -> Sequential:
        """The net."""
        return mlp(*(units for units, _ in self.settings.hidden), self.n_outputs, **self.net_options())

    def optimizer(self) -> Optimizer:
        """The optimizer."""
        return OPTIMIZERS[self.settings.optimizer](**self.optimizer_options())

    def optimizer_options(self) -> dict[str, Any]:
        """Its arguments."""
        found: dict[str, Any] = {"learning_rate": self.settings.rate}
        given = next(choice for choice in choices.listed("optimizers") if choice["value"] == self.settings.optimizer)
        if "momentum" in given.get("has", ()) and self.settings.momentum:
            found["momentum"] = self.settings.momentum
        return found

    def trainer_options(self) -> dict[str, Any]:
        """The other arguments of ``md.Trainer`` that differ from their defaults."""
        settings = self.settings
        found: dict[str, Any] = {}
        if settings.schedule != "constant":
            found["schedule"] = settings.schedule
        if settings.regularizer != "none":
            found["regularizer"] = Regularizer.of(settings.regularizer, strength=settings.strength)
        if settings.clip:
            found["clip_norm"] = settings.clip
        if settings.precision != "float32":
            found["dtype"] = settings.precision
        if settings.seed:
            found["seed"] = settings.seed
        return found

    def trainer(self) -> Trainer:
        """A trainer, ready to fit."""
        return Trainer(self.net(), loss=self.loss, optimizer=self.optimizer(), threads=1, **self.trainer_options())

    def fit_options(self) -> dict[str, Any]:
        """The arguments of ``fit`` besides the data."""
        settings = self.settings
        found: dict[str, Any] = {"epochs": settings.epochs, "batch_size": settings.batch, "metrics": self.metric}
        if settings.patience:
            found["early_stopping"] = settings.patience
        if settings.balance and self.problem.task != "numbers":
            found["class_weight"] = "balanced"
        return found
