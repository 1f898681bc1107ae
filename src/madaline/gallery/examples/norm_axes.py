r"""
Which axes each norm averages over
==================================
All norms subtract a mean and divide by a standard deviation; they differ in the axes over which these are taken
(lecture rows C7 and D5). For images of shape (rows, channels, positions): batch norm takes each channel over rows and
positions, layer norm each row, instance norm each row and channel, group norm groups of channels of a row.
"""

# %%
# Seen from the norms themselves
# ------------------------------
# What a norm averages over is measured: one number of the input is changed a little, and the numbers whose statistics
# it entered change as well.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, panels

ROWS, CHANNELS, POSITIONS = 4, 6, 5
rng = np.random.default_rng(0)
x = rng.normal(size=(ROWS, CHANNELS, POSITIONS))
norms = {
    "batch norm": (md.BatchNorm(), CHANNELS),
    "layer norm": (md.nn.GroupNorm(1), ROWS),
    "instance norm": (md.nn.InstanceNorm(), ROWS * CHANNELS),
    "group norm, 3 groups": (md.nn.GroupNorm(3), ROWS * 3),
}


def touched(norm):
    """The numbers of the output that change with one number of the input."""
    model = norm.init((CHANNELS, POSITIONS), dtype="float64")
    changed = x.copy()
    changed[3, 2, 3] += 0.1
    return np.abs(model(changed, train=True) - model(x, train=True)) > 1e-9


figure, axes = panels(4, size=(2.7, 3.0), subplot_kw={"projection": "3d"})
for ax, (name, (norm, n_statistics)) in zip(axes, norms.items(), strict=True):
    group = touched(norm)
    assert group.sum() * n_statistics == x.size, "the groups divide the array evenly"
    colors = np.where(group, ORANGE, "#dfe9f1")
    colors[3, 2, 3] = BLUE
    ax.voxels(np.ones_like(group), facecolors=colors, edgecolor=GREY, linewidth=0.3, shade=False)
    ax.set(xticks=[], yticks=[], zticks=[])
    ax.set_xlabel("rows", labelpad=-14)
    ax.set_ylabel("channels", labelpad=-14)
    ax.set_zlabel("positions", labelpad=-14)
    ax.set_title(f"{name}:\n{n_statistics} means of {group.sum()} numbers", loc="center", fontsize=10)
    ax.view_init(elev=24, azim=38)
figure.suptitle("The numbers that share one mean and variance with the blue one (orange)")

# %%
# For tables
# ----------
# A table has no positions: batch norm takes columns of the mini-batch, layer norm and RMS norm rows.
figure, axes = panels(2, size=(3.4, 2.6))
table = rng.normal(size=(6, 8))
for ax, (name, norm) in zip(axes, {"batch norm": md.BatchNorm(), "layer norm": md.LayerNorm()}.items(), strict=True):
    model = norm.init(8, dtype="float64")
    changed = table.copy()
    changed[2, 5] += 0.1
    group = np.abs(model(changed, train=True) - model(table, train=True)) > 1e-9
    ax.pcolormesh(group[::-1], cmap="Oranges", vmin=0, vmax=1.6, edgecolor="white", linewidth=1.5)
    ax.set(
        title=f"{name}: {'a unit' if name == 'batch norm' else 'a row'}",
        xlabel="units",
        ylabel="rows",
        xticks=[],
        yticks=[],
    )
    assert group.sum() == (6 if name == "batch norm" else 8)
