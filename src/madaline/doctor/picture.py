"""Small pictures of evidence: a line in a page, a row of blocks in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

BLOCKS = "▁▂▃▄▅▆▇█"
POINTS, FEWEST = 40, 2
WIDTH, HEIGHT = 260, 64


def shown(value: float) -> str:
    """A number with three digits; whole numbers and large ones are not rounded to powers of ten.

    Examples
    --------
    >>> shown(1987.4), shown(0.03456), shown(800), shown(3.4e10)
    ('1987', '0.0346', '800', '3.4e+10')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


@dataclass(frozen=True)
class Picture:
    """Numbers in order, such as a loss over epochs.

    Attributes
    ----------
    title : str
    values : sequence of float
    log : bool
        Whether the axis of the values is logarithmic.
    """

    title: str
    values: Sequence[float]
    log: bool = False

    @property
    def caption(self) -> str:
        """What is drawn, with its first and last value."""
        ends = f": {shown(self.values[0])} to {shown(self.values[-1])}" if len(self.values) else ""
        return f"{self.title}{', logarithmic' if self.log else ''}{ends}"

    def text(self) -> str:
        """The picture as one line of text."""
        y = self._scaled()
        if len(y) < FEWEST:
            return ""
        marks = "".join("?" if np.isnan(v) else BLOCKS[min(int(v * len(BLOCKS)), len(BLOCKS) - 1)] for v in y)
        return f"{self.title}: {marks} ({shown(self.values[0])} to {shown(self.values[-1])})"

    def svg(self) -> str:
        """The picture for a page."""
        y = self._scaled()
        x = np.linspace(4, WIDTH - 4, max(len(y), 2))
        points = " ".join(
            f"{a:.1f},{HEIGHT - 6 - b * (HEIGHT - 12):.1f}" for a, b in zip(x, y, strict=False) if not np.isnan(b)
        )
        label = escape(self.text())
        return (
            f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>'
            f'<polyline points="{points}" fill="none" stroke="#c0392b" stroke-width="2"/></svg>'
        )

    def to_dict(self) -> dict[str, Any]:
        """The picture as plain data."""
        return {"title": self.title, "values": [float(value) for value in self.values], "log": self.log}

    def _scaled(self) -> np.ndarray:
        """At most 40 values between 0 and 1; NaN where a value is not finite."""
        y = np.asarray(self.values, dtype=float)
        if len(y) > POINTS:
            y = y[np.linspace(0, len(y) - 1, POINTS).astype(int)]
        with np.errstate(invalid="ignore", divide="ignore"):
            y = np.log(np.where(y > 0, y, np.nan)) if self.log else y
        y = np.where(np.isfinite(y), y, np.nan)
        if not len(y) or np.isnan(y).all():
            return y
        low, high = float(np.nanmin(y)), float(np.nanmax(y))
        return np.asarray((y - low) / (high - low or 1.0))
