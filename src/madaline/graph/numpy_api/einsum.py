"""``np.einsum`` on traced values: a sum of products, two operands at a time, each step one matrix product."""

from __future__ import annotations

from math import prod
from string import ascii_letters
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node, as_node
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.shapes import Size


@implements(np.einsum)
def einsum(subscripts: Any, *operands: Any, optimize: Any = True) -> Array:
    if not isinstance(subscripts, str):
        subscripts, operands = _lists_to_text((subscripts, *operands))
    nodes = [as_node(x) for x in operands]
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(nodes):
        raise ShapeError(f"np.einsum({subscripts!r}) names {len(terms)} operands but got {len(nodes)}.")
    terms, output = _spell_out(terms, output if "->" in subscripts else None, [node.ndim for node in nodes], subscripts)
    return contract([_diagonal_of(term, node) for term, node in zip(terms, nodes, strict=True)], output)


def _lists_to_text(items: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The other notation, ``np.einsum(a, [0, 1], b, [1, 2], [0, 2])``, as text."""

    def text(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else ascii_letters[label] for label in labels)

    count = len(items) // 2
    terms = ",".join(text(labels) for labels in items[1 : 2 * count : 2])
    return (f"{terms}->{text(items[-1])}" if len(items) % 2 else terms), items[: 2 * count : 2]


def _spell_out(terms: list[str], output: str | None, ranks: list[int], subscripts: str) -> tuple[list[str], str]:
    """Replace each ellipsis by letters of its own, and add the output that is implied without an arrow."""
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts]
    widest, spelled = 0, []
    for term, rank in zip(terms, ranks, strict=True):
        named = len(term.replace("...", ""))
        if (named > rank) or ("..." not in term and named != rank):
            raise ShapeError(f"np.einsum({subscripts!r}): the term {term!r} does not fit an operand with {rank} axes.")
        widest = max(widest, rank - named)
    for term, rank in zip(terms, ranks, strict=True):
        extra = rank - len(term.replace("...", ""))
        spelled.append(term.replace("...", "".join(free[widest - extra : widest])))
    ellipsis = "".join(free[:widest])
    if output is None:
        letters = "".join(term.replace("...", "") for term in terms)
        return spelled, ellipsis + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return spelled, output.replace("...", ellipsis)


def _diagonal_of(term: str, x: Operand) -> tuple[str, Any]:
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first, second = term.index(letter), term.index(letter, term.index(letter) + 1)
            x = np.diagonal(x, 0, first, second)
            term = "".join(c for i, c in enumerate(term) if i not in (first, second)) + letter
    return term, x


def contract(terms: list[tuple[str, Any]], output: str) -> Array:
    """Sum of products over the letters that ``output`` lacks, two operands at a time, each step a matrix product."""
    terms = list(terms)
    while len(terms) > 1:
        (first, a), (second, b) = terms[0], terms[1]
        needed = set(output).union(*(set(term) for term, _ in terms[2:])) if len(terms) > 2 else set(output)
        terms[:2] = [_contract_pair(first, a, second, b, needed)]
    term, x = terms[0]
    dropped = tuple(i for i, c in enumerate(term) if c not in output)
    if dropped:
        x, term = x.sum(axis=dropped), "".join(c for c in term if c in output)
    return np.transpose(x, [term.index(c) for c in output]) if term != output else x


def _contract_pair(first: str, a: Node, second: str, b: Node, needed: set[str]) -> tuple[str, Any]:
    sizes = _sizes(first, a, second, b)
    # Letters of one operand alone that nobody needs are summed before, and size-1 axes broadcast by being dropped.
    first, a = _summed(first, a, {c for c in first if c not in second and c not in needed})
    second, b = _summed(second, b, {c for c in second if c not in first and c not in needed})
    a, b = _stretched(first, a, sizes, second), _stretched(second, b, sizes, first)
    shared = [c for c in first if c in second]
    batch, inner_ = [c for c in shared if c in needed], [c for c in shared if c not in needed]
    rows, columns = [c for c in first if c not in second], [c for c in second if c not in first]
    left = a.transpose([first.index(c) for c in batch + rows + inner_])
    right = b.transpose([second.index(c) for c in batch + inner_ + columns])

    def size(letters: list[str]) -> Size:
        return prod((sizes[c] for c in letters), start=1)

    lead = tuple(sizes[c] for c in batch)
    product = np.matmul(
        left.reshape((*lead, size(rows), size(inner_))), right.reshape((*lead, size(inner_), size(columns)))
    )
    return "".join(batch + rows + columns), product.reshape(tuple(sizes[c] for c in batch + rows + columns))


def _sizes(first: str, a: Node, second: str, b: Node) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    for term, x in ((first, a), (second, b)):
        for letter, size in zip(term, x.shape, strict=True):
            if letter in sizes and sizes[letter] != size and 1 not in (size, sizes[letter]):
                raise ShapeError(
                    f"np.einsum: the letter {letter!r} has sizes {sizes[letter]} and {size}; they must be equal."
                )
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    return sizes


def _summed(term: str, x: Node, letters: set[str]) -> tuple[str, Any]:
    axes = tuple(i for i, c in enumerate(term) if c in letters)
    return ("".join(c for c in term if c not in letters), x.sum(axis=axes)) if axes else (term, x)


def _stretched(term: str, x: Array, sizes: dict[str, Any], other: str) -> Any:
    return np.broadcast_to(x, tuple(sizes[c] if c in other else size for c, size in zip(term, x.shape, strict=True)))
