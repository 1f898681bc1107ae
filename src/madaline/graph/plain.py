"""Graphs as plain data and back: how a user's own formula is kept in a file. Reading runs no code of the user's.

::

    {"version": 1,
     "inputs": [{"name": "x", "type": "float64", "shape": ["n", 3]}],
     "nodes": [{"do": "constant", "type": "float64", "shape": [], "values": [2.0]},
               {"do": "multiply", "of": [1, 0]},
               {"do": "sum", "of": [2], "with": {"axes": [1]}}],
     "outputs": [3]}

Values are numbered, the inputs first, then the nodes. ``"n"`` is the number of rows, ``"2n+1"`` another such size.
Floats are written with all their digits; those that JSON has no number for are ``"nan"``, ``"inf"`` and ``"-inf"``.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from madaline.annotations import fits, shown_hint
from madaline.errors import ConfigError, MadalineError
from madaline.graph.node import CONSTANT, INPUT, ROW_COUNT, Node, as_node, constant, new_input, row_count
from madaline.graph.primitive import PRIMITIVES, Primitive
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape, count, is_never_negative, is_symbolic, show
from madaline.graph.trace import Graph

VERSION = 1
MAX_NODES = 100_000
"A graph with more nodes was not written by a person."
MAX_ELEMENTS = 2**27
"Elements of a single value, of one row for a batch: so that a few bytes in a file cannot ask for all memory."

_TYPES = {"float32", "float64", "int64", "bool"}
_EACH_AXIS = tuple[int | Rows, ...]
_PARAMS: dict[str, Any] = {
    "axes": tuple[int, ...],
    "axis": int,
    "lower": bool,
    "n": int,
    "order": int | float,
    "rcond": float,
    "reverse": bool,
    "rows": bool,
    "sign": int,
    "stream": int,
    "starts": _EACH_AXIS | tuple[_EACH_AXIS, ...],
    "unit": bool,
    "steps": tuple[int, ...] | tuple[tuple[int, ...], ...],
}
"Types of the parameters of primitives, in addition to shapes, sizes and types."
_ROWS = re.compile(r"(\d{0,9})n([+-]\d{1,9})?")
_OTHER_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def graph_to_dict(graph: Graph) -> dict[str, Any]:
    """A graph as numbers, strings, lists and dicts.

    Examples
    --------
    >>> import madaline as md
    >>> graph_to_dict(md.trace(lambda x: np.tanh(x), 2.0))["nodes"]
    [{'do': 'tanh', 'of': [0]}]
    """
    numbers = {id(node): number for number, node in enumerate(graph.nodes)}
    return {
        "version": VERSION,
        "inputs": [
            {"name": node.params["name"], "type": node.dtype.name, "shape": _plain(node.shape)} for node in graph.inputs
        ],
        "nodes": [_plain_node(node, numbers) for node in graph.nodes[len(graph.inputs) :]],
        "outputs": [numbers[id(node)] for node in graph.outputs],
    }


def _plain_node(node: Node, numbers: Mapping[int, int]) -> dict[str, Any]:
    if node.primitive is CONSTANT:
        values = [_plain(value) for value in node.params["value"].ravel().tolist()]
        return {"do": "constant", "type": node.dtype.name, "shape": _plain(node.shape), "values": values}
    if node.primitive is ROW_COUNT:
        return {"do": "row_count", "type": node.dtype.name, "rows": _plain(node.params["rows"])}
    plain = {"do": node.primitive.name, "of": [numbers[id(item)] for item in node.inputs]}
    return plain | {"with": {key: _plain(value) for key, value in node.params.items()}} if node.params else plain


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Rows):
        return repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def graph_from_dict(data: Any) -> Graph:
    """The graph again; every value's shape and type follow from the primitives' own rules.

    Raises
    ------
    ConfigError
        Where the data are no graph; it names the node.
    """
    version, inputs, nodes, outputs = _entries(data, "A graph", "version", "inputs", "nodes", "outputs")
    if version != VERSION:
        raise ConfigError(f"The graph has version {version!r}; this madaline reads version {VERSION}. Update madaline.")
    if not _is_list(inputs) or not _is_list(nodes) or len(inputs) + len(nodes) > MAX_NODES:
        raise ConfigError(f"A graph must have lists of inputs and nodes, at most {MAX_NODES} together.")
    values: list[Node] = []
    has_rows = False
    for number, (entry, read) in enumerate([*((e, _input) for e in inputs), *((e, _node) for e in nodes)]):
        try:
            node = read(entry, values)
            if count(node.shape) > MAX_ELEMENTS:
                raise ConfigError(f"it has {count(node.shape)} elements; {MAX_ELEMENTS} are allowed.")
            if read is _node and not has_rows and (is_symbolic(node.shape) or node.primitive is ROW_COUNT):
                raise ConfigError("it depends on the number of rows, and no input has rows.")
            has_rows = has_rows or is_symbolic(node.shape)
        except (MadalineError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise ConfigError(f"Value {number} of the graph cannot be made: {error}") from error
        values.append(node)
    return Graph(tuple(values[: len(inputs)]), tuple(_chosen(outputs, values, "outputs")))


def _input(entry: Any, values: Sequence[Node]) -> Node:
    name, type_, shape = _entries(entry, "An input", "name", "type", "shape")
    if not isinstance(name, str):
        raise ConfigError(f"name={name!r} must be a string.")
    sizes = _shape(shape)
    if is_symbolic(sizes[1:]) or (is_symbolic(sizes) and sizes[0] != Rows()):
        raise ConfigError(f"shape={show(sizes)} of an input may have n only as its first size.")
    return new_input(len(values), sizes, _type(type_), name)


def _node(entry: Any, values: Sequence[Node]) -> Node:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("do"), str):
        raise ConfigError("a node is a dict that says what to do.")
    if entry["do"] == "constant":
        _, type_, shape, numbers = _entries(entry, "A constant", "do", "type", "shape", "values")
        return _constant(_type(type_), _shape(shape), numbers)
    if entry["do"] == "row_count":
        _, type_, rows = _entries(entry, "A number of rows", "do", "type", "rows")
        return row_count(_rows(rows), _type(type_))
    do, of, params = _entries({"with": {}} | dict(entry), "A node", "do", "of", "with")
    primitive = PRIMITIVES.find(do, argument="do")
    inputs = _chosen(of, values, "of")
    if primitive is INPUT or not inputs:
        raise ConfigError(f"{do} cannot be a node that is made of {len(inputs)} others.")
    params = _params(params)
    _check_arguments(primitive, inputs, params)
    return as_node(primitive(*inputs, **params))


def _check_arguments(primitive: Primitive, inputs: Sequence[Node], params: dict[str, Any]) -> None:
    if isinstance(primitive, Elementwise) and primitive.name != "cast":
        signature = inspect.signature(primitive.value).parameters.values()
        wanted = sorted(item.name for item in signature if item.kind is item.KEYWORD_ONLY)
        if len(inputs) != len(primitive.domains) or sorted(params) != wanted:
            named = f"the parameters {', '.join(wanted)}" if wanted else "no parameters"
            raise ConfigError(f"{primitive.name} takes {len(primitive.domains)} values and {named}.")
    else:
        inspect.signature(primitive.value).bind(*inputs, **params)


def _params(data: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
        raise ConfigError("the parameters of a node are a dict.")
    params = {key: _type(value) if key == "to" else _param(value) for key, value in data.items()}
    if "shape" in params:
        params["shape"] = _shape(params["shape"])
    if "size" in params:
        (params["size"],) = _shape((params["size"],))
    for key, value in params.items():
        if key in _PARAMS and not fits(value, _PARAMS[key]):
            raise ConfigError(f"the parameter {key}={value!r} must be {shown_hint(_PARAMS[key])}.")
    return params


def _param(value: Any, depth: int = 0) -> Any:
    if _is_list(value) and depth < 3:
        return tuple([_param(item, depth + 1) for item in value])
    if isinstance(value, (bool, Rows)) or (isinstance(value, int) and abs(value) <= 2**40):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _rows(value)


def _shape(data: Any) -> Shape:
    shape = _param(data)
    if not isinstance(shape, tuple) or len(shape) > 32:
        raise ConfigError(f"shape={data!r} must be a list of sizes.")
    if any(
        not isinstance(size, (int, Rows)) or isinstance(size, bool) or not is_never_negative(size) for size in shape
    ):
        raise ConfigError(f"shape={data!r} must hold sizes that are not negative.")
    return shape


def _rows(text: Any) -> Rows:
    match = _ROWS.fullmatch(text) if isinstance(text, str) else None
    if not match or match[1] == "0":
        raise ConfigError(f"{text!r} is neither a number nor a size such as 'n'.")
    return Rows(int(match[1] or 1), int(match[2] or 0))


def _constant(dtype: str, shape: Shape, numbers: Any) -> Node:
    if not _is_list(numbers):
        raise ConfigError("the values of a constant are a list.")
    allowed = {"bool": bool, "int64": int}.get(dtype, float)
    values = [_OTHER_FLOATS.get(number, number) if isinstance(number, str) else number for number in numbers]
    if any(type(value) is not allowed and not (allowed is float and type(value) is int) for value in values):
        raise ConfigError(f"a value of a constant does not have type {dtype}.")
    return constant(np.array(values, dtype=dtype).reshape(shape))


def _type(name: Any) -> str:
    if not isinstance(name, str) or name not in _TYPES:
        raise ConfigError(f"type={name!r} is not known. Known: {', '.join(sorted(_TYPES))}.")
    return name


def _chosen(numbers: Any, values: Sequence[Node], what: str) -> list[Node]:
    if not _is_list(numbers) or any(type(number) is not int or not 0 <= number < len(values) for number in numbers):
        raise ConfigError(f"{what} must be a list of numbers of values that were made before, 0 to {len(values) - 1}.")
    return [values[number] for number in numbers]


def _entries(data: Any, what: str, *keys: str) -> tuple[Any, ...]:
    if not isinstance(data, Mapping) or set(data) != set(keys):
        raise ConfigError(f"{what} must be a dict with the entries {', '.join(keys)}.")
    return tuple(data[key] for key in keys)


def _is_list(data: Any) -> bool:
    return isinstance(data, (list, tuple))
