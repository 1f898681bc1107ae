"""Takes arrays or nodes; hands on the few dozen operations of which every formula is made, in families.

Start reading with ``elementwise.Tanh``, then ``linear.Matmul``.
"""

from madaline.graph.primitives import (
    elementwise,
    factorization,
    fourier,
    linear,
    matrix_equations,
    random,
    reduce,
    shape,
    solving,
)

__all__ = [
    "elementwise",
    "factorization",
    "fourier",
    "linear",
    "matrix_equations",
    "random",
    "reduce",
    "shape",
    "solving",
]
