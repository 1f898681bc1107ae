"""The routes of the playground. Pages ask for frames; nothing is sent to a page that does not keep up."""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import mimetypes
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from madaline.errors import MadalineError
from madaline.web.errors import RequestError
from madaline.web.guard import Guard
from madaline.web.play.about import about
from madaline.web.play.settings import Settings
from madaline.web.play.shelf import RunShelf
from madaline.web.play.tables import MissingTableError, StoredTable, TableStore

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
MOST_BYTES, MOST_TEXT = 32 * 1024 * 1024, 64 * 1024
WAIT_SECONDS, PAUSE_SECONDS = 1.0, 0.012
"How long a request for a frame waits for news, and how often it looks."
PAGE = "/page/"

Handler = Callable[[Request], Awaitable[Response]]


class Playground:
    """The handlers of requests.

    Parameters
    ----------
    token : str
        What pages need, from the address that is printed.
    table : StoredTable, optional
        The table of the command line.
    tables : TableStore
    start : str
        The settings that a page without a link begins with.
    """

    def __init__(self, *, token: str, tables: TableStore, table: StoredTable | None = None, start: str = "") -> None:
        self._token, self._tables, self._table, self._start = token, tables, table, start
        self.shelf = RunShelf(tables)

    def app(self) -> Starlette:
        """The ASGI application."""

        @asynccontextmanager
        async def closing(_: Starlette) -> AsyncIterator[None]:
            yield
            await run_in_threadpool(self.shelf.close)

        guard = Middleware(Guard, host="127.0.0.1", token=None, refused=lambda _: None)
        routes = [
            Route("/", _page),
            Route(PAGE + "{name}", _page),
            Route("/api/about", self._safe(self._about)),
            Route("/api/tables", self._safe(self._upload), methods=["POST"]),
            Route("/api/runs", self._safe(self._new_run), methods=["POST"]),
            Route("/api/runs/{run:int}", self._safe(self._command), methods=["POST"]),
            Route("/api/runs/{run:int}", self._safe(self._close), methods=["DELETE"]),
            Route("/api/runs/{run:int}/frame", self._safe(self._frame)),
            Route("/api/runs/{run:int}/findings", self._safe(self._findings)),
        ]
        return Starlette(routes=routes, middleware=[guard], lifespan=closing)

    def _safe(self, handler: Callable[[Request], Awaitable[Response]]) -> Handler:
        """The handler behind the check of the token; errors of users become sentences."""

        async def answer(request: Request) -> Response:
            try:
                self._check_token(request)
                return await handler(request)
            except RequestError as error:
                return error.response()
            except MissingTableError as error:
                return RequestError(422, str(error), table=error.name, digest=error.digest).response()
            except MadalineError as error:
                return RequestError(422, str(error)).response()

        return answer

    async def busy(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request over more connections than allowed."""
        text = "The playground has too many open connections. Close some of its pages."
        await RequestError(503, text).response()(scope, receive, send)

    def _check_token(self, request: Request) -> None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token.encode()):
            raise RequestError(401, "Open the address that madaline play has printed: this page has no valid token.")

    async def _about(self, _: Request) -> Response:
        found = await run_in_threadpool(about)
        table = None if self._table is None else self._table.to_plain()
        return _json(found | {"table": table, "start": self._start})

    async def _upload(self, request: Request) -> Response:
        name = request.query_params.get("name", "table")
        content = await _content(request, MOST_BYTES)
        table = await run_in_threadpool(self._tables.add, name, content)
        return _json(table.to_plain())

    async def _new_run(self, request: Request) -> Response:
        given = await _document(request)
        settings = Settings.of_link(_text(given, "link"))
        number, shown = await run_in_threadpool(self.shelf.add, settings)
        if settings.kind == "table":
            table = self._tables.get(settings.table, settings.digest).to_plain()
            return _json({**shown.to_plain(number), "table": table})
        return _json(shown.to_plain(number))

    async def _command(self, request: Request) -> Response:
        given = await _document(request)
        value = given.get("value", 0)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise RequestError(422, "The value of a command must be a number.")
        self.shelf.get(request.path_params["run"]).run.command(_text(given, "action"), value)
        return _json({})

    async def _close(self, request: Request) -> Response:
        await run_in_threadpool(self.shelf.remove, request.path_params["run"])
        return _json({})

    async def _frame(self, request: Request) -> Response:
        """A frame: at a step, or the newest one as soon as it is newer than the one that was seen."""
        query = request.query_params
        shown = self.shelf.get(request.path_params["run"])
        at, seen, rows = (_whole(query.get(name)) for name in ("at", "seen", "rows"))
        until = time.monotonic() + WAIT_SECONDS
        while at is None and shown.run.version == seen and time.monotonic() < until:
            await asyncio.sleep(PAUSE_SECONDS)
        if at is None and shown.run.version == seen:
            return Response(status_code=204)
        content = await run_in_threadpool(lambda: shown.frame(at=at, seen_rows=rows or 0))
        return Response(content, media_type="application/octet-stream")

    async def _findings(self, request: Request) -> Response:
        shown = self.shelf.get(request.path_params["run"])
        return _json(shown.examiner.ask())


@cache
def _files() -> dict[str, bytes]:
    """The files of the page by name."""
    folder = files("madaline.web.play").joinpath("page")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def _page(request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    content = _files().get(name)
    if content is None:
        return RequestError(404, "There is nothing at this path.").response()
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(content, media_type=kind, headers={"content-security-policy": POLICY})


async def _content(request: Request, most: int) -> bytes:
    """The body of a request, if it is small enough."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                text = f"The file has more than {most // 1024**2} MB. Take fewer rows of it, or run: madaline play FILE"
                raise RequestError(413, text)
            parts.append(part)
    except ClientDisconnect:
        raise RequestError(400, "The client has closed the connection.") from None
    return b"".join(parts)


async def _document(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await _content(request, MOST_TEXT))
    except (ValueError, RecursionError):
        raise RequestError(400, "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise RequestError(422, "The body must be a JSON object.")
    return found


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise RequestError(422, f"{name} must be text.")
    return value


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 16 else None


def _json(document: Any, status: int = 200) -> Response:
    return Response(json.dumps(document), status, media_type="application/json")
