r"""
Gradients that vanish or explode with depth, and the remedies
=============================================================
The gradient at an early layer is the gradient at the last layer times a product of Jacobians, one for each layer in
between. The slope of a sigmoid is at most 1/4, so every layer shrinks the gradient; rectifiers pass it on, but weights
that are too small or too large make it vanish or explode (lecture row C10). Suitable weights, skip connections and
norms keep it alive.
"""

# %%
# Gradients at every layer of untrained nets
# ------------------------------------------
# 30 layers of 32 units. The gradient sent back from the last layer is standard normal; norms are relative to it.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, ORANGE, PURPLE, RED, panels

DEPTH, WIDTH, N_ROWS = 30, 32, 64
small, large = md.nn.initializers.Normal(0.05), md.nn.initializers.Normal(1.0)


def gradients(activation, init="auto", norm=None, skips=False):
    """The gradients with respect to the outputs of the hidden layers, first layer first."""
    X, back = (md.nn.initializers.stream(0, "depth", end).standard_normal((N_ROWS, WIDTH)) for end in ("in", "back"))
    block = md.Residual if skips else md.Sequential
    norms = {None: [], "batch": [md.BatchNorm()], "layer": [md.LayerNorm()]}[norm]
    blocks = [block(md.Linear(WIDTH, init=init), *norms, activation) for _ in range(DEPTH)]
    model = md.Sequential(*blocks).init(X, dtype="float64")

    def objective(shifts):
        """Shifts of 0 are added to the output of each layer: their gradients are what we want."""
        h = X
        for position, shift in enumerate(shifts):
            h = model[position].network.run(model.params.flat, model.state.flat, h, train=True).outputs[""] + shift
        return np.sum(back * h)

    return md.grad(objective)([np.zeros_like(X)] * DEPTH)


def sizes(*net):
    """The norm of the gradient at each layer, relative to that at the last."""
    norms = np.array([np.linalg.norm(gradient) for gradient in gradients(*net)])
    return norms / norms[-1]


faults = {
    "sigmoid": (("sigmoid",), PURPLE),
    "relu, small weights": (("relu", small), ORANGE),
    "relu, large weights": (("relu", large), RED),
}
remedies = {
    "relu and He's weights": ("relu",),
    "tanh and Xavier's weights": ("tanh",),
    "skips around sigmoid": ("sigmoid", "auto", None, True),
    "skips around small weights": ("relu", small, None, True),
    "batch norm before sigmoid": ("sigmoid", "auto", "batch"),
    "layer norm, small weights": ("relu", small, "layer"),
    "layer norm, large weights": ("relu", large, "layer"),
    "batch norm and skips, large weights": ("relu", large, "batch", True),
}
figure, (left, right) = panels(2, size=(4.8, 4.0), width_ratios=[1, 1.1])
layers = np.arange(1, DEPTH + 1)
for name, (net, color) in faults.items():
    found = sizes(*net)
    left.semilogy(layers, found, color=color, label=name)
    print(f"{name}: {found[0]:.2g} of the gradient arrives at layer 1")
    assert not 1e-10 < found[0] < 1e10
first = {name: sizes(*net) for name, net in remedies.items()}
for found in first.values():
    left.semilogy(layers, found, color=BLUE, linewidth=1, alpha=0.7)
    assert (found > 0.1).all()
    assert (found < 10.0).all()
left.plot([], [], color=BLUE, label=f"{len(remedies)} remedies")
left.set(xlabel="layer", ylabel="norm of the gradient", title="Without a remedy gradients die or explode")
left.legend(fontsize=9, loc="lower right")
names = list(first)[::-1]
right.barh(names, [first[name][0] for name in names], color=BLUE, height=0.6)
right.set(xscale="log", xlim=(0.05, 20), xlabel="gradient at layer 1", title="With one, it arrives")
right.axvline(1.0, color="black", linewidth=1)
right.tick_params(axis="y", labelsize=9)

# %%
# The histograms of Glorot and Bengio
# -----------------------------------
# Gradients in the last five layers of tanh nets (2010, figure 7). With the weights that were common then, they become
# narrower by :math:`\sqrt 3` per layer towards the input. With weights of variance :math:`2/(n_{in} + n_{out})` they
# nearly coincide.
weights = {"U(-1/√n, 1/√n)": md.nn.initializers.Uniform(WIDTH**-0.5), "Xavier's weights": "xavier_uniform"}
figure, axes = panels(2, size=(4.4, 3.2), sharey=True)
shades = [(0.0, 0.25 + 0.12 * k, 0.9 - 0.15 * k) for k in range(5)]
growth = []
for ax, (name, init) in zip(axes, weights.items(), strict=True):
    found = gradients("tanh", init)
    for layer, shade in zip(range(DEPTH - 4, DEPTH + 1), shades, strict=True):
        values = found[layer - 1].ravel()
        ax.hist(values, np.linspace(-3, 3, 61), histtype="step", color=shade, linewidth=1.6, label=f"layer {layer}")
    growth.append((np.linalg.norm(found[-1]) / np.linalg.norm(found[0])) ** (1 / (DEPTH - 1)))
    ax.set(yscale="log", xlabel="gradient", title=f"{name}:\na factor of {growth[-1]:.2f} per layer")
axes[0].legend(fontsize=9)
axes[0].set_ylabel("number of gradients")
assert abs(growth[0] - np.sqrt(3)) < 0.1
assert growth[1] < 1.15
