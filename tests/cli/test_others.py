"""``madaline evaluate``, ``inspect``, ``export`` and ``datasets``."""

from __future__ import annotations

import errno
import importlib.util
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import madaline as md
from madaline.data.datasets import DATASETS


def test_evaluate_scores_and_counts_confusions(madaline, penguins):
    result = madaline("evaluate", penguins, "penguins")
    assert result.code == 0
    assert "Scores on 344 rows" in result.out
    assert "accuracy: fraction of rows whose class is predicted correctly" in result.out
    document = madaline("evaluate", penguins, "penguins", "--json").json()
    confusion = document["confusion"]
    assert sum(map(sum, confusion)) == 344
    right = sum(confusion[k][k] for k in range(3))
    assert document["scores"]["accuracy"]["value"] == pytest.approx(right / 344)
    assert document["classes"] == ["Adelie", "Chinstrap", "Gentoo"]


def test_evaluate_warns_that_rows_of_training_score_too_well(madaline, penguins):
    warning = "trained on this table"
    assert warning in madaline("evaluate", penguins, "penguins").out
    assert warning in madaline("evaluate", penguins, "penguins", "--json").json()["warnings"][0]
    DATASETS["penguins"].table().write_csv("others.csv")
    assert warning not in madaline("evaluate", penguins, "others.csv").out
    assert madaline("train", "others.csv", "-t", "species", "--out", "own", "--epochs", "2", "--no-report").code == 0
    assert warning in madaline("evaluate", "own", "others.csv").out


def test_evaluate_leaves_out_rows_without_a_target_and_needs_the_column(madaline, cars):
    table = DATASETS["auto_mpg"].table()
    table.with_columns(pl.when(pl.col("origin") != "usa").then("mpg").alias("mpg")).write_csv("some.csv")
    document = madaline("evaluate", cars, "some.csv", "--json").json()
    assert document["rows"] == (table["origin"] != "usa").sum()
    assert set(document["scores"]) == {"R2", "RMSE", "MAE"}
    table.drop("mpg").write_csv("none.csv")
    assert "The table has no column 'mpg', the target" in madaline("evaluate", cars, "none.csv").err
    table.with_columns(mpg=None).write_csv("gaps.csv")
    assert "'mpg' has no values: there is nothing to compare with." in madaline("evaluate", cars, "gaps.csv").err


def test_evaluate_agrees_with_the_scores_of_training(madaline):
    """On the test rows themselves, the numbers are those of the run."""
    assert madaline("train", "iris", "--out", "run", "--epochs", "10", "--no-baselines", "--no-report").code == 0
    scores = json.loads(Path("run/result.json").read_text())["scores"]
    from madaline.data.split import split_rows

    table = DATASETS["iris"].table()
    split = split_rows(len(table), way="stratified", by=table["species"].to_numpy())
    table[split.test].write_csv("test.csv")
    again = madaline("evaluate", "run", "test.csv", "--json").json()["scores"]
    assert again["accuracy"]["value"] == pytest.approx(scores["accuracy"]["value"])
    assert again["log loss"]["value"] == pytest.approx(scores["log loss"]["value"], rel=1e-4)


def test_inspect_shows_columns_layers_scores_and_where_it_is_from(madaline, penguins):
    result = madaline("inspect", penguins)
    for text in (
        "classification of 'species'",
        "bill_length_mm",
        "Linear(128)",
        "accuracy",
        "source: penguins",
        "seed: 0",
    ):
        assert text in result.out
    document = madaline("inspect", penguins / "model.madaline", "--json").json()
    assert document["about"]["source"] == "penguins"
    assert document["n_weights"] > 100
    assert document["parameters"]["hidden_layer_sizes"] == [128, 128, 128]


def test_inspect_writes_large_scores_as_train_does(madaline, cars, tmp_path):
    estimator = md.load(cars / "model.madaline")
    score = {"value": 8730.4, "low": 8012.0, "high": 12345.6}
    estimator.provenance_ = replace(estimator.provenance_, about={"scores": {"RMSE": score}})
    md.save(estimator, tmp_path / "large.madaline")
    out = madaline("inspect", tmp_path / "large.madaline").out
    assert "8,730" in out
    assert "12,346" in out
    assert "e+0" not in out


def test_inspect_takes_what_a_file_says_about_itself_for_no_more_than_it_is(madaline, penguins, tmp_path):
    estimator = md.load(penguins / "model.madaline")
    about = {"scores": [1, 2], "rows": "many", "recipe": None, "versions": {"x": {"y": 1}}}
    estimator.provenance_ = replace(estimator.provenance_, about=about)
    md.save(estimator, tmp_path / "odd.madaline")
    assert madaline("inspect", tmp_path / "odd.madaline").code == 0


@pytest.mark.parametrize("to", ["onnx", "python", "torch"])
def test_export_writes_beside_the_model_or_where_told(madaline, penguins, to):
    if to == "onnx":
        pytest.importorskip("onnx", reason="the onnx package writes the graph")
    result = madaline("export", penguins, "--to", to, "-o", f"exported.{to}")
    assert result.code == 0, result.err
    assert Path(f"exported.{to}").stat().st_size > 0
    again = madaline("export", penguins, "--to", to, "-o", f"exported.{to}")
    assert again.code == 1
    assert "already" in again.err
    assert madaline("export", penguins, "--to", to, "-o", f"exported.{to}", "--force").code == 0


def test_an_exported_file_answers_as_the_model_does_from_the_same_columns(madaline, penguins):
    assert madaline("export", penguins, "--to", "python", "-o", "model.py").code == 0
    expected = pl.read_csv(io.StringIO(madaline("predict", penguins, "penguins", "--proba", "--only").out))
    spec = importlib.util.spec_from_file_location("exported_model", "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.predict({name: column.to_list() for name, column in DATASETS["penguins"].table().to_dict().items()})
    assert found["label"].tolist() == expected["predicted species"].to_list()
    assert found["probabilities"] == pytest.approx(expected[:, 1:].to_numpy(), abs=1e-5)


def test_export_to_what_is_not_known_is_refused(madaline, penguins):
    result = madaline("export", penguins, "--to", "onx")
    assert result.code == 2
    assert "Did you mean 'onnx'?" in result.err


def test_datasets_are_listed_shown_and_written(madaline):
    assert "penguins" in madaline("datasets").out
    one = madaline("datasets", "penguins")
    assert "CC0" in one.out
    assert "bill_length_mm" in one.out
    assert madaline("datasets", "moons", "-o", "moons.csv").code == 0
    assert pl.read_csv("moons.csv").columns == ["x", "y", "class"]
    assert madaline("datasets", "moons", "-o", "moons.csv").code == 1
    assert set(madaline("datasets", "--json").json()) == set(DATASETS.names())
    assert "name the data set to write" in madaline("datasets", "-o", "all.csv").err


def test_a_data_set_that_does_not_fit_on_the_disk_leaves_nothing(madaline, monkeypatch):
    def fsync(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    result = madaline("datasets", "iris", "-o", "iris.csv")
    assert result.code == 1
    assert result.err == (
        "madaline: The disk is full. Free some space and start again; resume a training run with --resume.\n"
    )
    assert not list(Path().iterdir())


def test_a_place_where_nothing_may_be_written_is_said(madaline, monkeypatch):
    def fsync(_):
        raise OSError(errno.EROFS, "Read-only file system", "iris.csv")

    monkeypatch.setattr(os, "fsync", fsync)
    result = madaline("datasets", "iris", "-o", "iris.csv")
    assert (result.code, result.out) == (1, "")
    assert "'iris.csv': Read-only file system. Choose another location" in result.err
