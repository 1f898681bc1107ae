r"""
What units of deeper layers look for
====================================
The weights of a linear classifier are one template for each class, the average of all ways to write it. Hidden units of
the first layer look for strokes; units of deeper layers combine them to patterns that resemble whole digits (lecture
rows C2 and C13). What a deep unit looks for is not in its weights, but it can be found: start near the mean image and
follow the gradient of the unit's input by the *pixels*.
"""

# %%
# A linear classifier and a deep one
# ----------------------------------
# The data are images of MNIST if ``MADALINE_DATA`` names a folder that has them, otherwise those of scikit-learn.
import numpy as np

import madaline as md
from madaline.gallery.images import handwritten_digits
from madaline.gallery.style import QUICK, mosaic, panels

X, y, side = handwritten_digits(1500 if QUICK else 10_000)
split = len(X) * 4 // 5


def train(net):
    """Train on four fifths; returns the model and its accuracy on the rest."""
    trainer = md.Trainer(
        net, loss="cross_entropy", optimizer=md.Adam(0.001), schedule="cosine", regularizer=md.optim.L2(1e-5)
    )
    trainer.fit(X[:split], y[:split], epochs=15 if QUICK else 250_000 // len(X), batch_size=50)
    return trainer.model, float(np.mean(trainer.model(X[split:]).argmax(axis=1) == y[split:]))


linear, linear_score = train(md.Linear(10))
deep, deep_score = train(md.mlp(128, 128, 128, 10, dropout=0.2, input_dropout=0.2))
figure, (ax,) = panels(1, size=(9.0, 1.3))
mosaic(ax, linear.params["W"].T, 10)
ax.set_title(
    f"Templates of a linear classifier ({linear_score:.1%} of new images right; with three layers {deep_score:.1%})"
)
assert deep_score > linear_score

# %%
# The best input of a unit, by depth
# ----------------------------------
# ``model[:k]`` is the net up to its layer k. Pixels that vary little in the data get small steps, and the distance
# from the mean image stays that of a usual image, so that only the shape can grow the unit's input.
mean, variance = X.mean(axis=0), X.var(axis=0)
length = np.linalg.norm(X - mean, axis=1).mean()


def best_inputs(part, units, excited, steps=40 if QUICK else 100):
    """Changes of the mean image with the largest inputs of these units; they start towards the best ten images."""

    def excitation(images):
        return np.sum(part(images)[np.arange(len(units)), units])

    gradient = md.compile(md.grad(excitation))
    change = np.array([0.5 * (X[np.argsort(-excited[:, unit])[:10]].mean(axis=0) - mean) for unit in units])
    for _ in range(steps):
        g = variance * np.asarray(gradient((mean + change).astype("float32")))
        change = change + 0.05 * length * g / (np.linalg.norm(g, axis=1, keepdims=True) + 1e-9)
        change *= np.minimum(1.0, length / np.linalg.norm(change, axis=1, keepdims=True))
    return change


DEPTHS = {"first layer": 2, "second layer": 5, "third layer": 8, "the ten classes": 11}
figure, axes = panels(4, size=(3.0, 3.2))
gains = []
for ax, (title, depth) in zip(axes, DEPTHS.items(), strict=True):
    part = deep[:depth]
    excited = np.asarray(part(X[:split]))
    n = 10 if depth == 11 else 16
    units = np.arange(10) if depth == 11 else np.argsort(-excited.std(axis=0))[:n]
    images = best_inputs(part, units, excited)
    mosaic(ax, images, 4)
    ax.set_title(title)
    values = part((mean + images).astype("float32"))[np.arange(n), units]
    gains.append(float(np.mean(values > np.quantile(excited[:, units], 0.99, axis=0))))
figure.suptitle("Inputs that excite a unit most: deeper units look for larger patterns")
assert min(gains) > 0.8, "the found inputs excite their units more than 99 % of the images do"

# %%
# Images that excite a unit most
# ------------------------------
# Four units of the first and of the last hidden layer, and the eight images that each likes best.
figure, axes = panels(2, size=(4.6, 2.5))
for ax, (title, depth) in zip(axes, (("first layer", 2), ("third layer", 8)), strict=True):
    excited = deep[:depth](X[:split])
    units = np.argsort(-excited.std(axis=0))[:4]
    best = [X[row] for unit in units for row in np.argsort(-excited[:, unit])[:8]]
    mosaic(ax, best, 8, cmap="gray_r", vmin=0)
    ax.set_title(f"{title}: one unit a line")
