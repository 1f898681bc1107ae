r"""
Active and dead rectifiers in a cloud of data
=============================================
A rectifier is active on one side of a line. If the line crosses the cloud of data, the unit learns. If the whole cloud
is on the other side, its output and its gradient are 0 for every row: the unit is dead and never comes back (lecture
row B6). A few large steps are enough to kill units.
"""

# %%
# Two units and their lines
# -------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, RED, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2)).astype("float32")
y = np.sign(X[:, :1] * X[:, 1:]).astype("float32")
model = md.Sequential(md.Linear(2), "relu", md.Linear(1)).init(X, dtype="float64")
model.params["0.W"][...], model.params["0.b"][...] = [[1.0, -0.6], [0.8, -1.0]], [0.2, -4.2]


def loss(w):
    """Mean squared error of the two units."""
    return np.mean((model.network.run(w, model.state.flat, X, key=np.zeros(2, int), train=False).outputs[""] - y) ** 2)


gradient = model.net.init(X, dtype="float64")
gradient.params.flat[...] = md.grad(loss)(model.params.flat)
norms = np.linalg.norm(gradient.params["0.W"], axis=0)
assert norms[0] > 0.01
assert norms[1] == 0.0
figure, axes = panels(2, size=(3.8, 3.6), sharey=True)
across = np.linspace(-4, 4, 2)
for k, ax in enumerate(axes):
    (u, v), b = model.params["0.W"][:, k], model.params["0.b"][k]
    on = X @ model.params["0.W"][:, k] + b > 0
    ax.plot(*X[~on].T, "o", color=GREY, markersize=3, alpha=0.5)
    ax.plot(*X[on].T, "o", color=BLUE, markersize=4)
    ax.plot(across, -(b + u * across) / v, color=ORANGE if k == 0 else RED)
    ax.set(
        xlim=(-5, 4),
        ylim=(-6, 4),
        title=f"{'Active' if k == 0 else 'Dead'}: {on.mean():.0%} of the rows,\ngradient {norms[k]:.2f}",
    )

# %%
# How units die
# -------------
# A hundred units are trained by plain SGD with growing rates. Above a certain rate, units are thrown out of the cloud.
# Leaky rectifiers are thrown out as well, but their gradient is not 0 there: with smaller steps they can come back.
rates = (0.03, 0.3, 1.0) if QUICK else (0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 1.2)
CHOSEN = rates.index(0.3)
shares = {"relu": [], "leaky_relu": []}
lines = {}
for name, found in shares.items():
    for rate in rates:
        trainer = md.Trainer(md.mlp(100, 1, activation=name), optimizer=md.SGD(rate), clip_norm=20.0)
        trainer.fit(X, y, epochs=10 if QUICK else 30, batch_size=16, on_divergence="stop")
        inputs = trainer.model.activations(X)["0"]
        found.append(float(np.mean((inputs <= 0).all(axis=0))))
        lines[name, rate] = trainer.model.params
figure, (left, right) = panels(2, size=(4.2, 3.5))
params = lines["relu", rates[CHOSEN]]
for (u, v), b in zip(params["0.W"].T, params["0.b"], strict=True):
    is_dead = (X @ np.array([u, v]) + b <= 0).all()
    left.plot(across, -(b + u * across) / (v or 1e-9), color=RED if is_dead else BLUE, linewidth=0.8, alpha=0.8)
left.plot(*X.T, "o", color=GREY, markersize=2, alpha=0.6)
left.set(xlim=(-4, 4), ylim=(-4, 4), title=f"Lines of 100 units after SGD {rates[CHOSEN]:g}\n(red: dead)")
right.semilogx(rates, 100 * np.array(shares["relu"]), "o-", color=RED, label="relu")
right.semilogx(rates, 100 * np.array(shares["leaky_relu"]), "o-", color=BLUE, label="leaky relu, same test")
right.set(xlabel="learning rate", ylabel="units below 0 for all rows in %", title="Large steps kill rectifiers")
right.legend()
assert shares["relu"][0] < 0.1
assert max(shares["relu"]) > 0.2
