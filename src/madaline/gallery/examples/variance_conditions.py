r"""
Forward and backward variance conditions
========================================
With :math:`a = g(z)` and :math:`z \sim N(0, 1)`, a layer of n inputs keeps the size of its *signal* if the weights
have the variance :math:`1/(n\,m_f)` with :math:`m_f = E[g(z)^2]`, and that of its *gradient* if they have
:math:`1/(n\,m_g)` with :math:`m_g = E[g'(z)^2]` (lecture rows D4 and N13). For rectifiers both are 1/2, which gives
He's weights; for other activations they differ, and no variance satisfies both.
"""

# %%
# Both moments of every activation
# --------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, RED, panels

grid = np.linspace(-8, 8, 200_001)
density = np.exp(-(grid**2) / 2)
density /= density.sum()


def moments(activation):
    """E[g(z)^2] and E[g'(z)^2] for a standard normal z."""
    value, slope = md.jvp(activation, (grid,), (np.ones_like(grid),))
    return float(density @ value**2), float(density @ slope**2)


shown = [name for name in md.nn.ACTIVATIONS.names() if name not in ("softmax", "log_softmax")]
table = {name: moments(md.nn.as_activation(name)) for name in shown}
assert np.allclose(table["relu"], 0.5, atol=1e-4)
assert np.allclose(table["identity"], 1.0, atol=1e-6)
assert abs(table["selu"][0] - 1.0) < 1e-3, "SELU is made to keep the signal"
print(f"{'activation':14} E[g^2]  E[g'^2]  needed variances times n")
for name, (m_f, m_g) in table.items():
    needed = " ".join(f"{1 / m:8.3f}" if m > 1e-3 else "       -" for m in (m_f, m_g))
    print(f"{name:14} {m_f:6.3f}  {m_g:7.3f}  {needed}")

figure, (ax,) = panels(1, size=(7.0, 6.0))
names = sorted(table, key=lambda name: -table[name][0])
place = np.arange(len(names))
ax.barh(place - 0.2, [table[name][0] for name in names], height=0.38, color=BLUE, label="forward: $E[g(z)^2]$")
ax.barh(place + 0.2, [table[name][1] for name in names], height=0.38, color=ORANGE, label="backward: $E[g'(z)^2]$")
ax.axvline(1.0, color=GREY, linewidth=1)
ax.axvline(0.5, color=GREY, linewidth=1, linestyle=":")
ax.set_yticks(place, names, fontsize=9)
ax.invert_yaxis()
ax.set(xlim=(0, 1.6), title="A layer multiplies the squared signal and gradient by n Var(W) times these")
ax.legend(loc="lower right")

# %%
# Seen in a deep net
# ------------------
# Twenty layers of 200 units whose weights satisfy the forward condition: the signal keeps its size. The gradient does
# as well for rectifiers, but for tanh it grows by :math:`m_g/m_f` in each layer.
DEPTH, WIDTH = 20, 100 if QUICK else 200
rng = np.random.default_rng(0)
x = rng.normal(size=(100, WIDTH))
figure, axes = panels(2, size=(4.4, 3.2))
growth = {}
for name, color in (("relu", BLUE), ("tanh", ORANGE), ("gelu", RED)):
    m_f, m_g = table[name]
    matrices = [rng.normal(scale=np.sqrt(1 / (WIDTH * m_f)), size=(WIDTH, WIDTH)) for _ in range(DEPTH)]
    z, inputs = x, []
    for W in matrices:
        inputs.append(z)
        z = md.nn.as_activation(name)(z) @ W
    adjoint, gradients = rng.normal(size=z.shape), []
    for z, W in zip(reversed(inputs), reversed(matrices), strict=True):
        adjoint = md.vjp(md.nn.as_activation(name), z)[1](adjoint @ W.T)[0]
        gradients.append(np.sqrt(np.mean(adjoint**2)))
    axes[0].semilogy(range(DEPTH), [np.sqrt(np.mean(z**2)) for z in inputs], color=color, label=name)
    axes[1].semilogy(range(DEPTH - 1, -1, -1), gradients, color=color)
    axes[1].semilogy([0, DEPTH - 1], [(m_g / m_f) ** (DEPTH / 2), (m_g / m_f) ** 0.5], ":", color=color, linewidth=1.5)
    growth[name] = gradients[-1] / gradients[0]
axes[0].set(xlabel="layer", ylabel="root mean square", title="The signal keeps its size", ylim=(0.1, 10))
axes[1].set(xlabel="layer", title="The gradient follows $\\sqrt{m_g/m_f}$ a layer (dotted)")
axes[0].legend()
assert 0.3 < growth["relu"] < 3
assert growth["tanh"] > 1.5
