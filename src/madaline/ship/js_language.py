"""The syntax of JavaScript, and how to compute elementwise primitives in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from madaline.graph.node import BOOL, Node
from madaline.ship.escape import js_comment
from madaline.ship.language import Language, Rule


def _cast(node: Node, args: list[str]) -> str:
    if node.dtype == BOOL:
        return f"({args[0]} != 0)"
    if node.dtype.kind == "i":
        return f"Math.trunc({args[0]})"
    return f"Math.fround({args[0]})" if node.dtype == np.float32 else f"Number({args[0]})"


_SAME_NAME = "sqrt cbrt sign floor ceil trunc exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh"


class JavaScriptLanguage(Language):
    """JavaScript with its own numbers, which are doubles, in typed arrays."""

    target: ClassVar[str] = "JavaScript"
    both: ClassVar[str] = "&&"
    either: ClassVar[str] = "||"
    rules: ClassVar[Mapping[str, Rule]] = {
        "add": "{0} + {1}",
        "subtract": "{0} - {1}",
        "multiply": "{0} * {1}",
        "divide": "{0} / {1}",
        "floor_divide": "Math.floor({0} / {1})",
        "remainder": "{0} - {1} * Math.floor({0} / {1})",
        "fmod": "{0} % {1}",
        "power": "_power({0}, {1})",
        "negative": "-({0})",
        "absolute": "Math.abs({0})",
        "square": "{0} * {0}",
        "reciprocal": "1 / {0}",
        "maximum": "Math.max({0}, {1})",
        "minimum": "Math.min({0}, {1})",
        "where": "({0} ? {1} : {2})",
        "copysign": "_copysign({0}, {1})",
        "rint": "_rint({0})",
        "cast": _cast,
        "identity": "{0}",
        "stop_gradient": "{0}",
        "exp2": "Math.pow(2, {0})",
        "relu": "({0} < 0 ? 0 : {0})",
        "sigmoid": "1 / (1 + Math.exp(-({0})))",
        "softplus": "Math.max({0}, 0) + Math.log1p(Math.exp(-Math.abs({0})))",
        "erf": "_erf({0})",
        "equal": "({0} == {1})",
        "not_equal": "({0} != {1})",
        "less": "({0} < {1})",
        "less_equal": "({0} <= {1})",
        "greater": "({0} > {1})",
        "greater_equal": "({0} >= {1})",
        "isnan": "Number.isNaN({0})",
        "isinf": "(Math.abs({0}) === Infinity)",
        "isfinite": "Number.isFinite({0})",
        "logical_and": "({0} && {1})",
        "logical_or": "({0} || {1})",
        "logical_xor": "({0} != {1})",
        "logical_not": "(!{0})",
        **{name: f"Math.{name}({{0}})" for name in _SAME_NAME.split()},
        **{f"arc{name}": f"Math.a{name}({{0}})" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        "arctan2": "Math.atan2({0}, {1})",
    }

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        number = np.asarray(value, dtype=dtype)[()]
        if dtype.kind != "f":
            return str(int(number))
        if not math.isfinite(number):
            return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
        return str(number)

    def comment(self, text: str) -> None:
        self.write(js_comment(text))

    def scope(self) -> Any:
        return self.block("{", "}")

    def loop(self, index: str, count: int) -> Any:
        return self.block(f"for (let {index} = 0; {index} < {count}; ++{index}) {{", "}")

    def repeat_while(self, condition: str) -> Any:
        return self.block(f"while ({condition}) {{", "}")

    def buffer(self, name: str, dtype: np.dtype[Any], size: int, offset: int) -> None:
        self.write(f"const {name} = scratch_{dtype.name}.subarray({offset}, {offset + size});")

    def constant(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        self.write(f"const {name} = {value};")

    def variable(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        self.write(f"let {name} = {value};")

    def assign(self, place: str, value: str, operator: str = "") -> None:
        self.write(f"{place} {operator}= {value};")

    def choice(self, condition: str, value: str, other: str) -> str:
        return f"({condition} ? {value} : {other})"

    def position(self, name: str, value: str, size: int) -> str:
        self.write(f"const {name} = _position({value}, {size});")
        return name

    def product(
        self, y: str, x: tuple[str, int], W: tuple[str, int], strides: tuple[int, ...], counts: tuple[int, int]
    ) -> bool:
        """A call: browsers compile a small function that is called often, but not a long one."""
        numbers = ", ".join(map(str, (*strides, *counts)))
        self.write(f"_product({y}, {x[0]}, {x[1]}, {W[0]}, {W[1]}, {numbers});")
        return True

    def function(self, name: str, dtype: np.dtype[Any], value: str) -> str:
        return f"Math.{'abs' if name == 'fabs' else name}({value})"


HELPERS = {
    "_product": """
function _product(y, x, xStart, W, wStart, xStep, wRow, wColumn, rows, columns) {
  for (let k = 0; k < rows; ++k) {
    const factor = x[xStart + k * xStep];
    let at = wStart + k * wRow;
    for (let j = 0; j < columns; ++j, at += wColumn) y[j] += factor * W[at];
  }
}
""",
    "_power": """
function _power(x, y) {  // as in C: 1 to any power, and -1 to an infinite one, are 1
  return x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : Math.pow(x, y);
}
""",
    "_copysign": """
function _copysign(x, y) {
  return Math.abs(x) * (y < 0 || Object.is(y, -0) ? -1 : 1);
}
""",
    "_rint": """
function _rint(x) {  // half to even
  const y = Math.round(x);
  return Math.abs(x % 1) === 0.5 && y % 2 !== 0 ? y - 1 : y;
}
""",
    "_erf": """
function _erf(x) {  // 2 / sqrt(pi) * exp(-x^2) * sum of 2^n x^(2 n + 1) / (1 * 3 * ... * (2 n + 1))
  if (!(Math.abs(x) < 6)) return Number.isNaN(x) ? NaN : Math.sign(x);
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); ++n) {
    term *= 2 * x * x / (2 * n + 1);
    sum += term;
  }
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}
""",
    "_position": """
function _position(index, size) {
  if (!(index >= -size && index < size)) throw new RangeError(`${index} is not the index of a known category.`);
  return index < 0 ? index + size : index;
}
""",
}
"Functions that statements may call; a file contains those that it needs."
