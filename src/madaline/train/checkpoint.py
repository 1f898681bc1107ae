"""Checkpoints: everything a run needs to go on as if it had never stopped."""

from __future__ import annotations

import glob
import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline import container
from madaline.errors import ConfigError, FileFormatError
from madaline.functional import files
from madaline.kernels.core import isa
from madaline.kernels.execute import executor
from madaline.losses.custom import CustomLoss
from madaline.losses.loss import Loss
from madaline.train.events import Callback
from madaline.train.metrics import OwnMetric
from madaline.train.recipe import to_plain
from madaline.train.run import Run
from madaline.train.sampling import OwnSampler
from madaline.train.saved_state import (
    history_from_plain,
    history_to_plain,
    plateau_to_plain,
    restore_plateau,
    restore_watch,
    short,
    watch_to_plain,
)
from madaline.train.stream_run import StreamRun

if TYPE_CHECKING:
    from madaline.train.trainer import Trainer


LOOKED_AT_STEPS = 10_000
"Of so many steps at most rates are compared."
REFERENCE = "reference"
"Recorded in the place of an instruction set by the reference executor."


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
        for left in self.path.parent.glob(f".{glob.escape(self.path.name)}.*.part"):
            left.unlink(missing_ok=True)  # by a run that was killed as it wrote
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
            "watch": watch_to_plain(run.watch),
            "plateau": plateau_to_plain(run.plateau),
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
        "instruction_set": (None if executor() == "reference" else isa()) or REFERENCE,
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
    """Set a run of this many epochs, which is about to begin, to the state that a checkpoint holds.

    Raises
    ------
    ConfigError
        If the checkpoint was written with other settings, data or instructions.
    FileFormatError
        If the file is damaged, or holds a state that this run cannot have.
    """
    arrays, document = container.read(path, kind="checkpoint")
    if document.get("format") != files.FORMAT:
        found = document.get("format")
        raise FileFormatError(f"The checkpoint has format {found!r}; this version reads {files.FORMAT}.")
    try:
        _check_setting(run, path, document["setting"], document["progress"].get("t"))
        for name, value in run.arrays.items():
            _copy(arrays[f"array.{name}"], value)
        _copy(arrays["params"], run.model.params.flat)
        _copy(arrays["state"], run.model.state.flat)
        if any(name.startswith("best.") for name in arrays):
            run.best = {name: np.empty_like(getattr(run.model, name).flat) for name in ("params", "state")}
            for name, value in run.best.items():
                _copy(arrays[f"best.{name}"], value)
        run.progress = run.checked_progress(document["progress"])
        if run.progress.epoch + min(run.progress.step, 1) > epochs:
            has = f"{run.progress.epoch} epochs" + (" and a part" if run.progress.step else "")
            raise ConfigError(f"resume={os.fspath(path)!r} has done {has} already, and epochs={epochs}. Ask for more.")
        run.history = history_from_plain(document["history"], epochs=run.progress.epoch)
        restore_watch(run.watch, document["watch"], epoch=run.progress.epoch)
        restore_plateau(run.plateau, document["plateau"])
    except ConfigError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(f"{os.fspath(path)!r} is not a valid checkpoint: {error}.") from error


def _check_setting(run: Run, path: str | os.PathLike[str], then: dict[str, Any], done: Any) -> None:
    """Raise a ConfigError that names the settings in which the run differs from the one that wrote the checkpoint."""
    now = setting(run)
    differing = [name for name in now if now[name] != then.get(name) and name != "total_steps"]
    if now["total_steps"] != then.get("total_steps") and type(done) is int and _had_other_rates(run, then, done):
        differing.append("total_steps")
    if differing == ["instruction_set"]:
        raise _other_instructions(path, str(then.get("instruction_set")), now["instruction_set"])
    if differing:
        name = differing[0]
        raise ConfigError(
            f"resume={os.fspath(path)!r} was written by a run with another {' and another '.join(differing)} "
            f"({name} was {short(then.get(name))}, now {short(now[name])}). Resume with the same settings and data."
        )


def _other_instructions(path: str | os.PathLike[str], then: str, now: str) -> ConfigError:
    def called(name: str) -> str:
        return "the reference executor" if name == REFERENCE else f"the instruction set {name!r}"

    variable = "MADALINE_EXECUTOR" if then == REFERENCE else "MADALINE_ISA"
    return ConfigError(
        f"resume={os.fspath(path)!r} was written with {called(then)}, and this process uses {called(now)}, whose "
        f"results differ in their last bits. Set the environment variable {variable}={then} before you start Python, "
        "or train again from the start."
    )


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
