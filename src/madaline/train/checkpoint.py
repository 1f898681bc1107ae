"""Checkpoints: everything that is needed to resume training as if it had never stopped."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from madaline import container
from madaline.errors import ConfigError, FileFormatError
from madaline.functional import files
from madaline.kernels.core import isa
from madaline.kernels.execute import executor
from madaline.losses.custom import CustomLoss
from madaline.losses.loss import Loss
from madaline.train.events import Callback, TrainingView
from madaline.train.metrics import CustomMetric
from madaline.train.recipe import to_plain
from madaline.train.sampling import CustomSampler
from madaline.train.saved_state import (
    Progress,
    history_from_plain,
    history_to_plain,
    plateau_to_plain,
    progress_from_plain,
    restore_plateau,
    restore_watch,
    short,
    watch_to_plain,
)
from madaline.train.session import Session

COMPARED_STEPS = 10_000
"Maximum number of steps whose learning rates are compared."
REFERENCE = "reference"
"Recorded by the reference executor instead of an instruction set."


class Checkpointer(Callback):
    """Writes checkpoints during training, and when it ends.

    Parameters
    ----------
    path : path
        The file; it always holds a complete checkpoint.
    every_epochs : int or None
        Number of epochs between checkpoints.
    every_seconds : float or None
        Seconds between checkpoints, even within an epoch.
    """

    def __init__(self, path: str | os.PathLike[str], *, every_epochs: int | None, every_seconds: float | None) -> None:
        self.path = Path(path)
        self.every_epochs, self.every_seconds = every_epochs, every_seconds
        self.has_ticks = every_seconds is not None
        self._last, self._written = time.monotonic(), -1

    def on_fit_start(self, trainer: TrainingView) -> None:
        setting(trainer.run)  # raises now, and not at the first checkpoint, if something cannot be saved
        container.remove_unfinished(self.path)
        self._last, self._written = time.monotonic(), -1

    def on_tick(self, trainer: TrainingView) -> None:
        if self.every_seconds is not None and time.monotonic() - self._last >= self.every_seconds:
            self._write(trainer)

    def on_epoch_end(self, trainer: TrainingView, row: Any) -> None:
        if self.every_epochs is not None and trainer.progress.epoch % self.every_epochs == 0:
            self._write(trainer)

    def on_last_step(self, trainer: TrainingView) -> None:
        # What came before a divergence can be repeated, and a state that was written need not be written again.
        if trainer.run.stop_reason not in ("diverged", "error") and self._written != trainer.progress.t:
            self._write(trainer)

    def _write(self, trainer: TrainingView) -> None:
        save(trainer.run, self.path)
        self._last, self._written = time.monotonic(), trainer.progress.t


def save(session: Session, path: str | os.PathLike[str]) -> None:
    """Write everything that changes in a session, and what must be equal to resume it."""
    arrays = {f"array.{name}": value for name, value in session.arrays.items()}
    arrays |= {"params": session.model.params.flat, "state": session.model.state.flat}
    arrays |= {f"best.{name}": value for name, value in (session.best or {}).items()}
    container.write(
        path,
        arrays,
        {
            "kind": "checkpoint",
            "format": files.FORMAT,
            "setting": setting(session),
            "progress": asdict(session.progress),
            "history": history_to_plain(session.history),
            "watch": watch_to_plain(session.watch),
            "plateau": plateau_to_plain(session.plateau),
        },
    )


def setting(session: Session) -> dict[str, Any]:
    """The values that must be equal for a session to be resumed with bit-identical results."""
    options, validation, watch = session.options, session.validation, session.watch
    sampler = options.row_sampler
    source = session.source.describe()
    return {
        "net": session.model.net.to_dict(),
        "freeze": list(session.model.network.freeze),
        "dtype": session.model.network.dtype.name,
        "recipe": to_plain(replace(session.recipe, loss=_losses_as_used(session))),
        "seed": session.seed,
        "batch_size": session.batch_size,
        "sampler": "a function" if isinstance(sampler, CustomSampler) else sampler.to_dict(),
        "drop_last": options.drop_last,
        "rows": source["rows"],
        "data": [*source["shapes"], session.digest],
        "buffer": source.get("buffer"),
        "weighted": session.source.data.weight is not None,
        "validation": None if validation is None else [len(validation), validation.data.digest(validation.rows)],
        "metrics": [
            metric.name if isinstance(metric, CustomMetric) else metric.to_dict() for metric in session.metrics
        ],
        "early_stopping": None if watch is None else watch.rule.to_dict() | {"metric": watch.metric},
        "total_steps": session.total_steps,
        "replicas": [options.replicas, options.local_steps, options.outer] if options.replicas > 1 else None,
        **{name: value for each in session.callbacks for name, value in each.resume_settings().items()},
        "instruction_set": (None if executor() == "reference" else isa()) or REFERENCE,
    }


def _losses_as_used(session: Session) -> Loss | dict[str, Loss]:
    """The losses, with custom functions traced for the columns that they are used with."""

    def as_used(loss: Loss, shape: Any, target: Any) -> Loss:
        return loss.traced(np.empty((0, *shape[1:])), target) if isinstance(loss, CustomLoss) else loss

    loss, shape, targets = session.recipe.loss, session.model.network.out_shape, session.source.data.targets
    if isinstance(loss, dict):
        return {name: as_used(item, shape[name], targets[name]) for name, item in loss.items()}
    return as_used(loss, shape, targets)


def restore(session: Session, path: str | os.PathLike[str], *, epochs: int) -> None:
    """Set a session of this many epochs, which is about to start, to the state in a checkpoint.

    Raises
    ------
    ConfigError
        If the checkpoint was written with other settings, data or instructions.
    FileFormatError
        If the file is damaged, or holds a state that this session cannot have.
    """
    arrays, document = container.read(path, kind="checkpoint")
    if document.get("format") != files.FORMAT:
        found = document.get("format")
        raise FileFormatError(f"The checkpoint has format {found!r}; this version reads {files.FORMAT}.")
    try:
        _check_setting(session, path, document["setting"], document["progress"].get("t"))
        for name, value in session.arrays.items():
            _copy(arrays[f"array.{name}"], value)
        _copy(arrays["params"], session.model.params.flat)
        _copy(arrays["state"], session.model.state.flat)
        if any(name.startswith("best.") for name in arrays):
            session.best = {name: np.empty_like(getattr(session.model, name).flat) for name in ("params", "state")}
            for name, value in session.best.items():
                _copy(arrays[f"best.{name}"], value)
        session.progress = _progress(session, document["progress"])
        if session.progress.epoch + min(session.progress.step, 1) > epochs:
            has = f"{session.progress.epoch} epochs" + (" and a part" if session.progress.step else "")
            raise ConfigError(
                f"resume={os.fspath(path)!r} has already completed {has}, and epochs={epochs}. Increase epochs."
            )
        session.history = history_from_plain(document["history"], epochs=session.progress.epoch)
        restore_watch(session.watch, document["watch"], epoch=session.progress.epoch)
        restore_plateau(session.plateau, document["plateau"])
    except ConfigError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(f"{os.fspath(path)!r} is not a valid checkpoint: {error}.") from error


def _progress(session: Session, data: dict[str, Any]) -> Progress:
    assert session.stepper is not None
    return progress_from_plain(
        data,
        epoch_steps=session.source.steps_of(data["epoch"]) if type(data["epoch"]) is int else None,
        steps_are_equal=session.source.steps_are_equal,
        names={"weight"} | session.stepper.summed,
    )


def _check_setting(session: Session, path: str | os.PathLike[str], then: dict[str, Any], done: Any) -> None:
    """Raise a ConfigError that names the settings that differ from those in the checkpoint."""
    now = setting(session)
    differing = [name for name in now if now[name] != then.get(name) and name != "total_steps"]
    if now["total_steps"] != then.get("total_steps") and type(done) is int and _had_other_rates(session, then, done):
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


def _had_other_rates(session: Session, then: dict[str, Any], done: int) -> bool:
    """Whether the completed steps had other learning rates than they would have in a session of this length."""
    t = np.unique(np.linspace(1, max(done, 1), COMPARED_STEPS).astype(np.int64))
    try:
        before, now = (
            session.recipe.schedule.rate(t, total) for total in (then.get("total_steps"), session.total_steps)
        )
    except (ConfigError, TypeError):
        return True
    return done > 0 and not np.array_equal(before, now)


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    if source.shape != target.shape or source.dtype != target.dtype:
        raise ValueError(f"an array has shape {source.shape}, and {target.shape} is needed")
    target[...] = source


def learning_rate_in(path: str | os.PathLike[str]) -> float | None:
    """The learning rate of the run that wrote a checkpoint, if its optimizer has one."""
    _, document = container.read(path, kind="checkpoint")
    try:
        found = document["setting"]["recipe"]["optimizer"]["learning_rate"]
    except (KeyError, TypeError):
        return None
    return float(found) if isinstance(found, (int, float)) else None
