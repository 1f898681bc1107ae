"""Weights of other frameworks in our nets: every array must have its place, or an error names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from madaline.errors import FileFormatError
from madaline.functional.model import Model
from madaline.nn.layer import Layer
from madaline.nn.network import build


def model_with(net: Layer, inputs: Any, arrays: Mapping[str, np.ndarray]) -> Model:
    """Create a model of this net with these parameters and state.

    Parameters
    ----------
    net : Layer
        The net.
    inputs : int, tuple
        As for :meth:`~madaline.nn.layer.Layer.init`.
    arrays : dict
        All arrays of the net, by path. The model is float64 if one of them is.
    """
    number = common_dtype(arrays.values())
    network = build(net, inputs, dtype=number)
    wanted = {**network.params, **network.state}
    if missing := [path for path in wanted if path not in arrays]:
        raise FileFormatError(f"There are no weights for {', '.join(map(repr, missing))}. {_available(arrays)}")
    if unused := [path for path in arrays if path not in wanted]:
        raise FileFormatError(f"The weights {', '.join(map(repr, unused))} have no place in the net, {net!r}.")
    for path, entry in wanted.items():  # before anything is allocated: a description may ask for any size
        if arrays[path].shape != entry.shape:
            raise FileFormatError(f"The weights for {path!r} have shape {arrays[path].shape}; it needs {entry.shape}.")
    return Model.from_arrays(network, arrays)


def common_dtype(arrays: Iterable[np.ndarray]) -> np.dtype[Any]:
    """float64 if one of the arrays has it, otherwise float32; an error if one is not of floats."""
    kinds = [array.dtype for array in arrays]
    if wrong := [kind for kind in kinds if kind.kind != "f"]:
        raise FileFormatError(f"Weights must be floats; these are {wrong[0]}.")
    return np.dtype(np.float64 if any(kind.itemsize == 8 for kind in kinds) else np.float32)


def _available(arrays: Mapping[str, np.ndarray]) -> str:
    shown = ", ".join(f"{path!r} {array.shape}" for path, array in arrays.items())
    return f"Available: {shown or 'none'}."
