"""Models trained with Keras: layers from the JSON of a ``.keras`` file, weights from its HDF5 part."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from madaline import container
from madaline.errors import ConfigError, FileFormatError, MissingPackageError
from madaline.functional.model import Model
from madaline.nn.layers.norm import BatchNorm
from madaline.nn.layers.sequential import Sequential
from madaline.nn.network import Network, build
from madaline.ship.foreign import model_with
from madaline.ship.keras_layers import keras_layers
from madaline.ship.keras_weights import MAX_RATIO, keras_weights

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
"The names of the two parts of a ``.keras`` file."
HDF5 = b"\x89HDF\r\n\x1a\n"
"The first bytes of a file of weights."
MAX_CONFIG = 2**26
"Maximum size of a description, in bytes."
ALWAYS_ALLOWED = 2**24
"A file of weights may always unpack to this number of bytes."
MAX_PER_PARAMETER = 64
"Maximum number of bytes per parameter of the net: the file may also contain the state of an optimizer."
CHUNK = 2**20
"Number of bytes that are unpacked at a time."


def from_keras(path: str | os.PathLike[str], config: str | Mapping[str, Any] | None = None) -> Model:
    """Create a model with the layers and weights of a ``Sequential`` that Keras 3 saved.

    Reading the file runs no code from it.

    Parameters
    ----------
    path : path
        Path of a file written by ``model.save("net.keras")`` or by ``model.save_weights("net.weights.h5")``.
    config : str or dict, optional
        The result of ``model.to_json()``. Required for a file that contains only weights.

    Raises
    ------
    FileFormatError
        If the file is damaged, or if the model is not a ``Sequential`` of supported layers.

    Notes
    -----
    Requires the package h5py. The outputs are those of ``model.predict``, including the output activation. The momentum
    of a norm is the weight of the old average in Keras, which is one minus ours.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if importlib.util.find_spec("h5py") is None:
        raise MissingPackageError('from_keras requires the package h5py: pip install "madaline[keras]".')
    document = _config(path, config)
    with _reading(path):
        layers = keras_layers(document)
        inputs = next((layer.inputs for layer in layers if layer.inputs is not None), None)
        if inputs is None:
            raise FileFormatError("The description lacks the shape of a row. Build the Keras model, then save it.")
        net = Sequential(*(ours for layer in layers for ours in layer.layers))
        network = build(net, inputs)
        wanted = {name: entry.shape for name, entry in (*network.params.items(), *network.state.items())}
        _check(network)
        arrays = keras_weights(_weights(path, network), layers, wanted)
        return model_with(net, inputs, arrays)


def _reading(path: Path) -> AbstractContextManager[None]:
    return container.reading(path, "a Keras 3 file")


def _config(path: Path, given: str | Mapping[str, Any] | None) -> Any:
    """The description of the model: the one that was passed, or that of the file."""
    if given is not None:
        try:
            return json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"config is not JSON: {error}. Pass config=model.to_json().") from error
    with _reading(path):
        if zipfile.is_zipfile(path):
            return json.loads(_unpacked(path, CONFIG, MAX_CONFIG))
        with path.open("rb") as file:
            if file.read(len(HDF5)) != HDF5:
                raise FileFormatError(f"{str(path)!r} is neither a .keras file nor an HDF5 file.")
    raise ConfigError("A file of weights does not describe the layers. Pass config=model.to_json().")


def _weights(path: Path, network: Network) -> Any:
    """The HDF5 file: the file itself, or its part in memory."""
    if not zipfile.is_zipfile(path):
        return path
    needed = MAX_PER_PARAMETER * (network.n_params + network.n_state)
    return io.BytesIO(_unpacked(path, WEIGHTS, ALWAYS_ALLOWED + needed))


def _unpacked(path: Path, name: str, limit: int) -> bytes:
    """A part of a zip file, of at most ``limit`` bytes.

    ``zipfile`` never yields more than the declared size, and reading in chunks keeps a wrong declaration from filling
    the memory.
    """
    with zipfile.ZipFile(path) as archive:
        part = archive.getinfo(name)
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"{str(path)!r}: {name!r} is compressed in a way that Keras does not use.")
        limit = min(limit, max(ALWAYS_ALLOWED, MAX_RATIO * part.compress_size))
        if part.file_size > limit:
            raise FileFormatError(
                f"{str(path)!r}: {name!r} unpacks to {part.file_size:,} bytes, and at most {limit:,} are allowed."
            )
        found = bytearray()
        with archive.open(part) as file:
            while piece := file.read(CHUNK):
                found += piece
        return bytes(found)


def _check(network: Network) -> None:
    for row in network.rows:
        if isinstance(row.layer, BatchNorm) and len(row.in_shape) > 2:
            raise FileFormatError(f"{row.title}: channels are last in Keras and on axis 1 here. Flatten first.")
