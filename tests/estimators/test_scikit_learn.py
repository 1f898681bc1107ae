"""The same numbers as scikit-learn's MLP: same random numbers, same steps, same stops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import neural_network as theirs
from sklearn.datasets import load_diabetes, load_digits, load_iris, make_multilabel_classification

import madaline as md

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SETTINGS = {
    "adam": {},
    "epsilon": {"epsilon": 1e-3},
    "float batches": {"batch_size": 37},
    "not shuffled": {"shuffle": False, "batch_size": 50},
    "alpha": {"alpha": 1.0, "batch_size": 64},
    "two hidden layers": {"hidden_layer_sizes": (30, 20), "activation": "tanh"},
    "none": {"hidden_layer_sizes": ()},
    "logistic": {"activation": "logistic"},
    "identity": {"activation": "identity", "learning_rate_init": 1e-4},
    "early stopping": {"early_stopping": True, "validation_fraction": 0.2},
    "tol": {"tol": 1e-2, "n_iter_no_change": 3, "max_iter": 60},
    "sgd": {"solver": "sgd"},
    "plain descent": {"solver": "sgd", "momentum": 0.0},
    "polyak": {"solver": "sgd", "nesterovs_momentum": False},
    "invscaling": {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.1},
    "adaptive": {"solver": "sgd", "learning_rate": "adaptive", "tol": 1e-2, "n_iter_no_change": 2, "max_iter": 30},
    "lbfgs": {"solver": "lbfgs"},
}


def both(name, X, y, **parameters):
    parameters = {"max_iter": 12, "random_state": 3} | parameters
    weight = parameters.pop("sample_weight", None)
    return [getattr(module, name)(**parameters).fit(X, y, sample_weight=weight) for module in (theirs, md)]


def assert_same(a, b, *, rtol=1e-6):
    assert (a.n_iter_, a.t_, a.n_layers_, a.n_outputs_) == (b.n_iter_, b.t_, b.n_layers_, b.n_outputs_)
    assert a.out_activation_ == b.out_activation_
    assert a.loss_ == pytest.approx(b.loss_, rel=rtol)
    for first, second in zip(a.coefs_ + a.intercepts_, b.coefs_ + b.intercepts_, strict=True):
        np.testing.assert_allclose(second, first, rtol=rtol, atol=rtol)
    if a.solver != "lbfgs":
        np.testing.assert_allclose(b.loss_curve_, a.loss_curve_, rtol=rtol)
        for name in ("best_loss_", "validation_scores_", "best_validation_score_"):
            first, second = getattr(a, name), getattr(b, name)
            assert (first is None) == (second is None), name
            assert first is None or second == pytest.approx(first, rel=rtol)


@pytest.mark.parametrize("parameters", SETTINGS.values(), ids=SETTINGS)
def test_a_classifier_has_the_weights_of_theirs(parameters):
    X, y = load_digits(return_X_y=True)
    assert_same(*both("MLPClassifier", X[:400] / 16.0, y[:400], **parameters))


@pytest.mark.parametrize("parameters", SETTINGS.values(), ids=SETTINGS)
def test_a_regressor_has_the_weights_of_theirs(parameters):
    X, y = load_diabetes(return_X_y=True)
    assert_same(*both("MLPRegressor", 20.0 * X, y / 100.0, **parameters))


@pytest.mark.parametrize("parameters", [{}, {"solver": "sgd"}, {"early_stopping": True}], ids=str)
def test_two_classes_and_labels_are_as_theirs(parameters):
    X, y = load_iris(return_X_y=True)
    assert_same(*both("MLPClassifier", X[:100], np.array(["no", "yes"])[y[:100]], **parameters))
    X, Y = make_multilabel_classification(n_samples=60, random_state=0)
    assert_same(*both("MLPClassifier", X / 10.0, Y, **parameters))


@pytest.mark.parametrize("solver", ["sgd", "adam"])
def test_several_numbers_and_counts_are_as_theirs(solver):
    X, y = load_diabetes(return_X_y=True)
    Y = np.stack([y / 100.0, X[:, 2] * 20.0, X[:, 0]], axis=1)
    assert_same(*both("MLPRegressor", 20.0 * X, Y, solver=solver))
    counts = np.round(y / 40.0)
    assert_same(*both("MLPRegressor", 20.0 * X, counts, loss="poisson", solver=solver))
    assert_same(*both("MLPRegressor", 20.0 * X, np.abs(Y), loss="poisson", solver=solver))


@pytest.mark.parametrize("solver", ["sgd", "adam", "lbfgs"])
def test_weights_of_rows_count_as_theirs(solver, rng):
    X, y = load_diabetes(return_X_y=True)
    weight = rng.uniform(0.0, 2.0, len(y))
    a, b = both("MLPRegressor", 20.0 * X, y / 100.0, solver=solver, sample_weight=weight, alpha=0.1)
    np.testing.assert_allclose(b.coefs_[0], a.coefs_[0], rtol=1e-6, atol=1e-8)


def test_partial_fit_goes_the_same_way():
    X, y = load_iris(return_X_y=True)
    models = [module.MLPClassifier(10, random_state=0) for module in (theirs, md)]
    for _ in range(5):
        for model in models:
            model.partial_fit(X[:70], y[:70], classes=[0, 1, 2]).partial_fit(X[70:], y[70:])
    assert_same(*models)


def test_a_warm_start_and_training_on_go_the_same_way():
    X, y = load_iris(return_X_y=True)
    models = [module.MLPClassifier(10, random_state=0, max_iter=5, warm_start=True) for module in (theirs, md)]
    for model in models:
        model.fit(X, y).fit(X, y)
        model.partial_fit(X, y)
    assert_same(*models)


def test_a_generator_of_random_numbers_is_left_where_theirs_leaves_it():
    X, y = load_iris(return_X_y=True)
    states = [np.random.RandomState(0), np.random.RandomState(0)]
    for module, state in zip((theirs, md), states, strict=True):
        module.MLPClassifier(5, random_state=state, max_iter=3).fit(X, y)
    assert states[0].randint(2**31) == states[1].randint(2**31)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_verbose_output_is_theirs(capsys, early_stopping):
    X, y = load_iris(return_X_y=True)
    texts = []
    for module in (theirs, md):
        module.MLPClassifier(5, random_state=0, max_iter=4, verbose=True, early_stopping=early_stopping).fit(X, y)
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != ""


@pytest.mark.parametrize("learning_rate", ["invscaling", "adaptive"])
@pytest.mark.parametrize("begins", ["partial_fit", "fit"])
def test_rates_that_fall_go_on_falling_from_call_to_call(learning_rate, begins):
    """Adaptive ones too: three epochs without improvement by ``tol`` are enough here."""
    X, y = load_iris(return_X_y=True)
    parameters = {"solver": "sgd", "learning_rate": learning_rate, "learning_rate_init": 0.01, "tol": 1.0}
    models = [
        module.MLPClassifier(10, random_state=0, max_iter=4, n_iter_no_change=2, **parameters)
        for module in (theirs, md)
    ]
    for model in models:
        if begins == "fit":
            model.fit(X, y)
        for _ in range(12):
            model.partial_fit(X, y, classes=[0, 1, 2])
    assert_same(*models)


def test_a_penalty_that_is_changed_between_calls_counts_from_then_on():
    X, y = load_iris(return_X_y=True)
    models = [module.MLPRegressor(hidden_layer_sizes=10, random_state=0, alpha=0.5) for module in (theirs, md)]
    for model in models:
        model.partial_fit(X, y).partial_fit(X, y)
        model.set_params(alpha=5.0).partial_fit(X, y).partial_fit(X, y)
    assert_same(*models)


def test_early_stopping_can_be_turned_on_and_off_between_fits():
    """scikit-learn's ends in an error there; the best weights of a fit before are not those of one without."""
    X, y = load_iris(return_X_y=True)
    model = md.MLPClassifier(10, random_state=0, max_iter=5, warm_start=True, early_stopping=True).fit(X, y)
    stopped = model.coefs_[0].copy()
    model.set_params(early_stopping=False).fit(X, y)
    assert np.isfinite(model.best_loss_)
    assert not np.array_equal(model.coefs_[0], stopped)
    model.set_params(early_stopping=True).fit(X, y)
    assert len(model.validation_scores_) == 10
    never = md.MLPClassifier(10, random_state=0, max_iter=5, warm_start=True).fit(X, y)
    never.set_params(early_stopping=True).fit(X, y)
    assert len(never.validation_scores_) == 5
    assert np.isfinite(never.best_validation_score_)
