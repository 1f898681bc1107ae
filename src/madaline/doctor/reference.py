"""Usual settings, to know what is possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.doctor.net_edits import scaled_output
from madaline.doctor.sample import Problem
from madaline.doctor.setup import Setup
from madaline.nn.layers.mlp import mlp
from madaline.nn.layers.sequential import Sequential
from madaline.nn.layers.standardize import Standardize
from madaline.optim.adam import AdamW
from madaline.optim.schedule import as_schedule
from madaline.train.recipe import Recipe
from madaline.train.stopping import EarlyStopping

BATCH, STEPS = 64, 1000


def reference_setup(setup: Setup, problem: Problem, n_outputs: int) -> Setup:
    """A net of usual size with usual settings for the same loss and data; inputs and targets are scaled."""
    net: Any = Sequential(*robust_front(problem.train.matrix), *mlp(64, 64, n_outputs).layers)
    y = np.asarray(problem.train.y, dtype=np.float64).reshape(len(problem.train), -1)
    if setup.recipe.loss.out_activation == "identity" and y.shape[1] == n_outputs:  # type: ignore[union-attr]
        std = np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)
        net = scaled_output(net, y.mean(axis=0).tolist(), std.tolist())
    recipe = Recipe(setup.recipe.loss, AdamW(3e-3, weight_decay=0.01), as_schedule("cosine"))
    stopping = EarlyStopping("val_loss")
    epochs = int(np.clip(STEPS * BATCH / max(len(problem.train), 1), 40, 200))
    return Setup(net, recipe, epochs=epochs, batch_size=BATCH, threads=setup.threads, early_stopping=stopping)


def robust_front(X: np.ndarray) -> list[Any]:
    """Layers that scale columns by median and quartiles and bound them, so that outliers do no harm."""
    low, middle, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0) if X.shape[1] else np.zeros((3, 0))
    spread = np.where(high > low, high - low, 1.0)
    return [Standardize(mean=middle.tolist(), std=spread.tolist()), "softsign"]
