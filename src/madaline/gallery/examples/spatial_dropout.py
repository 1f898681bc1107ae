r"""
Spatial dropout removes whole channels
======================================
Neighbouring positions of an image are alike: where plain dropout removes single positions, their neighbours still say
the same. Spatial dropout removes whole channels (Tompson et al. 2015; lecture row E16).
"""

# %%
# The lecture's example, and an image
# -----------------------------------
# Ones of shape (2, 3, 2, 2): every channel is 0 or 2. Below: eight smooth channels of an image with plain and with
# spatial dropout.
import numpy as np
from scipy.ndimage import gaussian_filter

import madaline as md
from madaline.gallery.style import BLUE, ORANGE, QUICK, panels

print(md.nn.SpatialDropout().init((3, 2, 2))(np.ones((2, 3, 2, 2)), train=True, step=2)[..., 0, 0])
rng = np.random.default_rng(0)
channels = np.array([gaussian_filter(rng.normal(size=(24, 24)), 3) for _ in range(8)])
channels = channels / channels.std(axis=(1, 2), keepdims=True) + 2.5
rows = {"input": channels}
for name, layer in (("Dropout", md.Dropout(0.5)), ("SpatialDropout", md.nn.SpatialDropout(0.5))):
    rows[name] = layer.init((8, 24, 24))(channels[None], train=True, step=1)[0]
figure, axes = panels(8, 3, size=(1.25, 1.25))
for k, (name, images) in enumerate(rows.items()):
    for ax, image in zip(axes[8 * k : 8 * k + 8], images, strict=True):
        ax.imshow(image, vmin=0, vmax=5 if k == 0 else 10)
        ax.set(xticks=[], yticks=[])
    axes[8 * k].set_ylabel(name)
gone = (rows["SpatialDropout"] == 0).all(axis=(1, 2))
figure.suptitle(
    f"Plain dropout leaves the shape of every channel; spatial dropout removed {gone.sum()} of 8", fontsize=12
)
assert 0 < gone.sum() < 8
assert not (rows["Dropout"] == 0).all(axis=(1, 2)).any()

# %%
# What a neighbour still tells
# ----------------------------
# How well a dropped position is restored from the positions around it that are left, over many masks.
share = {}
for name, layer in (("Dropout", md.Dropout(0.5)), ("SpatialDropout", md.nn.SpatialDropout(0.5))):
    model = layer.init((8, 24, 24))
    explained = []
    for step in range(10 if QUICK else 50):
        kept = model(channels[None], train=True, step=step)[0] > 0
        weights = gaussian_filter(kept.astype(float), (0, 1.0, 1.0))
        guess = gaussian_filter(np.where(kept, channels, 0.0), (0, 1.0, 1.0)) / np.maximum(weights, 1e-9)
        guess = np.where(weights > 1e-6, guess, channels.mean())
        left = ((channels - guess)[~kept] ** 2).mean() / channels.var()
        explained.append(1 - left)
    share[name] = float(np.mean(explained))
figure, (ax,) = panels(1, size=(6.0, 1.9))
bars = ax.barh(list(share), [100 * value for value in share.values()], color=[ORANGE, BLUE])
ax.bar_label(bars, [f" {100 * value:.0f} %" for value in share.values()])
ax.set(title="Variance of dropped positions that neighbours restore", xlim=(-5, 115))
ax.invert_yaxis()
assert share["Dropout"] > 0.8
assert share["SpatialDropout"] < 0.1
