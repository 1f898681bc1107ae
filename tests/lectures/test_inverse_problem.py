"""A mixture density network recovers both answers of an inverse problem. Lecture row E5.

``gallery/inverse_problem.py`` measures it with more rows.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import inverse_problem as inverse


@pytest.fixture(scope="module")
def found():
    return inverse.measure(n=1500, epochs=150)


def test_both_roots_are_found_with_their_weights(found):  # E5
    roots = np.sqrt(found["places"])[2:]  # nearer to 0 the noise joins the roots
    means, weights = np.array(found["means"])[2:], np.array(found["weights"])[2:]
    np.testing.assert_allclose(means, np.column_stack([-roots, roots]), atol=0.05)
    np.testing.assert_allclose(weights, [[0.3, 0.7]] * len(roots), atol=0.08)


def test_the_likelihood_is_nearly_that_of_the_true_density(found):  # E5
    likelihood = found["likelihood"]
    assert likelihood["true"] - 0.2 < likelihood["mixture"] <= likelihood["true"]
    assert likelihood["Gaussian"] < likelihood["mixture"] - 1.0


def test_one_answer_lies_between_the_roots(found):  # E5
    roots, answer = np.sqrt(found["places"])[2:], np.array(found["single"])[2:]
    assert np.all(np.abs(answer) < 0.8 * roots)


def test_the_true_density_is_one():  # E5
    t = np.linspace(-1, 1, 2001)
    assert np.trapezoid(np.exp(inverse.true_log_density(np.full(2001, 0.3), t)), t) == pytest.approx(1.0, abs=1e-3)


def test_the_page_says_what_was_measured():  # E5
    numbers = json.loads(inverse.NUMBERS.read_text())
    assert inverse.PAGE.read_text() == inverse.page(numbers)
    roots = np.sqrt(numbers["places"])[2:]
    np.testing.assert_allclose(np.array(numbers["means"])[2:], np.column_stack([-roots, roots]), atol=0.02)
    assert numbers["likelihood"]["true"] - numbers["likelihood"]["mixture"] < 0.1
