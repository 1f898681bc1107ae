"""md.functional.collapse: what is linear becomes one layer, and nothing else changes. Lecture row B3."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

LINEAR = {
    "linear layers": (md.Linear(5), md.Linear(6, bias=False), md.Linear(2)),
    "identity": (md.Linear(5), "identity", md.nn.Identity(), md.Linear(2)),
    "batch norm": (md.BatchNorm(), md.Linear(5, bias=False), md.BatchNorm(), md.Linear(2)),
    "input scaling": (md.nn.Standardize(), md.Linear(5), md.Linear(2)),
    "dropout": (md.Linear(5), md.Dropout(0.5, form="original"), md.Linear(2)),
    "skips": (md.Residual(md.Linear(4), md.Linear(4)), md.Residual(md.Linear(3), norm="batch")),
    "weight norm": (md.nn.WeightNorm(md.Linear(5)), md.Linear(2)),
    "nets in nets": (md.Sequential(md.Linear(5), md.Linear(6)), md.Sequential(md.Linear(2))),
}
PARTLY = {
    "between activations": ((md.Linear(5), md.Linear(6), "tanh", md.Linear(4), md.Linear(2)), 3),
    "with a norm after": ((md.Linear(5), "relu", md.BatchNorm(), md.Linear(2)), 3),
    "a norm between activations": ((md.Linear(5), "relu", md.BatchNorm(), "tanh", md.Linear(2)), 5),
    "layer norm is not linear": ((md.Linear(5), md.LayerNorm(), md.Linear(2)), 3),
    "residual with an activation": ((md.Linear(5), md.Residual(md.Linear(5), "relu"), md.Linear(2)), 3),
    "after pixels are put in a row": ((md.nn.Flatten(), md.Linear(5), md.Linear(2)), 2),
}


def started(layers, rng, *, shape=(4,), dtype="float64"):
    """A model whose arrays are all away from where they start; variances stay positive."""
    X = rng.normal(size=(10, *shape)) + 3.0
    model = md.Sequential(*layers).init(X, dtype=dtype)
    for arrays in (model.params, model.state):
        arrays.flat[...] += rng.uniform(0.1, 0.5, size=arrays.flat.shape)
    return model, X


@pytest.mark.parametrize("kind", LINEAR)
def test_a_net_without_activations_is_one_matrix(kind, rng):  # B3
    model, X = started(LINEAR[kind], rng)
    one = md.functional.collapse(model)
    assert repr(one.net) == f"Sequential({md.Linear(model(X).shape[1])!r})"
    np.testing.assert_allclose(one(X), model(X), rtol=1e-12)
    np.testing.assert_allclose(X @ one.params["0.W"] + one.params["0.b"], model(X), rtol=1e-12)


@pytest.mark.parametrize("kind", PARTLY)
def test_activations_and_what_is_not_linear_stay(kind, rng):
    layers, left = PARTLY[kind]
    model, X = started(layers, rng, shape=(2, 3) if kind.startswith("after") else (4,))
    before = model.params.flat.copy()
    fewer = md.functional.collapse(model)
    assert len(fewer.net) == left
    np.testing.assert_allclose(fewer(X), model(X), rtol=1e-12)
    np.testing.assert_array_equal(model.params.flat, before)


def test_layers_on_more_axes_stay_as_they_are(rng):
    """There the channels of batch norm are not the columns of the matrix."""
    model, X = started((md.BatchNorm(), md.Linear(5), md.Linear(2)), rng, shape=(3, 4))
    assert len(md.functional.collapse(model).net) == 3
    np.testing.assert_array_equal(md.functional.collapse(model)(X), model(X))


def test_a_shared_layer_is_found_where_it_stands_again(rng):
    shared = md.Linear(4)
    model, X = started((shared, shared, "relu", shared, "tanh", shared, md.Linear(2)), rng)
    np.testing.assert_allclose(md.functional.collapse(model)(X), model(X), rtol=1e-12)


def test_a_net_that_is_no_sequence_and_a_model_in_single_precision(rng):
    single = md.Linear(3).init(4)
    assert md.functional.collapse(single) is single
    model, X = started((md.Linear(5), md.BatchNorm(), md.Linear(2)), rng, dtype="float32")
    assert md.functional.collapse(model).params.flat.dtype == np.float32
    np.testing.assert_allclose(md.functional.collapse(model)(X), model(X), rtol=1e-5)
