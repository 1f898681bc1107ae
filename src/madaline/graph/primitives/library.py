"""What primitives that NumPy or SciPy run have in common, and the helpers that their rules share."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.arrays import Array
from madaline.graph.node import Node, as_node, known_value, new_input
from madaline.graph.primitive import ZERO, Primitive
from madaline.graph.shapes import Rows, Shape, show


class LibraryPrimitive(Primitive):
    """A function of matrices, in the last two axes; all axes before them are a batch.

    ``value`` calls NumPy or SciPy, whose LAPACK decides about the last bits: results are not promised to be the same on
    all machines. By default the reverse rule is the transpose of the tangent rule, which is linear in the tangents.
    """

    library = True

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        if any(dtype.kind != "f" or dtype != dtypes[0] for dtype in dtypes):
            raise DtypeError(f"{self.name} takes floats of one type; the types are {', '.join(map(str, dtypes))}.")
        return dtypes[0]

    def vjp(self, *args: Array, **params: Any) -> tuple[Any, ...]:
        return transposed_jvp(self, args, params)

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not any(isinstance(size, Rows) for item in (*shapes, shape) for size in item[-2:])


def transposed_jvp(primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> tuple[Any, ...]:
    """The cotangents of a primitive, by reverse mode through its own tangent rule."""
    from madaline.graph.reverse_mode import cotangents

    inputs, y, y_bar = args[:-2], args[-2], args[-1]
    on_nodes = any(isinstance(arg, Node) for arg in args)
    nodes = [as_node(x) for x in (*inputs, y)]
    bars: list[Any] = []
    for position, x in enumerate(nodes[:-1]):
        x_dot = new_input(0, x.shape, x.dtype)
        dots = [x_dot if i == position else ZERO for i in range(len(inputs))]
        y_dot = primitive.jvp(*nodes, *dots, **params)
        (bar,) = cotangents([y_dot], [x_dot], [as_node(y_bar).astype(y_dot.dtype)])
        bars.append(bar if on_nodes or bar is None else known_value(bar))
    return tuple(bars)


def check_square(name: str, a: Shape) -> None:
    """An error unless the last two axes are equal."""
    if len(a) < 2 or a[-1] != a[-2]:
        raise ShapeError(f"{name} needs square matrices in the last two axes; the shape is {show(a)}.")


def check_matrix(name: str, a: Shape) -> None:
    """An error unless there are two axes."""
    if len(a) < 2:
        raise ShapeError(f"{name} needs matrices in the last two axes; the shape is {show(a)}.")


def symmetric(a: Array) -> Array:
    """The symmetric matrix of which ``a`` holds the lower triangle."""
    return np.tril(a) + np.tril(a, -1).mT


def column(w: Array) -> Array:
    """A vector as the last axis of matrices with one column."""
    return w.reshape((*w.shape, 1))


def row(w: Array) -> Array:
    """A vector as the last axis of matrices with one row."""
    return w.reshape((*w.shape[:-1], 1, w.shape[-1]))


def diagonal(a: Array) -> Array:
    """The diagonals of matrices."""
    return np.diagonal(a, 0, -2, -1)


def one_over(x: Array, zero: Array) -> Array:
    """``1 / x``, and 0 where ``zero``."""
    return np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, x)).astype(x.dtype)


def inverse_gaps(w: Array, scale: Array) -> Array:
    r""":math:`F_{ij} = 1/(w_j - w_i)`, and 0 on the diagonal and where two are equal up to rounding at this scale."""
    gaps = row(w) - column(w)
    tolerance = 4.0 * w.shape[-1] * float(np.finfo(w.dtype).eps)
    return one_over(gaps, np.abs(gaps) <= tolerance * scale.reshape((*w.shape[:-1], 1, 1)))


def random_matrices(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Well-conditioned matrices: a random one plus a multiple of the identity."""
    return rng.normal(size=shape) * 0.5 + 2.0 * np.eye(shape[-2], shape[-1]) * (1.0 + np.arange(shape[-1]) / shape[-1])
