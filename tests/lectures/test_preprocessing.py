"""What the lectures say of preprocessing, asked of ``gallery/preprocessing.py``. Lecture row B10."""

from __future__ import annotations

import numpy as np
import pytest

import preprocessing as measured


@pytest.fixture(scope="module")
def data():
    return measured.transformed(measured.correlated())


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
    steps = [measured.steps_to_learn(data[name]) for name in ("original", "centred", "standardised", "whitened (PCA)")]
    conditions = [measured.condition(data[name]) for name in ("original", "centred", "standardised", "whitened (PCA)")]
    assert sorted(steps, reverse=True) == steps
    assert sorted(conditions, reverse=True) == conditions
    assert steps[-1] <= 2
    assert steps[0] > 10 * steps[-1]


def test_whitened_digits_still_look_like_digits_only_with_zca(data_dir, monkeypatch):  # B10
    monkeypatch.setenv("MADALINE_DATA", str(data_dir))
    X = measured.images(1000)
    zca, pca = measured.whitened_images(X)
    alike = [np.corrcoef(X.ravel(), white.ravel())[0, 1] for white in (zca, pca)]
    assert alike[0] > 0.3
    assert abs(alike[1]) < 0.1


def test_a_few_axes_keep_most_of_the_digits(data_dir, monkeypatch):  # B10
    monkeypatch.setenv("MADALINE_DATA", str(data_dir))
    X = measured.images(1000)
    n_kept, again = measured.kept(X, 0.9)
    assert n_kept < 100
    lost = ((X - again) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()
    assert lost == pytest.approx(0.1, abs=0.01)
