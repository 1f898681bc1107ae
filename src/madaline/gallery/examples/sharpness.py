r"""
Curvature decides which rate diverges
=====================================
Near a minimum the loss is a quadratic function, and gradient descent multiplies the error along an eigenvector of the
Hessian with eigenvalue :math:`\lambda` by :math:`1 - \eta\lambda`. It diverges if :math:`\eta > 2/\lambda_{\max}`. The
largest eigenvalue of a net's Hessian is found without forming the Hessian: products with vectors, ``md.hvp``, are all
that Lanczos' method in SciPy needs (lecture rows E11 and E20).
"""

# %%
# The largest eigenvalue
# ----------------------
import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import madaline as md
from madaline.gallery.style import BLUE, GREEN, ORANGE, PURPLE, QUICK, RED, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
y = np.tanh(X[:, :1] * X[:, 1:2]) + 0.5 * X[:, 2:3]
net = md.mlp(20, 20, 1, activation="tanh")
base = net.init(X, seed=0, dtype="float64")
state, key = base.state.flat, np.zeros(2, dtype=np.int64)


def loss(w):
    """Mean squared error of the net with the parameters ``w``."""
    return np.mean((base.network.run(w, state, X, key=key, train=False).outputs[""] - y) ** 2)


value_and_grad = md.compile(md.value_and_grad(loss))
product = md.compile(lambda w, v: md.hvp(loss, (w,), (v,)))


def largest(w):
    """The largest eigenvalue of the Hessian at ``w`` and its eigenvector."""
    operator = LinearOperator((w.size, w.size), matvec=lambda v: product(w, v.ravel()), dtype=float)
    values, vectors = eigsh(operator, k=1, which="LA", tol=1e-6, v0=np.ones(w.size))
    return float(values[0]), vectors[:, 0]


found = md.LBFGS(3000, tol=1e-9, value_tol=0.0).minimize(value_and_grad, base.params.flat.copy())
eigenvalue, direction = largest(found.w)
limit = 2 / eigenvalue
dense = np.linalg.eigvalsh(md.hessian(loss)(found.w)) if not QUICK else [eigenvalue]
assert np.isclose(dense[-1], eigenvalue, rtol=1e-4)

# %%
# 2/lambda beside the rate that diverges
# --------------------------------------
# Two runs, one from the minimum and one from a hair beside it, along the eigenvector: with rates below the limit they
# meet, with rates above it they part, at the predicted pace.
figure, (left,) = panels(1, size=(6.4, 3.5))
measured, predicted = [], []
for factor, color in ((0.5, BLUE), (0.9, GREEN), (1.02, ORANGE), (1.2, RED)):
    v, w, distances = found.w, found.w + 1e-6 * direction, []
    for _ in range(40):
        distances.append(np.linalg.norm(w - v))
        v, w = (z - factor * limit * value_and_grad(z)[1] for z in (v, w))
    left.semilogy(distances, color=color, label=f"{factor:g} of the limit")
    measured.append((distances[8] / distances[0]) ** (1 / 8))
    predicted.append(abs(1 - factor * limit * eigenvalue))
left.set(xlabel="step", ylabel="distance of the two runs", ylim=(1e-10, 1))
left.set_title(f"$\\lambda$ = {eigenvalue:.3g}, limit $2/\\lambda$ = {limit:.3g}")
left.legend()
assert np.allclose(measured[1:], predicted[1:], rtol=0.03)
assert measured[1] < 1 < measured[2]

# %%
# Training goes to the edge
# -------------------------
# While a net trains with gradient descent on all rows, its largest eigenvalue grows. If it reaches :math:`2/\eta`, it
# hovers there (Cohen et al. 2021): a larger rate forces a flatter minimum.
steps = 600 if QUICK else 6000
figure, (right,) = panels(1, size=(6.4, 3.5))
for rate, color in ((0.03, PURPLE), (0.07, BLUE), (0.1, ORANGE)):
    w, places, values = base.params.flat.copy(), [], []
    for step in range(steps + 1):
        if step % (steps // 20) == 0:
            places.append(step)
            values.append(largest(w)[0])
        w = w - rate * value_and_grad(w)[1]
    right.plot(places, values, color=color, label=f"rate {rate:g}")
    right.axhline(2 / rate, color=color, linestyle=":", linewidth=1.2)
    assert values[-1] < 1.1 * 2 / rate
right.set(xlabel="step", ylabel="largest eigenvalue", title="Dotted: $2/\\eta$, the edge of stability", ylim=(0, None))
right.legend()
