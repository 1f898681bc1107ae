"""Without Ray, and where no cluster is."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import madaline as md


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_a_missing_ray_is_one_sentence_with_the_command():
    X = np.zeros((20, 2))
    with pytest.raises(md.errors.MissingPackageError, match=r'pip install "madaline\[ray\]"'):
        md.Trainer(md.mlp(2, 1)).fit(X, X[:, :1], replicas=2, cluster="auto")


def test_one_net_on_a_cluster_needs_replicas():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(md.errors.ConfigError, match="Pass replicas="):
        md.MLPRegressor(preset="auto", max_iter=2).fit(X, X[:, 0], cluster="auto")
    with pytest.raises(md.errors.ConfigError, match="leave replicas out"):
        md.MLPRegressor(preset="best", max_iter=2).fit(X, X[:, 0], replicas=2)
