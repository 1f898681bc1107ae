"""Delimiter, header and rows are found; what is no row is said, and what cannot be read is refused with a way out."""

from __future__ import annotations

import io

import pytest

from madaline.data.reading.table_file import read_table
from madaline.errors import ConfigError, FileFormatError


def read(text, **options):
    frame, assumptions = read_table(io.BytesIO(text.encode()), **options)
    return frame, [str(assumption) for assumption in assumptions]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|", " "], ids=["comma", "semicolon", "tab", "bar", "blank"])
def test_every_usual_delimiter_is_found(sign):
    lines = [["age", "city", "fare"], ["31", "Rome", "2.5"], ["22", "Oslo", "3.5"], ["40", "Kyiv", "1.25"]]
    frame, _ = read("\n".join(sign.join(line) for line in lines))
    assert frame.rows() == [(31, "Rome", 2.5), (22, "Oslo", 3.5), (40, "Kyiv", 1.25)]


def test_any_sign_can_be_given():
    frame, notes = read("a:b\n1:2\n3:4", delimiter=":")
    assert frame.rows() == [(1, 2), (3, 4)]
    assert not notes
    assert read("a\tb\n1\t2", delimiter="tab")[0].rows() == [(1, 2)]


@pytest.mark.parametrize("sign", ["", "ab", "\n", '"', "é"])
def test_a_delimiter_that_is_none_is_refused(sign):
    with pytest.raises(
        ConfigError, match=r"must be one to three characters, not letters, digits or quotes, .* or one of tab"
    ):
        read("a,b\n1,2", delimiter=sign)


def test_a_bar_in_every_field_does_not_part_a_table_of_commas():
    frame, _ = read("film,kinds\n" + "\n".join(f"film {k},drama|war" for k in range(20)))
    assert frame.columns == ["film", "kinds"]


def test_runs_of_blanks_are_one_delimiter_and_quotes_keep_theirs():
    frame, _ = read('  x   name\n 1.5   "a  b"  \n22.5  c\n')
    assert frame.rows() == [(1.5, "a  b"), (22.5, "c")]


def test_one_column_is_a_table():
    assert read("price\n1\n2\n")[0].rows() == [(1,), (2,)]


def test_quotes_hide_delimiters_quotes_and_line_ends():
    frame, _ = read('name,n\n"Smith, ""Al""\nsenior",1\nJones,2\n')
    assert frame.rows() == [('Smith, "Al"\nsenior', 1), ("Jones", 2)]


@pytest.mark.parametrize("n_rows", [3, 50_000])
def test_a_quote_that_is_never_closed_is_refused(n_rows):
    with pytest.raises(FileFormatError, match="line 2: a double quote is opened and never closed"):
        read('a,b\n1,"x\n' + "2,y\n" * n_rows)


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ('5" pipe', '5" pipe'),
        ('pipe of 5"', 'pipe of 5"'),
        ('5" by 7" sheet', '5" by 7" sheet'),
        (' "red, blue"', "red, blue"),
        (' "he said ""no"", twice"', 'he said "no", twice'),
        ('"Al" Smith', "Al Smith"),
    ],
    ids=["inch", "inch at the end", "two", "blank before", "blank before, doubled", "text after"],
)
def test_quotes_that_are_not_as_they_should_be_are_understood(fields, value):
    frame, _ = read("n, item, y\n" + "".join(f"{k},{fields},{k % 2}\n" for k in range(20)))
    assert frame.columns == ["n", "item", "y"]
    assert frame.rows()[7] == (7, value, 1)


def test_a_line_ends_only_at_a_line_feed():
    """Python knows nine more ends, which stand within fields of texts from the web."""
    frame, _ = read("n,item,y\n" + "".join(f"{k},one\u2028two\x85three,{k % 2}\n" for k in range(20)))
    assert frame.rows()[7] == (7, "one\u2028two\x85three", 1)


def test_a_field_may_be_as_long_as_a_letter():
    frame, _ = read("n,letter\n" + "".join(f'{k},"Dear {"x" * 200_000}, hello"\n' for k in range(3)))
    assert frame["letter"].str.len_chars().to_list() == [200_012] * 3


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_that_names_the_delimiter_is_obeyed(line):
    frame, notes = read(f"{line}\na;b\n1,5;2\n3,5;4\n")
    assert frame.rows() == [(1.5, 2), (3.5, 4)]
    assert "Fields are separated by a semicolon, as line 1 says.  (--delimiter)" in notes


def test_a_long_row_after_quoted_line_ends_is_named_by_its_line():
    with pytest.raises(FileFormatError, match="line 6, has 3 fields"):
        read('a,b\n1,"x\ny"\n2,"x\ny"\n3,4,5\n6,7\n')


def test_lines_before_the_table_are_left_out():
    frame, notes = read("Report of June\n\nage;city\n31;Rome\n22;Oslo\n")
    assert frame.rows() == [(31, "Rome"), (22, "Oslo")]
    assert "The table begins after 2 lines of other text.  (--skip)" in notes
    assert read("1;2\na;b\n3;4\n", skip=1)[0].rows() == [(3, 4)]


def test_lines_after_the_table_are_left_out():
    frame, notes = read("a,b,c\n1,2,3\n4,5,6\n\nSource: somebody\n")
    assert frame.rows() == [(1, 2, 3), (4, 5, 6)]
    assert "The last line has a single field: not part of the table.  (--ragged)" in notes


def test_blank_rows_are_no_rows():
    assert read("a;b\n1;2\n\n;\n3;4\n ; \n")[0].rows() == [(1, 2), (3, 4)]


RAGGED = "a,b,c\n1,2,3\n4,5\n6,7,8\n"
LONG = "a,b,c\n1,2,3\n4,5,6,7\n8,9,10\n"


