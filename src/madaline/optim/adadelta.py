"""Steps in the units of the parameters."""

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
class Adadelta(Optimizer):
    r"""The gradient times the ratio of two running root mean squares: of past steps and of gradients.

    .. math:: s \leftarrow \rho s + (1-\rho) g^2,\quad
              u = \frac{\sqrt{d+\varepsilon}}{\sqrt{s+\varepsilon}}\, g,\quad
              d \leftarrow \rho d + (1-\rho) u^2,\quad w \leftarrow w - \eta u

    ``eps`` is added inside the roots, as in the paper and in PyTorch. Without it all steps would be 0, because ``d``
    starts at 0.

    Parameters
    ----------
    learning_rate : float, default 1
        Learning rate. The paper has none, which is the same as 1.
    rho : float in [0, 1), default 0.9
    eps : float, default 1e-6

    Notes
    -----
    Zeiler (2012), Algorithm 1. Lecture row E9.
    """

    name: ClassVar[str] = "adadelta"
    slots: ClassVar[tuple[str, ...]] = ("s", "d")
    ranges: ClassVar[Mapping[str, str]] = {"rho": "[0, 1)", "eps": "(0, inf)"}

    learning_rate: float = 1.0
    _: KW_ONLY
    rho: float = 0.9
    eps: float = 1e-6

    def update(self, w: Array, g: Array, s: Array, d: Array, *, t: Operand, lr: Operand) -> tuple[Array, ...]:
        s = self.rho * s + (1 - self.rho) * g * g
        u = np.sqrt(d + self.eps) / np.sqrt(s + self.eps) * g
        d = self.rho * d + (1 - self.rho) * u * u
        return w - lr * u, s, d
