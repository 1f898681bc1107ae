"""NumPy's products on traced values: all of them end in ``matmul``."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.node import Node, as_node, graph_dtype
from madaline.graph.numpy_api.dispatch import implements
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import broadcast, is_symbolic, normalize_axis, show


@implements(np.matmul)
def matmul(a: Any, b: Any) -> Any:
    a, b = as_node(a), as_node(b)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError("matmul needs at least one axis on both sides; multiply by a scalar with *.")
    dtype = graph_dtype(np.result_type(a.dtype, b.dtype))
    dtype = dtype if dtype.kind == "f" else np.dtype(np.int64)
    a, b = a.astype(dtype), b.astype(dtype)
    left = a.reshape((1, *a.shape)) if a.ndim == 1 else a
    right = b.reshape((*b.shape, 1)) if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(
            f"matmul: the last axis of {show(a.shape)} must equal the {'only' if b.ndim == 1 else 'second last'} axis of {show(b.shape)}."
        )
    result = _matmul(left, right)
    shape = result.shape
    if b.ndim == 1:
        shape = shape[:-1]
    if a.ndim == 1:
        shape = (*shape[:-2], shape[-1]) if b.ndim > 1 else shape[:-1]
    return result.reshape(shape)


def _matmul(a: Node, b: Node) -> Any:
    if b.ndim == 2 and a.ndim > 2 and not is_symbolic(a.shape):
        # One large product instead of many small ones.
        flat = a.reshape((prod(a.shape[:-1]), a.shape[-1]))
        return PRIMITIVES["matmul"](flat, b).reshape((*a.shape[:-1], b.shape[-1]))
    lead = broadcast(a.shape[:-2], b.shape[:-2])
    return PRIMITIVES["matmul"](np.broadcast_to(a, (*lead, *a.shape[-2:])), np.broadcast_to(b, (*lead, *b.shape[-2:])))


@implements(np.dot)
def dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(b) <= 2:
        return matmul(a, b)
    return tensordot(a, b, axes=((np.ndim(a) - 1,), (np.ndim(b) - 2,)))


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    return matmul(np.ravel(a), np.ravel(b))


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    return tensordot(a, b, axes=((np.ndim(a) - 1,), (np.ndim(b) - 1,)))


@implements(np.outer)
def outer(a: Any, b: Any) -> Any:
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))


@implements(np.vecdot)
def vecdot(a: Any, b: Any) -> Any:
    return np.sum(np.multiply(a, b), axis=-1)


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = as_node(a), as_node(b)
    if isinstance(axes, (int, np.integer)):
        left, right = tuple(range(a.ndim - int(axes), a.ndim)), tuple(range(int(axes)))
    else:
        pairs = [item if isinstance(item, (tuple, list)) else (item,) for item in axes]
        left = tuple(normalize_axis(axis, a.ndim) for axis in pairs[0])
        right = tuple(normalize_axis(axis, b.ndim) for axis in pairs[1])
    letters = [chr(ord("a") + i) for i in range(a.ndim + b.ndim)]
    first, second = letters[: a.ndim], letters[a.ndim :]
    for i, j in zip(left, right, strict=True):
        second[j] = first[i]
    kept = [c for i, c in enumerate(first) if i not in left] + [c for j, c in enumerate(second) if j not in right]
    return contract([("".join(first), a), ("".join(second), b)], "".join(kept))


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    a, b = as_node(a), as_node(b)
    rank = max(a.ndim, b.ndim)
    first, second = a.reshape((1,) * (rank - a.ndim) + a.shape), b.reshape((1,) * (rank - b.ndim) + b.shape)
    spread = first.reshape(tuple(s for size in first.shape for s in (size, 1))) * second.reshape(
        tuple(s for size in second.shape for s in (1, size))
    )
    return spread.reshape(tuple(x * y for x, y in zip(first.shape, second.shape, strict=True)))


@implements(np.trace)
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.diagonal(x, offset, axis1, axis2).sum(axis=-1)


@implements(np.cross)
def cross(a: Any, b: Any, axis: int = -1) -> Any:
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ShapeError("np.cross on traced values needs vectors of three components.")
    parts = [a[..., (i + 1) % 3] * b[..., (i + 2) % 3] - a[..., (i + 2) % 3] * b[..., (i + 1) % 3] for i in range(3)]
    return np.moveaxis(np.stack(parts, axis=-1), -1, axis)


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - NumPy's name
    """Vector norms and the Frobenius norm; the derivative of a 2-norm at the origin is 0."""
    if axis is None and ord is None:
        flat = norm(x.ravel(), 2, 0)
        return flat.reshape((1,) * x.ndim) if keepdims else flat
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 2 and ord not in (None, "fro"):
        raise TraceError(
            f"np.linalg.norm(ord={ord!r}) of a matrix is not supported on traced values; the Frobenius norm (ord=None) is."
        )
    if ord in (None, 2, "fro"):
        squared = np.sum(np.square(x), axis=axes, keepdims=keepdims)
        origin = squared == 0.0
        return np.where(origin, 0.0, np.sqrt(np.where(origin, 1.0, squared)))
    if ord == 1:
        return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axes, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axes, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(x.dtype), axis=axes, keepdims=keepdims)
    return np.sum(np.abs(x) ** ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)


@implements(np.einsum)
def einsum(subscripts: Any, *operands: Any, optimize: Any = True) -> Any:
    if not isinstance(subscripts, str):
        raise TraceError(
            "np.einsum on traced values takes its subscripts as a string, as in np.einsum('ij,jk->ik', a, b)."
        )
    nodes = [as_node(x) for x in operands]
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(nodes):
        raise ShapeError(f"np.einsum({subscripts!r}) names {len(terms)} operands but got {len(nodes)}.")
    terms, output = _spell_out(terms, output if "->" in subscripts else None, [node.ndim for node in nodes], subscripts)
    return contract([_diagonal_of(term, node) for term, node in zip(terms, nodes, strict=True)], output)


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


def _diagonal_of(term: str, x: Node) -> tuple[str, Node]:
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first, second = term.index(letter), term.index(letter, term.index(letter) + 1)
            x = np.diagonal(x, 0, first, second)
            term = "".join(c for i, c in enumerate(term) if i not in (first, second)) + letter
    return term, x


def contract(terms: list[tuple[str, Any]], output: str) -> Any:
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
    left = np.transpose(a, [first.index(c) for c in batch + rows + inner_])
    right = np.transpose(b, [second.index(c) for c in batch + inner_ + columns])

    def size(letters: list[str]) -> Any:
        return prod((sizes[c] for c in letters), start=1)

    lead = tuple(sizes[c] for c in batch)
    product = matmul(
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


def _stretched(term: str, x: Any, sizes: dict[str, Any], other: str) -> Any:
    return np.broadcast_to(x, tuple(sizes[c] if c in other else size for c, size in zip(term, x.shape, strict=True)))
