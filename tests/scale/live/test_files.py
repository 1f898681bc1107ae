"""Files that the nodes read, and datasets of Ray."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import ray

import madaline as md
from madaline.scale import cluster as clusters

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

RNG = np.random.default_rng(0)
N_ROWS = 4000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("day")
    x = RNG.normal(size=(N_ROWS, 2)).astype("float32")
    columns = {"a": x[:, 0], "b": x[:, 1], "shop": RNG.integers(0, 10**6, N_ROWS), "y": x.sum(axis=1)}
    whole = pl.DataFrame(columns)
    for number in range(2):
        whole[number * 2000 : (number + 1) * 2000].write_parquet(found / f"{number}.parquet", row_group_size=500)
    return found


def net():
    inputs = md.Parallel(categories=md.Embedding(64, 3, sparse=True), numbers=md.nn.Identity())
    return md.Sequential(inputs, md.Concat(), md.Linear(8), md.BatchNorm(), "relu", md.Linear(1))


def trained(given, **options):
    stream = md.Stream(given, target="y", categories=["shop"], buckets=64, buffer=300)
    trainer = md.Trainer(net(), optimizer=md.Adam(1e-2), schedule="cosine", seed=1)
    trainer.fit(stream, **{"epochs": 3, "batch_size": 16, "replicas": 4, "local_steps": 5} | options)
    return trainer


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.model.params.flat, expected.model.params.flat)
    np.testing.assert_array_equal(found.model.state.flat, expected.model.state.flat)
    np.testing.assert_array_equal(found.history["loss"], expected.history["loss"])


def test_files_that_the_nodes_read_give_the_same_bits_on_one_two_and_four_workers(cluster, folder):
    """One worker is this process, which reads the rows of one replica after another."""
    expected = trained(folder)
    assert_equal(trained(folder, cluster=cluster.address), expected)
    added = [cluster.add_node(num_cpus=1) for _ in range(2)]
    try:
        assert clusters.Cluster(cluster.address).n_cpus == 4
        assert_equal(trained(folder, cluster=cluster.address), expected)
    finally:
        for node in added:
            cluster.remove_node(node)


def test_the_process_that_trains_reads_only_an_example(cluster, folder, monkeypatch):
    from madaline.train import parquet_rows, stored_rows

    counts = []
    read = parquet_rows.read_part

    def noted(columns, part):
        counts.append(part.n_rows)
        return read(columns, part)

    monkeypatch.setattr(parquet_rows, "read_part", noted)
    monkeypatch.setattr(stored_rows, "read_part", noted)
    trained(folder, cluster=cluster.address, epochs=1)
    assert len(counts) == 1


def test_a_dataset_of_ray_is_a_source(cluster, folder):
    clusters.Cluster(cluster.address)
    dataset = ray.data.read_parquet([str(path) for path in sorted(folder.glob("*"))])
    found = trained(dataset, replicas=1, shuffle=False, epochs=1)
    assert_equal(found, trained(folder, replicas=1, shuffle=False, epochs=1))
