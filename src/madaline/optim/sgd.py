"""Gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError
from madaline.graph.arrays import Array
from madaline.optim.optimizer import Coefficient, Optimizer, coefficient

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand


@description
class SGD(Optimizer):
    r"""(Stochastic) gradient descent, :math:`w \leftarrow w - \eta g`, with Polyak's or Nesterov's momentum.

    .. math:: v \leftarrow \mu v + (1-d)\, g,\qquad w \leftarrow w - \eta v
              \quad\text{or, by Nesterov,}\quad w \leftarrow w - \eta\,(g + \mu v)

    At a constant rate this is the heavy ball :math:`w_{t+1} = w_t - \eta g_t + \mu (w_t - w_{t-1})`, the velocity form
    :math:`\tilde v \leftarrow \mu\tilde v + \eta g`, and gradient averaging (``dampening=momentum`` with the rate
    :math:`\eta/(1-\mu)`, up to the first steps). With a schedule the rate is not part of ``v``, as in PyTorch: the
    heavy ball's coefficient is then :math:`\mu\,\eta_t/\eta_{t-1}`. With ``nesterov`` the vector ``w`` is the
    look-ahead point at which the gradient is taken, the lecture's :math:`z_t`.

    Parameters
    ----------
    learning_rate : float, default 0.001
    momentum : float in [0, 1] or function of ``t``, default 0
        The :math:`\mu`; with 0 there is no state. A function gives the lecture's :math:`\beta_t`, such as Nesterov's
        ``lambda t: t / (t + 3)``; with ``nesterov``, ``v`` shrinks by that of step ``t - 1`` (row A11).
    nesterov : bool, default False
        Whether to use Nesterov's momentum; it needs ``momentum`` above 0 and no dampening.
    dampening : float in [0, 1], default 0
        The :math:`d`. As in PyTorch, it does not apply to the first gradient.

    Notes
    -----
    Polyak (1964), eq. 9; Nesterov (1983); in PyTorch's form, Sutskever et al. (2013). Lecture rows A9, A10, A11, E10.

    Examples
    --------
    >>> rule = SGD(0.1, momentum=0.9)
    >>> w, slots = rule.step(np.ones(2), np.array([1.0, 2.0]), rule.state(np.ones(2)), t=1)
    >>> w
    array([0.9, 0.8])
    """

    name: ClassVar[str] = "sgd"
    ranges: ClassVar[Mapping[str, str]] = {"momentum": "[0, 1]", "dampening": "[0, 1]"}

    learning_rate: float = 1e-3
    _: KW_ONLY
    momentum: Coefficient = 0.0
    nesterov: bool = False
    dampening: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nesterov and (not self.momentum or self.dampening):
            raise ConfigError(
                f"SGD: nesterov=True needs momentum above 0 and dampening=0; "
                f"momentum={self.momentum}, dampening={self.dampening}."
            )

    @property
    def slots(self) -> tuple[str, ...]:  # type: ignore[override]  # plain descent keeps no state
        """The velocity, if there is momentum."""
        return ("v",) if self.momentum else ()

    def update(self, w: Array, g: Array, *slots: Array, t: Operand, lr: Operand) -> tuple[Array, ...]:
        if not slots:
            return (w - lr * g,)
        (v,) = slots
        mu = coefficient(self.momentum, t)
        new = np.where(t > 1, (1 - self.dampening) * g, g) if self.dampening else g
        v = (coefficient(self.momentum, t - 1) if self.nesterov else mu) * v + new
        return w - lr * (g + mu * v if self.nesterov else v), v
