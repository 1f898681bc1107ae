"""Step sizes from the signs of successive gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.arrays import Array
from madaline.optim.optimizer import Optimizer

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand


@description
class Rprop(Optimizer):
    r"""A step size for each parameter, which grows while the gradient keeps its sign and shrinks when it changes.

    .. math:: s \leftarrow s\cdot\begin{cases}\eta^+ & g\,g' > 0\\ \eta^- & g\,g' < 0\\ 1 & g\,g' = 0\end{cases},\quad
              g \leftarrow 0 \text{ where } g\,g' < 0,\quad w \leftarrow w - \eta\, s\,\mathrm{sign}(g),\quad
              g' \leftarrow g

    For full-batch training: the signs of mini-batch gradients are noise. PyTorch keeps the step :math:`\eta s` itself;
    here ``s`` starts at 1 and multiplies the learning rate. This is the same at a constant rate, and it works with
    schedules and the rates of parameter groups.

    Parameters
    ----------
    learning_rate : float above 0, default 0.01
        Size of the first step.
    shrink, grow : float, default 0.5 and 1.2
        The :math:`\eta^-` in (0, 1) and the :math:`\eta^+` above 1.
    step_min, step_max : float, default 1e-6 and 50
        Bounds of the step at the unscheduled rate.

    Notes
    -----
    Riedmiller & Braun (1993), in the form without backtracking of Igel & Huesken (2000), as in PyTorch.
    """

    name: ClassVar[str] = "rprop"
    slots: ClassVar[tuple[str, ...]] = ("s", "last")
    ranges: ClassVar[Mapping[str, str]] = {
        "learning_rate": "(0, inf)",
        "shrink": "(0, 1)",
        "grow": "(1, inf)",
        "step_min": "[0, inf)",
        "step_max": "(0, inf)",
    }

    learning_rate: float = 1e-2
    _: KW_ONLY
    shrink: float = 0.5
    grow: float = 1.2
    step_min: float = 1e-6
    step_max: float = 50.0

    def initial(self, name: str, w: Array) -> Array:
        return np.ones_like(w) if name == "s" else np.zeros_like(w)

    def update(self, w: Array, g: Array, s: Array, last: Array, *, t: Operand, lr: Operand) -> tuple[Array, ...]:
        # Signs, not the product itself: that of two small gradients would underflow to 0.
        agreement = np.sign(g) * np.sign(last)
        s = np.where(agreement > 0, self.grow * s, np.where(agreement < 0, self.shrink * s, s))
        s = np.minimum(np.maximum(s, self.step_min / self.learning_rate), self.step_max / self.learning_rate)
        g = np.where(agreement < 0, 0.0, g)
        return w - lr * s * np.sign(g), s, g
