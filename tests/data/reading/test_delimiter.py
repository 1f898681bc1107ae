"""Any character that separates all lines alike is the delimiter; that of the training table comes first."""

from __future__ import annotations

import io

import pytest

from madaline.cli.main import main
from madaline.data.reading.format import TableFormat
from madaline.data.reading.table_file import ReadOptions, open_table, read_table

ROWS = [["age", "city", "fare"], ["31", "Rome", "2.5"], ["22", "Oslo", "3.5"]]


def read(text, **options):
    frame, assumptions = read_table(io.BytesIO(text.encode()), **options)
    return frame, [str(assumption) for assumption in assumptions]


@pytest.mark.parametrize("sign", [*"~^:!#&*@+=%$?\\`/-", "\u00a6", "\u00a7", "\u20ac", "\u2016"])
def test_any_delimiter_is_found_in_a_small_file(sign):
    frame, notes = read("\n".join(sign.join(row) for row in ROWS))
    assert frame.columns == ROWS[0]
    assert frame.rows() == [(31, "Rome", 2.5), (22, "Oslo", 3.5)]
    assert f"Fields are separated by {sign!r}.  (--delimiter)" in notes


@pytest.mark.parametrize("sign", list("~^:"))
def test_texts_with_blanks_and_commas_do_not_hide_the_delimiter(sign):
    rows = [["full name", "home town", "n"], ["Anna, Maria", "New York", "1"], ["Bob Lee", "Rio, Brazil", "2"]]
    frame, _ = read("\n".join(sign.join(row) for row in rows))
    assert frame.rows() == [("Anna, Maria", "New York", 1), ("Bob Lee", "Rio, Brazil", 2)]


@pytest.mark.parametrize("sign", list("~^:"))
def test_quotes_hide_the_delimiter(sign):
    frame, _ = read(f'a{sign}b{sign}c\n1{sign}"x{sign}y"{sign}2\n3{sign}"{sign}{sign}"{sign}4\n')
    assert frame.rows() == [(1, f"x{sign}y", 2), (3, f"{sign}{sign}", 4)]


def test_numbers_with_a_colon_between_them_are_fields_where_the_header_says_so():
    assert read("a:b:c\n10:30:15\n11:45:59\n")[0].rows() == [(10, 30, 15), (11, 45, 59)]
    assert read("1:22:33\n", header=0, delimiter=":")[0].rows() == [(1, 22, 33)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("time\n10:30\n11:45\n12:00\n", ["time"]),
        ("hh:mm\n10:30\n11:45\n", ["hh:mm"]),
        ("dd/mm/yyyy\n31/12/2020\n01/01/2021\n", ["dd/mm/yyyy"]),
        ("from-date\n2020-01-31\n2020-02-01\n", ["from-date"]),
        ("2020-01-31\n2020-02-01\n2020-03-01\n", ["column_1"]),
        ("date,time,x\n2020-01-31,10:30,5\n2020-02-01,11:30,6\n", ["date", "time", "x"]),
        ("day time x\n2020-01-31 10:30 5\n2020-02-01 11:30 6\n", ["day", "time", "x"]),
        ("2020-01-31 10:30 5.5\n2020-02-01 11:30 6.5\n2020-02-02 11:31 6.5\n", ["column_1", "column_2", "column_3"]),
        ("user_id\nu_1\nu_2\n", ["user_id"]),
        ("price\n1.5\n2.5\n", ["price"]),
        ("change\n-1\n-2\n", ["change"]),
        ("mail\na@x.org\nb@y.org\n", ["mail"]),
        ("x/y z\n1/2 3\n4/5 6\n", ["x/y", "z"]),
        ("share%\n5%\n6%\n", ["share%"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_signs_within_values_are_not_delimiters(text, columns):
    assert read(text)[0].columns == columns


def again(first, then, **options):
    """A second file, read in the format of the first after that was saved."""
    with open_table(io.BytesIO(first.encode()), ReadOptions(**options)) as table:
        known = TableFormat.from_plain(table.format.to_plain())
    with open_table(io.BytesIO(then if isinstance(then, bytes) else then.encode()), earlier_format=known) as table:
        return table.frame(), [str(assumption) for assumption in table.assumptions]


@pytest.mark.parametrize("sign", list("~,;._'"))
def test_the_delimiter_of_the_training_table_is_used_again(sign):
    text = "\n".join(sign.join(row) for row in ROWS).replace("2.5", "2").replace("3.5", "3")
    frame, notes = again(text, text, delimiter=sign)
    assert frame.rows() == [(31, "Rome", 2), (22, "Oslo", 3)]
    assert not notes
    one = f"age{sign}fare{sign}city\n5{sign}6{sign}a,b;c|d e"
    if sign not in ",;":
        assert again(text, one, delimiter=sign)[0].rows() == [(5, 6, "a,b;c|d e")]


def test_a_later_file_may_have_another_delimiter_if_its_header_has_the_same_names():
    first = "\n".join(",".join(row) for row in ROWS)
    frame, notes = again(first, "age;city\n5;Rome, Italy\n")
    assert frame.rows() == [(5, "Rome, Italy")]
    assert notes == ["Fields are separated by a semicolon.  (--delimiter)"]
    assert again(first, "age~city~fare\n5~Rome~1.5\n")[0].rows() == [(5, "Rome", 1.5)]


def test_a_table_without_a_header_is_read_without_one_again():
    first = "1,2.5,x\n3,4.5,y\n5,6.5,x\n"
    assert again(first, "one,2.5,x\n")[0].rows() == [(None, 2.5, "x")]
    assert again(first, "7,8.5\n")[0].rows() == [(7, 8.5)]
    assert again(first, "column_1,column_2,column_3\n7,8.5,y\n")[0].rows() == [(7, 8.5, "y")]
    assert again("a~b\nc~d\n", "e~f\n", header=0, delimiter="~")[0].rows() == [("e", "f")]


def test_a_header_that_looks_like_a_row_is_known_by_its_names():
    first = "a,b\n1,2\n3,4\n"
    assert again(first, "b,a\nb,a\n")[0].columns == ["b", "a"]


def test_the_encoding_of_the_training_table_is_used_for_what_is_not_utf8():
    first, then = "name,n\nЖил,1\nЩип,2\n", "name,n\nЩит,3\n"
    with open_table(io.BytesIO(first.encode("cp1251")), ReadOptions(encoding="cp1251")) as table:
        known = TableFormat.from_plain(table.format.to_plain())
    for encoding in ("cp1251", "utf-8", "utf-16"):
        with open_table(io.BytesIO(then.encode(encoding)), earlier_format=known) as table:
            assert table.frame()["name"].to_list() == ["Щит"]
            assert not [each for each in table.assumptions if each.flag == "--encoding"]


def test_a_model_trained_with_an_explicit_delimiter_predicts_the_same_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{k * 7 % 23}~{'ab'[k % 2]}~{k * 3 % 11}\n" for k in range(80))
    (tmp_path / "t.txt").write_text("x~kind~y\n" + rows)
    train = ["train", "t.txt", "-t", "kind", "--delimiter", "~", "--out", "run", "--epochs", "1", "--no-baselines"]
    for arguments in (
        [*train, "--no-report"],
        ["predict", "run", "t.txt", "-o", "scored.csv"],
    ):
        assert main(arguments) == 0, capsys.readouterr().err
    assert len((tmp_path / "scored.csv").read_text().splitlines()) == 81
