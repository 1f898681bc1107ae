"""The syntax of C99, and how to compute elementwise primitives in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from madaline.graph.node import BOOL, Node
from madaline.ship.escape import c_comment
from madaline.ship.language import Language, Rule

TYPES = {"float32": "float", "float64": "double", "int64": "int64_t", "bool": "bool", "uint64": "size_t"}


def _f(name: str) -> Callable[[Node, list[str]], str]:
    """A function of ``math.h`` for the type of its argument."""

    def rule(node: Node, args: list[str]) -> str:
        return f"{name}{'f' if node.inputs[0].dtype == np.float32 else ''}({', '.join(args)})"

    return rule


def _number(value: float, node: Node) -> str:
    return literal(value, node.inputs[0].dtype)


def _by_type(for_floats: Rule, for_integers: str) -> Rule:
    def rule(node: Node, args: list[str]) -> str:
        if node.dtype.kind != "f":
            return for_integers.format(*args)
        return for_floats(node, args) if callable(for_floats) else for_floats.format(*args)

    return rule


def _floor_of_quotient(node: Node, args: list[str]) -> str:
    return _f("floor")(node, [f"{args[0]} / {args[1]}"])


def _sigmoid(node: Node, args: list[str]) -> str:
    one = _number(1, node)
    return f"{one} / ({one} + {_f('exp')(node, [f'-{args[0]}'])})"


def _softplus(node: Node, args: list[str]) -> str:
    small = _f("exp")(node, [f"-{_f('fabs')(node, args)}"])
    return f"{_f('fmax')(node, [args[0], _number(0, node)])} + {_f('log1p')(node, [small])}"


def _cast(node: Node, args: list[str]) -> str:
    return f"{args[0]} != 0" if node.dtype == BOOL else f"({TYPES[node.dtype.name]}){args[0]}"


_SAME_NAME = (
    "sqrt cbrt copysign floor ceil trunc rint exp exp2 expm1 log log2 log10 log1p erf sin cos tan sinh cosh tanh"
)


class CLanguage(Language):
    """C99."""

    target: ClassVar[str] = "C"
    both: ClassVar[str] = "&&"
    either: ClassVar[str] = "||"
    rules: ClassVar[Mapping[str, Rule]] = {
        "add": "{0} + {1}",
        "subtract": "{0} - {1}",
        "multiply": "{0} * {1}",
        "divide": "{0} / {1}",
        "floor_divide": _by_type(_floor_of_quotient, "({0} - (({0} % {1}) + {1}) % {1}) / {1}"),
        "remainder": _by_type(
            lambda node, x: f"{x[0]} - {x[1]} * {_floor_of_quotient(node, x)}", "(({0} % {1}) + {1}) % {1}"
        ),
        "fmod": _by_type(_f("fmod"), "{0} % {1}"),
        "power": _f("pow"),
        "negative": "-{0}",
        "absolute": _by_type(_f("fabs"), "({0} < 0 ? -{0} : {0})"),
        "sign": "({0} > 0 ? 1 : {0} < 0 ? -1 : {0})",
        "square": "{0} * {0}",
        "reciprocal": "1 / {0}",
        "maximum": _by_type("({0} > {1} || {0} != {0} ? {0} : {1})", "({0} > {1} ? {0} : {1})"),
        "minimum": _by_type("({0} < {1} || {0} != {0} ? {0} : {1})", "({0} < {1} ? {0} : {1})"),
        "where": "({0} ? {1} : {2})",
        "cast": _cast,
        "identity": "{0}",
        "stop_gradient": "{0}",
        "relu": "({0} < 0 ? 0 : {0})",
        "sigmoid": _sigmoid,
        "softplus": _softplus,
        "equal": "{0} == {1}",
        "not_equal": "{0} != {1}",
        "less": "{0} < {1}",
        "less_equal": "{0} <= {1}",
        "greater": "{0} > {1}",
        "greater_equal": "{0} >= {1}",
        "isnan": "isnan({0}) != 0",
        "isinf": "isinf({0}) != 0",
        "isfinite": "isfinite({0}) != 0",
        "logical_and": "{0} && {1}",
        "logical_or": "{0} || {1}",
        "logical_xor": "{0} != {1}",
        "logical_not": "!{0}",
        **{name: _f(name) for name in _SAME_NAME.split()},
        **{f"arc{name}": _f(f"a{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    }

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        return literal(value, dtype)

    def comment(self, text: str) -> None:
        self.write(c_comment(text))

    def scope(self) -> Any:
        return self.block("{", "}")

    def loop(self, index: str, count: int) -> Any:
        return self.block(f"for (size_t {index} = 0; {index} < {count}; ++{index}) {{", "}")

    def repeat_while(self, condition: str) -> Any:
        return self.block(f"while ({condition}) {{", "}")

    def buffer(self, name: str, dtype: np.dtype[Any], size: int, offset: int) -> None:
        self.write(f"{TYPES[dtype.name]} *const {name} = scratch_{dtype.name} + {offset};")

    def constant(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        self.write(f"const {TYPES[dtype.name]} {name} = {value};")

    def variable(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        self.write(f"{TYPES[dtype.name]} {name} = {value};")

    def assign(self, place: str, value: str, operator: str = "") -> None:
        self.write(f"{place} {operator}= {value};")

    def choice(self, condition: str, value: str, other: str) -> str:
        return f"{condition} ? {value} : {other}"

    def position(self, name: str, value: str, size: int) -> str:
        self.write(f"const int64_t given = {value};")
        self.write(f"const int64_t {name} = given < 0 ? given + {size} : given;")
        self.write(f"if ({name} < 0 || {name} >= {size}) return 1;")
        return f"(size_t){name}"

    def function(self, name: str, dtype: np.dtype[Any], value: str) -> str:
        return f"{name}{'f' if dtype == np.float32 else ''}({value})"

    def as_index(self, value: str) -> str:
        return f"(size_t){value}"

    def as_integer(self, index: str) -> str:
        return f"(int64_t){index}"


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A number in C notation, with the digits that its dtype needs."""
    number = np.asarray(value, dtype=dtype)[()]
    if dtype.kind != "f":
        return str(int(number))
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    return f"{number!s}{'f' if dtype == np.float32 else ''}"
