r"""
Preprocessing: centre, scale, decorrelate, whiten
=================================================
The same points before and after each transformation of lecture row B10, what it does to gradient descent, and what it
does to images. ``md.data.ColumnScaler``, ``md.data.PCA``, ``md.data.ZCA`` and ``md.data.ImageScaler`` have the
interface of scikit-learn: ``fit`` on the training set, then ``transform`` every set.
"""

# %%
# Six versions of the same points
# -------------------------------
# *Centred*: every column has mean 0. *Standardised*: also standard deviation 1. *Decorrelated*: rotated to the axes of
# largest variance. *Whitened*: every axis divided by its standard deviation, so that the covariance is the identity;
# ZCA rotates back, and moves the points less than any other whitening.
import numpy as np

import madaline as md
from madaline.gallery.images import handwritten_digits
from madaline.gallery.style import GREY, QUICK, panels

z = md.nn.initializers.stream(0, "preprocessing", "points").standard_normal((500, 2))
X = z @ np.array([[2.2, 1.2], [0.0, 0.35]]) + np.array([3.0, 2.0])
ways = {
    "original": None,
    "centred": md.data.ColumnScaler("centre"),
    "standardised": md.data.ColumnScaler("standard"),
    "decorrelated (PCA)": md.data.PCA(),
    "whitened (PCA)": md.data.PCA(whiten=True),
    "whitened (ZCA)": md.data.ZCA(eps=0.0),
}
data = {name: X if way is None else way.fit_transform(X) for name, way in ways.items()}


def steps_to_learn(points):
    """Steps of gradient descent at the best rate until a linear unit has learned a plane, and the condition number."""
    plane = X @ np.array([0.4, -2.0])
    y = (plane - plane.mean()) / plane.std()
    inputs = np.column_stack([points, np.ones(len(points))])
    curvature = np.linalg.eigvalsh(2.0 * inputs.T @ inputs / len(inputs))
    rate, w, step = 2.0 / (curvature[-1] + curvature[0]), np.zeros(3), 0
    while np.mean((inputs @ w - y) ** 2) > 1e-3:
        w -= rate * 2.0 * inputs.T @ (inputs @ w - y) / len(inputs)
        step += 1
    return step, curvature[-1] / curvature[0]


figure, axes = panels(3, 2, size=(3.2, 2.8))
colors = np.argsort(np.argsort(X[:, 0]))
steps = {}
for ax, (name, points) in zip(axes, data.items(), strict=True):
    steps[name], condition = steps_to_learn(points)
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.scatter(*points.T, s=7, c=colors, linewidths=0)
    limit = 10 if name in ("original", "centred", "decorrelated (PCA)") else 4
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    ax.set_title(f"{name}: {steps[name]} steps", fontsize=11)
    print(f"{name}: condition number {condition:.1f}, {steps[name]} steps")
assert steps["original"] > steps["centred"] > steps["standardised"] > 10 * steps["whitened (PCA)"]
assert steps["whitened (ZCA)"] <= 2
for name in ("whitened (PCA)", "whitened (ZCA)"):
    np.testing.assert_allclose(np.cov(data[name], rowvar=False, ddof=0), np.eye(2), atol=0.01)
moved = {name: np.linalg.norm(data[name] - data["centred"]) for name in data}
assert moved["whitened (ZCA)"] < moved["whitened (PCA)"]

# %%
# The colour of a point stays the same in all pictures. The numbers of steps are those that a linear unit needs to learn
# the same plane from each version: the rounder the cloud, the fewer.
#
# Images
# ------
# All pixels have the same scale, so images are usually only centred: by the mean image (AlexNet,
# ``md.data.ImageScaler("image")``) or by one mean per channel (VGGNet, ``"channel"``). PCA and whitening are possible,
# but not common. ZCA keeps the look of images, since it rotates back; PCA whitening does not.
flat, _, side = handwritten_digits(1500 if QUICK else 5000)
images = flat.reshape(-1, side, side, 1)
pca = md.data.PCA(0.95).fit(flat)
rows = {
    "original": flat,
    "minus mean image": md.data.ImageScaler("image").fit_transform(images).reshape(flat.shape),
    "95 % of variance": pca.inverse_transform(pca.transform(flat)),
    "whitened, ZCA": md.data.ZCA(eps=0.1).fit_transform(flat),
    "whitened, PCA": md.data.PCA(whiten=True, eps=0.1).fit_transform(flat),
}
figure, axes = panels(10, len(rows), size=(0.95, 0.95))
for k, (name, row) in enumerate(rows.items()):
    limit = np.quantile(np.abs(row), 0.995)
    for ax, image in zip(axes[10 * k : 10 * k + 10], row, strict=False):
        low = 0.0 if name == "original" else -limit
        ax.imshow(image.reshape(side, side), cmap="gray" if low == 0 else "PuOr_r", vmin=low, vmax=limit)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    axes[10 * k].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11)
alike = {name: abs(np.corrcoef(flat.ravel(), rows[name].ravel())[0, 1]) for name in ("whitened, ZCA", "whitened, PCA")}
print(f"{pca.n_components_} of {flat.shape[1]} axes retain 95 % of the variance.")
assert alike["whitened, ZCA"] > 0.3
assert alike["whitened, PCA"] < 0.1
assert pca.n_components_ < 0.7 * flat.shape[1]
