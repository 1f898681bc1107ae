"""A net and how to train it, for a table of some size: the preset's, unless told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from madaline.data.encode import TablePlan
from madaline.data.target import TargetPlan
from madaline.errors import ConfigError
from madaline.estimators import preset
from madaline.estimators.classifier import MLPClassifier
from madaline.estimators.parameters import settings_of
from madaline.estimators.regressor import MLPRegressor
from madaline.losses.custom import as_loss
from madaline.losses.loss import Loss
from madaline.nn.layer import Layer
from madaline.nn.layers.mlp import mlp
from madaline.nn.layers.sequential import Sequential
from madaline.optim.adam import AdamW
from madaline.optim.annealing import Cosine, LinearWarmup

LOSSES = {
    "binary": "cross_entropy",
    "multiclass": "cross_entropy",
    "multilabel": "binary_cross_entropy",
    "regression": "mse",
    "count": "poisson",
}
CHOICES = (
    "hidden",
    "activation",
    "norm",
    "dropout",
    "learning_rate",
    "weight_decay",
    "batch_size",
    "epochs",
    "patience",
)
"What users may say."


@dataclass(frozen=True)
class Recipe:
    """A net and how to train it."""

    net: Layer
    loss: Loss
    optimizer: AdamW
    schedule: Any
    average: Any
    batch_size: int
    epochs: int
    patience: int
    choices: Mapping[str, Any]
    "What it came from, by the names of ``CHOICES``."


def table_options(task: str) -> dict[str, Any]:
    """What the preset asks of a table's plan."""
    plain = MLPRegressor() if task in ("regression", "count") else MLPClassifier()
    data = preset.before_reading(plain, settings_of(plain)).data
    return dict(data) if isinstance(data, Mapping) else {}


def recipe_for(table: TablePlan, target: TargetPlan, n_rows: int, **told: Any) -> Recipe:
    """The recipe of ``preset="auto"`` for so many training rows; ``told`` says otherwise for some of ``CHOICES``."""
    plain = MLPClassifier()
    sized = preset.sized(plain, settings_of(plain), n_rows, goes_on=False)
    choices: dict[str, Any] = {
        "hidden": tuple(sized.hidden_layer_sizes),
        "activation": sized.activation,
        "norm": sized.norm,
        "dropout": sized.dropout,
        "learning_rate": sized.learning_rate_init,
        "weight_decay": sized.weight_decay,
        "batch_size": sized.batch_size,
        "epochs": sized.max_iter,
        "patience": sized.n_iter_no_change,
    }
    choices |= {name: value for name, value in told.items() if value is not None}
    _check(choices)
    body = mlp(
        *choices["hidden"],
        target.n_outputs,
        activation=choices["activation"],
        norm=choices["norm"],
        dropout=choices["dropout"],
    )
    steps = choices["epochs"] * -(-n_rows // choices["batch_size"])
    return Recipe(
        Sequential(table.front(), *body.layers),
        as_loss(LOSSES[target.task]),
        AdamW(choices["learning_rate"], weight_decay=choices["weight_decay"]),
        LinearWarmup(max(int(preset.WARM_UP * steps), 1)) * Cosine(),
        sized.average,
        min(choices["batch_size"], n_rows),
        choices["epochs"],
        choices["patience"],
        choices,
    )


def _check(choices: Mapping[str, Any]) -> None:
    for name in ("batch_size", "epochs", "patience"):
        if choices[name] < 1:
            raise ConfigError(f"--{name.replace('_', '-')} {choices[name]} must be at least 1.")
    if any(width < 1 for width in choices["hidden"]):
        raise ConfigError(f"--hidden {','.join(map(str, choices['hidden']))}: every layer needs at least one unit.")
