"""Plots of activations and schedules with matplotlib. Lecture row E4: the value is blue, the derivative green."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError, MissingPackageError
from madaline.functional.products import jvp
from madaline.nn.activation_function import ActivationFunction
from madaline.optim.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VALUE, DERIVATIVE, SATURATED = "#1f5fbf", "#2e9e44", "#c9c9cf"
N_POINTS = 1001


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingPackageError(
            'Plots need matplotlib, which is not installed. Install it: pip install "madaline[plot]"'
        ) from error
    return plt


def plot_activation(
    activation: ActivationFunction, *, low: float = -5.0, high: float = 5.0, ax: Axes | None = None
) -> Axes:
    """Draw an activation (blue) and its derivative (green); where it is saturated the ground is grey.

    Parameters
    ----------
    activation : ActivationFunction
        Elementwise.
    low, high : float
        Ends of the x-axis.
    ax : matplotlib axes, optional
        Axes to draw on. By default a new figure is created.

    Returns
    -------
    matplotlib axes
    """
    if not activation.elementwise:
        raise ConfigError(f"{activation!r} is not elementwise, so it has no curve. Plot its parts instead.")
    if not low < high:
        raise ConfigError(f"low={low!r} must be below high={high!r}.")
    ax = pyplot().subplots(layout="constrained")[1] if ax is None else ax
    x = np.linspace(low, high, N_POINTS)
    y, slope = jvp(activation, (x,), (np.ones_like(x),))
    if activation.saturation is not None:
        for start, end in ((low, activation.saturation[0]), (activation.saturation[1], high)):
            if start < end:
                ax.axvspan(max(start, low), min(end, high), color=SATURATED, alpha=0.4, linewidth=0, label="saturated")
    ax.axhline(0.0, color="black", linewidth=0.6)
    ax.axvline(0.0, color="black", linewidth=0.6)
    ax.plot(x, _broken(y), color=VALUE, label="value", zorder=3)  # above the derivative where they coincide
    ax.plot(x, _broken(slope), color=DERIVATIVE, label="derivative")
    ax.set_xlim(low, high)
    ax.set_title(repr(activation))
    return ax


def plot_schedule(
    schedule: Schedule, n_steps: int = 1000, *, learning_rate: float = 1.0, ax: Axes | None = None
) -> Axes:
    """Plot the learning rate of every step of a run.

    Parameters
    ----------
    schedule : Schedule
    n_steps : int
        Number of steps of the whole run.
    learning_rate : float
        The optimizer's learning rate, which the schedule multiplies.
    ax : matplotlib axes, optional
        Axes to draw on. By default a new figure is created.

    Returns
    -------
    matplotlib axes
    """
    ax = pyplot().subplots(layout="constrained")[1] if ax is None else ax
    rates = learning_rate * schedule.table(n_steps)
    ax.plot(np.arange(1, n_steps + 1), rates, color=VALUE)
    ax.set_ylim(0.0, 1.05 * max(rates.max(initial=0.0), learning_rate))
    ax.set_xlim(1, max(n_steps, 2))
    ax.set_title(repr(schedule))
    return ax


def _broken(y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The curve with a gap at each jump instead of a vertical line."""
    steps = np.pad(np.abs(np.diff(y)), 1)
    beside = np.maximum(steps[:-2], steps[2:])
    jumps = (steps[1:-1] > 10.0 * beside) & (steps[1:-1] > 0.01 * np.ptp(y))
    return np.where(np.append(jumps, False), np.nan, y)
