"""Estimators with custom functions in pickles: as graphs, so that a lambda is no obstacle."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import madaline as md
from madaline.nn.activation_function import as_activation

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] - 0.5 * X[:, 1]
CUSTOM = {
    "activation": {"activation": lambda x: np.tanh(x) * x},
    "activations": {"activation": [lambda x: np.sin(2 * x), "relu"], "hidden_layer_sizes": (6, 4)},
    "loss": {"loss": lambda p, t: np.abs(p[:, 0] - t)},
    "description": {"loss": md.losses.CustomLoss(lambda p, t: (p[:, 0] - t) ** 4)},
}


def regressor(**options):
    return md.MLPRegressor(**({"hidden_layer_sizes": (6,), "max_iter": 5, "random_state": 0} | options))


@pytest.mark.parametrize("name", CUSTOM)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_estimator_with_a_lambda_pickles_before_and_after_fit(name):
    model = regressor(**CUSTOM[name])
    fresh = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(fresh.fit(X, y).predict(X), model.fit(X, y).predict(X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params().keys() == model.get_params().keys()
    np.testing.assert_array_equal(again.partial_fit(X, y).predict(X), model.partial_fit(X, y).predict(X))
    np.testing.assert_array_equal(clone(again).fit(X, y).predict(X), clone(model).fit(X, y).predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict(X), again.predict(X))


def test_functions_that_have_names_stay_what_they_are():
    model = pickle.loads(pickle.dumps(regressor(activation=np.tanh)))
    assert model.activation is np.tanh


def test_a_copy_keeps_the_function():
    def double(x):
        return 2.0 * x

    model = copy.deepcopy(regressor(activation=double))
    assert model.activation.formula is double
    activation = as_activation(double)
    assert copy.deepcopy(activation) is activation
