r"""
From threshold units to the Madaline
====================================
A threshold logic unit (McCulloch & Pitts 1943) fires if :math:`\sum_i w_i x_i + b \ge 0`: *or*, *and* and *not* are
single units, and any Boolean function is a net of them (lecture row E1). Rosenblatt's perceptron learns the weights by
:math:`w \leftarrow w + a\,(d - y)\,x` (rows E2 and B1), Widrow and Hoff's Adaline by the delta rule, which is the
gradient of the squared error; a Madaline is a layer of them (row B2).
"""

# %%
# Or, and, and a net for exclusive or
# -----------------------------------
# Coloured: where the unit fires.
import itertools

import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, ORANGE, RED, mosaic, panels

corners = np.array(list(itertools.product([0, 1], repeat=2)))
grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 1.5, 201)] * 2), axis=-1).reshape(-1, 2)
xor = md.classical.threshold_net(lambda a, b: a != b, 2)
units = {
    "or: a + b - 0.5 ≥ 0": (md.classical.ThresholdLogicUnit([1, 1], -0.5), corners.any(axis=1)),
    "and: a + b - 1.5 ≥ 0": (md.classical.ThresholdLogicUnit([1, 1], -1.5), corners.all(axis=1)),
    "exclusive or: three units": (lambda a, b: xor(np.stack([a, b], axis=1))[:, 0], corners.sum(axis=1) == 1),
}
figure, axes = panels(3, size=(3.4, 3.3), sharey=True)
for ax, (title, (unit, truth)) in zip(axes, units.items(), strict=True):
    fires = np.reshape(unit(*grid.T), (201, 201))
    ax.contourf(fires, levels=[0.5, 1.5], extent=(-0.5, 1.5, -0.5, 1.5), colors=[ORANGE], alpha=0.35)
    for corner, value in zip(corners, truth, strict=True):
        ax.plot(*corner, "o", markersize=13, color=RED if value else "white", markeredgecolor="black")
    ax.set(title=title, xlabel="a", xticks=[0, 1], yticks=[0, 1])
    assert np.array_equal(np.ravel(unit(*corners.T.astype(float))), truth)
axes[0].set_ylabel("b")

# %%
# The Mark I perceptron on letters
# --------------------------------
# Images of 20 x 20 photocells: each letter is shifted and a tenth of its cells are flipped. One unit for each letter
# learns until no mistake is left.
shapes = {
    "A": "01110 10001 10001 11111 10001 10001 10001",
    "C": "01111 10000 10000 10000 10000 10000 01111",
    "E": "11111 10000 10000 11110 10000 10000 11111",
    "T": "11111 00100 00100 00100 00100 00100 00100",
}
rng = np.random.default_rng(0)


def letter(name):
    """A noisy image of 20 x 20 cells."""
    small = np.array([[int(cell) for cell in row] for row in shapes[name].split()])
    image = np.zeros((20, 20))
    top, left = rng.integers(1, 5), rng.integers(1, 5)
    image[top : top + 14, left : left + 15] = np.kron(small, np.ones((2, 3)))
    return np.abs(image - (rng.random((20, 20)) < 0.1)).ravel()


names = rng.choice(list(shapes), size=600)
X = np.array([letter(name) for name in names])
unit = md.classical.Perceptron(max_iter=200, random_state=0).fit(X[:400], names[:400])
accuracy = unit.score(X[400:], names[400:])
figure, (left, right) = panels(2, size=(5.2, 2.0))
mosaic(left, [X[names == name][0] - 0.5 for name in shapes], 4, cmap="gray")
mosaic(right, list(unit.coef_), 4)
left.set_title("Images of A, C, E and T")
right.set_title(f"Weights of the four units: {accuracy:.0%} of new images right")
assert unit.separable_
assert accuracy > 0.9

# %%
# Adaline: the delta rule is the gradient
# ---------------------------------------
# Targets are ±1. The rule :math:`w \leftarrow w + a\,(t - w^T x)\,x` is a step of gradient descent on half the squared
# error of one row. Right: a Madaline, whose output is the majority of its Adalines, learns exclusive or; one Adaline
# cannot.
points = np.random.default_rng(1).uniform(-1, 1, size=(400, 2))
points = points[np.abs(points).min(axis=1) > 0.1]
linear, mixed = points @ [1.0, 0.6] > 0.2, points.prod(axis=1) > 0
step = md.grad(lambda w, x, t: 0.5 * (t - w @ x) ** 2)(np.array([0.3, -0.2]), points[0], 1.0)
np.testing.assert_allclose(-step, (1.0 - np.array([0.3, -0.2]) @ points[0]) * points[0])
machines = {
    "Adaline, a linear problem": (md.classical.Adaline(random_state=0), linear),
    "Adaline, exclusive or": (md.classical.Adaline(random_state=0), mixed),
    "Madaline, exclusive or": (md.classical.Madaline(16, max_iter=1000, random_state=0), mixed),
}
figure, axes = panels(3, size=(3.4, 3.3), sharey=True)
square = np.stack(np.meshgrid(*[np.linspace(-1, 1, 121)] * 2), axis=-1).reshape(-1, 2)
scores = {}
for ax, (name, (machine, y)) in zip(axes, machines.items(), strict=True):
    scores[name] = machine.fit(points, y).score(points, y)
    ax.contourf(
        machine.predict(square).reshape(121, 121), levels=[-0.5, 0.5, 1.5], extent=(-1, 1, -1, 1), alpha=0.3,
        colors=[BLUE, ORANGE],
    )  # fmt: skip
    for value, color in ((False, BLUE), (True, RED)):
        ax.plot(*points[y == value].T, ".", color=color, markersize=5)
    ax.set(title=f"{name}:\n{scores[name]:.0%} right", xticks=[], yticks=[])
first, second, third = scores.values()
assert first > 0.9
assert second < 0.7
assert third > 0.9
