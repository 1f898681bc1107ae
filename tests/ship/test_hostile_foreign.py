"""Files of other frameworks that are damaged or made to do harm: each gives a sentence, in little memory."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zipfile

import h5py
import numpy as np
import pytest
from foreign_models import FOREIGN
from hypothesis import given, settings
from hypothesis import strategies as st

import madaline as md
from madaline.errors import FileFormatError

LARGEST = 100 * 2**20
"Bytes that reading a small file may take at most."
KERAS = FOREIGN / "keras_plain.keras"
MB = 2**20


def parts():
    """The description and the weights of a file that Keras wrote."""
    with zipfile.ZipFile(KERAS) as archive:
        return json.loads(archive.read("config.json")), archive.read("model.weights.h5")


def zipped(path, config, weights, method=zipfile.ZIP_DEFLATED):
    """A ``.keras`` file; the weights are bytes, or how many megabytes of zeros there are."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("config.json", json.dumps(config))
        with archive.open("model.weights.h5", "w") as file:
            for piece in [weights] if isinstance(weights, bytes) else [b"\0" * MB] * weights:
                file.write(piece)
    return path


def refused(path, message):
    """Read it, and count the memory."""
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=message):
            md.ship.from_keras(path)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < LARGEST


def wide(config, units):
    """The description of a net whose first layer has so many units."""
    config["config"]["layers"][1]["config"]["units"] = units
    return config


def test_a_file_that_unpacks_to_much_more_than_the_net_needs_is_refused(tmp_path):
    config, _ = parts()
    path = zipped(tmp_path / "bomb.keras", config, 200)
    assert path.stat().st_size < MB
    refused(path, r"'model.weights.h5' unpacks to 209,715,200 bytes")


def test_a_net_that_needs_much_does_not_help_it(tmp_path):
    config, _ = parts()
    refused(zipped(tmp_path / "bomb.keras", wide(config, 2**28), 200), "'model.weights.h5' unpacks to")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_the_compression_that_can_be_bounded_is_read(method, tmp_path):
    config, weights = parts()
    refused(zipped(tmp_path / "bomb.keras", config, weights, method), "is compressed in a way")


def test_a_declared_size_that_is_not_true_does_not_help(tmp_path):
    config, _ = parts()
    path = zipped(tmp_path / "bomb.keras", config, 200)
    content = path.read_bytes()
    size = struct.pack("<I", 200 * MB)
    assert content.count(size) == 2
    path.write_bytes(content.replace(size, struct.pack("<I", 1000)))
    refused(path, "is damaged or not a Keras 3 file")


def test_a_description_without_end_is_refused(tmp_path):
    path = tmp_path / "bomb.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("config.json", "w") as file:
            for _ in range(200):
                file.write(b" " * MB)
        archive.writestr("model.weights.h5", b"")
    refused(path, "'config.json' unpacks to")


def test_a_file_compressed_anew_is_still_read(tmp_path):
    config, weights = parts()
    X = np.load(FOREIGN / "keras_plain.npz")["X"]
    expected = md.ship.from_keras(KERAS)(X)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        found = md.ship.from_keras(zipped(tmp_path / "again.keras", config, weights, method))(X)
        np.testing.assert_array_equal(found, expected)


def changed_weights(tmp_path, change, units=None):
    """A ``.keras`` file whose first layer has other weights."""
    config, weights = parts()
    (tmp_path / "changed.h5").write_bytes(weights)
    with h5py.File(tmp_path / "changed.h5", "r+") as file:
        name = next(key for key, group in file["layers"].items() if len(group["vars"]))
        change(file["layers"][name]["vars"])
    if units:
        wide(config, units)
    return zipped(tmp_path / "changed.keras", config, (tmp_path / "changed.h5").read_bytes())


def test_an_array_that_takes_no_room_in_the_file_is_refused(tmp_path):
    n_in = parts()[0]["config"]["layers"][0]["config"]["batch_shape"][1]

    def change(group):
        del group["0"]
        group.create_dataset("0", (n_in, 2**28), "f4", chunks=(1, 2**16))

    refused(changed_weights(tmp_path, change, 2**28), r"takes \d+ bytes in the file")


def test_an_array_of_another_shape_is_refused_before_it_is_read(tmp_path):
    def change(group):
        del group["0"]
        group.create_dataset("0", (2**20, 2**20), "f8", chunks=(1, 2**16))

    refused(changed_weights(tmp_path, change), r"'0.W' have shape \(1048576, 1048576\)")


