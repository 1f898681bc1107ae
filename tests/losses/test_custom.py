"""A function as a loss."""

from __future__ import annotations

import math

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DtypeError, ShapeError, TraceError, UnknownNameError
from madaline.losses.cross_entropy import CrossEntropy
from madaline.losses.custom import CustomLoss, as_loss
from madaline.losses.robust import Huber
from madaline.losses.squared import MSE


def squared_rows(z, y):
    return np.mean((z - y) ** 2, axis=1)


def squared_mean(z, y):
    return np.mean((z - y) ** 2)


@pytest.fixture
def batch(rng):
    return rng.normal(size=(5, 2)), rng.normal(size=(5, 2))


@pytest.mark.parametrize("function", [squared_rows, squared_mean])
def test_a_function_is_a_loss(function, batch):
    loss = as_loss(function)
    loss.check((5, 2), batch[1])
    assert loss(*batch) == pytest.approx(MSE()(*batch))
    value, slope = md.compile(md.value_and_grad(loss), rows=[0, 1])(*batch)
    assert value == pytest.approx(MSE()(*batch))
    np.testing.assert_allclose(slope, md.grad(MSE())(*batch))


def test_rows_can_be_weighted_and_reduced(batch):
    weight = np.arange(5.0)
    loss = as_loss(squared_rows)
    for reduction in ("mean", "sum", "none"):
        found = loss(*batch, weight, reduction=reduction)
        np.testing.assert_allclose(found, MSE()(*batch, weight, reduction=reduction))


def test_no_rows_have_no_mean(batch):
    assert np.isnan(as_loss(squared_rows)(batch[0][:0], batch[1][:0]))


def test_one_number_for_the_batch_cannot_be_weighted(batch):
    with pytest.raises(ShapeError, match=r"The loss squared_mean returns one number for the whole batch.*Leave out"):
        as_loss(squared_mean)(*batch, np.ones(5))


def test_a_function_that_cannot_be_traced_is_refused(batch):
    def by_math(z, y):
        return math.sqrt(np.sum((z - y) ** 2))

    with pytest.raises(TraceError, match=r"The loss by_math cannot be traced: .*Use NumPy functions"):
        as_loss(by_math).check((5, 2), batch[1])


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda z, y: (z - y) ** 2, r"returns shape \(n, 2\) .*must return one number per row, \(n,\). Take the mean"),
        (lambda z, y: (squared_rows(z, y), 0.0), "returns 2 values; a loss is one number, or one per row"),
    ],
)
def test_a_function_of_the_wrong_shape_is_refused(function, text, batch):
    with pytest.raises(ShapeError, match=text):
        as_loss(function).check((5, 2), batch[1])


def test_a_column_and_a_vector_do_not_become_a_table_of_all_pairs():
    """A net with one output gives (n, 1); targets of shape (n,) would be taken from each of them."""
    y = np.arange(5.0)

    def by_pairs(z, y):
        return np.mean((z - y) ** 2)

    with pytest.raises(ShapeError, match=r"by_pairs broadcasts \(n, 1\) and \(n,\).*\[:, None\].*\[None, :\]"):
        as_loss(by_pairs).check((5, 1), y)
    with pytest.raises(ShapeError, match="to all pairs of rows"):
        md.Trainer(md.mlp(1), loss=by_pairs).fit(np.ones((5, 2)), y)
    as_loss(by_pairs).check((5, 1), y[:, None])
    as_loss(lambda z, y: np.mean((z[:, 0] - y) ** 2)).check((5, 1), y)
    as_loss(lambda z, y: np.mean((z - y[None, :]) ** 2)).check((5, 1), y)  # who means it can say it


def test_rows_can_be_weighted_by_the_class_they_name(rng):
    def surprise(z, y):
        return md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], axis=1)[:, 0]

    z, y = rng.normal(size=(6, 3)), np.array([0, 2, 1, 2, 2, 0])
    for class_weight in ("balanced", {1: 5.0}, [1.0, 0.0, 2.0]):
        found = as_loss(surprise)(z, y, np.arange(6.0), class_weight=class_weight)
        assert found == pytest.approx(CrossEntropy()(z, y, np.arange(6.0), class_weight=class_weight), rel=1e-12)
    one = as_loss(lambda z, y: np.abs(z[:, 0] - y))
    weights = np.where(y == 2, 3.0, 1.0)
    assert one(z, y, class_weight=[1.0, 1.0, 3.0]) == pytest.approx(one(z, y, weights))
    with pytest.raises(ConfigError, match="class_weight='balanced' cannot be used with custom"):
        as_loss(squared_rows)(z, z, class_weight="balanced")


def test_names_losses_and_classes_are_losses():
    assert as_loss("huber") == as_loss(Huber) == as_loss(Huber()) == Huber(delta=1.0)
    assert isinstance(as_loss(squared_rows), CustomLoss)


def test_what_is_no_loss_is_refused():
    with pytest.raises(
        UnknownNameError, match=r"loss='crossentropy' is not a known loss. Did you mean 'cross_entropy'"
    ):
        as_loss("crossentropy")
    with pytest.raises(DtypeError, match="loss=3 is neither the name of a loss, a loss, nor a function"):
        as_loss(3)
