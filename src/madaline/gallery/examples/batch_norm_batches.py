"""
Batch norm needs large batches, layer norm does not
===================================================
Batch norm estimates means and variances from the mini-batch. With 2 or 4 rows these are mostly noise, and the running
averages that are used at test time do not match what training saw. Layer norm averages over the units of one row and
does not depend on the batch (lecture row N1).
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
