"""Models as files: they come back whole, and nothing a file holds does harm."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
from madaline import container
from madaline.errors import FileFormatError, MadalineError
from madaline.graph.tree import flatten
from nn.layer_cases import CASES

NET = md.Sequential(md.Linear(4), md.BatchNorm(), "relu", md.Residual(md.Linear(4), "tanh"), md.Linear(2))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.madaline"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_kind_of_layer_comes_back_as_it_was(case, dtype, path):
    model = case.layer.init(case.inputs(), seed=3, dtype=dtype)
    md.save(model, path)
    again = md.load(path)
    assert again.net == model.net
    assert again.network.dtype == model.network.dtype
    assert list(again.params) == list(model.params)
    assert again.params.flat.tobytes() == model.params.flat.tobytes()
    assert again.state.flat.tobytes() == model.state.flat.tobytes()
    one, other = flatten(model(case.inputs()))[0], flatten(again(case.inputs()))[0]
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_trained_model_predicts_the_same_after_it_was_saved(path, rng):
    X = rng.normal(size=(50, 3))
    trainer = md.Trainer(NET)
    trainer.fit(X, X[:, :2], epochs=3)
    md.save(trainer.model, path)
    np.testing.assert_array_equal(md.load(path)(X), trainer.model(X))
    tuned = md.Trainer(md.load(path))
    tuned.fit(X, X[:, :2], epochs=1)


def test_frozen_and_shared_layers_stay_so(path):
    shared = md.Linear(3)
    net = md.Sequential(shared, "relu", shared, md.Linear(2, trainable=False))
    md.save(net.init(3), path)
    again = md.load(path)
    assert again.net[0] is again.net[2]
    assert again.network.n_trainable == 12


def test_formulas_of_ones_own_are_saved_as_graphs(path, rng):
    def bump(x):
        return np.exp(-x * x) + 0.1 * x

    model = md.Sequential(md.Linear(3), md.nn.Activation(bump), md.Linear(1)).init(2)
    md.save(model, path)
    X = rng.normal(size=(5, 2)).astype("float32")
    np.testing.assert_array_equal(md.load(path)(X), model(X))


def test_named_inputs_come_back(path, rng):
    net = md.Sequential(md.Parallel(a=md.Embedding(5, 2), b=md.Linear(2)), md.Concat(), md.Linear(1))
    X = {"a": rng.integers(5, size=9), "b": rng.normal(size=(9, 4))}
    model = net.init(X)
    md.save(model, path)
    np.testing.assert_array_equal(md.load(path)(X), model(X))


def test_something_else_is_not_saved(path):
    with pytest.raises(TypeError, match="save needs a model"):
        md.save(NET, path)
    assert not path.exists()


def test_a_run_folder_is_loaded_by_its_model(tmp_path):
    md.save(NET.init(3), tmp_path / "model.madaline")
    assert md.load(tmp_path).net == NET
    assert md.load(str(tmp_path)).net == NET


def test_a_file_that_is_not_there_or_not_one_of_ours_is_said(path, tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        md.load(path)
    with pytest.raises(FileFormatError, match=r"is a folder without a model\.madaline"):
        md.load(tmp_path)
    for content in (b"", b"hello", b"\x00" * 100, b"\xff" * 100, struct.pack("<Q", 1 << 62)):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match="damaged or not a madaline file"):
            md.load(path)
    from safetensors.numpy import save

    path.write_bytes(save({"x": np.zeros(3)}))
    with pytest.raises(FileFormatError, match="was not written by madaline"):
        md.load(path)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model"
    md.save(NET.init(3), path)
    return path.read_bytes()


def test_a_file_cut_off_anywhere_is_refused(content, path):
    for length in [*range(0, 300, 7), *range(300, len(content), 101), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError):
            md.load(path)


@given(st.data())
def test_bytes_changed_anywhere_give_a_model_or_an_error_that_says_so(content, tmp_path_factory, data):
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 8))):
        changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(changed)
    try:
        model = md.load(path)
    except FileFormatError:
        return
    assert isinstance(model, md.Model)


def changed_document(content, path, change):
    """The file with another description, otherwise whole."""
    path.write_bytes(content)
    arrays, document = container.read(path, kind="model")
    change(document)
    container.write(path, arrays, document)
    return path


def places(tree, way=()):
    """Every place in nested dicts and lists."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from places(value, (*way, key))


ODD = [None, -1, 0, 1e308, 2**70, "x", "", [], {}, True, [[[]]], {"kind": "layer"}, float("nan"), "relu" * 1000]


def test_descriptions_changed_anywhere_give_a_model_or_an_error_that_says_so(content, path):
    path.write_bytes(content)
    document = container.read(path, kind="model")[1]
    ways = [way for way in places(document) if way != ("kind",)]
    rng = np.random.default_rng(0)
    refused = 0
    for way in ways:
        value = ODD[rng.integers(len(ODD))]

        def change(document, way=way, value=value):
            for key in way[:-1]:
                document = document[key]
            document[way[-1]] = value

        changed_document(content, path, change)
        try:
            md.load(path)
        except FileFormatError:
            refused += 1
    assert refused > 0.7 * len(ways)


def test_a_file_that_asks_for_more_than_it_holds_is_refused_before_anything_is_made(content, path):
    def change(document):
        text = json.dumps(document["net"]).replace('"n_out": 4', '"n_out": 2000000000')
        document["net"] = json.loads(text)

    changed_document(content, path, change)
    with pytest.raises(FileFormatError, match="the file holds"):
        md.load(path)


def test_a_deep_description_is_refused(content, path):
    def change(document):
        for _ in range(300):
            document["net"] = {"kind": "layer", "name": "sequential", "layers": [document["net"]]}

    changed_document(content, path, change)
    with pytest.raises(FileFormatError):
        md.load(path)


def test_a_later_format_asks_for_a_later_version(content, path):
    changed_document(content, path, lambda document: document.update(format=99))
    with pytest.raises(FileFormatError, match=r"format 99; this version reads up to 1\. Update madaline"):
        md.load(path)


def test_errors_are_madalines(content, path):
    path.write_bytes(content[:100])
    with pytest.raises(MadalineError):
        md.load(path)
