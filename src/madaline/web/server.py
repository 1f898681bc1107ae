"""Run the application, with time limits for slow clients and a shutdown that finishes the requests in progress."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from madaline.web.limits import Limits

KEEP_ALIVE = 30
"Seconds for which a connection without requests is kept open."


def patient_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """A protocol that closes connections whose headers do not arrive in time, which uvicorn's own does not."""

    class Protocol(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._give_up)

        def data_received(self, data: bytes) -> None:
            if self._timer is None and (self.cycle is None or self.cycle.response_complete):
                self._timer = self.loop.call_later(seconds, self._give_up)
            super().data_received(data)

        def on_headers_complete(self) -> None:
            self._stop_timer()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            self._timer = None
            if not self.transport.is_closing():
                self.transport.close()

    return Protocol


class Server(uvicorn.Server):
    """A server that ends at SIGTERM and Ctrl-C without an error, after the requests in progress."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        ends = (signal.SIGINT, signal.SIGTERM)
        for number in ends:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in ends:
                loop.remove_signal_handler(number)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on an address.

    Its protocol is named, since asyncio sends small answers without delay only over sockets that are known to be TCP.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except BaseException:
        found.close()
        raise
    return found


def run(app: Any, listening: socket.socket, limits: Limits, *, started: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Parameters
    ----------
    app
        The ASGI application.
    listening : socket
        Bound to its address.
    limits : Limits
    started : callable
        Called when the server accepts connections.
    """
    config = uvicorn.Config(
        app,
        http=patient_protocol(limits.seconds),
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=round(limits.seconds) + 1,
        backlog=2048,
    )
    gc.collect()
    gc.freeze()  # what is loaded now stays: looking at it again and again would delay requests
    Server(config, started).run(sockets=[listening])
