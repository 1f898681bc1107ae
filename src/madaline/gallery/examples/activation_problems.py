r"""
Problems of sigmoid units, benefits of rectifiers
=================================================
The slope of a sigmoid is at most 1/4 and nearly 0 a few units away from 0: it saturates. Its outputs are not centred.
Rectifiers do not saturate for positive inputs, learn faster where other units saturate, and are 0 for about half of
their inputs (lecture row B6). Two more points of that slide have pages of their own: all-positive inputs make descent
zig-zag (*Why inputs are centred and scaled*), and rectifiers can die (*Active and dead rectifiers in a cloud of data*).
"""

# %%
# Slopes and mean outputs
# -----------------------
# Left: the derivatives. Right: what units give for standard normal inputs; dashed lines are the means.
import numpy as np

import madaline as md
from madaline.gallery.images import handwritten_digits
from madaline.gallery.results import kept
from madaline.gallery.style import BLUE, GREEN, QUICK, RED, panels

units = {"sigmoid": RED, "tanh": GREEN, "relu": BLUE}
x = np.linspace(-8, 8, 801)
z = np.random.default_rng(0).normal(size=100_000)
figure, (left, right) = panels(2, size=(4.4, 3.2))
means = {}
for name, color in units.items():
    activation = md.nn.as_activation(name)
    slope = md.jvp(activation, (x,), (np.ones_like(x),))[1]
    left.plot(x, slope, color=color, label=name)
    means[name] = float(activation(z).mean())
    right.hist(activation(z), np.linspace(-1, 2, 61), histtype="step", density=True, color=color, linewidth=1.6)
    right.axvline(means[name], color=color, linestyle="--", linewidth=1)
    at = md.jvp(activation, (np.array([0.5, 2.0, 5.0, 10.0]),), (np.ones(4),))[1]
    print(
        f"{name}: slopes at 0.5, 2, 5, 10: {', '.join(f'{value:.2g}' for value in at)}; mean output {means[name]:.2f}"
    )
left.set(xlabel="input", ylabel="slope", title="Sigmoid and tanh saturate")
left.legend()
right.set(xlabel="output", yticks=[], ylim=(0, 2.4), title="Only the outputs of tanh are centred")
assert abs(means["tanh"]) < 0.01
assert min(means["sigmoid"], means["relu"]) > 0.3


# %%
# How fast they learn
# -------------------
# Steps of plain SGD on mini-batches of 100 until the training loss falls below 0.25, at the best of several rates: once
# with pixels minus their mean (up to 255) and weights from :math:`N(0, 0.01^2)`, as in the lecture's figure, and once
# with pixels of unit variance and the recommended initial weights.
def losses(activation, X, y, init, rate, seed, steps):
    """Training loss, averaged over every 20 steps."""
    net = md.mlp(128, 128, 10, activation=activation, init=init)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(rate), seed=seed)
    sampler = lambda n_rows, rng: rng.integers(0, n_rows, 20 * 100)  # noqa: E731 - a formula
    history = trainer.fit(X, y, epochs=steps // 20, batch_size=100, sampler=sampler, on_divergence="stop")
    return [float(value) for value in history["loss"]] if len(history) else []


def conditions(n_rows):
    """The two kinds of inputs and initial weights."""
    X, y, _ = handwritten_digits(n_rows)
    raw = (255 * (X - X.mean(axis=0))).astype("float32")
    return {
        "raw pixels, N(0, 0.01²)": (raw, y, md.nn.initializers.Normal(0.01)),
        "unit variance, recommended weights": ((X - X.mean()) / X.std(), y, "auto"),
    }


def best(name, X, y, init, rates, seed, steps):
    """The losses at the rate that reaches 0.25 first."""
    runs = [losses(name, X, y, init, rate, seed, steps) for rate in rates]
    return min(runs, key=lambda run: next((k for k, loss in enumerate(run) if loss < 0.25), np.inf))


# %%
# A short run on all available images, and the kept result of 2,000 images of MNIST, seven rates and three seeds:
# ``python activation_problems.py --full``, with MNIST in the folder ``MADALINE_DATA``.
X, y, init = conditions(1000)["raw pixels, N(0, 0.01²)"]
short = {name: best(name, X, y, init, (0.003, 0.03, 0.3), 0, 300) for name in ("sigmoid", "relu")}
assert np.mean(short["relu"]) < 0.7 * np.mean(short["sigmoid"])
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
numbers = kept(
    "activation_problems",
    lambda: {
        label: {name: [best(name, *setting, RATES, seed, 1500) for seed in range(3)] for name in units}
        for label, setting in conditions(2000).items()
    },
)
figure, axes = panels(2, size=(4.4, 3.4), sharey=True)
steps = {}
for ax, (label, runs) in zip(axes, numbers.items(), strict=True):
    for name, color in units.items():
        counts = [20 * (1 + next((k for k, loss in enumerate(run) if loss < 0.25), np.inf)) for run in runs[name]]
        steps[label, name] = float(np.median(counts))
        run = runs[name][0]
        ax.plot(20 * np.arange(1, len(run) + 1), run, color=color, label=f"{name}: {steps[label, name]:.0f} steps")
    ax.axhline(0.25, color="black", linestyle=":", linewidth=1)
    ax.set(title=label, xlabel="step", xlim=(0, 600), ylim=(0, 2.5))
    ax.legend(title="to a loss of 0.25", fontsize=9)
axes[0].set_ylabel("training loss")
raw, scaled = numbers
faster = steps[raw, "tanh"] / steps[raw, "relu"]
print(f"With raw pixels the rectifier is {faster:.1f} times as fast as tanh.")
assert faster > 2
assert steps[raw, "sigmoid"] > 4 * steps[raw, "relu"]
assert 0.5 < steps[scaled, "tanh"] / steps[scaled, "relu"] < 2

# %%
# The lecture's factor of 6 is that of Krizhevsky et al. (2012), figure 1, for a convolutional net. With inputs of unit
# variance and Xavier's weights tanh does not saturate, and is about as fast as the rectifier.
#
# Sparsity
# --------
# The fraction of hidden outputs that are exactly 0, before and after training:
X, y, init = conditions(500 if QUICK else 2000)["unit variance, recommended weights"]
zero = {}
for name in units:
    trainer = md.Trainer(md.mlp(200, 200, 10, activation=name), loss="cross_entropy", optimizer=md.SGD(0.1))
    start = trainer.net.init(X)
    trainer.fit(X, y, epochs=10, batch_size=100)
    zero[name] = [np.mean([np.mean(m.activations(X)[k] == 0) for k in ("1", "3")]) for m in (start, trainer.model)]
    print(f"{name}: {zero[name][0]:.0%} before, {zero[name][1]:.0%} after training")
assert all(0.3 < share < 0.8 for share in zero["relu"])
assert max(zero["tanh"] + zero["sigmoid"]) == 0
