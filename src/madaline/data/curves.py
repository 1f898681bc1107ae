"""Functions to fit: numbers from one or two inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from madaline.registry import Registry

Samples = tuple[np.ndarray, np.ndarray]
"Inputs of shape (n, 1) or (n, 2), and the number of each row."

CURVES: Registry[Callable[[int, np.random.Generator], Samples]] = Registry("curve")
"Functions to fit by name; each takes the number of rows and a random generator."


@CURVES.register("wave")
def wave(n: int, rng: np.random.Generator) -> Samples:
    r"""A wave that fades, :math:`y = \sin(2x)\,e^{-x^2/4}` for :math:`x` in (-4, 4)."""
    x = rng.uniform(-4.0, 4.0, (n, 1))
    return x, np.sin(2.0 * x[:, 0]) * np.exp(-(x[:, 0] ** 2) / 4.0)


@CURVES.register("stairs")
def stairs(n: int, rng: np.random.Generator) -> Samples:
    r"""Stairs, :math:`y = \lfloor x\rfloor / 4` for :math:`x` in (-4, 4)."""
    x = rng.uniform(-4.0, 4.0, (n, 1))
    return x, np.floor(x[:, 0]) / 4.0


@CURVES.register("hills")
def hills(n: int, rng: np.random.Generator) -> Samples:
    r"""A hill at :math:`(1, 1)` and a hollow at :math:`(-1, -1)`, :math:`e^{-|x - c|^2}`, on a square."""
    x = rng.uniform(-2.5, 2.5, (n, 2))
    return x, np.exp(-np.sum((x - 1.0) ** 2, axis=1)) - np.exp(-np.sum((x + 1.0) ** 2, axis=1))


@CURVES.register("valley")
def valley(n: int, rng: np.random.Generator) -> Samples:
    r"""A plane, :math:`y = x_1/2 + 5x_2`, with standard deviations 1 and 0.1 of the inputs.

    The squared error of a linear net is a long valley: its curvatures differ by a factor of 100.
    """
    x = rng.normal(0.0, 1.0, (n, 2)) * np.array([1.0, 0.1])
    return x, x[:, 0] / 2.0 + 5.0 * x[:, 1]
