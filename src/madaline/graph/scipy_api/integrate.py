"""``scipy.integrate`` on traced values: integrals of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array
from madaline.graph.object_arrays import as_traced
from madaline.graph.scipy_api.replacement import is_traced, register


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The trapezoidal rule."""
    return np.trapezoid(as_traced(y), as_traced(x), dx, axis)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Array:
    """The integral up to each point; with ``initial=0``, from the first point on."""
    y = np.moveaxis(as_traced(y), axis, -1)
    if x is not None:
        x = as_traced(x)
        dx = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1), axis=-1)
    found = np.cumsum(0.5 * dx * (y[..., 1:] + y[..., :-1]), axis=-1)
    if initial is not None:
        found = np.concatenate([np.zeros((*found.shape[:-1], 1)) + initial, found], axis=-1)
    return np.moveaxis(found, -1, axis)


def simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Simpson's rule: a weighted sum of the samples, whose weights SciPy computes."""
    y = np.moveaxis(as_traced(y), axis, -1)
    if is_traced(x):
        raise TraceError("scipy.integrate.simpson with traced points x= has no rule. Use np.trapezoid.")
    if x is not None and np.ndim(x) > 1:
        raise TraceError("scipy.integrate.simpson of traced values takes points x= in one axis. Use np.trapezoid.")
    from scipy.integrate import simpson as of_arrays

    return (
        y
        @ of_arrays(np.eye(y.shape[-1], dtype=y.dtype), x=x, dx=1.0 if x is None else dx, axis=-1)
        * (dx if x is None else 1.0)
    )


register("scipy.integrate", {"cumulative_trapezoid": cumulative_trapezoid, "simpson": simpson, "trapezoid": trapezoid})
