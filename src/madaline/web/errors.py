"""Errors that become answers: a status, a code and a sentence."""

from __future__ import annotations

from typing import Any

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


CODES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    405: "ENDPOINT_NOT_FOUND",
    500: "INTERNAL_ERROR",
    503: "TEMPORARILY_UNAVAILABLE",
}
"Error codes by status; those of MLflow."


def about_rows(error: MadalineError) -> RequestError:
    """The answer for rows that a model does not take."""
    if not isinstance(error, InputError):
        return RequestError(422, str(error))
    details: dict[str, Any] = {"column": error.column} if error.column else {}
    if error.row is not None:
        details["row"] = error.row
    return RequestError(422, error.problem, **details)
