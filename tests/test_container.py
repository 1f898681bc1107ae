"""Files of arrays and a document: written whole or not at all."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import re
import stat
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from madaline import container
from madaline.errors import FileFormatError

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([], dtype=np.float32), "c": np.arange(4)[::2]}


def test_arrays_and_document_come_back(tmp_path):
    document = {"kind": "thing", "numbers": [1, 2.5, float("inf")], "text": "\u00e9\u4e16"}
    container.write(tmp_path / "file", ARRAYS, document)
    arrays, found = container.read(tmp_path / "file", kind="thing")
    assert found == document
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_equal_content_is_equal_bytes(tmp_path):
    found = set()
    for number in range(20):
        container.write(tmp_path / f"{number}", ARRAYS, {"kind": "thing", "text": "same"})
        found.add((tmp_path / f"{number}").read_bytes())
    assert len(found) == 1


def test_a_document_without_arrays(tmp_path):
    container.write(tmp_path / "file", {}, {"kind": "thing"})
    assert container.read(tmp_path / "file", kind="thing") == ({}, {"kind": "thing"})


def test_any_flipped_bit_is_refused_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "file"
    container.write(path, ARRAYS, {"kind": "thing", "text": 'a "quoted" text'})
    content = path.read_bytes()
    for place in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match="/file'"):
            container.read(path, kind="thing")


def test_the_checksum_is_that_of_all_other_bytes(tmp_path):
    """Whoever has the file alone can verify it."""
    container.write(tmp_path / "file", ARRAYS, {"kind": "thing"})
    content = (tmp_path / "file").read_bytes()
    (stated,) = re.findall(rb'"sha256":"([0-9a-f]{64})"', content)
    assert hashlib.sha256(content.replace(stated, b"0" * 64)).hexdigest() == stated.decode()


def test_another_kind_is_named(tmp_path):
    container.write(tmp_path / "file", {}, {"kind": "thing"})
    with pytest.raises(FileFormatError, match="is a 'thing' file, and a 'model' file is needed"):
        container.read(tmp_path / "file", kind="model")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    container.write(path, ARRAYS, {"kind": "thing", "version": 1})

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        container.write(path, ARRAYS, {"kind": "thing", "version": 2})
    monkeypatch.undo()
    assert container.read(path, kind="thing")[1]["version"] == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_new_file_takes_the_place_of_the_old_one_and_is_not_written_into_it(tmp_path):
    """Whoever has the old one open, or reads it under another name, still has the whole of it."""
    path, other = tmp_path / "file", tmp_path / "other name"
    container.write(path, ARRAYS, {"kind": "thing", "version": 1})
    os.link(path, other)
    container.write(path, ARRAYS, {"kind": "thing", "version": 2})
    assert container.read(other, kind="thing")[1]["version"] == 1
    assert container.read(path, kind="thing")[1]["version"] == 2


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        container.write(tmp_path / "file", {}, {"kind": object()})
    with pytest.raises(OSError, match=r"There is no folder .* to write 'file'"):
        container.write(tmp_path / "no" / "file", {}, {"kind": "thing"})
    assert not list(tmp_path.iterdir())


def test_a_file_may_be_read_by_whom_files_may_be_read(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    container.write(tmp_path / "file", {}, {"kind": "thing"})
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "file")]
    assert modes[0] == modes[1]


def test_the_permissions_of_a_file_that_is_replaced_are_kept(tmp_path):
    path = tmp_path / "file"
    container.write_whole(path, b"old")
    path.chmod(0o600)
    container.write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_a_file_that_was_exchanged_while_it_was_written_does_not_take_the_place(tmp_path):
    """The content goes to the file that was created, whatever its name means by then."""
    victim, path = tmp_path / "victim", tmp_path / "file"
    victim.write_bytes(b"precious")

    def exchanged():
        with container.replacing(path) as file:
            (beside,) = tmp_path.glob(".file.*.part")
            beside.unlink()
            beside.symlink_to(victim)
            file.write(b"new")

    with pytest.raises(OSError, match="was exchanged for another file"):
        exchanged()
    assert victim.read_bytes() == b"precious"
    assert [entry.name for entry in tmp_path.iterdir()] == ["victim"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    for name in (".file.0123abcd.part", ".other.0123abcd.part", "file", "file.part"):
        (tmp_path / name).touch()
    container.remove_unfinished(tmp_path / "file")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".other.0123abcd.part", "file", "file.part"]


def test_a_file_that_lists_arrays_without_end_is_refused_before_they_are_read(tmp_path):
    item = b'"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    head = b"{" + b",".join(item % k for k in range(container.MOST_ARRAYS + 1)) + b"}"
    (tmp_path / "file").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(FileFormatError, match="lists 100,001 arrays, and at most 100,000 are allowed"):
        container.read(tmp_path / "file", kind="thing")


def raw_file(path, header, data=b""):
    """A safetensors file with this header."""
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("dtype", ["BF16", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F4", "F6_E2M3"])
def test_numbers_that_numpy_has_not_are_named(dtype, tmp_path):
    size = {"BF16": 8, "F4": 2, "F6_E2M3": 3}.get(dtype, 4)
    header = {"__metadata__": {"madaline": '{"kind": "thing"}'}}
    header["x"] = {"dtype": dtype, "shape": [4], "data_offsets": [0, size]}
    path = raw_file(tmp_path / "file", header, b"\0" * size)
    with pytest.raises(FileFormatError, match=f"array 'x' has dtype {dtype}, which is not supported"):
        container.read(path, kind="thing")


@pytest.mark.parametrize("shape", [[0, 2**62], [0] * 70, [1] * 70, [2**63, 0]], ids=str)
def test_shapes_that_numpy_has_not_are_refused(shape, tmp_path):
    size = 0 if 0 in shape else 4
    header = {"__metadata__": {"madaline": '{"kind": "thing"}'}}
    header["x"] = {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}
    with pytest.raises(FileFormatError, match="is damaged or not a madaline file"):
        container.read(raw_file(tmp_path / "file", header, b"\0" * size), kind="thing")


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="is not a regular file"):
        container.read(tmp_path / "pipe", kind="thing")


@pytest.mark.parametrize(
    "error", [AttributeError("a"), IndexError("a"), MemoryError(), AssertionError(), KeyError("a")]
)
def test_every_failure_of_a_reader_is_a_sentence(error):
    with pytest.raises(FileFormatError, match=r"^'file' is damaged or not a Keras file: .+\.$"), reading(error):
        pass


def test_a_panic_of_a_reader_in_rust_is_a_sentence():
    """It is no Exception, so that only those who look for it catch it."""
    panic = pl.exceptions.PanicException("index out of bounds")
    assert not isinstance(panic, Exception)
    with pytest.raises(FileFormatError, match="not a Keras file: index out of bounds"), reading(panic):
        pass


def test_what_is_no_failure_passes():
    for error in (KeyboardInterrupt(), SystemExit(1), FileFormatError("a sentence")):
        with pytest.raises(type(error)), reading(error):
            pass


@contextlib.contextmanager
def reading(error):
    with container.reading("file", "a Keras file"):
        yield
        raise error


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file closed by its destructor
def test_ctrl_c_at_any_moment_of_writing_leaves_no_file_open_and_the_old_or_the_new_one(tmp_path, request):
    """A signal handler runs between two instructions of Python; here it runs once between every two of them."""
    path, own = tmp_path / "file", container.__file__
    path.write_bytes(b"old")
    container.write_whole(path, b"new")  # imports
    moment, is_over = 0, False
    gc.freeze()  # a collection then looks only at the objects of this test, not at those of all modules
    request.addfinalizer(gc.unfreeze)
    while not is_over:
        seen = 0

        def trace(frame, event, arg):
            nonlocal seen
            if frame.f_code.co_filename != own or frame.f_code.co_name not in ("replacing", "write_whole"):
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                seen += 1
                if seen == moment + 1:  # noqa: B023 - the trace is used in this turn only
                    raise KeyboardInterrupt
            return trace

        before = set(open_files())
        sys.settrace(trace)
        try:
            container.write_whole(path, b"new")
            is_over = True
        except KeyboardInterrupt:
            moment += 1
        finally:
            sys.settrace(None)
        gc.collect()
        assert not [name for name in set(open_files()) - before if ".part" in name], moment
        assert path.read_bytes() in (b"old", b"new")
        container.remove_unfinished(path)  # what an interrupt of the removal itself left
        assert [each.name for each in tmp_path.iterdir()] == ["file"]
        path.write_bytes(b"old")
    assert moment > 50


def open_files():
    """The names of the open files, where the system tells them."""
    folder = Path("/proc/self/fd")
    for entry in folder.iterdir() if folder.exists() else ():
        with contextlib.suppress(OSError):
            yield str(entry.readlink())
