"""Texts become numbers, dates, times or stay texts; each decision is said and can be overridden."""

from __future__ import annotations

import io
from datetime import date, datetime
from functools import partial

import pytest

from madaline.data.reading.format import TableFormat
from madaline.data.reading.table_file import ReadOptions, open_table, read_table
from madaline.errors import ConfigError, FileFormatError

moment = partial(datetime, tzinfo=None)  # tables have no zones


def read(values, name="x", **options):
    """A column among others, as a file of semicolons."""
    lines = "".join(f"{k};{value}\n" for k, value in enumerate(values))
    frame, assumptions = read_table(io.BytesIO(f"row;{name}\n{lines}".encode()), delimiter=";", **options)
    return frame[name].to_list(), [str(assumption) for assumption in assumptions]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "-2", "+3"], [1, -2, 3]),
        (["1.5", "-.5", "2.", "1e3", "1.00E+05"], [1.5, -0.5, 2.0, 1000.0, 100000.0]),
        (["2,5", "-0,25", "1000"], [2.5, -0.25, 1000.0]),
        (["1.234,5", "2.345.678", "0,5"], [1234.5, 2345678.0, 0.5]),
        (["1,234.5", "2,345,678", "0.5"], [1234.5, 2345678.0, 0.5]),
        (["1,234", "2,345"], [1234.0, 2345.0]),
        (["1 234,5", "12\u00a0345,75", "3\u202f456"], [1234.5, 12345.75, 3456.0]),
        (["1'234.50", "2'000.25"], [1234.5, 2000.25]),
        (["$1,200.50", "-$3", "$ 4"], [1200.5, -3.0, 4.0]),
        (["1.200,50 €", "3,25 €"], [1200.5, 3.25]),
        (["12.5%", "3%"], [12.5, 3.0]),
        (["(1,200)", "350", "(2.5)"], [-1200.0, 350.0, -2.5]),
        (["\u22125", "3"], [-5.0, 3.0]),
        (["9223372036854775808", "1"], [9.223372036854775808e18, 1.0]),
    ],
    ids=lambda case: str(case[0]).encode("ascii", "replace").decode() if isinstance(case[0], str) else "",
)
def test_numbers_are_read_however_they_are_written(texts, values):
    assert read(texts)[0] == values


def test_how_numbers_are_written_is_said():
    assert "Numbers have a decimal comma.  (--decimal)" in read(["2,5", "3,75"])[1]
    assert "'x' has amounts with a currency sign, which is removed.  (--categorical)" in read(["$2", "$3"])[1]
    assert "'x' has percentages, read as the number before the %.  (--categorical)" in read(["2%", "3%"])[1]
    assert "'x' has numbers with a thousands separator.  (--categorical)" in read(["2,000", "3,000"])[1]


def test_the_decimal_mark_can_be_said():
    assert read(["1,234", "2,345"], decimal=",")[0] == [1.234, 2.345]
    assert read(["1.234", "2.345"], decimal=",")[0] == [1234.0, 2345.0]
    with pytest.raises(ConfigError, match=r"decimal=':' is not known. Choose one of ., ,"):
        read(["1"], decimal=":")


@pytest.mark.parametrize(
    ("marker", "texts", "values"),
    [
        ("-200", ["-200", "-200,0", "1,5", "-200,5"], [None, None, 1.5, -200.5]),
        ("-200", ["-200.00", "1.5", "200"], [None, 1.5, 200.0]),
        ("-9,5", ["-9.50", "1.5", "-9.55"], [None, 1.5, -9.55]),
        ("999", ["999", "1,999", "2,999"], [None, 1999.0, 2999.0]),
        ("-200", ["-200.000", "1.500", "0,5"], [-200000.0, 1500.0, 0.5]),
    ],
    ids=str,
)
def test_a_number_that_means_a_missing_value_may_be_written_with_decimals(marker, texts, values):
    found, notes = read(texts, missing=(marker,))
    assert found == values
    if None in values:
        assert any("means a missing value" in text for text in notes)


