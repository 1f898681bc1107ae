"""The same bits as on one computer, on clusters whose workers and nodes are lost and come back."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import ray

import madaline as md
from madaline.errors import ConfigError
from madaline.scale import cluster as clusters

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5)).astype("float32")
Y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2])[:, None].astype("float32")
NET = md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Dropout(0.1), md.Linear(1))


def trained(net=NET, **options):
    trainer = md.Trainer(net, optimizer="adam", schedule="cosine", seed=1)
    trainer.fit(X, Y, **{"epochs": 6, "batch_size": 10, "replicas": 4, "local_steps": 5, "validation": 0.2} | options)
    return trainer


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.model.params.flat, expected.model.params.flat)
    np.testing.assert_array_equal(found.model.state.flat, expected.model.state.flat)
    np.testing.assert_array_equal(found.history["val_loss"], expected.history["val_loss"])


@pytest.mark.parametrize("outer", ["mean", "nesterov"])
def test_replicas_on_a_cluster_give_the_bits_of_one_process(cluster, outer):
    assert_equal(trained(cluster=cluster.address, outer=outer), trained(outer=outer))


def test_another_number_of_nodes_gives_the_same_bits(cluster):
    added = [cluster.add_node(num_cpus=1) for _ in range(2)]
    try:
        assert clusters.Cluster(cluster.address).n_cpus == 4
        assert_equal(trained(cluster=cluster.address), trained())
    finally:
        for node in added:
            cluster.remove_node(node)


def test_a_lost_node_costs_nothing_but_time(cluster):
    expected, node = trained(epochs=20), cluster.add_node(num_cpus=2)
    timer = threading.Timer(2.0, lambda: cluster.remove_node(node, allow_graceful=False))
    timer.start()
    try:
        assert_equal(trained(epochs=20, cluster=cluster.address), expected)
    finally:
        timer.join()


def test_a_run_on_a_cluster_is_resumed(cluster, tmp_path):
    class Stop(md.Callback):
        every = 1

        def on_steps(self, trainer, step, values):
            if step == 17:
                trainer.stop()

    path = tmp_path / "checkpoint"
    trained(cluster=cluster.address, checkpoint=path, callbacks=Stop())
    assert_equal(trained(cluster=cluster.address, checkpoint=path, resume=path), trained())


def population(**options):
    found = md.Population([md.Trainer(NET, optimizer="adam", seed=seed) for seed in range(5)])
    rows = [np.flatnonzero(np.arange(len(X)) % 5 != fold) for fold in range(5)]
    held = [np.flatnonzero(np.arange(len(X)) % 5 == fold) for fold in range(5)]
    found.fit(X, Y, rows=rows, validation_rows=held, epochs=5, early_stopping=3, **options)
    return found


def test_members_of_a_population_have_the_bits_of_one_computer(cluster, tmp_path):
    expected = population()
    found = population(cluster=cluster.address, checkpoint=tmp_path / "members")
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert [history.epochs for history in found.histories] == [history.epochs for history in expected.histories]
    for ours, theirs in zip(found.trainers, expected.trainers, strict=True):
        assert ours.partial_fit(X, Y)["loss"][-1] == theirs.partial_fit(X, Y)["loss"][-1]
    assert len(list((tmp_path / "members").iterdir())) == 5
    again = population(cluster=cluster.address, checkpoint=tmp_path / "members", resume=tmp_path / "members")
    np.testing.assert_array_equal(again.predict(X), expected.predict(X))


def test_members_have_weights_of_their_own(cluster):
    weights = [{"sample_weight": np.where(np.arange(len(X)) % 2 == k % 2, 1.0, 0.1)} for k in range(5)]
    found, expected = (population(member_options=weights, cluster=where) for where in (cluster.address, None))
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_callbacks_are_called_here(cluster):
    seen = []
    options = [{"callbacks": lambda trainer, row: seen.append(row["epoch"])}, {}, {}, {}, {}]
    found = population(cluster=cluster.address, member_options=options)
    assert seen[:2] == [1, 2]
    np.testing.assert_array_equal(found.predict(X), population().predict(X))


def test_members_that_diverge_are_reported(cluster):
    trainers = [md.Trainer(md.mlp(4, 1), optimizer=md.SGD(rate)) for rate in (1e30, 0.01)]
    found = md.Population(trainers)
    with pytest.warns(UserWarning, match="diverged"):
        found.fit(X, Y, epochs=3, cluster=cluster.address)
    assert list(found.errors) == [0]


def test_the_time_limit_holds(cluster):
    began = time.monotonic()
    found = population(cluster=cluster.address, max_seconds=0.5)
    assert found.stopped in ("time", "finished")
    assert time.monotonic() - began < 60


def test_best_and_search_give_the_same_model(cluster):
    y = (X[:, 0] > 0).astype(int)
    few = {"max_iter": 4, "random_state": 0}
    best = [
        md.MLPClassifier(preset="best", **few).fit(X, y, cv=2, cluster=where).predict_proba(X)
        for where in (None, cluster.address)
    ]
    np.testing.assert_array_equal(*best)
    pytest.importorskip("optuna")
    options = {"space": {"dropout": [0.0, 0.3]}, "trials": 3, "max_seconds": None, "cv": 2}
    searched = [
        md.search(md.MLPClassifier(preset="auto", **few), X, y, cluster=where, **options).predict_proba(X)
        for where in (None, cluster.address)
    ]
    np.testing.assert_array_equal(*searched)


def test_scikit_learns_searches_run_on_the_cluster(cluster):
    """joblib's backend of Ray, as the guide shows it."""
    import joblib
    from ray.util.joblib import register_ray
    from sklearn.model_selection import cross_val_score

    register_ray()
    clusters.Cluster(cluster.address)
    model = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=5, random_state=0)
    with joblib.parallel_backend("ray"):
        found = cross_val_score(model, X, Y.ravel(), cv=3, n_jobs=-1)
    np.testing.assert_array_equal(found, cross_val_score(model, X, Y.ravel(), cv=3))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere", "127.0.0.1:port"])
def test_a_cluster_that_does_not_answer_is_one_sentence(cluster, address):
    ray.shutdown()
    with pytest.raises(ConfigError, match="cannot be reached"):
        trained(cluster=address)


def test_another_version_on_a_worker_is_one_sentence(cluster, monkeypatch):
    here = clusters.Versions.here()
    monkeypatch.setattr(clusters.Versions, "here", staticmethod(lambda: replace(here, madaline="0.0.1")))
    with pytest.raises(ConfigError, match=r"has madaline .*, this computer has 0\.0\.1"):
        trained(cluster=cluster.address)
    monkeypatch.setattr(clusters.Versions, "here", staticmethod(lambda: replace(here, instructions="neon")))
    with pytest.raises(ConfigError, match="MADALINE_ISA"):
        trained(cluster=cluster.address)
