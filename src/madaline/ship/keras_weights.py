"""The weights in the HDF5 part of a file of Keras: every array is checked before it is read, and no other file is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from madaline.errors import FileFormatError
from madaline.ship.keras_layers import KerasLayer

MAX_RATIO = 100
"Maximum size of an array, relative to the bytes it takes in the file: weights can hardly be compressed."
ALWAYS_ALLOWED = 2**20
"Arrays up to this number of bytes may be compressed to any size."


def keras_weights(
    weights: Any, layers: Sequence[KerasLayer], wanted: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Read the arrays of all layers.

    Parameters
    ----------
    weights : path or file
        The HDF5 file.
    layers : list of KerasLayer
        The layers of the model.
    wanted : dict
        The shape of every array, by its path in our net.

    Returns
    -------
    dict
        The arrays by their path in our net.
    """
    import h5py

    found: dict[str, np.ndarray] = {}
    n_layers = 0
    with h5py.File(weights, "r") as file:
        # Layers are found by their keys. Their names are attributes, and reading these from a damaged file can hang.
        groups = _inside(file, "layers")
        for layer in layers:
            variables = _inside(_inside(groups, layer.key), "vars") if layer.key in groups else {}
            if len(variables) != layer.n_arrays:
                raise FileFormatError(
                    f"The layer {layer.name!r} has {len(variables)} arrays; it needs {layer.n_arrays}."
                )
            paths = [f"{n_layers}.{name}" for name in layer.arrays]
            values = [_array(variables, str(number), path, wanted) for number, path in enumerate(paths)]
            found |= {f"{n_layers}.{name}": value for name, value in layer.named(values).items()}
            n_layers += len(layer.layers)
    return found


def _inside(group: Any, key: str) -> Any:
    """An entry of a group, unless it is a link."""
    import h5py

    if not isinstance(group.get(key, getlink=True), h5py.HardLink):
        raise FileFormatError(f"The entry {key!r} refers to another place or file.")
    return group[key]


def _array(variables: Any, key: str, path: str, wanted: Mapping[str, tuple[int, ...]]) -> np.ndarray:
    import h5py

    dataset = _inside(variables, key)
    if not isinstance(dataset, h5py.Dataset) or dataset.dtype.kind != "f":
        raise FileFormatError(f"The entry for {path!r} is not an array of floats.")
    if dataset.external or dataset.is_virtual:
        raise FileFormatError(f"The entry for {path!r} refers to another file.")
    if path not in wanted:
        raise FileFormatError(f"The weights for {path!r} have no place in the net.")
    if dataset.shape != wanted[path]:
        raise FileFormatError(f"The weights for {path!r} have shape {dataset.shape}; it needs {wanted[path]}.")
    stored = dataset.id.get_storage_size()
    if dataset.nbytes > max(ALWAYS_ALLOWED, MAX_RATIO * stored):
        raise FileFormatError(
            f"The array for {path!r} has {dataset.nbytes:,} bytes and takes {stored} bytes in the file."
        )
    return np.asarray(dataset)
