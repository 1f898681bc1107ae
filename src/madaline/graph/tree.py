"""Arguments and results as trees: nested dicts, lists and tuples with anything else as a leaf."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from madaline.errors import ShapeError

Structure = Any
"""A hashable description of the nesting, ``LEAF`` at each leaf."""

LEAF = "*"


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves in order, and the structure that puts them back."""
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves)


def _collect(tree: Any, leaves: list[Any]) -> Structure:
    if isinstance(tree, dict):
        return (dict, tuple(tree), tuple([_collect(item, leaves) for item in tree.values()]))
    if isinstance(tree, (list, tuple)):
        return (type(tree), None, tuple([_collect(item, leaves) for item in tree]))
    if isinstance(tree, Mapping):  # such as the parameters of a model
        return _collect(dict(tree), leaves)
    leaves.append(tree)
    return LEAF


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The tree again, with other leaves."""
    remaining = iter(leaves)
    return _build(structure, remaining)


def _build(structure: Structure, leaves: Any) -> Any:
    if structure is LEAF:
        return next(leaves)
    kind, keys, children = structure
    items = [_build(child, leaves) for child in children]
    if kind is dict:
        return dict(zip(keys, items, strict=True))
    if kind is list:
        return items
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The function applied to every leaf (and to the leaves of trees of the same structure beside it)."""
    leaves, structure = flatten(tree)
    columns = [leaves]
    for other in others:
        other_leaves, other_structure = flatten(other)
        if other_structure != structure:
            raise ShapeError(f"The nesting of {describe(other_structure)} differs from that of {describe(structure)}.")
        columns.append(other_leaves)
    return unflatten(structure, [function(*row) for row in zip(*columns, strict=True)])


def describe(structure: Structure) -> str:
    """The structure as one would type it: ``{'W': *, 'b': *}``."""
    if structure == LEAF:
        return LEAF
    kind, keys, children = structure
    shown = [describe(child) for child in children]
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in zip(keys, shown, strict=True)) + "}"
    left, right = ("[", "]") if kind is list else ("(", ",)" if len(shown) == 1 else ")")
    return left + ", ".join(shown) + right


def paths(structure: Structure, prefix: str = "") -> list[str]:
    """How to reach each leaf: ``['W']``, ``[0]['b']``; empty for a tree that is one leaf."""
    if structure == LEAF:
        return [prefix]
    kind, keys, children = structure
    names = keys if kind is dict else range(len(children))
    return [path for name, child in zip(names, children, strict=True) for path in paths(child, f"{prefix}[{name!r}]")]
