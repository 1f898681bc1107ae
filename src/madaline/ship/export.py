"""Export of models as files that run without madaline."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import DTypeLike

from madaline import container
from madaline.functional.model import Model
from madaline.registry import Registry
from madaline.ship.c_file import c_files
from madaline.ship.inference import InferenceGraph, inference_of
from madaline.ship.numpy_script import python_files
from madaline.ship.onnx_graph import onnx_files
from madaline.ship.python_only import python_only_files
from madaline.ship.torch_script import torch_files

GraphWriter = Callable[[InferenceGraph, Path], dict[Path, bytes]]
Writer = Callable[[Any, DTypeLike | None, Path], dict[Path, bytes]]
"A function from a model or estimator, the floating-point type and a path to the contents of files."


def _from_graph(write: GraphWriter) -> Writer:
    """A writer that needs only the graph of a model."""
    return lambda model, dtype, path: write(_inference(model, dtype), path)


def _html_files(model: Model, dtype: DTypeLike | None, path: Path) -> dict[Path, bytes]:
    from madaline.ship.html_page import html_files  # imports scikit-learn, which is slow

    return html_files(model, dtype, path)


def _onnx_files(model: Any, dtype: DTypeLike | None, path: Path) -> dict[Path, bytes]:
    """The file of a model or an estimator; a pipeline of scikit-learn is converted by skl2onnx."""
    module = type(model).__module__.partition(".")[0]
    if isinstance(model, Model) or module == "madaline" or not hasattr(model, "get_params"):
        return onnx_files(_inference(model, dtype), path)
    from madaline.ship.skl2onnx import convert  # imports scikit-learn, which is slow

    return {path: convert(model, dtype).SerializeToString()}


GRAPH_TARGETS: Registry[GraphWriter] = Registry("target")
"Targets of models and estimators, by name: those that are written from the graph alone."
GRAPH_TARGETS.add("c", c_files)
GRAPH_TARGETS.add("onnx", onnx_files)
GRAPH_TARGETS.add("python", python_files)
GRAPH_TARGETS.add("python-only", python_only_files)
GRAPH_TARGETS.add("torch", torch_files)

TARGETS: Registry[Writer] = Registry("target")
"All targets of an export, by name."
for _name in GRAPH_TARGETS.names():
    TARGETS.add(_name, _onnx_files if _name == "onnx" else _from_graph(GRAPH_TARGETS[_name]))
TARGETS.add("html", _html_files)


def export(
    model: Model, path: str | os.PathLike[str], to: str, *, dtype: DTypeLike | None = None, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a model as a file that runs without madaline.

    Parameters
    ----------
    model : Model or estimator
        A model (``net.init(X)``, ``trainer.model`` or ``md.load(path)``) or a fitted estimator. The preprocessing and
        the classes of an estimator are exported, too: with ``data="auto"`` the file takes the raw columns of a table.
        A fitted pipeline of scikit-learn can be exported to ONNX if skl2onnx knows its other steps.
    path : path
        Path of the file. Its folder must exist.
    to : {"onnx", "torch", "python", "python-only", "c", "html"}
        ``onnx``: a graph for onnxruntime and others. ``torch``: a script with an ``nn.Module`` and a safetensors file
        with its weights. ``python``: a file that requires only NumPy. ``python-only``: a file that requires only
        Python and predicts one row at a time, slowly. ``c``: a C99 file without allocation that predicts one row at a
        time. ``html``: a page with a form that predicts in the browser, without a network; for estimators.
    dtype : {"float32", "float64"}, optional
        Floating-point type of the file. By default, that of the model.
    overwrite : bool
        Whether to replace existing files.

    Returns
    -------
    tuple of Path
        The files. Each is written completely or not at all.

    Raises
    ------
    ExportError
        If the target does not support an operation of the model; the message names the layer.
    FileExistsError
        If a file exists and ``overwrite`` is False.

    Notes
    -----
    The outputs are those of ``model(X)``, with a relative error of about 1e-6. All files are written from the graph of
    primitives, so that every layer and every custom function can be exported. Values that depend only on weights, such
    as those of a weight norm, are computed before they are written.

    Column names, categories and classes are never written as code: exporting a model from an untrusted table or model
    file is safe.

    Examples
    --------
    >>> import tempfile, pathlib, madaline as md
    >>> model = md.mlp(8, 3).init(5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [file.name for file in md.export(model, pathlib.Path(folder) / "model.py", to="python")]
    ['model.py']
    """
    write = TARGETS.find(to, argument="to")
    if not Path(path).name:
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder. Give the name of a file in it.")
    files = write(model, dtype, Path(path))
    for file in files:
        if file.exists() and not overwrite:
            raise FileExistsError(f"The file {str(file)!r} already exists. Pass overwrite=True to replace it.")
    for file, content in files.items():
        container.write_whole(file, content)
    return tuple(files)


def _inference(model: Any, dtype: DTypeLike | None) -> InferenceGraph:
    if isinstance(model, Model):
        return inference_of(model, dtype)
    from madaline.ship.answers import inference_of_estimator  # imports scikit-learn, which is slow

    return inference_of_estimator(model, dtype)
