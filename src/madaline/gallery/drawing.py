"""Drawings that are not made by matplotlib: graphs as SVG."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Drawing:
    """An SVG document, shown by notebooks and by the documentation where it is the last line of a block."""

    svg: str

    def _repr_html_(self) -> str:
        return self.svg
