"""Random numbers that are part of the program: ``md.random``.

``np.random`` inside a traced function is drawn once, while tracing, and is a constant from then on. These functions
draw whenever the program runs, from a key that is an argument like any other: the same key gives the same numbers, on
any machine, with any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import DtypeError, ShapeError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node, as_node, is_float
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import Rows, Size, show


def key(seed: int, step: int = 0) -> np.ndarray:
    """A key: two integers, the seed of everything and the step within it.

    Examples
    --------
    >>> import madaline as md
    >>> md.random.key(7)
    array([7, 0])
    """
    for name, number in (("seed", seed), ("step", step)):
        if not isinstance(number, (int, np.integer)) or not -(2**63) <= number < 2**63:
            raise DtypeError(f"{name}={number!r} is not a 64-bit integer.")
    return np.array([seed, step], dtype=np.int64)


def uniform(
    key: Any, shape: int | tuple[Size, ...] = (), *, stream: int = 0, dtype: DTypeLike = np.float64, rows: bool = False
) -> Array:
    """Uniform numbers in (0, 1), both ends excluded.

    Parameters
    ----------
    key : array of two integers
        From :func:`key`; may be traced.
    shape : tuple of int
        Of the result; the first size may be that of a traced batch, ``x.shape[0]``.
    stream : int
        Keeps several uses of one key apart: give each its own.
    dtype : float32 or float64
        Type of the numbers.
    rows : bool
        Whether each row (index of the first axis) has numbers of its own, which depend on nothing but its index and
        the size of a row. It is always so for a traced batch: its rows have the same numbers whatever the batch size.

    Examples
    --------
    >>> import madaline as md
    >>> md.random.uniform(md.random.key(7), (2, 2)).round(3)
    array([[0.955, 0.114],
           [0.407, 0.172]])
    """
    sizes = (shape,) if isinstance(shape, (int, Rows)) else tuple(shape)
    if any(not isinstance(size, Rows) and size < 0 for size in sizes):
        raise ShapeError(f"shape={show(sizes)} has a negative size.")
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise DtypeError(f"dtype={name} is not supported for random numbers. Use float32 or float64.")
    if np.shape(key) != (2,) or is_float(key.dtype if isinstance(key, Node) else np.asarray(key).dtype):
        raise ShapeError(f"key={key!r} is not a key. Make one with md.random.key(seed, step).")
    if not -(2**32) <= stream < 2**32:
        raise ShapeError(f"stream={stream} is out of range. Use a 32-bit number.")
    params = {
        "shape": sizes,
        "stream": stream & 0xFFFFFFFF,
        "to": name,
        "rows": bool(sizes) and (rows or isinstance(sizes[0], Rows)),
    }
    primitive = PRIMITIVES["random_uniform"]
    if any(isinstance(size, Rows) for size in sizes) and not isinstance(key, Node):
        key = as_node(key)
    return primitive(key, **params)


def normal(key: Any, shape: int | tuple[Size, ...] = (), *, stream: int = 0, dtype: DTypeLike = np.float64) -> Array:
    r"""Standard normal numbers, :math:`\sqrt{-2\log u_1}\,\cos(2\pi u_2)` (Box & Muller 1958).

    Uses the streams ``stream`` and ``~stream``.

    Examples
    --------
    >>> import madaline as md
    >>> md.random.normal(md.random.key(7), 10_000).std().round(1)
    np.float64(1.0)
    """
    first, second = uniform(key, shape, stream=stream, dtype=dtype), uniform(key, shape, stream=~stream, dtype=dtype)
    return np.sqrt(-2.0 * np.log(first)) * np.cos(float(2.0 * np.pi) * second)


def bernoulli(key: Any, p: Operand, shape: int | tuple[Size, ...] = (), *, stream: int = 0) -> Array:
    """True with probability ``p``.

    Examples
    --------
    >>> import madaline as md
    >>> md.random.bernoulli(md.random.key(7), 0.3, 4)
    array([False, False,  True,  True])
    """
    return uniform(key, shape, stream=stream, dtype=np.float32) < p
