"""Averages of the parameters over the steps, which often generalise better than the last parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.graph.arrays import Array
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand

AVERAGES: Registry[type[Average]] = Registry("average")


@description
class Average(Description):
    """A rule ``update(a, w, t=) -> a``: the average after step ``t`` (from 1), which gave the parameters ``w``.

    The average starts as a copy of the parameters before step 1.
    """

    registry: ClassVar[Registry[Any]] = AVERAGES

    def update(self, a: Array, w: Array, *, t: Operand) -> Array:
        """The average, with the parameters of step ``t``."""
        raise NotImplementedError


@description
class EMA(Average):
    r"""Exponential moving average, :math:`a \leftarrow d\,a + (1-d)\,w`.

    Parameters
    ----------
    decay : float in [0, 1), default 0.999
        The :math:`d`.
    warmup : bool, default False
        Use :math:`\min(d, (1+t)/(10+t))` instead, so that the initial parameters lose weight soon (TensorFlow's rule).

    Notes
    -----
    After Polyak & Juditsky (1992). PyTorch's ``get_ema_multi_avg_fn`` starts with the ``w`` of its first call instead.
    """

    name: ClassVar[str] = "ema"
    ranges: ClassVar[Mapping[str, str]] = {"decay": "[0, 1)"}
    decay: float = 0.999
    _: KW_ONLY
    warmup: bool = False

    def update(self, a: Array, w: Array, *, t: Operand) -> Array:
        if not self.warmup:
            return self.decay * a + (1 - self.decay) * w
        # Both branches are vectors: a choice between two numbers would be float64 for any type of w.
        early = (1 + t) / (10 + t)
        return np.where(early < self.decay, a + (1 - early) * (w - a), self.decay * a + (1 - self.decay) * w)


@description
class SWA(Average):
    r"""Stochastic weight averaging: the mean of the parameters at certain steps, :math:`a \leftarrow a + (w-a)/n`.

    Parameters
    ----------
    start : int, default 0
        Steps before averaging begins; until the first sample, the average is ``w`` itself.
    every : int, default 1
        Steps between samples: the :math:`n`-th is taken after step ``start + n * every``.

    Notes
    -----
    Izmailov et al. (2018), Algorithm 1; PyTorch's ``AveragedModel``. Compute batch-norm statistics again afterwards.
    """

    name: ClassVar[str] = "swa"
    ranges: ClassVar[Mapping[str, str]] = {"start": "[0, inf)", "every": "[1, inf)"}
    _: KW_ONLY
    start: int = 0
    every: int = 1

    def update(self, a: Array, w: Array, *, t: Operand) -> Array:
        n = (t - self.start) // self.every
        sampled = (t - self.start) - n * self.every < 1
        divisor = abs(n - 0.5) + 0.5  # n where that is at least 1; never 0, where the mean is not taken
        return np.where(n < 1, w, np.where(sampled, a + (w - a) / divisor, a))
