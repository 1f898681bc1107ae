r"""
A step of gradient descent minimises a local model
==================================================
Around :math:`w` gradient descent replaces the loss by a parabola whose width is set by the rate,

.. math:: \hat L(w + \epsilon) = L(w) + \epsilon\,L'(w) + \frac{1}{2\eta}\epsilon^2,

and goes to its minimum, :math:`\epsilon = -\eta L'(w)`. If the parabola is above the loss (:math:`1/\eta` larger than
the curvature), the step cannot raise the loss; if it is too flat, the step goes too far (lecture row E20).
"""

# %%
# Three rates, one point
# ----------------------
import numpy as np

import madaline as md
from madaline.gallery.descent import descend
from madaline.gallery.style import BLUE, GREY, ORANGE, RED, panels


def f(w):
    """A loss with curvature between about -1 and 6."""
    return 0.1 * w**4 - 0.5 * w**2 + 0.2 * w + np.cosh(0.5 * w)


w0 = 2.2
value, slope = float(f(w0)), float(md.grad(f)(w0))
grid = np.linspace(-3.2, 3.4, 300)
curvature = max(float(md.grad(md.grad(f))(w)) for w in np.linspace(-3.2, 3.4, 60))
figure, axes = panels(3, size=(3.4, 3.0), sharey=True)
for ax, rate, color in zip(axes, (0.1, 0.6, 1.75), (BLUE, ORANGE, RED), strict=True):
    model = value + (grid - w0) * slope + (grid - w0) ** 2 / (2 * rate)
    w1 = w0 - rate * slope
    assert abs(grid[model.argmin()] - w1) < 0.03
    step, _ = md.SGD(rate).step(np.array([w0]), np.array([slope]), (), t=1)
    assert np.isclose(step[0], w1)
    ax.plot(grid, f(grid), color=GREY, linewidth=3, alpha=0.6, label="loss")
    ax.plot(grid, model, color=color, label="model")
    ax.plot(w0, value, "ko", markersize=7)
    ax.annotate("", (w1, f(w1)), (w0, value), arrowprops={"arrowstyle": "->", "linewidth": 1.6})
    ax.plot(w1, f(w1), "o", color=color, markersize=8)
    change = "falls" if f(w1) < value else "rises"
    ax.set(title=f"rate {rate:g}: the loss {change}", xlabel="w", xlim=(-3.2, 3.4), ylim=(-6.2, 6.5))
    ax.legend(loc="lower left")
figure.suptitle("The flatter the model, the longer the step to its minimum")
assert f(w0 - slope / curvature) < value, "with a rate of 1 / curvature the loss must fall"

# %%
# Momentum passes a small barrier
# -------------------------------
# The same rate and the same start: without momentum the run stops in front of the barrier, with it the run rolls over.


def bumpy(w):
    """A bowl with ripples."""
    return np.sum(0.15 * w**2 + 0.35 * np.cos(4 * w))


wide = np.linspace(-3.4, 3.4, 400)
figure, axes = panels(3, size=(3.4, 2.8), sharey=True)
ends = {}
for ax, momentum, color in zip(axes, (0.0, 0.8, 0.9), (RED, ORANGE, BLUE), strict=True):
    path = descend(bumpy, [-3.1], md.SGD(0.03, momentum=momentum), 200)[:, 0]
    ends[momentum] = float(bumpy(path[-1:]))
    ax.plot(wide, [bumpy(np.array([w])) for w in wide], color=GREY, linewidth=3, alpha=0.5)
    ax.plot(path, [bumpy(np.array([w])) for w in path], "o-", color=color, markersize=2.5, linewidth=0.8)
    ax.plot(path[-1], ends[momentum], "o", color=color, markersize=9, markeredgecolor="black")
    ax.set(title=f"momentum {momentum:g}: ends at {ends[momentum]:.2f}", xlabel="w")
axes[0].set_ylabel("loss")
figure.suptitle("200 steps at the rate 0.03 from the left end")
assert ends[0.9] < ends[0.0]
