r"""
Nets, their outputs, and why they need activations
==================================================
A net of any depth ends with as many linear units as it has outputs; the loss says what they mean (lecture rows A2 and
C1). Without activations all layers collapse to one matrix, :math:`W_2 W_1 = W_3`, however many there are (row B3).
"""

# %%
# Four kinds of outputs
# ---------------------
# Drawn from the models themselves: one circle for a unit, one line for a weight; blue weights are positive, orange ones
# negative.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, panels


def draw(ax, model, title):
    """Units as circles, weights as lines."""
    weights = [W for name, W in model.params.items() if name.endswith("W")]
    widths = [weights[0].shape[0], *(W.shape[1] for W in weights)]
    places = [np.linspace(-1, 1, n) * n / 7 if n > 1 else np.zeros(1) for n in widths]
    for k, W in enumerate(weights):
        for (i, j), w in np.ndenumerate(W):
            size = min(abs(w) * 1.5, 2.5)
            ax.plot([k, k + 1], [places[k][i], places[k + 1][j]], color=BLUE if w > 0 else ORANGE, linewidth=size)
    for k, ys in enumerate(places):
        ax.plot(np.full(len(ys), k), ys, "o", markersize=12, color="white", markeredgecolor=GREY)
    ax.set(title=title, xlim=(-0.3, len(widths) - 0.7), ylim=(-1.2, 1.2))
    ax.set_axis_off()


rng = np.random.default_rng(0)
x = rng.normal(size=(5, 4))
kinds = {
    "one of two classes,\none hidden layer": (md.mlp(7, 1), md.BinaryCrossEntropy()),
    "one of three classes,\ntwo hidden layers": (md.mlp(7, 6, 3), md.CrossEntropy()),
    "any of three labels,\ntwo hidden layers": (md.mlp(7, 6, 3), md.BinaryCrossEntropy()),
    "a vector of two numbers,\nthree hidden layers": (md.mlp(7, 6, 5, 2), md.MSE()),
}
figure, axes = panels(4, size=(2.9, 3.0))
for ax, (title, (net, loss)) in zip(axes, kinds.items(), strict=True):
    model = net.init(x, dtype="float64")
    draw(ax, model, title)
    outputs = loss.predict(model(x))
    print(f"{' '.join(title.split())}: {type(loss).__name__} gives {outputs.shape[1:] or 'one number'}, {outputs[0]}")
    if isinstance(loss, md.CrossEntropy):
        np.testing.assert_allclose(outputs.sum(axis=1), 1.0)

# %%
# Without activations a net is linear
# -----------------------------------
# Linear, two and three layers learn two interleaved half moons. ``md.functional.collapse`` multiplies the matrices of a
# linear net; with rectifiers there is nothing to collapse.
t = rng.uniform(0, np.pi, 400)
y = (np.arange(400) % 2).astype(int)
X = np.column_stack([np.cos(t) + y, np.sin(t) * (1 - 2 * y) + 0.4 * y]) + rng.normal(scale=0.12, size=(400, 2))
X = X.astype("float32")
nets = {
    "one layer": md.Linear(2),
    "three layers without activations": md.Sequential(md.Linear(16), md.Linear(16), md.Linear(2)),
    "two layers, rectifiers": md.mlp(16, 2),
    "three layers, rectifiers": md.mlp(16, 16, 2),
}
figure, axes = panels(4, size=(2.9, 3.0), sharey=True)
square = np.stack(np.meshgrid(np.linspace(-1.5, 2.5, 121), np.linspace(-1.2, 1.6, 121)), axis=-1).reshape(-1, 2)
errors, models = {}, {}
for ax, (name, net) in zip(axes, nets.items(), strict=True):
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.02))
    trainer.fit(X, y, epochs=60 if QUICK else 200, batch_size=40)
    models[name] = trainer.model
    errors[name] = float(np.mean(trainer.model(X).argmax(axis=1) != y))
    outputs = trainer.model(square)
    border = (outputs[:, 1] - outputs[:, 0]).reshape(121, 121)
    limit = np.abs(border).max()
    ax.contourf(border, levels=[-limit, 0, limit], colors=[BLUE, ORANGE], alpha=0.3, extent=(-1.5, 2.5, -1.2, 1.6))
    for label, color in enumerate((BLUE, ORANGE)):
        ax.plot(*X[y == label].T, ".", color=color, markersize=4)
    ax.set(title=f"{name}:\n{errors[name]:.0%} errors", xticks=[], yticks=[])
    ax.title.set_fontsize(10)
linear = md.functional.collapse(models["three layers without activations"])
np.testing.assert_allclose(linear(X), models["three layers without activations"](X), rtol=1e-3, atol=1e-3)
print("The three layers without activations are one:", linear.net)
assert len(linear.net) == 1
assert abs(errors["one layer"] - errors["three layers without activations"]) < 0.03
assert errors["three layers, rectifiers"] < 0.3 * errors["one layer"]
