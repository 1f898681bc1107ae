"""Healing: a copy gets better, the original stays."""

from __future__ import annotations

import pytest

import madaline as md
from madaline.doctor import Remedy
from madaline.doctor.polish import without_overridden
from madaline.errors import ConfigError


def test_a_rate_that_is_too_low(product):
    sick = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(1e-6), threads=1)
    healing = md.heal(sick, *product, epochs=60, batch_size=32)
    assert healing.after < 0.3 * healing.before
    assert healing.thing.evaluate(*product)["loss"] < 0.3 * healing.before
    assert healing.thing.recipe.optimizer.learning_rate > 1e-4
    assert sick.recipe.optimizer.learning_rate == 1e-6
    assert not hasattr(sick, "model")
    assert "Use a learning rate of" in str(healing)


def test_two_faults_at_once(product):
    X, y = product
    sick = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(3e-3), threads=1)
    healing = md.heal(sick, X * 1000, y * 1e4 + 1e5, epochs=60, batch_size=32, max_seconds=20)
    constant = float(y.var() * 1e8)
    assert healing.after < 0.4 * constant


def test_an_estimator(ring):
    X, y = ring
    sick = md.MLPClassifier(32, learning_rate_init=1e-6, max_iter=30, random_state=0)
    healing = md.heal(sick, X, y, max_seconds=2)
    assert healing.thing.score(X, y) > 0.9
    assert sick.learning_rate_init == 1e-6
    assert not hasattr(sick, "model_")


@pytest.mark.clinic
def test_an_impatient_estimator_waits_longer_also_if_it_was_lucky(ring):
    X, y = ring
    sick = md.MLPClassifier(32, early_stopping=True, n_iter_no_change=1, max_iter=200, random_state=0)
    healing = md.heal(sick, X, y, max_seconds=5)
    assert healing.thing.n_iter_no_change > 5
    assert healing.thing.score(X, y) > max(0.85, sick.fit(X, y).score(X, y))


def test_length_and_optimizer_are_changed_on_top_of_the_remedies(product):
    sick = md.Trainer(md.mlp(32, 32, 1, activation="identity"), optimizer=md.SGD(1e-5), threads=1)
    healing = md.heal(sick, *product, epochs=20, batch_size=32)
    assert healing.thing.evaluate(*product)["loss"] < 0.1
    assert healing.remedies[0].text.startswith("Put an activation")
    assert len({remedy.text for remedy in healing.remedies}) == len(healing.remedies)


def test_a_change_that_a_later_one_replaces_is_not_listed():
    rate, other = Remedy("a", None, {"rate": 1}), Remedy("b", None, {"rate": 2, "epochs": 3})
    only_net = Remedy("c")
    assert without_overridden([rate, only_net, other]) == [only_net, other]
    assert without_overridden([other, rate]) == [other, rate]


def test_a_sound_setup_stays(product):
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(3e-3), threads=1)
    healing = md.heal(trainer, *product, epochs=100, batch_size=32)
    assert healing.after <= healing.before
    assert healing.thing.evaluate(*product)["loss"] < 0.2


def test_the_time_limit_must_be_positive(product):
    with pytest.raises(ConfigError, match="max_seconds=0 must be"):
        md.heal(md.Trainer(md.mlp(4, 1)), *product, max_seconds=0)
