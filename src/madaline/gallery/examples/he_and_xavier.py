r"""
He's weights train a deep net of rectifiers, Xavier's do not
============================================================
A rectifier halves the second moment of its input, so weights must have a variance of :math:`2/n` to keep it (He et al.
2015). Xavier's :math:`1/n` loses a factor of two in each layer: after 30 layers the signal and its gradient are
:math:`2^{-15}` of what they were, and training does not start (lecture rows D4 and N10).
"""

# %%
# The signal before training
# --------------------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, QUICK, RED, panels

X, y = load_digits(return_X_y=True)
X = ((X - X.mean()) / X.std()).astype("float32")
DEPTH, WIDTH = 30, 64
inits = {"he_normal": BLUE, "xavier_normal": RED}


def deep(init):
    """A net of thirty layers of rectifiers."""
    return md.mlp(*[WIDTH] * DEPTH, 10, init=init)


figure, (left,) = panels(1, size=(6.4, 3.2))
for init, color in inits.items():
    outputs = deep(init).init(X.shape[1]).activations(X[:500])
    sizes = [np.sqrt(np.mean(np.square(outputs[str(2 * layer + 1)]))) for layer in range(DEPTH)]
    left.semilogy(range(1, DEPTH + 1), sizes, "o-", color=color, markersize=3, label=init.split("_")[0].title())
left.set(xlabel="layer", ylabel="root mean square of the outputs", title="Xavier's signal fades")
left.legend()

# %%
# Training
# --------
figure, (right,) = panels(1, size=(6.4, 3.2))
losses = {}
for init, color in inits.items():
    trainer = md.Trainer(deep(init), loss="cross_entropy", optimizer=md.SGD(0.01))
    losses[init] = trainer.fit(X, y, epochs=10 if QUICK else 40, batch_size=64)["loss"]
    right.plot(range(1, len(losses[init]) + 1), losses[init], color=color, label=init.split("_")[0].title())
right.axhline(np.log(10), color="k", linewidth=0.8, linestyle=":")
right.annotate("guessing", (30, np.log(10)), xytext=(0, 4), textcoords="offset points")
right.set(xlabel="epoch", ylabel="training loss", ylim=(0, 2.6), title="He's weights start to learn at once")
right.legend(loc="lower left")
assert losses["he_normal"][-1] < 0.9 * losses["xavier_normal"][-1]
