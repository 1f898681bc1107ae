r"""
Where gradient descent goes: wells, valleys, saddles
====================================================
Gradient descent moves to the minimum of a local quadratic model,
:math:`w - \eta\,\nabla f(w) = \arg\min_v f(w) + \nabla f(w)^T (v - w) + \frac{1}{2\eta}\lVert v - w\rVert^2`.
What it finds depends on where it starts and on the rate (lecture rows E10, E20 and N16).
"""

# %%
# A global minimum, a local one, or none
# --------------------------------------
# One function, three runs: a good start, a bad start, and a rate that is too large.
import numpy as np

import madaline as md
from madaline.gallery.descent import descend
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, contours, panels


def wells(w):
    """Two wells of different depth."""
    return np.sum(0.25 * w**4 - w**2 + 0.3 * w)


runs = {
    "global minimum: rate 0.125": (-2.2, 0.125, BLUE),
    "local minimum: rate 0.125": (2.2, 0.125, ORANGE),
    "diverges: rate 0.7": (2.2, 0.7, RED),
}
grid = np.linspace(-3.4, 3.4, 200)
figure, axes = panels(3, sharey=True)
for ax, (title, (start, rate, color)) in zip(axes, runs.items(), strict=True):
    path = descend(wells, [start], md.SGD(rate), 40)[:, 0]
    ax.plot(grid, [wells(np.array([w])) for w in grid], color=GREY, linewidth=3, alpha=0.5)
    ax.plot(path, [wells(np.array([w])) for w in path], "o-", color=color, markersize=4, linewidth=1)
    ax.set(title=title, xlabel="w", xlim=(-3.4, 3.4), ylim=(-2, 14))
    assert (np.abs(path[-1]) > 10) == title.startswith("diverges")
axes[0].set_ylabel("f(w)")

# %%
# An anisotropic valley
# ---------------------
# Plain gradient descent bounces between the walls of a valley; momentum averages the bounces away; Adam scales each
# axis by itself. The rates are the lecture's: 0.05 with momentum 0 and 0.5, and Adam with 0.1.


def valley(w):
    """A quadratic function that is 18 times as steep in one direction."""
    return np.sum(np.array([1.0, 18.0]) * w**2, axis=-1)


paths = {
    "SGD 0.05": (md.SGD(0.05), RED),
    "momentum 0.5": (md.SGD(0.05, momentum=0.5), BLUE),
    "Adam 0.1": (md.Adam(0.1), GREEN),
}
figure, axes = panels(3, sharey=True, sharex=True)
for ax, (name, (rule, color)) in zip(axes, paths.items(), strict=True):
    path = descend(valley, [-4.5, 1.2], rule, 40)
    contours(ax, valley, (-5, 1.5), (-1.6, 1.6))
    ax.plot(path[:, 0], path[:, 1], "o-", color=color, markersize=3.5, linewidth=1.2)
    ax.set_title(f"{name}: f = {valley(path[-1]):.1g} after 40 steps")
figure.suptitle("The same valley, 40 steps from the same start")

# %%
# A saddle
# --------
# At a saddle the gradient is 0, but it is no minimum. Started a hair beside the ridge, plain gradient descent lingers;
# momentum leaves earlier, and Adam, whose steps do not depend on the size of the gradient, leaves at once.


def saddle(w):
    """Down along one axis, up along the other; bounded below."""
    return w[..., 0] ** 2 - w[..., 1] ** 2 + 0.1 * w[..., 1] ** 4


rules = {
    "SGD": (md.SGD(0.03), RED),
    "momentum 0.9": (md.SGD(0.03, momentum=0.9), BLUE),
    "Adagrad": (md.optim.Adagrad(0.5), PURPLE),
    "RMSprop": (md.RMSprop(0.01), ORANGE),
    "Adam": (md.Adam(0.1), GREEN),
}
figure, (left, right) = panels(2, size=(4.4, 3.4))
contours(left, saddle, (-2.2, 2.2), (-2.8, 2.8))
for name, (rule, color) in rules.items():
    path = descend(saddle, [-2.0, 1e-3], rule, 120)
    left.plot(path[:, 0], path[:, 1], color=color, label=name)
    right.plot([saddle(w) for w in path], color=color, label=name)
    if name == "Adam":
        assert saddle(path[-1]) < -2.4, "Adam must reach a minimum"
left.plot(0, 0, "kx", markersize=9)
left.set_title("Paths past a saddle (x)")
right.set(title="The value: plain descent waits at the saddle", xlabel="step", ylabel="f")
right.legend()
