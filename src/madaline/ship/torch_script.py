"""A PyTorch module as a script, with its weights in a safetensors file beside it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np

from madaline.errors import ExportError
from madaline.graph.node import Node, is_constant
from madaline.ship.escape import Untrusted, python_docstring, python_literal
from madaline.ship.inference import InferenceGraph
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

TARGET = "PyTorch"


class TorchScript(Script):
    """Statements that call PyTorch."""

    def __init__(self, inference: InferenceGraph) -> None:
        super().__init__(inference, TARGET, RULES, "self.{}")

    def array(self, node: Node) -> str:
        if is_constant(node) and node.shape == ():
            return f"torch.tensor({self.of(node)}, dtype=torch.{node.dtype.name})"
        return self.of(node)


def torch_files(inference: InferenceGraph, path: Path) -> dict[Path, bytes]:
    """The script and, if there are any, the weights beside it, with their contents."""
    from safetensors.numpy import save

    weights = path.with_suffix(".safetensors")
    if path == weights:
        raise ExportError(
            f"{path.name!r} is the name of the file with the weights. Name the script, such as 'model.py'."
        )
    arrays = {name: np.ascontiguousarray(value) for name, value in inference.arrays.items()}
    beside = Untrusted(weights.name)
    script = TorchScript(inference)
    body = textwrap.indent("\n".join([*script.lines(), f"return {script.result()}"]), " " * 8)
    about = [
        inference.title.shown(),
        "",
        "Written by madaline. Requires torch" + (" and safetensors." if arrays else "."),
        f"Inputs: {inference.takes}.",
        f"Outputs: {inference.gives}.",
        *([f"Weights: {beside.shown()}."] if arrays else []),
    ]
    text = (_WITH_WEIGHTS if arrays else _WITHOUT_WEIGHTS).format(
        about=python_docstring(*about),
        weights=python_literal(beside),
        helpers="".join(f"{source}\n\n\n" for source in helpers_for(body, HELPERS)),
        arrays=textwrap.indent("\n".join(_declaration(inference, *item) for item in arrays.items()), " " * 8),
        columns=_columns(inference),
        dates="from datetime import datetime, timedelta\n" if any(p.is_column for p in inference.inputs) else "",
        arguments=", ".join(["self", *(port.name for port in inference.inputs)]),
        body=body,
    )
    return {path: text.encode()} | ({weights: save(arrays)} if arrays else {})


_WITH_WEIGHTS = '''{about}

{dates}from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn


{columns}{helpers}class Model(nn.Module):
    def __init__(self):
        super().__init__()
{arrays}

    def forward({arguments}):
{body}


def load(path=Path(__file__).with_name({weights})):
    """Return the module with its weights, in evaluation mode."""
    model = Model()
    model.load_state_dict(load_file(path))
    return model.eval()
'''

_WITHOUT_WEIGHTS = '''{about}

{dates}import torch
from torch import nn


{columns}{helpers}class Model(nn.Module):
    def forward({arguments}):
{body}


def load():
    """Return the module, in evaluation mode."""
    return Model().eval()
'''


def _columns(inference: InferenceGraph) -> str:
    """The classes, and a function that converts a table to tensors."""
    parts = [
        f"{'CLASSES' if port.name == 'label' else f'{port.name.upper()}_CLASSES'} = {class_list(port)}"
        for port in inference.outputs
        if port.kind == "label"
    ]
    if any(port.is_column for port in inference.inputs):
        lines = []
        for port in inference.inputs:
            value = {"category": f"_index({category_indices(port)}, x)", "date": "_days(x)"}.get(
                port.kind, "_number(x)"
            )
            dtype = f"dtype=torch.{port.dtype.name}"
            lines.append(f"        torch.tensor([{value} for x in table[{python_literal(port.title)}]], {dtype}),")
        parts.append(f"{_TABLE}{chr(10).join(lines)}\n    )")
    return "".join(f"{part}\n\n\n" for part in parts)


_TABLE = '''def _is_missing(x):
    return x is None or x != x or str(x) in ("", "NaT", "<NA>")


def _number(x):
    return float("nan") if _is_missing(x) else float(x)


def _index(known, x):
    """The index of a category; -1 if it is unknown, -2 if it is missing."""
    if _is_missing(x):
        return -2
    text = str(x).lower() if isinstance(x, bool) else str(x)
    text = text.removesuffix(".0") if isinstance(x, float) else text
    if text in known:
        return known[text]
    # A boolean stands for "True" or "TRUE", and 7 for "007", if one category is meant.
    same = [] if isinstance(x, str) else [name for name in known if name.lower().lstrip("0") == text.lstrip("0")]
    return known[same[0]] if len(same) == 1 else -1


def _days(x):
    """Days since 1970-01-01, with the time of day as a fraction, from a date or a text in ISO format."""
    if _is_missing(x):
        return float("nan")
    return (datetime.fromisoformat(str(x)).replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1)


def inputs(table):
    """Convert a data frame or a dict of columns to tensors: ``model(*inputs(table))``."""
    return (
'''


def _declaration(inference: InferenceGraph, name: str, value: np.ndarray) -> str:
    empty = f"torch.empty({tuple(value.shape)}, dtype=torch.{value.dtype.name})"
    if name in inference.learned:
        return f"self.{name} = nn.Parameter({empty})"
    return f'self.register_buffer("{name}", {empty})'


def _call(function: str) -> Rule:
    """A function that takes tensors but no Python numbers."""
    return lambda script, node: f"{function}({', '.join(map(script.array, node.inputs))})"


def _reduction(function: str) -> Rule:
    def rule(script: Script, node: Node) -> str:
        x = script.of(node.inputs[0])
        # For PyTorch, an empty tuple means all axes.
        return f"{function}({x}, dim={node.params['axes']})" if node.params["axes"] else x

    return rule


def _along(function: str, options: str = "") -> Rule:
    return lambda script, node: f"{function}({script.of(node.inputs[0])}, dim={node.params['axis']}{options})"


def _prod(script: Script, node: Node) -> str:
    return script.of(node.inputs[0]) + "".join(f".prod({axis})" for axis in reversed(node.params["axes"]))


def _cumsum(script: Script, node: Node) -> str:
    x, axis = script.of(node.inputs[0]), node.params["axis"]
    if node.params["reverse"]:
        return f"torch.cumsum({x}.flip({axis}), dim={axis}).flip({axis})"
    return f"torch.cumsum({x}, dim={axis})"


def _slice(script: Script, node: Node) -> str:
    (x,) = node.inputs
    return f"{script.of(x)}[{index(node.params['starts'], node.shape, node.params['steps'], x.shape)}]"


def _place(script: Script, node: Node) -> str:
    axis = concatenated(node)
    if axis is not None:
        return f"torch.cat([{', '.join(map(script.array, node.inputs))}], dim={axis})"
    return f"_place({shape(node.shape)}, [{', '.join(windows(script, node))}])"


def _take(script: Script, node: Node) -> str:
    x, indices = map(script.of, node.inputs)
    return f"{x}[{':, ' * node.params['axis']}{indices}]"


def _scatter_add(script: Script, node: Node) -> str:
    v, indices = map(script.of, node.inputs)
    return f"_scatter_add({v}, {indices}, {node.params['axis']}, {size(node.params['size'])})"


HELPERS = {
    "_place": """
