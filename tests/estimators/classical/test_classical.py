"""What classical units are as scikit-learn's estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import madaline as md
from madaline.errors import ConfigError, MadalineError

AND = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1])
XOR = AND[0], np.array([0, 1, 1, 0])
CLASSICAL = [
    md.classical.Perceptron(max_iter=20),
    md.classical.Adaline(),
    md.classical.Madaline(max_iter=20),
    md.classical.ThresholdLogicUnit(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CLASSICAL)
def test_scikit_learn_can_use_them(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [md.classical.Perceptron(), md.classical.Adaline(random_state=0), md.classical.Madaline(random_state=0)],
)
@pytest.mark.parametrize("names", [[7, -3], ["yes", "no"], [2.0, 1.0], [True, False]], ids=str)
def test_any_two_classes_will_do(estimator, names):
    X, y = AND
    y = np.array(names)[y]
    found = clone(estimator).fit(X, y).predict(X)
    np.testing.assert_array_equal(found, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "least"),
    [
        (md.classical.Perceptron(pocket=True, max_iter=50), 0.75),
        (md.classical.Adaline(random_state=0), 0.8),
        (md.classical.Madaline(random_state=0, max_iter=30), 0.9),
    ],
    ids=["perceptron", "adaline", "madaline"],
)
def test_of_three_kinds_of_iris_each_is_told_from_the_rest(estimator, least):
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), estimator), X, y).mean() > least
    fitted = clone(estimator).fit(X, y)
    assert fitted.decision_function(X).shape == (150, 3)


def test_the_perceptron_says_when_no_plane_separates_the_classes():
    with pytest.warns(
        ConvergenceWarning, match=r"not linearly separable: the weights after epoch 3 repeat those of epoch 2; 2 of 4"
    ):
        unit = md.classical.Perceptron().fit(*XOR)
    assert unit.separable_ is False
    assert unit.n_iter_ == 3
    assert unit.n_errors_.tolist() == [2]


def test_the_perceptron_does_not_say_more_than_it_knows():
    """In a new order every time, weights that come back prove nothing; nor does the end of its patience."""
    with pytest.warns(
        ConvergenceWarning, match=r"No separating hyperplane was found in max_iter=30 epochs; \d of 4 rows"
    ):
        unit = md.classical.Perceptron(shuffle=True, random_state=0, max_iter=30).fit(*XOR)
    assert unit.separable_ is None
    with pytest.warns(ConvergenceWarning, match="max_iter=2 epochs"):
        assert md.classical.Perceptron(max_iter=2).fit(*AND).separable_ is None


def test_the_pocket_keeps_the_best_weights(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    with pytest.warns(ConvergenceWarning):
        last, best = (md.classical.Perceptron(pocket=pocket, max_iter=40).fit(X, y) for pocket in (False, True))
    assert best.n_errors_[0] < last.n_errors_[0]
    assert np.count_nonzero(best.predict(X) != y) == best.n_errors_[0]


@pytest.mark.parametrize("estimator", [md.classical.Perceptron(), md.classical.Adaline(0.1, shuffle=False, tol=0.0)])
def test_going_on_row_by_row_is_going_through_them_all(estimator):
    X, y = AND
    by_rows, at_once = clone(estimator), clone(estimator)
    for row, label in zip(X, y, strict=True):
        by_rows.partial_fit([row], [label], classes=[0, 1])
    at_once.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(by_rows.coef_, at_once.coef_)
    np.testing.assert_array_equal(by_rows.intercept_, at_once.intercept_)
    with pytest.raises(ValueError, match=r"y has the class 2, which is not in classes_=\[0, 1\]"):
        at_once.partial_fit(X, [0, 1, 2, 0])


@pytest.mark.parametrize("estimator", [md.classical.Perceptron(), md.classical.Adaline(), md.classical.Madaline()])
def test_one_class_is_refused(estimator):
    with pytest.raises(ValueError, match="needs two classes; all rows of y belong to one class, 1"):
        estimator.fit(AND[0], [1, 1, 1, 1])


def test_a_rate_too_large_for_the_rows_is_noticed():
    X, y = AND
    with pytest.warns(
        ConvergenceWarning, match=r"learning_rate=1.0 is too large for rows whose squared length is up to 200"
    ):
        md.classical.Adaline(1.0).fit(10.0 * X, y)
    with pytest.raises(MadalineError, match="Lower the learning rate"):
        md.classical.Adaline(1.0, n_iter_no_change=500).fit(10.0 * X, y)


def test_a_pickled_adaline_goes_on_where_it_was():
    X, y = AND
    one = md.classical.Adaline(0.1).partial_fit(X, y, classes=[0, 1])
    other = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.partial_fit(X, y).coef_, other.partial_fit(X, y).coef_)


def test_madaline_separates_rings_and_says_when_it_could_not():
    X, y = make_circles(100, noise=0.05, factor=0.4, random_state=0)
    found = md.classical.Madaline(8, random_state=0).fit(X, y)
    assert found.n_errors_ == 0
    assert found.score(X, y) == 1.0
    with pytest.warns(
        ConvergenceWarning, match=r"After max_iter=5 epochs, \d+ of 100 training rows have a wrong output"
    ):
        short = md.classical.Madaline(1, max_iter=5, random_state=0).fit(X, y)
    assert np.count_nonzero(short.predict(X) != y) == short.n_errors_


def test_a_threshold_unit_takes_a_weight_for_each_input():
    with pytest.raises(
        MadalineError, match=r"weights has shape \(2,\) for 3 inputs. Pass one weight per input, or a single"
    ):
        md.classical.ThresholdLogicUnit([1, 1])(0, 1, 1)
    with pytest.raises(ConfigError, match="n_inputs=40 must be from 1 to 16"):
        md.classical.threshold_net(all, 40)
