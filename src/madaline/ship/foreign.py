"""Weights from elsewhere put into a net of ours: every array finds its place, or an error says which does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from madaline.errors import FileFormatError
from madaline.functional.model import Model
from madaline.nn.layer import Layer
from madaline.nn.network import build


def model_with(net: Layer, inputs: Any, arrays: Mapping[str, np.ndarray]) -> Model:
    """A model of this net with these parameters and state, by path.

    Parameters
    ----------
    net : Layer
        The description.
    inputs : int, tuple
        As for :meth:`~madaline.nn.layer.Layer.init`.
    arrays : dict
        Exactly those the net has. One of float64 makes it a float64 model.
    """
    number = common_dtype(arrays.values())
    network = build(net, inputs, dtype=number)
    wanted = {**network.params, **network.state}
    if missing := [path for path in wanted if path not in arrays]:
        raise FileFormatError(f"There are no weights for {', '.join(map(repr, missing))} of the net. {_held(arrays)}")
    if unused := [path for path in arrays if path not in wanted]:
        raise FileFormatError(f"The weights {', '.join(map(repr, unused))} have no place in the net, {net!r}.")
    for path, entry in wanted.items():  # before anything is made, as large as a description may say it is
        if arrays[path].shape != entry.shape:
            raise FileFormatError(f"The weights for {path!r} have shape {arrays[path].shape}; it needs {entry.shape}.")
    model = Model(network, np.zeros(network.n_params, number), np.zeros(network.n_state, number))
    for own in (model.params, model.state):
        for path in own:
            own[path] = arrays[path]
    return model


def common_dtype(arrays: Iterable[np.ndarray]) -> np.dtype[Any]:
    """float64 if one of them is, otherwise float32; an error for what is no float."""
    kinds = [array.dtype for array in arrays]
    if wrong := [kind for kind in kinds if kind.kind != "f"]:
        raise FileFormatError(f"Weights of type {wrong[0]} are no floats.")
    return np.dtype(np.float64 if any(kind.itemsize == 8 for kind in kinds) else np.float32)


def _held(arrays: Mapping[str, np.ndarray]) -> str:
    shown = ", ".join(f"{path!r} {array.shape}" for path, array in arrays.items())
    return f"There are: {shown or 'none'}."
