"""A Python file that predicts one row with the standard library only."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from madaline.graph.node import BOOL, Node, is_constant
from madaline.ship.escape import python_comment, python_docstring, python_literal
from madaline.ship.inference import InferenceGraph, Port
from madaline.ship.language import Language, Rule
from madaline.ship.loops import Loops
from madaline.ship.script import category_indices, class_list, helpers_for, returned

KINDS = {"float32": "f", "float64": "d", "int64": "q", "bool": "?"}
"Format character of each dtype in the standard library's ``struct``."


def _divide(node: Node, args: list[str]) -> str:
    divisor = node.inputs[1]
    if is_constant(divisor) and divisor.shape == () and divisor.params["value"] != 0:
        return f"{args[0]} / {args[1]}"
    return f"_divide({args[0]}, {args[1]})"


def _cast(node: Node, args: list[str]) -> str:
    return f"{'bool' if node.dtype == BOOL else 'int' if node.dtype.kind == 'i' else 'float'}({args[0]})"


def _by_type(for_floats: str, for_integers: str) -> Rule:
    return lambda node, args: (for_floats if node.dtype.kind == "f" else for_integers).format(*args)


class PythonLanguage(Language):
    """Python with its own numbers and lists."""

    target: ClassVar[str] = "plain Python"
    both: ClassVar[str] = "and"
    either: ClassVar[str] = "or"
    rules: ClassVar[Mapping[str, Rule]] = {
        "add": "{0} + {1}",
        "subtract": "{0} - {1}",
        "multiply": "{0} * {1}",
        "divide": _divide,
        "floor_divide": "{0} // {1}",
        "remainder": "{0} % {1}",
        "fmod": _by_type("_call(math.fmod, {0}, {1})", "int(math.fmod({0}, {1}))"),
        "power": "_call(math.pow, {0}, {1})",
        "negative": "-{0}",
        "absolute": "abs({0})",
        "sign": "(1.0 if {0} > 0 else -1.0 if {0} < 0 else {0})",
        "square": "{0} * {0}",
        "reciprocal": "_divide(1.0, {0})",
        "sqrt": "_call(math.sqrt, {0})",
        "cbrt": "math.copysign(abs({0}) ** (1 / 3), {0})",
        "maximum": "({0} if {0} > {1} or {0} != {0} else {1})",
        "minimum": "({0} if {0} < {1} or {0} != {0} else {1})",
        "where": "({1} if {0} else {2})",
        "copysign": "math.copysign({0}, {1})",
        "floor": "_whole(math.floor, {0})",
        "ceil": "_whole(math.ceil, {0})",
        "trunc": "_whole(math.trunc, {0})",
        "rint": "_whole(round, {0})",
        "cast": _cast,
        "identity": "{0}",
        "stop_gradient": "{0}",
        "exp": "_call(math.exp, {0})",
        "exp2": "_call(math.pow, 2.0, {0})",
        "expm1": "_call(math.expm1, {0})",
        "log": "_log(math.log, {0})",
        "log2": "_log(math.log2, {0})",
        "log10": "_log(math.log10, {0})",
        "log1p": "_log(math.log, 1.0 + {0}) if abs({0}) > 0.5 else math.log1p({0})",
        "relu": "({0} if not {0} < 0 else 0 * {0})",
        "sigmoid": "1 / (1 + _call(math.exp, -{0}))",
        "softplus": "max({0}, 0.0) + math.log1p(math.exp(-abs({0})))",
        "erf": "math.erf({0})",
        "equal": "{0} == {1}",
        "not_equal": "{0} != {1}",
        "less": "{0} < {1}",
        "less_equal": "{0} <= {1}",
        "greater": "{0} > {1}",
        "greater_equal": "{0} >= {1}",
        "isnan": "math.isnan({0})",
        "isinf": "math.isinf({0})",
        "isfinite": "math.isfinite({0})",
        "logical_and": "({0} and {1})",
        "logical_or": "({0} or {1})",
        "logical_xor": "({0} != {1})",
        "logical_not": "(not {0})",
        **{name: f"_call(math.{name}, {{0}})" for name in ("sin", "cos", "tan", "cosh")},
        "sinh": "math.copysign(_call(math.sinh, abs({0})), {0})",
        "tanh": "math.tanh({0})",
        **{f"arc{name}": f"_call(math.a{name}, {{0}})" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        "arctan2": "math.atan2({0}, {1})",
    }

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        number = np.asarray(value, dtype=dtype)[()]
        if dtype.kind != "f":
            return str(number.item())
        if not math.isfinite(number):
            return "math.nan" if math.isnan(number) else "math.inf" if number > 0 else "-math.inf"
        return str(number)

    def comment(self, text: str) -> None:
        self.write(python_comment(text))

    def scope(self) -> AbstractContextManager[None]:
        return nullcontext()

    def loop(self, index: str, count: int) -> Any:
        return self.block(f"for {index} in range({count}):")

    def repeat_while(self, condition: str) -> Any:
        return self.block(f"while {condition}:")

    def buffer(self, name: str, dtype: np.dtype[Any], size: int, offset: int) -> None:
        self.write(f"{name} = [{self.literal(0, dtype)}] * {size}")

    def constant(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        self.write(f"{name} = {value}")

    def variable(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        self.write(f"{name} = {value}")

    def assign(self, place: str, value: str, operator: str = "") -> None:
        self.write(f"{place} {operator}= {value}")

    def choice(self, condition: str, value: str, other: str) -> str:
        return f"{value} if {condition} else {other}"

    def position(self, name: str, value: str, size: int) -> str:
        self.write(f"{name} = _position({value}, {size})")
        return name

    def function(self, name: str, dtype: np.dtype[Any], value: str) -> str:
        return f"_{'log' if name == 'log' else 'call'}(math.{name}, {value})"


def python_only_files(inference: InferenceGraph, path: Path) -> dict[Path, bytes]:
    """The file and its content."""
    code = PythonLanguage()
    Loops(inference, code).write()
    inputs, outputs = inference.inputs, inference.outputs
    columns = any(port.is_column for port in inputs)
    made = [f"    {port.name} = [{code.literal(0, port.dtype)}] * {port.size}" for port in outputs]
    results = [f"classes_{port.name}[{port.name}[0]]" if port.kind == "label" else port.name for port in outputs]
    lines = [*(_read(port) for port in inputs if port.is_column), *made, *code.lines]
    body = "\n".join([*lines, f"    return {returned(outputs, results)}"])
    helpers = helpers_for(body, HELPERS)
    constants = [f"indices_{port.name} = {category_indices(port)}" for port in inputs if port.kind == "category"]
    constants += [f"classes_{port.name} = {class_list(port)}" for port in outputs if port.kind == "label"]
    arguments = "row" if columns else ", ".join(port.name for port in inputs)
    takes = "a dict of the columns" if columns else ", ".join(_described(port) for port in inputs)
    about = python_docstring(
        "Return the prediction for one row.", "", f"Inputs: {takes}.", f"Outputs: {inference.gives}.", indent="    "
    )
    modules = ["base64", *(["datetime"] if HELPERS["_days"].strip("\n") in helpers else []), "math", "struct"]
    sections = [
        python_docstring(inference.title.shown(), "", "Written by madaline. Requires only Python."),
        "\n".join(f"import {module}" for module in modules),
        _ARRAY,
        "\n".join([*(_weights(name, value) for name, value in inference.arrays.items()), *constants]),
        *helpers,
        f"def predict_row({arguments}):\n    {about}\n{body}",
    ]
    return {path: ("\n\n\n".join(section.strip("\n") for section in sections if section) + "\n").encode()}


def _described(port: Port) -> str:
    return f"{port.name} (a list of {port.size} numbers)"


def _read(port: Port) -> str:
    """The statement that reads a column."""
    value = f"row[{python_literal(port.title)}]"
    if port.kind == "category":
        return f"    {port.name} = [_index({value}, indices_{port.name})]"
    return f"    {port.name} = [_{'days' if port.kind == 'date' else 'number'}({value})]"


def _weights(name: str, value: np.ndarray) -> str:
    kind = KINDS[value.dtype.name]
    text = base64.b64encode(value.astype(value.dtype.newbyteorder("<")).tobytes()).decode()
    return f'{name} = _array("<{value.size}{kind}", "{text}")'


_ARRAY = """
def _array(kinds, text):
    return struct.unpack(kinds, base64.b64decode(text))
