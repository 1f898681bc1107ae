r"""
Rectifiers that learn their shape
=================================
A maxout unit is the largest of :math:`k` linear functions: it can be a rectifier, a leaky one, an absolute value, or
any convex line of pieces. Parametric rectifiers learn their slope below 0, or the place of their hinge, for each unit.
A custom rectifier is one line of NumPy (lecture row B5).
"""

# %%
# One maxout unit fits a convex function
# --------------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, QUICK, RED, panels

x = np.linspace(-3, 3, 301)[:, None]
figure, axes = panels(3, size=(3.5, 3.0), sharey=True)
errors = []
for ax, k in zip(axes, (2, 4, 8), strict=True):
    trainer = md.Trainer(md.nn.Maxout(1, k=k), optimizer=md.Adam(0.1), schedule="cosine", dtype="float64", seed=1)
    trainer.fit(x, 0.3 * x**2, epochs=1000, batch_size=None)
    model = trainer.model
    errors.append(float(np.abs(model(x) - 0.3 * x**2).max()))
    ax.plot(x, x * model.params["W"] + model.params["b"], color=GREY, linewidth=0.8)
    ax.plot(x, 0.3 * x**2, color=ORANGE, linewidth=4, alpha=0.5)
    ax.plot(x, model(x), color=BLUE)
    ax.set(title=f"{k} pieces: error at most {errors[-1]:.2f}", ylim=(-1, 3), xlabel="x")
assert errors[0] > errors[1] > errors[2]

# %%
# Shapes that units learn
# -----------------------
# A net with learned slopes and one with learned hinges fit a wave; each curve is the activation of one of 16 units
# after training.
y = np.sin(2 * x) * np.exp(-(x**2) / 4)
figure, axes = panels(3, size=(3.5, 3.0))
z = np.linspace(-2, 2, 101)
found = {}
layers = {"slope (PReLU)": md.nn.PReLU(), "slope and hinge (LearnedHinge)": md.nn.LearnedHinge()}
for ax, (name, layer) in zip(axes, layers.items(), strict=False):
    trainer = md.Trainer(
        md.Sequential(md.Linear(16), layer, md.Linear(1)),
        optimizer=md.Adam(0.02),
        schedule="cosine",
        dtype="float64",
        seed=2,
    )
    trainer.fit(x, y, epochs=600 if QUICK else 2000, batch_size=50)
    model = trainer.model
    found[name] = float(np.abs(model(x) - y).max())
    unit = md.Sequential(layer).init(16, dtype="float64")
    for key in unit.params:
        unit.params[key] = model.params[key.replace("0.", "1.", 1)]
    shapes = unit(np.repeat(z[:, None], 16, axis=1))
    ax.plot(z, shapes, color=BLUE, linewidth=1, alpha=0.6)
    ax.set(title=f"Learned {name}", xlabel="input of the unit", ylim=(-2, 2.5))
    assert len(np.unique(shapes[0].round(6))) == 16, "every unit has its own shape"
axes[0].set_ylabel("output")


def squared_hinge(x):
    """A custom rectifier: its right side is a parabola."""
    return np.maximum(x, 0) ** 2


custom = md.Sequential(md.Linear(16), md.nn.Activation(squared_hinge), md.Linear(1))
trainer = md.Trainer(custom, optimizer=md.Adam(0.02), schedule="cosine", dtype="float64", seed=2)
trainer.fit(x, y, epochs=600 if QUICK else 2000, batch_size=50)
found["custom"] = float(np.abs(trainer.model(x) - y).max())
axes[2].plot(x, y, color=ORANGE, linewidth=4, alpha=0.5)
axes[2].plot(x, trainer.model(x), color=GREEN)
axes[2].plot(x, trainer.model(x) - y, color=RED, linewidth=1)
axes[2].set(title="A custom rectifier, max(x, 0)²,\nfits a wave (red: error)", xlabel="x")
print({name: f"largest error {error:.3f}" for name, error in found.items()})
assert max(found.values()) < 0.25
