"""``madaline predict``: answers beside the rows, in files, pipes and parts."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from madaline.data.datasets import DATASETS
from madaline.data.reading.format import TableFormat
from madaline.errors import InputError


def test_answers_stand_beside_the_rows(madaline, penguins):
    result = madaline("predict", penguins, "penguins", "-o", "scored.csv")
    assert result.code == 0, result.err
    assert "344 rows written to scored.csv" in result.out
    scored = pl.read_csv("scored.csv")
    assert scored.columns == [*DATASETS["penguins"].table().columns, "predicted species"]
    assert (scored["species"] == scored["predicted species"]).mean() > 0.9


def test_a_model_file_serves_as_well_as_its_folder(madaline, penguins):
    from_file = madaline("predict", penguins / "model.madaline", "penguins").out
    assert from_file == madaline("predict", penguins, "penguins").out


def test_probabilities_are_those_of_the_classes(madaline, penguins):
    table = pl.read_csv(io.StringIO(madaline("predict", penguins, "penguins", "--proba", "--only").out))
    names = ["probability Adelie", "probability Chinstrap", "probability Gentoo"]
    assert table.columns == ["predicted species", *names]
    assert np.allclose(table.select(names).sum_horizontal(), 1.0)


def test_intervals_hold_the_truth_as_often_as_they_say(madaline, cars):
    text = madaline("predict", cars, "auto_mpg", "--interval", "0.8").out
    table = pl.read_csv(io.StringIO(text))
    low, high = table["predicted mpg low"], table["predicted mpg high"]
    assert 0.65 < ((table["mpg"] >= low) & (table["mpg"] <= high)).mean() < 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interval", "0.9"], "The model predicts classes: intervals are for numbers"),
        (["-o", "there.csv"], "'there.csv' already exists. Choose another name, or use --force"),
        (["-o", "no/folder/x.csv"], "The folder 'no/folder' for 'x.csv' does not exist"),
    ],
    ids=["interval", "exists", "folder"],
)
def test_what_cannot_be_is_refused_before_anything_is_read(madaline, penguins, options, message):
    Path("there.csv").write_text("mine")
    result = madaline("predict", penguins, "penguins", *options)
    assert result.code in (1, 2)
    assert message in result.err
    assert Path("there.csv").read_text() == "mine"


def test_numbers_have_no_probabilities_and_intervals_are_shares(madaline, cars):
    assert "there are no classes, and no probabilities" in madaline("predict", cars, "auto_mpg", "--proba").err
    assert "--interval 2.0 must be between 0 and 0.995" in madaline("predict", cars, "auto_mpg", "--interval", "2").err


def test_columns_may_come_in_any_order_and_more_of_them(madaline, penguins):
    table = DATASETS["penguins"].table().drop("species")
    table.select(reversed(table.columns)).with_columns(note=pl.lit("x")).write_csv("new.csv", separator=";")
    other = pl.read_csv(io.StringIO(madaline("predict", penguins, "new.csv", "--only").out))
    same = pl.read_csv(io.StringIO(madaline("predict", penguins, "penguins", "--only").out))
    assert other.equals(same)


def test_a_missing_column_is_named(madaline, penguins):
    DATASETS["penguins"].table().drop("island").write_csv("new.csv")
    result = madaline("predict", penguins, "new.csv", "-o", "out.csv")
    assert result.code == 1
    assert "The table has no column 'island', which the model was trained with" in result.err
    assert not Path("out.csv").exists()
    assert not list(Path().glob(".out*"))


def test_one_row_is_read_as_the_training_table_was(madaline):
    """A decimal comma and a date could be anything in a file of one row."""
    lines = ["x;d;y", *(f"{k % 9},25;{1 + k % 28}/02/2024;{(k % 9) ** 2}" for k in range(200))]
    Path("train.csv").write_text("\n".join(lines))
    options = ("--epochs", "60", "--learning-rate", "0.01", "--no-baselines", "--no-report", "--task", "regression")
    assert madaline("train", "train.csv", "-t", "y", "--out", "run", *options).code == 0
    Path("one.csv").write_text("x;d\n8,250;03/02/2024\n")
    answer = float(madaline("predict", "run", "one.csv", "--only").out.splitlines()[1].replace(",", "."))
    assert answer == pytest.approx(64, abs=15)


def test_what_was_assumed_is_said_beside_standard_output(madaline, penguins):
    DATASETS["penguins"].table().head(3).write_csv("new.csv", separator=";")
    result = madaline("predict", penguins, "new.csv")
    assert "Fields are separated by a semicolon.  [--delimiter]" in result.err
    assert result.out == madaline("predict", penguins, "new.csv", "--delimiter", ";").out
    assert len(result.out.splitlines()) == 4


def test_standard_input_and_output_are_files_too(madaline, penguins, monkeypatch):
    content = DATASETS["penguins"].table().write_csv().encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert madaline("predict", penguins, "-").out == madaline("predict", penguins, "penguins").out


def test_parquet_goes_in_and_out(madaline, penguins):
    DATASETS["penguins"].table().write_parquet("new.parquet")
    assert madaline("predict", penguins, "new.parquet", "-o", "out.parquet", "--only").code == 0
    expected = madaline("predict", penguins, "penguins", "--only").out
    assert pl.read_parquet("out.parquet").write_csv() == expected


def test_a_parquet_file_of_many_parts_is_the_same_table(madaline, cars, monkeypatch):
    assert madaline("predict", cars, "auto_mpg", "-o", "once.parquet").code == 0
    madaline("datasets", "auto_mpg", "-o", "cars.csv")
    monkeypatch.setattr("madaline.data.reading.encoding.BLOCK", 4096)
    result = madaline("predict", cars, "cars.csv", "-o", "parts.parquet")
    assert result.code == 0, result.err
    once, parts = pl.read_parquet("once.parquet"), pl.read_parquet("parts.parquet")
    assert len(parts) == len(once) == 398
    np.testing.assert_allclose(parts["predicted mpg"], once["predicted mpg"])
    assert {path.name for path in Path().iterdir()} == {"once.parquet", "cars.csv", "parts.parquet"}


def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(madaline, cars, monkeypatch):
    madaline("datasets", "auto_mpg", "-o", "cars.csv")
    Path("scored.parquet").write_text("old")
    monkeypatch.setattr("madaline.data.reading.encoding.BLOCK", 4096)
    calls = []

    def fails_the_third_time(saved, rows, n_rows, **options):
        calls.append(n_rows)
        if len(calls) == 3:
            raise InputError("enough")
        return {"predicted mpg": np.zeros(n_rows)}

    monkeypatch.setattr("madaline.estimators.tabular.saved_model.SavedModel.predictions", fails_the_third_time)
    result = madaline("predict", cars, "cars.csv", "-o", "scored.parquet", "--force")
    assert (result.code, result.err) == (1, "madaline: enough\n")
    assert Path("scored.parquet").read_text() == "old"
    assert {path.name for path in Path().iterdir()} == {"scored.parquet", "cars.csv"}


def test_a_link_beside_the_output_is_not_followed(madaline, cars):
    """Whoever can write to the folder must not be able to have another file overwritten."""
    Path("victim").write_text("precious")
    for name in (".scored.csv.part", ".scored.parquet.part"):
        Path(name).symlink_to("victim")
    for out in ("scored.csv", "scored.parquet"):
        assert madaline("predict", cars, "auto_mpg", "-o", out).code == 0
        assert len(pl.read_csv(out) if out.endswith("csv") else pl.read_parquet(out)) == 398
    assert Path("victim").read_text() == "precious"


WRITES = """
import sys
from pathlib import Path
import numpy as np, polars as pl
from madaline.estimators.tabular.scored_table import write_table
from madaline.data.reading.format import TableFormat
rng = np.random.default_rng(0)
parts = (pl.DataFrame({f"c{j}": rng.normal(size=100_000) for j in range(10)}) for _ in range(80))
assert write_table(parts, Path(sys.argv[1]), TableFormat()) == 8_000_000
# Not getrusage, whose maximum is at least that of the process which started this one.
print(next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, as Linux has it")
def test_parquet_larger_than_memory_is_written_part_by_part(tmp_path):
    path = tmp_path / "scored.parquet"
    run = subprocess.run([sys.executable, "-c", WRITES, str(path)], capture_output=True, text=True, check=True)
    assert path.stat().st_size > 2 * int(run.stdout)
    assert pl.scan_parquet(path).select(pl.len()).collect().item() == 8_000_000


def test_a_part_that_cannot_be_read_is_told_as_it_is_and_leaves_no_file(tmp_path):
    from madaline.estimators.tabular.scored_table import write_table

    def parts():
        yield pl.DataFrame({"a": [1.0, 2.0]})
        raise OSError("the table ends here")

    with pytest.raises(OSError, match="the table ends here"):
        write_table(parts(), tmp_path / "scored.parquet", TableFormat())
    assert list(tmp_path.iterdir()) == []


def test_scripts_get_json(madaline, penguins):
    document = madaline("predict", penguins, "penguins", "-o", "out.csv", "--json").json()
    assert document == {"rows": 344, "out": "out.csv", "assumptions": []}


@pytest.mark.parametrize("content", [b"", b"no model", bytes(1000)], ids=["empty", "text", "zeros"])
def test_a_file_that_is_no_model_is_refused(madaline, content):
    Path("x.madaline").write_bytes(content)
    result = madaline("predict", "x.madaline", "penguins")
    assert result.code == 1
    assert "is damaged or not a madaline file" in result.err


def test_a_net_alone_is_not_enough(madaline):
    import madaline as md

    md.save(md.mlp(4, 3).init(5), "net.madaline")
    result = madaline("predict", "net.madaline", "penguins")
    assert result.code == 1
    assert "holds a net without the columns" in result.err


def test_scores_are_written_in_the_dialect_of_the_table(madaline):
    lines = ["x;d;y", *(f"{k % 9},25;{1 + k % 28}/02/2024;{(k % 9) ** 2},5" for k in range(200))]
    Path("train.csv").write_text("\n".join(lines))
    options = ("--epochs", "3", "--no-baselines", "--no-report")
    assert madaline("train", "train.csv", "-t", "y", "--out", "run", *options).code == 0
    assert madaline("predict", "run", "train.csv", "-o", "scored.csv").code == 0
    header, first = Path("scored.csv").read_text().splitlines()[:2]
    assert header == "x;d;y;predicted y"
    assert first.startswith(("0,25;1/02/2024;0,5;", "0,25;01/02/2024;0,5;"))
    assert "." not in first
    assert madaline("predict", "run", "train.csv").out == Path("scored.csv").read_text()


def test_texts_that_are_formulas_get_an_apostrophe(madaline, penguins):
    rows = Path("new.csv")
    table = DATASETS["penguins"].table().head(3)
    table = table.with_columns(pl.Series("=note", ["=cmd|' /C calc'!A0", "@sum", "fine"]))
    table.write_csv(rows)
    plain = madaline("predict", penguins, rows)
    safe = madaline("predict", penguins, rows, "--safe")
    assert "\n" + plain.out.split("\n", 1)[1].replace("=cmd", "'=cmd").replace("@sum", "'@sum") in "\n" + safe.out
    assert "'=note" in safe.out.split("\n")[0]


def test_escape_sequences_in_names_do_not_reach_the_terminal(madaline):
    text = "a\x1b[31m,b\x07,y\n" + "".join(f"{k},x{k % 3},{k % 2}\n" for k in range(60))
    Path("t.csv").write_text(text)
    result = madaline("train", "t.csv", "-t", "nothing", "--out", "run")
    assert result.code != 0
    assert "\x1b" not in result.err + result.out
    assert "\\x1b[31m" in result.err


@pytest.fixture
def parts():
    """Three tables of cars in a folder."""
    Path("big").mkdir()
    frame = DATASETS["auto_mpg"].table()
    for k in range(3):
        frame.slice(100 * k, 100).write_parquet(f"big/part-{k}.parquet")
    return sorted(map(str, Path("big").iterdir()))


def test_several_files_get_a_folder_with_a_file_for_each(madaline, cars, parts):
    result = madaline("predict", cars, *parts, "-o", "scored")
    assert (result.code, result.err) == (0, "")
    assert "300 rows of 3 files written to scored." in result.out
    for part in parts:
        assert madaline("predict", cars, part, "-o", "alone.parquet", "--force").code == 0
        assert Path("scored", Path(part).name).read_bytes() == Path("alone.parquet").read_bytes()


def test_files_that_were_scored_before_are_kept(madaline, cars, parts):
    assert madaline("predict", cars, *parts, "-o", "scored").code == 0
    before = Path("scored/part-0.parquet").stat().st_mtime_ns
    Path("scored/part-1.parquet").unlink()
    pl.read_parquet(parts[2]).head(7).write_parquet(parts[2])
    found = madaline("predict", cars, "big", "-o", "scored", "--json").json()
    assert found == {"rows": 107, "out": "scored", "files": 2, "kept": 1, "errors": []}
    assert Path("scored/part-0.parquet").stat().st_mtime_ns == before
    assert len(pl.read_parquet("scored/part-2.parquet")) == 7
    other = madaline("predict", cars, "big", "-o", "scored", "--only")
    assert other.code == 1
    assert "of another model or with other options, such as 'part-0.parquet'" in other.err
    assert madaline("predict", cars, "big", "-o", "scored", "--only", "--force").code == 0
    assert pl.read_parquet("scored/part-0.parquet").columns == ["predicted mpg"]


def test_a_damaged_file_does_not_keep_the_others_from_being_scored(madaline, cars, parts):
    whole = Path(parts[1]).read_bytes()
    Path(parts[1]).write_bytes(whole[:-100])
    result = madaline("predict", cars, *parts, "-o", "scored")
    assert result.code == 1
    assert "1 file of 3 could not be scored. Repeat the command to score only these." in result.err
    assert "part-1.parquet" in result.err
    assert {path.name for path in Path("scored").iterdir()} == {"_scored", "part-0.parquet", "part-2.parquet"}
    Path(parts[1]).write_bytes(whole)
    assert madaline("predict", cars, *parts, "-o", "scored", "--json").json()["kept"] == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["big"], "choose a folder for the predictions"),
        (["-", "-o", "scored"], "'-' is not a file. With --cluster, and for several tables, give files or folders"),
        (["nowhere.parquet", "-o", "scored"], "There is no file 'nowhere.parquet'"),
        (["big", "-o", "big"], "is the folder of the tables"),
        (["big", "-o", "no/scored"], "does not exist"),
        (["big", "-o", "file"], "is a file"),
        (["big", "-o", "scored.csv"], "--out scored.csv is a file. Several tables need a folder"),
        (["big", "big/../big", "-o", "scored"], "is given twice. Leave out one of them."),
    ],
)
def test_a_folder_that_cannot_be_written_is_one_sentence(madaline, cars, parts, arguments, text):
    Path("file").touch()
    result = madaline("predict", cars, *arguments, "--cluster", "auto")
    assert result.code != 0
    assert text in result.err
    assert not Path("scored").exists()
