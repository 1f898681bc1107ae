r"""
Batch and stochastic paths, and what noise is good for
======================================================
The gradient of one row is a noisy estimate of the gradient of all rows. Its path is crooked, but a step costs 1/N as
much (lecture row A9). The noise also helps to leave local minima (row N7).
"""

# %%
# One problem, three batch sizes
# ------------------------------
# A line is fitted to 100 points. All three paths use each row equally often: three epochs.
import numpy as np

import madaline as md
from madaline.gallery.descent import descend
from madaline.gallery.style import BLUE, GREEN, ORANGE, QUICK, RED, contours, panels

rng = np.random.default_rng(0)
N = 100
x = rng.normal(size=N)
y = 1.0 + 2.0 * x + rng.normal(scale=0.8, size=N)


def loss(w, rows=slice(None)):
    """Half the mean squared error of the line ``w[0] + w[1] x``; also of many lines at once."""
    return 0.5 * np.mean((w[..., :1] + w[..., 1:] * x[rows] - y[rows]) ** 2, axis=-1)


figure, axes = panels(3, size=(3.3, 3.2), sharey=True)
for ax, (size, color) in zip(axes, ((N, BLUE), (10, GREEN), (1, RED)), strict=True):
    order = np.concatenate([rng.permutation(N) for _ in range(3)]).reshape(-1, size)

    def gradient(w, t, order=order):
        """The gradient of the mini-batch of step t."""
        rows = order[t - 1]
        return md.grad(lambda w: loss(w, rows))(w)

    path = descend(loss, [-1.5, -1.0], md.SGD(0.1), len(order), gradient=gradient)
    contours(ax, loss, (-2, 2.5), (-1.5, 3.5))
    ax.plot(*path.T, "o-", color=color, markersize=2.5, linewidth=1)
    ax.plot(*np.linalg.lstsq(np.column_stack([np.ones(N), x]), y, rcond=None)[0], "k*", markersize=12)
    name = {N: "all rows", 1: "one row"}.get(size, f"{size} rows")
    ax.set(title=f"{name}: {len(order)} steps", xlabel="intercept")
axes[0].set_ylabel("slope")
figure.suptitle("Three epochs at the rate 0.1: batch, mini-batch and stochastic gradient descent")

# %%
# Noise leaves local minima
# -------------------------
# The frequency of a sine has many local minima: :math:`\ell_i(w) = (\sin(w x_i) - \sin(3 x_i))^2`. Gradient descent on
# all rows stops at the first one. One row at a time, the steps are noisy everywhere except at the best minimum, where
# the error of every row is 0; so the path wanders until it gets there, and stays.
n_rows = 200
places = rng.uniform(-4, 4, n_rows)


def wave(w, rows=slice(None)):
    """Mean squared difference of two sines; ``w`` is a vector of one number."""
    return np.mean((np.sin(w[..., :1] * places[rows]) - np.sin(3.0 * places[rows])) ** 2, axis=-1)


def run(size, seed, steps=300 if QUICK else 600):
    """The path of SGD with mini-batches of this size."""
    draws = np.random.default_rng(seed)

    def gradient(w, _):
        z = places[draws.integers(0, n_rows, size)] if size < n_rows else places
        return np.mean(2 * (np.sin(w * z) - np.sin(3.0 * z)) * np.cos(w * z) * z, keepdims=True)

    return descend(wave, [0.9], md.SGD(0.2), steps, gradient=gradient)[:, 0]


w = np.linspace(0, 4.5, 400)[:, None]
figure, (left, middle, right) = panels(3, size=(3.5, 3.2))
left.plot(w, wave(w), color="black", linewidth=1.5)
for size, color in ((n_rows, BLUE), (1, RED)):
    path = run(size, 1)
    left.plot(path[-1], wave(path[-1:]), "o", color=color, markersize=10)
    middle.plot(path, color=color, linewidth=1, label="all rows" if size == n_rows else "one row")
left.plot(0.9, wave(np.array([0.9])), "k>", markersize=8)
left.set(xlabel="frequency w", ylabel="loss", title="From the triangle: two ends")
middle.axhline(3.0, color=ORANGE, linestyle=":", linewidth=1.5)
middle.set(xlabel="step", ylabel="w", title="The noisy path finds 3")
middle.legend()
sizes = (1, 4, 16, 64, n_rows)
shares = [np.mean([abs(run(size, seed)[-1] - 3.0) < 0.05 for seed in range(10 if QUICK else 40)]) for size in sizes]
bars = right.bar([str(size) for size in sizes], shares, color=BLUE)
right.bar_label(bars, [f"{share:.0%}" for share in shares])
right.set(xlabel="rows in a mini-batch", ylabel="runs that find w = 3", ylim=(0, 1.1), title="Less noise, less luck")
assert shares[0] > 0.6
assert shares[-1] == 0
