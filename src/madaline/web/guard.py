"""Access control: requests of pages of other origins and of clients without the token are refused.

A server on the loopback interface needs no token, but browsers reach it, too. A page of another origin sends its own
``Origin``, and a name that was pointed to 127.0.0.1 (DNS rebinding) is in ``Host``. Both are checked.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from madaline.web.errors import RequestError

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS = ("/", "/ping", "/health", "/version")
"Paths that need no token, in addition to form pages: they reveal nothing about the models."

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"Headers of every answer."


def is_loopback(host: str) -> bool:
    """Whether only programs of this computer reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Checks the headers of each request.

    Parameters
    ----------
    app
        The ASGI application behind it.
    host : str
        The address on which the server listens.
    token : str, optional
        The token that clients send as ``Authorization: Bearer TOKEN``.
    refused : callable
        Called with the status of each refused request.
    """

    def __init__(
        self,
        app: App,
        *,
        host: str,
        token: str | None,
        refused: Callable[[int], None],
    ) -> None:
        self._app, self._refused = app, refused
        self._checks_host = is_loopback(host)
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            self._check(scope)
        except RequestError as error:
            self._refused(error.status)
            await error.response()(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value)
        hosts = given.get(b"host", [])
        if len(hosts) != 1:
            raise RequestError(400, "The request needs one Host header.")
        host = hosts[0].decode("latin-1").lower()
        if self._checks_host and not is_loopback(_without_port(host)):
            raise RequestError(
                403, "The Host header is not an address of this computer. Use http://localhost or http://127.0.0.1."
            )
        for origin in given.get(b"origin", []):
            if origin.decode("latin-1").lower() not in (f"http://{host}", f"https://{host}"):
                raise RequestError(403, "Pages of other origins may not use this server.")
        site, mode = (given.get(name, [b""])[0] for name in (b"sec-fetch-site", b"sec-fetch-mode"))
        if site in (b"cross-site", b"same-site") and mode != b"navigate":
            raise RequestError(403, "Pages of other origins may not use this server.")
        if self._token is not None and not _is_open(scope["path"]):
            scheme, _, token = given.get(b"authorization", [b""])[0].partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
                raise RequestError(401, "The server needs its token: send the header Authorization: Bearer TOKEN.")


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or (path.startswith("/models/") and path.count("/") == 2)


def _without_port(host: str) -> str:
    """The name or address of a Host header."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
