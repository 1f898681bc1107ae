r"""
Random search beats the grid; ensembles beat their members
==========================================================
Of several hyperparameters usually one or two matter. A grid of 25 trials tries five values of each; 25 random trials
try 25 (Bergstra & Bengio 2012). Rates are searched on a log scale, first coarsely, then finely around the best.
Finally, the average of several nets is better than its members are on average (lecture row B8).
"""

# %%
# Grid, random, coarse to fine
# ----------------------------
# The validation loss of a small net, as a function of the learning rate, which matters much, and of the weight decay,
# which matters little.
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, QUICK, RED, panels

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
train, valid, test = slice(0, 600), slice(600, 1200), slice(1200, None)
EPOCHS = 4 if QUICK else 8


def loss(rate, decay):
    """Validation loss of one trial."""
    trainer = md.Trainer(md.mlp(32, 10), loss="cross_entropy", optimizer=md.AdamW(rate, weight_decay=decay))
    trainer.fit(X[train], y[train], epochs=EPOCHS, batch_size=32, on_divergence="stop")
    return trainer.evaluate(X[valid], y[valid])["loss"]


side = 3 if QUICK else 5
rng = np.random.default_rng(0)
low, high = np.array([-4.5, -5.0]), np.array([0.0, 0.0])  # powers of ten: rate, decay
grid = np.stack(np.meshgrid(*(np.linspace(a, b, side) for a, b in zip(low, high, strict=True))), axis=-1).reshape(-1, 2)
random = rng.uniform(low, high, (side**2, 2))
coarse = rng.uniform(low, high, (side**2 // 2, 2))


def trials(points):
    """The validation loss of each point."""
    return np.array([min(loss(*10.0**point), 10.0) for point in points])


searches = {"grid": (grid, trials(grid), RED), "random": (random, trials(random), BLUE)}
first = trials(coarse)
around = coarse[first.argmin()]
fine = np.clip(rng.normal(around, [0.3, 1.0], (side**2 - len(coarse), 2)), low, high)
searches["coarse to fine"] = (np.concatenate([coarse, fine]), np.concatenate([first, trials(fine)]), GREEN)

figure, axes = panels(3, size=(3.3, 3.2), sharey=True)
for ax, (name, (points, found, color)) in zip(axes, searches.items(), strict=True):
    order = points[:, 0].argsort()
    ax.semilogy(10.0 ** points[order, 0], found[order], "o", color=color, markersize=6, alpha=0.8)
    ax.set(xscale="log", xlabel="learning rate", title=f"{name}: best {found.min():.3f}")
    ax.plot(10.0 ** points[:, 0], np.full(len(points), 0.12), "|", color=GREY, markersize=10)
axes[0].set_ylabel("validation loss")
axes[0].set_ylim(0.1, 12)
figure.suptitle(f"{side**2} trials each: the grid tries {side} rates, the others as many as trials")
best = {name: found.min() for name, (_, found, _) in searches.items()}
assert min(best["random"], best["coarse to fine"]) <= best["grid"]

# %%
# Ensembles
# ---------
# Nets that differ only in their random seed make different mistakes, most of all with little data, here 200 rows.
# Averaging their probabilities removes some of the mistakes.
members = 5 if QUICK else 15


def member(seed):
    """Probabilities of one net for the test rows."""
    trainer = md.Trainer(
        md.mlp(24, 24, 10), loss="cross_entropy", optimizer=md.Adam(0.01), schedule="cosine", seed=seed
    )
    trainer.fit(X[:200], y[:200], epochs=15 if QUICK else 40, batch_size=32)
    return md.CrossEntropy().predict(trainer.model(X[test]))


probabilities = np.array([member(seed) for seed in range(members)])
single = (probabilities.argmax(axis=2) != y[test]).mean(axis=1)
sizes = range(1, members + 1)
averaged = []
for size in sizes:
    groups = [rng.choice(members, size, replace=False) for _ in range(30)]
    averaged.append(np.mean([(probabilities[group].mean(axis=0).argmax(axis=1) != y[test]).mean() for group in groups]))
figure, (ax,) = panels(1, size=(5.4, 3.3))
ax.plot(np.ones(members), 100 * single, "o", color=ORANGE, alpha=0.6, label="single nets")
ax.plot(sizes, 100 * np.array(averaged), "o-", color=BLUE, markersize=4, label="ensembles, mean over 30 choices")
ax.set(xlabel="nets in the ensemble", ylabel="test error in %", title="Ensembles of equal nets with different seeds")
ax.legend()
assert averaged[-1] < single.mean()
