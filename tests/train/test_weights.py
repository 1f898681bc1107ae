"""Weights of rows and classes, batches of any size, and what an epoch's means are."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, MadalineError, ShapeError

NET = md.Sequential(md.Linear(6), "tanh", md.Linear(3))


def trained(X, y, *, sample_weight=None, class_weight=None, batch_size=None, epochs=5, optimizer=None, **options):
    trainer = md.Trainer(
        NET, loss="cross_entropy", optimizer=optimizer or md.SGD(0.5), dtype="float64", regularizer=md.optim.L2(0.01)
    )
    trainer.fit(
        X, y, epochs=epochs, batch_size=batch_size, sample_weight=sample_weight, class_weight=class_weight,
        shuffle=False, **options,
    )  # fmt: skip
    return trainer


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(30, 4))
    return X, np.argmax(X[:, :3], axis=1)


def close(one, other, rtol=1e-12):
    np.testing.assert_allclose(one.model.params.flat, other.model.params.flat, rtol=rtol)


def test_weight_two_is_the_row_twice(rows, rng):
    X, y = rows
    counts = rng.integers(0, 4, size=30)
    weighted = trained(X, y, sample_weight=counts)
    repeated = trained(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    close(weighted, repeated, rtol=1e-10)
    np.testing.assert_allclose(weighted.history["loss"], repeated.history["loss"], rtol=1e-12)


def test_the_scale_of_the_weights_does_not_matter(rows, rng):
    X, y = rows
    weight = rng.uniform(0.5, 2.0, size=30)
    close(trained(X, y, sample_weight=weight), trained(X, y, sample_weight=8.0 * weight))


def test_equal_weights_are_no_weights(rows):
    X, y = rows
    close(trained(X, y, sample_weight=np.full(30, 3.0)), trained(X, y))


def test_rows_of_weight_zero_do_nothing(rows):
    X, y = rows
    absurd = X.copy()
    absurd[10:20] = 1e6
    weight = np.ones(30)
    weight[10:20] = 0.0
    kept = weight > 0
    close(trained(absurd, y, sample_weight=weight), trained(X[kept], y[kept]))


def test_a_batch_whose_weights_are_all_zero_changes_nothing_but_by_the_penalty(rows):
    X, y = rows
    weight = np.ones(30)
    weight[10:20] = 0.0
    trainer = md.Trainer(NET, loss="cross_entropy", optimizer=md.SGD(0.5), dtype="float64")
    trainer.fit(X, y, epochs=1, batch_size=10, sample_weight=weight, shuffle=False, record_steps=True)
    kept = weight > 0
    other = md.Trainer(NET, loss="cross_entropy", optimizer=md.SGD(0.5), dtype="float64")
    other.fit(X[kept], y[kept], epochs=1, batch_size=10, shuffle=False)
    close(trainer, other)
    assert trainer.history.steps["loss"][1] == 0.0
    assert trainer.history["loss"][0] == pytest.approx(other.history["loss"][0], rel=1e-12)


def test_class_weights_are_row_weights_by_class(rows):
    X, y = rows
    of_class = {0: 2.0, 2: 0.5}
    by_row = np.array([2.0, 1.0, 0.5])[y]
    close(trained(X, y, class_weight=of_class), trained(X, y, sample_weight=by_row))
    close(trained(X, y, class_weight=[2.0, 1.0, 0.5]), trained(X, y, sample_weight=by_row))
    balanced = md.losses.balanced_class_weight(y)[y]
    close(trained(X, y, class_weight="balanced"), trained(X, y, sample_weight=balanced))
    both = trained(X, y, class_weight=of_class, sample_weight=np.arange(30.0))
    close(both, trained(X, y, sample_weight=np.arange(30.0) * by_row))


def test_weights_of_labels_multiply(rows):
    X, y = rows
    labels = np.stack([y == 0, y == 1], axis=1)
    by_row = np.where(y == 0, 5.0, 1.0) * np.where(y == 1, 1.0, 0.5)
    one, other = (md.Trainer(md.mlp(4, 2), loss="binary_cross_entropy", dtype="float64") for _ in range(2))
    one.fit(X, labels, epochs=2, class_weight=[{1: 5.0}, {0: 0.5}])
    other.fit(X, labels, epochs=2, sample_weight=by_row)
    close(one, other)


def test_weights_of_several_outputs_are_given_by_name_and_multiply(rows):
    X, y = rows
    net = md.Parallel(kind=md.Linear(3), first=md.Linear(2))
    targets = {"kind": y, "first": (X[:, 3] > 0).astype(int)}
    recipe = {"loss": {"kind": "cross_entropy", "first": "cross_entropy"}, "dtype": "float64"}
    by_row = md.losses.balanced_class_weight(y)[y] * np.array([1.0, 3.0])[targets["first"]]
    one, other = md.Trainer(net, **recipe), md.Trainer(net, **recipe)
    held = (X[:10], {name: target[:10] for name, target in targets.items()})
    one.fit(X, targets, epochs=2, class_weight={"kind": "balanced", "first": {1: 3.0}}, validation=held)
    other.fit(X, targets, epochs=2, sample_weight=by_row, validation=(*held, by_row[:10]))
    close(one, other)
    np.testing.assert_allclose(one.history["val_loss"], other.history["val_loss"], rtol=1e-12)
    for unclear in ("balanced", {"kinds": "balanced"}):
        with pytest.raises(ConfigError, match=r"must be a dict by output.*Outputs: kind, first"):
            one.fit(X, targets, class_weight=unclear)


def test_regression_has_no_classes_to_weigh(rows):
    X, _ = rows
    with pytest.raises(ConfigError, match=r"class_weight='balanced' cannot be used with mse.*Pass weight"):
        md.Trainer(md.mlp(4, 1)).fit(X, X[:, 0], class_weight="balanced")


def test_validation_rows_are_weighted_alike(rows):
    X, y = rows
    weight = md.losses.balanced_class_weight(y[:20])[y]
    one = trained(X[:20], y[:20], class_weight="balanced", validation=(X[20:], y[20:]))
    other = trained(X[:20], y[:20], sample_weight=weight[:20], validation=(X[20:], y[20:], weight[20:]))
    np.testing.assert_allclose(one.history["val_loss"], other.history["val_loss"], rtol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 7, 10, 30, None])
def test_an_epochs_loss_is_the_mean_over_its_rows_whatever_the_batches(rows, batch_size, rng):
    """With a rate of 0 every batch sees the same parameters, so the mean must be that of all rows."""
    X, y = rows
    still = md.SGD(0.0)
    expected = trained(X, y, optimizer=still, epochs=1).evaluate(X, y)["loss"]
    found = trained(X, y, optimizer=still, epochs=1, batch_size=batch_size, metrics="accuracy")
    assert found.history["loss"][0] == pytest.approx(expected, rel=1e-12)
    assert found.history["accuracy"][0] == pytest.approx(found.evaluate(X, y)["accuracy"], rel=1e-12)
    weight = rng.uniform(size=30)
    weighted = trained(X, y, optimizer=still, epochs=1, batch_size=batch_size, sample_weight=weight)
    expected = weighted.evaluate(X, y, sample_weight=weight)["loss"]
    assert weighted.history["loss"][0] == pytest.approx(expected, rel=1e-12)


def test_gradients_that_are_accumulated_are_those_of_a_larger_batch(rows):
    X, y = rows
    close(trained(X, y, batch_size=5, accumulate=3), trained(X, y, batch_size=15))
    close(trained(X, y, batch_size=5, accumulate=100), trained(X, y, batch_size=None))


def test_a_smaller_last_batch_can_be_left_out(rows):
    X, y = rows
    close(trained(X, y, batch_size=8, drop_last=True), trained(X[:24], y[:24], batch_size=8))
    close(trained(X, y, batch_size=40, drop_last=True), trained(X, y, batch_size=30))


def test_a_last_batch_of_one_row_joins_the_one_before_where_a_norm_needs_more(rows):
    X, y = rows
    net = md.Sequential(md.Linear(6), md.BatchNorm(), "tanh", md.Linear(3))
    trainer = md.Trainer(net, loss="cross_entropy", schedule=lambda t: t)
    history = trainer.fit(X, y, epochs=3, batch_size=29, record_steps=True)
    assert history.steps.n_rows == 3
    assert trainer.run.total_steps == 3
    assert trainer.run.steps_an_epoch == 1
    assert md.Trainer(NET, loss="cross_entropy").fit(X, y, epochs=3, batch_size=29, record_steps=True).steps.n_rows == 6
    with pytest.raises(ShapeError, match="needs at least 2 rows"):
        trainer.fit(X, y, epochs=1, batch_size=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": np.ones(29)}, "one number for each of 30 rows"),
        ({"sample_weight": -np.ones(30)}, "sample_weight is -1.0 at position 0"),
        ({"sample_weight": np.full(30, np.nan)}, "sample_weight is nan at position 0"),
        ({"sample_weight": np.zeros(30)}, "0 for every row"),
        ({"class_weight": [0.0, 0.0, 0.0]}, "0 for every row"),
        ({"class_weight": {5: 1.0}}, "names the class 5"),
        ({"class_weight": "fair"}, "'fair' is not known"),
        ({"batch_size": 0}, "batch_size=0 must be a whole number of at least 1"),
        ({"batch_size": 2.5}, "batch_size=2.5 must be a whole number"),
        ({"epochs": 0}, "epochs=0 must be"),
        ({"accumulate": 0}, "accumulate=0 must be"),
        ({"validation": 1.5}, "validation=1.5 must be a fraction"),
        ({"validation": 0.999}, "leaves no rows to train on"),
    ],
)
def test_weights_and_sizes_without_meaning_are_refused(rows, options, message):
    with pytest.raises(MadalineError, match=message):
        trained(*rows, **options)


def test_classes_have_no_weights_where_there_are_no_classes(rows):
    X, _ = rows
    with pytest.raises(ConfigError, match="class_weight"):
        md.Trainer(md.mlp(4, 4), loss="mse").fit(X, X, class_weight={0: 1.0})


def test_a_loss_of_ones_own_takes_class_weights(rows):
    """With those of the training rows for validation, as a built-in one."""
    X, y = rows

    def surprise(z, y):
        return md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], axis=1)[:, 0]

    own, built_in = (md.Trainer(NET, loss=loss, dtype="float64") for loss in (surprise, "cross_entropy"))
    for trainer in (own, built_in):
        trainer.fit(X, y, epochs=3, class_weight="balanced", validation=(X[:7], y[:7]))
    close(own, built_in)
    np.testing.assert_allclose(own.history["val_loss"], built_in.history["val_loss"], rtol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_balanced_margins_count_for_validation_too(rows, loss):
    X, y = rows
    signs = np.where(y == 1, 1, -1)
    one, other = (md.Trainer(md.Linear(1), loss=loss, dtype="float64") for _ in range(2))
    one.fit(X, signs, epochs=3, class_weight="balanced", validation=(X[:7], signs[:7]))
    share = np.mean(signs == 1)
    weights = {0: 0.5 / (1 - share), 1: 0.5 / share}
    other.fit(X, signs, epochs=3, class_weight=weights, validation=(X[:7], signs[:7]))
    close(one, other)
    np.testing.assert_allclose(one.history["val_loss"], other.history["val_loss"], rtol=1e-12)
