"""Scores are those of scikit-learn, and their intervals hold what they should."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from madaline.estimators.tabular.scores import METRICS, N_RESAMPLES, Score, better, score, shown


def by_name(scores):
    return {each.name: each for each in scores}


def test_scores_of_classes_are_scikit_learns(rng):
    y = rng.integers(0, 3, 200)
    p = rng.dirichlet([1.0, 1.0, 1.0], 200)
    found = by_name(score("multiclass", y, p))
    assert found["accuracy"].value == pytest.approx(metrics.accuracy_score(y, p.argmax(axis=1)))
    assert found["log loss"].value == pytest.approx(metrics.log_loss(y, p))


@pytest.mark.parametrize("task", ["regression", "count"])
def test_scores_of_numbers_are_scikit_learns(rng, task):
    y = rng.poisson(5.0, (300, 1)).astype(float)
    guess = np.maximum(y + rng.normal(size=(300, 1)), 0.1)
    found = by_name(score(task, y, guess))
    assert found["R2"].value == pytest.approx(metrics.r2_score(y, guess))
    assert found["MAE"].value == pytest.approx(metrics.mean_absolute_error(y, guess))
    if task == "regression":
        assert found["RMSE"].value == pytest.approx(metrics.root_mean_squared_error(y, guess))
    else:
        assert found["Poisson deviance"].value == pytest.approx(metrics.mean_poisson_deviance(y[:, 0], guess[:, 0]))


def test_scores_of_labels_are_scikit_learns(rng):
    y = rng.integers(0, 2, (200, 4))
    p = np.clip(y * 0.4 + rng.uniform(0.0, 0.6, y.shape), 0.0, 1.0)
    found = by_name(score("multilabel", y, p))
    assert found["F1"].value == pytest.approx(metrics.f1_score(y, p > 0.5, average="micro"))
    assert found["rows all right"].value == pytest.approx(metrics.accuracy_score(y, p > 0.5))


def test_an_interval_of_accuracy_is_that_of_its_standard_error(rng):
    """An accuracy a of n rows varies by sqrt(a (1 - a) / n)."""
    n, a = 2000, 0.8
    y = np.zeros(n, dtype=int)
    p = np.where((np.arange(n) < a * n)[:, None], [0.9, 0.1], [0.1, 0.9])
    found = score("binary", y, p)[0]
    spread = 1.96 * np.sqrt(a * (1 - a) / n)
    assert found.low == pytest.approx(a - spread, abs=0.15 * spread)
    assert found.high == pytest.approx(a + spread, abs=0.15 * spread)


def test_intervals_hold_the_true_score_about_as_often_as_they_say(rng):
    held = 0
    for _ in range(100):
        right = rng.uniform(size=150) < 0.7
        found = score("binary", np.zeros(150, dtype=int), np.where(right[:, None], [1.0, 0.0], [0.0, 1.0]))[0]
        held += found.low <= 0.7 <= found.high
    assert held >= 86


def test_every_task_has_scores_and_the_first_is_the_larger_the_better():
    assert all(chosen[0].larger_is_better for chosen in METRICS.values())
    assert N_RESAMPLES >= 1000


def test_which_score_is_better_depends_on_its_kind(rng):
    y = rng.normal(size=(100, 1))
    near, far = score("regression", y, y + 0.1), score("regression", y, y + 1.0)
    assert all(better(good, bad) for good, bad in zip(near, far, strict=True))


def test_numbers_are_shown_as_people_read_them():
    assert [shown(value) for value in (0.12345, 12.345, 12345.6, 0.0001234, 0.0, -3.0)] == [
        "0.123",
        "12.3",
        "12,346",
        "0.000123",
        "0.000",
        "-3.000",
    ]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Score("R2", -0.000914, -0.00552, -3.2e-6), "-0.001 (-0.006 to 0.000)"),
        (Score("log loss", 0.128, 3.19e-5, 0.392, larger_is_better=False), "0.128 (0.000 to 0.392)"),
        (Score("RMSE", 0.000123, 0.0000456, 0.0002, larger_is_better=False), "0.000123 (0.000046 to 0.000200)"),
        (Score("RMSE", 0.01134, 0.01101, 0.01172, larger_is_better=False), "0.0113 (0.0110 to 0.0117)"),
        (Score("MAE", 82.04, 9.991, 1000.4, larger_is_better=False), "82.0 (10 to 1,000)"),
    ],
    ids=["nearly 0", "from nearly 0", "small units", "small", "wide"],
)
def test_the_numbers_of_a_score_have_digits_that_go_together(found, text):
    assert str(found) == text


def test_every_score_says_what_it_means():
    for task in METRICS:
        y = np.array([0, 1, 1, 0])
        y, p = (y, np.eye(2)[y]) if task in ("binary", "multiclass") else (y[:, None], y[:, None] * 1.0)
        for found in score(task, y, p):
            assert len(found.meaning) > 20


def test_r2_of_numbers_far_from_zero_is_scikit_learns(rng):
    y = 2e9 + rng.normal(size=(300, 1))
    guess = y + 0.5 * rng.normal(size=(300, 1))
    found = score("regression", y, guess)[0]
    assert found.value == pytest.approx(metrics.r2_score(y, guess))
    assert found.low < found.value < found.high


@pytest.mark.parametrize("n_rows", [1, 7])
def test_r2_of_a_truth_that_does_not_vary_is_undefined(n_rows):
    found = score("regression", np.full((n_rows, 1), 0.1), np.ones((n_rows, 1)))[0]
    assert np.isnan([found.value, found.low, found.high]).all()
    assert str(found) == "undefined"


def test_resamples_without_spread_do_not_spoil_an_interval():
    found = score("regression", np.array([[1.0], [2.0], [3.0]]), np.array([[1.1], [2.1], [2.9]]))[0]
    assert np.isfinite([found.low, found.high]).all()
