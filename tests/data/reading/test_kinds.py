"""The same table in the files people have: Excel, JSON, Arrow, databases, compressed in every usual way."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import json
import lzma
import sqlite3
import sys
import zipfile

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from madaline.data.reading import spreadsheet
from madaline.data.reading.table_file import open_table, read_table
from madaline.errors import ConfigError, FileFormatError, InputError, MadalineError, MissingPackageError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FRAME = pl.DataFrame(
    {
        "age": [31, 22, 40, None],
        "city": ["Rome", None, "Oslo, Norway", 'the "best"'],
        "fare": [2.5, 3.5, 0.1, -7.0],
        "sold": [dt.date(2024, 1, day) for day in (3, 14, 25, 31)],
    }
)
CSV = FRAME.write_csv().encode()


def workbook(**sheets):
    """An Excel workbook as spreadsheet programs write it, made of lists of rows."""

    def cell(place, value):
        if value is None:
            return ""
        if isinstance(value, dt.date):
            return f'<c r="{place}" s="1"><v>{(value - dt.date(1899, 12, 30)).days}</v></c>'
        if isinstance(value, str):
            text = value.replace("&", "&amp;").replace("<", "&lt;")
            return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    def sheet(rows):
        lines = "".join(
            f'<row r="{i}">{"".join(cell(f"{chr(64 + j)}{i}", value) for j, value in enumerate(row, 1))}</row>'
            for i, row in enumerate(rows, 1)
        )
        return f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'

    kinds = "".join(
        f'<Override PartName="/xl/worksheets/s{k}.xml" ContentType="{TYPE}worksheet+xml"/>' for k in range(len(sheets))
    )
    names = "".join(f'<sheet name="{name}" sheetId="{k + 1}" r:id="r{k}"/>' for k, name in enumerate(sheets))
    targets = "".join(
        f'<Relationship Id="r{k}" Type="{LINK}worksheet" Target="worksheets/s{k}.xml"/>' for k in range(len(sheets))
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}content-types"><Default Extension="rels" ContentType="'
        'application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType='
        f'"application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{TYPE}sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{TYPE}styles+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}relationships"><Relationship Id="r" '
        f'Type="{LINK}officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINK[:-1]}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}relationships">{targets}<Relationship Id="st" '
        f'Type="{LINK}styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/>'
        "</cellXfs></styleSheet>",
    }
    files |= {f"xl/worksheets/s{k}.xml": sheet(rows) for k, rows in enumerate(sheets.values())}
    return archive(**files)


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/"
LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."


def archive(**files):
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in files.items():
            written.writestr(name, content)
    return found.getvalue()


def rows(frame=FRAME):
    return [frame.columns, *map(list, frame.rows())]


def sqlite_file(path, **tables):
    connection = sqlite3.connect(path)
    for name, frame in tables.items():
        columns = ", ".join(f'"{column}"' for column in frame.columns)
        connection.execute(f'create table "{name}" ({columns})')
        values = [[str(v) if isinstance(v, dt.date) else v for v in row] for row in frame.rows()]
        marks = ", ".join("?" * frame.width)
        connection.executemany(f'insert into "{name}" values ({marks})', values)
    connection.commit()
    connection.close()
    return path.read_bytes()


def duckdb_file(path, **tables):
    connection = duckdb.connect(str(path))
    for name, frame in tables.items():
        connection.register("given", frame.to_arrow())
        connection.execute(f'create table "{name}" as select * from given')
    connection.close()
    return path.read_bytes()


def in_memory(write, **options):
    found = io.BytesIO()
    write(found, **options)
    return found.getvalue()


JSON_ROWS = [row | {"sold": str(row["sold"])} for row in FRAME.to_dicts()]
KINDS = {
    "xlsx": lambda path: workbook(Data=rows()),
    "json lines": lambda path: "\n".join(map(json.dumps, JSON_ROWS)).encode(),
    "json": lambda path: json.dumps(JSON_ROWS, indent=1).encode(),
    "feather": lambda path: in_memory(FRAME.write_ipc),
    "feather, compressed": lambda path: in_memory(FRAME.write_ipc, compression="zstd"),
    "arrow stream": lambda path: in_memory(FRAME.write_ipc_stream),
    "parquet": lambda path: in_memory(FRAME.write_parquet),
    "sqlite": lambda path: sqlite_file(path, people=FRAME),
    "duckdb": lambda path: duckdb_file(path, people=FRAME),
    "csv": lambda path: CSV,
}
PACKERS = {
    "plain": lambda content: content,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
    "zip": lambda content: archive(**{"folder/": b"", "folder/table": content, "__MACOSX/._table": b"x"}),
    "gz in zip": lambda content: archive(table=gzip.compress(content)),
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """The bytes of each kind of file."""
    folder = tmp_path_factory.mktemp("kinds")
    return {kind: make(folder / kind) for kind, make in KINDS.items()}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_holds_the_same_table_however_it_is_compressed(contents, tmp_path, kind, packer):
    content = PACKERS[packer](contents[kind])
    (tmp_path / "table").write_bytes(content)
    for source in (tmp_path / "table", io.BytesIO(content)):
        frame, _ = read_table(source)
        assert frame.equals(FRAME), frame


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_of_any_kind_is_refused_or_still_a_table(contents, kind):
    """Bytes are changed and cut. Nothing but our errors may come out, whatever a native reader says."""
    content = contents[kind]

    @settings(max_examples=60)
    @given(st.integers(0, len(content) - 1), st.binary(min_size=1, max_size=8), st.booleans())
    def attack(place, new, is_cut):
        damaged = content[:place] if is_cut else content[:place] + new + content[place + len(new) :]
        try:
            frame, _ = read_table(io.BytesIO(damaged))
        except MadalineError as error:
            message = str(error)
            assert "\n" not in message, message
        else:
            assert len(frame)

    attack()


def test_titles_units_and_missing_values_of_a_sheet_are_read_as_those_of_a_text():
    table = [["Sales of 2024"], [], ["name", "price", "sold"], *[[f"n{k}", f"${k},000", None] for k in range(1, 30)]]
    table += [["n30", "?", dt.date(2024, 5, 1)]]
    frame, notes = read_table(io.BytesIO(workbook(Sheet1=table)))
    assert frame.columns == ["name", "price", "sold"]
    assert frame["price"][1] == 2000
    assert "--missing" in [note.flag for note in notes]
    same, _ = read_table(io.BytesIO(workbook(Sheet1=table)), categorical=("price",))
    assert same["price"][1] == "$2,000"


def test_numbers_of_a_sheet_keep_all_digits():
    values = [1.2345678901234567, 1e-12, -0.1, 3.0, 123456789012345.6, 1e300]
    table = [["n", "code"], *([value, "0012"] for value in values)]
    frame, _ = read_table(io.BytesIO(workbook(Sheet1=table)))
    assert frame["n"].to_list() == values
    assert frame["code"].to_list() == ["0012"] * 6


def test_a_sheet_is_chosen_by_its_name():
    content = workbook(Notes=[], Data=rows(), Other=[["x"], [1], [2]])
    frame, notes = read_table(io.BytesIO(content))
    assert frame.equals(FRAME)
    assert str(notes[0]) == "The sheet 'Data' is read, the first of 3 that has values.  (--table)"
    frame, notes = read_table(io.BytesIO(content), table="Other")
    assert frame["x"].to_list() == [1, 2]
    assert not notes
    with pytest.raises(
        ConfigError, match=r"table='Odd': .* has no sheet of this name. Sheets: 'Notes', 'Data', 'Other'"
    ):
        read_table(io.BytesIO(content), table="Odd")
    for options in ({}, {"table": "Notes"}):
        with pytest.raises(FileFormatError, match=r"is empty: .* no values"):
            read_table(io.BytesIO(workbook(Notes=[])), **options)


def test_the_cells_between_two_far_values_are_not_allocated(monkeypatch):
    content = workbook(Data=rows())
    far = content_with(
        content, "xl/worksheets/s0.xml", b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c>'
    )
    with pytest.raises(InputError, match=r"spans 1,048,576 rows and 16,384 columns.*save the sheet as CSV"):
        read_table(io.BytesIO(far))
    monkeypatch.setattr(spreadsheet, "MOST_CELLS", 19)
    with pytest.raises(InputError, match="spans 5 rows and 4 columns"):
        read_table(io.BytesIO(content))


def content_with(workbook, name, before, new):
    with zipfile.ZipFile(io.BytesIO(workbook)) as old:
        files = {each: old.read(each) for each in old.namelist()}
    files[name] = files[name].replace(before, new + (b"</row>" if b"<row" in new else b"") + before)
    return archive(**files)


@pytest.mark.parametrize("pack", [PACKERS["zip"], zstd.compress, gzip.compress], ids=["zip", "zst", "gz"])
def test_what_is_decompressed_is_limited(pack):
    content = pack(b"a,b\n" + b"1,2\n" * 500_000)
    assert len(read_table(io.BytesIO(content))[0]) == 500_000
    with pytest.raises(InputError, match=r"more than 1,000,000 bytes .* raise the limit: max_unpacked='20GB'\."):
        read_table(io.BytesIO(content), max_unpacked="1MB")


def test_the_whole_of_a_workbook_is_limited():
    content = content_with(workbook(Data=rows()), "xl/styles.xml", b"</styleSheet>", b" " * 2_000_000)
    assert read_table(io.BytesIO(content))[0].equals(FRAME)
    with pytest.raises(InputError, match=r"more than 1,000,000 bytes when it is decompressed"):
        read_table(io.BytesIO(content), max_unpacked="1MB")


@pytest.mark.parametrize("pack", [zstd.compress, bz2.compress, lzma.compress, PACKERS["zip"]])
def test_a_cut_file_is_refused_and_not_read_in_part(pack):
    content = pack(b"a,b\n" + b"".join(b"%d,%d\n" % (k, k * k % 991) for k in range(5000)))
    with pytest.raises(FileFormatError, match="damaged"):
        read_table(io.BytesIO(content[: len(content) // 2]))


def test_a_file_of_an_archive_is_chosen_by_its_name(tmp_path):
    content = archive(**{"a/train.csv": CSV, "a/test.csv": b"x\n1\n", "README": b"about"})
    with pytest.raises(ConfigError, match=r"has 3 files. Choose one, for example table='a/train.csv'. Files: "):
        read_table(io.BytesIO(content))
    assert read_table(io.BytesIO(content), table="train.csv")[0].equals(FRAME)
    assert read_table(io.BytesIO(content), table="a/train.csv")[0].equals(FRAME)
    with pytest.raises(ConfigError, match=r"has no file of this name. Files: "):
        read_table(io.BytesIO(content), table="train")
    frame, notes = read_table(io.BytesIO(archive(**{"train.csv": CSV, "readme.txt": b"about", ".x": b"1"})))
    assert frame.equals(FRAME)
    assert str(notes[0]) == "'train.csv' is read, the only table among 2 files of the archive.  (--table)"
    with pytest.raises(FileFormatError, match="archive without files"):
        read_table(io.BytesIO(archive()))


def test_an_archive_with_a_password_is_named():
    content = bytearray(archive(table=CSV))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    with pytest.raises(FileFormatError, match=r"is protected by a password\. Unpack it first"):
        read_table(io.BytesIO(bytes(content)))


@pytest.mark.parametrize("make", [sqlite_file, duckdb_file])
def test_a_table_of_a_database_is_chosen_by_its_name(make, tmp_path):
    odd = 'sales "2024"; drop table people'
    make(tmp_path / "db", people=FRAME, other=pl.DataFrame({"x": [1, 2]}))
    make(tmp_path / "one", **{odd.replace('"', ""): FRAME})
    assert read_table(tmp_path / "one")[0].equals(FRAME)
    assert read_table(tmp_path / "db", table="other")[0]["x"].to_list() == [1, 2]
    with pytest.raises(
        ConfigError, match=r"has 2 tables. Choose one, for example table='other'. Tables: 'other', 'people'"
    ):
        read_table(tmp_path / "db")
    with pytest.raises(ConfigError, match=r"table='Odd': .* has no table of this name. Tables: 'other', 'people'"):
        read_table(tmp_path / "db", table="Odd")
    make(tmp_path / "empty", gone=FRAME)
    with (sqlite3 if make is sqlite_file else duckdb).connect(tmp_path / "empty") as connection:
        connection.execute("drop table gone")
    connection.close()
    with pytest.raises(FileFormatError, match="is a database without tables"):
        read_table(tmp_path / "empty")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["db", "empty", "one"], "no journals are left"


def test_a_column_of_sqlite_with_several_types_keeps_all_values(tmp_path):
    connection = sqlite3.connect(tmp_path / "db")
    connection.execute('create table t (a integer, b, c text, d blob, "x y" real, e)')
    connection.execute("insert into t values (1, 2, '3', x'00ff', 1.5, null)")
    connection.execute("insert into t values ('one', 2.5, 'drei', null, 2, null)")
    connection.execute("create view v as select * from t")
    connection.commit()
    connection.close()
    frame, notes = read_table(tmp_path / "db")
    assert frame.rows() == [("1", 2.0, "3", 1.5, None), ("one", 2.5, "drei", 2.0, None)]
    assert notes[0].text == "'d' hold neither numbers, texts nor dates and are left out."


def test_names_of_sqlite_that_are_not_unicode_are_refused(tmp_path):
    content = sqlite_file(tmp_path / "db", people=FRAME).replace(b'"city"', b'"ci\xd4y"')
    with pytest.raises(FileFormatError, match="cannot be read by SQLite"):
        read_table(io.BytesIO(content))


def test_types_of_duckdb_become_those_all_know(tmp_path):
    connection = duckdb.connect(tmp_path / "db")
    connection.execute(
        "create table t as select 1::utinyint a, 2::hugeint b, 1.5::decimal(10, 2) c, [1] d, interval 90 minute e, "
        "time '12:30' f, true g, timestamptz '2024-01-01 12:00:00+00' h, uuid '00000000-0000-0000-0000-000000000001' i"
        ", 'x'::enum('x', 'y') j, timestamp_ns '2024-01-01 12:00:00' k, null::date l"
    )
    connection.close()
    frame, notes = read_table(tmp_path / "db")
    noon = dt.datetime(2024, 1, 1, 12)  # noqa: DTZ001 - as tables have it
    identity = "00000000-0000-0000-0000-000000000001"
    assert frame.rows() == [(1, 2.0, 1.5, 5400.0, 12.5, True, noon, identity, "x", noon, None)]
    assert [note.flag for note in notes] == ["--ignore"]


def test_a_table_is_not_chosen_where_there_is_one():
    with pytest.raises(ConfigError, match=r"^table='x': The stream has only one table. .* Excel workbooks, databases"):
        read_table(io.BytesIO(CSV), table="x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": \n', "is not a table in JSON: .* Each line must be a row"),
        (b'{\n "a": 1\n}\n', "is not a table in JSON: .* Each line must be a row"),
        (b'{"a": {"0": 1}}\n', "has no column of numbers, texts or dates"),
        (b"FEA1" + bytes(100), "is a Feather file of version 1"),
        (archive(**{"mimetype": b"", "content.xml": b""}), "is an OpenDocument file"),
        (archive(**{"xl/workbook.bin": b""}), "is a binary Excel workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), r"is an old Excel file. .* save it as \.xlsx or CSV"),
        (b"PK\x03\x04" + bytes(100), "is a damaged zip file"),
        (archive(QQQQ=CSV).replace(b"QQQQ", b"\0QQQ"), "archive without files"),
        (gzip.compress(gzip.compress(gzip.compress(gzip.compress(CSV)))), "is compressed. Unpack it first"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(content, message):
    with pytest.raises(FileFormatError, match=message):
        read_table(io.BytesIO(content))


@pytest.mark.parametrize(("package", "extra", "kind"), [("fastexcel", "excel", "xlsx"), ("duckdb", "duckdb", "duckdb")])
def test_a_missing_package_is_named_with_the_command_to_type(contents, monkeypatch, package, extra, kind):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf'needs the package {package}.* pip install "madaline\[{extra}\]"'):
        read_table(io.BytesIO(contents[kind]))


def test_web_addresses_are_refused_in_a_sentence():
    for address in ("https://example.org/data.csv", "s3://bucket/data.parquet"):
        with pytest.raises(FileFormatError, match=r"is a web address, and only files are read. Download it and give"):
            read_table(address)


def test_strangers_may_send_texts_only(contents):
    for kind, content in contents.items():
        if kind == "csv":
            with open_table(io.BytesIO(content), only_text=True) as table:
                assert table.frame().equals(FRAME)
        else:
            with pytest.raises(FileFormatError), open_table(io.BytesIO(content), only_text=True):
                pass


def test_types_of_the_files_of_a_folder_are_joined(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "w": "p"}\n')
    (tmp_path / "b.jsonl").write_text('{"x": 2.5, "w": "q"}\n')
    frame, _ = read_table(tmp_path)
    assert frame.rows() == [(1.0, "p"), (2.5, "q")]
    (tmp_path / "b.jsonl").write_text('{"x": "two", "w": "q"}\n')
    with pytest.raises(FileFormatError, match=r"b.jsonl has texts in the column 'x', where .*a.jsonl has numbers"):
        read_table(tmp_path)


def test_a_large_database_is_read_in_batches(tmp_path):
    frame = pl.DataFrame({"n": range(120_000), "w": ["a", "b", "c"] * 40_000})
    sqlite_file(tmp_path / "db", t=frame)
    duckdb_file(tmp_path / "duck", t=frame)
    for name in ("db", "duck"):
        with open_table(tmp_path / name) as table:
            batches = list(table.batches())
        assert len(batches) > 1
        assert pl.concat(batches).equals(frame)
