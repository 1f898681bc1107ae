"""A function of one example applied to a batch of them, as one computation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import ShapeError
from madaline.functional.evaluate import Arguments, names_of, output_node
from madaline.functional.gradient import call
from madaline.graph.batching import batched
from madaline.graph.node import constant, new_input
from madaline.graph.tree import flatten, tree_map, unflatten

Axes = int | None | Sequence[int | None]


def vmap(f: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0) -> Callable[..., Any]:
    """Vectorise a function: ``f`` is written for one example and applied to all examples at once.

    The function is traced once, and every operation of it becomes one operation on the whole batch. It can be combined
    with ``grad``, ``jacobian`` and ``compile`` in any order.

    Parameters
    ----------
    f : callable
        Written with NumPy for one example. Branches cannot depend on values, which differ between examples.
    in_axes : int, None or sequence of these, default 0
        The axis of each positional argument that counts the examples; None for an argument that all examples share.
        All arrays of a nested argument have the same axis.
    out_axes : int, default 0
        The axis that counts the examples in the results.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> def loss(w, x):
    ...     return np.tanh(x @ w) ** 2
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> each = md.vmap(md.grad(loss), in_axes=(None, 0))          # the gradient for every row
    >>> each(np.zeros(2), X).shape
    (3, 2)
    """

    @functools.wraps(f, assigned=(), updated=())
    def function(*args: Any, **kwargs: Any) -> Any:
        axes = list(in_axes) if isinstance(in_axes, Sequence) else [in_axes] * len(args)
        if len(axes) != len(args):
            raise ShapeError(f"in_axes={in_axes!r} has {len(axes)} entries for {len(args)} positional arguments.")
        positions = [position for position, axis in enumerate(axes) if axis is not None]
        if not positions:
            raise ShapeError("in_axes is None for all arguments; one of them must have an axis for the examples.")
        leaves, structure = flatten([args[position] for position in positions])
        leaf_axes: list[Any] = [axes[position] for position in positions for _ in flatten(args[position])[0]]
        arguments = Arguments(leaves, names_of(f, args, positions))
        size = _size(arguments.nodes, leaf_axes)
        nodes: list[Any] = arguments.nodes
        fronts = [np.moveaxis(node, axis, 0) for node, axis in zip(nodes, leaf_axes, strict=True)]
        examples = [new_input(i, front.shape[1:], front.dtype) for i, front in enumerate(fronts)]
        # Shared arrays are traced as well, so that they can be indexed by what differs between examples.
        shared = tuple(arg if position in positions else tree_map(_traced, arg) for position, arg in enumerate(args))
        result = call(f, shared, kwargs, positions, unflatten(structure, examples), [*examples, *arguments.nodes])
        out_leaves, out_structure = flatten(result)
        outputs = [output_node(leaf) for leaf in out_leaves]
        given = {id(example): front for example, front in zip(examples, fronts, strict=True)}
        found = [y if depends else np.broadcast_to(y, (size, *y.shape)) for y, depends in batched(outputs, given, size)]
        return unflatten(out_structure, arguments.run([np.moveaxis(y, 0, out_axes) for y in found]))

    return function


def _traced(leaf: Any) -> Any:
    return constant(leaf) if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fiub" else leaf


def _size(nodes: Sequence[Any], axes: Sequence[Any]) -> int:
    sizes = set()
    for node, axis in zip(nodes, axes, strict=True):
        if not -node.ndim <= axis < node.ndim:
            raise ShapeError(f"in_axes has axis {axis} for an argument of shape {node.shape}.")
        sizes.add(node.shape[axis])
    if len(sizes) != 1:
        raise ShapeError(f"The arguments have {' and '.join(map(str, sorted(sizes)))} examples; they must be equal.")
    return int(sizes.pop())
