"""Learning-rate schedules: the base class, schedules without an end, and combinations of schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import CUSTOM, Description, description
from madaline.errors import ConfigError
from madaline.graph.arrays import Array
from madaline.graph.formula import Formula
from madaline.optim.optimizer import formula_of_t
from madaline.registry import Registry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEDULES: Registry[type[Schedule]] = Registry("schedule")

Steps = Array | float
"A step, counted from 1, or an array of steps."

Rate = Array | float
"The factor of a step, or of each step of an array."


@description
class Schedule(Description):
    """Factors of the optimizer's learning rate, one for each step.

    A subclass defines ``rate(t, total=None)``, written with NumPy: ``t`` is a step, counted from 1, or an array of
    steps, and ``total`` the number of steps of the whole run if it is known. Where PyTorch has the same schedule, the
    factor of step ``t`` is that of its epoch ``t - 1``.

    ``a * b`` multiplies two schedules; ``a.then(b, after=n)`` changes to ``b`` after ``n`` steps.
    """

    registry: ClassVar[Registry[Any]] = SCHEDULES

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        """The factor of the learning rate at step ``t``."""
        raise NotImplementedError

    def table(self, n_steps: int) -> np.ndarray:
        """The factors of a run of ``n_steps`` steps: element 0 is that of step 1."""
        t = np.arange(1, n_steps + 1)
        return np.broadcast_to(np.asarray(self.rate(t, n_steps), dtype=float), t.shape).copy()

    def then(self, other: Schedule, *, after: int) -> Schedule:
        """The schedule itself for ``after`` steps, then the other one from its start."""
        return Sequence(self, other, after=after)

    def watching(self) -> tuple[tuple[int, Schedule], ...]:
        """The parts that observe training, each with the number of steps before it starts to."""
        return ()

    def plot(self, n_steps: int = 1000, *, learning_rate: float = 1.0, ax: Axes | None = None) -> Axes:
        """Draw the rate of every step: see :func:`madaline.report.curves.plot_schedule`."""
        from madaline.report.curves import plot_schedule  # an allowed import of a later package; see pyproject.toml

        return plot_schedule(self, n_steps, learning_rate=learning_rate, ax=ax)

    def __mul__(self, other: Schedule) -> Schedule:
        return Product(self, other)

    def _steps(self, steps: int | None, total: int | None) -> int:
        """Number of steps of the schedule: its own, or the whole run."""
        found = total if steps is None else steps
        if found is None:
            raise ConfigError(
                f"schedule={self.name!r} needs the number of steps. Pass steps=, or total= where it is used."
            )
        return found


@description
class Constant(Schedule):
    r"""Constant rate, :math:`\eta_t = \eta_0 c`, with the ``factor`` :math:`c`, 1 by default."""

    name: ClassVar[str] = "constant"
    ranges: ClassVar[Mapping[str, str]] = {"factor": "[0, inf)"}
    factor: float = 1.0

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return self.factor + 0.0 * t


@description
class ExponentialSteps(Schedule):
    r"""Exponential decay every ``k`` steps, :math:`\eta_t = \eta_0\, e^{-c\lceil t/k\rceil}`. Lecture row A13.

    The first steps already have :math:`e^{-c}`, since ``t`` starts at 1. By default ``c=0.1``, ``k=1000``.
    """

    name: ClassVar[str] = "exponential_steps"
    ranges: ClassVar[Mapping[str, str]] = {"c": "[0, inf)", "k": "[1, inf)"}
    c: float = 0.1
    k: int = 1000

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return np.exp(-self.c * np.ceil(t / self.k))


@description
class InverseTime(Schedule):
    r"""Sublinear decay, :math:`\eta_t = \eta_0/(1+ct)`, ``c=0.001`` by default. Lecture row A13."""

    name: ClassVar[str] = "inverse_time"
    ranges: ClassVar[Mapping[str, str]] = {"c": "[0, inf)"}
    c: float = 1e-3

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return 1.0 / (1.0 + self.c * t)


@description
class InverseRoot(Schedule):
    r"""Sublinear decay, :math:`\eta_t = \eta_0/\sqrt{1+ct}`, ``c=0.001`` by default. Lecture row A13."""

    name: ClassVar[str] = "inverse_root"
    ranges: ClassVar[Mapping[str, str]] = {"c": "[0, inf)"}
    c: float = 1e-3

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return 1.0 / np.sqrt(1.0 + self.c * t)


@description
class InverseScaling(Schedule):
    r"""scikit-learn's ``"invscaling"``, :math:`\eta_t = \eta_0/t^p`, with the ``power`` :math:`p=0.5` by default.

    scikit-learn counts rows seen and changes the rate at the ends of epochs; this one counts steps.
    """

    name: ClassVar[str] = "inverse_scaling"
    ranges: ClassVar[Mapping[str, str]] = {"power": "[0, inf)"}
    power: float = 0.5

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return 1.0 / np.asarray(t, dtype=float) ** self.power


@description
class Step(Schedule):
    r"""Decay every ``every`` steps, :math:`\eta_t = \eta_0\,\gamma^{\lfloor (t-1)/k\rfloor}`; PyTorch's ``StepLR``.

    Parameters
    ----------
    every : int, default 1000
        The :math:`k`.
    gamma : float above 0, default 0.1
    """

    name: ClassVar[str] = "step"
    ranges: ClassVar[Mapping[str, str]] = {"every": "[1, inf)", "gamma": "(0, inf)"}
    every: int = 1000
    _: KW_ONLY
    gamma: float = 0.1

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return self.gamma ** np.floor((t - 1) / self.every)


@description
class Multistep(Schedule):
    r"""Decay after each of the ``milestones``, :math:`\eta_t = \eta_0\,\gamma^{j}` with :math:`j` of them before
    :math:`t`; PyTorch's ``MultiStepLR``.

    Parameters
    ----------
    milestones : tuple of int, default (1000, 2000)
        Increasing; the step after a milestone is the first with the lower rate.
    gamma : float above 0, default 0.1
    """

    name: ClassVar[str] = "multistep"
    ranges: ClassVar[Mapping[str, str]] = {"gamma": "(0, inf)"}
    milestones: tuple[int, ...] = (1000, 2000)
    _: KW_ONLY
    gamma: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "milestones", tuple(self.milestones))
        super().__post_init__()
        if list(self.milestones) != sorted(self.milestones):
            raise ConfigError(f"Multistep: milestones={self.milestones} must increase. Sort them.")

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return self.gamma ** np.searchsorted(self.milestones, np.asarray(t) - 1, side="right").astype(float)


@description
class Exponential(Schedule):
    r"""Exponential decay at every step, :math:`\eta_t = \eta_0\gamma^{t-1}`; PyTorch's ``ExponentialLR``.

    ``gamma`` is 0.999 by default.
    """

    name: ClassVar[str] = "exponential"
    ranges: ClassVar[Mapping[str, str]] = {"gamma": "(0, inf)"}
    gamma: float = 0.999

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return self.gamma ** (np.asarray(t, dtype=float) - 1.0)


@description
class Sequence(Schedule):
    r"""One schedule and then another, :math:`a_t\,[t \le n] + b_{t-n}\,[t > n]`, with ``after`` :math:`n`.

    ``a.then(b, after=n)`` makes it. For ``first`` the run has ``after`` steps, for ``second`` the remaining ones.
    """

    ranges: ClassVar[Mapping[str, str]] = {"after": "[1, inf)"}
    name: ClassVar[str] = "sequence"
    first: Schedule = Constant()
    second: Schedule = Constant()
    _: KW_ONLY
    after: int = 1

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        rest = None if total is None else max(total - self.after, 1)
        early = self.first.rate(np.minimum(t, self.after), self.after)
        return np.where(np.less_equal(t, self.after), early, self.second.rate(np.maximum(t - self.after, 1), rest))

    def watching(self) -> tuple[tuple[int, Schedule], ...]:
        for _, part in self.first.watching():
            raise ConfigError(
                f"{type(part).__name__} cannot be followed by another schedule, which would not know the rate that "
                "it has reached. Put it last, or multiply the schedules."
            )
        return tuple((wait + self.after, part) for wait, part in self.second.watching())


@description
class Product(Schedule):
    r"""Product of two schedules, :math:`a_t b_t`, for example of a warm-up and a decay; ``a * b`` makes it."""

    name: ClassVar[str] = "product"
    first: Schedule = Constant()
    second: Schedule = Constant()

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        return self.first.rate(t, total) * self.second.rate(t, total)

    def watching(self) -> tuple[tuple[int, Schedule], ...]:
        return (*self.first.watching(), *self.second.watching())


@description
class CustomSchedule(Schedule):
    """A custom function of ``t`` as a schedule; :func:`as_schedule` makes it."""

    name: ClassVar[str] = CUSTOM
    function: Callable[[Any], Any]

    def traced(self) -> CustomSchedule:
        return CustomSchedule(formula_of_t(self.function))

    def rate(self, t: Steps, total: int | None = None) -> Rate:
        if isinstance(self.function, Formula):
            return np.asarray(self.function(np.asarray(t)), dtype=float)
        return np.vectorize(self.function, otypes=[float])(t)


ScheduleLike = str | Schedule | type[Schedule] | Mapping[str, Any] | Callable[[Any], Any]
"A schedule: its name, an object, its plain data, or a function of the step."


def as_schedule(what: ScheduleLike | None) -> Schedule:
    """Convert a name, a schedule, its plain data or a function of the step to a schedule.

    Examples
    --------
    >>> as_schedule("inverse_scaling").table(4)
    array([1.        , 0.70710678, 0.57735027, 0.5       ])
    >>> as_schedule(lambda t: 1 / t).table(4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """
    return Constant() if what is None else Schedule.of(what)
