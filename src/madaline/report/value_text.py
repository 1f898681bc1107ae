"""Numbers and dates as texts for readers."""

from __future__ import annotations

import math

import numpy as np


def shown(value: float, size: float = 0.0) -> str:
    """Format a number with the digits that matter; beside a larger one of this ``size``, with as many as that one.

    Examples
    --------
    >>> shown(0.98765), shown(1234.56), shown(0.000123), shown(0.000123, size=0.4)
    ('0.988', '1,235', '0.000123', '0.000')
    >>> shown(2.5e12)
    '2.5e+12'
    """
    size = max(abs(value), size)
    if size >= 1e9 or 0.0 < size < 1e-6:
        return f"{value:.3g}"
    if size >= 1000:
        return f"{value:,.0f}"
    digits = 1 if size >= 10 else 3 if size >= 0.1 or size == 0 else 2 - math.floor(math.log10(size))
    return f"{value:z.{digits}f}"


def date_text(value: np.datetime64) -> str:
    """A date, with the time of day if it has one."""
    if np.isnat(value):
        return ""
    day = value.astype("datetime64[D]")
    return str(day) if day == value else str(value.astype("datetime64[s]")).replace("T", " ")
