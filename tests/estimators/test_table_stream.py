"""Tables larger than memory: a file of records holds every row, and training on it is training on the table."""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import polars as pl
import pytest

import madaline as md
from madaline.checksum import PieceWriter
from madaline.errors import ConfigError, FileFormatError, InputError, TargetError
from madaline.estimators import table_stream
from madaline.estimators.parameters import resolved
from madaline.estimators.row_set import RowSet
from madaline.estimators.table_stream import EncodedRows, TableStream, encode_stream, record_of

N = 3000
TARGETS = {
    "number": (md.MLPRegressor, ["n"], {}),
    "count": (md.MLPRegressor, ["k"], {"loss": "poisson"}),
    "class": (md.MLPClassifier, ["c"], {}),
    "two classes": (md.MLPClassifier, ["p"], {}),
    "weighted classes": (md.MLPClassifier, ["c"], {"class_weight": {"a": 1.0, "b": 2.0, "c": 3.0}}),
    "numbers": (md.MLPRegressor, ["n", "k"], {}),
    "labels": (md.MLPClassifier, ["p", "q"], {}),
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "x": rng.normal(size=N),
            "shop": rng.choice([f"s{k}" for k in range(40)], N),
            "city": rng.choice(["Rome", "Oslo"], N),
            "n": rng.normal(size=N),
            "k": rng.poisson(20.0, N),
            "c": rng.choice(["a", "b", "c"], N),
            "p": rng.integers(0, 2, N),
            "q": rng.integers(0, 2, N),
        }
    )


def features(frame):
    return frame.select("x", "shop", "city")


def target(frame, names):
    return frame[names[0]] if len(names) == 1 else frame.select(names).to_numpy()


def stream_of(frame, names, *, size=700, **options):
    def parts():
        for part in frame.iter_slices(size):
            yield features(part), target(part, names)

    return TableStream(parts, **options)


def written(frame, folder, names=("n",), plan=None):
    """A file of the rows as a plan encodes them, with the target as it is."""
    plan = plan or md.data.TablePlan.fit(features(frame))
    stream = stream_of(frame, list(names), folder=folder, n_rows=len(frame))
    return encode_stream(stream, lambda X, y: RowSet(plan.encode(X), np.asarray(y)), key=[plan.to_dict(), list(names)])


@pytest.mark.parametrize("name", TARGETS)
def test_all_rows_are_there_as_the_net_takes_them(frame, tmp_path, name, monkeypatch):
    kind, names, options = TARGETS[name]
    files = []
    keep = table_stream.encode_stream
    monkeypatch.setattr(
        "madaline.estimators.base.encode_stream", lambda *a, **k: files.append(keep(*a, **k)) or files[0]
    )
    head = frame.head(1000)
    stream = stream_of(frame, names, sample=(features(head), target(head, names)), folder=tmp_path, n_rows=N)
    held = features(frame[:50]), target(frame[:50], names)
    model = kind(preset="auto", hidden_layer_sizes=(4,), max_iter=1, random_state=0, **options)
    model.fit(stream, validation=held)
    (rows,) = files
    assert rows.n_rows == model.n_samples_ == N
    # Whatever a trainer is given for the rows in memory is in the file.
    read = model._read(resolved(model, data="auto"), features(frame), target(frame, names), fresh=False)
    expected = model._for_net(read)
    chunks = list(rows.chunks(None))
    for key, column in expected.X.items():
        np.testing.assert_array_equal(np.concatenate([chunk[0][key] for chunk in chunks]), column)
    y = np.concatenate([chunk[1] for chunk in chunks])
    np.testing.assert_allclose(y, expected.y, rtol=1e-6)
    assert len(chunks[0]) == (2 if expected.weight is None else 3)
    if expected.weight is not None:
        np.testing.assert_allclose(np.concatenate([chunk[2] for chunk in chunks]), expected.weight)


def test_pieces_come_in_another_order_for_another_rng(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(table_stream, "PIECE_BYTES", 200)
    monkeypatch.setattr(table_stream, "BUFFER_BYTES", 5000)
    rows = written(frame, tmp_path)
    orders = [np.concatenate([chunk[1] for chunk in rows.chunks(np.random.default_rng(k))]) for k in (0, 0, 1)]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.sort(frame["n"].to_numpy().astype(np.float32)))
    blocks = list(rows.stream().blocks(batch_size=16, seed=0, epoch=0, shuffle=True))
    assert max(len(block[1]) for block in blocks) < 300
    assert sum(len(block[1]) for block in blocks) == N


