"""Models as files that run without madaline."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from madaline import container
from madaline.functional.model import Model
from madaline.registry import Registry
from madaline.ship.c_file import c_files
from madaline.ship.inference import Inference, inference_of
from madaline.ship.numpy_script import python_files
from madaline.ship.onnx_graph import onnx_files
from madaline.ship.python_only import python_only_files
from madaline.ship.torch_script import torch_files

Writer = Callable[[Inference, Path], dict[Path, bytes]]

TARGETS: Registry[Writer] = Registry("target")
"What a model can be exported to, by name."
TARGETS.add("c", c_files)
TARGETS.add("onnx", onnx_files)
TARGETS.add("python", python_files)
TARGETS.add("python-only", python_only_files)
TARGETS.add("torch", torch_files)


def export(
    model: Any, path: str | os.PathLike[str], to: str, *, dtype: Any = None, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a model as a file that runs without madaline.

    Parameters
    ----------
    model : Model or estimator
        As ``net.init(X)``, ``trainer.model`` or ``md.load(path)``; or a fitted estimator, whose preprocessing and
        classes are written too: with ``data="auto"`` the file takes the columns of the table as they are.
    path : path
        Of the file; the folder must exist.
    to : {"onnx", "torch", "python", "python-only", "c"}
        ``onnx``: a graph for onnxruntime and others. ``torch``: a script with an ``nn.Module``, the weights beside it
        in safetensors. ``python``: a file that needs NumPy alone. ``python-only``: one that needs nothing, and is
        slower, a row at a time. ``c``: one file of C99 without allocation, a row at a time.
    dtype : {"float32", "float64"}, optional
        Of the numbers in the file; those of the model unless told.
    overwrite : bool
        Whether files that are there may be replaced.

    Returns
    -------
    tuple of Path
        The files; each was written whole or not at all.

    Notes
    -----
    The outputs are those of ``model(X)``, to about 1e-6 of their size. All files are written from the graph of
    primitives, so that every layer and every formula of yours can be exported. Weights that are only used through
    others, as those of a weight norm, are written as what they come to.

    Examples
    --------
    >>> import tempfile, pathlib, madaline as md
    >>> model = md.mlp(8, 3).init(5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [file.name for file in md.export(model, pathlib.Path(folder) / "model.py", to="python")]
    ['model.py']
    """
    write = TARGETS.find(to, argument="to")
    files = write(_inference(model, dtype), Path(path))
    for file in files:
        if file.exists() and not overwrite:
            raise FileExistsError(f"There is a file {str(file)!r} already. Pass overwrite=True to replace it.")
    for file, content in files.items():
        container.write_whole(file, content)
    return tuple(files)


def _inference(model: Any, dtype: Any) -> Inference:
    if isinstance(model, Model):
        return inference_of(model, dtype)
    from madaline.ship.answers import inference_of_estimator  # needs scikit-learn, which takes long to import

    return inference_of_estimator(model, dtype)
