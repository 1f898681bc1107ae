"""``scipy.optimize`` on traced values: its test function."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.object_arrays import as_traced
from madaline.graph.scipy_api.replacement import register


def rosen(x: Any) -> Array:
    r"""The Rosenbrock function, :math:`\sum 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2`."""
    x = as_traced(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2, axis=0)


register("scipy.optimize", {"rosen": rosen})
