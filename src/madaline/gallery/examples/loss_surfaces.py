r"""
Skip connections and norms smooth the loss surface
==================================================
Nets of twenty hidden layers are trained on images of digits, and their loss is drawn in a random plane through the
trained parameters (lecture row C12). The directions are scaled like the weights of each unit, so that surfaces of
different nets can be compared (Li et al. 2018).
"""

# %%
# Four deep nets
# --------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, GREEN, ORANGE, QUICK, RED, panels

X, y = load_digits(return_X_y=True)
X = ((X - X.mean()) / X.std()).astype("float32")
WIDTH, DEPTH = 32, 8 if QUICK else 20


def plain(norm=None):
    """Hidden layers one after the other."""
    return md.mlp(*[WIDTH] * DEPTH, 10, norm=norm)


def with_skips(norm=None):
    """A first layer, then layers that are added to their input."""
    normed = [] if norm is None else [norm]
    blocks = [
        md.Residual(*normed, "relu", md.Linear(WIDTH, init=md.nn.initializers.FanScaled(1 / DEPTH)))
        for _ in range(DEPTH - 1)
    ]
    return md.Sequential(md.Linear(WIDTH), *blocks, "relu", md.Linear(10))


nets = {
    "plain": (plain(), RED),
    "layer norm": (plain("layer"), ORANGE),
    "skips": (with_skips(), GREEN),
    "skips and layer norm": (with_skips(md.LayerNorm()), BLUE),
}
trainers = {}
for name, (net, _) in nets.items():
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.001), schedule="cosine", clip_norm=1.0)
    trainer.fit(X, y, epochs=15 if QUICK else 60, batch_size=50)
    trainers[name] = trainer

# %%
# Their surfaces
# --------------
# Contours of the loss at 0.1, 0.3, 1, 3 and 10. Without skips the basin around the trained parameters is narrow, and a
# small step away the loss is that of guessing or worse; with skips it is wide and round.
levels = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
points = 9 if QUICK else 31
surfaces = {
    name: md.doctor.loss_surface(trainer, X[:500], y[:500], points=points) for name, trainer in trainers.items()
}
figure, axes = panels(4, size=(3.0, 3.3), sharey=True)
for ax, (name, surface) in zip(axes, surfaces.items(), strict=True):
    drawn = np.log10(np.maximum(surface.losses, 1e-3))
    ax.contourf(surface.positions, surface.positions, drawn, levels=np.linspace(-3, 2, 26), extend="max")
    ax.contour(surface.positions, surface.positions, drawn, levels=np.log10(levels), colors="white", linewidths=0.7)
    ax.plot(0, 0, "+", color="white", markersize=10, markeredgewidth=2)
    inside = float(np.mean(surface.losses < 1.0))
    ax.set(title=f"{name}:\n{inside:.0%} below a loss of 1", aspect="equal", xlabel="first direction")
axes[0].set_ylabel("second direction")
figure.suptitle(f"The loss of nets with {DEPTH} hidden layers around their trained parameters (dark: low)")

# %%
# Slices
# ------
# The same along single lines, five for each net.
figure, (ax,) = panels(1, size=(6.0, 3.4))
for name, (_, color) in nets.items():
    slices = md.doctor.loss_slices(trainers[name], X[:500], y[:500], directions=5, points=21)
    ax.plot(slices.positions, slices.losses.T, color=color, linewidth=1, alpha=0.7)
    ax.plot([], [], color=color, label=name)
ax.set(
    yscale="log",
    xlabel="distance, relative to the weights",
    ylabel="loss",
    title="Lines through the trained parameters",
)
ax.axhline(np.log(10), color="black", linestyle=":", linewidth=1)
ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
area = {name: float(np.mean(surface.losses < 1.0)) for name, surface in surfaces.items()}
assert area["skips"] > area["plain"]
assert area["skips and layer norm"] > area["plain"]
