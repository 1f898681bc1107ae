"""Steps of equal length, from the sign of the momentum."""

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
class Lion(Optimizer):
    r"""The sign of the gradient averaged with the momentum.

    .. math:: w \leftarrow w - \eta\,\mathrm{sign}(\beta_1 m + (1-\beta_1) g),\qquad
              m \leftarrow \beta_2 m + (1-\beta_2) g

    Weight decay is decoupled, as in the paper. PyTorch does not have Lion; Optax has it, with ``weight_decay=1e-3``.

    Parameters
    ----------
    learning_rate : float, default 0.0001
        The paper recommends three to ten times less than for Adam.
    beta1, beta2 : float in [0, 1), default 0.9 and 0.99

    Notes
    -----
    Chen et al. (2023), Algorithm 2. Lecture row E9.
    """

    name: ClassVar[str] = "lion"
    slots: ClassVar[tuple[str, ...]] = ("m",)
    ranges: ClassVar[Mapping[str, str]] = {"beta1": "[0, 1)", "beta2": "[0, 1)"}

    learning_rate: float = 1e-4
    _: KW_ONLY
    decoupled: bool = True
    beta1: float = 0.9
    beta2: float = 0.99

    def update(self, w: Array, g: Array, m: Array, *, t: Operand, lr: Operand) -> tuple[Array, ...]:
        direction = np.sign(self.beta1 * m + (1 - self.beta1) * g)
        return w - lr * direction, self.beta2 * m + (1 - self.beta2) * g
