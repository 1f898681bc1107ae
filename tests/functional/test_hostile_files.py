"""Files made to do harm: each gives a clear error, in little memory and without hanging."""

from __future__ import annotations

import contextlib
import json
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
from functional.golden_files import GOLDEN
from madaline import checksum, container, plain
from madaline.errors import FileFormatError
from madaline.estimators import files  # noqa: F401 - imported before memory is counted

LARGEST = 64 * 2**20
"Bytes that reading a file of a few kilobytes may take at most."
FILES = [path for path in sorted(GOLDEN.glob("*.madaline")) if not path.stem.startswith("density")]
"Those of all kinds; one density more would take long and show the same."


def raw(header, data=b"", length=None):
    """A safetensors file with this header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def document(**changes):
    """A whole file's description with some entries changed."""
    return container.read(GOLDEN / "model_1.madaline", kind="model")[1] | changes


def with_document(text):
    """A file whose description is this text, with the right checksum, so that the description is read."""
    header = {"__metadata__": {"madaline": text}, "x": tensor()}
    return b"".join(checksum.sealed(raw(header, b"\0" * 4)))


HOSTILE = {
    "header longer than the file": raw({}, length=2**40),
    "header of negative length": raw({}, length=2**64 - 1),
    "header that is no JSON": raw(b"{" * 1000),
    "header nested deeply": raw(b'{"x":' * 100_000),
    "header that is a list": raw([1, 2, 3]),
    "shape of an enormous product": raw({"x": tensor(shape=(2**62, 2**62))}, b"\0" * 4),
    "shape of nothing times everything": raw({"x": tensor(shape=(0, 2**62), offsets=(0, 0))}),
    "shape that is negative": raw({"x": tensor(shape=(-1,))}, b"\0" * 4),
    "offsets beyond the end": raw({"x": tensor(offsets=(0, 2**40))}, b"\0" * 4),
    "offsets reversed": raw({"x": tensor(offsets=(4, 0))}, b"\0" * 4),
    "offsets that overlap": raw({"x": tensor(), "y": tensor()}, b"\0" * 4),
    "unknown type": raw({"x": tensor("F1")}, b"\0" * 4),
    "type NumPy has not": raw({"__metadata__": {"madaline": "{}"}, "x": tensor("BF16", offsets=(0, 2))}, b"\0" * 2),
    "metadata that are numbers": raw({"__metadata__": {"madaline": 3}}),
    "no description": raw({"x": tensor()}, b"\0" * 4),
    "description nested deeply": with_document("[" * 200_000),
    "description nested deeply and closed": with_document("[" * 50_000 + "]" * 50_000),
    "description that is a number": with_document("1" * 10_000),
    "description that is NaN": with_document("NaN"),
    "description with half a character": with_document('{"kind": "model", "net": "\\ud800"}'),
    "description of another kind": with_document('{"kind": ["model"]}'),
    "description without a net": with_document('{"kind": "model", "format": 1}'),
    "estimator without a class": with_document('{"kind": "estimator", "format": 1}'),
    "estimator of any class": with_document('{"kind": "estimator", "format": 1, "class": "os.system"}'),
    "estimator that is a function": with_document('{"kind": "estimator", "format": 1, "class": "load"}'),
    "a wide net without weights": with_document(json.dumps(document(
        net={"kind": "layer", "name": "linear", "n_out": 2**31 - 1}, inputs={"shape": [2**31 - 1], "dtype": "float32"}
    ))),
    "an input of many axes": with_document(json.dumps(document(inputs={"shape": [2] * 10_000, "dtype": "float32"}))),
    "inputs nested deeply": with_document(
        json.dumps(document(inputs=0)).replace('"inputs": 0', '"inputs": ' + '{"listed": [' * 400 + "]}" * 400)
    ),
    "a net in itself": with_document(json.dumps(document(
        net={"kind": "layer", "name": "sequential", "layers": [{"kind": "layer", "name": "same", "number": 0}]}
    ))),
}  # fmt: skip


def refused(path):
    """Read it, and count the memory."""
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError) as error:
            md.load(path)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < LARGEST
    assert len(str(error.value)) < 5_000


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_made_to_do_harm_is_refused(name, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(HOSTILE[name])
    refused(path)


def test_too_many_layers_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "MAX_DESCRIPTIONS", 1000)
    net = {"kind": "layer", "name": "sequential", "layers": [{"kind": "layer", "name": "identity"}] * 1000}
    (tmp_path / "file").write_bytes(with_document(json.dumps(document(net=net))))
    with pytest.raises(FileFormatError, match="more than 1000 descriptions"):
        md.load(tmp_path / "file")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["linear", "sequential", "layer", "same", "custom", "float32", "int64", 2**31 - 1, 2**62]),
    lambda inside: st.lists(inside, max_size=5) | st.dictionaries(
        st.sampled_from(["kind", "name", "layers", "n_out", "shape", "dtype", "named", "listed", "number", "trainable"])
        | st.text(max_size=5), inside, max_size=6),
    max_leaves=30,
)  # fmt: skip


@given(JSON, st.sampled_from(["net", "inputs", "dtype", "format"]))
def test_any_json_for_a_part_of_a_model_gives_a_model_or_an_error_that_says_so(tmp_path_factory, data, key):
    path = tmp_path_factory.getbasetemp() / "any_json"
    path.write_bytes(with_document(json.dumps(document(**{key: data}))))
    try:
        md.load(path)
    except FileFormatError:
        return
    assert key in ("dtype", "inputs")


