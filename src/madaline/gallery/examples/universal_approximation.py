r"""
Sums of hinges approximate any continuous function
==================================================
A hidden layer of rectifiers is a sum of hinges, :math:`\hat f(x) = \sum_i w_i\,\mathrm{relu}(x + b_i)`: a polyline with
a corner at every :math:`-b_i`. More units give more corners, and the error falls as far as we like (lecture rows A17
and E17). This fails for exactly one kind of unit: polynomials (Leshno et al. 1993).
"""

# %%
# More units, more corners
# ------------------------
# The same function is fitted by 2, 4, 8 ... rectifiers. Ticks below each curve mark the corners that training has
# chosen; they gather where the function bends.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, QUICK, RED, panels

x = np.linspace(-4, 4, 512, dtype="float32")[:, None]
y = np.sin(2 * x) * np.exp(-(x**2) / 4)


def fit(width, activation="relu", seed=0):
    """Train one hidden layer; returns the model and its root mean squared error."""
    net = md.Sequential(md.Linear(width), activation, md.Linear(1))
    trainer = md.Trainer(net, loss="mse", optimizer=md.Adam(0.01), schedule="cosine", seed=seed)
    trainer.fit(x, y, epochs=100 if QUICK else 600, batch_size=32)
    return trainer.model, float(np.sqrt(np.mean((trainer.model(x) - y) ** 2)))


figure, axes = panels(3, 2, size=(3.4, 2.4), sharex=True, sharey=True)
for ax, width in zip(axes, (2, 4, 8, 16, 32, 64), strict=True):
    model, error = fit(width)
    corners = -model.params["0.b"] / model.params["0.W"][0]
    ax.plot(x, y, color=GREY, linewidth=4, alpha=0.4)
    ax.plot(x, model(x), color=BLUE)
    ax.plot(corners, np.full(width, -1.05), "|", color=ORANGE, markersize=9)
    ax.set(title=f"{width} units: error {error:.3f}", xlim=(-4, 4), ylim=(-1.15, 1.0))
figure.suptitle("Rectifiers fit the grey curve by polylines; ticks are their corners")

# %%
# Polynomial units fail at any width
# ----------------------------------
# A layer of units with the activation :math:`z^2` computes a quadratic polynomial of ``x``, however many units there
# are. Its error does not fall with the width; that of rectifiers and of tanh units does.
widths = (2, 8, 32) if QUICK else (2, 4, 8, 16, 32, 64, 128)
seeds = range(1 if QUICK else 5)
units = {"relu": BLUE, "tanh": GREEN, "z²": RED}
square = md.nn.Activation(lambda z: z * z)
errors = {
    name: np.array([[fit(w, square if name == "z²" else name, seed)[1] for seed in seeds] for w in widths])
    for name in units
}
best_parabola = np.polynomial.Polynomial.fit(x[:, 0], y[:, 0], 2)(x[:, 0])
floor = float(np.sqrt(np.mean((best_parabola - y[:, 0]) ** 2)))

figure, (ax,) = panels(1, size=(5.5, 3.4))
for name, color in units.items():
    ax.loglog(widths, np.median(errors[name], axis=1), "o-", color=color, label=name)
    ax.fill_between(widths, errors[name].min(axis=1), errors[name].max(axis=1), color=color, alpha=0.2, linewidth=0)
ax.axhline(floor, color=GREY, linestyle="--", linewidth=1)
ax.annotate("best parabola", (widths[0], floor), xytext=(0, 4), textcoords="offset points", color=GREY)
ax.set(xlabel="hidden units", ylabel="error", title="Width helps every activation except polynomials")
ax.legend()

assert np.median(errors["z²"][-1]) > 0.9 * floor, "z² cannot be better than the best parabola"
assert np.median(errors["relu"][-1]) < 0.3 * floor
assert np.median(errors["relu"][-1]) < np.median(errors["relu"][0])
