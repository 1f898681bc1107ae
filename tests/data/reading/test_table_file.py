"""Files, folders, streams and data sets become tables; large ones part by part, hostile ones never crash."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import random
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from madaline.data.reading.table_file import ReadOptions, open_table, read_table
from madaline.errors import FileFormatError, MadalineError

FRAME = pl.DataFrame({"age": [31, 22, 40], "city": ["Rome", None, "Oslo"], "fare": [2.5, 3.5, 1.25]})


def test_a_csv_file_and_a_parquet_file_hold_the_same_table(tmp_path):
    FRAME.write_csv(tmp_path / "table.csv")
    FRAME.write_parquet(tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.csv")[0].equals(FRAME)
    assert read_table(tmp_path / "table.parquet")[0].equals(FRAME)


def test_types_that_only_parquet_has_become_those_all_know(tmp_path):
    frame = FRAME.with_columns(
        kind=pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        cost=pl.Series([1, 2, 3]).cast(pl.Decimal(10, 2)),
        tags=pl.Series([["x"], [], ["y", "z"]]),
        when=pl.datetime(2024, 1, 2, 3, time_zone="Europe/Rome"),
    )
    frame.write_parquet(tmp_path / "table.parquet")
    found, assumptions = read_table(tmp_path / "table.parquet")
    assert found.schema["kind"] == pl.String
    assert found.schema["cost"] == pl.Float64
    assert str(found["when"][0]) == "2024-01-02 02:00:00"
    assert "tags" not in found.columns
    assert [assumption.flag for assumption in assumptions] == ["--ignore"]


def test_a_damaged_parquet_file_is_refused(tmp_path):
    FRAME.write_parquet(tmp_path / "table.parquet")
    content = (tmp_path / "table.parquet").read_bytes()
    (tmp_path / "table.parquet").write_bytes(content[:-20])
    with pytest.raises(FileFormatError, match="damaged Parquet file"):
        read_table(tmp_path / "table.parquet")


PANIC = (
    r"c-nPR%}T>S5Z+Bo^w5Kp&eA{*IcTt0G>xroL=S7Nzg3eUh{vR9R8S+0|0f^JM-T)bLBxYk;Y=F6h{NuDyEET>GqCGQzX3(C!0Lkv"
    r"j4{r}rsP=25g1gUQb*DhZgoshxl)*BP}EvXozkj2047xN#BrIvIf)r6>LcXJ_v9W>s|@8oTD+h@=|?Keq(TvzU)+4=Ow)xAO9F{_"
    r"`r^=}BPiO+R&kUh*HFY}GYXEtphOtXu)dBIp=!ETH{ZDa-<T6jyeUv&=8K~L-(P$xAeeaPLNzB5Dl|y7Bz^zjXgM964ljc02VWpt"
    r"+LmZNa-Cbe-+TEz3++mo%5H|9oO3aMcSmt7I>~uieHL6Jw|9u7&fr&c%v;-#xw(&&?~xuYxk>fwDUEVK`EJHK&b+ssiS|xViqIQ3"
    r"ThFB&n#YpAt+8~6M7#O@*psWQy6-0E!6-FmuO6;XlgpZMI~=8F$)#b>H|8y4HoQ4IkBoNgSaujK#&Kk~<G5o-ji%l11eO!nPAiV>"
    r"xE%~5$F6C0d?<RWSNt6=e#mdIy?-S"
)
"A small Parquet file with one wrong byte, at which the native code of polars panics."


def test_a_parquet_file_at_which_polars_panics_is_refused(tmp_path):
    (tmp_path / "table.parquet").write_bytes(zlib.decompress(base64.b85decode(PANIC)))
    with pytest.raises(FileFormatError, match=r"is a damaged Parquet file: .* Download or copy it again"):
        read_table(tmp_path / "table.parquet")


def test_dates_as_text_are_read_from_parquet_as_from_csv(tmp_path):
    days = [f"{1 + k % 28:02d}/{1 + k % 12:02d}/2024" for k in range(60)]
    frame = pl.DataFrame({"day": days, "word": ["a", "b", "c"] * 20, "mixed": [*days[:59], "soon"]})
    frame.write_parquet(tmp_path / "t.parquet")
    found, notes = read_table(tmp_path / "t.parquet")
    assert found.schema == {"day": pl.Date, "word": pl.String, "mixed": pl.String}
    assert found["day"].equals(frame["day"].str.to_date("%d/%m/%Y"))
    assert [str(each) for each in notes] == ["'day' has dates (day/month/year).  (--dates)"]
    assert read_table(tmp_path / "t.parquet", dates="none")[0].equals(frame)
    assert read_table(tmp_path / "t.parquet", categorical=("day",))[0].equals(frame)
    with open_table(tmp_path / "t.parquet") as table:
        known = table.format
    frame.head(1).with_columns(day=pl.lit("03/04/2024")).write_parquet(tmp_path / "one.parquet")
    with open_table(tmp_path / "one.parquet", earlier_format=known) as table:
        assert str(table.frame()["day"][0]) == "2024-04-03"
        assert [each.text for each in table.assumptions][:1] == ["'day' has dates (day/month/year)."]


def test_a_folder_is_one_table(tmp_path):
    FRAME[:1].write_csv(tmp_path / "b.csv")
    FRAME[1:].select("fare", "city", "age").write_csv(tmp_path / "a.csv", separator=";")
    (tmp_path / "notes.md").write_text("no table")
    frame, assumptions = read_table(tmp_path)
    assert frame["age"].to_list() == [22, 40, 31]
    assert "2 files of the folder, one after the other." in assumptions[0].text


def test_a_folder_of_unlike_files_is_refused(tmp_path):
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.rename({"age": "years"}).write_csv(tmp_path / "b.csv")
    with pytest.raises(FileFormatError, match=r"b.csv has other columns than .*a.csv: only one .* has 'age', 'years'"):
        read_table(tmp_path)
    (tmp_path / "b.csv").unlink()
    FRAME.write_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match="put texts, such as CSV, and files with types, such as Parquet, in"):
        read_table(tmp_path)


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"has no table in it: no file that ends in .csv or .parquet"):
        read_table(tmp_path)


def test_a_data_set_is_found_by_its_name():
    frame, assumptions = read_table("penguins")
    assert frame.shape == (344, 7)
    assert not assumptions


def test_what_does_not_exist_is_refused():
    with pytest.raises(FileNotFoundError, match="There is no file 'pinguins', and no data set of that name"):
        read_table("pinguins")
    with pytest.raises(TypeError, match=r"read_table has no option 'delimeter'. Did you mean 'delimiter'\?"):
        read_table("penguins", delimeter=";")


def test_a_table_of_ten_thousand_columns_is_read(tmp_path):
    names = [f"c{k}" for k in range(10_000)]
    rows = [",".join(str((k + row) % 7) for k in range(10_000)) for row in range(5)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]))
    frame, _ = read_table(tmp_path / "wide.csv")
    assert frame.shape == (5, 10_000)
    assert frame.schema["c9999"] == pl.Int64


def test_all_parts_have_the_same_types_though_the_last_row_decides(tmp_path):
    lines = ["n,word", *(f"{k},w{k % 3}" for k in range(120_000)), "0.5,w1"]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    with open_table(tmp_path / "long.csv") as table:
        batches = list(table.batches())
    assert len(batches) > 1
    assert {str(batch.schema) for batch in batches} == {str(pl.Schema({"n": pl.Float64, "word": pl.String}))}
    assert sum(map(len, batches)) == table.n_rows == 120_001


MEASURE = """
import json, sys
from madaline.data.reading.table_file import open_table
def peak():
    # Not getrusage, whose maximum is at least that of the process which started this one.
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
def read(path):
    rows, total = 0, 0.0
    with open_table(path) as table:
        for batch in table.batches():
            rows += len(batch)
            total += float(batch["x0"].sum())
    return rows, total
