"""Runs side by side: what differs, what is best, and when they cannot be compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

import madaline as md
from madaline.report.comparison import ComparedRun, best, differing, table_of, warnings_of
from madaline.report.html.comparison_page import comparison_page
from report_page import Page


@dataclass(frozen=True)
class Measured:
    name: str
    value: float
    larger_is_better: bool = True
    meaning: str = "how good it is"

    low = property(lambda self: self.value - 0.1)
    high = property(lambda self: self.value + 0.1)

    def __str__(self):
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def run(name, accuracy=0.9, loss=0.3, **more):
    history = md.History({"epoch": [1, 2, 3], "loss": [1.0, 0.5, 0.25], "val_loss": [1.0, 0.6, 0.4]})
    known = {
        "source": "table.csv",
        "rows": {"train": 100, "test": 20},
        "split": "random, seed 0",
        "test_rows": "abc",
        "scores": [Measured("accuracy", accuracy), Measured("log loss", loss, larger_is_better=False)],
        "epochs": 3,
        "seconds": 1.5,
        "n_params": 1234,
        "parameters": {"dropout": 0.1, "hidden_layer_sizes": (8, 8)},
        "history": history,
    }
    return ComparedRun(name, "binary", ("y",), **(known | more))


def test_facts_scores_and_the_parameters_that_differ_are_in_one_table():
    other = run("b", accuracy=0.8, parameters={"dropout": 0.2, "hidden_layer_sizes": [8, 8], "norm": "batch"})
    rows = {name: values for name, *values in table_of([run("a"), other])}
    assert rows["accuracy"] == ["0.900 (0.800 to 1.000)", "0.800 (0.700 to 0.900)"]
    assert rows["table"] == ["table.csv", "table.csv"]
    assert (rows["training rows"], rows["test rows"]) == (["100", "100"], ["20", "20"])
    assert (rows["epochs"], rows["seconds"], rows["net parameters"]) == (["3"] * 2, ["1.5"] * 2, ["1,234"] * 2)
    assert rows["dropout"] == ["0.1", "0.2"]
    assert rows["norm"] == ["", "batch"]
    assert "hidden_layer_sizes" not in rows, "a list from a file is the same as a tuple"
    assert differing([run("a"), run("b")]) == []


def test_the_best_run_depends_on_the_score():
    runs = [run("a", accuracy=0.9, loss=0.3), run("b", accuracy=0.8, loss=0.2), run("c", accuracy=0.9, loss=0.4)]
    assert best(runs, "accuracy") == [0, 2]
    assert best(runs, "log loss") == [1]
    assert best(runs, "R2") == []
    assert best([runs[0], replace(runs[1], scores=())], "accuracy") == []


def test_runs_on_the_same_rows_can_be_compared_wherever_their_tables_are():
    assert warnings_of([run("a"), run("b", source="copy/of/table.csv")]) == []


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"test_rows": "def", "split": "random, seed 1"}, "different splits"),
        ({"test_rows": "def", "source": "other.csv"}, "different tables"),
        ({"test_rows": "def", "rows": {"test": 30}}, "different numbers of test rows"),
        ({"test_rows": "def"}, "different contents"),
        ({"test_rows": "", "source": "other.csv"}, "different tables"),
    ],
)
def test_runs_on_different_rows_are_told_apart(other, reason):
    (text,) = warnings_of([run("a"), run("b", **other)])
    assert f"tested on different rows ({reason})" in text
    assert "madaline evaluate" in text


def test_other_reasons_not_to_compare():
    text = " ".join(warnings_of([run("a"), replace(run("b"), task="regression", targets=("price",))]))
    assert "different tasks (a: binary; b: regression)" in text
    assert "different targets (a: y; b: price)" in text
    (unscored,) = warnings_of([run("a"), run("b", scores=(), test_rows="")])
    assert unscored.startswith("b: there are no scores on a test set")


def test_the_page_has_scores_and_learning_curves_of_all_runs():
    runs = [run("a"), run("<b>", accuracy=0.8), run("without", scores=(), history=None)]
    page = Page(comparison_page(runs, ["beware"]))
    assert page.sections == ["runs", "scores", "training"]
    assert page.titles == ["accuracy", "log loss", "Loss, training set", "Loss, validation set"]
    assert page.chart("accuracy")["data"][0]["x"] == [0.9, 0.8]
    curves = page.chart("Loss, validation set")["data"]
    assert [curve["name"] for curve in curves] == ["a", "&lt;b&gt;"]
    assert curves[0]["y"] == [1.0, 0.6, 0.4]
    assert "Best: a." in page.text
    assert "beware" in page.text
    assert "b" not in page.tags