def test_short_rows_are_filled_up():
    frame, notes = read(RAGGED)
    assert frame.rows() == [(1, 2, 3), (4, 5, None), (6, 7, 8)]
    assert notes == ["1 row with fewer than 3 fields: the rest is missing.  (--ragged)"]


def test_long_rows_are_refused_with_line_and_way_out():
    with pytest.raises(
        FileFormatError, match=r"line 3, has 4 fields where 3 are usual\. .*ragged='fill'.*ragged='drop'.*: delimiter\."
    ):
        read(LONG)


@pytest.mark.parametrize(
    ("text", "ragged", "rows"),
    [
        (LONG, "fill", [(1, 2, 3), (4, 5, 6), (8, 9, 10)]),
        (LONG, "drop", [(1, 2, 3), (8, 9, 10)]),
        (RAGGED, "drop", [(1, 2, 3), (6, 7, 8)]),
        (RAGGED.replace("5", '"5"'), "drop", [(1, 2, 3), (6, 7, 8)]),
    ],
    ids=["cut", "drop long", "drop short", "drop quoted"],
)
def test_ragged_rows_are_treated_as_told(text, ragged, rows):
    assert read(text, ragged=ragged)[0].rows() == rows


def test_ragged_rows_can_be_refused():
    with pytest.raises(FileFormatError, match="line 3, has 2 fields"):
        read(RAGGED, ragged="refuse")
    with pytest.raises(ConfigError, match=r"ragged='ignore' is not known. Choose one of auto, refuse, fill, drop"):
        read(RAGGED, ragged="ignore")


def test_empty_fields_too_many_do_no_harm():
    frame, notes = read("a,b\n1,2,\n3,4,\n")
    assert frame.rows() == [(1, 2), (3, 4)]
    assert notes == ["1 column without a name, nearly empty, left out.  (--unnamed)"]


def test_row_labels_without_a_name_become_a_column():
    frame, _ = read("mpg,cyl\nMazda RX4,21.0,6\nDatsun 710,22.8,4\nHornet,21.4,6")
    assert frame.columns == ["row", "mpg", "cyl"]
    assert frame["mpg"].to_list() == [21.0, 22.8, 21.4]
    assert read(",row,y\n0,5,1\n1,6,0\n")[0].columns == ["row_2", "row", "y"]


def test_a_header_with_more_names_than_fields_is_refused():
    with pytest.raises(FileFormatError, match="the header names 3 columns, but most rows have 2 fields"):
        read("a,b,c\n1,2\n3,4\n5,6\n")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("1,2.5,x\n3,4.5,y\n5,6.5,x\n", ["column_1", "column_2", "column_3"]),
        ("3,?,gas\n1,5,gas\n2,7,diesel\n", ["column_1", "column_2", "column_3"]),
        ("name,city\nAnn,Rome\nBob,Oslo\n", ["name", "city"]),
        ("country,2014,2015\nItaly,1.5,2.5\nNorway,3.5,4.5\n", ["country", "2014", "2015"]),
        ("2014,2015,2016\n1.5,2.5,3.5\n4.5,5.5,6.5\n", ["2014", "2015", "2016"]),
        # A data frame of pandas whose columns have no names of their own, with and without its index.
        (
            "0,1,2,3,y\n1.5,2.5,3.5,4.5,no\n4.5,5.5,6.5,7.5,yes\n1.5,0.5,2.5,1.5,no\n2.5,1,1,1,no\n1,2,3,4,yes\n",
            ["0", "1", "2", "3", "y"],
        ),
        (",0,1,2\n0,1.5,2.5,3.5\n1,4.5,5.5,6.5\n", ["row", "0", "1", "2"]),
        (",0,1,y\n0,1.5,2.5,3.5\n1,4.5,5.5,6.5\n", ["row", "0", "1", "y"]),
        ("0,1,no\n2,1,yes\n1,0,no\n1,2,yes\n1,1,no\n", ["column_1", "column_2", "column_3"]),
        ("yes,no,yes\nyes,no,no\nno,no,yes\nyes,yes,yes\n", ["column_1", "column_2", "column_3"]),
    ],
    ids=[
        "numbers",
        "missing",
        "words",
        "a year",
        "years",
        "pandas with a target",
        "pandas with row numbers",
        "pandas with both",
        "like the rows",
        "same words",
    ],
)
def test_whether_there_is_a_header_is_seen(text, columns):
    assert read(text)[0].columns == columns


def test_whether_there_is_a_header_can_be_said():
    assert read("1,2\n3,4\n", header=1)[0].rows() == [(3, 4)]
    assert read("a,b\nc,d\n", header=0)[0].rows() == [("a", "b"), ("c", "d")]
    with pytest.raises(ConfigError, match="header=9: it must be a number of lines, at most those of the file"):
        read("a,b\nc,d\n", header=9)


def test_a_header_of_three_lines_as_orange_writes_it_is_known():
    frame, notes = read("age\tkind\ncontinuous\td\n\tclass\n31\ta\n22\tb\n")
    assert frame.rows() == [(31, "a"), (22, "b")]
    assert "Lines 2 and 3 describe the columns (Orange's format) and are not rows.  (--header)" in notes


def test_a_header_without_rows_is_refused():
    with pytest.raises(FileFormatError, match=r"has a header but no rows.*pass header=0"):
        read("age,city,fare\n")


def test_names_that_repeat_are_numbered():
    frame, notes = read("a,a,a_2,\u00e4,,a\n1,2,3,4,5,6\n7,8,9,1,2,3\n")
    assert frame.columns == ["a", "a_3", "a_2", "ä", "column_5", "a_4"]
    assert "'a' names more than one column; the later ones are named 'a_2' and so on.  (--header)" in notes