def _place(shape, pieces):
    whole = pieces[0][0].new_zeros(shape)
    for piece, where in pieces:
        whole[where] += piece
    return whole
""",
    "_positive": """
def _positive(indices, size):
    return torch.where(indices < 0, indices + size, indices)
""",
    "_scatter_add": """
def _scatter_add(v, indices, axis, size):
    moved = v.movedim(tuple(range(axis, axis + indices.ndim)), tuple(range(indices.ndim)))
    whole = v.new_zeros((size, *moved.shape[indices.ndim :]))
    return whole.index_put((indices,), moved, accumulate=True).movedim(0, axis)
""",
}
"Functions that statements may call; a file contains those that it needs."

_SAME_NAME = (
    "sqrt floor ceil trunc exp exp2 expm1 log log2 log10 log1p sign isnan isinf isfinite logical_not sigmoid erf"
)
_TRIGONOMETRIC = "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh"
_OF_TWO = "floor_divide remainder fmod copysign maximum minimum arctan2 logical_and logical_or logical_xor where"

RULES: dict[str, Rule] = {
    **{name: f"torch.{name}({{0}})" for name in f"{_SAME_NAME} {_TRIGONOMETRIC}".split()},
    **{name: _call(f"torch.{name}") for name in _OF_TWO.split()},
    **OPERATORS,
    "power": _call("torch.pow"),
    "absolute": "torch.abs({0})",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "cbrt": "torch.sign({0}) * torch.abs({0}) ** (1 / 3)",
    "rint": "torch.round({0})",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "cast": lambda script, node: f"{script.of(node.inputs[0])}.to(torch.{node.dtype.name})",
    "softplus": "torch.logaddexp({0}, torch.zeros_like({0}))",
    "relu": "torch.relu({0})",
    "sum": _reduction("torch.sum"),
    "prod": _prod,
    "max": _reduction("torch.amax"),
    "min": _reduction("torch.amin"),
    "logsumexp": _reduction("torch.logsumexp"),
    "argmax": _along("torch.argmax"),
    "argsort": _along("torch.argsort", ", stable=True"),
    "cumsum": _cumsum,
    "transpose": lambda script, node: f"{script.of(node.inputs[0])}.permute({node.params['axes']})",
    "reshape": lambda script, node: f"{script.of(node.inputs[0])}.reshape({shape(node.shape)})",
    "broadcast_to": lambda script, node: f"{script.array(node.inputs[0])}.broadcast_to({shape(node.shape)})",
    "slice": _slice,
    "place": _place,
    "flip": lambda script, node: f"{script.of(node.inputs[0])}.flip({node.params['axes']})",
    "take": _take,
    "scatter_add": _scatter_add,
    "take_along": lambda script, node: (
        f"torch.gather({script.of(node.inputs[0])}, -1, "
        f"_positive({script.of(node.inputs[1])}, {size(node.inputs[0].shape[-1])}))"
    ),
    "scatter_along": lambda script, node: (
        f"{script.of(node.inputs[0])}.new_zeros({shape(node.shape)})"
        f".scatter_add(-1, _positive({script.of(node.inputs[1])}, {size(node.params['size'])}), "
        f"{script.of(node.inputs[0])})"
    ),
    "row_count": lambda script, node: f"torch.tensor({size(node.params['rows'])}, dtype=torch.{node.dtype.name})",
}
"How to write each primitive with PyTorch."
