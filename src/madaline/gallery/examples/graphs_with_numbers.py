r"""
Backpropagation, drawn with numbers
===================================
A computational graph with its numbers: the value of each node, the local slope on each edge, and the adjoint, the
derivative of the result by the node (after the sign ∂). Backpropagation is one rule: the adjoint of a node is the sum
over the nodes that use it of local slope times adjoint (lecture rows A5, A7, A8, D9, E21 and N9).
"""

# %%
# A neuron as a graph
# -------------------
# Inputs, parameters, intermediate values and the output have their own colours. The sigmoid unit has a logistic loss.
import numpy as np

import madaline as md
from madaline.gallery.drawing import Drawing
from madaline.gallery.style import BLUE, GREEN, ORANGE, RED, panels


def unit(x, theta):
    """The negative log-likelihood of class 1 of a sigmoid unit."""
    z = x @ theta["w"] + theta["b"]
    return -np.log(1 / (1 + np.exp(-z)))


x, theta = np.array([1.0, -2.0]), {"w": np.array([0.5, 0.25]), "b": 0.1}
neuron = Drawing(md.trace(unit, x, theta).svg(at=(x, theta), title="A sigmoid unit with its loss"))
neuron

# %%
# Speelpenning's product
# ----------------------
# :math:`f(x) = x_1 x_2 x_3 x_4`: the partial products are used again for the gradient, so that all four derivatives
# cost only about three times the product itself (row A7).


def product(x1, x2, x3, x4):
    """Speelpenning's product of four factors."""
    return ((x1 * x2) * x3) * x4


at = (2.0, 3.0, 0.5, 4.0)
speelpenning = Drawing(md.trace(product, *at).svg(at=at, title="Speelpenning's product: values and adjoints"))
gradient = md.grad(product, argnums=(0, 1, 2, 3))(*at)
assert np.allclose(gradient, [12.0 / factor for factor in at])
speelpenning

# %%
# Two paths to the first layer
# ----------------------------
# With a penalty on the weights, the loss depends on :math:`W_1` along two paths: through the net and through the
# penalty. Its derivative is the sum over both (row E21).


def penalised(x, W1, W2):
    """Logistic loss of a net of two scalar layers, and a penalty."""
    h = np.tanh(W1 * x)
    return np.log(1 + np.exp(-W2 * h)) + 0.1 * (W1**2 + W2**2)


at = (1.5, 0.8, -0.6)
two_paths = Drawing(md.trace(penalised, *at).svg(at=at, paths="W1", title="dl/dW1 is a sum over two paths"))
two_paths

# %%
# Four paths with skip connections
# --------------------------------
# Three scalar layers, of which two have a skip connection: :math:`y_1 = w_1 x`, :math:`y_2 = y_1 + w_2 y_1`,
# :math:`y_3 = y_2 + w_3 y_2`. The gradient by :math:`w_1` has four paths: both skips, one of them, or none (row D9).


def skips(x, w1, w2, w3):
    """Two residual layers after a first one."""
    y1 = w1 * x
    y2 = y1 + w2 * y1
    return y2 + w3 * y2


at = (2.0, 0.5, 0.3, -0.4)
four_paths = Drawing(md.trace(skips, *at).svg(at=at, paths="w1", title="Four paths of the gradient of w1"))
x0, _, w2, w3 = at
parts = {"both skips": x0, "layer 2, skip 3": w2 * x0, "skip 2, layer 3": w3 * x0, "both layers": w2 * w3 * x0}
assert np.isclose(sum(parts.values()), md.grad(skips, argnums=1)(*at))
four_paths

# %%
# Why the short path matters
# --------------------------
# With many layers of small weights the path through all layers vanishes; the one through all skips does not. Each
# weight is 0.3: the gradient of the first weight of nets of growing depth.
depths = np.arange(1, 21)


def chain(w, depth, skip):
    """A chain of scalar layers with the weight 0.3 after the first."""
    y = w
    for _ in range(depth - 1):
        y = (y if skip else 0.0) + 0.3 * np.tanh(y)
    return y


slopes = {skip: [float(md.grad(chain)(0.1, int(depth), skip)) for depth in depths] for skip in (True, False)}
figure, (left, right) = panels(2, size=(4.4, 3.2))
bars = left.bar(list(parts), list(parts.values()), color=(BLUE, GREEN, ORANGE, RED))
left.bar_label(bars, [f"{value:+.2f}" for value in parts.values()])
left.set(
    title=f"Four paths add up to {sum(parts.values()):.2f}", ylabel="contribution to the gradient", ylim=(-1.1, 2.4)
)
left.tick_params(axis="x", rotation=20, labelsize=9)
left.axhline(0, color="black", linewidth=0.8)
for skip, color in ((True, BLUE), (False, RED)):
    right.semilogy(depths, slopes[skip], "o-", color=color, markersize=3, label="with skips" if skip else "without")
right.set(xlabel="layers", ylabel="gradient of the first weight", title="Without skips it vanishes")
right.legend()
assert slopes[True][-1] > 1
assert slopes[False][-1] < 1e-8
