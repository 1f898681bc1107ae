"""Scores are those of scikit-learn, and their intervals hold what they should."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from madaline.estimators.tabular.scores import METRICS, N_RESAMPLES, better, score
from madaline.report.findings import Score
from madaline.report.value_text import shown


def by_name(scores):
    return {each.name: each for each in scores}


def test_scores_of_classes_are_scikit_learns(rng):
    y = rng.integers(0, 3, 200)
    p = rng.dirichlet([1.0, 1.0, 1.0], 200)
    found = by_name(score("multiclass", y, p))
    assert found["accuracy"].value == pytest.approx(metrics.accuracy_score(y, p.argmax(axis=1)))
    assert found["log loss"].value == pytest.approx(metrics.log_loss(y, p))
    assert found["macro F1"].value == pytest.approx(metrics.f1_score(y, p.argmax(axis=1), average="macro"))


def two_classes(rng, n, *, ties):
    """Truth, and probabilities that say something about it; with ``ties``, few different ones."""
    y = rng.integers(0, 2, n)
    p = np.clip(0.3 * y + rng.uniform(0.0, 0.7, n), 0.0, 1.0)
    p = np.round(p, 1) if ties else p
    return y, np.column_stack([1.0 - p, p])


BINARY = {
    "accuracy": lambda y, p, w: metrics.accuracy_score(y, p.argmax(axis=1), sample_weight=w),
    "log loss": lambda y, p, w: metrics.log_loss(y, np.clip(p, 1e-15, 1.0), sample_weight=w),
    "AUC": lambda y, p, w: metrics.roc_auc_score(y, p[:, 1], sample_weight=w),
    "average precision": lambda y, p, w: metrics.average_precision_score(y, p[:, 1], sample_weight=w),
    "F1": lambda y, p, w: metrics.f1_score(y, p[:, 1] > 0.5, sample_weight=w),
}
MULTICLASS = {
    "accuracy": BINARY["accuracy"],
    "log loss": lambda y, p, w: metrics.log_loss(y, p, sample_weight=w),
    "macro F1": lambda y, p, w: metrics.f1_score(y, p.argmax(axis=1), average="macro", sample_weight=w),
}


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("n", [25, 300])
def test_scores_of_two_classes_are_scikit_learns(rng, n, ties):
    y, p = two_classes(rng, n, ties=ties)
    if not ties:
        p = np.clip(p, 1e-9, 1.0 - 1e-9)
    found = by_name(score("binary", y, p))
    assert found.keys() == BINARY.keys()
    for name, expected in BINARY.items():
        if name == "log loss" and ties:  # a probability of 0 costs more with us, and is no matter of ties
            continue
        assert found[name].value == pytest.approx(expected(y, p, None)), name
        assert found[name].low <= found[name].value <= found[name].high


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_score_of_a_resample_is_scikit_learns_with_its_weights(rng, task, ties):
    """A row that is drawn three times counts three times, and one that is not drawn does not count."""
    if task == "binary":
        y, p = two_classes(rng, 120, ties=ties)
    else:
        y, p = rng.integers(0, 4, 120), rng.dirichlet([1.0] * 4, 120)
    weights = rng.poisson(1.0, (6, 120)).astype(float)
    for metric in METRICS[task]:
        if metric.name == "log loss" and ties:
            continue
        expected = [(BINARY if task == "binary" else MULTICLASS)[metric.name](y, p, w) for w in weights]
        np.testing.assert_allclose(metric.values(y, p, weights), expected, err_msg=metric.name)


def test_scores_that_need_both_classes_are_undefined_without_them():
    """And a resample without one of them is left out, not counted as 0."""
    p = np.column_stack([np.full(20, 0.4), np.full(20, 0.6)])
    found = by_name(score("binary", np.ones(20, dtype=int), p))
    assert str(found["AUC"]) == "undefined"
    few = np.zeros(40, dtype=int)
    few[:2] = 1  # an eighth of the resamples has no row of the second class
    found = by_name(score("binary", few, np.column_stack([1.0 - few, few]) * 0.8 + 0.1))
    for name in ("AUC", "average precision"):
        assert (found[name].value, found[name].low, found[name].high) == (1.0, 1.0, 1.0)


def test_a_score_of_ranks_by_chance_is_a_half(rng):
    y = rng.integers(0, 2, 4000)
    p = rng.uniform(size=4000)
    found = by_name(score("binary", y, np.column_stack([1.0 - p, p])))
    assert found["AUC"].low < 0.5 < found["AUC"].high
    assert found["average precision"].value == pytest.approx(y.mean(), abs=0.03)


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
