"""Transformers: scikit-learn's own checks, and its transformers as oracles."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from sklearn import preprocessing
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import madaline as md
from madaline.errors import ConfigError


@parametrize_with_checks(
    [
        md.data.ColumnScaler(),
        md.data.ColumnScaler("robust", clip=True),
        md.data.ColumnScaler("minmax"),
        md.data.PCA(),
        md.data.PCA(1, whiten=True),
        md.data.ZCA(),
        md.data.ImageScaler(),
        md.data.ImageScaler("image", "image"),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(name="X")
def correlated(rng):
    """Correlated columns of very different sizes. B10"""
    return rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5)) * [1e-2, 1.0, 3.0, 10.0, 100.0] + 5.0


ORACLES = [
    (md.data.ColumnScaler(), preprocessing.StandardScaler()),
    (md.data.ColumnScaler("centre"), preprocessing.StandardScaler(with_std=False)),
    (md.data.ColumnScaler("minmax"), preprocessing.MinMaxScaler()),
    (md.data.ColumnScaler("robust"), preprocessing.RobustScaler()),
    (md.data.PCA(), sklearn.decomposition.PCA()),
    (md.data.PCA(3), sklearn.decomposition.PCA(3)),
    (md.data.PCA(0.999), sklearn.decomposition.PCA(0.999)),
    (md.data.PCA(whiten=True), sklearn.decomposition.PCA(whiten=True)),
]


@pytest.mark.parametrize(("ours", "theirs"), ORACLES, ids=str)
def test_scikit_learn_finds_the_same(ours, theirs, X):
    new = X[:7] + 1.0
    expected = theirs.fit(X).transform(new)
    found = ours.fit(X).transform(new)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-6)
    np.testing.assert_allclose(ours.inverse_transform(found), theirs.inverse_transform(expected), rtol=1e-7)
    assert found.dtype == np.float64
    assert ours.transform(new.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("shape", [(200, 5), (5, 20)])
def test_axes_and_variances_are_scikit_learns(shape, rng):
    X = rng.normal(size=shape)
    ours, theirs = md.data.PCA(4).fit(X), sklearn.decomposition.PCA(4).fit(X)
    for name in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(np.abs(getattr(ours, name)), np.abs(getattr(theirs, name)), rtol=1e-7)
    assert (ours.components_.max(axis=1) >= -ours.components_.min(axis=1)).all()


@pytest.mark.parametrize("transformer", [md.data.PCA(whiten=True), md.data.ZCA(eps=0.0)], ids=str)
def test_whitened_data_have_the_unit_matrix_as_covariance(transformer, X):
    white = transformer.fit_transform(X)
    np.testing.assert_allclose(np.cov(white, rowvar=False), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(transformer.inverse_transform(white), X, rtol=1e-7)


def test_pca_takes_correlation_away_and_keeps_lengths(X):
    turned = md.data.PCA().fit_transform(X)
    covariance = np.cov(turned, rowvar=False)
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0.0, atol=1e-8 * covariance.max())
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(X - X.mean(axis=0), axis=1))


def test_zca_changes_the_data_less_than_any_other_whitening(X):
    X = md.data.ColumnScaler().fit_transform(X)
    assert np.linalg.norm(md.data.ZCA(eps=0.0).fit_transform(X) - X) < np.linalg.norm(
        md.data.PCA(whiten=True).fit_transform(X) - X
    )


def test_eps_keeps_what_hardly_varies_from_being_blown_up(rng):
    X = np.stack([rng.normal(size=100), 1e-9 * rng.normal(size=100)], axis=1)
    assert md.data.ZCA(eps=1e-5).fit_transform(X)[:, 1].std() < 1e-5
    assert md.data.ZCA(eps=0.0).fit_transform(X)[:, 1].std() == pytest.approx(1.0, rel=0.1)
    assert np.isfinite(md.data.PCA(whiten=True).fit_transform(np.ones((5, 2)))).all()


@pytest.mark.parametrize("axis", [-1, 1])
def test_images_are_scaled_by_channel_or_by_place(axis, rng):
    X = np.moveaxis(rng.normal(3.0, 2.0, (10, 4, 5, 3)), -1, axis)
    over = tuple(i for i in range(4) if i != axis % 4)
    scaler = md.data.ImageScaler("channel", "channel", channel_axis=axis).fit(X)
    Y = scaler.transform(X)
    np.testing.assert_allclose(Y.mean(axis=over), 0.0, atol=1e-12)
    np.testing.assert_allclose(Y.std(axis=over), 1.0)
    np.testing.assert_allclose(scaler.inverse_transform(Y), X)
    Y = md.data.ImageScaler("image", channel_axis=axis).fit_transform(X)
    np.testing.assert_allclose(Y, X - X.mean(axis=0))
    Y = md.data.ImageScaler(None, "image", channel_axis=axis).fit_transform(X)
    np.testing.assert_allclose(Y, X / X.std(axis=0))


def test_columns_keep_their_names_and_their_kind_of_table(X):
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert md.data.ColumnScaler().fit(frame).get_feature_names_out().tolist() == list("abcde")
    assert md.data.ZCA().fit(frame).get_feature_names_out().tolist() == list("abcde")
    assert md.data.PCA(2).fit(frame).get_feature_names_out().tolist() == ["pca0", "pca1"]
    for kind in ("pandas", "polars"):
        out = make_pipeline(md.data.ColumnScaler(), md.data.PCA(2)).set_output(transform=kind).fit_transform(frame)
        assert list(out.columns) == ["pca0", "pca1"]


def test_wrong_settings_are_named(X):
    with pytest.raises(ConfigError, match="scaling='z' is not known"):
        md.data.ColumnScaler("z").fit(X)
    with pytest.raises(ConfigError, match="n_components=9 must be an integer from 1 to 5"):
        md.data.PCA(9).fit(X)
    with pytest.raises(ConfigError, match=r"n_components=1\.5 must be"):
        md.data.PCA(1.5).fit(X)
    with pytest.raises(ConfigError, match="eps=-1 must be a number of at least 0"):
        md.data.ZCA(eps=-1).fit(X)
    with pytest.raises(ConfigError, match="mean='pixel' must be 'channel', 'image' or None"):
        md.data.ImageScaler("pixel").fit(X)
    with pytest.raises(ConfigError, match="channel_axis=0 is not an axis"):
        md.data.ImageScaler(channel_axis=0).fit(X)
