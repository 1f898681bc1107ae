r"""
Initial weights and the scale of activations
============================================
1,000 rows of 500 standard normal numbers pass through ten layers of 500 units without biases, with the weights that the
lecture tries (row B9). Small weights lose the signal, large ones saturate the units; :math:`1/\sqrt{n}` suits tanh, and
:math:`\sqrt{2/n}` rectifiers. (The lecture calls :math:`1/\sqrt{n}` Xavier's; it is ``lecun_normal`` here.) With zero
weights all activations are 0, and only the last bias has a gradient.
"""

# %%
# Ten histograms for each kind of weights
# ---------------------------------------
# Each histogram shows the 500,000 outputs of a layer, scaled to its highest bar, without the zeros of rectifiers (about
# half of their outputs).
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, panels

N_ROWS, WIDTH, N_LAYERS = 1000, 500, 10
inits = {
    "0.01 randn": md.nn.initializers.Normal(0.01),
    "1.0 randn": md.nn.initializers.Normal(1.0),
    "Xavier": md.nn.initializers.INITIALIZERS["lecun_normal"],
    "He": md.nn.initializers.INITIALIZERS["he_normal"],
}
cases = {  # what is seen, and the standard deviations that the lecture prints
    ("0.01 randn", "tanh"): ("the signal fades", "0.213 0.048 0.011 0.002 0.001 0.000 0.000 0.000 0.000 0.000"),
    ("1.0 randn", "tanh"): ("units saturate", "0.982 0.982 0.982 0.982 0.982 0.982 0.982 0.982 0.982 0.982"),
    ("Xavier", "tanh"): ("it fades slowly", "0.628 0.486 0.408 0.357 0.321 0.292 0.273 0.255 0.239 0.228"),
    ("Xavier", "relu"): ("the signal fades", "0.582 0.404 0.277 0.199 0.140 0.103 0.073 0.052 0.039 0.026"),
    ("He", "relu"): ("it stays", "0.825 0.828 0.814 0.827 0.834 0.860 0.871 0.889 0.845 0.845"),
}


def layers(init, activation, seed):
    """The outputs of every layer."""
    h = md.nn.initializers.stream(seed, "data", "lecture").standard_normal((N_ROWS, WIDTH)).astype("float32")
    for number in range(N_LAYERS):
        W = inits[init].draw((WIDTH, WIDTH), md.nn.initializers.stream(seed, f"{number}.W", "init")).astype("float32")
        h = md.nn.as_activation(activation)(h @ W)
        yield h


figure, axes = panels(N_LAYERS, len(cases), size=(1.15, 1.15), sharex="row")
for k, ((init, activation), (seen, _)) in enumerate(cases.items()):
    limits = (-1.0, 1.0) if activation == "tanh" else (0.0, 3.0)
    for number, h in enumerate(layers(init, activation, 0)):
        ax = axes[k * N_LAYERS + number]
        counts, edges = np.histogram(h[h != 0.0] if activation == "relu" else h, bins=41, range=limits)
        ax.stairs(counts / counts.max(), edges, fill=True, color=BLUE if activation == "tanh" else ORANGE)
        ax.set(xlim=limits, ylim=(0, 1.45), yticks=[], xticks=limits if number == 0 else [])
        ax.text(0.98, 0.98, f"{h.std():.2g}", transform=ax.transAxes, ha="right", va="top", fontsize=9)
        ax.spines["left"].set_visible(False)
        if k == 0:
            ax.set_title(f"layer {number + 1}", fontsize=10)
    label = f"{init},\n{activation}:\n{seen}"
    axes[k * N_LAYERS].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=10)
figure.suptitle("Outputs of ten layers (numbers: standard deviations)", x=0.01, ha="left", fontsize=12)

# %%
# The printed numbers
# -------------------
# Standard deviations of every layer over several seeds (band: three standard deviations of the seeds) beside those that
# the lecture prints (dots).
figure, axes = panels(len(cases), size=(2.3, 2.6))
numbers = np.arange(1, N_LAYERS + 1)
for ax, ((init, activation), (_, printed)) in zip(axes, cases.items(), strict=True):
    deck = np.array([float(value) for value in printed.split()])
    ours = np.array([[h.std() for h in layers(init, activation, seed)] for seed in range(4 if QUICK else 8)])
    mean, spread = ours.mean(axis=0), ours.std(axis=0, ddof=1)
    ax.plot(numbers, mean, color=BLUE, label="here")
    ax.fill_between(numbers, mean - 3 * spread, mean + 3 * spread, color=BLUE, alpha=0.25, linewidth=0)
    ax.plot(numbers, deck, "o", color=GREY, markersize=4, label="lecture")
    ax.set(title=f"{init}, {activation}", xlabel="layer", ylim=(0, 1.15), xticks=[1, 5, 10])
    assert (np.abs(deck - mean) <= (5 if QUICK else 3) * spread + 1e-3).all()
    if init == "He":
        assert 0.7 < mean[-1] / mean[0] < 1.3
    elif init != "1.0 randn":
        assert mean[-1] < 0.5 * mean[0]
axes[0].set_ylabel("standard deviation")
axes[0].legend(fontsize=9)
saturated = np.mean(np.abs(next(layers("1.0 randn", "tanh", 0))) > 0.9)
print(f"With weights of 1.0 randn, {saturated:.0%} of the first layer's outputs are beyond ±0.9.")
assert saturated > 0.8