def places(tree, way=()):
    """Every place in nested dicts and lists."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from places(value, (*way, key))


@pytest.mark.parametrize("golden", FILES, ids=lambda path: path.stem)
@given(data=st.data())
def test_any_change_of_a_description_gives_a_model_or_an_error_that_says_so(golden, tmp_path_factory, data):
    arrays, found = container.read(golden, kind=("model", "estimator"))
    ways = list(places(found))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(ways))
        inside = found
        try:
            for key in way:
                inside = inside[key]
            inside[last] = data.draw(JSON)
        except (KeyError, IndexError, TypeError):
            continue  # a change before took that place away
    path = tmp_path_factory.getbasetemp() / f"changed {golden.name}"
    container.write(path, arrays, found)
    with contextlib.suppress(FileFormatError):
        md.load(path)


@pytest.mark.parametrize("golden", FILES, ids=lambda path: path.stem)
@given(data=st.data())
def test_any_change_of_bytes_gives_a_model_or_an_error_that_says_so(golden, tmp_path_factory, data):
    content = bytearray(golden.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["bit", "cut", "twice", "byte"]))
        if how == "bit":
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        elif how == "byte":
            content[place] = data.draw(st.integers(0, 255))
        elif how == "cut":
            del content[place : place + data.draw(st.integers(1, 50))]
        else:
            content[place:place] = content[place : place + data.draw(st.integers(1, 50))]
        if not content:
            content = bytearray(b"x")
    path = tmp_path_factory.getbasetemp() / f"bytes {golden.name}"
    path.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        md.load(path)


def test_weights_that_are_not_finite_are_kept_as_they_are(tmp_path):
    """A model that diverged is still a model."""
    model = md.Linear(2).init(2)
    model.params["W"][...] = [[np.nan, np.inf], [-np.inf, 1.0]]
    md.save(model, tmp_path / "file")
    np.testing.assert_array_equal(md.load(tmp_path / "file").params["W"], model.params["W"])


SPOKEN = {"kind": "activation", "name": "tanh"}
TEXTS = {"texts": ["a", "b"]}


@pytest.mark.parametrize(
    "classes",
    [
        {"list": [{"description": SPOKEN}, {"description": SPOKEN}]},
        {"tuple": ["a", "b"]},
        {"description": SPOKEN},
        {"dict": [["a", "b"]]},
        {"texts": [{"a": 1}, "b"]},
        {"texts": [None, ["a"], ["b"]]},
        {"texts": "ab"},
        {"list": [TEXTS, {"list": ["a", "b"]}]},
        {"classes": {"kind": "binary", "classes": TEXTS, "is_sparse": False}},
        "ab",
        2,
        None,
    ],
    ids=json.dumps,
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("where", ["classes_", "class_encoding_"])
def test_classes_are_strings_or_numbers(classes, where, tmp_path):
    """What a file says of classes is written into exported code, so nothing else may stand there."""
    X = np.arange(8.0).reshape(-1, 1)
    md.classical.Perceptron().fit(X, np.array(["a", "b"])[np.arange(8) % 2]).save(tmp_path / "file")
    arrays, found = container.read(tmp_path / "file", kind="estimator")
    inside = {"classes": {"kind": "binary", "classes": classes, "is_sparse": False}}
    found["learned"][where] = classes if where == "classes_" else inside
    container.write(tmp_path / "file", arrays, found)
    with pytest.raises(FileFormatError, match="classes"):
        md.load(tmp_path / "file")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("y", [["a", "b"], [True, False], [1, 2], [1.0, 2.0]])
def test_classes_of_every_plain_type_come_back(y, tmp_path):
    model = md.classical.Perceptron(max_iter=2).fit(np.arange(8.0).reshape(-1, 1), np.array(y)[np.arange(8) % 2])
    model.save(tmp_path / "file")
    again = md.load(tmp_path / "file")
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.classes_.dtype == model.classes_.dtype


def doubled(levels):
    """A net of two to the power of ``levels`` layers, in a few bytes for each level."""
    net = {"kind": "layer", "name": "identity"}
    for number in range(levels):
        net = {
            "kind": "layer",
            "name": "sequential",
            "layers": [net, {"kind": "layer", "name": "same", "number": number}],
        }
    return net


@pytest.mark.parametrize("levels", [14, 18, 30])
def test_references_to_references_are_counted(levels, tmp_path):
    (tmp_path / "file").write_bytes(with_document(json.dumps(document(net=doubled(levels)))))
    assert (tmp_path / "file").stat().st_size < 10_000
    with pytest.raises(FileFormatError, match="expand to more than"):
        md.load(tmp_path / "file")
    refused(tmp_path / "file")


def test_a_layer_may_be_used_in_many_places(tmp_path):
    block = md.Sequential(*(md.Linear(2) for _ in range(5)))
    model = md.Sequential(*([block] * 200)).init(2)
    md.save(model, tmp_path / "file")
    again = md.load(tmp_path / "file")
    assert again.net[0] is again.net[199]
    assert again.params.flat.tobytes() == model.params.flat.tobytes()
