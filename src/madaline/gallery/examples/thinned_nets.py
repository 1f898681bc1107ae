r"""
Dropout trains thinned nets
===========================
In each step dropout removes units at random with all their connections; what is left is a thinned net, and training
trains all :math:`2^n` of them with shared weights (lecture rows A15, C8, D7 and E15). The mask can be new for every
row, or one for a whole mini-batch (row N14).
"""

# %%
# A net and three of its thinned nets
# -----------------------------------
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, panels

WIDTHS = (4, 6, 6, 2)
drop = md.Dropout(0.5, mask="batch")
net = md.Sequential(md.Linear(6), "tanh", drop, md.Linear(6), "tanh", md.Dropout(0.5, mask="batch"), md.Linear(2))
rng = np.random.default_rng(0)
X = rng.normal(size=(5, 4))
model = net.init(X, dtype="float64")


def kept(step):
    """Which units of each layer are left in a step."""
    seen = model.activations(X, train=True, step=step)
    return [np.ones(4, bool), *(seen[layer].any(axis=0) for layer in ("2", "5")), np.ones(2, bool)]


def draw(ax, masks, title):
    """Units as circles, connections between those that are left."""
    places = [np.linspace(-1, 1, n) * n / 6 for n in WIDTHS]
    for k in range(len(WIDTHS) - 1):
        for i, y0 in enumerate(places[k]):
            for j, y1 in enumerate(places[k + 1]):
                if masks[k][i] and masks[k + 1][j]:
                    ax.plot([k, k + 1], [y0, y1], color=BLUE, linewidth=0.8, alpha=0.6, zorder=1)
    for k, ys in enumerate(places):
        for y, is_left in zip(ys, masks[k], strict=True):
            ax.plot(k, y, "o", markersize=14, color="white", markeredgecolor=BLUE if is_left else GREY, zorder=2)
            if not is_left:
                ax.plot(k, y, "x", markersize=9, color=ORANGE, zorder=3)
    ax.set(title=title, xlim=(-0.3, 3.3), ylim=(-1.25, 1.25))
    ax.set_axis_off()


figure, axes = panels(4, size=(2.7, 2.9))
draw(axes[0], [np.ones(n, bool) for n in WIDTHS], "The full net")
for ax, step in zip(axes[1:], (1, 2, 3), strict=True):
    masks = kept(step)
    draw(ax, masks, f"Step {step}: {sum(m.sum() for m in masks[1:3])} of 12 units")

# %%
# A mask for every row, or one for a mini-batch
# ---------------------------------------------
# Dark: dropped. With one mask the rows of a mini-batch train the same thinned net, and their gradients share its noise.
figure, axes = panels(2, size=(4.0, 2.4))
ones = np.ones((16, 40))
for ax, mask in zip(axes, ("row", "batch"), strict=True):
    dropped = md.Dropout(0.5, mask=mask).init(40)(ones, train=True) == 0
    ax.pcolormesh(dropped[::-1], cmap="Blues", vmin=-0.3, vmax=1.3)
    count = len(np.unique(dropped, axis=0))
    ax.set(title=f'mask="{mask}": {count} mask{"s" if count > 1 else ""} for 16 rows')
    ax.set(xlabel="units", ylabel="rows", xticks=[], yticks=[])
    assert count == (16 if mask == "row" else 1)

# %%
# The noise of the gradient
# -------------------------
# The gradient of a mini-batch of 64 rows, for many masks: with a mask for each row the noise of the rows
# averages out, with one mask it does not.
rows = rng.normal(size=(64, 4))
target = rows[:, :1]
spread = {}
for mask in ("row", "batch"):
    model = md.Sequential(md.Linear(64), "relu", md.Dropout(0.5, mask=mask), md.Linear(1)).init(rows, dtype="float64")

    def loss(w, key, model=model):
        """Mean squared error in training mode."""
        return np.mean((model.network.run(w, model.state.flat, rows, key=key, train=True).outputs[""] - target) ** 2)

    gradient = md.compile(md.grad(loss))
    found = np.array([gradient(model.params.flat, np.array([0, step])) for step in range(50 if QUICK else 300)])
    spread[mask] = float(np.linalg.norm(found.std(axis=0)) / np.linalg.norm(found.mean(axis=0)))
figure, (ax,) = panels(1, size=(4.4, 2.2))
bars = ax.barh(["one mask a row", "one mask a mini-batch"], list(spread.values()), color=(BLUE, ORANGE))
ax.bar_label(bars, [f" {value:.2f}" for value in spread.values()])
ax.set(title="Noise of the gradient / its mean", xlim=(0, 1.2 * max(spread.values())))
ax.invert_yaxis()
assert spread["batch"] > 1.5 * spread["row"]
