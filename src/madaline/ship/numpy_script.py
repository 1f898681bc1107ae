"""A Python file that predicts with NumPy only: one line for each node of the graph, with the weights in the file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from madaline.graph.node import Node, is_constant
from madaline.ship.escape import python_docstring, python_literal
from madaline.ship.inference import InferenceGraph, Port
from madaline.ship.script import (
    OPERATORS,
    Rule,
    Script,
    category_indices,
    class_list,
    concatenated,
    helpers_for,
    index,
    shape,
    size,
    windows,
)

TARGET = "Python"


class NumpyScript(Script):
    """Statements that call NumPy."""

    def __init__(self, inference: InferenceGraph) -> None:
        super().__init__(inference, TARGET, RULES, "{}")

    def label(self, port: Port, name: str) -> str:
        return f"classes_{port.name}[{name}]"

    def array(self, node: Node) -> str:
        return f"np.{node.dtype.name}({self.of(node)})" if is_constant(node) and node.shape == () else self.of(node)


def python_files(inference: InferenceGraph, path: Path) -> dict[Path, bytes]:
    """The file and its content."""
    script = NumpyScript(inference)
    lines = [*map(_read, inference.inputs), *script.lines(), f"return {script.result()}"]
    body = "\n".join(f"    {line}" for line in lines)
    columns = any(port.is_column for port in inference.inputs)
    arguments = "table" if columns else ", ".join(port.name for port in inference.inputs)
    about = ABOUT_TABLE if columns else ABOUT_BATCH
    helpers = helpers_for(body, HELPERS)
    constants = [
        f"indices_{port.name} = {category_indices(port)}" for port in inference.inputs if port.kind == "category"
    ]
    constants += [
        f"classes_{port.name} = np.array({class_list(port)})" for port in inference.outputs if port.kind == "label"
    ]
    sections = [
        python_docstring(
            inference.title.shown(),
            "",
            "Written by madaline. Requires NumPy.",
            f"Inputs: {inference.takes}.",
            f"Outputs: {inference.gives}.",
        ),
        "import base64\n"
        + ("import math\n" if HELPERS["_erf"].strip("\n") in helpers else "")
        + "\nimport numpy as np",
        _ARRAY,
        "\n".join([*(_weights(name, value) for name, value in inference.arrays.items()), *constants]),
        *helpers,
        f"def predict({arguments}):\n    {python_docstring(about)}\n{body}",
    ]
    return {path: ("\n\n\n".join(section.strip("\n") for section in sections if section) + "\n").encode()}


ABOUT_BATCH = "Return the outputs for a batch, with its rows along the first axis."
ABOUT_TABLE = "Return the outputs for a table: a data frame or a dict of columns. Values may be missing (NaN or None)."


def _read(port: Port) -> str:
    """The statement that reads an input."""
    column = f"_column(table, {python_literal(port.title)}, {port.place})"
    if port.kind == "category":
        return f"{port.name} = _indices({column}, indices_{port.name})"
    if port.kind == "date":
        return f"{port.name} = _days({column})"
    return f"{port.name} = np.asarray({column if port.is_column else port.name}, dtype=np.{port.dtype.name})"


def _weights(name: str, value: np.ndarray) -> str:
    text = base64.b64encode(np.ascontiguousarray(value).astype(_stored(value.dtype)).tobytes()).decode()
    return f'{name} = _array("{_stored(value.dtype)}", {value.shape}, "{text}")'


def _stored(dtype: np.dtype[Any]) -> str:
    return {"float32": "<f4", "float64": "<f8", "int64": "<i8", "bool": "|b1"}[dtype.name]


_ARRAY = """
def _array(kind, shape, text):
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(shape)
"""

HELPERS = {
    "_column": """
def _column(table, name, position):
    return table[:, position] if isinstance(table, np.ndarray) else table[name]
""",
    "_indices": '''
def _text(value):
    """A category as a string: whole numbers without a decimal point, booleans in lower case; None if missing."""
    if value is None or value != value or value == "":
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, (float, np.floating)) else str(value)


def _index(value, known):
    text = _text(value)
    if text is None or text in known:
        return -2 if text is None else known[text]
    # A boolean stands for "True" or "TRUE", and 7 for "007", if one category is meant.
    same = [] if isinstance(value, str) else [name for name in known if name.lower().lstrip("0") == text.lstrip("0")]
    return known[same[0]] if len(same) == 1 else -1


def _indices(column, known):
    """The index of each category; -1 if it is unknown, -2 if it is missing."""
    return np.array([_index(value, known) for value in np.asarray(column, dtype=object).tolist()], dtype=np.int64)
''',
    "_days": '''
def _days(column):
    """Days since 1970-01-01, with the time of day as a fraction; NaN if missing."""
    return (np.asarray(column, dtype="datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "D")
''',
    "_sigmoid": """
def _sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, np.ones_like(small), small) / (1 + small)
""",
    "_logsumexp": """
def _logsumexp(x, axis):
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, np.zeros_like(top))
    return np.log(np.sum(np.exp(x - top), axis=axis)) + np.squeeze(top, axis=axis)
