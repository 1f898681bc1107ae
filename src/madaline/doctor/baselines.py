"""Simple predictions to compare a net with: the best constant, and a linear model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from madaline.doctor.sample import Problem
from madaline.doctor.setup import Setup, row_losses
from madaline.errors import MadalineError
from madaline.functional.model import Model
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.sequential import Sequential
from madaline.nn.layers.standardize import Standardize
from madaline.optim.lbfgs import LBFGS
from madaline.optim.regularizers import L2
from madaline.train.trainer import Trainer


def constant_rows(loss: Any, y_train: np.ndarray, y: np.ndarray, n_outputs: int) -> np.ndarray:
    """The loss of each row if the net always gave the same output, the best one for the training targets."""
    best, lowest = None, np.inf
    for output in _constants(np.asarray(y_train), n_outputs):
        try:
            with np.errstate(all="ignore"):
                found = float(loss(np.broadcast_to(output, (len(y_train), n_outputs)).copy(), y_train))
        except MadalineError:
            continue
        if np.isfinite(found) and found < lowest:
            best, lowest = output, found
    if best is None:
        return np.full(len(y), np.nan)
    return np.asarray(loss(np.broadcast_to(best, (len(y), n_outputs)).copy(), y, reduction="none"), dtype=np.float64)


def _constants(y: np.ndarray, n_outputs: int) -> list[np.ndarray]:
    """Outputs that are the best constant for some loss."""
    if y.ndim == 1 and n_outputs > 1 and y.dtype.kind in "iub":
        y = np.eye(n_outputs)[np.clip(y.astype(int), 0, n_outputs - 1)]
    columns = y.reshape(len(y), -1).astype(np.float64)
    if columns.shape[1] != n_outputs:
        columns = np.repeat(columns[:, :1], n_outputs, axis=1)
    mean = columns.mean(axis=0)
    share = np.clip(mean, 1e-3 / len(y), 1 - 1e-3 / len(y))
    found = [mean, np.median(columns, axis=0), np.zeros(n_outputs), np.log(share / (1 - share)), np.log(share)]
    if (mean > 0).all():
        found.append(np.log(mean))
    return found


def linear_model(setup: Setup, problem: Problem, n_outputs: int) -> Model | None:
    """A linear model of the same inputs, trained with the same loss; None if the inputs are not one array."""
    if not isinstance(problem.train.X, np.ndarray) or problem.train.X.ndim != 2:
        return None
    net = Sequential(Standardize(), Linear(n_outputs))
    trainer = Trainer(
        net, loss=setup.recipe.loss, optimizer=LBFGS(max_iter=30), regularizer=L2(1e-3), dtype="float64", threads=1
    )
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            trainer.fit(problem.train.X, problem.train.y, progress=False)
    except (MadalineError, ArithmeticError):
        return None
    return trainer.model


def linear_rows(setup: Setup, problem: Problem, n_outputs: int) -> np.ndarray | None:
    """The loss of each held-out row of a linear model."""
    model = linear_model(setup, problem, n_outputs)
    return None if model is None else row_losses(setup.recipe.loss, model, problem.held)
