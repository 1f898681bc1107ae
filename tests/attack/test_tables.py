"""Tables made to do harm: work that grows as the file does, clear errors, nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl
import pytest

from attack.work import lines_run
from madaline.data.reading.header import NUMBER_LIKE, unique_names
from madaline.data.reading.panics import readable, without_panic_text
from madaline.data.reading.table_file import read_table
from madaline.data.reading.temporary import remove_left, temporary_folder
from madaline.errors import FileFormatError

ROWS = b"".join(b"%d,%d\n" % (k, k % 2) for k in range(50))


@contextmanager
def at_most(seconds):
    """End a call that would otherwise take minutes or hours: a guard, not a measurement."""

    def ring(*_):
        raise AssertionError(f"it takes more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


GROWING = {
    "columns of one name": lambda n: b",".join([b"a"] * n) + b"\n" + (b",".join([b"1"] * n) + b"\n") * 3,
    "names that later columns have": lambda n: (
        b",".join([b"a"] * n + [b"a_%d" % k for k in range(n)]) + b"\n" + (b",".join([b"1"] * 2 * n) + b"\n") * 3
    ),
    "columns without a name": lambda n: b"," * (n - 1) + b"\n" + (b",".join([b"1"] * n) + b"\n") * 3,
    "lines in a quoted field": lambda n: b"a,y\n" + ROWS + b'"' + b"x\n" * 20 * n + b'",1\n' + ROWS,
    "loose quotes": lambda n: b"a,y\n" + b'5" pipe,1\n' * n,
    "categories": lambda n: b"a,y\n" + b"".join(b"c%d,%d\n" % (k, k % 2) for k in range(n)),
}


@pytest.mark.parametrize("kind", GROWING)
def test_the_work_of_the_reader_grows_as_the_file_does(kind, monkeypatch):
    monkeypatch.setattr("madaline.data.reading.encoding.BLOCK", 1 << 10)  # so that records span many blocks
    small, large = (lines_run(lambda n=n: read_table(io.BytesIO(GROWING[kind](n)))) for n in (300, 1200))
    assert large < 4.6 * small


LONG = {
    "digits": b"1" * 100_000,
    "digits and a letter": b"1" * 100_000 + b"x",
    "groups of digits": b"1.111" * 20_000 + b"x",
    "digits and blanks": b"1 " * 50_000 + b"x",
    "blanks": b" " * 100_000,
    "blanks and a letter": b" " * 100_000 + b"x",
    "dashes": b"-" * 100_000,
    "parts of dates": b"1/" * 50_000,
    "quotes": b'"' + b'""' * 50_000 + b'"',
    "a number of 5,000 digits": b"9" * 5000,
    "an exponent of 5,000 digits": b"1e" + b"9" * 5000,
}


@pytest.mark.parametrize("place", ["cell", "header"])
@pytest.mark.parametrize("kind", LONG)
def test_a_long_cell_or_header_is_read(kind, place):
    first, last = (LONG[kind], b"") if place == "header" else (b"a", LONG[kind] + b";1\n")
    with at_most(20):
        frame, _ = read_table(io.BytesIO(first + b";y\n" + ROWS.replace(b",", b";") + last))
    assert frame.width == 2
    assert frame.height in (50, 51)


def test_names_of_5000_digits_are_names():
    header = b",".join(digit * 5000 for digit in (b"9", b"8", b"7"))
    frame, _ = read_table(io.BytesIO(header + b"\n" + b"1,2,3\n4,5,6\n" * 20))
    assert frame.width == 3


@pytest.mark.parametrize("text", ["1", "-1.5", "1,234.5", "(3)", "$ 4", "1e5", "2%", "12/05/2020", ".5", " 7 "])
def test_the_pattern_of_numbers_still_knows_numbers(text):
    assert NUMBER_LIKE.match(text)


@pytest.mark.parametrize("text", ["", "a", "1a", "--", ".", "x1", "1 of 2"])
def test_the_pattern_of_numbers_knows_what_is_none(text):
    assert not NUMBER_LIKE.match(text)


def test_names_stay_different_in_every_case():
    names, _, notes = unique_names(["a", "a", "a_2", "a", "", "a_3"], 7)
    assert len(set(names)) == 7
    assert names[:4] == ("a", "a_4", "a_2", "a_5")
    assert "'a' names more than one column" in str(notes[0])


SIGNS = ["~", "^", "|", "\u00a6", "#", ":", "\x01", "\x1f", "::", "||", "~|~", "##", "<>", "|;"]


@pytest.mark.parametrize("sign", SIGNS, ids=repr)
def test_a_delimiter_is_told_from_the_consistency_of_the_lines(sign):
    names = ["height", "city", "day", "n"]
    rows = [[f"{k}.5", ["New York", "Rome"][k % 2], f"2024-01-{k % 28 + 1:02d}", str(k)] for k in range(40)]
    text = "\n".join(sign.join(row) for row in [names, *rows]) + "\n"
    frame, _ = read_table(io.BytesIO(text.encode()))
    assert frame.columns == names
    assert frame["height"].to_list() == [k + 0.5 for k in range(40)]


def test_a_delimiter_of_two_characters_may_stand_in_quotes():
    text = 'name::size\n"a::b"::1\nc::2\n"d"::3\n'
    frame, _ = read_table(io.BytesIO(text.encode()), delimiter="::")
    assert frame["name"].to_list() == ["a::b", "c", "d"]


def test_two_characters_that_values_have_are_no_delimiter():
    frame, _ = read_table(io.BytesIO(b"a,b--c,d\n1,x--y,2\n3,z--w,4\n"))
    assert frame.columns == ["a", "b--c", "d"]


def test_a_damaged_parquet_file_is_one_sentence(tmp_path, capfd):
    """Whatever byte is wrong: a table, or a FileFormatError of one line, and nothing else on the screen."""
    pl.DataFrame({"a": list(range(200)), "b": [f"x{k % 7}" for k in range(200)]}).write_parquet(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    path = tmp_path / "damaged.parquet"
    sentences = []
    for place in range(4, len(content), max(1, len(content) // 150)):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            read_table(path)
        except FileFormatError as error:
            sentences.append(str(error))
    assert len(sentences) > 20
    assert all("damaged.parquet" in sentence and "\n" not in sentence for sentence in sentences)
    assert "panicked" not in capfd.readouterr().err


def test_folders_of_killed_readers_are_removed_and_those_of_others_are_not(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    kept = [f"madaline-{os.getpid()}-abc", "madaline-abc", f"other-{dead.pid}-abc", "madaline-notes-1"]
    for name in (*kept, f"madaline-{dead.pid}-abc"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "table").touch()
    remove_left(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_a_temporary_folder_names_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ExitStack() as stack:
        folder = temporary_folder(stack)
        assert folder.name.startswith(f"madaline-{os.getpid()}-")
        assert folder.parent == Path(tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_compressed_tables_are_read_and_cut_ones_are_refused(pack):
    packed = pack(b"a,y\n" + ROWS)
    assert read_table(io.BytesIO(packed))[0].shape == (50, 2)
    with pytest.raises(FileFormatError, match="is a damaged compressed file"):
        read_table(io.BytesIO(packed[:-20]))


def test_a_web_address_is_refused_with_a_sentence():
    with pytest.raises(FileFormatError, match=r"is a web address, and only files are read\. Download it"):
        read_table("https://example.org/table.csv")


def test_a_panic_of_the_reader_is_not_printed(capfd):
    """Its text is written by a thread of the reader, with a backtrace."""

    def read():
        with readable("table", "damaged"):
            os.write(2, b"thread 'reader' panicked at bitmap.rs:329:9:\nassertion failed\nstack backtrace:\n")
            raise pl.exceptions.PanicException("assertion failed")

    with pytest.raises(FileFormatError, match=r"^table is damaged: its parts contradict each other\."):
        read()
    assert capfd.readouterr().err == ""


def test_other_text_of_native_code_is_still_printed(capfd):
    with without_panic_text():
        os.write(2, b"a warning\n")
    assert capfd.readouterr().err == "a warning\n"
