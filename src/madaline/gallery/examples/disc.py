r"""
Batch norm trains a deep net from weights of any size
=====================================================
A deep net, 2-32x(1+16)-2 with rectifiers, learns which points of a square lie in a disc of half its area. All weights
start from :math:`N(0, s^2)` with the same :math:`s` in every layer, regardless of the number of inputs (lecture row
E13). Without batch norm the signal fades or grows from layer to layer, and hardly any :math:`s` trains. With batch norm
each layer is rescaled to variance 1, whatever the size of its weights.
"""

# %%
# The net, the points, and one training
# -------------------------------------
# Net, learning rate, loss and weights are those of the lecture; the number of rows and epochs was chosen here.
import math

import numpy as np

import madaline as md
from madaline.gallery.results import kept
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, RED, panels

N_ROWS, HE = 1000, math.sqrt(2 / 32)


def points(seed, purpose):
    """Points of the square, and whether each lies in the disc."""
    X = md.nn.initializers.stream(seed, "disc", purpose).uniform(-1.0, 1.0, (N_ROWS, 2)).astype("float32")
    return X, ((X * X).sum(axis=1) < 2.0 / math.pi).astype(int)


def train(std, norm, seed, epochs):
    """A trained model, and its error on new points; a net that gives NaN counts as guessing."""
    init, layers = md.nn.initializers.Normal(std), []
    for _ in range(1 + 16):
        layers += [md.Linear(32, init=init), *([md.BatchNorm()] if norm else []), md.ReLU()]
    net = md.Sequential(*layers, md.Linear(2, init=init))
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(0.1), seed=seed)
    trainer.fit(*points(seed, "train"), epochs=epochs, batch_size=100, on_divergence="stop")
    X, y = points(seed, "test")
    outputs = trainer.model(X)
    wrong = np.where(np.isnan(outputs).any(axis=1), 0.5, outputs.argmax(axis=1) != y)
    return trainer.model, float(wrong.mean())


# %%
# Weights of standard deviation 0.01
# ----------------------------------
# The colour is the predicted probability of the disc, the circle its border.
figure, axes = panels(2, size=(3.6, 3.5), sharey=True)
grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 121)] * 2), axis=-1).reshape(-1, 2)
X, y = points(0, "train")
errors = {}
for ax, norm in zip(axes, (False, True), strict=True):
    model, errors[norm] = train(0.01, norm, 0, epochs=30 if QUICK else 200)
    inside = md.CrossEntropy().predict(model(grid))[:, 1].reshape(121, 121)
    ax.imshow(inside, extent=(-1, 1, -1, 1), origin="lower", cmap="PuOr_r", vmin=0, vmax=1, alpha=0.8)
    for label, color in enumerate((BLUE, RED)):
        ax.plot(*X[y == label][:250].T, ".", markersize=3, color=color)
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(math.sqrt(2 / math.pi) * np.cos(turn), math.sqrt(2 / math.pi) * np.sin(turn), "k", linewidth=1)
    ax.set(title=f"{'With' if norm else 'Without'} batch norm:\n{errors[norm]:.1%} errors", xticks=[], yticks=[])
assert errors[False] > 0.4
assert errors[True] < 0.1

# %%
# Error against the size of the weights
# -------------------------------------
# 21 sizes, five seeds of data, weights and order, 200 epochs; the command that made these numbers is
# ``python disc.py --full`` (ten minutes). Dots are seeds, lines their medians.
stds = sorted([*(float(f"{std:.2g}") for std in np.logspace(-3, 1, 17)), 0.13, 0.15, 0.21, 0.25])
numbers = kept(
    "disc",
    lambda: {
        name: [[train(std, name == "with", seed, 200)[1] for seed in range(5)] for std in stds]
        for name in ("without", "with")
    },
)
figure, (ax,) = panels(1, size=(7.2, 3.6))
trained = {}
for name, color in (("without", ORANGE), ("with", BLUE)):
    found = 100 * np.array(numbers[name])
    ax.semilogx(stds, np.median(found, axis=1), color=color, label=f"{name} batch norm")
    ax.plot(np.repeat(stds, found.shape[1]), found.ravel(), ".", color=color, markersize=4, alpha=0.5)
    good = [std for std, row in zip(stds, found, strict=True) if np.median(row) < 10]
    trained[name] = math.log10(max(good) / min(good))
    print(f"{name} batch norm: trains from std = {min(good):g} to {max(good):g}, {trained[name]:.1f} decades")
ax.axvline(HE, color=GREY, linestyle=":", linewidth=1.2)
ax.annotate("He's std,\n$\\sqrt{2/32}$", (HE * 1.3, 22), color=GREY)
ax.annotate("guessing", (stds[0], 52.5), color=GREY)
ax.set(xlabel="standard deviation of all initial weights", ylabel="test error in %", ylim=(0, 60))
ax.set_title("Without batch norm hardly any size of the weights trains")
ax.legend(loc="center left")
assert trained["with"] > trained["without"] + 2
