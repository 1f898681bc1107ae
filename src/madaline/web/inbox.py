"""Receives the bodies of requests: each within its limits of size and time, and all within a limit of memory."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from madaline.web.errors import RequestError
from madaline.web.limits import Limits


class Inbox:
    """The bodies that are held in memory at the moment.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0

    async def receive(self, request: Request) -> bytes:
        """The body of a request, if it is small enough and arrives in time. Give it back by :meth:`release`."""
        headers = request.headers
        if headers.get("content-encoding", "identity") != "identity":
            raise RequestError(415, "Compressed bodies are not supported. Send the body without Content-Encoding.")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._limits.body:
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for part in request.stream():
                    size += len(part)
                    self._held += len(part)
                    self._check(size)
                    parts.append(part)
        except BaseException as error:
            self._held -= size
            if isinstance(error, TimeoutError):
                raise RequestError(408, "The request did not arrive in time.") from None
            if isinstance(error, ClientDisconnect):
                raise RequestError(400, "The client has closed the connection.") from None
            raise
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def release(self, content: bytes) -> None:
        """Forget a body, so that there is room for others."""
        self._held -= len(content)

    def _check(self, size: int) -> None:
        if size > self._limits.body:
            raise self._too_large()
        if self._held > self._limits.all_bodies:
            raise RequestError(503, "The server has too many large requests at the moment. Try again later.")

    def _too_large(self) -> RequestError:
        return RequestError(413, f"The body has more than {self._limits.body:,} bytes. Send fewer rows at a time.")
