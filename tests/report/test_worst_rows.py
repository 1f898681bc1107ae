"""The rows with the largest errors, and how their values are shown."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import polars as pl

from madaline.data.table import Table
from madaline.report.cells import cell_texts
from madaline.report.worst_rows import LEAST_ROWS, MOST_ROWS, outcomes, worst_first


def test_rows_whose_true_class_has_the_least_probability_come_first():
    truth = np.array([0, 1, 1, 0] * 5)
    p = np.linspace(0.05, 0.95, 20)
    prediction = np.stack([1.0 - p, p], axis=1)
    found = worst_first("binary", truth, prediction)
    of_truth = prediction[np.arange(20), truth]
    assert of_truth[found].tolist() == sorted(of_truth.tolist())[: len(found)]
    assert len(found) == (prediction.argmax(axis=1) != truth).sum()
    texts = outcomes("binary", truth[found], prediction[found], ["no", "yes"], ["sold"])
    assert (texts["true"][0], texts["predicted"][0]) == ("no", "yes")
    assert texts["probability of the true class"][0] == f"{min(of_truth):.1%}"


def test_if_all_rows_are_right_the_least_sure_ones_are_shown():
    prediction = np.stack([np.linspace(0.6, 0.9, 30), 1.0 - np.linspace(0.6, 0.9, 30)], axis=1)
    assert worst_first("binary", np.zeros(30, dtype=int), prediction).tolist() == list(range(LEAST_ROWS))


def test_numbers_by_size_of_the_error_and_several_targets_in_their_own_units():
    truth = np.stack([np.arange(40.0), 1000.0 * np.arange(40.0)], axis=1)
    prediction = truth.copy()
    prediction[3, 0] += 20.0  # more than half of the spread
    prediction[7, 1] -= 100.0  # a hundredth of it
    found = worst_first("regression", truth, prediction)
    assert found[:2].tolist() == [3, 7]
    assert len(found) == MOST_ROWS
    texts = outcomes("regression", truth[[3]], prediction[[3]], (), ["u", "v"])
    assert texts == {
        "true u": ["3.0"],
        "predicted u": ["23.0"],
        "error u": ["-20.0"],
        "true v": ["3,000"],
        "predicted v": ["3,000"],
        "error v": ["0"],
    }


def test_labels_by_all_of_their_probabilities():
    truth = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 1]])
    prediction = np.array([[0.9, 0.1, 0.1], [0.2, 0.99, 0.1], [0.4, 0.4, 0.4]])
    assert worst_first("multilabel", truth, prediction).tolist() == [1, 2, 0]
    texts = outcomes("multilabel", truth[[1, 2]], prediction[[1, 2]], list("abc"), ())
    assert texts["true"] == ["none", "a, b, c"]
    assert texts["predicted"] == ["b", "none"]
    assert texts["probability of the worst label"] == ["b: 99.0%", "a: 40.0%"]


def test_values_are_shown_as_the_table_has_them():
    table = Table.of(
        pl.DataFrame(
            {
                "year": [1982, 2024],
                "price": [8730.0, None],
                "small": [0.1 + 0.2, 1.5e-7],
                "city": ["Rome", None],
                "new": [True, None],
                "day": [date(2024, 1, 31), None],
                "time": [datetime(2024, 1, 31, 8, 30), None],  # noqa: DTZ001 - tables have local times
            }
        )
    )
    assert cell_texts(table, table.names) == {
        "year": ["1982", "2024"],
        "price": ["8730", ""],
        "small": ["0.3", "1.5e-07"],
        "city": ["Rome", ""],
        "new": ["true", ""],
        "day": ["2024-01-31", ""],
        "time": ["2024-01-31 08:30:00", ""],
    }
