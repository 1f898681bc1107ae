"""The quick way through a model gives, bit by bit, what the long way gives."""

import numpy as np
import pytest

import madaline as md
from madaline.functional.forward import PIECE_ROWS

NETS = {
    "plain": md.mlp(8, 3),
    "with state": md.mlp(8, 8, 3, norm="batch", standardize=True),
    "convolution-like": md.Sequential(md.nn.Flatten(), md.Linear(4), "softmax"),
}


def rows(rng, n, net):
    shape = (5, 2) if net == "convolution-like" else (10,)
    return rng.normal(size=(n, *shape)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 3, 64, 65, 2 * PIECE_ROWS + 1])
@pytest.mark.parametrize("net", NETS)
def test_both_ways_agree(net, n, rng):
    X = rows(rng, n, net)
    model = NETS[net].init(X)
    long_way = model.with_parameters(model.params.flat)(X)
    np.testing.assert_array_equal(model(X), long_way)
    assert model(X).dtype == np.float32


def test_changed_parameters_are_seen(rng):
    X = rows(rng, 4, "plain")
    model = NETS["plain"].init(X)
    before = model(X)
    model.params["2.b"] = model.params["2.b"] + 1.0
    np.testing.assert_allclose(model(X), before + 1.0, rtol=1e-6)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: X.astype(np.float64), lambda X: X[::2], list])
def test_other_layouts_and_types_go_the_long_way(change, rng):
    X = rows(rng, 6, "plain")
    model = NETS["plain"].init(X)
    given = change(X)
    np.testing.assert_array_equal(model(given), model(np.ascontiguousarray(given, dtype=np.float32)))


def test_no_rows_give_no_rows(rng):
    model = NETS["plain"].init(10)
    assert model(np.zeros((0, 10), np.float32)).shape == (0, 3)
    assert model(np.zeros(10, np.float32)).shape == (3,)


def test_results_are_arrays_of_their_own(rng):
    X = rows(rng, 2, "plain")
    model = NETS["plain"].init(X)
    first = model(X)
    kept = first.copy()
    model(X + 1)
    np.testing.assert_array_equal(first, kept)
