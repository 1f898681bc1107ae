"""Arrays that a traced function makes: from lists of traced numbers, and to be filled in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.node import Node, constant
from madaline.graph.object_arrays import as_traced
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.trace import is_tracing


def array(values: Any, dtype: Any = None) -> Any:
    """An array of nested lists, like ``np.array``, in which numbers and rows may be traced.

    Inside a traced function the result can be written in place, also where ``values`` is a plain array.

    Parameters
    ----------
    values : array, number or nested list of them
        Also what ``np.array`` made of traced values.
    dtype : data type, optional
        By default that of the values.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> def rotated(angle):
    ...     c, s = np.cos(angle), np.sin(angle)
    ...     return md.array([[c, -s], [s, c]]) @ np.array([1.0, 0.0])
    >>> md.jacobian(rotated)(0.0)
    array([0., 1.])
    """
    values = as_traced(values) if isinstance(values, np.ndarray) else values
    if isinstance(values, Node):
        return np.copy(values) if dtype is None else values.astype(dtype)
    if not _is_traced(values):
        plain = np.array(values, dtype=dtype)
        return np.copy(constant(plain)) if is_tracing() and plain.dtype.kind in "fiub" else plain
    parts = [array(item) if isinstance(item, (list, tuple)) else item for item in values]
    return np.stack(parts) if dtype is None else np.stack(parts, dtype=dtype)


def _is_traced(values: Any) -> bool:
    return isinstance(values, Node) or (isinstance(values, (list, tuple)) and any(map(_is_traced, values)))


def zeros(shape: Any, dtype: Any = float) -> Any:
    """An array of zeros, like ``np.zeros``, that a traced function can fill with traced values.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> def powers(x):
    ...     y = md.zeros(3)
    ...     for i in range(3):
    ...         y[i] = x**i
    ...     return y
    >>> powers(2.0), md.jacobian(powers)(2.0)
    (array([1., 2., 4.]), array([0., 1., 4.]))
    """
    if not is_tracing():
        return np.zeros(shape, dtype=dtype)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return PRIMITIVES["broadcast_to"](constant(0, dtype), shape=sizes)
