"""Errors that become answers: a status, a code and a sentence."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from madaline.errors import InputError, MadalineError


class RequestError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        HTTP status, 4xx or 5xx.
    message : str
        A sentence for the client. It names the field, if it is about one.
    **details
        Further keys of the answer, such as ``column`` and ``row``.
    """

    def __init__(self, status: int, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.details = details

    def to_plain(self) -> dict[str, Any]:
        """The answer, with the keys of MLflow's scoring server."""
        return {"error_code": CODES.get(self.status, "BAD_REQUEST"), "message": str(self), **self.details}

    def response(self) -> Response:
        """The answer as a whole."""
        headers = dict(HEADERS.get(self.status, {}))
        # ASCII: lone surrogates, which JSON can carry in its escapes, cannot be encoded otherwise.
        return Response(json.dumps(self.to_plain()), self.status, headers, media_type="application/json")


CODES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    405: "ENDPOINT_NOT_FOUND",
    500: "INTERNAL_ERROR",
    503: "TEMPORARILY_UNAVAILABLE",
}
"Error codes by status; those of MLflow."
HEADERS = {
    401: {"www-authenticate": "Bearer"},
    408: {"connection": "close"},  # the rest of the body is not read
    413: {"connection": "close"},
    503: {"retry-after": "1", "connection": "close"},
}
"Headers of the answers by status."


def about_rows(error: MadalineError) -> RequestError:
    """The answer for rows that a model does not take."""
    if not isinstance(error, InputError):
        return RequestError(422, str(error))
    details: dict[str, Any] = {"column": error.column} if error.column else {}
    if error.row is not None:
        details["row"] = error.row
    return RequestError(422, error.problem, **details)
