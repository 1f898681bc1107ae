"""Effects of centring, scaling, decorrelating and whitening on data and on gradient descent. Lecture row B10.

``python gallery/preprocessing.py`` writes the page of the same name and its pictures; images need MNIST in the folder
that MADALINE_DATA names (``image/mnist.npz``). Tests use the same functions.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

N_ROWS = 500


def correlated(n_rows: int = N_ROWS, *, seed: int = 0) -> Array:
    """Points with two correlated columns, one half as wide as the other, both not centred."""
    z = md.nn.initializers.stream(seed, "preprocessing", "points").standard_normal((n_rows, 2))
    return z @ np.array([[2.2, 1.2], [0.0, 0.35]]) + np.array([3.0, 2.0])


def ways() -> dict[str, Any]:
    """The transformations of the lecture, in its order; None does not change the data."""
    return {
        "original": None,
        "centred": md.data.ColumnScaler("centre"),
        "standardised": md.data.ColumnScaler("standard"),
        "decorrelated (PCA)": md.data.PCA(),
        "whitened (PCA)": md.data.PCA(whiten=True),
        "whitened (ZCA)": md.data.ZCA(eps=0.0),
    }


def transformed(X: Array) -> dict[str, Array]:
    """The data after each transformation."""
    return {name: X if way is None else way.fit_transform(X) for name, way in ways().items()}


def condition(X: Array) -> float:
    """Condition number of the Hessian of a linear unit with a bias.

    The ratio of the largest to the smallest eigenvalue of X'X/n, where X includes a column of ones.
    """
    with_bias = np.column_stack([X, np.ones(len(X))])
    values = np.linalg.eigvalsh(with_bias.T @ with_bias / len(X))
    return float(values[-1] / values[0])


def steps_to_learn(X: Array, *, close: float = 1e-3, most: int = 100_000, seed: int = 0) -> int:
    """Number of gradient descent steps until a linear unit has learned a plane, at the optimal rate for its Hessian.

    The rate is 2 / (largest + smallest eigenvalue). Training ends when the mean squared error is below ``close`` times
    the variance of the target, which is the same function of the original points in all cases.
    """
    plain = correlated(len(X), seed=seed)
    y = md.data.ColumnScaler().fit_transform((plain @ np.array([0.4, -2.0]))[:, None])[:, 0]
    with_bias = np.column_stack([X, np.ones(len(X))])
    values = np.linalg.eigvalsh(2.0 * with_bias.T @ with_bias / len(X))
    net = md.Linear(1, init="zeros")
    model = net.init(2)
    trainer = md.Trainer(model, loss="mse", optimizer=md.SGD(2.0 / (values[-1] + values[0])), dtype="float64")
    done = 0
    while done < most:
        chunk = 10 if done < 1000 else 1000
        history = trainer.partial_fit(X, y[:, None], epochs=chunk, batch_size=None, shuffle=False)
        below = np.flatnonzero(np.array(history["loss"][-chunk:]) < close)
        if len(below):
            return done + int(below[0])
        done += chunk
    return most


# Images


def images(n_rows: int = 5000) -> Array:
    """Digits as (n, 28, 28, 1), from 0 to 1."""
    with np.load(Path(os.environ["MADALINE_DATA"]) / "image" / "mnist.npz") as file:
        return file["x_train"][:n_rows, :, :, None].astype(np.float64) / 255.0


def whitened_images(X: Array, *, eps: float = 0.1) -> tuple[Array, Array]:
    """Images whitened by ZCA and by PCA, in their own shape."""
    flat = X.reshape(len(X), -1)
    zca = md.data.ZCA(eps=eps).fit_transform(flat)
    pca = md.data.PCA(whiten=True, eps=eps).fit_transform(flat)
    return zca.reshape(X.shape), pca.reshape(X.shape)


def kept(X: Array, share: float) -> tuple[int, Array]:
    """The number of principal axes that retain a fraction of the variance, and the images projected on them."""
    flat = X.reshape(len(X), -1)
    pca = md.data.PCA(share).fit(flat)
    return pca.n_components_, pca.inverse_transform(pca.transform(flat)).reshape(X.shape)


# The page

HERE = Path(__file__).parent
PAGE = HERE / "preprocessing.md"
PICTURES = {name: HERE / "pictures" / f"preprocessing_{name}.png" for name in ("points", "images")}

TEXT = """# Preprocessing: centre, scale, decorrelate, whiten
Lecture row B10, measured by [`preprocessing.py`](preprocessing.py), which wrote this page and its pictures; the tests
in [`test_preprocessing.py`](../tests/lectures/test_preprocessing.py) check the same results. The transformers
`md.data.ColumnScaler`, `md.data.PCA`, `md.data.ZCA` and `md.data.ImageScaler` follow scikit-learn's interface.

