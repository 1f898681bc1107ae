"""What a curve of losses shows."""

from __future__ import annotations

import numpy as np

from madaline.train.history import History
from madaline.train.stopping import EarlyStopping

RISE = 1.15
"Last validation loss over the lowest one, from which on a net overfits."


def still_falling(loss: np.ndarray) -> bool:
    """Whether the loss falls until the end: its last tenth is the lowest, and its slope is not 0."""
    loss = loss[np.isfinite(loss)]
    if len(loss) < 5:
        return False
    part = max(len(loss) // 5, 2)
    last, previous = float(np.mean(loss[-part:])), float(np.mean(loss[-2 * part : -part]))
    fallen = float(loss[0] - loss.min())
    return last < previous and (previous - last) > 0.01 * fallen and loss[-part:].min() <= loss.min()


def overfits(history: History, rule: EarlyStopping | None = None) -> bool:
    """Whether the validation loss ends clearly above its minimum while the training loss falls.

    Not if the best epoch was restored, unless the rule of early stopping took the training loss for the best one.
    """
    is_best = history.best_epoch is not None and (rule is None or rule.metric != "loss")
    if "val_loss" not in history or history.n_rows < 5 or is_best:
        return False
    held, train = history["val_loss"], history["loss"]
    if not np.isfinite(held).all():
        return False
    low = int(np.argmin(held))
    last = float(np.mean(held[-max(len(held) // 10, 1) :]))
    return bool(last >= RISE * held[low] and low <= 0.8 * len(held) and train[-1] <= train[low])


def rises(loss: np.ndarray) -> bool:
    """Whether the loss ends above where it began."""
    loss = loss[np.isfinite(loss)]
    return bool(len(loss) > 2 and np.median(loss[-max(len(loss) // 5, 1) :]) > loss[0])


def noise(loss: np.ndarray, least: float = 1e-12) -> float:
    """The typical change from an epoch to the next, relative to the loss, in the second half of training."""
    loss = loss[np.isfinite(loss)]
    half = loss[len(loss) // 2 :]
    if len(half) < 3:
        return 0.0
    jumps = np.abs(np.diff(half)) / np.maximum(np.abs(half[:-1]), least)
    return float(np.median(jumps))