read(sys.argv[1])
before = peak()
print(json.dumps([*read(sys.argv[2]), peak() - before]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, as Linux has it")
def test_a_file_several_times_larger_than_the_memory_used_is_streamed(tmp_path):
    """A block of lines many times over, with a long text in each; the process measures its own peak of memory.

    It reads a small file first, so that programs and libraries, many times larger than what is tested, do not count.
    """
    rng = random.Random(0)
    words = [f"word{k}" for k in range(1000)]
    block = "".join(
        f"{rng.random() + 1:.15f},{rng.randrange(1000)},{' '.join((words[k % 1000 :] + words)[:300])}\n"
        for k in range(2000)
    )
    path = tmp_path / "huge.csv"
    n_blocks = 50
    (tmp_path / "small.csv").write_text("x0,x1,note\n" + block)
    with path.open("w") as file:
        file.write("x0,x1,note\n")
        for _ in range(n_blocks):
            file.write(block)
    size = path.stat().st_size
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "small.csv"), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows, total, peak = json.loads(run.stdout)
    once = sum(float(line.split(",")[0]) for line in block.splitlines())
    assert rows == n_blocks * 2000
    assert total == pytest.approx(n_blocks * once)
    assert size > 2.5 * peak, f"{size / 2**20:.0f} MiB read with a peak of {peak / 2**20:.0f} MiB"


CARDS = [
    ("uci_credit_card_cr_only.csv", 30_000, 25),
    ("seoul_bike_latin1.csv", 8_760, 15),
    ("air_quality_decimal_comma.csv", 9_357, 15),
    ("titanic_kaggle.csv", 891, 12),
    ("telco_churn_blank.csv", 7_043, 21),
    ("student_por_semicolon.csv", 649, 33),
    ("horse_colic_spaces.data", 300, 28),
    ("auto_imports_noheader.csv", 201, 26),
    ("stroke_na_text.csv", 5_110, 12),
    ("gdp_tab_latin1.tsv", 189, 7),
    ("beijing_pm_semicolon_extra.csv", 41_757, 15),
    ("water_potability.csv", 3_276, 10),
    ("superstore.csv", 9_994, 13),
    ("orange_cyber_breaches.tab", 1_055, 10),
]


@pytest.mark.parametrize(("name", "n_rows", "n_columns"), CARDS, ids=[card[0] for card in CARDS])
def test_files_from_the_wild_are_read(data_dir, name, n_rows, n_columns):
    frame, _ = read_table(data_dir / "messy" / name)
    assert frame.shape == (n_rows, n_columns)


def test_what_is_odd_about_files_from_the_wild_is_understood(data_dir):
    def kinds(name, *columns):
        return [read_table(data_dir / "messy" / name)[0].schema[column] for column in columns]

    assert kinds("air_quality_decimal_comma.csv", "Date", "Time", "CO(GT)") == [pl.Date, pl.Float64, pl.Float64]
    assert kinds("telco_churn_blank.csv", "TotalCharges") == [pl.Float64]
    assert kinds("stroke_na_text.csv", "bmi") == [pl.Float64]
    assert kinds("gdp_tab_latin1.tsv", "2015") == [pl.Float64]
    assert kinds("seoul_bike_latin1.csv", "Date", "Temperature(°C)") == [pl.Date, pl.Float64]
    assert kinds("student_por_semicolon.csv", "G1") == [pl.Int64]
    assert kinds("horse_colic_spaces.data", "column_4", "column_25") == [pl.Float64, pl.String]


words = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=8)


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(st.integers(-(2**40), 2**40), words, st.floats(-1e9, 1e9)), min_size=2, max_size=20),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_csv_writer_wrote_is_what_is_read(rows, delimiter, encoding, end):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["number", "word", "float"])
    written = [(number, f"w{word}w", value) for number, word, value in rows]
    writer.writerows(written)
    frame, _ = read_table(io.BytesIO(text.getvalue().encode(encoding)), delimiter=delimiter, header=1)
    assert frame["number"].to_list() == [number for number, _, _ in written]
    assert [word.replace("\r\n", "\n") for word in frame["word"]] == [word for _, word, _ in written]
    assert frame["float"].cast(pl.Float64).to_list() == [value for _, _, value in written]


