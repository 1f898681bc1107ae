r"""
Penalties on the weights
========================
Training minimises the negative log-likelihood plus :math:`\lambda\,\Omega(\theta)` (lecture row E6). The L2 penalty
:math:`\sum w^2` shrinks all weights; the L1 penalty :math:`\sum |w|` makes many of them 0; a penalty can be given for
each layer.
"""

# %%
# Weights against the strength of the penalty
# -------------------------------------------
# A linear unit learns from ten columns, of which three matter. Each line is one weight. Gradient descent does not
# end at exactly 0, so weights below 0.01 count as 0.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 10))
truth = np.array([2.0, -1.5, 1.0] + [0.0] * 7)
y = (X @ truth)[:, None] + rng.normal(scale=0.5, size=(120, 1))
strengths = (0.01, 0.1, 1.0) if QUICK else (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
penalties = {"L2: λ Σ w²": md.optim.L2, "L1: λ Σ |w|": md.optim.L1}
figure, axes = panels(2, size=(4.2, 3.4), sharey=True)
small = {}
for ax, (name, penalty) in zip(axes, penalties.items(), strict=True):
    found = []
    for strength in strengths:
        trainer = md.Trainer(
            md.Linear(1), optimizer=md.Adam(0.03), schedule="cosine", regularizer=penalty(strength), dtype="float64"
        )
        trainer.fit(X, y, epochs=300 if QUICK else 1000, batch_size=None)
        found.append(trainer.model.params["W"][:, 0].copy())
    found = np.array(found)
    ax.semilogx(strengths, found[:, 3:], color=GREY, linewidth=1)
    ax.semilogx(strengths, found[:, :3], color=BLUE)
    small[name] = float(np.mean(np.abs(found[strengths.index(0.1)][3:]) < 0.01))
    ax.set(title=f"{name}\n{small[name]:.0%} of the useless weights are 0 at 0.1", xlabel="λ", ylim=(-2, 2.5))
axes[0].set_ylabel("weight (blue: columns that matter)")
assert small["L1: λ Σ |w|"] > 0.5
assert small["L2: λ Σ w²"] < 0.5

# %%
# A penalty for one layer
# -----------------------
# The norms of the two weight matrices of a net. A penalty on one layer alone makes the other grow: rectifiers pass a
# factor on, so that what one layer loses the other can give back.
settings = {
    "none": None,
    "all layers": md.optim.L2(0.01),
    "first layer": {"0.W": md.optim.L2(0.01)},
    "last layer": {"2.W": md.optim.L2(0.01)},
}
norms = {}
for name, penalty in settings.items():
    trainer = md.Trainer(md.mlp(32, 1), optimizer=md.Adam(0.01), regularizer=penalty, dtype="float64")
    trainer.fit(X, y, epochs=100 if QUICK else 300, batch_size=30)
    norms[name] = [float(np.linalg.norm(trainer.model.params[key])) for key in ("0.W", "2.W")]
figure, (ax,) = panels(1, size=(6.4, 3.0))
places = np.arange(len(norms))
for k, (label, color) in enumerate((("first layer", BLUE), ("last layer", ORANGE))):
    ax.barh(places + 0.2 * (2 * k - 1), [norm[k] for norm in norms.values()], 0.38, color=color, label=label)
ax.set_yticks(places, list(norms))
ax.invert_yaxis()
ax.set(title="Norms of the weights, by the layer with a penalty", xlim=(0, 14))
ax.legend(fontsize=9, loc="lower right")
assert norms["first layer"][0] < norms["all layers"][0] < norms["none"][0]
assert norms["last layer"][1] < norms["none"][1]
assert norms["first layer"][1] > norms["none"][1]
