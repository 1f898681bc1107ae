"""Learning rates from a running average of squared gradients."""

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
class RMSprop(Optimizer):
    r"""The gradient divided by its running root mean square.

    .. math:: s \leftarrow \alpha s + (1-\alpha) g^2,\quad u = \frac{g}{\sqrt{s - \bar g^2}+\varepsilon},\quad
              b \leftarrow \mu b + u,\quad w \leftarrow w - \eta b

    with the running mean :math:`\bar g` if ``centered`` (else 0). ``eps`` is added outside the root, as in PyTorch (the
    lecture and TensorFlow have it inside), and there is no bias correction: ``s`` starts at 0, so that the first steps
    are up to :math:`1/\sqrt{1-\alpha}` times as long. :math:`1-\alpha` is the lecture's :math:`\lambda`.

    Parameters
    ----------
    learning_rate : float, default 0.01
    alpha : float in [0, 1), default 0.99
    eps : float, default 1e-8
    momentum : float in [0, 1), default 0
        The :math:`\mu`; with 0 there is no ``b``.
    centered : bool, default False
        Divide by the running standard deviation (Graves 2013, eq. 40) instead.

    Notes
    -----
    Tieleman & Hinton (2012), lecture 6.5. Lecture row A12. A variance that rounding makes negative is set to 0.
    """

    name: ClassVar[str] = "rmsprop"
    ranges: ClassVar[Mapping[str, str]] = {"alpha": "[0, 1)", "eps": "[0, inf)", "momentum": "[0, 1)"}

    learning_rate: float = 1e-2
    _: KW_ONLY
    alpha: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False

    @property
    def slots(self) -> tuple[str, ...]:  # type: ignore[override]  # only slots that are used
        """The mean square, the mean if centered, the momentum buffer if there is momentum."""
        return ("s", *(["mean"] if self.centered else []), *(["b"] if self.momentum else []))

    def update(self, w: Array, g: Array, *slots: Array, t: Operand, lr: Operand) -> tuple[Array, ...]:
        s, *rest = slots
        s = variance = self.alpha * s + (1 - self.alpha) * g * g
        kept = [s]
        if self.centered:
            mean = self.alpha * rest.pop(0) + (1 - self.alpha) * g
            variance = np.maximum(s - mean * mean, 0.0)
            kept.append(mean)
        u = g / (np.sqrt(variance) + self.eps)
        if self.momentum:
            u = self.momentum * rest.pop(0) + u
            kept.append(u)
        return w - lr * u, *kept
