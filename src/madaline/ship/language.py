"""The syntax of the languages that loops are written in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from madaline.graph.node import Node

Rule = str | Callable[[Node, list[str]], str]
"An expression with ``{0}`` for the first argument, or a function that returns one."


class Language:
    """Statements, one per line, in the order in which they are written."""

    target: ClassVar[str]
    "The name of the target in error messages."
    rules: ClassVar[Mapping[str, Rule]]
    "How to compute each elementwise primitive from numbers."
    both: ClassVar[str]
    either: ClassVar[str]

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 1

    def write(self, line: str) -> None:
        """Write a line at the current indentation."""
        self.lines.append("    " * self._depth + line)

    @contextmanager
    def block(self, head: str, end: str = "") -> Iterator[None]:
        """Write a block: the head, indented lines, and the end."""
        self.write(head)
        self._depth += 1
        yield
        self._depth -= 1
        if end:
            self.write(end)

    def expression(self, node: Node, args: list[str]) -> str:
        """An expression for an elementwise primitive."""
        rule = self.rules[node.primitive.name]
        return rule(node, args) if callable(rule) else rule.format(*args)

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        """A number in the notation of the language."""
        raise NotImplementedError

    def comment(self, text: str) -> None:
        """Write a comment. Characters that could end it are escaped."""
        raise NotImplementedError

    def scope(self) -> Any:
        """A block with a scope of its own for names."""
        raise NotImplementedError

    def loop(self, index: str, count: int) -> Any:
        """A loop over the indices below a count."""
        raise NotImplementedError

    def repeat_while(self, condition: str) -> Any:
        """A loop that runs while a condition holds."""
        raise NotImplementedError

    def buffer(self, name: str, dtype: np.dtype[Any], size: int, offset: int) -> None:
        """Reserve space for numbers, at this offset in the scratch array of their dtype."""
        raise NotImplementedError

    def constant(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        """Define a named number that does not change."""
        raise NotImplementedError

    def variable(self, name: str, dtype: np.dtype[Any], value: str) -> None:
        """Define a named number that may change."""
        raise NotImplementedError

    def assign(self, place: str, value: str, operator: str = "") -> None:
        """Assign a number, or add it with ``operator="+"``."""
        raise NotImplementedError

    def choice(self, condition: str, value: str, other: str) -> str:
        """A conditional expression."""
        raise NotImplementedError

    def position(self, name: str, value: str, size: int) -> str:
        """Define an index, counted from the end if negative and checked against ``size``; return its expression."""
        raise NotImplementedError

    def function(self, name: str, dtype: np.dtype[Any], value: str) -> str:
        """A call of a function of one number, by its name in the C library."""
        raise NotImplementedError

    def product(
        self, y: str, x: tuple[str, int], W: tuple[str, int], strides: tuple[int, ...], counts: tuple[int, int]
    ) -> bool:
        """Add the product of a vector and a matrix to ``y`` by a call, and return True; by default, return False.

        Parameters
        ----------
        y : str
            Name of the result, which holds zeros.
        x, W : (str, int)
            Names of the arrays that hold the factors, and where they begin.
        strides : three int
            Of ``x``, and of the rows and columns of ``W``.
        counts : (int, int)
            Number of rows and columns of ``W``.
        """
        return False

    def as_index(self, value: str) -> str:
        """Convert an integer to an index."""
        return value

    def as_integer(self, index: str) -> str:
        """Convert an index to an integer."""
        return index
