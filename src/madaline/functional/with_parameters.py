"""A net with parameters that may be traced, to differentiate by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.functional.arrays import Arrays
from madaline.functional.network_runs import NetworkRuns
from madaline.graph.node import Node
from madaline.graph.shapes import show


class ModelWithParameters:
    """A model with other parameters: what :meth:`madaline.Model.with_parameters` returns.

    Call it like the model, on arrays or on traced values.
    """

    def __init__(self, runs: NetworkRuns, parameters: Any, state: Arrays) -> None:
        self._runs = runs
        self._parameters = parameters
        self._state = state

    def __call__(self, X: Any, *, train: bool = False, seed: int = 0, step: int = 0) -> Any:
        """The net's output; see :meth:`madaline.Model.__call__`."""
        return self._runs.output(self._parameters, self._own_state(), X, train=train, seed=seed, step=step)

    def activations(self, X: Any, *, train: bool = False, seed: int = 0, step: int = 0) -> dict[str, Any]:
        """The output of every layer by its path; that of the whole net is at ``""``."""
        return self._runs.outputs(self._parameters, self._own_state(), X, train=train, seed=seed, step=step)

    def _own_state(self) -> Any:
        return self._state.flat.astype(self._runs.network.dtype, copy=False)


def complete(parameters: Any, known: Arrays) -> tuple[Any, np.dtype[Any]]:
    """A vector, or all arrays by path, and the type to compute in.

    Parameters
    ----------
    parameters : vector or mapping
        As the user gave them. Paths that are left out keep the values of the model.
    known : Arrays
        The parameters of the model.
    """
    if not isinstance(parameters, Mapping):
        vector = _checked(parameters, known.flat.shape, "parameters")
        dtype = _common_type([vector], known.flat.dtype)
        return vector.astype(dtype), dtype
    given = {path: _checked(value, known[path].shape, repr(path)) for path, value in parameters.items()}
    dtype = _common_type(list(given.values()), known.flat.dtype)
    whole = {path: (given[path] if path in given else known[path]).astype(dtype) for path in known}
    if any(isinstance(value, Node) for value in whole.values()):
        return whole, dtype
    vector = known.flat.astype(dtype)
    placed = known.over(vector)
    for path, value in whole.items():
        placed[path] = value
    return vector, dtype


def _checked(value: Any, shape: tuple[int, ...], name: str) -> Any:
    value = value if isinstance(value, Node) else np.asarray(value)
    if value.shape != shape:
        raise ShapeError(f"{name} must have shape {show(shape)}, and has shape {show(value.shape)}.")
    if value.dtype.kind not in "fiub":
        raise DtypeError(f"{name} must hold numbers, and has type {value.dtype}.")
    return value


def _common_type(values: list[Any], default: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the floats among the values; that of the model if there are none. float16 is computed as float32."""
    floats = [value.dtype for value in values if value.dtype.kind == "f"]
    if not floats:
        return default
    return np.dtype(np.float64) if np.result_type(*floats) == np.float64 else np.dtype(np.float32)
