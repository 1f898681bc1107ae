"""Learning rates from the squares of all gradients so far."""

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
class Adagrad(Optimizer):
    r"""Learning rates that decrease with the sum of each parameter's squared gradients.

    .. math:: s \leftarrow s + g^2,\quad w \leftarrow w - \frac{\eta}{1+(t-1)c}\,\frac{g}{\sqrt s+\varepsilon}

    ``eps`` is added outside the root, as in PyTorch; the lecture has it inside.

    Parameters
    ----------
    learning_rate : float, default 0.01
    eps : float, default 1e-10
    initial_sum : float, default 0
        Initial value of ``s`` (PyTorch's ``initial_accumulator_value``).
    lr_decay : float, default 0
        The :math:`c`.

    Notes
    -----
    Duchi, Hazan & Singer (2011), Figure 1 with a diagonal matrix. Lecture row A12.
    """

    name: ClassVar[str] = "adagrad"
    slots: ClassVar[tuple[str, ...]] = ("s",)
    ranges: ClassVar[Mapping[str, str]] = {"eps": "[0, inf)", "initial_sum": "[0, inf)", "lr_decay": "[0, inf)"}

    learning_rate: float = 1e-2
    _: KW_ONLY
    eps: float = 1e-10
    initial_sum: float = 0.0
    lr_decay: float = 0.0

    def initial(self, name: str, w: Array) -> Array:
        return np.full_like(w, self.initial_sum)

    def update(self, w: Array, g: Array, s: Array, *, t: Operand, lr: Operand) -> tuple[Array, ...]:
        s = s + g * g
        return w - lr / (1 + (t - 1) * self.lr_decay) * g / (np.sqrt(s) + self.eps), s
