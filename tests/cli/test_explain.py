"""``madaline explain``: contributions of columns to single predictions, on the screen and as files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.data.datasets import DATASETS
from report_page import Page


def test_rows_are_explained_on_the_screen(madaline, penguins):
    result = madaline("explain", penguins, "penguins")
    assert result.code == 0, result.err
    titles = re.findall(r"Row (\d+): predicted (\w+), probability ([\d.]+) \(base ([\d.]+)\)", result.out)
    assert [int(number) for number, *_ in titles] == [1, 2, 3, 4, 5]
    assert titles[0][1] == "Adelie"
    (total,) = set(re.findall(r"sum +([+-][\d.]+)", result.out.split("Row 2")[0]))
    assert float(total) == pytest.approx(float(titles[0][2]) - float(titles[0][3]), abs=0.0025)
    assert "39.1" in result.out.split("Row 2")[0], "values of columns are shown"
    few = madaline("explain", penguins, "penguins", "--rows", "1", "--top", "2").out
    assert "other columns (4)" in few
    assert "Row 2" not in few


def test_python_gives_the_same_explanation(madaline, cars):
    document = madaline("explain", cars, "auto_mpg", "--row", "7", "--row", "300", "--json").json()
    table = DATASETS["auto_mpg"].table()
    found = md.explain(md.load(cars / "model.madaline"), table[[6, 299]])
    assert [each["row"] for each in document["explanations"]] == [7, 300]
    for place, each in enumerate(document["explanations"]):
        assert each["output"] == "mpg"
        assert each["prediction"] == pytest.approx(found.prediction[place], rel=1e-5)
        parts = {part["column"]: part["contribution"] for part in each["contributions"]}
        assert parts == pytest.approx(dict(zip(found.columns, found.contributions[place], strict=True)), abs=1e-4)
        assert sum(parts.values()) == pytest.approx(each["prediction"] - each["base"], rel=0.01)
        values = {part["column"]: part["value"] for part in each["contributions"]}
        assert values["weight"] == table["weight"][[6, 299][place]]


def test_csv_has_all_rows_and_all_contributions_beside_the_table(madaline, penguins):
    DATASETS["penguins"].table().with_columns(base=pl.lit("mine")).write_csv("new.csv")
    assert madaline("explain", penguins, "new.csv", "-o", "explained.csv").code == 0
    found = pl.read_csv("explained.csv")
    assert len(found) == 344
    assert set(found["base"]) == {"mine"}, "columns of the table stay as they are"
    parts = found.select(pl.col("^contribution .*$"))
    assert parts.width == 6, "the target is not a feature"
    change = found["prediction"] - found["base (explained)"]
    np.testing.assert_allclose(parts.sum_horizontal(), change, atol=0.005)
    scored = madaline("predict", penguins, "new.csv", "--only").out.splitlines()[1:]
    assert found["predicted"].to_list() == scored
    assert madaline("explain", penguins, "new.csv", "-o", "explained.csv").code == 1, "nothing is replaced unasked"
    assert madaline("explain", penguins, "new.csv", "-o", "explained.csv", "--force", "--rows", "3").code == 0
    assert len(pl.read_csv("explained.csv")) == 3


def test_html_is_a_small_page_without_scripts(madaline, penguins):
    DATASETS["penguins"].table().rename({"sex": "<b>sex</b>"}).write_csv("new.csv")
    assert madaline("train", "new.csv", "-t", "species", "--out", "run", "--epochs", "2", "--no-report").code == 0
    result = madaline("explain", "run", "new.csv", "--rows", "4", "--output", "Gentoo", "-o", "explained.html")
    assert result.code == 0, result.err
    text = Path("explained.html").read_text(encoding="utf-8")
    assert len(text) < 40_000
    page = Page(text)
    assert page.sections == ["row-1", "row-2", "row-3", "row-4"]
    assert "script" not in page.tags
    assert "default-src 'none'" in text
    assert "&lt;b&gt;sex&lt;/b&gt;" in text
    assert "probability of Gentoo" in page.text


def test_labels_and_classes_are_chosen_by_name(madaline, penguins):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "old": x[:, 0] > 0, "red": x[:, 1] > 0}).write_csv("labels.csv")
    run = ("train", "labels.csv", "-t", "old", "-t", "red", "--out", "run", "--epochs", "3", "--no-report")
    assert madaline(*run).code == 0
    result = madaline("explain", "run", "labels.csv")
    assert result.code == 2
    assert "--output NAME. Known: old, red." in result.err
    assert "probability of red" in madaline("explain", "run", "labels.csv", "--output", "red").out
    wrong = madaline("explain", penguins, "penguins", "--output", "Emperor")
    assert (wrong.code, wrong.err) == (
        2,
        "madaline: --output Emperor is not known. Known: Adelie, Chinstrap, Gentoo.\n",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--row", "345"), "--row 345: the table has 344 rows."),
        (("--row", "0"), "--row 0 must be at least 1."),
        (("--rows", "0"), "--rows 0 must be at least 1."),
        (("--rows", "2", "--row", "3"), "--rows explains the first rows and --row chosen ones."),
        (("-o", "explained.txt"), "-o explained.txt: the file must end in .csv or .html."),
        (("-o", "no/explained.csv"), "The folder 'no' for 'explained.csv' does not exist."),
    ],
)
def test_what_cannot_be_is_said(madaline, penguins, tmp_path, options, message):
    result = madaline("explain", penguins, "penguins", *options)
    assert result.code in (1, 2)
    assert message in result.err
    assert not list(tmp_path.iterdir())


def test_a_table_without_a_column_is_refused(madaline, penguins, tmp_path):
    DATASETS["penguins"].table().drop("sex").write_csv("new.csv")
    result = madaline("explain", penguins, "new.csv", "-o", "explained.csv")
    assert result.code == 1
    assert "The table has no column 'sex'" in result.err
    assert [file.name for file in tmp_path.iterdir()] == ["new.csv"]
