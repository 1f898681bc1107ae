r"""
Jacobians as pictures
=====================
The Jacobian of a chain is the product of the Jacobians of its links (lecture row C4). That of softmax has
:math:`p_i(1 - p_i)` on its diagonal and :math:`-p_i p_j` beside it (row E8). The gradients of a net with one hidden
layer, derived by hand, are those of automatic differentiation (row C5).
"""

# %%
# The chain rule is a product of matrices
# ---------------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import panels
from madaline.nn.activations import softmax

rng = np.random.default_rng(0)
A, B = rng.normal(size=(6, 9)), rng.normal(size=(9, 4))
x = rng.normal(size=6)


def show(ax, J, title):
    """A matrix as coloured squares; orange is positive, purple negative."""
    limit = np.abs(J).max()
    ax.imshow(J, cmap="PuOr_r", vmin=-limit, vmax=limit)
    ax.set(title=title, xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


inner = md.jacobian(lambda x: np.tanh(x @ A))(x)
outer = md.jacobian(lambda h: softmax(h @ B))(np.tanh(x @ A))
whole = md.jacobian(lambda x: softmax(np.tanh(x @ A) @ B))(x)
figure, axes = panels(3, size=(3.4, 3.0), width_ratios=[9, 6, 6])
show(axes[0], outer, "softmax(hB) by h: 4 x 9")
show(axes[1], inner, "times tanh(xA) by x: 9 x 6")
show(axes[2], whole, "is the whole: 4 x 6")
np.testing.assert_allclose(outer @ inner, whole, atol=1e-12)

# %%
# Softmax
# -------
# Each row and column sums to 0: probabilities can only move from one class to another.
figure, axes = panels(3, size=(3.4, 2.9))
for ax, logits in zip(axes, ([0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, -1.0], [6.0, 0.0, 0.0, 0.0]), strict=True):
    p = softmax(np.array(logits))
    J = md.jacobian(softmax)(np.array(logits))
    show(ax, J, f"p = {', '.join(f'{value:.2f}' for value in p)}")
    for (i, j), value in np.ndenumerate(J):
        shown = f"{value:.2f}".replace("-0.00", "0.00")
        ax.text(j, i, shown, ha="center", va="center", fontsize=10, color="white" if value > 0.15 else "black")
    np.testing.assert_allclose(J, np.diag(p) - np.outer(p, p), atol=1e-12)
    np.testing.assert_allclose(J.sum(axis=0), 0.0, atol=1e-12)

# %%
# By hand and automatically
# -------------------------
# :math:`L = \frac12 \sum_n (y_n - v^T h_n)^2` with :math:`h_n = \tanh(W^T x_n)`, and :math:`e_n = y_n - v^T h_n`:
# :math:`\partial L/\partial v_k = -\sum_n e_n h_{nk}` and
# :math:`\partial L/\partial w_{dk} = -\sum_n e_n v_k (1 - h_{nk}^2)\, x_{nd}`. (The lecture drops a sign in one line.)
X, y = rng.normal(size=(50, 5)), rng.normal(size=50)
W, v = rng.normal(size=(5, 8)), rng.normal(size=8)
slopes_v, slopes_w = md.grad(lambda p: 0.5 * np.sum((y - np.tanh(X @ p[1]) @ p[0]) ** 2))([v, W])
h = np.tanh(X @ W)
e = y - h @ v
figure, axes = panels(2, size=(4.2, 2.6))
show(axes[0], slopes_w, "dL/dW, automatic")
show(axes[1], -X.T @ (e[:, None] * v * (1 - h**2)), "dL/dW, by hand")
np.testing.assert_allclose(-h.T @ e, slopes_v, rtol=1e-10)
np.testing.assert_allclose(-X.T @ (e[:, None] * v * (1 - h**2)), slopes_w, rtol=1e-10)
# The Jacobian of a layer's outputs with respect to its weights is a tensor: K2 x K1 x K2.
tensor = md.jacobian(lambda W2: np.tanh(h[0] @ W2))(rng.normal(size=(8, 3)))
print("Jacobian of three outputs with respect to an 8 x 3 matrix:", tensor.shape)
assert tensor.shape == (3, 8, 3)
