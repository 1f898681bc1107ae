"""What clients are told about a model: JSON Schema of a row and OpenAPI of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from madaline import __version__
from madaline.ship.fields import Field
from madaline.ship.html_page import COVERAGE
from madaline.web.bodies import ARROW, CSV, JSON
from madaline.web.served_model import ServedModel

KINDS: dict[str, dict[str, Any]] = {
    "number": {"type": ["number", "null"]},
    "boolean": {"type": ["boolean", "null"]},
    "category": {"type": ["string", "null"]},
    "date": {"type": ["string", "null"], "format": "date"},
    "text": {"type": ["string", "null"]},
}


def row_schema(model: ServedModel) -> dict[str, Any]:
    """JSON Schema of one row. Ranges and categories of training are told, not required."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": model.name,
        "description": f"A row for the model {model.name!r}, which predicts {', '.join(model.saved.targets)}.",
        "type": "object",
        "properties": {field.name: _property(field) for field in model.fields},
        "required": [field.name for field in model.fields],
        "x-madaline": about(model),
    }


def about(model: ServedModel) -> dict[str, Any]:
    """What a form needs to know."""
    return {
        "name": model.name,
        "digest": model.digest,
        "task": model.saved.task,
        "targets": model.saved.targets,
        "classes": [str(name) for name in model.saved.classes],
        "values": list(model.saved.classes),
        "coverage": COVERAGE,
        "hasNames": model.saved.has_names,
        "hasProbabilities": model.has_probabilities,
        "hasIntervals": model.has_intervals,
        "fields": [field.to_plain() for field in model.fields],
    }


def _property(field: Field) -> dict[str, Any]:
    found = dict(KINDS[field.kind])
    if field.low is not None and field.high is not None:
        found["description"] = f"{field.low:g} to {field.high:g} in training."
        found["examples"] = [field.default]
    if field.categories:
        found["examples"] = list(field.categories)
    return found


def openapi(models: Sequence[ServedModel], *, needs_token: bool) -> dict[str, Any]:
    """OpenAPI of all routes."""
    paths: dict[str, Any] = {
        "/invocations": {"post": _invocations(models[0])},
        "/schema": {"get": _get("JSON Schema of a row of the default model")},
        "/ping": {"get": _get("Whether the server is ready")},
        "/health": {"get": _get("Whether the server is ready")},
        "/version": {"get": _get("Version of madaline")},
        "/models": {"get": _get("The models and when they were loaded")},
        "/metrics": {"get": _get("Counters in Prometheus's text format")},
    }
    for model in models:
        paths[f"/models/{model.name}/invocations"] = {"post": _invocations(model)}
        paths[f"/models/{model.name}/schema"] = {"get": _get(f"JSON Schema of a row of {model.name}")}
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "madaline", "version": __version__},
        "paths": paths,
        "components": {"schemas": {model.name: row_schema(model) for model in models}},
    }
    if needs_token:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


def _get(summary: str) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": "OK"}}}


def _invocations(model: ServedModel) -> dict[str, Any]:
    row = {"$ref": f"#/components/schemas/{model.name}"}
    rows = {"type": "array", "items": row}
    body = {"oneOf": [{"type": "object", "properties": {"dataframe_records": rows}}, rows, row]}
    tables = {media: {"schema": {"type": "string", "format": "binary"}} for media in (CSV, ARROW)}
    return {
        "summary": f"Predictions of {model.name}",
        "parameters": [
            _parameter("proba", "boolean", "Add the probability of each class."),
            _parameter("interval", "number", "Add prediction intervals with this coverage, for example 0.9."),
            _parameter("explain", "string", "Add what each column contributes: 1, or the class or target to explain."),
        ],
        "requestBody": {"required": True, "content": {JSON: {"schema": body}, **tables}},
        "responses": {
            "200": {"description": "Predictions, one for each row", "content": {JSON: {}, **tables}},
            "422": {"description": "The model cannot use a row; the message names the column"},
        },
    }


def _parameter(name: str, kind: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": text, "schema": {"type": kind}}