""",
    "_erf": """
def _erf(x):
    return np.vectorize(math.erf, otypes=[x.dtype])(x)
""",
    "_place": """
def _place(shape, pieces):
    whole = np.zeros(shape, dtype=pieces[0][0].dtype)
    for piece, where in pieces:
        whole[where] += piece
    return whole
""",
    "_scatter_add": """
def _scatter_add(v, indices, axis, size):
    whole = np.zeros((size, *v.shape[:axis], *v.shape[axis + indices.ndim :]), dtype=v.dtype)
    np.add.at(whole, indices, np.moveaxis(v, range(axis, axis + indices.ndim), range(indices.ndim)))
    return np.moveaxis(whole, 0, axis)
""",
    "_scatter_along": """
def _scatter_along(v, indices, size):
    whole = np.zeros((*v.shape[:-1], size), dtype=v.dtype)
    np.add.at(whole, (*np.indices(v.shape, sparse=True)[:-1], indices), v)
    return whole
""",
}
"Functions that statements may call; a file contains those that it needs."


def _axes(node: Node) -> str:
    axes = node.params["axes"]
    return str(axes[0]) if len(axes) == 1 else str(axes)


def _reduction(function: str) -> Rule:
    return lambda script, node: f"{function}({script.of(node.inputs[0])}, axis={_axes(node)})"


def _place(script: Script, node: Node) -> str:
    axis = concatenated(node)
    if axis is not None:
        return f"np.concatenate([{', '.join(map(script.of, node.inputs))}], axis={axis})"
    return f"_place({shape(node.shape)}, [{', '.join(windows(script, node))}])"


def _slice(script: Script, node: Node) -> str:
    (x,) = node.inputs
    return f"{script.of(x)}[{index(node.params['starts'], node.shape, node.params['steps'], x.shape)}]"


def _cumsum(script: Script, node: Node) -> str:
    x, axis = script.of(node.inputs[0]), node.params["axis"]
    if node.params["reverse"]:
        return f"np.flip(np.cumsum(np.flip({x}, {axis}), axis={axis}), {axis})"
    return f"np.cumsum({x}, axis={axis})"


def _where(script: Script, node: Node) -> str:
    return f"np.where({', '.join(map(script.array, node.inputs))})"


def _take(script: Script, node: Node) -> str:
    x, indices = node.inputs
    return f"np.take({script.of(x)}, {script.of(indices)}, axis={node.params['axis']})"


def _scatter_add(script: Script, node: Node) -> str:
    v, indices = map(script.of, node.inputs)
    return f"_scatter_add({v}, {indices}, {node.params['axis']}, {size(node.params['size'])})"


_OF_ONE = (
    "absolute sign square reciprocal sqrt cbrt floor ceil trunc rint exp exp2 expm1 log log2 log10 log1p "
    "isnan isinf isfinite logical_not sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh"
)
_OF_TWO = (
    "floor_divide remainder fmod power maximum minimum copysign arctan2 equal not_equal logical_and logical_or "
    "logical_xor"
)

RULES: dict[str, Rule] = {
    **{name: f"np.{name}({{0}})" for name in _OF_ONE.split()},
    **{name: f"np.{name}({{0}}, {{1}})" for name in _OF_TWO.split()},
    **OPERATORS,
    "cast": lambda script, node: f"{script.of(node.inputs[0])}.astype(np.{node.dtype.name})",
    "where": _where,
    "sigmoid": "_sigmoid({0})",
    "softplus": "np.logaddexp({0}, 0)",
    "relu": "np.maximum({0}, 0)",
    "erf": "_erf({0})",
    "sum": _reduction("np.sum"),
    "prod": _reduction("np.prod"),
    "max": _reduction("np.max"),
    "min": _reduction("np.min"),
    "logsumexp": _reduction("_logsumexp"),
    "argmax": lambda script, node: f"np.argmax({script.of(node.inputs[0])}, axis={node.params['axis']})",
    "argsort": lambda script, node: (
        f'np.argsort({script.of(node.inputs[0])}, axis={node.params["axis"]}, kind="stable")'
    ),
    "cumsum": _cumsum,
    "transpose": lambda script, node: f"np.transpose({script.of(node.inputs[0])}, {node.params['axes']})",
    "reshape": lambda script, node: f"np.reshape({script.of(node.inputs[0])}, {shape(node.shape)})",
    "broadcast_to": lambda script, node: f"np.broadcast_to({script.array(node.inputs[0])}, {shape(node.shape)})",
    "slice": _slice,
    "place": _place,
    "flip": lambda script, node: f"np.flip({script.of(node.inputs[0])}, {_axes(node)})",
    "take": _take,
    "scatter_add": _scatter_add,
    "take_along": "np.take_along_axis({0}, {1}, axis=-1)",
    "scatter_along": lambda script, node: (
        f"_scatter_along({script.of(node.inputs[0])}, {script.of(node.inputs[1])}, {size(node.params['size'])})"
    ),
    "row_count": lambda script, node: f"np.{node.dtype.name}({size(node.params['rows'])})",
}
"How to write each primitive with NumPy."
