"""Limits on what clients may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Parameters
    ----------
    body : int
        Largest body of a request, in bytes.
    rows : int
        Maximum number of rows per request.
    explained_rows : int
        Largest number of rows of a request for explanations, which take about a thousand times as long.
    seconds : float
        Time for receiving a request, and time for answering it.
    connections : int
        Largest number of open connections; further ones are answered with status 503.
    """

    body: int = 64 * 1024 * 1024
    rows: int = 1_000_000
    explained_rows: int = 100
    seconds: float = 30.0
    connections: int = 512
