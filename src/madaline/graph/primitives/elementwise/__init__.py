"""Elementwise primitives: each says its value and its derivative once; both modes of differentiation follow.

Kernels: ``native/kernels/elementwise_ops.h``, one opcode of the same name each.
Start reading with ``base.Elementwise``.
"""

from madaline.graph.primitives.elementwise import arithmetic, exponential, logic, special, trigonometric
from madaline.graph.primitives.elementwise.base import (
    Elementwise,
    cast,
    fold,
    identity,
    scaled,
    stop_gradient,
    sum_to,
)
from madaline.graph.primitives.elementwise.choice import where
from madaline.graph.primitives.elementwise.stable import erf, relu, sigmoid, softplus

__all__ = [
    "Elementwise",
    "arithmetic",
    "cast",
    "erf",
    "exponential",
    "fold",
    "identity",
    "logic",
    "relu",
    "scaled",
    "sigmoid",
    "softplus",
    "special",
    "stop_gradient",
    "sum_to",
    "trigonometric",
    "where",
]
