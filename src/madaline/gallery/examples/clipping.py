"""
Gradient clipping prevents a blow-up
====================================
A deep net of rectifiers whose weights are a little too large has gradients that are huge at first. One step of SGD
throws it away for good; with the norm of the gradient limited to 1, the same run trains (lecture rows C6 and N11).
"""

# %%
# The same run with and without clipping
# --------------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, RED, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(512, 8)).astype("float32")
y = np.sin(X[:, :1]) + X[:, 1:2] * X[:, 2:3]
layers = [part for _ in range(8) for part in (md.Linear(32, init=md.nn.initializers.FanScaled(2.6)), "relu")]
net = md.Sequential(*layers, md.Linear(1))


def train(clip_norm):
    """The loss of each step, until the end or until it is not finite."""
    trainer = md.Trainer(net, loss="mse", optimizer=md.SGD(0.01), clip_norm=clip_norm)
    return trainer.fit(X, y, epochs=100, batch_size=None, on_divergence="stop")["loss"]


figure, (ax,) = panels(1, size=(5.6, 3.4))
for clip_norm, color in ((None, RED), (1.0, BLUE)):
    losses = train(clip_norm)
    label = f"not clipped: ends after {len(losses)} steps" if clip_norm is None else "norm at most 1"
    ax.semilogy(range(1, len(losses) + 1), losses, "o-", color=color, markersize=2, label=label)
ax.set(xlabel="step", ylabel="training loss", title="Too large initial weights, SGD with a rate of 0.01")
ax.set_ylim(0.1, 1e6)
ax.legend()
assert not np.isfinite(train(None)[-1]) or train(None)[-1] > 1e3
assert train(1.0)[-1] < 1.0
