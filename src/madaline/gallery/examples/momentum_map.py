r"""
Which rates and momenta converge
================================
On a quadratic function with curvature :math:`\lambda`, Polyak's momentum is a linear recurrence with the matrix

.. math:: \begin{pmatrix} 1 + \beta - \eta\lambda & -\beta \\ 1 & 0 \end{pmatrix}.

The error shrinks by its spectral radius in every step. It is below 1, and the method converges, exactly if
:math:`\eta < 2(1+\beta)/\lambda`: momentum allows larger rates (lecture rows A10 and E10).
"""

# %%
# Predicted and measured shrinkage
# --------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, QUICK, RED, contours, panels

LAMBDA = 1.0
rates, momenta = np.linspace(0.02, 4.2, 60 if QUICK else 160), np.linspace(0.0, 0.99, 40 if QUICK else 120)


def predicted(rate, momentum):
    """The spectral radius of the recurrence."""
    matrix = np.array([[1 + momentum - rate * LAMBDA, -momentum], [1.0, 0.0]])
    return np.abs(np.linalg.eigvals(matrix)).max()


def measured(rate, momentum, steps=300):
    """Shrinkage per step of a run of ``md.SGD``, over its second half."""
    rule, w = md.SGD(rate, momentum=momentum), np.array([1.0])
    slots, sizes = rule.state(w), []
    for t in range(1, steps + 1):
        w, slots = rule.step(w, LAMBDA * w, slots, t=t)
        sizes.append(np.hypot(w[0], slots[0][0]))
        if not 1e-200 < sizes[-1] < 1e200:
            break
    half = len(sizes) // 2
    return float((sizes[-1] / sizes[half]) ** (1 / (len(sizes) - 1 - half)))


shrinkage = np.array([[predicted(rate, momentum) for rate in rates] for momentum in momenta])
figure, (left, right) = panels(2, size=(4.6, 3.6))
image = left.pcolormesh(rates, momenta, np.minimum(shrinkage, 1.0), shading="auto", vmin=0.2, vmax=1.0)
left.plot(2 * (1 + momenta) / LAMBDA, momenta, color=RED, label=r"$2(1+\beta)/\lambda$")
left.plot((1 - np.sqrt(momenta)) ** 2 / LAMBDA, momenta, color="white", linestyle="--", linewidth=1)
left.plot((1 + np.sqrt(momenta)) ** 2 / LAMBDA, momenta, color="white", linestyle="--", linewidth=1)
left.set(xlabel=r"rate $\eta$ (with $\lambda = 1$)", ylabel=r"momentum $\beta$", xlim=(0, 4.2))
left.set_title("Error after a step / error before")
left.legend(loc="upper left", facecolor="white", frameon=True, framealpha=0.8)
figure.colorbar(image, ax=left)

rng = np.random.default_rng(0)
pairs = [(rng.uniform(0.1, 4.0), rng.uniform(0.0, 0.95)) for _ in range(20 if QUICK else 80)]
pairs = [(r, m) for r, m in pairs if abs(r - 2 * (1 + m)) > 0.05]
found = np.array([(predicted(*pair), measured(*pair)) for pair in pairs])
right.plot([0.2, 2.7], [0.2, 2.7], color=GREY, linewidth=1)
right.plot(found[:, 0], found[:, 1], "o", color=BLUE, markersize=5, alpha=0.7)
right.set(xlabel="predicted", ylabel="measured", title="80 runs of md.SGD agree with the formula")
assert np.abs(found[:, 0] - found[:, 1]).max() < 0.05
assert all((p < 1) == (r < 2 * (1 + m)) for (r, m), (p, _) in zip(pairs, found, strict=True))

# %%
# Why momentum works
# ------------------
# The lecture's four frames: the same small rate, 0.003, with momentum 0, 0.6, 0.8 and 0.9 in a narrow valley. The
# effective rate along the valley is :math:`\eta/(1-\beta)`.


def narrow(w):
    """A valley whose curvatures are 3 and 300."""
    return 0.5 * np.sum(np.array([3.0, 300.0]) * w**2, axis=-1)


figure, axes = panels(4, size=(2.9, 2.7), sharey=True)
gradient, ends = md.grad(narrow), []
for ax, momentum, color in zip(axes, (0.0, 0.6, 0.8, 0.9), (RED, ORANGE, GREEN, BLUE), strict=True):
    rule, path = md.SGD(0.003, momentum=momentum), [np.array([-2.0, 0.25])]
    slots = rule.state(path[0])
    for t in range(1, 81):
        w, slots = rule.step(path[-1], gradient(path[-1]), slots, t=t)
        path.append(w)
    points = np.array(path)
    contours(ax, narrow, (-2.3, 0.9), (-0.32, 0.32), levels=np.logspace(-1, 1.6, 10))
    ax.plot(points[:, 0], points[:, 1], "o-", color=color, markersize=2.5, linewidth=0.9)
    ends.append(np.linalg.norm(points[-1]))
    ax.set_title(f"momentum {momentum:g}: {ends[-1]:.2f} away")
figure.suptitle("80 steps at the rate 0.003")
assert ends[0] > ends[1] > ends[2]