PIECES = (
    b',|;|\t|"|""|\n|\r\n|\r|\n\n| |1|2.5|-3,5|a|NA|?|$1,000|3/4/2024|18:30|00|\xff|\xc3\xa9|\xef\xbb\xbf|\xff\xfe'
    b"|\x1f\x8b|#|(|\x00|inf|1e999|PAR1|=cmd()"
)
pieces = st.sampled_from([b"|", *PIECES.split(b"|")])


@settings(max_examples=400)
@given(st.one_of(st.binary(max_size=400), st.lists(pieces, max_size=60).map(b"".join)))
def test_any_bytes_are_a_table_or_refused_with_a_sentence(content):
    try:
        frame, assumptions = read_table(io.BytesIO(content))
    except MadalineError as error:
        message = str(error)
        assert message, content
    else:
        assert len(frame) > 0
        assert len(set(frame.columns)) == frame.width
        assert all(assumption.text and assumption.flag for assumption in assumptions)


@settings(max_examples=100)
@given(
    st.lists(pieces, min_size=1, max_size=40).map(b"".join),
    st.sampled_from(["fill", "drop", "auto"]),
    st.sampled_from([None, ",", ";", " "]),
    st.sampled_from([None, 0, 1, 2]),
)
def test_any_bytes_and_options_are_a_table_or_refused(content, ragged, delimiter, header):
    try:
        with open_table(io.BytesIO(content), ReadOptions(ragged=ragged, delimiter=delimiter, header=header)) as table:
            assert sum(len(batch) for batch in table.batches()) == table.n_rows > 0
    except MadalineError as error:
        message = str(error)
        assert message, content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_named_pipe_is_read_once(tmp_path):
    """What a shell makes of <(command)."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a,b\n1,2\n3,4\n",), daemon=True)
    writer.start()
    frame, _ = read_table(pipe)
    writer.join()
    assert frame.rows() == [(1, 2), (3, 4)]
