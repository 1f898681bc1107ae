"""Bytes become text whatever they are packed and encoded as, or are refused with a sentence that helps."""

from __future__ import annotations

import gzip
import io

import pytest

from madaline.data.reading.table_file import read_table
from madaline.errors import ConfigError, FileFormatError, InputError

TEXT = "name,größe,prix €\nÄnne,1.5,20\nBjörn,2.5,30\n"


def read(content, **options):
    return read_table(io.BytesIO(content), **options)


def flags(assumptions):
    return [assumption.flag for assumption in assumptions]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_every_usual_encoding_and_line_end_is_read(encoding, end):
    frame, assumptions = read(TEXT.replace("\n", end).encode(encoding))
    assert frame.columns == ["name", "größe", "prix €"]
    assert frame.rows() == [("Änne", 1.5, 20), ("Björn", 2.5, 30)]
    was_assumed = encoding in ("utf-16-le", "utf-16-be", "cp1252")
    assert flags(assumptions) == ["--encoding"] * was_assumed


def test_mixed_line_ends_are_all_ends():
    frame, _ = read(b"a,b\r\n1,2\n3,4\r5,6")
    assert frame.rows() == [(1, 2), (3, 4), (5, 6)]


def test_a_text_that_turns_out_not_to_be_utf8_at_its_very_end_is_latin1():
    content = b"name,n\n" + b"Ann,1\n" * 100_000 + "Zoé,2\n".encode("latin-1")
    frame, assumptions = read(content)
    assert frame["name"][-1] == "Zoé"
    assert flags(assumptions) == ["--encoding"]


def test_an_encoding_that_is_given_is_used():
    frame, assumptions = read("name,n\nЖил,1\nЩип,2".encode("cp1251"), encoding="cp1251")
    assert frame["name"].to_list() == ["Жил", "Щип"]
    assert not assumptions


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex"])
def test_an_unknown_encoding_is_refused(encoding):
    with pytest.raises(ConfigError, match=f"encoding='{encoding}' is not known. Common ones: utf-8, latin-1"):
        read(b"a,b\n1,2", encoding=encoding)


def test_an_encoding_that_does_not_fit_is_refused():
    with pytest.raises(FileFormatError, match=r"is not encoded as ascii.*Pass the right encoding, for"):
        read("a,b\nö,2".encode(), encoding="ascii")


def test_gz_is_unpacked_by_its_content_not_by_its_name(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(gzip.compress(TEXT.encode("cp1252")))
    assert read_table(path)[0].rows() == [("Änne", 1.5, 20), ("Björn", 2.5, 30)]


def test_a_damaged_gz_is_refused():
    with pytest.raises(FileFormatError, match=r"damaged compressed file.*Download or copy it again"):
        read(gzip.compress(TEXT.encode() * 100)[:60])


def test_what_a_gz_holds_is_limited(monkeypatch, tmp_path):
    """A small file that decompresses without end must fill neither memory nor disk."""
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 500_000)
    assert len(read(packed)[0]) == 500_000
    with pytest.raises(InputError, match=r"more than 1,000,000 bytes .* raise the limit: max_unpacked='20GB'\."):
        read(packed, max_unpacked="1MB")
    monkeypatch.setattr("madaline.data.reading.unpacking.ALWAYS", 1 << 16)
    (tmp_path / "bomb.csv.gz").write_bytes(packed)
    with pytest.raises(InputError, match=r"bomb.csv.gz has more than [\d,]+ bytes when it is decompressed"):
        read_table(tmp_path / "bomb.csv.gz")
    assert len(read_table(tmp_path / "bomb.csv.gz", max_unpacked="3MB")[0]) == 500_000
    with pytest.raises(ConfigError, match=r"^max_unpacked='much' is not a size. Write it as 500MB or 4GB"):
        read(packed, max_unpacked="much")


def test_a_gz_for_which_the_disk_has_no_space_is_refused(monkeypatch):
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 500_000)
    monkeypatch.setattr("madaline.data.reading.unpacking.ALWAYS", 1 << 16)
    monkeypatch.setattr("madaline.data.reading.unpacking.LARGEST_RATIO", 10_000)
    monkeypatch.setattr("madaline.data.reading.unpacking.DISK_SHARE", 0.0)
    with pytest.raises(InputError, match=r"there is no space for more in .* set TMPDIR to a larger disk"):
        read(packed)


def test_an_empty_file_is_refused():
    with pytest.raises(FileFormatError, match="is empty: there is no table in it"):
        read(b"")


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"PK\x03\x04", "a damaged zip file"),
        (b"%PDF-1.7", "a PDF document. Export its table as CSV"),
        (b"\x89PNG\r\n", "an image. A table in a CSV, Excel or Parquet file is needed"),
    ],
    ids=["xlsx", "pdf", "png"],
)
def test_a_file_of_another_kind_is_named(start, what):
    with pytest.raises(FileFormatError, match=what):
        read(start + bytes(range(256)) * 10)


def test_a_nul_is_refused_with_its_place():
    with pytest.raises(FileFormatError, match=r"byte 7 is a NUL character. If it should be a table, save it again"):
        read(b"a,b\n1,\x002\n")


def test_control_characters_are_no_text():
    with pytest.raises(FileFormatError, match="are control characters"):
        read(b"\x01\x02\x03\x04abc" * 100)


def test_blank_lines_alone_are_no_table():
    with pytest.raises(FileFormatError, match="holds no table: all of its lines are blank"):
        read(b"\n \n\n,,,\n")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\n <!DOCTYPE HTML>\n<html><table><tr><td>a, b</td></tr></table></html>", "a web page"),
        (b'<?xml version="1.0"?>\n<rows/>\n', "an XML document"),
    ],
    ids=["html", "xml"],
)
def test_documents_that_are_no_tables_are_called_what_they_are(content, what):
    with pytest.raises(FileFormatError, match=f"is {what}. .*CSV"):
        read(content)
