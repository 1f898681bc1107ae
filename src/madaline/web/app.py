"""The routes of the server."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from madaline import __version__
from madaline.web.bodies import JSON
from madaline.web.drift import OUT_OF_RANGE, UNKNOWN_CATEGORY
from madaline.web.errors import RequestError
from madaline.web.guard import Guard, Receive, Scope, Send
from madaline.web.inbox import Inbox
from madaline.web.limits import Limits
from madaline.web.metrics import MEDIA_TYPE, Metrics
from madaline.web.page import form_page
from madaline.web.schema import about, openapi, row_schema
from madaline.web.served_model import Answer, ServedModel
from madaline.web.shelf import ModelShelf
from madaline.web.work import Work

FEW_BYTES = 16_384
"A smaller request is answered at once; a larger one by another thread."
log = logging.getLogger("madaline.web")

Handler = Callable[[Request], Awaitable[Response]]


class Service:
    """The handlers of requests.

    Parameters
    ----------
    files : mapping of str to Path
        Model files by name; the first is the default.
    host : str
        The address on which the server listens.
    token : str, optional
        The token that clients need.
    limits : Limits
    """

    def __init__(self, files: Mapping[str, Path], *, host: str, token: str | None, limits: Limits) -> None:
        self.metrics = Metrics()
        self.shelf = ModelShelf(files, self.metrics)
        self._limits, self._host, self._token = limits, host, token
        self._inbox = Inbox(limits)
        self._workers = ThreadPoolExecutor(limits.workers, thread_name_prefix="madaline")

    def app(self, *, watch_seconds: float = 1.0) -> Starlette:
        """The ASGI application."""

        @asynccontextmanager
        async def watching(_: Starlette) -> AsyncIterator[None]:
            task = asyncio.create_task(self.shelf.watch(watch_seconds))
            yield
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        guard = Middleware(
            Guard,
            host=self._host,
            token=self._token,
            refused=lambda status: self.metrics.count("madaline_refused_total", status=str(status)),
        )
        routes = [
            Route("/invocations", self._invocations, methods=["POST"]),
            Route("/models/{name}/invocations", self._invocations, methods=["POST"]),
            Route("/", _page),
            Route("/models/{name}", self._model_page),
            Route("/schema", self._schema),
            Route("/models/{name}/schema", self._schema),
            Route("/openapi.json", self._openapi),
            Route("/models", self._models),
            Route("/metrics", self._metrics),
            Route("/ping", _ready),
            Route("/health", _ready),
            Route("/version", _version),
        ]
        handlers: Any = {HTTPException: _http_error, Exception: _our_mistake}
        return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=watching)

    async def busy(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application for requests over more connections than allowed."""
        self.metrics.count("madaline_refused_total", status="503")
        text = f"The server has {self._limits.connections} open connections, which is its limit. Try again later."
        await RequestError(503, text).response()(scope, receive, send)

    async def _invocations(self, request: Request) -> Response:
        name = request.path_params.get("name")
        shown = name or next(iter(self.shelf)).name
        content = b""
        try:
            model = self.shelf.get(name)
            content = await self._inbox.receive(request)
            started = time.perf_counter()
            response, answer = await self._answered(self._work(model, request, content))
        except RequestError as error:
            known = shown if name is None or error.status != 404 else "unknown"
            self.metrics.count("madaline_requests_total", model=known, status=str(error.status))
            return error.response()
        finally:
            self._inbox.release(content)
        self._count(model, answer)
        self.metrics.observe(model.name, time.perf_counter() - started)
        return response

    async def _answered(self, work: Work) -> tuple[Response, Answer]:
        """The answer: at once, or by another thread if it takes longer, so that others do not wait for it."""
        if len(work.content) > FEW_BYTES:
            return await self._by_thread(work.answer)
        body, options = work.read()
        if options.explain:
            return await self._by_thread(lambda: work.finish(body, options))
        return work.finish(body, options)

    async def _by_thread(self, answer: Callable[[], tuple[Response, Answer]]) -> tuple[Response, Answer]:
        """The answer of another thread. If it does not come in time, the thread is left to end on its own."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.get_running_loop().run_in_executor(self._workers, answer)
        except TimeoutError:
            text = f"The answer took longer than {self._limits.seconds:g} seconds. Send fewer rows at a time."
            raise RequestError(503, text) from None

    def _work(self, model: ServedModel, request: Request, content: bytes) -> Work:
        headers = request.headers
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        query = dict(request.query_params) if request.scope["query_string"] else {}
        return Work(model, self._limits, content, media_type, headers.get("accept", ""), query)

    def _count(self, model: ServedModel, answer: Answer) -> None:
        self.metrics.count("madaline_requests_total", model=model.name, status="200")
        self.metrics.count("madaline_rows_total", answer.n_rows, model=model.name)
        for each in answer.unseen_values:
            if each.kind in _COUNTED:
                self.metrics.count(_COUNTED[each.kind], each.count, model=model.name, column=each.column)

    async def _model_page(self, request: Request) -> Response:
        try:
            self.shelf.get(request.path_params["name"])
        except RequestError as error:
            if self._token is None:  # else the page comes before the token, and must not tell which models there are
                return error.response()
        return await _page(request)

    async def _schema(self, request: Request) -> Response:
        try:
            return _json(row_schema(self.shelf.get(request.path_params.get("name"))))
        except RequestError as error:
            return error.response()

    async def _openapi(self, _: Request) -> Response:
        return _json(openapi(list(self.shelf), needs_token=self._token is not None))

    async def _models(self, _: Request) -> Response:
        return _json([{**about(model), "loaded": model.loaded} for model in self.shelf])

    async def _metrics(self, _: Request) -> Response:
        return Response(self.metrics.text(), media_type=MEDIA_TYPE)


_COUNTED = {
    UNKNOWN_CATEGORY: "madaline_unknown_categories_total",
    OUT_OF_RANGE: "madaline_out_of_range_total",
}
"Counters of the kinds of unseen values."


async def _ready(_: Request) -> Response:
    return Response("\n", media_type="text/plain")


async def _version(_: Request) -> Response:
    return Response(__version__, media_type="text/plain")


async def _page(_: Request) -> Response:
    text, policy = form_page()
    headers = {"content-security-policy": f"{policy}; frame-ancestors 'none'"}
    return Response(text, media_type="text/html", headers=headers)


def _json(document: Any) -> Response:
    return Response(json.dumps(document), media_type=JSON)


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = {404: "There is nothing at this path.", 405: "This method is not allowed here."}
    response = RequestError(error.status_code, text.get(error.status_code, error.detail)).response()
    response.headers.update(error.headers or {})
    return response


async def _our_mistake(_: Request, error: Exception) -> Response:
    """The answer to an internal error; Starlette passes the error on, and the server logs it."""
    return RequestError(500, "Internal error. The log of the server has the details.").response()
