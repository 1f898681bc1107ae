"""Saving and loading of models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from madaline import container
from madaline.description import short
from madaline.errors import FileFormatError
from madaline.functional.arrays import Arrays
from madaline.functional.model import Model
from madaline.nn.inputs import InputSpec
from madaline.nn.layer import Layer
from madaline.nn.network import build

FORMAT = 1
"Format version, raised when older versions cannot read new files. Older formats stay readable."
MAX_PARAMETERS = 2**34
"Maximum number of parameters of a net in a file, checked before anything is allocated."
MAX_AXES = 32
"Maximum number of axes of an input."


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model or a fitted estimator to a file. Custom functions are saved as their traced graphs.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, madaline as md
    >>> model = md.mlp(8, 3).init(5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     md.save(model, pathlib.Path(folder) / "model.madaline")
    ...     again = md.load(pathlib.Path(folder) / "model.madaline")
    >>> bool(np.array_equal(model(np.ones((2, 5))), again(np.ones((2, 5)))))
    True
    """
    if hasattr(model, "save") and hasattr(model, "get_params"):
        model.save(path)
        return
    if not isinstance(model, Model):
        raise TypeError(
            "save needs a model, such as net.init(X) or trainer.model, or a fitted estimator of madaline. It was given "
            f"{type(model).__name__}."
        )
    container.write(path, model_arrays(model), {"kind": "model", **describe(model)})


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model or an estimator from a file.

    Loading a file runs no code from it.

    Parameters
    ----------
    path : path
        A file that :func:`save` or ``madaline train`` wrote, or the folder of a run.

    Returns
    -------
    Model or estimator
        A fitted estimator predicts from raw columns; a net that was saved without an estimator is a :class:`Model`.

    Raises
    ------
    FileFormatError
        If the file is damaged or not a model file.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    if path.is_dir():
        if not (path / container.MODEL).is_file():
            raise FileFormatError(f"{str(path)!r} is a folder without a {container.MODEL}.")
        path /= container.MODEL
    arrays, document = container.read(path, kind=("model", "estimator"))
    # Numbers in a damaged description may overflow; the error that follows says what is wrong.
    with container.reading(path, "a complete model file", keep=()), np.errstate(all="ignore"):
        if document["kind"] == "estimator":
            from madaline.estimators import files  # a door to a later room; see pyproject.toml

            return files.restored(document, arrays)
        return restored(document, arrays)


def model_arrays(model: Model) -> dict[str, np.ndarray]:
    """The arrays by their names in a file."""
    arrays = {f"params.{name}": model.params[name] for name in model.params}
    return arrays | {f"state.{name}": model.state[name] for name in model.state}


def describe(model: Model) -> dict[str, Any]:
    """The description that a file contains in addition to the arrays."""
    from madaline import __version__

    return {
        "format": FORMAT,
        "version": __version__,
        "net": model.net.to_dict(),
        "dtype": model.network.dtype.name,
        "inputs": _plain_specs(model.network.inputs),
    }


def restored(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    """A model from its description and arrays."""
    if document.get("format") != FORMAT:
        raise FileFormatError(
            f"The file has format {document.get('format')!r}; this version reads up to {FORMAT}. Update madaline."
        )
    net = Layer.from_dict(document["net"])
    dtype = np.dtype(document["dtype"] if document["dtype"] in ("float32", "float64") else "float32")
    network = build(net, _specs(document["inputs"]), dtype=dtype)
    held = sum(array.size for array in arrays.values())
    if network.n_params + network.n_state > min(held, MAX_PARAMETERS):
        raise FileFormatError(f"The net needs {network.n_params + network.n_state} numbers, and the file holds {held}.")
    model = Model.zeros(network)
    for prefix, own in (("params", model.params), ("state", model.state)):
        _fill(own, prefix, arrays)
    return model


def _fill(own: Arrays, prefix: str, arrays: dict[str, np.ndarray]) -> None:
    for name in own:
        found = arrays.get(f"{prefix}.{name}")
        if found is None or found.shape != own[name].shape or found.dtype != own[name].dtype:
            raise FileFormatError(f"The array {name!r} is missing or not of shape {own[name].shape}.")
        own[name] = found


def _plain_specs(specs: Any) -> Any:
    if isinstance(specs, dict):
        return {"named": {name: _plain_specs(item) for name, item in specs.items()}}
    if isinstance(specs, tuple):
        return {"listed": [_plain_specs(item) for item in specs]}
    return {"shape": list(specs.shape), "dtype": specs.dtype.name}


def _specs(data: Any) -> Any:
    if "named" in data:
        return {str(name): _specs(item) for name, item in data["named"].items()}
    if "listed" in data:
        return tuple(_specs(item) for item in data["listed"])
    shape, dtype = data["shape"], data["dtype"]
    whole = isinstance(shape, list) and len(shape) <= MAX_AXES
    whole = whole and all(type(size) is int and 0 <= size < 2**31 for size in shape)
    if not whole or dtype not in ("float32", "float64", "int64"):
        raise FileFormatError(f"{short(data)} does not describe an input.")
    return InputSpec(tuple(shape), np.dtype(dtype))
