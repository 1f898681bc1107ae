"""Inputs made from the coordinates of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from madaline.errors import ConfigError


@dataclass(frozen=True)
class InputFeature:
    """An input of the net.

    Attributes
    ----------
    name : str
        Its name in links.
    label : str
        Its name in pictures.
    n_coordinates : int
        Number of coordinates that it needs.
    python : str
        The formula as code, of the coordinates ``X``.
    values : callable
        The same formula, of coordinates of shape (n, 1) or (n, 2).
    """

    name: str
    label: str
    n_coordinates: int
    python: str
    values: Callable[[np.ndarray], np.ndarray]


FEATURES = {
    feature.name: feature
    for feature in (
        InputFeature("x1", "x₁", 1, "X[:, 0]", lambda X: X[:, 0]),
        InputFeature("x2", "x₂", 2, "X[:, 1]", lambda X: X[:, 1]),
        InputFeature("x1x1", "x₁²", 1, "X[:, 0] ** 2", lambda X: X[:, 0] ** 2),
        InputFeature("x2x2", "x₂²", 2, "X[:, 1] ** 2", lambda X: X[:, 1] ** 2),
        InputFeature("x1x2", "x₁x₂", 2, "X[:, 0] * X[:, 1]", lambda X: X[:, 0] * X[:, 1]),
        InputFeature("sin1", "sin 2x₁", 1, "np.sin(2 * X[:, 0])", lambda X: np.sin(2 * X[:, 0])),
        InputFeature("sin2", "sin 2x₂", 2, "np.sin(2 * X[:, 1])", lambda X: np.sin(2 * X[:, 1])),
    )
}
"All features by name."


def chosen(names: str, n_coordinates: int) -> list[InputFeature]:
    """The features of a setting, those that need more coordinates left out."""
    wanted = [name for name in names.split(",") if name]
    unknown = [name for name in wanted if name not in FEATURES]
    if unknown:
        raise ConfigError(f"There is no input {', '.join(unknown)}. Known: {', '.join(FEATURES)}.")
    found = [feature for name, feature in FEATURES.items() if name in wanted and feature.n_coordinates <= n_coordinates]
    if not found:
        raise ConfigError("The net needs at least one input.")
    return found


def matrix(features: Sequence[InputFeature], X: np.ndarray) -> np.ndarray:
    """The inputs of the net for coordinates."""
    return np.column_stack([feature.values(X) for feature in features])
