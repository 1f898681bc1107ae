"""Shares of rows, drawn with the interval in which each is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.report.html.chart import COLOURS, numbers, whole

Z = 1.96
"Standard deviations of a 95% interval."


def share_points(x: Any, share: np.ndarray, n: np.ndarray, *, hover: str) -> dict[str, Any]:
    """Points of a chart for shares of ``n`` rows each, with their 95% intervals."""
    low, high = wilson(share, n)
    return {
        "x": numbers(x),
        "y": numbers(share),
        "mode": "markers",
        "marker": {"color": COLOURS[0], "size": 8},
        "error_y": {
            "symmetric": False,
            "array": numbers(high - share),
            "arrayminus": numbers(share - low),
            "thickness": 1,
            "color": COLOURS[0],
        },
        "text": whole(n),
        "hovertemplate": f"{hover}<extra></extra>",
    }


def wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95% confidence interval of a share that was observed in ``n`` rows. Wilson 1927."""
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return centre - half, centre + half
