"""What loops are written in: a language says how statements look, and how elementwise primitives are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from madaline.graph.node import Node

Rule = str | Callable[[Node, list[str]], str]
"An expression with ``{0}`` for the first argument, or a function that gives one."


class Language:
    """Statements, one a line, as they are asked for."""

    target: ClassVar[str]
    "As messages call it."
    rules: ClassVar[Mapping[str, Rule]]
    "How each elementwise primitive is computed from numbers."
    both: ClassVar[str]
    either: ClassVar[str]

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 1

    def write(self, line: str) -> None:
        """A line at the current depth."""
        self.lines.append("    " * self._depth + line)

    @contextmanager
    def block(self, head: str, end: str = "") -> Iterator[None]:
        """Lines that belong to a head."""
        self.write(head)
        self._depth += 1
        yield
        self._depth -= 1
        if end:
            self.write(end)

    def expression(self, node: Node, args: list[str]) -> str:
        """An elementwise primitive of some numbers."""
        rule = self.rules[node.primitive.name]
        return rule(node, args) if callable(rule) else rule.format(*args)

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        """A number."""
        raise NotImplementedError

    def comment(self, text: str) -> None:
        """A line for the reader."""
        raise NotImplementedError

    def scope(self) -> Any:
        """Lines whose names are their own."""
        raise NotImplementedError

    def loop(self, index: str, count: int) -> Any:
        """Lines for each index below a count."""
        raise NotImplementedError

    def repeat_while(self, condition: str) -> Any:
        """Lines as long as a condition holds."""
        raise NotImplementedError

    def buffer(self, name: str, dtype: np.dtype[Any], size: int, offset: int) -> None:
        """Space for numbers; ``offset`` counts in a scratch array of its type."""
        raise NotImplementedError

    def constant(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        """A number that has a name and stays."""
        raise NotImplementedError

    def variable(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        """A number that changes."""
        raise NotImplementedError

    def assign(self, place: str, value: str, operator: str = "") -> None:
        """Put a number somewhere, or add it with ``operator="+"``."""
        raise NotImplementedError

    def choice(self, condition: str, value: str, other: str) -> str:
        """One of two."""
        raise NotImplementedError

    def position(self, name: str, value: str, size: int) -> str:
        """An index, from the end if negative, checked to be below ``size``; gives what to write for it."""
        raise NotImplementedError

    def function(self, name: str, dtype: np.dtype[Any], value: str) -> str:
        """A function of one number, by its name in C's library."""
        raise NotImplementedError

    def as_index(self, value: str) -> str:
        """An integer as an index."""
        return value

    def as_integer(self, index: str) -> str:
        """An index as an integer."""
        return index
