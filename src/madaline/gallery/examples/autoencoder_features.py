r"""
Features of an autoencoder, with and without dropout
====================================================
An autoencoder learns to reproduce its input through a hidden layer; the weights of each hidden unit are an image, the
feature that it looks for. With 256 rectifiers and no dropout, units share the work in ways that mean nothing by
themselves. With dropout of one half, no unit can rely on others, and each becomes a detector of a stroke or a spot
(Srivastava et al. 2014, section 7.1; lecture rows E15, E19 and C2).
"""

# %%
# Two autoencoders
# ----------------
# The data are images of MNIST if ``MADALINE_DATA`` names a folder that has them, otherwise those of scikit-learn.
import numpy as np

import madaline as md
from madaline.gallery.images import handwritten_digits
from madaline.gallery.style import GREY, ORANGE, QUICK, mosaic, panels

X, _, side = handwritten_digits(1500 if QUICK else 10_000)
UNITS = 256
trainers = {}
for name, drop in (("without dropout", 0.0), ("with dropout of 0.5", 0.5)):
    net = md.Sequential(md.Linear(UNITS), "relu", md.Dropout(drop), md.Linear(X.shape[1]), "sigmoid")
    trainer = md.Trainer(net, loss="mse", optimizer=md.Adam(0.001))
    trainer.fit(X, epochs=10 if QUICK else 60, batch_size=64)
    trainers[name] = trainer

# %%
# What units look for
# -------------------
# The 64 units with the largest weights; orange pixels excite a unit, purple ones inhibit it.
figure, axes = panels(2, size=(4.6, 4.9))
features = {}
for ax, (name, trainer) in zip(axes, trainers.items(), strict=True):
    W = trainer.model.params["0.W"]
    order = np.argsort(-np.linalg.norm(W, axis=0))
    features[name] = W[:, order]
    mosaic(ax, W[:, order[:64]].T, 8)
    ax.set_title(f"Features {name}")

# %%
# Local features, sparse codes
# ----------------------------
# How local a feature is: the share of pixels that hold half of its squared weights. How sparse the code is: the share
# of units that are active for an image. Codes become sparse in any case; features become local with enough images and
# epochs only, 10,000 images of MNIST and 60 epochs here, and not with the small images of scikit-learn.
figure, (left, right) = panels(2, size=(4.2, 3.0))
shares, active = {}, {}
for (name, trainer), color in zip(trainers.items(), (GREY, ORANGE), strict=True):
    energy = np.sort(features[name] ** 2, axis=0)[::-1]
    half = (np.cumsum(energy, axis=0) < 0.5 * energy.sum(axis=0)).sum(axis=0) + 1
    shares[name] = half / len(energy)
    code = trainer.model.activations(X[:1000])["1"]
    active[name] = (code > 0.01).mean(axis=1)
    left.hist(100 * shares[name], bins=25, color=color, alpha=0.7, label=name)
    right.hist(100 * active[name], bins=25, color=color, alpha=0.7, label=name)
left.set(xlabel="pixels with half of the squared weights in %", ylabel="units", title="Features become local")
right.set(xlabel="active units in %", ylabel="images", title="Codes become sparse")
left.legend(fontsize=9)
for trainer in trainers.values():
    assert np.mean((trainer.model(X[:500]) - X[:500]) ** 2) < 0.5 * np.var(X)
assert np.median(active["with dropout of 0.5"]) < 0.8 * np.median(active["without dropout"])
if side == 28 and not QUICK:
    assert np.median(shares["with dropout of 0.5"]) < 0.9 * np.median(shares["without dropout"])

# %%
# Rows and their reconstructions
# ------------------------------
figure, axes = panels(3, size=(3.4, 1.5))
pictures = {"images": X[:10], **{name: trainer.model(X[:10]) for name, trainer in trainers.items()}}
for ax, (name, rows) in zip(axes, pictures.items(), strict=True):
    mosaic(ax, rows, 5, cmap="gray_r", vmin=0)
    ax.set_title(name)
