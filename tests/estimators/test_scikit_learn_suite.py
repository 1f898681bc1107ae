"""scikit-learn's own tests of its MLP, as installed with it, run on ours: nothing of them is kept here.

Its file is executed with our classes in place of scikit-learn's. Tests that look into private attributes are left out,
each with the reason and the test here that asks the same of what users see.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import madaline as md

LEFT_OUT = {
    "test_fit": "sets private arrays of gradients: test_a_worked_example_gives_the_weights_by_hand",
    "test_gradient": "calls the private loss of L-BFGS: test_scikit_learn.py compares whole runs to the last digit",
    "test_learning_rate_warmstart": "reads a private optimizer: test_the_rate_of_invscaling_goes_on_in_a_warm_start",
    "test_adaptive_learning_rate": "reads a private optimizer: test_an_adaptive_rate_falls_until_it_is_too_small",
}
"Tests that poke private attributes: the reason, and what asks the same instead."


def scikit_learn_tests():
    """The module with our classes, as if it had imported them."""
    spec = importlib.util.find_spec("sklearn.neural_network.tests.test_mlp")
    source = Path(spec.origin).read_text()
    theirs = "from sklearn.neural_network import MLPClassifier, MLPRegressor"
    assert source.count(theirs) == 1, "scikit-learn imports its classes otherwise now"
    names = {"__name__": "sklearn_test_mlp"}
    ours = source.replace(theirs, theirs.replace("sklearn.neural_network", "madaline"))
    exec(compile(ours, spec.origin, "exec"), names)
    assert names["MLPClassifier"] is md.MLPClassifier
    return {name: thing for name, thing in names.items() if name.startswith("test_")}


THEIRS = scikit_learn_tests()
globals().update({name: test for name, test in THEIRS.items() if name not in LEFT_OUT})


@pytest.fixture
def global_random_seed():
    """A fixture of scikit-learn's own test runs."""
    return 42


def test_every_test_left_out_is_one_of_theirs():
    assert set(LEFT_OUT) <= set(THEIRS)


def test_a_worked_example_gives_the_weights_by_hand():
    """In place of test_fit: one step of descent with rate 0.1 and alpha 0.1 from weights that are set."""
    X, y = np.array([[0.6, 0.8, 0.7]]), np.array([0])
    parameters = {"solver": "sgd", "learning_rate_init": 0.1, "alpha": 0.1, "momentum": 0, "activation": "logistic"}
    mlp = md.MLPClassifier(2, **parameters).partial_fit(X, y, classes=[0, 1])
    mlp.coefs_ = [[[0.1, 0.2], [0.3, 0.1], [0.5, 0.0]], [[0.1], [0.2]]]
    mlp.intercepts_ = [[0.1, 0.1], [1.0]]
    h = 1 / (1 + np.exp(-np.array([0.75, 0.30])))
    p = 1 / (1 + np.exp(-(h @ [0.1, 0.2] + 1.0)))
    behind = h * (1 - h) * p * [0.1, 0.2]
    mlp.partial_fit(X, y)
    W = np.array([[0.1, 0.2], [0.3, 0.1], [0.5, 0.0]])
    np.testing.assert_allclose(mlp.coefs_[0], W - 0.1 * (np.outer(X, behind) + 0.1 * W))
    np.testing.assert_allclose(mlp.coefs_[1][:, 0], [0.1, 0.2] - 0.1 * (p * h + 0.1 * np.array([0.1, 0.2])))
    np.testing.assert_allclose(mlp.intercepts_[0], 0.1 - 0.1 * behind)
    np.testing.assert_allclose(mlp.intercepts_[1], 1.0 - 0.1 * p)
    assert mlp.predict_proba(X)[0, 1] == pytest.approx(0.739, abs=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("learning_rate", "power"), [("constant", 0.0), ("invscaling", 0.25)])
def test_the_rate_of_invscaling_goes_on_in_a_warm_start(learning_rate, power):
    """In place of test_learning_rate_warmstart: the third epoch comes after 8 rows seen."""
    X, y = [[3, 2], [1, 6], [5, 6], [-2, -4]], [1, 1, 1, 0]
    mlp = md.MLPClassifier(
        4, solver="sgd", learning_rate=learning_rate, max_iter=1, power_t=0.25, warm_start=True, random_state=0
    )
    mlp.fit(X, y).fit(X, y)
    mlp.partial_fit(X, y)
    assert mlp.t_ == 12
    assert mlp.history_["learning_rate"][-1] == pytest.approx(1e-3 / 9**power)


def test_an_adaptive_rate_falls_until_it_is_too_small():
    """In place of test_adaptive_learning_rate."""
    X, y = [[3, 2], [1, 6]], [1, 0]
    mlp = md.MLPClassifier(tol=0.5, max_iter=3000, solver="sgd", learning_rate="adaptive", random_state=0).fit(X, y)
    rates = mlp.history_["learning_rate"]
    assert mlp.n_iter_ < 3000
    assert rates[0] == pytest.approx(1e-3)
    np.testing.assert_allclose(np.unique(rates)[::-1], 1e-3 / 5.0 ** np.arange(len(np.unique(rates))))
    assert rates[-1] < 1e-6