def read_again(first, then):
    """The column x of a second file, read as that of the first was as far as it can be; and what is said."""
    with open_table(io.BytesIO(("row;x\n" + "".join(f"{k};{v}\n" for k, v in enumerate(first))).encode())) as table:
        known = table.format
    content = ("row;x\n" + "".join(f"{k};{value}\n" for k, value in enumerate(then))).encode()
    with open_table(io.BytesIO(content), ReadOptions(delimiter=";"), earlier_format=known) as table:
        return table.frame()["x"].to_list(), [str(assumption) for assumption in table.assumptions]


@pytest.mark.parametrize(
    ("first", "then", "values"),
    [
        (["1", "2", "3"], ["1.5", "2"], [1.5, 2.0]),
        (["1", "2", "3"], ["$1,200", "2"], [1200.0, 2.0]),
        (["1.5", "2.5"], ["2%", "1,000.5"], [2.0, 1000.5]),
        (["1,5", "2,5"], ["2.75", "3.25"], [2.75, 3.25]),
        (["1.5", "2.5"], ["2,75", "3,25"], [2.75, 3.25]),
        (["1,5", "2,5"], ["8,250"], [8.25]),
        (["1", "2"], ["", "2"], [None, 2]),
        (["31/01/2024", "03/02/2024"], ["2024-02-03"], [date(2024, 2, 3)]),
        (["31/01/2024", "03/02/2024"], ["04/03/2024"], [date(2024, 3, 4)]),
        (["31/01/2024", "03/02/2024"], ["12/31/2024"], [date(2024, 12, 31)]),
        (["31/01/2024", "03/02/2024"], ["31/01/2024 18:30"], [moment(2024, 1, 31, 18, 30)]),
    ],
    ids=str,
)
def test_a_later_file_may_write_its_numbers_and_dates_otherwise(first, then, values):
    assert read_again(first, then)[0] == values


def test_what_a_later_file_has_instead_of_numbers_and_dates_is_said():
    values, notes = read_again(["31/01/2024", "03/02/2024"], ["04/03/2024", "soon"])
    assert values == [date(2024, 3, 4), None]
    assert "'x' has dates except for 1 text, treated as missing.  (--categorical)" in notes
    values, notes = read_again(["1", "2"], ["3", "soon"])
    assert values == [3, None]
    assert "'x' has numbers except for 1 text, such as 'soon' in line 3, treated as missing.  (--categorical)" in notes
    values, notes = read_again(["31/01/2024", "03/02/2024"], ["later", "soon"])
    assert values == [None, None]
    assert notes == ["'x' should have dates, and has none: 2 texts, treated as missing.  (--categorical)"]
    values, notes = read_again(["1", "2"], ["few", "many"])
    assert values == [None, None]
    assert "'x' should have numbers, and has none: 2 texts" in notes[0]


@pytest.mark.parametrize("number", ["9" * 400, "1e400", "-1e400", "$" + "9" * 400, "9" * 5000], ids=lambda x: x[:7])
def test_a_number_that_is_too_large_is_said_to_be_missing(number):
    values, notes = read([f"{k}.5" for k in range(20)] + [number])
    assert values == [k + 0.5 for k in range(20)] + [None]
    shown = number if len(number) <= 30 else number[:27] + "..."
    assert f"'x' has numbers except for 1 text, such as {shown!r} in line 22, treated as missing." in " ".join(notes)