def test_a_complete_file_is_reused_and_a_part_is_not(frame, tmp_path):
    first = written(frame, tmp_path)
    before = first.path.stat().st_mtime_ns
    assert written(frame, tmp_path).path.stat().st_mtime_ns == before
    first.path.unlink()
    first.path.with_name(f".{first.path.name}.0123456789abcdef.part").write_bytes(b"half")
    assert written(frame, tmp_path).n_rows == N
    assert [file.name for file in tmp_path.iterdir()] == [first.path.name]
    assert written(frame, tmp_path, ["k"]).path != first.path
    other = md.data.TablePlan.fit(features(frame), scaling="standard")
    assert written(frame, tmp_path, plan=other).path not in (first.path, written(frame, tmp_path, ["k"]).path)


def test_what_cannot_be_encoded_is_named_with_its_row(frame, tmp_path):
    parts = [(frame.select("x"), frame["n"]), (pl.DataFrame({"x": ["1", "many"]}), pl.Series([1.0, 2.0]))]
    stream = TableStream(lambda: iter(parts), folder=tmp_path)
    model = md.MLPRegressor(preset="auto", max_iter=1, random_state=0)
    with pytest.raises(InputError, match=r"row 1 holds 'many'.*counted from training row 3,000"):
        model.fit(stream, validation=parts[0])
    assert not list(tmp_path.glob("*.bin"))


def test_a_class_that_the_sample_lacks_is_refused_unless_all_are_given(frame, tmp_path):
    sorted_rows = frame.sort("c")
    stream = stream_of(sorted_rows, ["c"], folder=tmp_path)
    held = features(frame[:50]), frame["c"][:50]
    model = md.MLPClassifier(preset="auto", hidden_layer_sizes=(4,), max_iter=1, random_state=0)
    with pytest.raises(ValueError, match=r"has classes not in `self\.classes_`"):
        model.fit(stream, validation=held)
    assert model.fit(stream, validation=held, classes=["a", "b", "c"]).classes_.tolist() == ["a", "b", "c"]


def test_a_net_learns_from_a_stream_what_it_learns_from_a_table(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=4000), "city": rng.choice(["Rome", "Oslo"], 4000)})
    y = 3.0 * frame["x"] + 2.0 * (frame["city"] == "Rome")
    train, held, test = slice(0, 3000), slice(3000, 3500), slice(3500, 4000)

    def parts():
        for start in range(0, 3000, 800):
            rows = slice(start, min(start + 800, 3000))
            yield frame[rows], y[rows]

    options = {"preset": "auto", "hidden_layer_sizes": (32,), "max_iter": 10, "random_state": 0}
    streamed = md.MLPRegressor(**options).fit(TableStream(parts), validation=(frame[held], y[held]))
    whole = md.MLPRegressor(**options).fit(frame[train], y[train], validation=(frame[held], y[held]))
    scores = [model.score(frame[test], y[test]) for model in (streamed, whole)]
    assert scores == pytest.approx([1.0, 1.0], abs=0.05)
    assert streamed.n_samples_ == whole.n_samples_ == 3000
    assert streamed.resolved_params_["batch_size"] == whole.resolved_params_["batch_size"]
    assert list(streamed.feature_names_in_) == ["x", "city"]
    md.save(streamed, tmp_path / "model.madaline")
    again = md.load(tmp_path / "model.madaline")
    np.testing.assert_array_equal(again.predict(frame[test]), streamed.predict(frame[test]))


