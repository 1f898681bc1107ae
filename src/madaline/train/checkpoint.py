"""Checkpoints: everything a run needs to go on as if it had never stopped."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline import container
from madaline.errors import ConfigError, FileFormatError
from madaline.functional import files
from madaline.losses.custom import CustomLoss
from madaline.losses.loss import Loss
from madaline.train.events import Callback
from madaline.train.history import History, Table
from madaline.train.metrics import OwnMetric
from madaline.train.recipe import to_plain
from madaline.train.run import Progress, Run
from madaline.train.sampling import OwnSampler
from madaline.train.stream_run import StreamRun

if TYPE_CHECKING:
    from madaline.train.trainer import Trainer


LOOKED_AT_STEPS = 10_000
"Of so many steps at most rates are compared."


class Checkpointer(Callback):
    """Writes checkpoints while a run goes on, and when it is interrupted.

    Parameters
    ----------
    path : path
        The file; it always holds a whole checkpoint.
    every_epochs : int or None
        After so many epochs.
    every_seconds : float or None
        After so long, also within an epoch.
    """

    def __init__(self, path: str | os.PathLike[str], *, every_epochs: int | None, every_seconds: float | None) -> None:
        self.path = Path(path)
        self.every_epochs, self.every_seconds = every_epochs, every_seconds
        self.has_ticks = every_seconds is not None
        self._last = time.monotonic()

    def on_fit_start(self, trainer: Trainer) -> None:
        setting(trainer.run)  # what cannot be saved is said now, and not after an hour
        container.remove_unfinished(self.path)
        self._last = time.monotonic()

    def on_tick(self, trainer: Trainer) -> None:
        if self.every_seconds is not None and time.monotonic() - self._last >= self.every_seconds:
            self._write(trainer)

    def on_epoch_end(self, trainer: Trainer, row: Any) -> None:
        if self.every_epochs is not None and trainer.run.progress.epoch % self.every_epochs == 0:
            self._write(trainer)

    def on_last_step(self, trainer: Trainer) -> None:
        if trainer.run.stop_reason in ("interrupted", "callback", "time"):
            self._write(trainer)

    def _write(self, trainer: Trainer) -> None:
        save(trainer.run, self.path)
        self._last = time.monotonic()


def save(run: Run, path: str | os.PathLike[str]) -> None:
    """Write all that changes in a run, and what must be equal to go on."""
    arrays = {f"array.{name}": value for name, value in run.arrays.items()}
    arrays |= {"params": run.model.params.flat, "state": run.model.state.flat}
    arrays |= {f"best.{name}": value for name, value in (run.best or {}).items()}
    container.write(
        path,
        arrays,
        {
            "kind": "checkpoint",
            "format": files.FORMAT,
            "setting": setting(run),
            "progress": asdict(run.progress),
            "history": history_to_plain(run.history),
            "watch": None if run.watch is None else run.watch.to_dict(),
            "plateau": None if run.plateau is None else _plateau_to_plain(run.plateau),
        },
    )


def setting(run: Run) -> dict[str, Any]:
    """What must be the same for a run to go on bit by bit."""
    settings, held = run.settings, run.evaluator.validation
    return {
        "net": run.model.net.to_dict(),
        "freeze": list(run.trainer.freeze),
        "dtype": run.model.network.dtype.name,
        "recipe": to_plain(replace(run.recipe, loss=_losses_as_used(run))),
        "seed": settings.seed,
        "batch_size": settings.batch_size,
        "sampler": "a function" if isinstance(settings.sampler, OwnSampler) else settings.sampler.to_dict(),
        "drop_last": settings.drop_last,
        "rows": "stream" if isinstance(run, StreamRun) else len(run.rows),
        "data": [
            [None if isinstance(run, StreamRun) else source.n_rows, list(source.row_shape)]
            for source in (*run.data.x, *run.data.y)
        ]
        + [run.digest],
        "buffer": run.stream.buffer if isinstance(run, StreamRun) else None,
        "weighted": run.data.weight is not None,
        "validation": None if held is None else [len(held.rows), held.data.digest()],
        "metrics": [metric.name if isinstance(metric, OwnMetric) else metric.to_dict() for metric in run.metrics],
        "early_stopping": None if run.watch is None else run.watch.rule.to_dict() | {"metric": run.watch.metric},
        "total_steps": run.total_steps,
    }


def _losses_as_used(run: Run) -> Loss | dict[str, Loss]:
    """Functions of the user traced for the columns they are used with, since they may not take any others."""

    def as_used(loss: Loss, shape: Any, target: Any) -> Loss:
        return loss.traced(np.empty((0, *shape[1:])), target) if isinstance(loss, CustomLoss) else loss

    loss, shape, targets = run.recipe.loss, run.model.network.out_shape, run.data.targets
    if isinstance(loss, dict):
        return {name: as_used(item, shape[name], targets[name]) for name, item in loss.items()}
    return as_used(loss, shape, targets)


def restore(run: Run, path: str | os.PathLike[str], *, epochs: int) -> None:
    """Bring a run of so many epochs that is about to begin to where the checkpoint was written."""
    arrays, document = container.read(path, kind="checkpoint")
    if document.get("format") != files.FORMAT:
        found = document.get("format")
        raise FileFormatError(f"The checkpoint has format {found!r}; this version reads {files.FORMAT}.")
    now, then = setting(run), document.get("setting", {})
    differing = [name for name in now if now[name] != then.get(name) and name != "total_steps"]
    progress = document.get("progress")
    done: Any = progress.get("t") if isinstance(progress, dict) else None
    if now["total_steps"] != then.get("total_steps") and _is_count(done) and _had_other_rates(run, then, done):
        differing.append("total_steps")
    if differing:
        name = differing[0]
        raise ConfigError(
            f"resume={os.fspath(path)!r} was written by a run with another {' and another '.join(differing)} "
            f"({name} was {_short(then.get(name))}, now {_short(now[name])}). Resume with the same settings and data."
        )
    try:
        for name, value in run.arrays.items():
            _copy(arrays[f"array.{name}"], value)
        _copy(arrays["params"], run.model.params.flat)
        _copy(arrays["state"], run.model.state.flat)
        if any(name.startswith("best.") for name in arrays):
            run.best = {name: np.empty_like(getattr(run.model, name).flat) for name in ("params", "state")}
            for name, value in run.best.items():
                _copy(arrays[f"best.{name}"], value)
        run.progress = _progress(document["progress"])
        if run.progress.epoch + min(run.progress.step, 1) > epochs:
            has = f"{run.progress.epoch} epochs" + (" and a part" if run.progress.step else "")
            raise ConfigError(f"resume={os.fspath(path)!r} has done {has} already, and epochs={epochs}. Ask for more.")
        run.history = history_from_plain(document["history"])
        if run.watch is not None and document["watch"] is not None:
            run.watch.restore(document["watch"])
        if run.plateau is not None and document["plateau"] is not None:
            for name, value in _plateau(document["plateau"]).items():
                setattr(run.plateau, name, value)
    except ConfigError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(f"{os.fspath(path)!r} is no whole checkpoint: {error}") from error


def _had_other_rates(run: Run, then: dict[str, Any], done: int) -> bool:
    """Whether the steps that were done had other rates than they would have in a run as long as this one."""
    t = np.unique(np.linspace(1, max(done, 1), LOOKED_AT_STEPS).astype(np.int64))
    try:
        before, now = (run.recipe.schedule.rate(t, total) for total in (then.get("total_steps"), run.total_steps))
    except (ConfigError, TypeError):
        return True
    return done > 0 and not np.array_equal(before, now)


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    if source.shape != target.shape or source.dtype != target.dtype:
        raise ValueError(f"an array has shape {source.shape}, and {target.shape} is needed")
    target[...] = source


def _progress(data: dict[str, Any]) -> Progress:
    """Where the run was; a ValueError for numbers that no run can have."""
    found = Progress(**data)
    for name in ("t", "epoch", "step"):
        _need(_is_count(getattr(found, name)), name)
    _need(isinstance(found.sums, dict) and all(map(_is_number, found.sums.values())), "sums")
    _need(_is_number(found.seconds), "seconds")
    _need(_is_number(found.rate_scale) and found.rate_scale >= 0.0, "rate_scale")
    return found


def _plateau(data: dict[str, Any]) -> dict[str, Any]:
    """What the plateau remembered, checked."""
    _need(_is_number(data["scale"]) and 0.0 <= data["scale"] <= 1.0, "scale")
    _need(data["best"] is None or _is_number(data["best"]), "best")
    for name in ("n_bad", "n_cooldown"):
        _need(_is_count(data[name]), name)
    return {name: data[name] for name in ("scale", "best", "n_bad", "n_cooldown")}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _need(is_right: bool, name: str) -> None:
    if not is_right:
        raise ValueError(f"{name} has no meaning")


def _plateau_to_plain(plateau: Any) -> dict[str, Any]:
    return {name: getattr(plateau, name) for name in ("scale", "best", "n_bad", "n_cooldown")}


def history_to_plain(history: History) -> dict[str, Any]:
    """The tables as lists."""
    return {
        "epochs": history.to_dict(),
        "steps": history.steps.to_dict(),
        "probes": history.probes.to_dict(),
        "best_epoch": history.best_epoch,
    }


def history_from_plain(data: dict[str, Any]) -> History:
    """The history again."""
    for name in ("epochs", "steps", "probes"):
        columns = data[name]
        _need(isinstance(columns, dict) and all(isinstance(column, list) for column in columns.values()), name)
        _need(len({len(column) for column in columns.values()}) <= 1, name)
        _need(all(_is_number(v) or isinstance(v, str) for column in columns.values() for v in column), name)
    history = History(data["epochs"])
    history.steps, history.probes = Table(data["steps"]), Table(data["probes"])
    _need(data["best_epoch"] is None or _is_count(data["best_epoch"]), "best_epoch")
    history.best_epoch = data["best_epoch"]
    return history


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
