"""Early stopping: on any column, with the best parameters given back."""

from __future__ import annotations

import math

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.train.stopping import as_early_stopping


def watch(rule, *, has_validation=True, **better):
    return rule.start(has_validation=has_validation, larger_is_better={"loss": False} | better)


def epochs_until_over(watch, values):
    for epoch, value in enumerate(values, 1):
        watch.observe(epoch, {watch.metric: value})
        if watch.is_over:
            return epoch
    return None


def test_patience_is_the_number_of_epochs_without_improvement_that_are_borne():
    losses = [3.0, 2.0, 2.5, 2.5, 2.5, 1.0]
    assert epochs_until_over(watch(md.EarlyStopping(patience=2)), losses) == 5
    assert epochs_until_over(watch(md.EarlyStopping(patience=3)), losses) is None
    assert epochs_until_over(watch(md.EarlyStopping(patience=0)), losses) == 3


def test_small_gains_do_not_count_if_told_so():
    falling = [1.0 - 0.01 * k for k in range(20)]
    assert epochs_until_over(watch(md.EarlyStopping(patience=3)), falling) is None
    assert epochs_until_over(watch(md.EarlyStopping(patience=3, min_delta=0.05)), falling) is not None


def test_nan_is_never_better():
    rule = watch(md.EarlyStopping(patience=5))
    assert not rule.observe(1, {"val_loss": math.nan})
    assert rule.observe(2, {"val_loss": 7.0})
    assert not rule.observe(3, {"val_loss": math.nan})
    assert (rule.best, rule.best_epoch) == (7.0, 2)


def test_what_is_good_depends_on_the_metric():
    assert watch(md.EarlyStopping("val_auc"), auc=True).largest
    assert not watch(md.EarlyStopping("val_mae"), mae=False).largest
    assert not watch(md.EarlyStopping("val_auc", mode="min"), auc=True).largest
    assert watch(md.EarlyStopping()).metric == "val_loss"
    assert watch(md.EarlyStopping(), has_validation=False).metric == "loss"


def test_it_can_be_asked_for_in_several_ways():
    assert as_early_stopping(None) is as_early_stopping(False) is None
    assert as_early_stopping(True) == md.EarlyStopping()
    assert as_early_stopping(3) == md.EarlyStopping(patience=3)
    assert as_early_stopping("val_auc") == md.EarlyStopping("val_auc")


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("val_loss", {}, "needs a validation set"),
        ("val_auc", {"validation": 0.2}, "'val_auc' is not a column of the history. Columns: loss, val_loss"),
    ],
)
def test_a_rule_without_meaning_is_refused(digits, rule, options, message):
    trainer = md.Trainer(md.mlp(4, 10), loss="cross_entropy")
    with pytest.raises(ConfigError, match=message):
        trainer.fit(*digits, early_stopping=rule, **options)
    with pytest.raises(ConfigError, match="patience=-1"):
        trainer.fit(*digits, early_stopping=-1)


def test_a_function_of_ones_own_must_say_what_is_good(diabetes):
    def rmse(prediction, target):
        return np.sqrt(np.mean((prediction - target) ** 2))

    X, y = diabetes[0], diabetes[1][:, None]
    trainer = md.Trainer(md.mlp(8, 1), optimizer=md.Adam(1e-2))
    options = {"epochs": 5, "validation": 0.2, "metrics": rmse}
    with pytest.raises(ConfigError, match=r"custom function, give the direction: md.EarlyStopping\('val_rmse', mode"):
        trainer.fit(X, y, **options, early_stopping="val_rmse")
    history = trainer.fit(X, y, **options, early_stopping=md.EarlyStopping("val_rmse", mode="min"))
    assert history.best_epoch == np.argmin(history["val_rmse"]) + 1


@pytest.mark.parametrize("restore", [True, False])
def test_the_model_has_the_parameters_of_the_best_epoch(digits, restore):
    X, y = digits
    net = md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Linear(10))
    seen = []

    def note(trainer, row):
        seen.append((trainer.model.params.flat.copy(), trainer.model.state.flat.copy()))

    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(2.0))
    rule = md.EarlyStopping("val_accuracy", patience=3, restore_best=restore)
    history = trainer.fit(
        X, y, epochs=60, validation=(X[:400], y[:400]), metrics="accuracy", early_stopping=rule, callbacks=note
    )
    assert history.stopped == "early stopping"
    best = int(np.argmax(history["val_accuracy"])) + 1
    assert history.best_epoch == best == history.epochs - 4
    kept = seen[best - 1] if restore else seen[-1]
    np.testing.assert_array_equal(trainer.model.params.flat, kept[0])
    np.testing.assert_array_equal(trainer.model.state.flat, kept[1])
    if restore:
        found = trainer.evaluate(X[:400], y[:400])["accuracy"]
        assert found == pytest.approx(history["val_accuracy"].max(), rel=1e-6)
