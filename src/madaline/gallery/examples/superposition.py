r"""
A product is a superposition of functions of one variable
==========================================================
Kolmogorov and Arnold: every continuous function of several variables is a superposition of continuous functions of
*one* variable and addition. The lecture asks for :math:`f(x_1, x_2) = x_1 x_2` (lecture row A16):

.. math:: x_1 x_2 = \tfrac14 (x_1 + x_2)^2 - \tfrac14 (x_1 - x_2)^2.

Two sums, one function of one variable applied to each, and a sum again: this is a net with one hidden layer.
"""

# %%
# Exactly, with units that square
# -------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, QUICK, RED, panels

axis = np.linspace(-1, 1, 81)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
product = grid[:, 0] * grid[:, 1]

square = md.nn.Activation(lambda z: z * z)
model = md.Sequential(md.Linear(2, bias=False), square, md.Linear(1, bias=False)).init(2, dtype="float64")
model.params["0.W"][...] = [[1, 1], [1, -1]]
model.params["2.W"][...] = [[0.25], [-0.25]]
assert np.abs(model(grid)[:, 0] - product).max() < 1e-15

# %%
# Nearly, with rectifiers
# -----------------------
# Each square is a function of one variable, so a sum of hinges approximates it. On :math:`[-2, 2]` with ``k`` hinges,
# equally spaced, the polyline through the points of a parabola is wrong by at most the square of the spacing over 4;
# the error of the product falls as :math:`1/k^2`.


def rectifiers(k):
    """A net of 2k rectifiers with known weights that computes nearly the product."""
    knots = np.linspace(-2, 2, k + 1)
    slopes = np.diff(knots**2) / np.diff(knots)  # of the polyline through the parabola's points
    steps = np.concatenate([slopes[:1], np.diff(slopes)])  # changes of the slope: the weights of the hinges
    net = md.Sequential(md.Linear(2 * k), md.ReLU(), md.Linear(1)).init(2, dtype="float64")
    net.params["0.W"][...] = np.repeat([[1, 1], [1, -1]], k, axis=1)
    net.params["0.b"][...] = np.tile(-knots[:-1], 2)
    net.params["2.W"][...] = np.concatenate([steps, -steps])[:, None] / 4
    return net  # the constants of the two polylines cancel


counts = (2, 4, 8, 16, 32, 64)
errors = [float(np.abs(rectifiers(k)(grid)[:, 0] - product).max()) for k in counts]
bound = [(4 / k) ** 2 / 16 for k in counts]
assert all(error <= limit * 1.0001 for error, limit in zip(errors, bound, strict=True))

figure, axes = panels(3, size=(3.4, 3.2), sharey=True)
surfaces = {"x1 x2": product, "8 hinges": rectifiers(4)(grid)[:, 0], "32 hinges": rectifiers(16)(grid)[:, 0]}
for ax, (name, values) in zip(axes, surfaces.items(), strict=True):
    ax.contourf(axis, axis, values.reshape(81, 81), levels=np.linspace(-1.1, 1.1, 23))
    ax.contour(axis, axis, values.reshape(81, 81), levels=np.linspace(-0.8, 0.8, 9), colors="white", linewidths=0.7)
    ax.set(title=name, xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal", xlabel="x1")
axes[0].set_ylabel("x2")
figure.suptitle("The product of two variables from sums and functions of one variable")

# %%
# Found by training
# -----------------
# A trained net of the same width chooses its own sums and hinges.


def trained(k, seed):
    """Largest error of a net of 2k rectifiers trained on the product."""
    X = np.random.default_rng(seed).uniform(-1, 1, (1000, 2)).astype("float32")
    trainer = md.Trainer(md.mlp(2 * k, 1), optimizer=md.Adam(0.01), schedule="cosine", seed=seed)
    trainer.fit(X, X[:, :1] * X[:, 1:], epochs=40 if QUICK else 200, batch_size=50)
    return float(np.abs(trainer.model(grid)[:, 0] - product).max())


learned = [np.median([trained(k, seed) for seed in range(1 if QUICK else 3)]) for k in counts]
figure, (ax,) = panels(1, size=(6.4, 3.4))
ax.loglog([2 * k for k in counts], errors, "o-", color=BLUE, label="constructed", markersize=4)
ax.loglog([2 * k for k in counts], learned, "s-", color=RED, label="trained", markersize=4)
ax.loglog([2 * k for k in counts], bound, "--", color=GREY, label=r"$1/k^2$", linewidth=1.2)
ax.set(title="The error falls with the number of hinges", xlabel="rectifiers", ylabel="largest error")
ax.legend()
