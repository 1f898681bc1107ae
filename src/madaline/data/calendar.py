"""Dates as numbers: parts that only increase, and parts that repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _days(t: Array) -> Array:
    return (t - np.datetime64(0, "us")) / np.timedelta64(1, "D")


def _year(t: Array) -> Array:
    return t.astype("datetime64[Y]").astype(np.int64) + 1970.0


def _month(t: Array) -> Array:
    return t.astype("datetime64[M]").astype(np.int64) % 12 / 12.0


def _day_of_month(t: Array) -> Array:
    since: Array = t.astype("datetime64[D]") - t.astype("datetime64[M]")
    return since.astype(np.int64) / 31.0


def _day_of_week(t: Array) -> Array:
    return (
        (t.astype("datetime64[D]").astype(np.int64) + 3) % 7 / 7.0
    )  # 1970-01-01 was a Thursday; weeks begin on Monday


def _hour(t: Array) -> Array:
    since: Array = t - t.astype("datetime64[D]")
    return since / np.timedelta64(1, "D")


LINEAR: dict[str, Callable[[Array], Array]] = {"year": _year, "days": _days}
"Parts that only increase. Days are counted from 1970, with the time of day as a fraction."

CYCLES: dict[str, Callable[[Array], Array]] = {
    "month": _month,
    "day": _day_of_month,
    "weekday": _day_of_week,
    "hour": _hour,
}
"Parts that repeat, as the share of the cycle that has passed, in [0, 1)."

PARTS = (*LINEAR, *CYCLES)


def part(t: Array, name: str) -> Array:
    r"""A part of dates as a matrix: one column for year and days, sine and cosine for parts that repeat.

    These are :math:`\sin 2\pi c, \cos 2\pi c` of the share c of the cycle, so that December is next to January.

    Examples
    --------
    >>> t = np.array(["2024-01-01T06:00"], dtype="datetime64[us]")
    >>> part(t, "hour").round(3), part(t, "year")
    (array([[1., 0.]]), array([[2024.]]))
    """
    if name in LINEAR:
        return LINEAR[name](t)[:, None]
    angle = 2.0 * np.pi * CYCLES[name](t)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def part_names(name: str) -> tuple[str, ...]:
    """Names of the columns of a part."""
    return (name,) if name in LINEAR else (f"{name} sin", f"{name} cos")