![six versions of the same points](pictures/preprocessing_points.png)

- **Centred**: each column has mean 0. **Standardised**: each column also has standard deviation 1.
- **Decorrelated**: rotated to the axes of largest variance (PCA), so that the columns are uncorrelated.
- **Whitened**: each axis is divided by its standard deviation, so that the covariance is the identity. PCA whitening
  keeps the rotated axes. ZCA rotates back to the original axes; it moves the points less than any other whitening.

## Effect on gradient descent
A linear unit with a bias learns the same plane from each version of the points, by gradient descent with all rows at
the optimal rate for its Hessian. The condition number of the Hessian determines the number of steps:

{table}
## Images
All pixels have the same scale, so images are usually only centred: by the mean image (AlexNet,
`md.data.ImageScaler("image")`) or by one mean per channel (VGGNet, `md.data.ImageScaler("channel")`). Dividing by a
standard deviation, PCA and whitening are possible, but not common. {n_kept} of 784 axes retain {share:.0%} of the
variance of {n_rows} digits.

![digits, centred, reduced and whitened](pictures/preprocessing_images.png)

Statistics are computed from the training set only and applied to all other data:

```python
>>> import numpy as np, madaline as md
>>> train = np.array([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]]); new = np.array([[2.0, 40.0]])
>>> scaler = md.data.ColumnScaler().fit(train)
>>> scaler.transform(new).round(3)
array([[0.   , 2.449]])
>>> scaler.inverse_transform(scaler.transform(new))
array([[ 2., 40.]])

```
[`md.data.TablePlan`](../docs/guides/tables.md) uses `md.data.ColumnScaler("robust", clip=True)` by default: it scales
by median and quartiles, which are robust to outliers, and clips smoothly at 3.
"""
SHARE = 0.95


def page() -> str:
    """The page."""
    data = transformed(correlated())
    rows = [f"| {name} | {condition(X):,.1f} | {steps_to_learn(X):,} |" for name, X in data.items()]
    table = "\n".join(["| points | condition | steps |", "| --- | --- | --- |", *rows, ""])
    X = images()
    return TEXT.format(table=table, n_kept=kept(X, SHARE)[0], share=SHARE, n_rows=len(X))


def draw_points() -> Any:
    """Draw the points after each transformation; each point keeps its colour."""
    from matplotlib import pyplot as plt

    X = correlated()
    colours = plt.get_cmap("viridis")(np.argsort(np.argsort(X[:, 0])) / len(X))
    figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
    for ax, (name, points) in zip(axes.flat, transformed(X).items(), strict=True):
        ax.axhline(0, color="0.7", lw=1)
        ax.axvline(0, color="0.7", lw=1)
        ax.scatter(*points.T, s=6, c=colours, lw=0)
        limit = 10 if name in ("original", "centred", "decorrelated (PCA)") else 4
        ax.set(title=name, aspect="equal", xlim=(-limit, limit), ylim=(-limit, limit))
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_images(n_shown: int = 8) -> Any:
    """Draw digits: original, minus the mean image, projected on few axes, whitened; and the mean image."""
    from matplotlib import pyplot as plt

    X = images()
    scaler = md.data.ImageScaler("image").fit(X)
    zca, pca = whitened_images(X)
    rows = {
        "original": X,
        "minus the mean image": scaler.transform(X),
        f"{SHARE:.0%} of the variance": kept(X, SHARE)[1],
        "whitened (ZCA)": zca,
        "whitened (PCA)": pca,
    }
    figure, axes = plt.subplots(len(rows), n_shown + 1, figsize=(9, 5.2), layout="constrained")
    for line, (name, row) in zip(axes, rows.items(), strict=True):
        line[0].text(1.0, 0.5, name, ha="right", va="center", fontsize=9, transform=line[0].transAxes)
        limit = np.quantile(np.abs(row), 0.995)
        for ax, image in zip(line[1:], row[:n_shown, :, :, 0], strict=True):
            low = 0.0 if row is X else -limit
            ax.imshow(image, cmap="gray" if row is X else "RdBu_r", vmin=low, vmax=1.0 if row is X else limit)
        for ax in line:
            ax.axis("off")
    return figure


def write() -> None:
    """Run the experiment, and write the page and the pictures."""
    import matplotlib as mpl

    mpl.use("Agg")
    PAGE.write_text(page(), encoding="utf-8")
    draw_points().savefig(PICTURES["points"], dpi=110)
    draw_images().savefig(PICTURES["images"], dpi=110)


if __name__ == "__main__":
    write()
