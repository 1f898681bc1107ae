"""Rows in a file of records are those of the table, every one, in any order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from madaline.estimators.tabular.encoded import encode_rows

import madaline as md
from madaline.data.encode import TablePlan
from madaline.data.target import TargetPlan
from madaline.errors import InputError
from madaline.estimators.tabular import encoded

TARGETS = {
    "number": (["n"], None),
    "count": (["k"], "count"),
    "class": (["c"], None),
    "numbers": (["n", "k"], None),
    "labels": (["p", "q"], None),
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 3000
    return pl.DataFrame(
        {
            "x": rng.normal(size=n),
            "shop": rng.choice([f"s{k}" for k in range(40)], n),
            "city": rng.choice(["Rome", "Oslo"], n),
            "n": rng.normal(size=n),
            "k": rng.poisson(20.0, n),
            "c": rng.choice(["a", "b", "c"], n),
            "p": rng.integers(0, 2, n),
            "q": rng.integers(0, 2, n),
        }
    )


def written(frame, folder, targets, task=None):
    values = frame[targets[0]] if len(targets) == 1 else frame.select(targets)
    X = frame.select("x", "shop", "city")
    plan, target = TablePlan.fit(X), TargetPlan.fit(values, task=task)
    parts = frame.select("x", "shop", "city", *targets).iter_slices(700)
    return encode_rows(folder, parts, plan, target, targets, n_rows=len(frame)), plan.encode(X), target.encode(values)


@pytest.mark.parametrize("name", TARGETS)
def test_all_rows_are_there_as_the_plans_encode_them(frame, tmp_path, name):
    targets, task = TARGETS[name]
    rows, X, y = written(frame, tmp_path, targets, task)
    assert rows.n_rows == len(frame)
    chunks = list(rows.chunks(None))
    assert chunks[0][0].keys() == X.keys() == {"numbers", "shop"}
    for key, column in X.items():
        np.testing.assert_array_equal(np.concatenate([chunk[0][key] for chunk in chunks]), column)
    np.testing.assert_array_equal(np.concatenate([chunk[1] for chunk in chunks]).reshape(y.shape), y)


def test_pieces_come_in_another_order_for_another_rng(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(encoded, "PIECE_BYTES", 200)
    monkeypatch.setattr(encoded, "BUFFER_BYTES", 5000)
    rows, _, y = written(frame, tmp_path, ["n"])
    orders = [np.concatenate([chunk[1] for chunk in rows.chunks(np.random.default_rng(k))])[:, 0] for k in (0, 0, 1)]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.sort(y))
    blocks = list(rows.stream().blocks(batch_size=16, seed=0, epoch=0, shuffle=True))
    assert max(len(block[1]) for block in blocks) < 300
    assert sum(len(block[1]) for block in blocks) == 3000


def test_a_file_that_is_whole_is_taken_as_it_is_and_a_part_is_not(frame, tmp_path):
    first = written(frame, tmp_path, ["n"])[0]
    before = first.path.stat().st_mtime_ns
    assert written(frame, tmp_path, ["n"])[0].path.stat().st_mtime_ns == before
    left = first.path.with_name(f".{first.path.name}.0123abcd.part")
    first.path.rename(left)
    left.write_bytes(b"half")
    assert written(frame, tmp_path, ["n"])[0].n_rows == 3000
    assert [file.name for file in tmp_path.iterdir()] == [first.path.name]
    assert written(frame, tmp_path, ["k"])[0].path != first.path


def test_what_cannot_be_encoded_is_named_with_its_row(frame, tmp_path):
    plan, target = TablePlan.fit(frame.select("x")), TargetPlan.fit(frame["n"])
    parts = [frame.select("x", "n"), pl.DataFrame({"x": ["1", "many"], "n": [1.0, 2.0]})]
    with pytest.raises(InputError, match=r"row 1 holds 'many'.*counted from row 3,000 of those to train on"):
        encode_rows(tmp_path, parts, plan, target, ["n"], n_rows=3002)
    assert not list(tmp_path.glob("*.bin"))


def test_a_net_trains_on_it(frame, tmp_path):
    rows, X, y = written(frame.with_columns(n=2.0 * pl.col("x")), tmp_path, ["n"])
    plan = TablePlan.fit(frame.select("x", "shop", "city"))
    trainer = md.Trainer(md.Sequential(plan.front(), md.Linear(1)), optimizer=md.Adam(0.01))
    history = trainer.fit(rows.stream(), epochs=5, validation=(X, y[:, None]))
    assert history["val_loss"][-1] < 0.3 * history["val_loss"][0]
