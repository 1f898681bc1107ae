"""Schedules with a beginning or an end: warm-ups, polynomial and cosine decay, restarts, one cycle, coslog4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.optim.schedule import Rate, Schedule, Steps

if TYPE_CHECKING:
    from madaline.graph.arrays import Array


def cosine_between(start: Any, end: Any, progress: Any) -> Array:
    r"""Half a cosine wave from ``start`` to ``end``, :math:`e + (s-e)\,(1+\cos\pi p)/2`, as ``progress`` goes to 1."""
    return end + (start - end) * (1.0 + np.cos(np.pi * progress)) / 2.0


@description
class LinearWarmup(Schedule):
    r"""Linear warm-up to the full rate, :math:`s + (1-s)\,t/n` for the first :math:`n` steps, then 1.

    The first step has :math:`s + (1-s)/n`, not :math:`s`, so that no step is wasted at rate 0: it is PyTorch's
    ``LinearLR`` with that ``start_factor`` and ``total_iters=n-1``.

    Parameters
    ----------
    steps : int, default 100
        The :math:`n`.
    start : float in [0, 1], default 0
        The :math:`s`.
    """

    name: ClassVar[str] = "linear_warmup"
    ranges: ClassVar[Mapping[str, str]] = {"steps": "[1, inf)", "start": "[0, 1]"}
    steps: int = 100
    _: KW_ONLY
    start: float = 0.0

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return self.start + (1.0 - self.start) * np.minimum(t / self.steps, 1.0)


@description
class CosineWarmup(Schedule):
    r"""Warm-up along half a cosine, :math:`s + (1-s)\,(1-\cos(\pi t/n))/2` for the first :math:`n` steps, then 1.

    Parameters
    ----------
    steps : int, default 100
        The :math:`n`.
    start : float in [0, 1], default 0
        The :math:`s`.
    """

    name: ClassVar[str] = "cosine_warmup"
    ranges: ClassVar[Mapping[str, str]] = {"steps": "[1, inf)", "start": "[0, 1]"}
    steps: int = 100
    _: KW_ONLY
    start: float = 0.0

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return cosine_between(self.start, 1.0, np.minimum(t / self.steps, 1.0))


@description
class Polynomial(Schedule):
    r"""Polynomial decay until the end of the run, :math:`e + (1-e)\,(1 - (t-1)/n)^p`; PyTorch's ``PolynomialLR``.

    Parameters
    ----------
    power : float, default 1
        The :math:`p`; 1 is a straight line.
    steps : int, optional
        The :math:`n`; the whole run by default. Later steps have ``end``.
    end : float in [0, 1], default 0
        The :math:`e`, which step :math:`n+1` would reach.
    """

    name: ClassVar[str] = "polynomial"
    ranges: ClassVar[Mapping[str, str]] = {"power": "[0, inf)", "steps": "[1, inf)", "end": "[0, 1]"}
    power: float = 1.0
    _: KW_ONLY
    steps: int | None = None
    end: float = 0.0

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        left = 1.0 - np.minimum((t - 1) / self._steps(self.steps, total), 1.0)
        return self.end + (1.0 - self.end) * left**self.power


@description
class Cosine(Schedule):
    r"""Cosine decay, :math:`e + (1-e)\,(1+\cos(\pi (t-1)/n))/2`.

    Loshchilov & Hutter (2017), eq. 5; PyTorch's ``CosineAnnealingLR`` up to step :math:`n`, after which PyTorch's
    increases again and this one stays.

    Parameters
    ----------
    steps : int, optional
        The :math:`n`; the whole run by default. Later steps have ``end``.
    end : float in [0, 1], default 0
        The :math:`e`, which step :math:`n+1` would reach.
    """

    name: ClassVar[str] = "cosine"
    ranges: ClassVar[Mapping[str, str]] = {"steps": "[1, inf)", "end": "[0, 1]"}
    _: KW_ONLY
    steps: int | None = None
    end: float = 0.0

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return cosine_between(1.0, self.end, np.minimum((t - 1) / self._steps(self.steps, total), 1.0))


@description
class CosineRestarts(Schedule):
    r"""Cosine decay with restarts, :math:`e + (1-e)\,(1+\cos(\pi\tau/n_i))/2`, with :math:`\tau` steps
    done of the :math:`n_i` of period :math:`i`; PyTorch's ``CosineAnnealingWarmRestarts``.

    Parameters
    ----------
    first : int, default 1000
        Steps of the first period, :math:`n_0`.
    longer : int, default 1
        Factor by which each period is longer than the one before.
    end : float in [0, 1], default 0
        The :math:`e`, the factor at the end of each period.

    Notes
    -----
    Loshchilov & Hutter (2017), eq. 5.
    """

    name: ClassVar[str] = "cosine_restarts"
    ranges: ClassVar[Mapping[str, str]] = {"first": "[1, inf)", "longer": "[1, inf)", "end": "[0, 1]"}
    first: int = 1000
    _: KW_ONLY
    longer: int = 1
    end: float = 0.0

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        done = np.asarray(t) - 1
        starts, lengths = [0], [self.first]
        while starts[-1] + lengths[-1] <= done.max(initial=0):
            starts.append(starts[-1] + lengths[-1])
            lengths.append(lengths[-1] * self.longer)
        period = np.searchsorted(starts, done, side="right") - 1
        return cosine_between(1.0, self.end, (done - np.take(starts, period)) / np.take(lengths, period))


@description
class OneCycle(Schedule):
    r"""Increase to the full rate, then decrease below the first rate, along half cosines; PyTorch's ``OneCycleLR``.

    .. math:: \begin{cases} s + (1-s)\,(1-\cos(\pi\tau/p))/2 & \tau \le p\\
              e + (1-e)\,(1+\cos(\pi(\tau-p)/(n-1-p)))/2 & \tau > p\end{cases}
              \qquad \tau = t-1,\quad p = rn-1

    The optimizer's learning rate is the highest one. PyTorch cycles momentum too; this does not.

    Parameters
    ----------
    steps : int, optional
        The :math:`n`; the whole run by default. Later steps have the last rate.
    rise : float in (0, 1), default 0.3
        The :math:`r`, the share of the steps in which the rate increases.
    start : float in (0, 1], default 0.04
        The :math:`s`, the first factor (PyTorch: ``1 / div_factor``).
    end : float in [0, 1], default 4e-6
        The :math:`e`, the last factor (PyTorch: ``1 / (div_factor * final_div_factor)``).

    Notes
    -----
    Smith & Topin (2018), in two phases with cosines as fastai has it.
    """

    name: ClassVar[str] = "one_cycle"
    ranges: ClassVar[Mapping[str, str]] = {"steps": "[1, inf)", "rise": "(0, 1)", "start": "(0, 1]", "end": "[0, 1]"}
    _: KW_ONLY
    steps: int | None = None
    rise: float = 0.3
    start: float = 0.04
    end: float = 4e-6

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        last = self._steps(self.steps, total) - 1
        top = max(self.rise * (last + 1) - 1.0, 0.0)  # the step, from 0, with the full rate
        done = np.minimum(t - 1, last)
        up = cosine_between(self.start, 1.0, np.minimum(done / top, 1.0) if top else 1.0)
        down = cosine_between(1.0, self.end, np.maximum(done - top, 0.0) / (last - top or 1.0))
        return np.where(done <= top, up, down)


@description
class Coslog4(Schedule):
    r"""Four cosine waves, each twice as long as the one before, :math:`\tfrac12(1-\cos(2\pi\log_2(1+15 (t-1)/n)))`.

    It begins and ends at 0. Holzmueller, Grinsztajn & Steinwart (2024), RealMLP's schedule.

    Parameters
    ----------
    steps : int, optional
        The :math:`n`; the whole run by default. Later steps have 0.
    """

    name: ClassVar[str] = "coslog4"
    ranges: ClassVar[Mapping[str, str]] = {"steps": "[1, inf)"}
    _: KW_ONLY
    steps: int | None = None

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        progress = np.minimum((t - 1) / self._steps(self.steps, total), 1.0)
        return 0.5 * (1.0 - np.cos(2.0 * np.pi * np.log2(1.0 + 15.0 * progress)))
