r"""
Capacity: 3, 6 and 20 hidden units
==================================
More hidden units can draw more complicated boundaries; too many draw the noise as well. The remedy is not a smaller net
but a regularised large one (lecture row C11): small nets also have bad local optima, and the spread over seeds falls
with the width (row N8).
"""

# %%
# Decision regions
# ----------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, RED, panels


def clouds(n, seed):
    """Two noisy half moons; 8 % of the labels are wrong."""
    rng = np.random.default_rng(seed)
    angle, label = rng.uniform(0, np.pi, n), rng.integers(0, 2, n)
    moons = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(label, 1, -1)[:, None]
    moons += label[:, None] * [-0.5, -0.15] + np.array([0.25, 0.0])
    X = 1.6 * (moons + rng.normal(scale=0.22, size=(n, 2)))
    return X.astype("float32"), np.where(rng.uniform(size=n) < 0.08, 1 - label, label)


X, y = clouds(90, 0)
X_test, y_test = clouds(2000, 1)


def train(width, penalty=0.0, seed=0):
    """Train one hidden layer of rectifiers; returns the model, training loss, and accuracy on new rows."""
    regularizer = md.optim.L2(penalty) if penalty else None
    net = md.mlp(width, 2, activation="relu")
    trainer = md.Trainer(
        net, loss="cross_entropy", optimizer=md.Adam(0.02), schedule="cosine", regularizer=regularizer, seed=seed
    )
    trainer.fit(X, y, epochs=200 if QUICK else 800, batch_size=50)
    loss = float(md.CrossEntropy()(trainer.model(X), y))
    return trainer.model, loss, float(np.mean(trainer.model(X_test).argmax(axis=1) == y_test))


def draw(ax, model, title):
    """The regions of the two classes, and the training rows."""
    axis = np.linspace(-2.6, 2.6, 200, dtype="float32")
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    logits = np.asarray(model(grid), dtype=float)
    p = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    ax.contourf(
        axis,
        axis,
        p.reshape(200, 200),
        levels=[0, 0.25, 0.5, 0.75, 1],
        colors=["#f6d9a8", "#fbeed8", "#d9e9f5", "#a9cfe8"],
    )
    ax.contour(axis, axis, p.reshape(200, 200), levels=[0.5], colors=[GREY])
    for label, color in enumerate((ORANGE, BLUE)):
        ax.plot(*X[y == label].T, "o", color=color, markersize=3.5, markeredgecolor="white", markeredgewidth=0.4)
    ax.set(title=title, xticks=[], yticks=[])


figure, axes = panels(4, size=(2.8, 3.0))
scores = {}
for ax, (width, penalty) in zip(axes, ((3, 0.0), (6, 0.0), (200, 0.0), (200, 3e-3)), strict=True):
    model, _, scores[width, penalty] = train(width, penalty)
    label = f"{width} units" + (" with L2" if penalty else "")
    draw(ax, model, f"{label}\n{scores[width, penalty]:.1%} of new rows")
figure.suptitle("Too many units fit the wrong labels; with a penalty they do not")
assert scores[200, 3e-3] > scores[200, 0.0]

# %%
# Spread over seeds
# -----------------
# The training loss of many runs that differ only in their random seed. Small nets end in local optima of different
# quality; large ones all end equally low.
widths = (2, 4, 16) if QUICK else (2, 3, 4, 6, 10, 20, 50, 100)
losses = [[train(width, seed=seed)[1] for seed in range(4 if QUICK else 12)] for width in widths]
figure, (ax,) = panels(1, size=(5.5, 3.2))
for width, found in zip(widths, losses, strict=True):
    ax.plot(np.full(len(found), width), found, "o", color=BLUE, alpha=0.5, markersize=5)
ax.plot(widths, np.median(losses, axis=1), color=RED, label="median")
ax.set(xscale="log", xlabel="hidden units", ylabel="training loss", title="Large nets depend less on luck")
ax.set_xticks(widths, [str(width) for width in widths])
ax.minorticks_off()
ax.legend()
