"""Draw the pictures of the pages, into ``docs/pictures``: ``python docs/figures.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import madaline as md

PICTURES = Path(__file__).parent / "pictures"

N_STEPS = 4000
# Every registered schedule except the one that observes training, with numbers that show its shape in 4000 steps.
SCHEDULES = [
    md.optim.schedules.Constant(),
    md.optim.schedules.Cosine(),
    md.optim.schedules.CosineRestarts(500, longer=2),
    md.optim.schedules.CosineWarmup(1000),
    md.optim.schedules.Coslog4(),
    md.optim.schedules.Exponential(0.999),
    md.optim.schedules.ExponentialSteps(0.2, 500),
    md.optim.schedules.InverseRoot(0.01),
    md.optim.schedules.InverseScaling(),
    md.optim.schedules.InverseTime(0.01),
    md.optim.schedules.LinearWarmup(1000),
    md.optim.schedules.Multistep((1500, 3000), gamma=0.3),
    md.optim.schedules.OneCycle(),
    md.optim.schedules.Polynomial(2.0),
    md.optim.schedules.LinearWarmup(1000) * md.optim.schedules.InverseRoot(0.001),
    md.optim.schedules.LinearWarmup(1000).then(md.optim.schedules.Cosine(), after=1000),
    md.optim.schedules.Step(1000, gamma=0.5),
]


def grid(draws: Sequence[Callable[[Axes], Axes]], titles: Sequence[str], n_columns: int) -> Figure:
    """Small pictures side by side."""
    n_rows = ceil(len(draws) / n_columns)
    figure, cells = plt.subplots(n_rows, n_columns, figsize=(2.2 * n_columns, 1.7 * n_rows), layout="constrained")
    for ax, draw, title in zip(cells.flat, draws, titles, strict=False):
        draw(ax).set_title(title, fontsize=8.5)
        ax.tick_params(labelsize=6.5)
    for ax in cells.flat[len(draws) :]:
        ax.set_axis_off()
    return figure


def activations() -> Figure:
    """Every elementwise activation with its derivative."""
    things = [thing for name, thing in md.nn.ACTIVATIONS.items() if name == thing.name and thing.elementwise]
    figure = grid([lambda ax, one=one: one.plot(ax=ax) for one in things], [repr(one) for one in things], 5)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.axes[len(things)].legend(handles, labels, loc="center", fontsize=9, frameon=False)
    return figure


def schedules() -> Figure:
    """Every schedule that does not depend on the course of training."""
    titles = [one.name for one in SCHEDULES]
    figure = grid([lambda ax, one=one: one.plot(N_STEPS, ax=ax) for one in SCHEDULES], titles, 5)
    for ax in figure.axes:
        ax.set_xticks([0, N_STEPS // 2, N_STEPS])
    return figure


if __name__ == "__main__":
    mpl.use("Agg")
    mpl.rcParams |= {"lines.linewidth": 1.6, "axes.spines.top": False, "axes.spines.right": False}
    PICTURES.mkdir(exist_ok=True)
    for draw in (activations, schedules):
        path = PICTURES / f"{draw.__name__}.png"
        draw().savefig(path, dpi=110)
        print(f"{path.name}: {path.stat().st_size // 1000} kB")
