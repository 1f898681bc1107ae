"""Penalties on weights and activations, added to the loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from madaline.description import CUSTOM, Description, description
from madaline.errors import ShapeError
from madaline.graph.arrays import Array
from madaline.graph.as_formula import as_formula
from madaline.graph.shapes import Rows, Shape
from madaline.registry import Registry

REGULARIZERS: Registry[type[Regularizer]] = Registry("regularizer")


@description
class Regularizer(Description):
    r"""A penalty :math:`\lambda\Omega(w)`, a number; its gradient comes from the graph. Lecture row E6.

    ``on`` is what the penalty is applied to: ``"weights"`` (any array, such as the flat vector of all parameters with a
    ``mask`` that is 0 for biases and norm parameters), ``"matrix"`` (a layer's ``W`` of shape (n_in, n_out)) or
    ``"activations"`` (a layer's output).
    """

    registry: ClassVar[Registry[Any]] = REGULARIZERS
    on: ClassVar[str] = "weights"
    per_row: ClassVar[bool] = False
    "Whether the trainer divides the penalty by the number of rows of each batch."

    def __call__(self, w: Array, mask: Array | None = None) -> Array:
        """The penalty; elements where the ``mask`` is 0 do not count."""
        return self.penalty(w if mask is None else w * mask)

    def penalty(self, w: Array) -> Array:
        """The formula."""
        raise NotImplementedError


@description
class L2(Regularizer):
    r"""Sum of squares, :math:`\lambda\sum_i w_i^2`, without 1/2: the gradient is :math:`2\lambda w`.

    One deck writes the norm unsquared. Lecture row E6.

    Parameters
    ----------
    strength : float, default 1e-4
        The :math:`\lambda`.
    per_row : bool, default False
        Whether the trainer divides it by the number of rows of each batch (the sum of their weights): with it,
        scikit-learn's ``alpha`` is :math:`2\lambda`.

    Examples
    --------
    >>> float(L2(0.1)(np.array([3.0, 4.0]))), float(L2(0.1)(np.array([3.0, 4.0]), mask=np.array([1.0, 0.0])))
    (2.5, 0.9)
    """

    name: ClassVar[str] = "l2"
    ranges: ClassVar[Mapping[str, str]] = {"strength": "[0, inf)"}
    strength: float = 1e-4
    _: KW_ONLY
    per_row: bool = False  # type: ignore[misc]  # an instance field here

    def penalty(self, w: Array) -> Array:
        return self.strength * np.sum(w * w)


@description
class L1(Regularizer):
    r"""Sum of absolute values, :math:`\lambda\sum_i |w_i|`, which drives weights to zero. Derivative 0 at 0.

    ``strength`` is :math:`\lambda`, 1e-4 by default. Tibshirani (1996), eq. 1. Lecture row E6.
    """

    name: ClassVar[str] = "l1"
    ranges: ClassVar[Mapping[str, str]] = {"strength": "[0, inf)"}
    strength: float = 1e-4

    def penalty(self, w: Array) -> Array:
        return self.strength * np.sum(np.abs(w))


@description
class Elastic(Regularizer):
    r"""L1 and L2, :math:`\lambda\,(r\sum_i |w_i| + (1-r)\sum_i w_i^2)`, with ``ratio`` :math:`r`.

    scikit-learn's elastic net has a factor 1/2 before the squares; this one, like :class:`L2`, does not. By default
    ``strength=1e-4``, ``ratio=0.5``. Zou & Hastie (2005), eq. 3. Lecture row E6.
    """

    name: ClassVar[str] = "elastic"
    ranges: ClassVar[Mapping[str, str]] = {"strength": "[0, inf)", "ratio": "[0, 1]"}
    strength: float = 1e-4
    _: KW_ONLY
    ratio: float = 0.5

    def penalty(self, w: Array) -> Array:
        return self.strength * (self.ratio * np.sum(np.abs(w)) + (1.0 - self.ratio) * np.sum(w * w))


@description
class GroupLasso(Regularizer):
    r"""Sum of the norms of groups, :math:`\lambda\sqrt{n}\sum_k \lVert W_k\rVert_2`, :math:`n` weights in each.

    It drives whole groups to zero; the derivative is 0 where a group is 0.

    Parameters
    ----------
    strength : float, default 1e-4
    groups : {"inputs", "outputs"}
        Rows of ``W`` (the weights of an input, to select features) or its columns (the weights of a unit, to select
        units).

    Notes
    -----
    Yuan & Lin (2006), eq. 2.4. Lecture row E6.
    """

    name: ClassVar[str] = "group_lasso"
    on: ClassVar[str] = "matrix"
    ranges: ClassVar[Mapping[str, str]] = {"strength": "[0, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"groups": ("inputs", "outputs")}
    strength: float = 1e-4
    _: KW_ONLY
    groups: str = "inputs"

    def penalty(self, W: Array) -> Array:
        axis = 1 if self.groups == "inputs" else 0
        squares = np.sum(need_matrix(self, W) ** 2, axis=axis)
        # The root's derivative is infinite at 0, so the root of a zero group is not taken.
        norms = np.where(squares > 0, np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
        return self.strength * float(W.shape[axis]) ** 0.5 * np.sum(norms)


@description
class Orthogonality(Regularizer):
    r"""Distance of the units from orthonormal, :math:`\lambda\lVert W^\top W - I\rVert_F^2`.

    With more outputs than inputs :math:`W W^\top` is used, since the columns cannot be orthogonal.
    ``strength`` is :math:`\lambda`, 1e-4 by default. Brock et al. (2017), eq. 5; Bansal et al. (2018), eq. 1.
    """

    name: ClassVar[str] = "orthogonality"
    on: ClassVar[str] = "matrix"
    ranges: ClassVar[Mapping[str, str]] = {"strength": "[0, inf)"}
    strength: float = 1e-4

    def penalty(self, W: Array) -> Array:
        n_in, n_out = (int(size) for size in need_matrix(self, W).shape)
        off = W.T @ W - np.eye(n_out, dtype=W.dtype) if n_out <= n_in else W @ W.T - np.eye(n_in, dtype=W.dtype)
        return self.strength * np.sum(off * off)


@description
class Activity(Regularizer):
    r"""Size of a layer's output, :math:`\lambda\frac1n\sum_{i,j} |h_{ij}|` over :math:`n` rows, or of squares.

    Parameters
    ----------
    strength : float, default 1e-4
    norm : {"l1", "l2"}
        Absolute values, for sparse activity, or squares. A mask over units leaves some out.
    """

    name: ClassVar[str] = "activity"
    on: ClassVar[str] = "activations"
    ranges: ClassVar[Mapping[str, str]] = {"strength": "[0, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"norm": ("l1", "l2")}
    strength: float = 1e-4
    _: KW_ONLY
    norm: str = "l1"

    def penalty(self, h: Array) -> Array:
        sizes = np.abs(h) if self.norm == "l1" else h * h
        return self.strength * np.mean(np.sum(sizes, axis=tuple(range(1, len(h.shape)))))


@description
class CustomPenalty(Regularizer):
    """A custom function as a penalty, such as ``lambda w: 1e-3 * np.sum(np.abs(w) ** 1.5)``.

    Parameters
    ----------
    function : callable
        Function of an array that returns a number, written with NumPy.
    on : {"weights", "matrix", "activations"}
        What it is applied to.
    """

    name: ClassVar[str] = CUSTOM
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"on": ("weights", "matrix", "activations")}
    function: Callable[[Any], Any]
    _: KW_ONLY
    on: str = "weights"  # type: ignore[misc]  # an instance field here

    def traced(self) -> CustomPenalty:
        return replace(self, function=as_formula(self.function, _TRACED_FOR[self.on], any_size=True))

    def penalty(self, w: Array) -> Array:
        return self.function(w)


_SHAPES: dict[str, list[Shape]] = {
    "weights": [(n,) for n in range(1, 6)],
    "matrix": [(2, 1), (3, 2), (2, 3), (5, 3), (3, 5)],  # wide and tall matrices
    "activations": [(Rows(), width) for width in range(1, 6)],
}
_TRACED_FOR = {
    on: [[[(shape, dtype)] for shape in shapes] for dtype in (np.float32, np.float64)] for on, shapes in _SHAPES.items()
}
"Shapes of the arrays for which a function is traced when it is saved."


def need_matrix(rule: Description, W: Array) -> Array:
    """Return ``W``, or raise an error if it is not a matrix."""
    if len(W.shape) != 2:
        raise ShapeError(f"{type(rule).__name__} needs a matrix of shape (n_in, n_out), not {tuple(W.shape)}.")
    return W
