"""Adagrad, RMSprop and Adam as one rule, with coefficients that vary with the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.arrays import Array
from madaline.optim.optimizer import Coefficient, Optimizer, coefficient

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand


@description
class AdaptiveMoments(Optimizer):
    r"""The lecture's common form of Adagrad, RMSprop and Adam.

    .. math:: v \leftarrow (1-\gamma_t) v + \gamma_t g,\quad s \leftarrow (1-\lambda_t) s + \lambda_t g^2,\quad
              w \leftarrow w - \eta\,\frac{v/c}{\sqrt{s/d}+\varepsilon}

    Bias correction divides by the share of a constant gradient that the averages hold after ``t`` steps,
    :math:`d_t = \sum_{k\le t}\lambda_k\prod_{l>k}(1-\lambda_l) = (1-\lambda_t)\, d_{t-1} + \lambda_t`, and likewise
    :math:`c_t` for :math:`\gamma`. With constant coefficients :math:`d_t = 1-(1-\lambda)^t` and this is :class:`Adam`
    with :math:`\beta_1 = 1-\gamma,\ \beta_2 = 1-\lambda`; with :math:`\gamma=1` it is RMSprop with bias correction;
    with :math:`\gamma=1,\ \lambda_t = 1/t` it is Adagrad at the rate :math:`\eta/\sqrt t`. ``eps`` is added outside
    the root; the lecture has it inside.

    Parameters
    ----------
    learning_rate : float, default 0.001
    gamma, lam : float in [0, 1] or function of ``t``, default 0.1 and 0.001
        :math:`\gamma_t` and :math:`\lambda_t`. The first value of each must not be 0.
    eps : float, default 1e-8

    Notes
    -----
    Lecture row A12. The corrections ``c`` and ``d`` are slots of one number each.

    Examples
    --------
    >>> rule = AdaptiveMoments(0.1, gamma=1.0, lam=lambda t: 1 / t)
    >>> w, slots = rule.step(np.zeros(2), np.array([3.0, -0.5]), rule.state(np.zeros(2)), t=1)
    >>> w.round(6)
    array([-0.1,  0.1])
    """

    name: ClassVar[str] = "adaptive_moments"
    slots: ClassVar[tuple[str, ...]] = ("v", "s", "c", "d")
    ranges: ClassVar[Mapping[str, str]] = {"gamma": "(0, 1]", "lam": "(0, 1]", "eps": "[0, inf)"}

    learning_rate: float = 1e-3
    _: KW_ONLY
    gamma: Coefficient = 0.1
    lam: Coefficient = 0.001
    eps: float = 1e-8

    def initial(self, name: str, w: Array) -> Array:
        return np.zeros((), dtype=w.dtype) if name in ("c", "d") else np.zeros_like(w)

    def update(
        self, w: Array, g: Array, v: Array, s: Array, c: Array, d: Array, *, t: Operand, lr: Operand
    ) -> tuple[Array, ...]:
        gamma, lam = coefficient(self.gamma, t), coefficient(self.lam, t)
        v = (1 - gamma) * v + gamma * g
        s = (1 - lam) * s + lam * g * g
        c = (1 - gamma) * c + gamma
        d = (1 - lam) * d + lam
        return w - lr * (v / c) / (np.sqrt(s / d) + self.eps), v, s, c, d
