"""Numbers of a drawing as text: four digits, small arrays in full, others by their range."""

from __future__ import annotations

from typing import Any

import numpy as np

MAX_ELEMENTS = 12
"Larger arrays are written as their range."
MAX_ROWS, MAX_COLUMNS = 4, 6
SPACE = "\N{NO-BREAK SPACE}"
"Of which a drawing keeps more than one."


def number(value: float) -> str:
    """A number with four digits; 0 for -0."""
    return f"{value + 0.0:.4g}"


def number_lines(array: np.ndarray) -> list[str]:
    """A number or vector in one line, a small matrix with a line for each row, anything larger as its range."""
    if array.ndim == 0:
        return [_entry(array[()])]
    if not array.size:
        return ["empty"]
    if not _is_short(array):
        low, high = np.min(array), np.max(array)
        return [_entry(low) if low == high else f"{_entry(low)} to {_entry(high)}"]
    if array.ndim == 1:
        return [number_text(array)]
    columns = [[_entry(item) for item in column] for column in array.T]
    widths = [max(map(len, column)) for column in columns]
    padded = [[item.rjust(width, SPACE) for item in column] for column, width in zip(columns, widths, strict=True)]
    return [f"[{' '.join(row)}]" for row in zip(*padded, strict=True)]


def number_text(array: np.ndarray) -> str:
    """A small array in one line; nothing for larger ones."""
    if array.ndim == 0:
        return _entry(array[()])
    if not _is_short(array):
        return ""
    return f"[{' '.join(number_text(item) for item in array)}]"


def is_complete(array: np.ndarray) -> bool:
    """Whether all elements are written."""
    return array.ndim == 0 or _is_short(array)


def _is_short(array: np.ndarray) -> bool:
    if not 0 < array.size <= MAX_ELEMENTS or array.shape[-1] > MAX_COLUMNS:
        return False
    return array.ndim == 1 or (array.ndim == 2 and len(array) <= MAX_ROWS)


def _entry(value: Any) -> str:
    return number(float(value)) if isinstance(value, np.floating) else str(value)
