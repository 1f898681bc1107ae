"""What users give a trainer, checked before anything is planned or trained."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.kernels.threads import MOST_THREADS
from madaline.train.stream import Stream

ON_DIVERGENCE = ("raise", "stop", "skip")


def check_whole(name: str, value: Any, *, least: int = 1, most: int | None = None) -> None:
    """An error unless it is a whole number in a range."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        upto = "" if most is None else f" and at most {most}"
        raise ConfigError(f"{name}={value!r} must be a whole number of at least {least}{upto}.")


def check_seconds(name: str, value: Any) -> None:
    """An error unless it is a time, or None."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if value is not None and not (is_number and not math.isnan(value) and value >= 0):
        raise ConfigError(f"{name}={value!r} must be a number of seconds, not negative.")


def check_trainer(*, threads: Any, seed: Any) -> None:
    """Of the trainer itself."""
    if threads is not None:
        check_whole("threads", threads, most=MOST_THREADS)
    check_whole("seed", seed, least=0, most=2**63 - 1)


def check_run(given: Mapping[str, Any]) -> None:
    """Of ``fit`` and ``partial_fit``, by name."""
    for name in ("epochs", "accumulate"):
        if name in given:
            check_whole(name, given[name])
    for name in ("batch_size", "probe_every"):
        if given.get(name) is not None:
            check_whole(name, given[name])
    check_seconds("max_seconds", given.get("max_seconds"))
    probes, on_divergence = given.get("probes", False), given.get("on_divergence", "raise")
    if not isinstance(probes, (bool, str, list, tuple)):
        raise ConfigError(f"probes={probes!r} must be True, or the paths of layers: probes=['0', '2'].")
    if on_divergence not in ON_DIVERGENCE:
        raise ConfigError(f"on_divergence={on_divergence!r} must be one of {', '.join(map(repr, ON_DIVERGENCE))}.")
    _check_validation(given.get("validation"))


def _check_validation(validation: Any) -> None:
    if isinstance(validation, Stream):
        raise ConfigError("validation is a stream; it must be arrays: validation=(X, y).")
    is_data = isinstance(validation, (tuple, list))
    if is_data and len(validation) not in (2, 3):
        raise ConfigError("validation must be a fraction, (X, y) or (X, y, sample_weight).")
    is_number = isinstance(validation, (int, float, np.number))
    if validation is not None and not is_data and not is_number:
        raise ConfigError(
            f"validation is {type(validation).__name__}; it must be a fraction between 0 and 1, or data: "
            "validation=(X, y)."
        )


def check_path(name: str, path: Any) -> None:
    """An error unless it is a path."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ConfigError(f"{name}={path!r} must be the path of a file.")


def check_checkpoint(path: Any, *, epochs: Any, seconds: Any) -> None:
    """What would fail at the first checkpoint is said now, and not after an hour."""
    if epochs is not None:
        check_whole("checkpoint_epochs", epochs)
    check_seconds("checkpoint_seconds", seconds)
    check_path("checkpoint", path)
    found = Path(path)
    if not found.parent.is_dir():
        raise ConfigError(f"checkpoint={str(path)!r}: the folder {str(found.parent)!r} does not exist.")
    if found.is_dir():
        raise ConfigError(f"checkpoint={str(path)!r} is a folder; it must be a file, as 'run.ckpt'.")
    if not os.access(found.parent, os.W_OK):
        raise ConfigError(f"checkpoint={str(path)!r}: the folder {str(found.parent)!r} cannot be written to.")


def need_arrays(X: Any) -> None:
    """An error for a stream where arrays are needed."""
    if isinstance(X, Stream):
        raise ConfigError("X is a stream; give it chunk by chunk, or arrays.")
