"""HTTP with limits that uvicorn does not have: for slow heads, long heads, answers that nobody reads, connections."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from madaline.web.errors import RequestError
from madaline.web.limits import Limits


class LimitedProtocol(HttpToolsProtocol):
    """A connection. :meth:`look` is to be called regularly; see :func:`limited_protocol`."""

    limits: Limits
    busy: Any
    _usual_app: Any
    _head_since: float | None = None
    _head_size = 0
    _unsent = 0
    _unsent_since = 0.0

    def connection_made(self, transport: Any) -> None:
        """Start to wait for the head of a request."""
        super().connection_made(transport)
        self._usual_app = self.app
        self._head_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the client."""
        if self._head_since is None and (self.cycle is None or self.cycle.response_complete):
            self._head_since, self._head_size = self.loop.time(), 0
        super().data_received(data)
        if self._head_since is not None and not self.transport.is_closing():  # the head is not complete
            self._head_size += len(data)
            if self._head_size > self.limits.head:
                self._refuse(431, f"The head of the request has more than {self.limits.head:,} bytes.")

    def on_headers_complete(self) -> None:
        """Start the answer."""
        self._head_since = None
        self.app = self._usual_app if len(self.connections) <= self.limits.connections else self.busy
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP."""
        self._refuse(400, msg)

    def look(self, now: float) -> None:
        """Close the connection if the client has stopped to send a head, or to read an answer."""
        if self._head_since is not None and now - self._head_since > self.limits.seconds:
            self._head_since = None
            self.transport.close()
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        elif now - self._unsent_since > self.limits.seconds:
            self.transport.abort()

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps(RequestError(status, message).to_plain())
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
        text = f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}"
        self.transport.write(text.encode("ascii"))
        self.transport.close()


def limited_protocol(limits: Limits, busy: Any) -> type[LimitedProtocol]:
    """The protocol of a server.

    Parameters
    ----------
    limits : Limits
    busy
        The ASGI application that answers requests over more connections than allowed.
    """
    return type("Protocol", (LimitedProtocol,), {"limits": limits, "busy": staticmethod(busy)})