def test_an_interrupted_stream_resumes_bit_for_bit(frame, tmp_path):
    held = features(frame[:200]), frame["n"][:200]
    options = {"preset": "auto", "hidden_layer_sizes": (8,), "max_iter": 6, "random_state": 0}
    whole = md.MLPRegressor(**options).fit(stream_of(frame, ["n"]), validation=held)

    def stop(trainer, row):
        if row["epoch"] == 3:
            trainer.stop()

    folder = tmp_path / "rows"
    folder.mkdir()
    file = tmp_path / "run.checkpoint"
    stopped = md.MLPRegressor(**options, callbacks=stop)
    stopped.fit(stream_of(frame, ["n"], folder=folder), validation=held, checkpoint=file)
    assert stopped.n_iter_ == 3
    resumed = md.MLPRegressor(**options)
    resumed.fit(stream_of(frame, ["n"], folder=folder), validation=held, checkpoint=file, resume=True)
    np.testing.assert_array_equal(resumed.predict(features(frame)), whole.predict(features(frame)))
    assert resumed.loss_curve_ == whole.loss_curve_


def test_a_temporary_folder_is_removed_with_the_stream(frame):
    stream = stream_of(frame, ["n"])
    held = features(frame[:50]), frame["n"][:50]
    md.MLPRegressor(preset="auto", hidden_layer_sizes=(4,), max_iter=1, random_state=0).fit(stream, validation=held)
    folder = stream.folder
    assert len(list(folder.iterdir())) == 1
    del stream
    gc.collect()
    assert not folder.exists()


def test_what_a_stream_needs_is_said(frame):
    stream = stream_of(frame, ["n"])
    X, y = features(frame), frame["n"]
    with pytest.raises(ConfigError, match="leave out y and sample_weight"):
        md.MLPRegressor(preset="auto").fit(stream, y)
    with pytest.raises(ConfigError, match='needs data="auto" or preset="auto"'):
        md.MLPRegressor().fit(stream)
    with pytest.raises(ConfigError, match=r"needs separate validation data: fit\(stream, validation=\(X, y\)\)"):
        md.MLPRegressor(preset="auto").fit(stream)
    with pytest.raises(ConfigError, match="needs a function that returns an iterator over parts"):
        TableStream([(X, y)])
    broken = TableStream(lambda: iter([(X[:2], [1.0, None])]))
    with pytest.raises(TargetError, match="y is missing in row 1"):
        md.MLPRegressor(preset="auto").fit(broken, validation=(X, y))


def test_a_full_disk_is_said_before_anything_is_written(frame, tmp_path):
    stream = stream_of(frame, ["n"], folder=tmp_path, n_rows=10**15)
    with pytest.raises(OSError, match=r"The encoded rows need .* GB in .*, and the disk has .* GB free"):
        md.MLPRegressor(preset="auto").fit(stream, validation=(features(frame), frame["n"]))
    assert not list(tmp_path.iterdir())


def test_a_record_keeps_the_kinds_of_numbers(tmp_path):
    rows = RowSet({"numbers": np.ones((5, 3), np.float32), "shop": np.arange(5)}, np.arange(5), np.full(5, 0.5))
    record = record_of(rows)
    assert record["x"]["shop"] == np.int32
    assert record["x"]["numbers"].shape == (3,)
    assert record["y"] == np.int64
    assert record["weight"] == np.float32
    assert record_of(RowSet(np.ones((2, 3)), np.ones((2, 2))))["y"].shape == (2,)
    with (tmp_path / "rows.bin").open("wb") as file:
        PieceWriter(file, 1000).finish()
    assert EncodedRows(tmp_path / "rows.bin", record).n_rows == 0


def encoded_file(folder, n_rows=40):
    """A file of rows in several pieces, and the records."""
    rows = RowSet(np.random.default_rng(0).normal(size=(n_rows, 3)), np.arange(n_rows))
    written = encode_stream(TableStream(lambda: iter([(0, 0), (0, 0)]), folder=folder), lambda X, y: rows, key="a")
    return written.path, written.record


def numbers(path, record):
    return np.concatenate([x for x, _ in EncodedRows(path, record).chunks(None)])


def test_any_flipped_bit_of_encoded_rows_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(table_stream, "PIECE_BYTES", 256)
    path, record = encoded_file(tmp_path)
    content = path.read_bytes()
    assert numbers(path, record).shape == (80, 3)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=f"{path.name}' is damaged: .* Delete it"):
            numbers(path, record)


def test_encoded_rows_that_were_cut_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(table_stream, "PIECE_BYTES", 256)
    path, record = encoded_file(tmp_path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match="it is not complete"):
            EncodedRows(path, record)
