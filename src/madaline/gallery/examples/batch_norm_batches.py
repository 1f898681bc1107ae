"""
Batch norm needs large batches, layer norm does not
===================================================
Batch norm estimates means and variances from the mini-batch. With 2 or 4 rows these are mostly noise, and the running
averages that are used at test time do not match what training saw. Layer norm averages over the units of one row and
does not depend on the batch (lecture row N1). After training, the statistics of the whole training set can replace the
running averages (row N4).
"""

# %%
# Error against batch size
# ------------------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, panels

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
X, y, X_test, y_test = X[:1200], y[:1200], X[1200:], y[1200:]
sizes = (2, 8, 64) if QUICK else (2, 4, 8, 16, 32, 64, 128)
steps = 600 if QUICK else 3000
seeds = range(1 if QUICK else 3)


def error(norm, batch_size, seed):
    """Test error after a fixed number of steps; larger batches see more rows."""
    net = md.mlp(64, 64, 64, 10, norm=norm)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.003), schedule="cosine", seed=seed)
    trainer.fit(X, y, epochs=max(1, steps * batch_size // len(X)), batch_size=batch_size)
    return float(np.mean(trainer.model(X_test).argmax(axis=1) != y_test))


norms = {"batch": BLUE, "layer": ORANGE, None: GREY}
errors = {norm: np.array([[error(norm, size, seed) for seed in seeds] for size in sizes]) for norm in norms}
figure, (ax,) = panels(1, size=(5.6, 3.4))
for norm, color in norms.items():
    ax.plot(sizes, 100 * errors[norm].mean(axis=1), "o-", color=color, label=f"{norm} norm" if norm else "no norm")
ax.set(xscale="log", xlabel="rows in a mini-batch", ylabel="test error in %", ylim=(0, None))
ax.set_title(f"Digits after {steps:,} steps: batch norm suffers from small batches")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.legend()
worse = {norm: errors[norm][0].mean() - errors[norm][-1].mean() for norm in norms}
assert worse["batch"] > worse["layer"] + 0.02

# %%
# Statistics of the whole training set
# ------------------------------------
# A net trained with mini-batches of 8 rows and a constant rate; the test error after each epoch, with the running
# averages and with ``md.train.recompute_statistics``, which computes the statistics of all training rows.
import copy

errors = {"running averages": [], "whole training set": []}


class Compare(md.Callback):
    """The test error with both kinds of statistics after each epoch."""

    def on_epoch_end(self, trainer, row):
        model = copy.deepcopy(trainer.model)
        errors["running averages"].append(np.mean(model(X_test).argmax(axis=1) != y_test))
        md.train.recompute_statistics(model, X)
        errors["whole training set"].append(np.mean(model(X_test).argmax(axis=1) != y_test))


trainer = md.Trainer(md.mlp(64, 64, 64, 10, norm="batch"), loss="cross_entropy", optimizer=md.Adam(0.003))
trainer.fit(X, y, epochs=6 if QUICK else 25, batch_size=8, callbacks=Compare())
figure, (ax,) = panels(1, size=(5.6, 3.2))
for (name, found), color in zip(errors.items(), (ORANGE, BLUE), strict=True):
    ax.plot(
        range(1, len(found) + 1),
        100 * np.array(found),
        "o-",
        color=color,
        markersize=4,
        label=f"{name}: mean {100 * np.mean(found):.1f}",
    )
ax.set(xlabel="epoch", ylabel="test error in %", title="Exact statistics instead of running averages", ylim=(0, None))
ax.legend()
assert np.mean(errors["whole training set"]) < np.mean(errors["running averages"]) + 0.01