def test_one_decimal_mark_serves_the_whole_file():
    frame, _ = read_table(io.BytesIO(b"a;b\n1,234;2,5\n2,345;3,5\n"))
    assert frame.rows() == [(1.234, 2.5), (2.345, 3.5)]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["2024-12-03", "2024-01-31"], [date(2024, 12, 3), date(2024, 1, 31)]),
        (["03/12/2024", "31/01/2024"], [date(2024, 12, 3), date(2024, 1, 31)]),
        (["12/03/2024", "01/31/2024"], [date(2024, 12, 3), date(2024, 1, 31)]),
        (["3.12.2024", "31.1.2024"], [date(2024, 12, 3), date(2024, 1, 31)]),
        (["3 Dec 2024", "31 January 2024"], [date(2024, 12, 3), date(2024, 1, 31)]),
        (["Dec 3, 2024", "May 31, 2024"], [date(2024, 12, 3), date(2024, 5, 31)]),
        (["03-Dec-24", "31-Jan-24"], [date(2024, 12, 3), date(2024, 1, 31)]),
        (["2024-12-03 18:30", "2024-01-31 06:00"], [moment(2024, 12, 3, 18, 30), moment(2024, 1, 31, 6, 0)]),
        (
            ["2024-12-03T18:30:15Z", "2024-01-31T06:00:00+01:00"],
            [moment(2024, 12, 3, 18, 30, 15), moment(2024, 1, 31, 5)],
        ),
        (["12/03/2024 6:30 PM", "01/31/2024 6:00 AM"], [moment(2024, 12, 3, 18, 30), moment(2024, 1, 31, 6, 0)]),
        (["18.30.00", "06.15.36"], [18.5, 6.26]),
        (["18:30", "6:15"], [18.5, 6.25]),
    ],
    ids=lambda case: str(case[0]) if isinstance(case[0], str) else "",
)
def test_dates_and_times_are_read_however_they_are_written(texts, values):
    assert read(texts)[0] == values


def test_the_order_of_day_and_month_is_said_and_can_be_given():
    values, notes = read(["03/04/2024", "05/06/2024"])
    assert values == [date(2024, 4, 3), date(2024, 6, 5)]
    assumed = "assumed: no value shows whether the day or the month comes first"
    assert f"'x' has dates (day/month/year, {assumed}).  (--dates)" in notes
    assert "'x' has dates (day/month/year).  (--dates)" in read(["03/04/2024", "15/06/2024"])[1]
    assert read(["03/04/2024", "05/06/2024"], dates="mdy")[0] == [date(2024, 3, 4), date(2024, 5, 6)]
    assert read(["03/04/2024"], dates="none")[0] == ["03/04/2024"]
    with pytest.raises(ConfigError, match=r"dates='american' is not known. Choose one of dmy, mdy, ymd, none"):
        read(["1"], dates="american")


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["2024-01-31", "31/01/2024", "3 Feb 2024"], [date(2024, 1, 31), date(2024, 1, 31), date(2024, 2, 3)]),
        (["2024-01-31", "2024-01-31 18:30:00"], [moment(2024, 1, 31), moment(2024, 1, 31, 18, 30)]),
        (["31/01/2024", "31/01/24", "04/03/2024"], [date(2024, 1, 31), date(2024, 1, 31), date(2024, 3, 4)]),
        (["01/31/2024", "04/03/2024", "5-6-2024"], [date(2024, 1, 31), date(2024, 4, 3), date(2024, 5, 6)]),
    ],
    ids=str,
)
def test_dates_of_one_column_may_be_written_in_several_ways(texts, values):
    found, notes = read(texts)
    assert found == values
    assert any("'x' has dates (" in text for text in notes)
    assert not any("missing" in text for text in notes)


@pytest.mark.parametrize("other", ["31/01/2024", "2024-01-31"], ids=["several ways", "one way"])
def test_columns_of_dates_written_alike_stay_apart(other):
    frame, _ = read_table(io.BytesIO(f"a;b\n2024-01-30;2024-02-01\n{other};{other}\n".encode()))
    same = date(2024, 1, 31)
    assert frame.rows() == [(date(2024, 1, 30), date(2024, 2, 1)), (same, same)]


