r"""
XOR: a hidden layer moves the points until a line separates them
=================================================================
No line separates the two classes of XOR (lecture row A1). Two rectifiers map the four points to a space in which one
does: with :math:`U = \begin{pmatrix}1&1\\1&1\end{pmatrix}`, :math:`c = (0, -1)`, :math:`w = (2, -4)` and
:math:`b = -1`, the net :math:`w^T \mathrm{relu}(Ux + c) + b` is -1, +1, +1, -1.
"""

# %%
# The lecture's weights
# ---------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, panels

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype="float32")
y = np.array([-1, 1, 1, -1], dtype="float32")
model = md.Sequential(md.Linear(2), md.ReLU(), md.Linear(1)).init(2)
model.params["0.W"][...], model.params["0.b"][...] = [[1, 1], [1, 1]], [0, -1]
model.params["2.W"][...], model.params["2.b"][...] = [[2], [-4]], -1
assert np.array_equal(model(X)[:, 0], y)


def regions(ax, function, low, high, title):
    """Sign of a function of two variables."""
    axis = np.linspace(low, high, 300, dtype="float32")
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    ax.contourf(axis, axis, function(grid).reshape(300, 300), levels=[-1e9, 0, 1e9], colors=["#f6d9a8", "#a9cfe8"])
    ax.set(title=title, aspect="equal")


def points(ax, Z):
    """The four rows, with their names."""
    for place in np.unique(Z, axis=0):
        same = (place == Z).all(axis=1)
        names = " and ".join(f"({a:g},{b:g})" for a, b in X[same])
        color = BLUE if y[same][0] > 0 else ORANGE
        ax.plot(*place, "o", color=color, markersize=10, markeredgecolor="white")
        ax.annotate(names, place, xytext=(8, 6), textcoords="offset points", fontsize=9)


figure, (left, right) = panels(2, size=(4.2, 3.8))
regions(left, model, -0.6, 1.6, "Inputs: no line separates the colours")
points(left, X)
hidden = model.activations(X)["1"]
regions(right, lambda h: h @ model.params["2.W"] + model.params["2.b"], -0.6, 2.6, "Hidden layer: a line does")
points(right, hidden)
right.set(xlabel="first unit", ylabel="second unit")

# %%
# The same, learned
# -----------------
# Training finds other weights with the same effect. With two units some seeds end in a local optimum; with eight they
# do not (row N8).


def learn(width, seed):
    """Whether a net of this width learns XOR."""
    net = md.mlp(width, 1)
    trainer = md.Trainer(net, loss="mse", optimizer=md.Adam(0.03), seed=seed)
    trainer.fit(X, y, epochs=800, batch_size=4)
    return bool((np.sign(trainer.model(X)[:, 0]) == y).all())


widths = (2, 3, 4, 8, 16)
shares = [np.mean([learn(width, seed) for seed in range(20)]) for width in widths]
figure, (ax,) = panels(1, size=(4.6, 3.0))
bars = ax.bar([str(width) for width in widths], shares, color=BLUE)
ax.bar_label(bars, [f"{share:.0%}" for share in shares], color=GREY)
ax.set(xlabel="hidden units", ylabel="seeds that learn XOR", title="More units, fewer bad optima", ylim=(0, 1.1))
assert shares[-1] > 0.9 > shares[0]
