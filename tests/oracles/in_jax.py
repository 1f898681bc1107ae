"""Every primitive in the words of JAX, and a graph run by it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from madaline.graph.node import CONSTANT, INPUT, topological_order
from madaline.graph.trace import Graph

jax.config.update("jax_enable_x64", True)


def _wrapped(indices: Any, size: int) -> Any:
    return jnp.where(indices < 0, indices + size, indices)


def _place(*pieces: Any, shape: Any, starts: Any, steps: Any) -> Any:
    result = jnp.zeros(shape, dtype=pieces[0].dtype)
    for piece, start, step in zip(pieces, starts, steps, strict=True):
        where = tuple(slice(s, s + n * k, k) for s, n, k in zip(start, piece.shape, step, strict=True))
        result = result.at[where].add(piece) if piece.dtype != bool else result.at[where].max(piece)
    return result


def _slice(x: Any, *, starts: Any, shape: Any, steps: Any) -> Any:
    return x[tuple(slice(s, s + n * k, k) for s, n, k in zip(starts, shape, steps, strict=True))]


def _scatter_add(v: Any, indices: Any, *, axis: int, size: int) -> Any:
    rank = indices.ndim
    moved = jnp.moveaxis(v, range(axis, axis + rank), range(rank))
    result = jnp.zeros((size, *moved.shape[rank:]), dtype=v.dtype).at[_wrapped(indices, size)].add(moved)
    return jnp.moveaxis(result, 0, axis)


def _scatter_along(v: Any, indices: Any, *, size: int) -> Any:
    rows = int(np.prod(v.shape[:-1]))
    flat = (jnp.arange(rows)[:, None], _wrapped(indices, size).reshape(rows, v.shape[-1]))
    return jnp.zeros((rows, size), v.dtype).at[flat].add(v.reshape(rows, v.shape[-1])).reshape((*v.shape[:-1], size))


def _cumsum(x: Any, *, axis: int, reverse: bool) -> Any:
    return jnp.flip(jnp.cumsum(jnp.flip(x, axis), axis), axis) if reverse else jnp.cumsum(x, axis)


OTHERS = {
    "identity": lambda x: x,
    "stop_gradient": jax.lax.stop_gradient,
    "cast": lambda x, to: x.astype(to),
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
    "relu": jax.nn.relu,
    "erf": jax.scipy.special.erf,
    "matmul": jnp.matmul,
    "transpose": jnp.transpose,
    "reshape": jnp.reshape,
    "broadcast_to": jnp.broadcast_to,
    "slice": _slice,
    "place": _place,
    "flip": lambda x, axes: jnp.flip(x, axis=axes),
    "take": lambda x, indices, axis: jnp.take(x, _wrapped(indices, x.shape[axis]), axis=axis),
    "scatter_add": _scatter_add,
    "take_along": lambda x, indices: jnp.take_along_axis(x, _wrapped(indices, x.shape[-1]), axis=-1),
    "scatter_along": _scatter_along,
    "sum": lambda x, axes: jnp.sum(x, axis=axes),
    "prod": lambda x, axes: jnp.prod(x, axis=axes),
    "max": lambda x, axes: jnp.max(x, axis=axes),
    "min": lambda x, axes: jnp.min(x, axis=axes),
    "logsumexp": lambda x, axes: jax.scipy.special.logsumexp(x, axis=axes),
    "argmax": lambda x, axis: jnp.argmax(x, axis=axis),
    "argsort": lambda x, axis: jnp.argsort(x, axis=axis, stable=True),
    "cumsum": _cumsum,
}


# Where JAX has another derivative at a kink than PyTorch and we have.
KINKS = {
    "absolute": lambda x: jnp.where(x == 0, jnp.zeros_like(x), jnp.abs(x)),
    "copysign": lambda a, b: jnp.where(a == 0, jax.lax.stop_gradient(jnp.copysign(a, b)), jnp.copysign(a, b)),
}


def function_of(name: str) -> Any:
    """JAX's function for a primitive: NumPy's name, unless it is among the others."""
    table = OTHERS | KINKS
    return table[name] if name in table else getattr(jnp, name)


def run(graph: Graph, arguments: Any) -> list[Any]:
    """The outputs of a graph, by JAX."""
    values: dict[int, Any] = dict(zip(map(id, graph.inputs), arguments, strict=True))
    for node in topological_order(graph.outputs):
        if node.primitive is INPUT:
            continue
        if node.primitive is CONSTANT:
            values[id(node)] = jnp.asarray(node.params["value"])
            continue
        inputs = [values[id(item)] for item in node.inputs]
        values[id(node)] = function_of(node.primitive.name)(*inputs, **node.params).astype(node.dtype)
    return [values[id(node)] for node in graph.outputs]


def value_and_gradient(graph: Graph, arguments: list[np.ndarray], weights: list[float]) -> tuple[list[Any], list[Any]]:
    """The outputs, and the gradient of their weighted sum by every float input."""
    by = [index for index, node in enumerate(graph.inputs) if node.dtype.kind == "f"]

    def total(chosen: list[Any]) -> tuple[Any, list[Any]]:
        given: list[Any] = [jnp.asarray(argument) for argument in arguments]
        for index, value in zip(by, chosen, strict=True):
            given[index] = value
        outputs = run(graph, given)
        floats = [output for output in outputs if jnp.issubdtype(output.dtype, jnp.floating)]
        return sum((w * jnp.sum(y) for w, y in zip(weights, floats, strict=True)), jnp.zeros(())), outputs

    both = jax.jit(jax.value_and_grad(total, has_aux=True))
    (_, outputs), slopes = both([jnp.asarray(arguments[index]) for index in by])
    return [np.asarray(value) for value in outputs], [np.asarray(slope) for slope in slopes]