def test_ways_to_write_dates_are_said():
    notes = read(["2024-01-31", "31/01/2024", "2024-02-01 18:30"])[1]
    assert "'x' has dates (year-month-day, day/month/year).  (--dates)" in notes


def test_markers_of_missing_values_are_found_said_and_can_be_given():
    values, notes = read(["?", "1", "N/A", "2", " ", "", "NULL"])
    assert values == [None, 1, None, 2, None, None, None]
    assert "'?' means a missing value (1 time in 'x').  (--missing)" in notes
    assert read(["-200", "1", "NA", "2"], missing=("-200", "NA"))[0] == [None, 1, None, 2]
    assert read(["NA", "DE", "FR"], missing=())[0] == ["NA", "DE", "FR"]


def test_a_dash_is_missing_among_numbers_and_a_value_among_words():
    assert read(["-", "1.5", "none"])[0] == [None, 1.5, None]
    assert read(["-", "a", "none"])[0] == ["-", "a", "none"]


def test_infinities_are_missing():
    assert read(["inf", "1.5", "-inf", "2.5"])[0] == [None, 1.5, None, 2.5]


def test_digits_with_leading_zeros_stay_texts():
    values, notes = read(["01234", "12345", "00001"])
    assert values == ["01234", "12345", "00001"]
    assert "'x' has codes with leading zeros, kept as text.  (--numeric)" in notes
    assert read(["01234", "12345"], numeric=("x",))[0] == [1234, 12345]


def test_a_few_texts_among_many_numbers_are_missing_values():
    values, notes = read([*map(str, range(100)), "broken"])
    assert values == [*range(100), None]
    text = "'x' has numbers except for 1 text, such as 'broken' in line 102, treated as missing."
    assert f"{text}  (--categorical)" in notes
    assert read([*map(str, range(100)), "broken"], categorical=("x",))[0][-1] == "broken"


def test_a_text_among_few_numbers_makes_categories():
    values, notes = read(["0", "1", "2", "3+"] * 20)
    assert values[:4] == ["0", "1", "2", "3+"]
    assert not notes


def test_a_column_without_any_value_is_kept_as_such():
    assert read(["", "NA", "?"])[0] == [None, None, None]


def test_an_unknown_column_in_an_option_is_named():
    with pytest.raises(ConfigError, match=r"^numeric: The stream has no column 'y'. Columns: row, x"):
        read(["1"], numeric=("y",))


def test_a_table_can_be_read_as_an_earlier_one_was():
    """One row tells nothing about decimal marks and dates."""
    with open_table(io.BytesIO(b"a;b;c\n1,5;31/01/2024;007\n2,5;01/02/2024;008\n")) as table:
        known = TableFormat.from_plain(table.format.to_plain())
    assert known == table.format
    with open_table(
        io.BytesIO(b"a;b;c\n1,234;03/04/2024;12\n"), ReadOptions(delimiter=";"), earlier_format=known
    ) as table:
        assert table.frame().rows() == [(1.234, date(2024, 4, 3), "12")]


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"columns": 3},
        {"decimal": "x"},
        {"missing": [1]},
        {"columns": {"a": {"kind": "code"}}},
        {"columns": {"a": {"kind": "text", "run": "this"}}},
        {"columns": {"a": {"kind": "date", "pattern": "%q"}}},
        {"columns": {"a": {"kind": "date", "pattern": 3}}},
        {"dialect": 3},
        {"dialect": {"delimiter": "ab"}},
        {"dialect": {"encoding": "klingon"}},
        {"dialect": {"quoting": "never"}},
        {"dialect": {"line_end": "x"}},
        {"dialect": {"has_header": 1}},
    ],
    ids=str,
)
def test_a_damaged_format_is_refused(data):
    whole = TableFormat().to_plain()
    assert TableFormat.from_plain(whole) == TableFormat()
    with pytest.raises(FileFormatError, match="The description of how to read tables is damaged"):
        TableFormat.from_plain(whole | data if data else data)
