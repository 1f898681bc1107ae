"""Runs of the clinic that train an estimator, as users of scikit-learn do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from clinic_data import Table
from clinic_runs import ALL_DATA, Run

import madaline as md
from madaline.errors import MadalineError


@dataclass(frozen=True)
class EstimatorPlan:
    """A training run with an estimator and its parameters."""

    data: str
    params: Mapping[str, Any] = field(default_factory=dict)
    prepare: tuple[Callable[[Table, np.random.Generator], Table], ...] = ()
    seed: int = 0

    def table(self) -> Table:
        table = ALL_DATA[self.data](self.seed)
        for change in self.prepare:
            table = change(table, np.random.default_rng(self.seed + 5))
        return table

    def estimator(self, table: Table) -> Any:
        kind = md.MLPRegressor if table.task == "regression" else md.MLPClassifier
        return kind(random_state=self.seed, threads=1, callbacks=md.Doctor(), **self.params)

    def run(self) -> Run:
        table = self.table()
        estimator = self.estimator(table)
        try:
            estimator.fit(table.X, table.y)
        except (MadalineError, ValueError):  # ValueError: scikit-learn's error for weights that are not finite
            return Run(self, table, estimator, np.inf, {})
        return Run(self, table, estimator, estimator_loss(estimator, table), {})

    def with_seed(self, seed: int) -> EstimatorPlan:
        return replace(self, seed=seed)

    def having(self, **params: Any) -> EstimatorPlan:
        return replace(self, params={**self.params, **params})

    def label(self) -> str:
        return f"{self.data} estimator {' '.join(f'{k}={v}' for k, v in self.params.items())} s{self.seed}"

    def variants(self) -> list[EstimatorPlan]:
        """Other lengths and rates: none of them is clearly better than a sound plan."""
        if self.params.get("preset"):
            return []
        rate, length = self.params.get("learning_rate_init", 1e-3), self.params.get("max_iter", 200)
        others = [{"learning_rate_init": 3 * rate}, {"learning_rate_init": rate / 3}, {"max_iter": 4 * length}]
        return [self.having(**other) for other in others]


def estimator_loss(estimator: Any, table: Table) -> float:
    """The loss on test rows: squared error, or the negative log-likelihood."""
    if table.task == "regression":
        error = np.asarray(estimator.predict(table.X_test), dtype=float).reshape(table.y_test.shape) - table.y_test
        worst = 1e6 * max(float(np.var(table.y_test)), 1.0)
        return float(np.minimum(np.nan_to_num(error**2, nan=worst, posinf=worst), worst).mean())
    found = np.asarray(estimator.predict_proba(table.X_test), dtype=float)
    if table.task == "labels":
        right = np.where(table.y_test > 0, found, 1 - found)
        return float(-np.log(np.clip(np.nan_to_num(right), 1e-7, 1.0)).mean())
    columns = np.searchsorted(estimator.classes_, table.y_test)
    p = found[np.arange(len(found)), columns]
    return float(-np.log(np.clip(np.nan_to_num(p), 1e-7, 1.0)).mean())
