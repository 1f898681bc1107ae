"""``madaline train`` leaves a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from report_page import Page

TITLES = {
    "penguins": ("Confusion matrix", "accuracy on the test set"),
    "auto_mpg": ("Predicted and true values", "Coverage of prediction intervals", "R2 on the test set"),
}


@pytest.mark.parametrize("name", TITLES)
def test_train_writes_a_report_with_all_its_parts(madaline, tmp_path, name):
    result = madaline("train", name, "--out", "run", "--epochs", "5", "--hidden", "16", "--no-baselines")
    assert result.code == 0, result.err
    assert "report.html" in result.out
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for section in ("result", "learning", "predictions", "columns", "net", "data", "use", "config"):
        assert f'<section id="{section}">' in text
    for title in (*TITLES[name], "Permutation importance", "Activations", "Gradient norm", "Relative update size"):
        assert title in text
    assert "madaline predict run/model.madaline" in text
    assert (tmp_path / "run" / "config.toml").read_text().splitlines()[-1].replace('"', "&quot;") in text


@pytest.mark.parametrize("options", [(), ("--rows", "150"), ("--memory", "4KB")], ids=["whole", "sampled", "streamed"])
def test_the_worst_predictions_are_named_by_their_rows_in_the_table(madaline, options):
    """Some rows have no target and are left out, so that places in memory are not those in the table."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=1500).round(4), "noise": rng.normal(size=1500).round(4)})
    values = (3.0 * table["x"].to_numpy() + rng.normal(size=1500)).round(3)
    y = pl.Series([None if missing else value for missing, value in zip(rng.random(1500) < 0.3, values, strict=True)])
    table.with_columns(y=y).write_csv("t.csv")
    run = ("train", "t.csv", "-t", "y", "--out", "run", "--epochs", "2", "--hidden", "8", "--no-baselines")
    result = madaline(*run, *options)
    assert result.code == 0, result.err
    names, *rows = Page(Path("run/report.html").read_text(encoding="utf-8")).rows("Worst predictions")
    assert len(rows) == 15
    for row in rows:
        found = dict(zip(names, row, strict=True))
        number = int(found["row"]) - 1
        assert float(found["x"]) == table["x"][number]
        assert float(found["true"]) == pytest.approx(y[number], abs=0.06)


def test_the_report_describes_the_training_set(madaline):
    assert madaline("train", "iris", "--out", "run", "--epochs", "2", "--hidden", "8", "--no-baselines").code == 0
    page = Page(Path("run/report.html").read_text(encoding="utf-8"))
    (bars,) = page.chart("Class balance")["data"]
    stacked = [chart["data"] for chart in page.charts if chart["layout"].get("barmode") == "stack"]
    assert [sum(sum(each["y"]) for each in data) for data in stacked] == [sum(bars["x"])] * 4
    assert sum(bars["x"]) == 102, "of 150 rows, 17 validate and 31 test"
    assert "rows of the training set" in page.text
