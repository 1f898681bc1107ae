r"""
Barron's bound: width and sample size
=====================================
A net with one hidden layer of :math:`q` units, fitted to :math:`N` rows of :math:`p` columns, has a mean squared error
of the order

.. math:: O\left(\frac{C_f^2}{q} + \frac{q\,p}{N}\log N\right)

(Barron 1994; lecture row E18). The first term is what the net cannot represent, and does not grow with the dimension;
the second is what the sample does not tell. The constant :math:`C_f = \int |\omega|\,|\hat f(\omega)|\,d\omega`
measures how much a function wiggles; for :math:`f(x) = e^{-|x|^2/2}` it is the mean length of a Gaussian vector.
"""

# %%
# The function, its constant, and the nets
# ----------------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, QUICK, RED, panels

P, NOISE = 5, 0.1
C_F = float(np.linalg.norm(np.random.default_rng(0).normal(size=(200_000, P)), axis=1).mean())
widths = (2, 8, 32, 128) if QUICK else (1, 2, 4, 8, 16, 32, 64, 128, 256)
sizes = (200, 3000) if QUICK else (100, 300, 1000, 3000, 10_000)
seeds = range(1 if QUICK else 3)


def sample(n, seed):
    """Rows, noisy targets, and the values of the function without noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)).astype("float32")
    f = np.exp(-0.5 * np.sum(X**2, axis=1, keepdims=True))
    return X, f + rng.normal(scale=NOISE, size=(n, 1)), f


X_test, _, f_test = sample(4000, 99)


def error(q, n, seed):
    """Mean squared error against the function itself, on new rows."""
    X, y, _ = sample(n, seed)
    steps = 1000 if QUICK else 4000
    trainer = md.Trainer(md.mlp(q, 1, activation="tanh"), optimizer=md.Adam(0.01), schedule="cosine", seed=seed)
    trainer.fit(X, y, epochs=max(1, steps * 50 // n), batch_size=50)
    return float(np.mean((trainer.model(X_test) - f_test) ** 2))


errors = {n: np.array([np.median([error(q, n, seed) for seed in seeds]) for q in widths]) for n in sizes}
bounds = {n: C_F**2 / np.array(widths) + np.array(widths) * P / n * np.log(n) for n in sizes}

# %%
# Error against width and against sample size
# -------------------------------------------
# Dashed: the bound with all hidden factors set to 1. Being a bound for the hardest function with this :math:`C_f`, it
# is far above; its shape is what to compare. With few rows the error has a minimum at a moderate width, and with more
# rows the best width grows.
colors = (RED, ORANGE, GREEN, BLUE, "black")
figure, (left, right) = panels(2, size=(4.6, 3.8))
for n, color in zip(sizes, colors, strict=False):
    left.loglog(widths, errors[n], "o-", color=color, markersize=4)
    left.loglog(widths, bounds[n], "--", color=color, linewidth=1, alpha=0.7)
    left.annotate(f" N = {n:,}", (widths[-1], bounds[n][-1]), color=color, fontsize=9, va="center")
left.axhline(np.var(f_test), color=GREY, linewidth=1, linestyle=":")
left.annotate("variance of f", (widths[0], 1.4 * np.var(f_test)), color=GREY, fontsize=9)
left.set(xlabel="hidden units q", ylabel="mean squared error", title="Bound (dashed) and error (dots)")
left.set_xlim(right=widths[-1] * 8)

best = [errors[n].min() for n in sizes]
best_bound = [2 * C_F * np.sqrt(P * np.log(n) / n) for n in sizes]  # the bound at its best width
right.loglog(sizes, best, "o-", color=BLUE, label="error at the best width")
right.loglog(sizes, best_bound, "--", color=GREY, label=r"bound: $2 C_f \sqrt{p \log N / N}$")
right.loglog(
    sizes, [errors[n][-1] for n in sizes], "s-", color=RED, markersize=4, label=f"error with {widths[-1]} units"
)
right.set(xlabel="rows N", title="More rows, smaller error")
right.legend(fontsize=9)
assert all((errors[n] < bounds[n]).all() for n in sizes)
assert best[-1] < 0.5 * best[0]
assert errors[sizes[-1]][0] > 2 * best[-1]
print(f"C_f = {C_F:.2f}; best widths {[widths[int(errors[n].argmin())] for n in sizes]} for N = {sizes}")
