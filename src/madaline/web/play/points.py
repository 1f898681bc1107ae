"""Points drawn by hand, as the short text that links hold.

A point is five characters: two digits in base 36 for each coordinate, from -6 to 6, and its class.
"""

from __future__ import annotations

import re

import numpy as np

from madaline.errors import ConfigError

RANGE = 6.0
STEPS = 36 * 36 - 1
MOST_POINTS, LEAST_POINTS = 400, 10
POINTS = re.compile(r"([0-9a-z]{4}[0-3])*")


def read_points(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and classes of points.

    Examples
    --------
    >>> X, y = read_points("00zz1" * 10)
    >>> X[0], int(y[0])
    (array([-6.,  6.]), 1)
    """
    if not POINTS.fullmatch(text):
        raise ConfigError("The drawn points of the link are damaged.")
    count = len(text) // 5
    if not LEAST_POINTS <= count <= MOST_POINTS:
        raise ConfigError(f"There are {count} points. Draw {LEAST_POINTS} to {MOST_POINTS}, of at least two classes.")
    parts = [text[5 * place : 5 * place + 5] for place in range(count)]
    X = np.array([[int(part[:2], 36), int(part[2:4], 36)] for part in parts], dtype=np.float64)
    return X / STEPS * 2 * RANGE - RANGE, np.array([int(part[4]) for part in parts])
