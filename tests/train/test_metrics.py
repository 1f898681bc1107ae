"""Metrics against scikit-learn's, with weights; in training and afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as theirs

import madaline as md
from madaline.errors import ConfigError, UnknownNameError
from madaline.train.metrics import METRICS, as_metrics

CROSS, BINARY, SQUARED = md.CrossEntropy(), md.BinaryCrossEntropy(), md.MSE()


@pytest.fixture
def classes(rng):
    z = rng.normal(size=(200, 4)).round(1)  # rounded, so that some are equal
    return z, rng.integers(4, size=200), rng.uniform(size=200) * (rng.uniform(size=200) < 0.8)


@pytest.fixture
def labels(rng):
    return rng.normal(size=(200, 3)).round(1), rng.integers(2, size=(200, 3)), rng.uniform(size=200)


@pytest.fixture
def numbers(rng):
    y = rng.normal(size=(200, 3))
    return y + rng.normal(size=(200, 3)), y, rng.uniform(size=200)


def ours(name, loss, z, y, weight=None, **parameters):
    return METRICS[name](**parameters).whole(loss, z, y, weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_classes(classes, weighted):
    z, y, weight = classes
    w = weight if weighted else None
    assert ours("accuracy", CROSS, z, y, w) == pytest.approx(theirs.accuracy_score(y, z.argmax(1), sample_weight=w))
    one_hot = np.eye(4)[y]
    assert ours("accuracy", CROSS, z, one_hot, w) == pytest.approx(ours("accuracy", CROSS, z, y, w))
    expected = [
        theirs.roc_auc_score(y == k, CROSS.predict(z)[:, k], sample_weight=w) for k in range(4)
    ]  # one against the rest: with weights scikit-learn does it for two classes only
    assert ours("auc", CROSS, z, y, w) == pytest.approx(np.mean(expected), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_top_k(rng, weighted, k):
    z, y = rng.normal(size=(200, 4)), rng.integers(4, size=200)
    w = rng.uniform(size=200) if weighted else None
    found = ours("top_k", CROSS, z, y, w, k=k)
    expected = np.average((np.argsort(-z, axis=1)[:, :k] == y[:, None]).any(axis=1), weights=w)
    assert found == pytest.approx(expected)
    if k < 4:
        assert found == pytest.approx(theirs.top_k_accuracy_score(y, z, k=k, sample_weight=w))


@pytest.mark.parametrize("weighted", [False, True])
def test_of_two_classes(rng, weighted):
    z, y = rng.normal(size=(300, 1)).round(1), rng.integers(2, size=300)
    w = rng.uniform(size=300) if weighted else None
    auc = theirs.roc_auc_score(y, z[:, 0], sample_weight=w)
    assert ours("auc", BINARY, z, y, w) == pytest.approx(auc, rel=1e-9)
    assert ours("auc", BINARY, z, y[:, None], w) == pytest.approx(auc, rel=1e-9)
    both = np.hstack([np.zeros_like(z), z])
    assert ours("auc", CROSS, both, y, w) == pytest.approx(auc, rel=1e-9)
    accuracy = theirs.accuracy_score(y, z[:, 0] > 0, sample_weight=w)
    assert ours("accuracy", BINARY, z, y, w) == pytest.approx(accuracy)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_labels(labels, weighted):
    z, y, weight = labels
    w = weight if weighted else None
    assert ours("accuracy", BINARY, z, y, w) == pytest.approx(theirs.accuracy_score(y, z > 0, sample_weight=w))
    assert ours("auc", BINARY, z, y, w) == pytest.approx(theirs.roc_auc_score(y, z, sample_weight=w), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_numbers(numbers, weighted):
    z, y, weight = numbers
    w = weight if weighted else None
    for name, function in (
        ("mse", theirs.mean_squared_error),
        ("mae", theirs.mean_absolute_error),
        ("r2", theirs.r2_score),
    ):
        assert ours(name, SQUARED, z, y, w) == pytest.approx(function(y, z, sample_weight=w), rel=1e-12)
        assert ours(name, SQUARED, z[:, :1], y[:, 0], w) == pytest.approx(
            function(y[:, 0], z[:, 0], sample_weight=w), rel=1e-12
        )


def test_of_a_constant_target():
    y = np.full((5, 1), 2.0)
    assert ours("r2", SQUARED, y, y) == theirs.r2_score(y, y) == 1.0
    assert ours("r2", SQUARED, y + 1, y) == theirs.r2_score(y, y + 1) == 0.0


def test_of_nothing_is_nan(classes):
    z, y, _ = classes
    for name, loss in (("accuracy", CROSS), ("auc", CROSS), ("r2", SQUARED)):
        target = y if loss is CROSS else z
        assert np.isnan(ours(name, loss, z, target, np.zeros(200)))
    assert np.isnan(ours("auc", CROSS, z, np.zeros(200, int)))


def test_metrics_see_predictions_and_not_raw_outputs(rng):
    z, y = rng.normal(size=(50, 1)), rng.poisson(2.0, size=(50, 1))
    loss = md.losses.Poisson()
    assert ours("mae", loss, z, y) == pytest.approx(np.abs(np.exp(z) - y).mean(), rel=1e-9)
    assert ours("r2", loss, z, y) == pytest.approx(theirs.r2_score(y, np.exp(z)), rel=1e-9)


def test_accuracy_of_ordered_classes_is_that_of_the_most_likely_one(rng):
    loss = md.losses.Ordinal()
    z, y = rng.normal(size=(60, 1)) * 3, rng.integers(3, size=60)
    raw = np.hstack([z + 1.0, z - 1.0])
    assert loss.n_classes(raw.shape) == 3
    expected = np.mean(np.asarray(loss.predict(raw)).argmax(axis=1) == y)
    assert ours("accuracy", loss, raw, y) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["accuracy", "auc", "top_k"])
def test_training_gives_the_same_numbers_as_evaluating(digits, metric):
    X, y = digits
    weight = np.linspace(0.0, 2.0, len(y))
    trainer = md.Trainer(md.mlp(16, 10), loss="cross_entropy", optimizer=md.SGD(0.0), dtype="float64")
    history = trainer.fit(
        X, y, epochs=1, batch_size=100, metrics=metric, sample_weight=weight, validation=(X[:300], y[:300])
    )
    z = trainer.outputs(X)
    expected = METRICS[metric]().whole(trainer.recipe.loss, z, y, weight)
    assert history[metric][0] == pytest.approx(expected, rel=1e-9)
    assert trainer.evaluate(X, y, sample_weight=weight)[metric] == pytest.approx(expected, rel=1e-9)
    held = METRICS[metric]().whole(trainer.recipe.loss, z[:300], y[:300], None)
    assert history[f"val_{metric}"][0] == pytest.approx(held, rel=1e-9)


def test_metrics_of_ones_own(digits):
    X, y = digits

    def f1(prediction, target):
        return theirs.f1_score(target, prediction.argmax(axis=1), average="macro")

    trainer = md.Trainer(md.mlp(16, 10), loss="cross_entropy", optimizer=md.Adam(0.01))
    history = trainer.fit(X, y, epochs=3, metrics=[f1, "accuracy"], validation=0.2)
    assert history["val_f1"][-1] > 0.5
    assert trainer.evaluate(X, y)["f1"] == pytest.approx(f1(trainer.predict(X), y))


def test_a_metric_with_another_parameter_is_another_metric(digits):
    X, y = digits
    trainer = md.Trainer(md.mlp(16, 10), loss="cross_entropy", optimizer=md.SGD(0.0))
    trainer.partial_fit(X, y, metrics=md.train.TopK(1))
    trainer.partial_fit(X, y, metrics=md.train.TopK(9))
    few, many = trainer.history["top_k"]
    assert few < 0.5 < many


def test_validation_rows_without_weight_have_no_loss(digits):
    X, y = digits
    trainer = md.Trainer(md.mlp(4, 10), loss="cross_entropy")
    history = trainer.fit(
        X, y, epochs=1, sample_weight=np.ones(len(y)), metrics="auc", validation=(X[:9], y[:9], np.r_[1.0, np.zeros(8)])
    )
    assert np.isfinite(history["val_loss"][0])
    trainer.run.validation.data.weight[:] = 0.0
    found = trainer.run.evaluation_row()
    assert np.isnan([found["val_loss"], found["val_auc"]]).all()


def test_a_net_with_several_outputs_has_metrics_of_ones_own(rng):
    net = md.Parallel(a=md.Linear(1), b=md.Linear(1))
    X = {"a": rng.normal(size=(20, 2)), "b": rng.normal(size=(20, 2))}
    y = {"a": X["a"][:, :1], "b": X["b"][:, 1:]}
    trainer = md.Trainer(net, loss={"a": "mse", "b": "mae"})

    def worst(p, y):
        return max(np.abs(p[name] - y[name]).max() for name in y)

    assert trainer.fit(X, y, epochs=1, metrics=worst)["worst"][0] > 0.0
    with pytest.raises(ConfigError, match="a net with several outputs needs functions"):
        trainer.fit(X, y, metrics="r2")


def test_names_without_meaning_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'accuracy'"):
        as_metrics("acuracy")
    with pytest.raises(ConfigError, match="duplicate names"):
        as_metrics(["auc", "auc"])
    assert as_metrics(None) == ()


def test_a_metric_without_meaning_for_the_targets_says_so(digits):
    X, _ = digits
    with pytest.raises(ConfigError, match="metrics: top_k needs"):
        md.Trainer(md.mlp(16, 64)).fit(X, X, epochs=1, metrics="top_k")
