r"""
A sum of hinges grows, unit by unit
===================================
Thirteen frames of :math:`\hat f(x) = \sum_i w_i\,\mathrm{relu}(\pm(x - b_i))`. In each frame one hinge is added, where
it lowers the squared error most, and the weights of all hinges are fitted again. With every hinge the polyline gets a
corner and comes closer to the function (lecture rows A17 and E17).
"""

# %%
# Choose the hinges
# -----------------
from itertools import pairwise

import numpy as np
from matplotlib.animation import FuncAnimation

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, panels

x = np.linspace(-3, 3, 241)
y = np.sin(2 * x) * np.exp(-(x**2) / 4) + 0.3 * x
FRAMES = 13

candidates = [(side, place) for side in (1.0, -1.0) for place in np.linspace(-3, 3, 61)]
columns = {pair: np.maximum(pair[0] * (x - pair[1]), 0.0) for pair in candidates}


def fit(pairs):
    """Weights of a constant and of these hinges by least squares, and the root mean squared error."""
    A = np.column_stack([np.ones_like(x), *(columns[pair] for pair in pairs)])
    weights = np.linalg.lstsq(A, y, rcond=None)[0]
    return weights, float(np.sqrt(np.mean((A @ weights - y) ** 2)))


chosen, fits = [], []
for _ in range(FRAMES):
    chosen.append(min((pair for pair in candidates if pair not in chosen), key=lambda pair: fit([*chosen, pair])[1]))
    fits.append(fit(chosen))
errors = [error for _, error in fits]

# %%
# The sum is a net
# ----------------
# The last frame is a net with one hidden layer of thirteen rectifiers; its parameters can be written down.
model = md.mlp(FRAMES, 1).init(1, dtype="float64")
sides, places = np.array(chosen).T
model.params["0.W"][...], model.params["0.b"][...] = sides, -sides * places
model.params["2.W"][...], model.params["2.b"][...] = fits[-1][0][1:, None], fits[-1][0][0]
assert np.sqrt(np.mean((model(x[:, None])[:, 0] - y) ** 2)) < 1.001 * errors[-1]
assert all(after < before for before, after in pairwise(errors))
assert errors[-1] < 0.1 * errors[0]

# %%
# Thirteen frames
# ---------------
# Orange: the hinges with their weights, scaled and shifted down so that they can be seen. Blue: their sum. Grey: the
# function.


def draw(ax, frame):
    """One frame: function, sum, and the hinges below."""
    ax.clear()
    weights, error = fits[frame]
    terms = [w * columns[pair] for w, pair in zip(weights[1:], chosen, strict=False)]
    tallest = max(np.abs(term).max() for term in terms)
    for term in terms:
        ax.plot(x, term / tallest - 2.2, color=ORANGE, linewidth=1, alpha=0.8)
    ax.plot(x, y, color=GREY, linewidth=5, alpha=0.4)
    ax.plot(x, weights[0] + sum(terms), color=BLUE)
    ax.set(xlim=(-3, 3), ylim=(-3.4, 1.6), xticks=[], yticks=[])
    ax.set_title(f"{len(terms)} hinge{'s' if frame else ''}: error {error:.3f}")


figure, axes = panels(4, size=(2.7, 2.5))
for ax, frame in zip(axes, (0, 2, 5, 12), strict=True):
    draw(ax, frame)
figure.suptitle("The sum of the orange hinges (blue) follows the grey curve ever more closely")

# %%
# All thirteen, as an animation:
figure, (ax,) = panels(1, size=(4.6, 3.4))
draw(ax, 0)
animation = FuncAnimation(figure, lambda frame: draw(ax, frame), frames=FRAMES, interval=500)
