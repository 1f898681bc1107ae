r"""
Adadelta, AdaMax, Nadam, AdamW, Lion and L-BFGS
===============================================
The rules that users expect beside the ones of the first slides (lecture row E9), on two problems: a narrow curved
valley, and a small net. All are ``md.optim`` classes with a ``step`` that can be called on any vector.
"""

# %%
# A curved valley
# ---------------
# Rosenbrock's function; the star is its minimum. Every rule has a rate that suits it. L-BFGS estimates the curvature
# and needs few steps, each with several evaluations. Lion and Adadelta make steps of nearly constant size: without a
# schedule they end near the minimum, not at it.
import numpy as np
from scipy.optimize import minimize

import madaline as md
from madaline.gallery.descent import descend
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, PURPLE, QUICK, RED, contours, panels


def valley(w):
    """Rosenbrock's function with a factor of 20."""
    x, y = w[..., 0], w[..., 1]
    return (1 - x) ** 2 + 20 * (y - x**2) ** 2


START, STEPS = (-1.3, 1.4), 600
rules = {
    "Adadelta": (md.optim.Adadelta(0.5, rho=0.95, eps=1e-4), GREY),
    "AdaMax": (md.optim.AdaMax(0.1), ORANGE),
    "Nadam": (md.optim.Nadam(0.02), PURPLE),
    "AdamW": (md.AdamW(0.05, weight_decay=0.0), GREEN),
    "Lion": (md.optim.Lion(0.01), RED),
}
figure, (left, right) = panels(2, size=(5.0, 3.8))
contours(left, valley, (-1.7, 1.5), (-0.5, 2.0), levels=np.geomspace(0.05, 120, 16))
ends = {}
for name, (rule, color) in rules.items():
    path = descend(valley, START, rule, STEPS)
    ends[name] = float(valley(path[-1]))
    left.plot(*path.T, color=color, linewidth=1.6)
    right.semilogy(valley(path), color=color, label=name)
seen = [np.array(START)]
minimize(valley, START, jac=md.grad(valley), method="L-BFGS-B", callback=lambda w: seen.append(w.copy()))
left.plot(*np.array(seen).T, "o-", color=BLUE, markersize=4, linewidth=1.2)
right.semilogy(valley(np.array(seen)) + 1e-12, "o-", color=BLUE, markersize=3, label="L-BFGS (SciPy)")
left.plot(1, 1, "k*", markersize=13)
left.set_title("Paths in a curved valley")
right.set(xlabel="step", ylim=(1e-6, 30), title="The value on the way")
figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=10)
assert max(ends.values()) < 0.1 * valley(np.array(START))
assert valley(seen[-1]) < min(ends.values())

# %%
# A small net
# -----------
# The training loss of a 4-32-32-1 net with mini-batches of 32; ``md.LBFGS`` uses all rows in each step.
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4)).astype("float32")
y = (np.sin(2 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]).astype("float32")
rates = {"Adadelta": md.optim.Adadelta(1.0), "AdaMax": md.optim.AdaMax(0.005), "Nadam": md.optim.Nadam(0.003)}
rates |= {"AdamW": md.AdamW(0.003), "Lion": md.optim.Lion(0.001)}
figure, (ax,) = panels(1, size=(6.4, 3.4))
last = {}
for name, rule in rates.items():
    history = md.Trainer(md.mlp(32, 32, 1), optimizer=rule).fit(X, y, epochs=30 if QUICK else 100, batch_size=32)
    last[name] = history["loss"][-1]
    ax.semilogy(history["loss"], color=rules[name][1], label=name)
history = md.Trainer(md.mlp(32, 32, 1), optimizer=md.LBFGS()).fit(X, y, epochs=30 if QUICK else 100, batch_size=None)
ax.semilogy(history["loss"], color=BLUE, label="L-BFGS, all rows")
ax.set(xlabel="epoch", ylabel="training loss", title="The same rules train a net", xlim=(0, 30 if QUICK else 100))
ax.legend(fontsize=9, ncols=2)
assert max(last.values()) < 0.5 * float(y.var())
