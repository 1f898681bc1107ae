r"""
Internal covariate shift
========================
While a net trains, the inputs of a deep layer change, since all layers before it do: the layer learns to use a
distribution that has moved when it has learned it. Batch norm keeps mean and variance of each unit in place (lecture
row N3). Whether this is *why* it helps is disputed (Santurkar et al. 2018: it smooths the loss); that it holds the
distribution is not.
"""

# %%
# The input of the last hidden layer, epoch by epoch
# --------------------------------------------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, ORANGE, QUICK, panels

X, y = load_digits(return_X_y=True)
X = ((X - X.mean()) / X.std()).astype("float32")
EPOCHS = 8 if QUICK else 30


class Watch(md.Callback):
    """Keeps the inputs of the last activation after each epoch."""

    def __init__(self, layer):
        self.layer, self.seen = layer, []

    def on_epoch_end(self, trainer, row):
        self.seen.append(trainer.model.activations(X[:400])[self.layer])


watched = {}
for norm in (None, "batch"):
    net = md.mlp(64, 64, 64, 64, 10, norm=norm, activation="tanh")
    # the last hidden activation's input: a Linear without norm, the norm with it
    watch = Watch("6" if norm is None else "10")
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(0.1, momentum=0.9))
    trainer.fit(X, y, epochs=EPOCHS, batch_size=50, callbacks=watch)
    watched[norm] = np.array(watch.seen)

# %%
# Quantiles of three units, and the drift of all
# ----------------------------------------------
# Left and middle: the 15, 50 and 85 % quantiles of the inputs of the three units that move most. Right: the distance
# of the means of all units from those after the first epoch, in standard deviations of the first epoch.
figure, axes = panels(3, size=(3.5, 3.2))
epochs = np.arange(1, EPOCHS + 1)
drifts = {}
for ax, (norm, name, color) in zip(axes, ((None, "no norm", ORANGE), ("batch", "batch norm", BLUE)), strict=False):
    seen = watched[norm]
    moved = np.argsort(-np.abs(seen[-1].mean(axis=0) - seen[0].mean(axis=0)))[:3]
    for unit, style in zip(moved, ("-", "--", ":"), strict=True):
        low, middle, high = np.quantile(seen[:, :, unit], (0.15, 0.5, 0.85), axis=1)
        ax.plot(epochs, middle, style, color=color)
        ax.fill_between(epochs, low, high, color=color, alpha=0.15, linewidth=0)
    ax.set(xlabel="epoch", title=f"{name}: the three units\nthat move most", ylim=(-3.5, 3.5))
    shift = (seen.mean(axis=1) - seen[0].mean(axis=0)) / seen[0].std(axis=0)
    drifts[norm] = np.sqrt(np.mean(shift**2, axis=1))
    axes[2].plot(epochs, drifts[norm], color=color, label=name)
axes[0].set_ylabel("input of a unit")
axes[2].set(xlabel="epoch", ylabel="in standard deviations", title="Drift of the means\nof all units")
axes[2].legend()
assert drifts["batch"][-1] < 0.7 * drifts[None][-1]
