"""Gradient clipping, so that one bad batch cannot move the parameters far away. Lecture row C6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.graph.arrays import Array
from madaline.registry import Registry

CLIPPINGS: Registry[type[Clipping]] = Registry("clipping")


@description
class Clipping(Description):
    """Base class of clipping rules, ``(g, w) -> g``.

    ``on`` is what the rule is applied to: ``"all"`` (the flat vector of all gradients) or ``"parameter"`` (one
    parameter's gradient at a time, in its shape, with the parameter).
    """

    registry: ClassVar[Registry[Any]] = CLIPPINGS
    on: ClassVar[str] = "all"

    def __call__(self, g: Array, w: Array | None = None) -> Array:
        """The clipped gradient."""
        raise NotImplementedError


@description
class ClipValue(Clipping):
    r"""Clip each element, :math:`g \leftarrow \min(\max(g, -c), c)`, which changes the direction.

    ``limit`` is :math:`c`, 1 by default. PyTorch's ``clip_grad_value_``. Lecture row C6.
    """

    name: ClassVar[str] = "value"
    ranges: ClassVar[Mapping[str, str]] = {"limit": "(0, inf)"}
    limit: float = 1.0

    def __call__(self, g: Array, w: Array | None = None) -> Array:
        return np.minimum(np.maximum(g, -self.limit), self.limit)


@description
class ClipNorm(Clipping):
    r"""Clip the norm, :math:`g \leftarrow g\,\min(1, c/(\lVert g\rVert_2+10^{-6}))`, which keeps the direction.

    ``limit`` is :math:`c`, 1 by default. Pascanu, Mikolov & Bengio (2013), Algorithm 1; the :math:`10^{-6}` is
    that of PyTorch's ``clip_grad_norm_``. As in PyTorch, an infinite norm gives zeros and NaN. Lecture row C6.

    Examples
    --------
    >>> ClipNorm(1.0)(np.array([3.0, 4.0])).round(5)
    array([0.6, 0.8])
    """

    name: ClassVar[str] = "norm"
    ranges: ClassVar[Mapping[str, str]] = {"limit": "(0, inf)"}
    limit: float = 1.0

    def __call__(self, g: Array, w: Array | None = None) -> Array:
        return g * np.minimum(self.limit / (np.sqrt(np.sum(g * g)) + 1e-6), 1.0)


@description
class AdaptiveClip(Clipping):
    r"""Clip the gradient of each unit in proportion to its weights.

    .. math:: G_j \leftarrow G_j\,\min(1,\ c\,\max(\lVert W_j\rVert_2, \varepsilon)/\lVert G_j\rVert_2)

    with :math:`W_j` the weights that enter unit :math:`j`, column :math:`j` of ``W``; a vector of biases is one unit.

    Parameters
    ----------
    limit : float, default 0.01
        The :math:`c`.
    eps : float, default 1e-3
        Lower bound of the weight norm, so that weights can leave zero.

    Notes
    -----
    Brock et al. (2021), eq. 3. As in Optax, gradient norms below 1e-6 are replaced by 1e-6.
    """

    name: ClassVar[str] = "adaptive"
    on: ClassVar[str] = "parameter"
    ranges: ClassVar[Mapping[str, str]] = {"limit": "(0, inf)", "eps": "(0, inf)"}
    limit: float = 0.01
    _: KW_ONLY
    eps: float = 1e-3

    def __call__(self, g: Array, w: Array | None = None) -> Array:
        if w is None:
            raise TypeError("AdaptiveClip needs the parameter too: clip(g, w).")
        allowed = self.limit * np.maximum(unit_norms(w), self.eps)
        return g * np.minimum(allowed / np.maximum(unit_norms(g), 1e-6), 1.0)


def unit_norms(W: Array) -> Array:
    """The norms of the columns of a matrix, in a shape that broadcasts; of all elements for vectors and numbers."""
    return np.sqrt(np.sum(W * W, axis=0, keepdims=True)) if len(W.shape) > 1 else np.sqrt(np.sum(W * W))
