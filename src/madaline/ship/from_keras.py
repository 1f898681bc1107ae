"""Nets that Keras has trained: layers from the JSON of a ``.keras`` file, weights from its HDF5 part."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import ConfigError, FileFormatError, MissingPackageError
from madaline.functional.model import Model
from madaline.nn.layers.norm import BatchNorm
from madaline.nn.layers.sequential import Sequential
from madaline.ship.foreign import model_with
from madaline.ship.keras_layers import KerasLayer, keras_layers

MAX_CONFIG = 2**26
"Bytes of a description at most."


def from_keras(path: str | os.PathLike[str], config: str | Mapping[str, Any] | None = None) -> Model:
    """A model with layers and weights of a ``Sequential`` that Keras 3 saved. No code of the file is run.

    Parameters
    ----------
    path : path
        Of ``model.save("net.keras")``, or of ``model.save_weights("net.weights.h5")``.
    config : str or dict, optional
        What ``model.to_json()`` gives; needed with a file of weights alone.

    Notes
    -----
    It needs the package h5py. Outputs are those of ``model.predict``, output activation included. Keras gives momentum
    as the weight of the old average, which is one minus ours.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    try:
        import h5py
    except ImportError:
        raise MissingPackageError('from_keras needs the package h5py: pip install "madaline[keras]".') from None
    try:
        found, weights = _parts_of(path)
        document = json.loads(config) if isinstance(config, str) else config or found
        if document is None:
            raise ConfigError("A file of weights does not say the layers. Pass config=model.to_json().")
        layers = keras_layers(document)
        with h5py.File(weights, "r") as file:
            arrays = _arrays_of(file, layers)
    except (zipfile.BadZipFile, OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        if isinstance(error, (ConfigError, FileFormatError)):
            raise
        raise FileFormatError(f"{str(path)!r} is damaged or no file of Keras 3: {error}") from error
    inputs = next((layer.inputs for layer in layers if layer.inputs is not None), None)
    if inputs is None:
        raise FileFormatError("The description does not say the shape of a row. Build the Keras model, then save it.")
    return _complete(layers, inputs, arrays)


def _complete(layers: list[KerasLayer], inputs: tuple[int, ...], arrays: list[list[np.ndarray]]) -> Model:
    ours: list[Any] = []
    named: dict[str, np.ndarray] = {}
    for layer, values in zip(layers, arrays, strict=True):
        for name, value in layer.named(values).items():
            named[f"{len(ours)}.{name}"] = value
        ours += layer.layers
    model = model_with(Sequential(*ours), inputs, named)
    for row in model.network.rows:
        if isinstance(row.layer, BatchNorm) and len(row.in_shape) > 2:
            raise FileFormatError(f"{row.title}: channels are last there and on axis 1 here. Flatten first.")
    return model


def _parts_of(path: Path) -> tuple[Any, Any]:
    """The description, if there is one, and the file of weights."""
    if not zipfile.is_zipfile(path):
        return None, path
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo("config.json").file_size > MAX_CONFIG:
            raise FileFormatError(f"The description of {str(path)!r} is larger than {MAX_CONFIG} bytes.")
        return json.loads(archive.read("config.json")), io.BytesIO(archive.read("model.weights.h5"))


def _arrays_of(file: Any, layers: list[KerasLayer]) -> list[list[np.ndarray]]:
    """The arrays of each layer, in Keras's order."""
    groups = {str(group["vars"].attrs.get("name", key)): group["vars"] for key, group in file["layers"].items()}
    found = []
    for layer in layers:
        variables = groups.get(layer.name, {})
        found.append([np.asarray(variables[str(number)]) for number in range(len(variables))])
        if len(variables) != layer.n_arrays:
            raise FileFormatError(f"The layer {layer.name!r} has {len(variables)} arrays; it needs {layer.n_arrays}.")
    return found
