"""A table is written in the dialect of the file that was read, and read again as it was."""

from __future__ import annotations

import io
from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madaline.data.reading.dialect import Dialect
from madaline.data.reading.format import TableFormat
from madaline.data.reading.table_file import ReadOptions, open_table
from madaline.data.reading.writing import written
from madaline.errors import InputError


def round_trip(content, **options):
    """The table of a file, its format, and the same table written."""
    with open_table(io.BytesIO(content), ReadOptions(**options)) as table:
        frame = table.frame()
        return frame, table.format, written(frame, table.format)


@pytest.mark.parametrize(
    "content",
    [
        b"size;city;sold\r\n1,5;Rome;31/12/2020\r\n2,25;Oslo;01/02/2021\r\n;Bern;\r\n",
        b"size,city\n1.5,Rome\n2.25,\"Oslo, Norway\"\n",
        b"size\tcity\n1.5\tRome\n2.25\tOslo\n",
        b"size~city\n1.5~Rome\n2.25~Oslo\n",
        '"size"\u00a6"city"\n1.5\u00a6"Rome"\n2.25\u00a6"Oslo"\n'.encode(),
        b'"size","city"\r\n"1.5","Rome"\r\n"2.25","Oslo"\r\n',
        b'"size","city"\n1.5,"Rome"\n2.25,"Oslo"\n',
        "size,city\n1.5,K\u00f6ln\n2.25,M\u00e1laga\n".encode("cp1252"),
        "size,city\n1.5,K\u00f6ln\n2.25,M\u00e1laga\n".encode("utf-8-sig"),
        "size,city\n1.5,K\u00f6ln\n2.25,M\u00e1laga\n".encode("utf-16"),
        b"size,city\r1.5,Rome\r2.25,Oslo\r",
        b"1.5,Rome,a\n2.25,Oslo,b\n3.5,Rome,a\n",
        b"size city\n1.5 Rome\n2.25 \"New York\"\nNA Bern\n",
        b"when,x\n2020-12-31 18:30,1\n2021-01-01 06:00,2\n",
        b"when,x\n01-Feb-2021,1\n02-Mar-2021,2\n",
        b"when,x\n12/31/2020 06:30 PM,1\n01/01/2021 06:00 AM,2\n",
        b"at,x\n18:30:00,1\n06:15:30,2\n",
        b"code,x\n007,1\n012,2\n",
    ],
    ids=lambda content: ascii(content)[:60],
)  # fmt: skip
def test_a_file_is_written_back_as_it_was(content):
    frame, found, again = round_trip(content)
    assert again == content
    with open_table(io.BytesIO(again), earlier_format=found) as table:
        assert table.frame().equals(frame)
        assert table.format.dialect == found.dialect


def test_dressed_numbers_are_written_plain_and_read_alike():
    frame, found, again = round_trip("price;share\n1.200,50 \u20ac;12,5%\n3,25 \u20ac;3%\n".encode())
    assert again.decode() == "price;share\n1200,5;12,5\n3,25;3,0\n"
    with open_table(io.BytesIO(again), earlier_format=found) as table:
        assert table.frame().equals(frame)


def test_batches_make_one_file():
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        content = "a;b\n1,5;\u00e4\n2,5;\u00f6\n3,5;\u00fc\n".encode(encoding)
        frame, found, whole = round_trip(content)
        parts = [written(frame[k : k + 1], found, is_first=k == 0) for k in range(3)]
        assert b"".join(parts) == whole == content


def test_new_columns_follow_the_dialect():
    _, found, _ = round_trip(b"x;y\r\n1,5;a\r\n2,5;b\r\n")
    scored = pl.DataFrame({"x": [1.5], "predicted y": ["a;b"], "probability": [0.25], "day": [date(2024, 1, 31)]})
    assert written(scored, found) == b'x;predicted y;probability;day\r\n1,5;"a;b";0,25;2024-01-31\r\n'


def test_a_table_with_types_is_written_as_plain_csv():
    frame = pl.DataFrame({"x": [1.5, None], "y": ["a", "b,c"]})
    assert written(frame, TableFormat()) == b'x,y\n1.5,a\n,"b,c"\n'


def test_what_an_encoding_cannot_write_is_named():
    found = TableFormat(dialect=Dialect(encoding="cp1252"))
    with pytest.raises(
        InputError, match=r"'\u0416' cannot be written in cp1252, the encoding of the table. Write a Pa"
    ):
        written(pl.DataFrame({"x": ["\u0416"]}), found)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).map(lambda text: f"w{text}w")


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), texts | st.none()), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t", "|", "~", ":", "\u00a7"]),
    st.sampled_from(["necessary", "always", "non_numeric"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([".", ","]),
)
def test_what_is_written_is_what_is_read(rows, delimiter, quoting, encoding, line_end, decimal):
    found = TableFormat(decimal=decimal, dialect=Dialect(delimiter, quoting, encoding, line_end))
    frame = pl.DataFrame(rows, schema={"number": pl.Float64, "word": pl.String}, orient="row")
    options = ReadOptions(delimiter=delimiter, header=1, categorical=("word",), numeric=("number",), missing=())
    with open_table(io.BytesIO(written(frame, found)), options, earlier_format=found) as table:
        read = table.frame()
    assert read["word"].to_list() == frame["word"].to_list()
    assert read["number"].cast(pl.Float64).to_list() == frame["number"].to_list()
