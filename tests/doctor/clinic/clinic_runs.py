"""Runs of the clinic: a plan of a training, which faults change, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from broad_data import BROAD_DATA
from broad_tables import BROAD_TABLES
from clinic_data import DATA, Table
from fresh_data import FRESH_DATA
from more_data import MORE_DATA
from outside_c_data import OUTSIDE_C_DATA
from outside_d_data import OUTSIDE_D_DATA
from outside_data import OUTSIDE_DATA
from outside_e_data import OUTSIDE_E_DATA
from outside_f_data import OUTSIDE_F_DATA

import madaline as md
from madaline.errors import MadalineError
from madaline.nn.initializers import Constant, Normal

ALL_DATA = (
    DATA
    | MORE_DATA
    | FRESH_DATA
    | BROAD_DATA
    | BROAD_TABLES
    | OUTSIDE_DATA
    | OUTSIDE_C_DATA
    | OUTSIDE_D_DATA
    | OUTSIDE_E_DATA
    | OUTSIDE_F_DATA
)
"Every data set by name."


@dataclass(frozen=True)
class Plan:
    """A training run of the clinic."""

    data: str
    widths: tuple[int, ...] = (32, 32)
    activation: Any = "relu"
    init: Any = "auto"
    norm: str | None = None
    dropout: float = 0.0
    residual: bool = False
    standardize: bool = False
    last: str | None = None
    zero_output: bool = False
    bias: float = 0.0
    output_std: float = 0.0
    divisor: float = 1.0
    "What the net divides its inputs by, by mistake."
    loss: Any = None
    optimizer: Any = "adam"
    rate: float = 3e-3
    momentum: float = 0.0
    eps: float = 1e-8
    schedule: Any = None
    decay: float = 0.0
    clip: float | None = None
    freeze: tuple[str, ...] = ()
    epochs: int = 60
    batch: int | None = 32
    shuffle: bool = True
    stopping: Any = None
    validation: Any = 0.25
    class_weight: Any = None
    weights: float = 1.0
    "Largest weight of a row, relative to the smallest."
    style: str = ""
    prepare: tuple[Callable[[Table, np.random.Generator], Table], ...] = field(default=())
    own_validation: Callable[[Table, np.random.Generator], Any] | None = None
    seed: int = 0

    def table(self) -> Table:
        table = ALL_DATA[self.data](self.seed)
        for change in self.prepare:
            table = change(table, np.random.default_rng(self.seed + 5))
        return table

    def net(self, n_in: int, n_out: int) -> Any:
        net = md.mlp(
            *self.widths,
            n_out,
            activation=self.activation,
            init=self.init,
            norm=self.norm,
            dropout=self.dropout,
            residual=self.residual,
            standardize=self.standardize,
        )
        layers = list(net.layers)
        if self.zero_output:
            layers[-1] = md.Linear(n_out, init="zeros")
        if self.output_std:
            layers[-1] = md.Linear(n_out, init=Normal(std=self.output_std))
        if self.bias:
            layers = [
                md.Linear(layer.n_out, bias_init=Constant(self.bias))
                if isinstance(layer, md.Linear) and layer is not layers[-1]
                else layer
                for layer in layers
            ]
        front = [] if self.divisor == 1.0 else [md.nn.Standardize(mean=[0.0] * n_in, std=[self.divisor] * n_in)]
        return md.Sequential(*front, *layers, *([self.last] if self.last else []))

    def trainer(self, table: Table) -> md.Trainer:
        loss = (
            self.loss
            or {
                "regression": "mse",
                "binary": "binary_cross_entropy",
                "labels": "binary_cross_entropy",
                "classes": "cross_entropy",
            }[table.task]
        )
        kinds = {
            "adam": lambda: md.Adam(self.rate, eps=self.eps),
            "adamw": lambda: md.AdamW(self.rate, weight_decay=self.decay),
            "sgd": lambda: md.SGD(self.rate, momentum=self.momentum, weight_decay=self.decay),
            "rmsprop": lambda: md.RMSprop(self.rate),
        }
        return md.Trainer(
            self.net(table.X.shape[1], table.n_out),
            loss=loss,
            optimizer=kinds[self.optimizer]() if isinstance(self.optimizer, str) else self.optimizer,
            schedule=self.schedule,
            clip_norm=self.clip,
            freeze=self.freeze,
            seed=self.seed,
            threads=1,
        )

    def run(self) -> Run:
        table = self.table()
        trainer = self.trainer(table)
        arguments = {
            "epochs": self.epochs,
            "batch_size": self.batch,
            "shuffle": self.shuffle,
            "early_stopping": self.stopping,
            "class_weight": self.class_weight,
            "validation": self.validation,
            "metrics": "r2" if table.task == "regression" else "accuracy",
        }
        if self.weights != 1.0:
            spread = np.random.default_rng(self.seed + 9).uniform(-0.5, 0.5, len(table.X))
            arguments["sample_weight"] = self.weights**spread
        if self.own_validation is not None:
            arguments["validation"] = self.own_validation(table, np.random.default_rng(self.seed + 7))
        try:
            trainer.fit(table.X, table.y, doctor=True, progress=False, **arguments)
        except MadalineError:
            return Run(self, table, trainer, np.inf, arguments)
        return Run(self, table, trainer, test_loss(trainer, table), arguments)

    def with_seed(self, seed: int) -> Plan:
        return replace(self, seed=seed)


@dataclass(frozen=True)
class Run:
    plan: Plan
    table: Table
    trainer: md.Trainer
    loss: float
    arguments: dict[str, Any]


def test_loss(trainer: md.Trainer, table: Table) -> float:
    """The loss on test rows in evaluation mode; balanced over classes for a rare one."""
    with np.errstate(all="ignore"):
        raw = trainer.model(table.X_test)
        found = np.asarray(trainer.recipe.loss(raw, table.y_test, reduction="none"), dtype=float)
    worst = 1e6 * max(float(np.var(table.y_test)), 1.0)
    found = np.minimum(np.where(np.isfinite(found), found, worst), worst)
    return float(found.mean())
