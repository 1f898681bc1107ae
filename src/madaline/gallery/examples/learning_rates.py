"""
Reading loss curves: the learning rate
======================================
The loss curve tells most about the learning rate (lecture row B8): too low, and the loss falls slowly and steadily;
high, and it falls fast but jumps; far too high, and it never falls. Plain SGD needs the right rate; Adam's default of
0.001 is right more often, while a tuned SGD ends about as well (row N6).
"""

# %%
# Low, good, high, too high
# -------------------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, GREEN, ORANGE, QUICK, RED, panels

X, y = load_digits(return_X_y=True)
X = ((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-6)).astype("float32")
X, y, X_test, y_test = X[:1200], y[:1200], X[1200:], y[1200:]


def train(optimizer, epochs=15 if QUICK else 40, seed=0):
    """The loss of each epoch, and the error on the test set."""
    trainer = md.Trainer(md.mlp(64, 64, 10), loss="cross_entropy", optimizer=optimizer, seed=seed)
    history = trainer.fit(X, y, epochs=epochs, batch_size=50, on_divergence="stop")
    return history["loss"] if len(history) else [], float(np.mean(trainer.model(X_test).argmax(axis=1) != y_test))


figure, (ax,) = panels(1, size=(5.8, 3.4))
curves = {
    "too low: 0.001": (0.001, ORANGE),
    "good: 0.1": (0.1, GREEN),
    "high: 1.3": (1.3, BLUE),
    "too high: 2": (2.0, RED),
}
for name, (rate, color) in curves.items():
    losses, _ = train(md.SGD(rate))
    ax.plot(np.arange(1, len(losses) + 1), losses, color=color, label=name)
ax.set(
    xlabel="epoch", ylabel="training loss", ylim=(0, 3.4), title="Four learning rates of plain SGD on images of digits"
)
ax.legend()

# %%
# SGD and Adam
# ------------
# Each point is one training with a constant rate. SGD is good within one or two powers of ten, Adam as well, but its
# default is usually among them.
rates = np.logspace(-4, 0.5, 6 if QUICK else 16)
errors = {
    "SGD": [train(md.SGD(rate))[1] for rate in rates],
    "SGD, momentum 0.9": [train(md.SGD(rate, momentum=0.9))[1] for rate in rates],
    "Adam": [train(md.Adam(rate))[1] for rate in rates],
}
figure, (ax,) = panels(1, size=(5.8, 3.4))
for (name, found), color in zip(errors.items(), (RED, ORANGE, BLUE), strict=True):
    ax.semilogx(rates, np.array(found) * 100, "o-", color=color, label=name, markersize=4)
ax.axvline(0.001, color=BLUE, linestyle=":", linewidth=1.2)
ax.annotate("Adam's default", (0.001, 82), xytext=(4, 0), textcoords="offset points", color=BLUE)
ax.set(
    xlabel="learning rate", ylabel="test error in %", ylim=(0, 95), title="Every method has a range of rates that work"
)
ax.legend(loc="center", bbox_to_anchor=(0.55, 0.55))
best = {name: min(found) for name, found in errors.items()}
assert best["SGD"] < best["Adam"] + 0.03