@pytest.mark.parametrize("kind", ["external storage", "external link", "soft link", "virtual"])
def test_other_files_are_not_read(kind, tmp_path):
    """What a file refers to could be any file of the user's."""
    secret = tmp_path / "secret.h5"

    def change(group):
        shape, dtype = group["0"].shape, group["0"].dtype
        with h5py.File(secret, "w") as file:
            file["0"] = np.ones(shape, dtype)
        del group["0"]
        if kind == "external storage":
            group.create_dataset("0", shape, dtype, external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
        elif kind == "external link":
            group["0"] = h5py.ExternalLink(str(secret), "0")
        elif kind == "soft link":
            group["0"] = h5py.SoftLink("/layers")
        else:
            layout = h5py.VirtualLayout(shape, dtype)
            layout[:] = h5py.VirtualSource(secret, "0", shape)
            group.create_virtual_dataset("0", layout)

    refused(changed_weights(tmp_path, change), "refers to")


@pytest.mark.parametrize("value", [np.array([b"a"]), np.ones(3, np.int64), np.ones(3, np.complex64)], ids=str)
def test_weights_that_are_no_numbers_are_refused(value, tmp_path):
    def change(group):
        shape = group["0"].shape
        del group["0"]
        group["0"] = np.resize(value, shape)

    refused(changed_weights(tmp_path, change), "is not an array of floats")


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(config=[]),
        lambda d: d["config"].update(layers={"a": 1}),
        lambda d: d["config"]["layers"].append(None),
        lambda d: d["config"]["layers"][0]["config"].update(batch_shape=None),
        lambda d: d["config"]["layers"][0]["config"].update(batch_shape=[None, -4]),
        lambda d: d["config"]["layers"][0]["config"].update(batch_shape=[None, [4]]),
        lambda d: d["config"]["layers"][1]["config"].update(units=-1),
        lambda d: d["config"]["layers"][1]["config"].update(units=2.5),
        lambda d: d["config"]["layers"][1]["config"].update(units=10**400),
        lambda d: d["config"]["layers"][1]["config"].update(use_bias="yes"),
        lambda d: d["config"]["layers"][1]["config"].update(name={"a": 1}),
        lambda d: d["config"]["layers"][1]["config"].pop("name"),
        lambda d: d["config"]["layers"].extend(d["config"]["layers"][1:]),
        lambda d: d["config"]["layers"].clear(),
    ],
)
def test_a_description_that_is_not_right_is_a_sentence(change, tmp_path):
    config, weights = parts()
    change(config)
    with pytest.raises(FileFormatError):
        md.ship.from_keras(zipped(tmp_path / "changed.keras", config, weights))


def test_the_heap_of_texts_is_not_read(tmp_path):
    """HDF5 can hang on a damaged one."""
    config, weights = parts()
    assert b"GCOL" in weights
    X = np.load(FOREIGN / "keras_plain.npz")["X"]
    found = md.ship.from_keras(zipped(tmp_path / "damaged.keras", config, weights.replace(b"GCOL", b"\0\0\0\0")))(X)
    np.testing.assert_array_equal(found, md.ship.from_keras(KERAS)(X))


@settings(max_examples=60)
@given(data=st.data())
def test_any_change_of_a_keras_file_gives_a_model_or_a_sentence(data, tmp_path_factory):
    config, weights = parts()
    content = bytearray(json.dumps(config).encode() if data.draw(st.booleans()) else weights)
    is_config = content[:1] == b"{"
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "any.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", bytes(content) if is_config else json.dumps(config))
        archive.writestr("model.weights.h5", weights if is_config else bytes(content))
    try:
        model = md.ship.from_keras(path)
    except FileFormatError:
        return
    assert isinstance(model, md.Model)


TORCH = "Sequential((0): Linear(in_features=3, out_features=2, bias=True))"


@pytest.mark.parametrize("dtype", ["BF16", "F8_E5M2"])
def test_weights_of_torch_in_numbers_that_numpy_has_not_are_named(dtype, tmp_path):
    size = 2 if dtype == "BF16" else 1
    header = json.dumps({"0.weight": {"dtype": dtype, "shape": [2, 3], "data_offsets": [0, 6 * size]}}).encode()
    (tmp_path / "file").write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 6 * size)
    with pytest.raises(FileFormatError, match=f"'0.weight' has dtype {dtype}, which is not supported"):
        md.ship.from_torch(tmp_path / "file", TORCH)


@settings(max_examples=60)
@given(data=st.data())
def test_any_change_of_a_torch_file_gives_a_model_or_a_sentence(data, tmp_path_factory):
    content = bytearray((FOREIGN / "torch_plain.safetensors").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, min(len(content), 600) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    path.write_bytes(content)
    try:
        model = md.ship.from_torch(path, (FOREIGN / "torch_plain.txt").read_text())
    except FileFormatError:
        return
    assert isinstance(model, md.Model)
