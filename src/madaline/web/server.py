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

from madaline.web.limits import Limits
from madaline.web.protocol import LimitedProtocol, limited_protocol

KEEP_ALIVE = 30
"Seconds for which a connection without requests is kept open."
LOOK_EVERY = 5
"Connections are looked at in every fifth tick of uvicorn, that is twice per second."


class Server(uvicorn.Server):
    """A server that ends at SIGTERM and Ctrl-C without an error, after the requests in progress."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def on_tick(self, counter: int) -> bool:
        if counter % LOOK_EVERY == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, LimitedProtocol):
                    connection.look(now)
        return await super().on_tick(counter)

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


def run(app: Any, busy: Any, listening: socket.socket, limits: Limits, *, started: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Parameters
    ----------
    app
        The ASGI application.
    busy
        The ASGI application for requests over more connections than allowed.
    listening : socket
        Bound to its address.
    limits : Limits
    started : callable
        Called when the server accepts connections.
    """
    config = uvicorn.Config(
        app,
        http=limited_protocol(limits, busy),
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=round(limits.seconds) + 1,
        backlog=2048,
    )
    gc.collect()
    gc.freeze()  # what is loaded now stays: looking at it again and again would delay requests
    Server(config, started).run(sockets=[listening])
