r"""
Dropout with wrong labels
=========================
A quarter of the training labels are wrong. Without dropout a net memorizes many of them; with some dropout it
finds the border between the classes instead; with too much it learns nothing (lecture row E15).
"""

# %%
# Points, labels and nets
# -----------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, QUICK, RED, panels

WRONG = 0.25
drops = {"none": 0.0, "some": 0.4, "too much": 0.9}


def points(n, seed, purpose):
    """Points of a square, and whether each lies above a wave."""
    X = md.nn.initializers.stream(seed, "noisy labels", purpose).uniform(-1.0, 1.0, (n, 2)).astype("float32")
    return X, (X[:, 1] > 0.5 * np.sin(3.0 * X[:, 0])).astype(int)


def noisy(seed):
    """300 training points with noisy labels, and which labels are wrong."""
    X, y = points(300, seed, "train")
    flip = md.nn.initializers.stream(seed, "noisy labels", "flips").random(300) < WRONG
    return X, np.where(flip, 1 - y, y), flip


def train(p, seed):
    """A net of three hidden layers of 64 rectifiers, trained with all rows in each step."""
    net = md.mlp(64, 64, 64, 2, dropout=p)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.01), seed=seed, threads=1)
    trainer.fit(*noisy(seed)[:2], epochs=300, batch_size=None)
    return trainer.model


# %%
# What the nets learn
# -------------------
# The colour is the prediction. Crosses are training points with wrong labels; the line is the true border.
seeds = range(2 if QUICK else 8)
models = {name: [train(p, seed) for seed in seeds] for name, p in drops.items()}
on_noise, on_new = {}, {}
for name in drops:
    wrong = []
    for seed, model in zip(seeds, models[name], strict=True):
        X, y, _ = noisy(seed)
        X_new, y_new = points(2000, seed, "test")
        wrong.append([np.mean(model(X).argmax(axis=1) != y), np.mean(model(X_new).argmax(axis=1) != y_new)])
    on_noise[name], on_new[name] = np.mean(wrong, axis=0)
figure, axes = panels(3, size=(3.5, 3.8), sharey=True)
axis = np.linspace(-1.0, 1.0, 161)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
X, y, flip = noisy(0)
for ax, (name, p) in zip(axes, drops.items(), strict=True):
    above = md.CrossEntropy().predict(models[name][0](grid))[:, 1].reshape(161, 161)
    ax.imshow(above, extent=(-1, 1, -1, 1), origin="lower", cmap="RdBu_r", vmin=0, vmax=1, alpha=0.55)
    for label, color in enumerate((BLUE, RED)):
        ax.plot(
            *X[(y == label) & ~flip].T, "o", markersize=4, color=color, markeredgecolor="white", markeredgewidth=0.3
        )
        ax.plot(*X[(y == label) & flip].T, "X", markersize=7, color=color, markeredgecolor="white", markeredgewidth=0.7)
    ax.plot(axis, 0.5 * np.sin(3.0 * axis), color="black", linewidth=1.4)
    ax.set(title=f"Dropout: {name} (p = {p:g})\n{on_new[name]:.0%} errors on new points", xticks=[], yticks=[])
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
for name in drops:
    print(
        f"{name}: error {on_noise[name]:.0%} on the noisy labels, {on_new[name]:.0%} on the true labels of new points"
    )
assert on_noise["none"] < on_noise["some"] - 0.05
assert on_new["some"] < 0.6 * on_new["none"]
assert on_new["too much"] > 0.4

# %%
# A perfect net would have an error of 25 % on the noisy labels: less means that wrong labels were memorized.
