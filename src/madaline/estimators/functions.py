"""Custom functions among the parameters of an estimator, pickled as their graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from madaline.description import Description
from madaline.graph.as_formula import is_found_by_name
from madaline.losses.custom import as_loss
from madaline.nn.activation_function import as_activation

MAKERS: dict[str, Callable[[Any], Description]] = {"activation": as_activation, "loss": as_loss}
"Parameters that may be functions, with what makes a description of one; descriptions are pickled as graphs."


def with_graphs(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with descriptions in place of functions that pickle cannot find by their names."""
    return {name: _described(name, value) if name in MAKERS else value for name, value in parameters.items()}


def _described(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_described(name, each) for each in value)
    is_function = callable(value) and not isinstance(value, (Description, type))
    return MAKERS[name](value) if is_function and not is_found_by_name(value) else value
