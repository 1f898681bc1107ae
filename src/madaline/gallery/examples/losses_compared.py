r"""
Losses and what they do to outliers
===================================
The curve of a loss says how much an error counts, its slope how hard the error pulls. Squared errors pull harder the
larger they are, absolute ones do not; Huber's and log-cosh are squared near 0 and absolute far away. For classes, cross
entropy punishes confident mistakes without bound (lecture rows A4 and D2).
"""

# %%
# Values and slopes
# -----------------
# Slopes by automatic differentiation of the losses themselves, each for one row. MSE is drawn in its half form,
# ``md.losses.HalfMSE``, which the lecture prints as 1/2m.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, PURPLE, QUICK, RED, panels

errors = np.linspace(-4, 4, 321)
for_numbers = {
    "half squared": (md.losses.HalfMSE(), RED),
    "absolute": (md.MAE(), ORANGE),
    "Huber, δ = 1": (md.Huber(delta=1.0), BLUE),
    "log-cosh": (md.losses.LogCosh(), GREEN),
}
for_classes = {
    "cross entropy": (md.BinaryCrossEntropy(), 1, BLUE),
    "hinge": (md.losses.Hinge(), 1, ORANGE),
    "squared, of the probability": (lambda z, y: (1 / (1 + np.exp(-z[0, 0])) - y[0, 0]) ** 2, 1, PURPLE),
}


def curve(loss, target):
    """Value and slope of a loss against the prediction."""
    y = np.full((1, 1), float(target))
    both = md.value_and_grad(lambda z: loss(z, y))
    found = [both(np.array([[z]])) for z in errors]
    return np.array([value for value, _ in found]), np.array([slope[0, 0] for _, slope in found])


figure, axes = panels(2, 2, size=(4.4, 2.9))
slopes = {}
for name, (loss, color) in for_numbers.items():
    value, slopes[name] = curve(loss, 0.0)
    axes[0].plot(errors, value, color=color, label=name)
    axes[1].plot(errors, slopes[name], color=color)
for name, (loss, target, color) in for_classes.items():
    value, slopes[name] = curve(loss, target)
    axes[2].plot(errors, value, color=color, label=name)
    axes[3].plot(errors, slopes[name], color=color)
axes[0].set(title="Losses of numbers", xlabel="error", ylim=(0, 5))
axes[1].set(title="Their slopes: only the squared one grows", xlabel="error")
axes[2].set(title="Losses of a class that is 1", xlabel="output before the sigmoid", ylim=(0, 5))
axes[3].set(title="Slopes: the purple one dies where it is wrong", xlabel="output before the sigmoid")
axes[0].legend(fontsize=9)
axes[2].legend(fontsize=9)
assert abs(slopes["half squared"][-1]) == 4.0
assert max(np.abs(slopes[name]).max() for name in ("absolute", "Huber, δ = 1", "log-cosh")) <= 1.0
assert slopes["cross entropy"][0] < -0.95
assert slopes["squared, of the probability"][0] > -0.05

# %%
# A line with outliers
# --------------------
# A tenth of the targets are wrong by 10. One unit is fitted with each loss.
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(200, 1))
y = 2 * X + rng.normal(scale=0.2, size=X.shape)
y[:20] += 10.0
figure, (ax,) = panels(1, size=(6.4, 3.4))
ax.plot(X, y, ".", color=GREY, markersize=5)
line = np.array([[-1.0], [1.0]])
offset = {}
for name, (loss, color) in for_numbers.items():
    trainer = md.Trainer(md.Linear(1), loss=loss, optimizer=md.Adam(0.05), schedule="cosine", dtype="float64")
    trainer.fit(X, y, epochs=100 if QUICK else 400, batch_size=None if not QUICK else 50)
    offset[name] = float(trainer.model(np.zeros((1, 1)))[0, 0])
    ax.plot(line, trainer.model(line), color=color, label=f"{name}: {offset[name]:+.2f} at 0")
ax.set(title="Outliers pull the squared loss up; the true line is 0 at 0", xlabel="x", ylabel="y", ylim=(-4, 13))
ax.legend(loc="upper left", bbox_to_anchor=(0.02, 0.72), fontsize=9, ncols=2)
assert offset["half squared"] > 0.6
assert max(abs(offset[name]) for name in ("absolute", "Huber, δ = 1", "log-cosh")) < 0.3
