r"""
Why inputs are centred and scaled
=================================
If all inputs of a unit are positive, as the outputs of sigmoid units are, all its weights get gradients of the same
sign: :math:`\partial\ell/\partial w_i = \delta\,x_i`. Steps can only go up in all weights or down in all weights, so
the way to a point that needs both is a zig-zag (lecture row B6). And if inputs have different scales, the contours of
the loss are long ellipses, on which the rate must be small (rows B10 and D6).
"""

# %%
# All-positive inputs
# -------------------
# A linear unit learns the weights (1, -1) from one row at a time; the inputs are positive in one case, and the same
# minus their mean in the other.
import numpy as np

import madaline as md
from madaline.gallery.descent import descend
from madaline.gallery.style import BLUE, GREEN, RED, contours, panels

rng = np.random.default_rng(1)
N = 60
positive = rng.uniform(0.1, 1.0, (N, 2))
clouds = {"all-positive inputs": (positive, RED), "the same, centred": (positive - positive.mean(axis=0), BLUE)}
TARGET = np.array([1.0, -1.0])
figure, axes = panels(2, size=(4.0, 3.6), sharey=True)
same_sign = {}
for ax, (name, (X, color)) in zip(axes, clouds.items(), strict=True):
    y = X @ TARGET

    def loss(w, X=X, y=y):
        """Half the mean squared error."""
        return 0.5 * np.mean((w @ X.T - y) ** 2, axis=-1)

    def gradient(w, t, X=X, y=y):
        """The gradient of one row."""
        return (w @ X[t % N] - y[t % N]) * X[t % N]

    rate = 1.0 / np.max(np.sum(X**2, axis=1))  # the largest that cannot diverge
    path = descend(loss, [-1.0, 1.0], md.SGD(rate), 60, gradient=gradient)
    moves = np.diff(path, axis=0)
    same_sign[name] = float(np.mean(moves.prod(axis=1) >= 0))
    contours(ax, loss, (-1.6, 2.0), (-2.4, 1.4))
    ax.plot(*path.T, "o-", color=color, markersize=3, linewidth=1.2)
    ax.plot(*TARGET, "k*", markersize=12)
    ax.set(title=f"{name}: {same_sign[name]:.0%} of the steps\nchange both weights in the same direction", xlabel="w1")
axes[0].set_ylabel("w2")
assert same_sign["all-positive inputs"] == 1.0
assert same_sign["the same, centred"] < 0.8

# %%
# Contours with and without normalised inputs
# -------------------------------------------
# The second column has five times the spread of the first. Each path uses the largest power-of-two rate at which it
# still converges.
raw = rng.normal(size=(200, 2)) * [1.0, 5.0]
model = md.nn.Standardize().init(raw, dtype="float64")
scaled = model(raw)
noise = rng.normal(scale=0.5, size=200)
figure, axes = panels(2, size=(4.0, 3.4))
steps = {}
for ax, (name, X) in zip(axes, {"raw inputs": raw, "normalised inputs": scaled}.items(), strict=True):
    y = scaled @ np.array([1.0, 1.0]) + noise

    def loss(w, X=X, y=y):
        """Half the mean squared error."""
        return 0.5 * np.mean((w @ X.T - y) ** 2, axis=-1)

    curvatures = np.linalg.eigvalsh(X.T @ X / len(X))
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    rate = 2.0 ** np.floor(np.log2(2 / curvatures[-1] * 0.99))
    path = descend(loss, best - 1.6, md.SGD(rate), 200)
    steps[name] = int(np.argmax(np.linalg.norm(path - best, axis=1) < 0.01))
    contours(ax, loss, (best[0] - 2.0, best[0] + 2.0), (best[1] - 2.0, best[1] + 2.0))
    ax.plot(*path.T, "o-", color=RED if name == "raw inputs" else GREEN, markersize=3, linewidth=1.2)
    ax.plot(*best, "k*", markersize=12)
    ratio = curvatures[-1] / curvatures[0]
    ax.set(title=f"{name}: curvatures 1 to {ratio:.0f},\n{steps[name]} steps at the rate {rate:g}", xlabel="w1")
axes[0].set_ylabel("w2")
assert 0 < steps["normalised inputs"] < 0.2 * steps["raw inputs"]
