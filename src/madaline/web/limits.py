"""Limits on what clients may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a server.

    Parameters
    ----------
    body : int
        Largest body of a request, in bytes.
    all_bodies : int
        Largest total of the bodies that are in memory at a time, in bytes.
    head : int
        Largest head of a request (its path and headers), in bytes.
    rows : int
        Maximum number of rows per request.
    explained_rows : int
        Largest number of rows of a request for explanations, which take about a thousand times as long.
    seconds : float
        Time for receiving a request, time for answering it, and time without progress in sending the answer.
    connections : int
        Largest number of open connections; requests over further ones are answered with status 503.
    workers : int
        Largest number of threads for large requests; further requests wait.
    """

    body: int = 64 * 1024 * 1024
    all_bodies: int = 512 * 1024 * 1024
    head: int = 64 * 1024
    rows: int = 1_000_000
    explained_rows: int = 100
    seconds: float = 30.0
    connections: int = 512
    workers: int = 4
