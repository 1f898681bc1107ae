"""
Rings become separable in polar coordinates
===========================================
Two rings cannot be separated by a line. In polar coordinates they can: the right features make the problem linear
(lecture row B4). A hidden layer learns such features by itself.
"""

# %%
# Before and after the change of coordinates
# ------------------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, panels

rng = np.random.default_rng(0)
label = rng.integers(0, 2, 400)
radius, angle = 1 + label + rng.normal(scale=0.15, size=400), rng.uniform(-np.pi, np.pi, 400)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype("float32")
polar = np.column_stack([np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])]).astype("float32")


def accuracy(net, features):
    """Train on half of the rows; returns the model and its accuracy on the other half."""
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.05), schedule="cosine")
    trainer.fit(features[:200], label[:200], epochs=150, batch_size=50)
    return trainer.model, float(np.mean(trainer.model(features[200:]).argmax(axis=1) == label[200:]))


def draw(ax, model, features, title):
    """Rows and the boundary between the classes."""
    low, high = features.min(axis=0) - 0.3, features.max(axis=0) + 0.3
    x, y = np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2).astype("float32")
    difference = np.diff(model(grid), axis=1).reshape(200, 200)
    ax.contour(x, y, difference, levels=[0], colors=[GREY], linewidths=2)
    for k, color in enumerate((ORANGE, BLUE)):
        ax.plot(*features[label == k].T, "o", color=color, markersize=3, alpha=0.7)
    ax.set_title(title)


figure, axes = panels(3, size=(3.4, 3.3))
found = {}
for ax, (name, net, features) in zip(
    axes,
    (
        ("line, x and y", md.mlp(2), X),
        ("line, radius and angle", md.mlp(2), polar),
        ("8 hidden units, x and y", md.mlp(8, 2), X),
    ),
    strict=True,
):
    model, found[name] = accuracy(net, features)
    draw(ax, model, features, f"{name}: {found[name]:.0%}")
figure.suptitle("Share of new rows that are right")
assert found["line, x and y"] < 0.7
assert min(found["line, radius and angle"], found["8 hidden units, x and y"]) > 0.95
