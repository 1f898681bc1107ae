r"""
Babysitting a training run
==========================
What to look at while a net trains (lecture row B8): the loss at the start, whether a few rows can be learned by
heart, the loss curve, and the ratio of updates to weights, which should be about 0.001. ``md.Doctor`` watches all of
it, and ``md.diagnose`` says what it found.
"""

# %%
# Before training: two sanity checks
# ----------------------------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, GREEN, ORANGE, QUICK, RED, panels

X, y = load_digits(return_X_y=True)
X = ((X - X.mean()) / X.std()).astype("float32")
X, y, X_valid, y_valid = X[:1200], y[:1200], X[1200:], y[1200:]

model = md.mlp(64, 64, 10, init="lecun_normal").init(X)
first_loss = float(md.CrossEntropy()(0.1 * model(X), y))
print(f"loss with small outputs: {first_loss:.2f}; guessing among ten classes: {np.log(10):.2f}")
assert abs(first_loss - np.log(10)) < 0.1
few = md.Trainer(md.mlp(64, 64, 10), loss="cross_entropy", optimizer=md.Adam(0.01))
few.fit(X[:20], y[:20], epochs=100, batch_size=None)
assert (few.model(X[:20]).argmax(axis=1) == y[:20]).all(), "a net must be able to memorize 20 rows"

# %%
# While training: updates and weights
# -----------------------------------
# The norm of an update divided by that of the weights, a probe of the trainer, for three learning rates of Adam. With
# ratios of about 0.001 the loss falls well; much larger updates destroy what was learned, much smaller ones learn
# nothing.
EPOCHS = 8 if QUICK else 25


figure, (left, right) = panels(2, size=(4.5, 3.4))
ends = {}
for rate, color in ((1e-5, ORANGE), (1e-3, GREEN), (1e-1, RED)):
    trainer = md.Trainer(md.mlp(64, 64, 10), loss="cross_entropy", optimizer=md.Adam(rate))
    history = trainer.fit(X, y, epochs=EPOCHS, batch_size=50, probes=("0",), probe_every=12)
    losses, probes = history["loss"], history.probes
    left.semilogy(range(1, EPOCHS + 1), losses, color=color, label=f"rate {rate:g}")
    of_first = np.array([layer == "0" for layer in probes["layer"]])
    right.semilogy(np.array(probes["step"])[of_first], np.array(probes["update_ratio"])[of_first], color=color)
    ends[rate] = losses[-1]
left.axhline(np.log(10), color="black", linestyle=":", linewidth=1)
left.set(xlabel="epoch", ylabel="training loss", title="The loss (dotted: guessing)")
left.legend()
right.axhspan(3e-4, 3e-3, color=BLUE, alpha=0.15)
right.annotate("about right", (24 * EPOCHS, 4e-4), ha="right", color=BLUE)
right.set(xlabel="step", ylabel="update / weights, first layer", title="The update ratio tells the rate")
assert ends[1e-3] < min(ends[1e-5], ends[1e-1])

# %%
# Ask the doctor
# --------------
# The same run with a rate that is far too high, watched by ``md.Doctor``.
doctor = md.Doctor()
trainer = md.Trainer(md.mlp(64, 64, 10), loss="cross_entropy", optimizer=md.Adam(0.3))
trainer.fit(X, y, epochs=EPOCHS, batch_size=50, validation=(X_valid, y_valid), callbacks=doctor)
diagnosis = md.diagnose(trainer)
print(diagnosis)
assert any("rate" in finding.name for finding in diagnosis.findings)
