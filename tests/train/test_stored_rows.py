"""Replicas that read their own rows of Parquet files."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.train import blocks, parquet_rows, stored_rows

RNG = np.random.default_rng(0)
N_ROWS = 3000


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """One row group is a part."""
    monkeypatch.setattr(parquet_rows, "FILE_ROWS", 150)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files of row groups; ``number`` counts the rows."""
    found = tmp_path_factory.mktemp("day")
    x = RNG.normal(size=(N_ROWS, 2)).astype("float32")
    shop = RNG.integers(0, 10**6, N_ROWS)
    city = [None if k % 97 == 0 else f"city {k % 31}" for k in range(N_ROWS)]
    whole = pl.DataFrame(
        {"a": x[:, 0], "b": x[:, 1], "shop": shop, "city": city, "y": x.sum(axis=1), "number": np.arange(N_ROWS)}
    )
    for number in range(3):
        part = whole[number * 1000 : (number + 1) * 1000]
        part.write_parquet(found / f"part-{number}.parquet", row_group_size=130)
    return found


def stream(folder, **options):
    given = {"target": "y", "features": ["a", "b"], "categories": ["shop", "city"], "buckets": 64, "buffer": 200}
    return md.Stream(folder, **given | options)


def net(sparse=True):
    inputs = md.Parallel(categories=md.Embedding(128, 3, sparse=sparse), numbers=md.nn.Identity())
    return md.Sequential(inputs, md.Concat(), md.Linear(8), "relu", md.Linear(1))


def seen(monkeypatch, folder, **options):
    """The rows that each replica trains on in each epoch: values of the column ``number``."""
    found = []
    read = blocks.read_chunk

    def noted(chunk, *rest):
        found.append(np.sort(chunk[0][:, 0].astype(int)))
        return read(chunk, *rest)

    monkeypatch.setattr(stored_rows, "read_chunk", noted)
    rows = md.Stream(folder, target="y", features=["number"], buffer=200)
    md.Trainer(md.Linear(1), optimizer=md.SGD(0.0)).fit(rows, **{"epochs": 1, "batch_size": 16} | options)
    return found


def test_every_row_is_read_once_by_one_replica(monkeypatch, folder):
    found = seen(monkeypatch, folder, replicas=3, local_steps=4)
    assert sorted(np.concatenate(found)) == list(range(N_ROWS))
    assert len(found) > 6
    assert max(map(len, found)) < 400  # never all of them at once


def test_epochs_have_other_orders_and_runs_the_same(monkeypatch, folder):
    first, again = (seen(monkeypatch, folder, replicas=2, epochs=2) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    half = len(first) // 2
    assert not any(np.array_equal(first[k], first[half + k]) for k in range(half))


def test_a_run_of_replicas_learns_and_resumes(folder, tmp_path):
    class Stop(md.Callback):
        every = 1

        def on_steps(self, trainer, step, values):
            if step == 37:
                trainer.stop()

    def trained(**options):
        trainer = md.Trainer(net(), optimizer=md.Adam(1e-2), schedule="cosine", seed=1)
        trainer.fit(stream(folder), epochs=4, batch_size=16, replicas=3, local_steps=5, **options)
        return trainer

    expected, path = trained(), tmp_path / "checkpoint"
    assert expected.history["loss"][-1] < 0.2 * expected.history["loss"][0]
    assert expected.run.total_steps == expected.run.progress.t
    trained(checkpoint=path, callbacks=Stop())
    found = trained(checkpoint=path, resume=path)
    np.testing.assert_array_equal(found.model.params.flat, expected.model.params.flat)
    np.testing.assert_array_equal(found.history["loss"], expected.history["loss"])


def test_one_replica_reads_ahead_and_gives_the_order_of_the_seed(folder):
    losses = []
    for given in (folder, f"{folder}/*.parquet", sorted(folder.glob("*"))):
        trainer = md.Trainer(net(sparse=False), seed=1)
        trainer.fit(stream(given), epochs=2, batch_size=64)
        losses.append(trainer.history["loss"])
    np.testing.assert_array_equal(losses[0], losses[1])
    np.testing.assert_array_equal(losses[0], losses[2])


def test_a_bad_row_is_named(folder, tmp_path):
    for path in folder.glob("*"):
        frame = pl.read_parquet(path)
        if path.stem.endswith("1"):
            frame[700, "a"] = float("inf")
        frame.write_parquet(tmp_path / path.name, row_group_size=130)
    for replicas in (1, 2):
        with pytest.raises(ConfigError, match="missing or infinite"):
            md.Trainer(net()).fit(stream(tmp_path), epochs=1, batch_size=16, replicas=replicas)


def test_a_loss_that_is_not_finite_is_explained(folder):
    with pytest.raises(md.errors.DivergenceError, match="is not finite"):
        md.Trainer(net(sparse=False), optimizer=md.SGD(1e30)).fit(stream(folder), epochs=1, batch_size=16, replicas=2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"features": ["a", "city"], "categories": ["shop"]}, "hash it"),
        ({"categories": ["a"], "features": ["b"]}, "categories are integers"),
        ({"categories": ["shops"]}, "'shops' is not a column"),
        ({"features": ["a", "shop"]}, "features and of categories"),
        ({"buckets": 2**31}, "less than 2"),
    ],
)
def test_wrong_columns_are_one_sentence(folder, options, text):
    with pytest.raises(ConfigError, match=text):
        md.Trainer(net()).fit(stream(folder, **options), epochs=1)


def test_files_must_have_the_same_columns(folder, tmp_path):
    for number, path in enumerate(sorted(folder.glob("*"))):
        frame = pl.read_parquet(path)
        frame = frame.with_columns(pl.col("shop").cast(pl.String)) if number == 1 else frame
        frame.write_parquet(tmp_path / path.name)
    with pytest.raises(ConfigError, match="All files need the same columns"):
        stream(tmp_path)
    with pytest.raises(FileNotFoundError):
        stream(tmp_path / "none*.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="has no files"):
        stream(tmp_path / "empty")
