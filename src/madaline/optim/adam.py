"""Adam and related rules: AdamW, AMSGrad, AdaMax, Nadam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.graph.arrays import Array
from madaline.optim.optimizer import Coefficient, Optimizer, bias_correction, coefficient

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand


@description
class Adam(Optimizer):
    r"""Steps scaled by running moments of the gradient.

    .. math:: m \leftarrow \beta_1 m + (1-\beta_1) g,\quad v \leftarrow \beta_2 v + (1-\beta_2) g^2,\quad
              w \leftarrow w - \eta\,\frac{m/(1-\beta_1^t)}{\sqrt{v/(1-\beta_2^t)}+\varepsilon}

    ``eps`` is added outside the root, as in Kingma & Ba (2015), Algorithm 1, and PyTorch; the lectures have it inside.

    Parameters
    ----------
    learning_rate : float, default 0.001
    beta1, beta2 : float in [0, 1), default 0.9 and 0.999
        :math:`1-\beta_1` and :math:`1-\beta_2` are the lecture's :math:`\gamma` and :math:`\lambda`; those that vary
        with ``t`` are in :class:`~madaline.optim.moments.AdaptiveMoments`.
    eps : float or function of ``t``, default 1e-8
        A function gives other forms: ``lambda t: 1e-8 / np.sqrt(1 - 0.999**t)`` is the one at the end of section 2 of
        the paper, which adds it to the root of the uncorrected ``v``, as TensorFlow and scikit-learn do.

    Notes
    -----
    Lecture row A12, E10. Deck E's bias correction lacks the power ``t``.

    Examples
    --------
    >>> adam = Adam(0.1)
    >>> w, slots = adam.step(np.zeros(2), np.array([3.0, -0.5]), adam.state(np.zeros(2)), t=1)
    >>> w.round(6)  # the length of the first step is the learning rate
    array([-0.1,  0.1])
    """

    name: ClassVar[str] = "adam"
    slots: ClassVar[tuple[str, ...]] = ("m", "v")
    ranges: ClassVar[Mapping[str, str]] = {"beta1": "[0, 1)", "beta2": "[0, 1)", "eps": "[0, inf)"}

    learning_rate: float = 1e-3
    _: KW_ONLY
    beta1: float = 0.9
    beta2: float = 0.999
    eps: Coefficient = 1e-8

    def update(self, w: Array, g: Array, m: Array, v: Array, *, t: Operand, lr: Operand) -> tuple[Array, ...]:
        m = self.beta1 * m + (1 - self.beta1) * g
        v = self.beta2 * v + (1 - self.beta2) * g * g
        # Scalars are divided, not vectors: one division per element instead of three.
        step = lr / bias_correction(self.beta1, t)
        v_hat = (1 / bias_correction(self.beta2, t)) * v
        return w - step * m / (np.sqrt(v_hat) + coefficient(self.eps, t)), m, v


@description
class AdamW(Adam):
    r"""Adam with decoupled weight decay, :math:`w \leftarrow w - \eta\lambda w` before Adam's step.

    Parameters
    ----------
    learning_rate : float, default 0.001
    weight_decay : float, default 0.01
    beta1, beta2, eps
        See :class:`Adam`.

    Notes
    -----
    Loshchilov & Hutter (2019), Algorithm 2; as in PyTorch the decay is multiplied by the rate. Lecture row E9.
    """

    name: ClassVar[str] = "adamw"

    _: KW_ONLY
    weight_decay: float = 1e-2
    decoupled: bool = True


@description
class AMSGrad(Adam):
    r"""Adam whose denominator never decreases.

    .. math:: \hat v \leftarrow \max(\hat v, v),\quad
              w \leftarrow w - \eta\,\frac{m/(1-\beta_1^t)}{\sqrt{\hat v/(1-\beta_2^t)}+\varepsilon}

    The maximum is taken before the bias correction, as in PyTorch; the paper has no bias correction.

    Parameters
    ----------
    learning_rate, beta1, beta2, eps
        See :class:`Adam`.

    Notes
    -----
    Reddi, Kale & Kumar (2018), Algorithm 2.
    """

    name: ClassVar[str] = "amsgrad"
    slots: ClassVar[tuple[str, ...]] = ("m", "v", "v_max")

    def update(  # type: ignore[override]  # one slot more than Adam
        self, w: Array, g: Array, m: Array, v: Array, v_max: Array, *, t: Operand, lr: Operand
    ) -> tuple[Array, ...]:
        m = self.beta1 * m + (1 - self.beta1) * g
        v = self.beta2 * v + (1 - self.beta2) * g * g
        v_max = np.maximum(v_max, v)
        step = lr / bias_correction(self.beta1, t)
        v_hat = (1 / bias_correction(self.beta2, t)) * v_max
        return w - step * m / (np.sqrt(v_hat) + coefficient(self.eps, t)), m, v, v_max


@description
class AdaMax(Adam):
    r"""Adam with a decaying maximum of the gradients in place of the root mean square.

    .. math:: m \leftarrow \beta_1 m + (1-\beta_1) g,\quad u \leftarrow \max(\beta_2 u,\ |g|+\varepsilon),\quad
              w \leftarrow w - \frac{\eta}{1-\beta_1^t}\,\frac{m}{u}

    ``eps`` is added to the gradient's size, as in PyTorch; the paper has none.

    Parameters
    ----------
    learning_rate : float, default 0.002
    beta1, beta2, eps
        See :class:`Adam`.

    Notes
    -----
    Kingma & Ba (2015), Algorithm 2. Lecture row E9.
    """

    name: ClassVar[str] = "adamax"
    slots: ClassVar[tuple[str, ...]] = ("m", "u")
    ranges: ClassVar[Mapping[str, str]] = {"eps": "(0, inf)"}

    learning_rate: float = 2e-3

    def update(self, w: Array, g: Array, m: Array, u: Array, *, t: Operand, lr: Operand) -> tuple[Array, ...]:
        m = self.beta1 * m + (1 - self.beta1) * g
        u = np.maximum(self.beta2 * u, np.abs(g) + coefficient(self.eps, t))
        return w - lr / bias_correction(self.beta1, t) * m / u, m, u


@description
class Nadam(Adam):
    r"""Adam with Nesterov's momentum, whose coefficient grows with ``t``.

    .. math:: \mu_t = \beta_1\left(1 - \tfrac12\, 0.96^{t\psi}\right),\quad \Pi \leftarrow \Pi\mu_t,\quad
              \bar m = \frac{(1-\mu_t)\, g}{1-\Pi} + \frac{\mu_{t+1}\, m}{1-\Pi\mu_{t+1}},\quad
              w \leftarrow w - \eta\,\frac{\bar m}{\sqrt{v/(1-\beta_2^t)}+\varepsilon}

    with Adam's ``m`` and ``v``. As in PyTorch, ``m`` averages by :math:`\beta_1`; in the paper by :math:`\mu_t`.

    Parameters
    ----------
    learning_rate : float, default 0.002
    momentum_decay : float, default 0.004
        The :math:`\psi`.
    beta1, beta2, eps
        See :class:`Adam`.

    Notes
    -----
    Dozat (2016), Algorithm 2. Lecture row E9. The product :math:`\Pi` is a slot of one number.
    """

    name: ClassVar[str] = "nadam"
    slots: ClassVar[tuple[str, ...]] = ("m", "v", "product")
    ranges: ClassVar[Mapping[str, str]] = {"momentum_decay": "[0, inf)"}

    learning_rate: float = 2e-3
    _: KW_ONLY
    momentum_decay: float = 4e-3

    def initial(self, name: str, w: Array) -> Array:
        return np.ones((), dtype=w.dtype) if name == "product" else np.zeros_like(w)

    def coefficient(self, t: Operand) -> Array:
        r"""The :math:`\mu_t` of a step."""
        return self.beta1 * (1 - 0.5 * 0.96 ** (t * self.momentum_decay))

    def update(  # type: ignore[override]  # one slot more than Adam
        self, w: Array, g: Array, m: Array, v: Array, product: Array, *, t: Operand, lr: Operand
    ) -> tuple[Array, ...]:
        mu, mu_next = self.coefficient(t), self.coefficient(t + 1)
        product = product * mu
        m = self.beta1 * m + (1 - self.beta1) * g
        v = self.beta2 * v + (1 - self.beta2) * g * g
        m_bar = (1 - mu) / (1 - product) * g + mu_next / (1 - product * mu_next) * m
        v_hat = (1 / bias_correction(self.beta2, t)) * v
        return w - lr * m_bar / (np.sqrt(v_hat) + coefficient(self.eps, t)), m, v, product
