"""The structure of Parquet files: files of all writers pass, impossible numbers are named."""

from __future__ import annotations

import io

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from madaline.data.reading.parquet_check import contradiction
from madaline.data.reading.table_file import read_table
from madaline.errors import FileFormatError

N = 400
TABLE = pa.table(
    {
        "a": [float(k) for k in range(N)],
        "text": [f"x{k % 5}" if k % 7 else None for k in range(N)],
        "lists": [[1] * (k % 4) for k in range(N)],
        "parts": [{"p": k, "q": None} for k in range(N)],
        "none": pa.nulls(N),
    }
)
WRITERS = {
    "arrow": {},
    "second version of pages": {"data_page_version": "2.0", "version": "2.6"},
    "small pages without a dictionary": {"use_dictionary": False, "data_page_size": 100, "compression": "none"},
    "several groups, index, checksums": {"row_group_size": 70, "write_page_index": True, "write_page_checksum": True},
    "no statistics": {"write_statistics": False, "compression": "gzip"},
}


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_all_writers_pass(writer, tmp_path):
    pq.write_table(TABLE, tmp_path / "file", **WRITERS[writer])
    assert contradiction(tmp_path / "file") == ""
    pq.write_table(TABLE.slice(0, 0), tmp_path / "file", **WRITERS[writer])
    assert contradiction(tmp_path / "file") == ""


def test_files_of_polars_pass(tmp_path):
    pl.from_arrow(TABLE.drop(["none"])).write_parquet(tmp_path / "file", row_group_size=70, data_page_size=100)
    assert contradiction(tmp_path / "file") == ""


def test_a_negative_number_of_values_is_an_error_and_not_the_end_of_the_process(tmp_path):
    """One flipped bit: polars would ask for 2**61 bytes, and abort."""
    stored = io.BytesIO()
    pq.write_table(pa.table({"a": list(range(40))}), stored, compression="none", use_dictionary=False)
    content = bytearray(stored.getvalue())
    place = content.index(bytes([0x15, 80]))  # the field of the header that holds 40 values
    content[place + 1] ^= 1
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"table\.parquet is a damaged Parquet file: it has negative sizes\."):
        read_table(path)


def test_numbers_that_contradict_each_other_are_named(tmp_path):
    pq.write_table(pa.table({"a": list(range(40))}), tmp_path / "whole", compression="none")
    content, path, found = (tmp_path / "whole").read_bytes(), tmp_path / "changed", set()
    for place in range(4, len(content) - 8):
        changed = bytearray(content)
        changed[place] ^= 0x7E
        path.write_bytes(changed)
        found.add(contradiction(path))
    assert {"its numbers of rows differ", "a page lies outside of its column"} <= found
    assert "" in found  # values themselves are not looked at
    path.write_bytes(content[:4] + content[-8:])
    assert contradiction(path) == "its footer is longer than the file"
    path.write_bytes(content[:9])
    assert contradiction(path) == "it is too short"
