r"""
Equal weights make one unit of many
===================================
If all weights start with the same value, all units of a layer compute the same, get the same gradient, and stay
equal: one would be enough (lecture row D3). Random weights break the symmetry.
"""

# %%
# Twelve units while they learn
# -----------------------------
# The weights of every hidden unit against the step. With equal weights the twelve lines are one.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(256, 1))
y = np.sin(2 * X)
starts = {"equal weights": md.nn.initializers.Constant(0.5), "random weights": "auto"}
figure, axes = panels(4, size=(2.9, 3.0), width_ratios=[1, 1, 1, 1])
losses, distinct = {}, {}
line = np.linspace(-3, 3, 200)[:, None]
for k, (name, init) in enumerate(starts.items()):
    net = md.Sequential(
        md.Linear(12, init=init, bias_init="zeros" if k == 0 else "auto"), "tanh", md.Linear(1, init=init)
    )
    trainer = md.Trainer(net, optimizer=md.Adam(0.02), dtype="float64")
    seen = []
    for _ in range(30 if QUICK else 80):
        losses[name] = trainer.partial_fit(X, y, epochs=5, batch_size=64)["loss"][-1]
        seen.append(trainer.model.params["0.W"][0].copy())
    seen = np.array(seen)
    units = np.vstack([trainer.model.params["0.W"], trainer.model.params["0.b"], trainer.model.params["2.W"].T])
    distinct[name] = len(np.unique(units.round(9), axis=1).T)
    weights, fit = axes[2 * k], axes[2 * k + 1]
    weights.plot(5 * np.arange(1, len(seen) + 1), seen, color=BLUE, linewidth=1)
    weights.set(title=f"{name}:\n{distinct[name]} of 12 units differ", xlabel="epoch")
    fit.plot(X, y, ".", color=GREY, markersize=3)
    fit.plot(line, trainer.model(line), color=ORANGE)
    fit.set(title=f"the net: loss {losses[name]:.3f}", xlabel="x", ylim=(-1.5, 1.5))
axes[0].set_ylabel("weight of each unit")
assert distinct == {"equal weights": 1, "random weights": 12}
assert losses["random weights"] < 0.2 * losses["equal weights"]
