"""The dropout paper's figure 4: dropout lowers the test error of nets of any shape. Lecture row D8.

``gallery/dropout_architectures.py`` measures it, which takes a quarter of an hour; here are fewer rows and units.
"""

from __future__ import annotations

import json

import pytest

import dropout_architectures as figure_4


@pytest.fixture(scope="module")
def data(data_dir):
    """Few rows to learn from, more to judge by."""
    (X, y), (X_test, y_test) = figure_4.mnist(data_dir)
    return (X[:1000], y[:1000]), (X_test[5000:7000], y_test[5000:7000])


def test_dropout_lowers_the_test_error(data):  # D8
    (errors,) = figure_4.measure(data, shapes=((256, 256),), steps=1050, every=150).values()
    assert figure_4.end(errors["with"]) < figure_4.end(errors["without"]) - 0.003


def test_dropout_learns_less_from_the_first_steps(data):  # D8
    without, with_ = (figure_4.errors((256, 256), kind, data, steps=30, every=30)[0] for kind in figure_4.KINDS)
    assert with_ > without


def test_the_page_says_what_was_measured():  # D8
    """For every shape of figure 4 dropout has the smaller error in the end."""
    numbers = json.loads(figure_4.NUMBERS.read_text())
    assert figure_4.PAGE.read_text() == figure_4.page(numbers)
    assert list(numbers) == [figure_4.title(shape) for shape in figure_4.SHAPES]
    for errors in numbers.values():
        assert len(errors["with"]) == len(errors["without"]) == figure_4.STEPS // figure_4.EVERY
        assert figure_4.end(errors["with"]) < figure_4.end(errors["without"])
