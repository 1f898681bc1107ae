"""Constraints on weights, applied after every step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.graph.arrays import Array
from madaline.optim.clipping import unit_norms
from madaline.registry import Registry

CONSTRAINTS: Registry[type[Constraint]] = Registry("constraint")


@description
class Constraint(Description):
    """Base class of constraints, ``W -> W``: the nearest allowed weights. A unit is a column of ``W``."""

    registry: ClassVar[Registry[Any]] = CONSTRAINTS

    def __call__(self, W: Array) -> Array:
        """The constrained weights."""
        raise NotImplementedError


@description
class MaxNorm(Constraint):
    r"""Weights of a unit with norm at most ``limit``, :math:`W_j \leftarrow W_j\min(1, c/\lVert W_j\rVert_2)`.

    ``limit`` is 3 by default. Srivastava et al. (2014), section 5.1, the dropout paper. Shorter columns are not
    changed.
    """

    name: ClassVar[str] = "max_norm"
    ranges: ClassVar[Mapping[str, str]] = {"limit": "(0, inf)"}
    limit: float = 3.0

    def __call__(self, W: Array) -> Array:
        return W * (self.limit / np.maximum(unit_norms(W), self.limit))


@description
class NonNegative(Constraint):
    r"""Non-negative weights, :math:`W \leftarrow \max(W, 0)`."""

    name: ClassVar[str] = "non_negative"

    def __call__(self, W: Array) -> Array:
        return np.maximum(W, 0.0)


@description
class UnitNorm(Constraint):
    r"""Weights of a unit with norm 1, :math:`W_j \leftarrow W_j/\max(\lVert W_j\rVert_2, 10^{-12})`; zeros stay."""

    name: ClassVar[str] = "unit_norm"

    def __call__(self, W: Array) -> Array:
        return W / np.maximum(unit_norms(W), 1e-12)
