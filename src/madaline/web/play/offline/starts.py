"""How the parameters of a net begin, as numbers that the page can draw again for any random seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.nn.initializers import Hinges, Initializer, stream

CONSTANT, UNIFORM, NORMAL, HINGES = range(4)
"Kinds of beginnings: a number; uniform from one number to another; normal; uniform times the norms of the weights."
Start = tuple[str, int, int, int, float, float]
"Path, first place in the vector, number of numbers, kind, and two numbers."


def starts(model: Model, *, of_state: bool = False) -> list[Start]:
    """The beginning of every array; an error if the page cannot draw one of them."""
    found = []
    for path, entry in (model.network.state if of_state else model.network.params).items():
        kind, a, b = _drawn(entry.init, entry.shape)
        found.append((path, entry.offset, entry.size, kind, a, b))
    return found


def drawn(begin: list[Start], seed: int, size: int) -> np.ndarray:
    """The vector that the page draws for a random seed, to compare with that of the model."""
    flat = np.zeros(size)
    for path, first, count, kind, a, b in begin:
        rng = stream(seed, path, "init")
        if kind == CONSTANT:
            flat[first : first + count] = a
        elif kind == NORMAL:
            flat[first : first + count] = a * rng.standard_normal(count)
        else:
            flat[first : first + count] = rng.uniform(a, b, count)
    for path, first, count, kind, _, _ in begin:
        if kind == HINGES:
            W = next(each for each in begin if each[0] == path.rpartition(".")[0] + ".W")
            weights = flat[W[1] : W[1] + W[2]].reshape(-1, count)
            flat[first : first + count] *= np.linalg.norm(weights, axis=0)
    return flat


class _Probe:
    """Stands for a random generator, and tells what was asked of it."""

    def __init__(self) -> None:
        self.limits: tuple[float, float] | None = None
        self.is_normal = False

    def uniform(self, low: float, high: float, shape: Any) -> np.ndarray:
        self.limits = (float(low), float(high))
        return np.full(shape, float(high))

    def standard_normal(self, shape: Any) -> np.ndarray:
        self.is_normal = True
        return np.ones(shape)


def _drawn(init: Initializer, shape: tuple[int, ...]) -> tuple[int, float, float]:
    probe: Any = _Probe()
    try:
        values = np.asarray(init.draw(shape, probe), dtype=np.float64)
    except AttributeError:
        raise ConfigError(f"{init!r} needs random numbers that the page without a server does not have.") from None
    if np.ptp(values) > 0:
        raise ConfigError(f"{init!r} is not a plain random matrix.")
    value = float(values.flat[0]) if values.size else 0.0
    if probe.is_normal:
        return NORMAL, value, 0.0
    if probe.limits is not None:
        return (HINGES if isinstance(init, Hinges) else UNIFORM), *probe.limits
    return CONSTANT, value, 0.0
