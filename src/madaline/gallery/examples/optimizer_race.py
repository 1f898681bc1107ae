r"""
Optimizers racing
=================
Seven rules start at the same point. In a valley that is steep at first and then nearly flat, Adagrad stalls, since it
divides by the root of the *sum* of all squared gradients; RMSprop divides by a running average, forgets the steep start
and continues (lecture rows A11, A12, E10 and N5).
"""

# %%
# Adagrad's rate dies, RMSprop's does not
# ---------------------------------------
import numpy as np
from matplotlib.animation import FuncAnimation

import madaline as md
from madaline.gallery.descent import descend
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, PURPLE, QUICK, RED, contours, panels


def gorge(w):
    """A steep wall at the start, then a long and gentle way down to 0."""
    x, y = w[..., 0], w[..., 1]
    return 0.5 * np.sqrt(1 + x**2) + (y - 1.2 * np.tanh(x)) ** 2 + 10 * np.log(1 + np.exp(4 * (-x - 5)))


START, STEPS = (-6.0, 1.5), 120
rules = {
    "SGD 0.02": (md.SGD(0.02), RED),
    "momentum 0.9": (md.SGD(0.02, momentum=0.9), BLUE),
    "Nesterov 0.9": (md.SGD(0.02, momentum=0.9, nesterov=True), "#56B4E9"),
    "Adagrad 0.1": (md.optim.Adagrad(0.1), PURPLE),
    "RMSprop 0.05": (md.RMSprop(0.05, alpha=0.9), ORANGE),
    "Adadelta": (md.optim.Adadelta(1.0, rho=0.9, eps=1e-3), GREY),
    "Adam 0.1": (md.Adam(0.1), GREEN),
}
paths = {name: descend(gorge, START, rule, STEPS) for name, (rule, _) in rules.items()}

figure, (left, right) = panels(2, size=(4.8, 3.4))
contours(left, gorge, (-6.6, 1.5), (-2.2, 2.2), levels=np.geomspace(0.55, 90, 14))
slopes = {name: np.array([md.grad(gorge)(w) for w in paths[name]]) for name in ("Adagrad 0.1", "RMSprop 0.05")}
sums = np.sqrt(np.cumsum(slopes["Adagrad 0.1"] ** 2, axis=0))[:, 0]
average, averages = 0.0, []
for g in slopes["RMSprop 0.05"][:, 0]:
    average = 0.9 * average + 0.1 * g * g  # the running average of md.RMSprop
    averages.append(np.sqrt(average))
for name, rates in {"Adagrad 0.1": 0.1 / sums, "RMSprop 0.05": 0.05 / np.array(averages)}.items():
    color = rules[name][1]
    left.plot(*paths[name].T, "o-", color=color, markersize=2.5, linewidth=1.2, label=name)
    left.plot(*paths[name][-1], "o", color=color, markersize=11, markeredgecolor="black")
    right.semilogy(rates / rates[0], color=color, label=name)
left.plot(0, 0, "k*", markersize=12)
left.set_title(f"{STEPS} steps from the steep wall")
left.legend(loc="lower right")
right.set(xlabel="step", ylabel="effective rate / its first value")
right.set_title("One rate falls for ever, the other recovers")
right.legend()
assert gorge(paths["RMSprop 0.05"][-1]) < gorge(paths["Adagrad 0.1"][-1])
assert 0.1 / sums[-1] < 0.1 / sums[60]
assert averages[-1] < averages[10]

# %%
# Which rules pass a local optimum
# --------------------------------
# A bump stands between a shallow minimum and a deep one. Whether a rule passes it depends on its rate: with a small one
# every rule stops at the shallow minimum. No rule "avoids local optima" as such.


def two_wells(w):
    """A shallow minimum near 1.4, a deep one near -1.6."""
    return np.sum(0.25 * w**4 - w**2 + 0.3 * w)


names = ("SGD", "momentum 0.9", "Nesterov 0.9", "Adagrad", "RMSprop", "Adam")
makers = (
    md.SGD,
    lambda rate: md.SGD(rate, momentum=0.9),
    lambda rate: md.SGD(rate, momentum=0.9, nesterov=True),
    md.optim.Adagrad,
    md.RMSprop,
    md.Adam,
)
rates = np.geomspace(0.002, 2.0, 10 if QUICK else 25)
ends = np.array([[descend(two_wells, [2.2], make(rate), 300)[-1, 0] for rate in rates] for make in makers])
kinds = np.select([~np.isfinite(ends) | (np.abs(ends) > 3), ends < 0], [2, 1], 0)
figure, (ax,) = panels(1, size=(7.0, 3.0))
looks = ((0, ORANGE, "shallow minimum"), (1, BLUE, "deep minimum"), (2, RED, "diverges"))
for kind, color, label in looks:
    row, column = np.nonzero(kinds == kind)
    ax.plot(rates[column], row, "xos"[(kind == 1 and 1) or 2 * (kind == 2)], color=color, label=label, markersize=7)
ax.set(xscale="log", xlabel="learning rate", title="Where 300 steps end: it depends on the rate")
ax.set_yticks(range(len(names)), names)
ax.invert_yaxis()
ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
assert (kinds[:, 0] == 0).all()
assert (kinds[1] == 1).any()

# %%
# The race
# --------
figure, (ax,) = panels(1, size=(5.6, 3.2))
contours(ax, gorge, (-6.6, 1.5), (-2.2, 2.2), levels=np.geomspace(0.55, 90, 14))
ax.plot(0, 0, "k*", markersize=12)
lines = {name: ax.plot([], [], "-", color=color, label=name)[0] for name, (_, color) in rules.items()}
heads = {name: ax.plot([], [], "o", color=color, markersize=7)[0] for name, (_, color) in rules.items()}
title = ax.set_title("Seven optimizers start at the same point")
ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)


def frame(step):
    """The paths up to a step."""
    for name, path in paths.items():
        lines[name].set_data(*path[: step + 1].T)
        heads[name].set_data(*path[min(step, len(path) - 1)][:, None])
    title.set_text(f"Seven optimizers after {step} steps")


frame(0)
animation = FuncAnimation(figure, frame, frames=range(0, STEPS + 1, 20 if QUICK else 10), interval=300)