"""

HELPERS = {
    "_number": """
def _number(value):
    return math.nan if value is None else float(value)
""",
    "_index": '''
def _index(value, known):
    """The index of a category; -1 if it is unknown, -2 if it is missing."""
    if value is None or value != value or value == "":
        return -2
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text.removesuffix(".0") if isinstance(value, float) else text
    if text in known:
        return known[text]
    # A boolean stands for "True" or "TRUE", and 7 for "007", if one category is meant.
    same = [] if isinstance(value, str) else [name for name in known if name.lower().lstrip("0") == text.lstrip("0")]
    return known[same[0]] if len(same) == 1 else -1
''',
    "_days": '''
def _days(value):
    """Days since 1970-01-01, with the time of day as a fraction.

    The value is a date, a text in ISO format or the number of days; the result is NaN if it is missing.
    """
    if value is None or value == "":
        return math.nan
    if isinstance(value, (int, float)):
        return float(value)
    moment = datetime.datetime.fromisoformat(str(value)).replace(tzinfo=None)
    return (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
''',
    "_call": """
def _call(function, *numbers):
    try:
        return function(*numbers)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan
""",
    "_log": """
def _log(function, x):
    return function(x) if x > 0 else -math.inf if x == 0 else math.nan
""",
    "_divide": """
def _divide(a, b):
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
""",
    "_whole": """
def _whole(function, x):
    return float(function(x)) if math.isfinite(x) else x
""",
    "_position": """
def _position(index, size):
    if not -size <= index < size:
        raise IndexError(f"{index} is not the index of one of the {size} known categories.")
    return index % size
""",
}
"Functions that statements may call; a file contains those that it needs."
