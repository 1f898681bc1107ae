"""Single tests: each finds what was planted, changes nothing, is data, and draws."""

from __future__ import annotations

import json

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError


@pytest.fixture
def trainer():
    return md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(3e-3), threads=1)


def drawn(result, words):
    ax = result.plot()
    assert words in ax.get_title()
    assert json.loads(json.dumps(result.to_dict()))
    ax.figure.clear()


def test_the_range_test_suggests_a_usual_rate_for_adam(product, trainer):
    found = md.doctor.rate_range_test(trainer, *product, batch_size=32)
    assert 3e-4 < found.suggestion < 3e-2
    assert found.current == 3e-3
    np.testing.assert_allclose(np.diff(np.log(found.rates)), np.log(found.rates[1] / found.rates[0]), rtol=1e-6)
    assert str(found).startswith("The loss is lowest at a learning rate of")
    assert not hasattr(trainer, "model")
    drawn(found, "range test")


def test_the_range_of_rates_must_be_one(product, trainer):
    with pytest.raises(ConfigError, match=r"low=1\.0 must be above 0 and below high=0\.1"):
        md.doctor.rate_range_test(trainer, *product, low=1.0, high=0.1)
    with pytest.raises(ConfigError, match="has no learning rate"):
        md.doctor.rate_range_test(md.Trainer(md.mlp(4, 1), optimizer="lbfgs"), *product)


def test_a_sound_net_learns_a_few_rows_and_a_net_without_a_rate_does_not(product, trainer):
    found = md.doctor.overfit_test(trainer, *product, steps=600)
    assert found.passed
    assert found.last < 0.05 * found.constant
    assert len(found.losses) == 600
    drawn(found, "passed")
    slow = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(1e-7), threads=1)
    assert str(md.doctor.overfit_test(slow, *product, steps=50)).startswith("Failed: 32 rows are not learned")


def test_the_gradient_of_a_net_is_right_and_that_of_a_wrong_layer_is_not(product):
    found = md.doctor.gradient_test(md.Trainer(md.mlp(4, 1, activation="tanh")), *product)
    assert found.passed
    assert any(name.startswith("0.W[") for name in found.parameters)
    drawn(found, "passed")

    bent = md.custom_derivative(np.tanh, vjp=lambda args, y, y_bar: (0.5 * y_bar,))
    net = md.Sequential(md.Linear(4), bent, md.Linear(1))
    assert not md.doctor.gradient_test(md.Trainer(net), *product).passed


def test_slices_of_the_loss_have_their_lowest_point_at_the_trained_parameters(product, trainer):
    with pytest.raises(ConfigError, match="needs a Trainer after fit"):
        md.doctor.loss_slices(trainer, *product)
    trainer.fit(*product, epochs=60, batch_size=32)
    before = trainer.model.params.flat.copy()
    found = md.doctor.loss_slices(trainer, *product, directions=2, points=20)
    assert found.losses.shape == (2, 21)
    middle = found.losses[:, 10]
    np.testing.assert_allclose(middle, trainer.evaluate(*product)["loss"], rtol=1e-5)
    assert (found.losses.min(axis=1) > 0.9 * middle).all()
    assert (found.curvatures > 0).all()
    np.testing.assert_array_equal(trainer.model.params.flat, before)
    drawn(found, "Slices")


def test_the_surface_of_the_loss_has_its_lowest_point_at_the_trained_parameters(product, trainer):  # C12
    with pytest.raises(ConfigError, match="loss_surface needs a Trainer after fit"):
        md.doctor.loss_surface(trainer, *product)
    trainer.fit(*product, epochs=60, batch_size=32)
    before = trainer.model.params.flat.copy()
    found = md.doctor.loss_surface(trainer, *product, points=8)
    assert found.losses.shape == (9, 9)
    assert found.losses[4, 4] == pytest.approx(trainer.evaluate(*product)["loss"], rel=1e-5)
    assert found.losses.min() > 0.9 * found.losses[4, 4]
    slices = md.doctor.loss_slices(trainer, *product, directions=2, points=9)
    np.testing.assert_allclose(found.losses[4], slices.losses[0], rtol=1e-6)
    np.testing.assert_allclose(found.losses[:, 4], slices.losses[1], rtol=1e-6)
    assert 0.5 < found.convexity <= 1.0
    np.testing.assert_array_equal(trainer.model.params.flat, before)
    drawn(found, "Surface")
    with pytest.raises(ConfigError, match="points=3 must be at least 5"):
        md.doctor.loss_surface(trainer, *product, points=3)


@pytest.mark.parametrize("kind", ["estimator", "trainer"])
def test_planted_label_errors_are_listed(ring, kind):
    X, y = ring
    wrong = np.flatnonzero(np.abs(X[:, 0] ** 2 + X[:, 1] ** 2 - 1.5) > 1.2)[:8]
    y = y.copy()
    y[wrong] = 1 - y[wrong]
    if kind == "estimator":
        clf = md.MLPClassifier(32, learning_rate_init=0.02, max_iter=80, random_state=0)
        found = md.doctor.find_label_errors(clf, X, y, folds=3)
    else:
        trainer = md.Trainer(md.mlp(32, 2), loss="cross_entropy", optimizer=md.Adam(0.01), threads=1)
        found = md.doctor.find_label_errors(trainer, X, y, folds=3, epochs=40, batch_size=32)
    assert len(set(wrong) & set(found.rows.tolist())) >= 5
    assert len(found) < 25
    assert (found.given != found.suggested).all()
    assert f"row {found.rows[0]}: " in str(found)
    drawn(found, "Labels")
