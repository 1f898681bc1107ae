"""The state in a checkpoint other than arrays, as plain data; every value is checked when it is read.

The functions that read raise ValueError, TypeError or KeyError for data that no run can have written.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madaline.optim.plateau import Plateau
from madaline.train.history import History, HistoryTable
from madaline.train.metrics import Metric
from madaline.train.stopping import EarlyStoppingState

PLATEAU = ("scale", "best", "n_bad", "n_cooldown")


@dataclass
class Progress:
    """The progress of a run."""

    t: int = 0
    "Steps since the start, over all epochs."
    epoch: int = 0
    "Completed epochs."
    step: int = 0
    "Steps of the current epoch."
    sums: dict[str, float] = field(default_factory=dict)
    "Sums over the current epoch: of weights, and of values times weights."
    seconds: float = 0.0
    "Duration of the current epoch so far."
    rate_scale: float = 1.0
    "Factor of the learning rate, set by callbacks."


@dataclass
class ResumePoint:
    """The state from which a later session continues, without data and programs."""

    arrays: dict[str, np.ndarray]
    progress: Progress
    history: History
    plateau: Plateau | None
    metrics: Sequence[Metric]


def progress_from_plain(
    data: dict[str, Any], *, epoch_steps: int | None, steps_are_equal: bool, names: Collection[str]
) -> Progress:
    """Read the progress of a run.

    Parameters
    ----------
    data : dict
        Plain data.
    epoch_steps : int or None
        Number of steps of the epoch it is in, if known.
    steps_are_equal : bool
        Whether all epochs have this number of steps.
    names : collection of str
        Sums over the steps of an epoch.
    """
    found = Progress(**data)
    t, epoch, step = found.t, found.epoch, found.step
    for name in ("t", "epoch", "step"):
        _need(_is_count(getattr(found, name)), name, getattr(found, name))
    _need(epoch_steps is None or step <= epoch_steps, "step", step, f" in an epoch of {epoch_steps} steps")
    if steps_are_equal and epoch_steps is not None:
        _need(t == epoch * epoch_steps + step, "t", t, f" after {epoch} epochs and {step} steps")
    _need(t - step >= epoch and (epoch > 0 or t == step), "t", t, f" after {epoch} epochs and {step} steps")
    sums = found.sums
    _need(isinstance(sums, dict) and all(map(_is_number, sums.values())), "sums", sums)
    _need(set(sums) == (set(names) if step else set()), "sums", sorted(sums), f" after {step} steps")
    _need(0.0 <= sums.get("weight", 0.0) < math.inf, "sums", sums)
    for name in ("seconds", "rate_scale"):
        value = getattr(found, name)
        _need(_is_number(value) and 0.0 <= value < math.inf, name, value)
    return found


def watch_to_plain(watch: EarlyStoppingState | None) -> dict[str, Any] | None:
    """What early stopping remembers."""
    return None if watch is None else {"best": watch.best, "best_epoch": watch.best_epoch, "n_bad": watch.n_bad}


def restore_watch(watch: EarlyStoppingState | None, data: dict[str, Any] | None, *, epoch: int) -> None:
    """Set what early stopping remembers after this many epochs."""
    _need((watch is None) == (data is None), "watch", data)
    if watch is None or data is None:
        return
    best, best_epoch, n_bad = data["best"], data["best_epoch"], data["n_bad"]
    _need(_is_count(best_epoch) and best_epoch <= epoch, "best_epoch", best_epoch, f" after {epoch} epochs")
    _need(_is_count(n_bad) and n_bad == epoch - best_epoch, "n_bad", n_bad, f" after {epoch} epochs")
    _need(_is_number(best) and math.isnan(best) == (best_epoch == 0), "best", best)
    watch.best, watch.best_epoch, watch.n_bad = float(best), best_epoch, n_bad


def plateau_to_plain(plateau: Plateau | None) -> dict[str, Any] | None:
    """What ReduceOnPlateau remembers."""
    return None if plateau is None else {name: getattr(plateau, name) for name in PLATEAU}


def restore_plateau(plateau: Plateau | None, data: dict[str, Any] | None) -> None:
    """Set what ReduceOnPlateau remembers."""
    _need((plateau is None) == (data is None), "plateau", data)
    if plateau is None or data is None:
        return
    _need(_is_number(data["scale"]) and 0.0 <= data["scale"] <= 1.0, "scale", data["scale"])
    _need(data["best"] is None or _is_number(data["best"]), "best", data["best"])
    for name in ("n_bad", "n_cooldown"):
        _need(_is_count(data[name]), name, data[name])
    for name in PLATEAU:
        setattr(plateau, name, data[name])


def history_to_plain(history: History) -> dict[str, Any]:
    """The tables of a history as lists."""
    return {
        "epochs": history.to_dict(),
        "steps": history.steps.to_dict(),
        "probes": history.probes.to_dict(),
        "best_epoch": history.best_epoch,
    }


def history_from_plain(data: dict[str, Any], *, epochs: int | None = None) -> History:
    """Read a history; ``epochs`` is the number of rows it must have, if known."""
    for name in ("epochs", "steps", "probes"):
        columns = data[name]
        _need(isinstance(columns, dict) and all(isinstance(column, list) for column in columns.values()), name, columns)
        _need(len({len(column) for column in columns.values()}) <= 1, name, columns)
        _need(all(_is_number(v) or isinstance(v, str) for column in columns.values() for v in column), name, columns)
    history = History(data["epochs"])
    if epochs is not None:
        _need(history.epochs == epochs, "epochs", data["epochs"], f" after {epochs} epochs")
    history.steps, history.probes = HistoryTable(data["steps"]), HistoryTable(data["probes"])
    best = data["best_epoch"]
    _need(best is None or (_is_count(best) and 1 <= best <= history.epochs), "best_epoch", best)
    history.best_epoch = best
    return history


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _need(is_right: bool, name: str, value: Any, where: str = "") -> None:
    if not is_right:
        raise ValueError(f"{name}={short(value)} is impossible{where}")


def short(value: Any) -> str:
    """The beginning of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
