"""Axes to draw on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VALUE, OTHER, MARK = "#1f5fbf", "#2e9e44", "#c0392b"


def axes(ax: Axes | None = None) -> Any:
    """The given axes, or those of a new figure."""
    from madaline.report.curves import pyplot  # an allowed import of a later package; see pyproject.toml

    return pyplot().subplots(layout="constrained")[1] if ax is None else ax
