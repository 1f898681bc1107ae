"""Centring, scaling, decorrelating and whitening. Lecture row B10."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

N_ROWS = 500


def correlated(n_rows=N_ROWS, *, seed=0):
    """Points with two correlated columns, one half as wide as the other, both not centred."""
    z = md.nn.initializers.stream(seed, "preprocessing", "points").standard_normal((n_rows, 2))
    return z @ np.array([[2.2, 1.2], [0.0, 0.35]]) + np.array([3.0, 2.0])


def ways():
    """The transformations of the lecture, in its order; None does not change the data."""
    return {
        "original": None,
        "centred": md.data.ColumnScaler("centre"),
        "standardised": md.data.ColumnScaler("standard"),
        "decorrelated (PCA)": md.data.PCA(),
        "whitened (PCA)": md.data.PCA(whiten=True),
        "whitened (ZCA)": md.data.ZCA(eps=0.0),
    }


def transformed(X):
    """The data after each transformation."""
    return {name: X if way is None else way.fit_transform(X) for name, way in ways().items()}


def condition(X):
    """Condition number of the Hessian of a linear unit with a bias.

    The ratio of the largest to the smallest eigenvalue of X'X/n, where X includes a column of ones.
    """
    with_bias = np.column_stack([X, np.ones(len(X))])
    values = np.linalg.eigvalsh(with_bias.T @ with_bias / len(X))
    return float(values[-1] / values[0])


def steps_to_learn(X, *, close=1e-3, most=100_000, seed=0):
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


def digits(folder, n_rows):
    """Images of MNIST as rows of pixels from 0 to 1."""
    with np.load(folder / "image" / "mnist.npz") as file:
        return file["x_train"][:n_rows].reshape(n_rows, -1) / 255.0


@pytest.fixture(scope="module")
def data():
    return transformed(correlated())


def test_each_way_does_what_it_is_called(data):  # B10
    covariance = {name: np.cov(X, rowvar=False, ddof=0) for name, X in data.items()}
    assert np.abs(data["original"].mean(axis=0)).min() > 1.0
    for name in set(data) - {"original"}:
        np.testing.assert_allclose(data[name].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(covariance["centred"], covariance["original"])
    np.testing.assert_allclose(np.diag(covariance["standardised"]), 1.0)
    assert covariance["standardised"][0, 1] > 0.8
    assert covariance["decorrelated (PCA)"][0, 1] == pytest.approx(0.0, abs=1e-12)
    for name in ("whitened (PCA)", "whitened (ZCA)"):
        np.testing.assert_allclose(covariance[name], np.eye(2), atol=0.01)


def test_of_the_whitenings_zca_moves_the_points_least(data):  # B10
    moved = {name: np.linalg.norm(data[name] - data["centred"]) for name in ("whitened (PCA)", "whitened (ZCA)")}
    assert moved["whitened (ZCA)"] < moved["whitened (PCA)"]


def test_the_rounder_the_data_the_fewer_steps_descent_needs(data):  # B10
    steps = [steps_to_learn(data[name]) for name in ("original", "centred", "standardised", "whitened (PCA)")]
    conditions = [condition(data[name]) for name in ("original", "centred", "standardised", "whitened (PCA)")]
    assert sorted(steps, reverse=True) == steps
    assert sorted(conditions, reverse=True) == conditions
    assert steps[-1] <= 2
    assert steps[0] > 10 * steps[-1]


def test_whitened_digits_still_look_like_digits_only_with_zca(data_dir):  # B10
    X = digits(data_dir, 1000)
    zca, pca = md.data.ZCA(eps=0.1).fit_transform(X), md.data.PCA(whiten=True, eps=0.1).fit_transform(X)
    alike = [np.corrcoef(X.ravel(), white.ravel())[0, 1] for white in (zca, pca)]
    assert alike[0] > 0.3
    assert abs(alike[1]) < 0.1


def test_a_few_axes_keep_most_of_the_digits(data_dir):  # B10
    X = digits(data_dir, 1000)
    pca = md.data.PCA(0.9).fit(X)
    again = pca.inverse_transform(pca.transform(X))
    assert pca.n_components_ < 100
    lost = ((X - again) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()
    assert lost == pytest.approx(0.1, abs=0.01)
