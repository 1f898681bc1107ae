"""The work for one request: from its bytes to the answer."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from madaline.web.bodies import ARROW, CSV, JSON, Body, read_body
from madaline.web.errors import RequestError
from madaline.web.limits import Limits
from madaline.web.served_model import Answer, RequestOptions, ServedModel


@dataclass(frozen=True)
class Work:
    """A request for predictions, complete and not yet looked at."""

    model: ServedModel
    limits: Limits
    content: bytes
    media_type: str
    accepted: str
    query: Mapping[str, str]

    def read(self) -> tuple[Body, RequestOptions]:
        """The rows and the options."""
        body = read_body(self.content, self.media_type, self.model.saved.reading, self.model.columns, self.limits.rows)
        options = _request_options({**body.params, **self.query})
        self.model.check(options)
        if options.explain and body.n_rows > self.limits.explained_rows:
            raise RequestError(413, f"At most {self.limits.explained_rows} rows are explained at a time.")
        return body, options

    def answer(self) -> tuple[Response, Answer]:
        """The answer; may be called in another thread."""
        return self.finish(*self.read())

    def finish(self, body: Body, options: RequestOptions) -> tuple[Response, Answer]:
        """The answer for the rows and options that :meth:`read` has found."""
        answer = self.model.answer(body, options)
        return _written(self.model, answer, options, _media_type(self.accepted, self.media_type)), answer


def _request_options(params: Mapping[str, Any]) -> RequestOptions:
    if unknown := [name for name in params if name not in ("proba", "interval", "explain")]:
        raise RequestError(400, f"{unknown[0]!r} is not an option. Options: proba, interval, explain.")
    interval = params.get("interval")
    try:
        coverage = None if interval is None or interval is False else float(interval)
    except (TypeError, ValueError, OverflowError):
        raise RequestError(400, f"interval={str(interval)[:40]!r} must be a coverage such as 0.9.") from None
    given = params.get("explain")
    explain = given if isinstance(given, str) and given not in FLAGS else _flag(given, "explain")
    return RequestOptions(_flag(params.get("proba"), "proba"), coverage, explain)


FLAGS = {None: False, "": True, "1": True, "true": True, "0": False, "false": False}


def _flag(value: Any, name: str) -> bool:
    value = str(value).lower() if isinstance(value, (bool, int)) else value
    if isinstance(value, (list, dict, float)) or value not in FLAGS:
        raise RequestError(400, f"{name}={str(value)[:40]!r} must be true or false.")
    return FLAGS[value]


def _media_type(accepted: str, given: str) -> str:
    """The media type of the answer: the one asked for, Arrow for Arrow, and JSON otherwise."""
    for each in accepted.split(","):
        name = each.partition(";")[0].strip().lower()
        if name in (JSON, CSV, ARROW):
            return name
    return ARROW if given == ARROW else JSON


def _written(model: ServedModel, answer: Answer, options: RequestOptions, media_type: str) -> Response:
    headers = {"madaline-model": f"{model.name}@{model.digest}"}
    if media_type == JSON:
        return Response(json.dumps(model.to_plain(answer, options)), media_type=JSON, headers=headers)
    import polars as pl

    if answer.explanations is not None:
        raise RequestError(406, f"Explanations are available as {JSON} only.")
    headers["madaline-warnings"] = str(len(answer.unseen_values))
    frame = pl.DataFrame(
        {name: values.tolist() if values.dtype == object else values for name, values in answer.columns.items()}
    )
    if media_type == CSV:
        return Response(frame.write_csv(), media_type=CSV, headers=headers)
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer, compression="uncompressed")
    return Response(buffer.getvalue(), media_type=ARROW, headers=headers)
