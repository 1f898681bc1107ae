"""Points in the plane in several shapes, to see which boundaries a net can learn."""

from __future__ import annotations

import numpy as np

Points = tuple[np.ndarray, np.ndarray]
"Coordinates of shape (n, 2), and the class of each point."


def moons(n: int, rng: np.random.Generator) -> Points:
    r"""Two interleaving half circles, :math:`(\cos t, \sin t)` and :math:`(1-\cos t, 1/2-\sin t)`."""
    y = np.arange(n) % 2
    t = rng.uniform(0.0, np.pi, n)
    side = 1 - 2 * y
    x = np.column_stack([y + side * np.cos(t), y / 2 + side * np.sin(t)])
    return x + rng.normal(0.0, 0.15, x.shape), y


def circles(n: int, rng: np.random.Generator) -> Points:
    r"""A circle inside another, radii :math:`1` and :math:`1/2`."""
    y = np.arange(n) % 2
    t = rng.uniform(0.0, 2 * np.pi, n)
    x = (1.0 - y / 2)[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    return x + rng.normal(0.0, 0.1, x.shape), y


def spirals(n: int, rng: np.random.Generator) -> Points:
    r"""Three arms of a spiral, :math:`r = t`, :math:`\varphi = 4t + 2\pi k/3` for :math:`t` in (0, 1)."""
    y = np.arange(n) % 3
    t = rng.uniform(0.0, 1.0, n)
    angle = 4.0 * t + 2.0 * np.pi * y / 3.0 + rng.normal(0.0, 0.2, n)
    return t[:, None] * np.column_stack([np.sin(angle), np.cos(angle)]), y


def disc(n: int, rng: np.random.Generator) -> Points:
    r"""Points of the unit square; class 1 is the disc of radius :math:`1/\sqrt{2\pi}` in its middle, half the area."""
    x = rng.uniform(0.0, 1.0, (n, 2))
    inside = np.sum((x - 0.5) ** 2, axis=1) <= 1.0 / (2.0 * np.pi)
    return x, inside.astype(np.int64)


def xor(n: int, rng: np.random.Generator) -> Points:
    r"""Four clusters at :math:`(\pm 1, \pm 1)`; the class tells whether the signs differ."""
    signs = rng.choice([-1.0, 1.0], (n, 2))
    return signs + rng.normal(0.0, 0.3, (n, 2)), (signs[:, 0] != signs[:, 1]).astype(np.int64)
