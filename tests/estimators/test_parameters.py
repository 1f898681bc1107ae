"""The wider parameters: each does what it says, none is said twice, and the guide's table is whole."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import neural_network as theirs
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import f1_score, fbeta_score, log_loss, make_scorer, mean_absolute_error
from sklearn.utils.class_weight import compute_sample_weight

import madaline as md
from madaline.errors import ConfigError, TargetError, UnknownNameError
from madaline.estimators.documentation import table
from madaline.estimators.parameters import CHOSEN_BY_PRESETS, ClassifierParameters, default_of, described

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
both_kinds = pytest.mark.parametrize("name", ["MLPClassifier", "MLPRegressor"])
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "estimators.md"


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 20.0 * X, y / 100.0


def classifier(*sizes, **parameters):
    parameters = {"random_state": 0, "max_iter": 20, "learning_rate_init": 0.01, "batch_size": 32} | parameters
    return md.MLPClassifier(sizes or (16,), **parameters)


def regressor(**parameters):
    return md.MLPRegressor(
        **{"hidden_layer_sizes": 16, "random_state": 0, "max_iter": 20, "batch_size": 32} | parameters
    )


# The signature


@both_kinds
def test_scikit_learns_parameters_come_first_with_its_defaults(name):
    ours, reference = (inspect.signature(getattr(module, name)).parameters for module in (md, theirs))
    assert list(ours)[: len(reference)] == list(reference)
    for parameter in reference:
        assert (ours[parameter].default, ours[parameter].kind) == (
            reference[parameter].default,
            reference[parameter].kind,
        )
    wider = list(ours)[len(reference) :]
    assert all(ours[parameter].kind is inspect.Parameter.KEYWORD_ONLY for parameter in wider)


@both_kinds
def test_defaults_are_those_of_the_shared_class(name):
    for parameter, value in getattr(md, name)().get_params().items():
        assert getattr(getattr(md, name), parameter) == value


def test_every_parameter_is_documented_and_the_guide_has_the_table():
    known = described(ClassifierParameters)
    assert set(known) == set(md.MLPClassifier().get_params())
    for name, default in ((name, repr(getattr(md.MLPClassifier, name))) for name in known):
        ends = "optional" if default == "None" else f"default {default}"
        assert re.search(rf"^    {name} : .*, {re.escape(ends)}$", md.MLPClassifier.__doc__, re.MULTILINE), name
    assert table() in GUIDE.read_text()


# One thing said twice

TWICE = [
    ({"optimizer": "lion", "solver": "sgd"}, "optimizer='lion' and solver='sgd'"),
    ({"optimizer": md.Adam(0.1), "learning_rate_init": 0.1}, "and learning_rate_init=0.1"),
    ({"optimizer": "adamw", "beta_1": 0.5}, "optimizer='adamw' and beta_1=0.5"),
    ({"schedule": "cosine", "learning_rate": "adaptive"}, "schedule='cosine' and learning_rate='adaptive'"),
    ({"weight_decay": 0.1, "alpha": 1.0}, "weight_decay=0.1 and alpha=1.0"),
    ({"regularizer": "l1", "alpha": 1.0}, "regularizer='l1' and alpha=1.0"),
    ({"validation": 0.2, "validation_fraction": 0.3}, "validation=0.2 and validation_fraction=0.3"),
]


@pytest.mark.parametrize(("parameters", "message"), TWICE, ids=[message for _, message in TWICE])
def test_what_is_said_twice_is_refused_and_both_are_named(iris, parameters, message):
    with pytest.raises(ConfigError, match=message):
        md.MLPClassifier(**parameters).fit(*iris)


def test_a_monitor_needs_early_stopping_and_a_column(iris):
    with pytest.raises(ConfigError, match="monitor='val_auc' is what early stopping watches"):
        classifier(monitor="val_auc").fit(*iris)
    with pytest.raises(ConfigError, match=r"monitor='val_auc' is not a column of history_\. Columns: val_loss, loss"):
        classifier(monitor="val_auc", early_stopping=True).fit(*iris)


@pytest.mark.parametrize("validation", [1.5, True, (1, 2, 3, 4), "half"])
def test_validation_that_is_none_is_refused(iris, validation):
    with pytest.raises(ConfigError, match="validation"):
        classifier(validation=validation).fit(*iris)


@pytest.mark.parametrize("kind", [md.MLPClassifier, md.MLPRegressor, md.QuantileMLPRegressor])
def test_an_unknown_parameter_is_met_with_the_nearest(kind):
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter 'activaton'. Did you mean 'activation'?"):
        kind(activaton="relu")


def test_an_unknown_name_is_met_with_the_nearest(iris):
    with pytest.raises(UnknownNameError, match="Did you mean 'relu'"):
        md.MLPClassifier(activation="ReLu").fit(*iris)
    with pytest.raises(UnknownNameError, match="Did you mean 'squared_error'"):
        md.MLPRegressor("squared_eror").fit(*iris)
    with pytest.raises(UnknownNameError, match="Did you mean 'log_loss'"):
        md.MLPClassifier(loss="logloss").fit(*iris)
    with pytest.raises(ConfigError, match="activation has 2 items for 1 hidden layers"):
        md.MLPClassifier(activation=("relu", "tanh")).fit(*iris)


# The net


def test_the_net_is_built_as_described(iris):
    clf = classifier(
        8,
        6,
        activation=("mish", np.tanh),
        norm="layer",
        dropout=(0.1, 0.2),
        input_dropout=0.3,
        residual=True,
        max_iter=1,
    ).fit(*iris)
    net = md.mlp(
        8, 6, 3, activation=("mish", np.tanh), norm="layer", dropout=[0.1, 0.2], input_dropout=0.3, residual=True
    )
    assert repr(clf.model_.net) == repr(net)
    assert [W.shape for W in clf.coefs_] == [(4, 8), (8, 6), (6, 3)]
    assert [b.shape for b in clf.intercepts_] == [(8,), (6,), (3,)]


def test_weights_start_as_told(iris):
    clf = classifier(8, init="zeros", learning_rate_init=1e-12, max_iter=1).fit(*iris)
    assert np.abs(clf.coefs_[0]).max() < 1e-9
    clf = classifier(8, init="lsuv", learning_rate_init=1e-12, max_iter=1).fit(*iris)
    assert np.var(iris[0] @ clf.coefs_[0] + clf.intercepts_[0]) == pytest.approx(1.0, abs=0.05)


def test_layers_before_a_batch_norm_have_no_bias_to_write(iris):
    clf = classifier(8, norm="batch").fit(*iris)
    assert np.array_equal(clf.intercepts_[0], np.zeros(8))
    with pytest.raises(ValueError, match="read-only"):
        clf.intercepts_[0] = np.ones(8)


def test_coefs_are_views_of_the_net(iris):
    X, y = iris
    clf = classifier().fit(X, y)
    clf.coefs_[0][:2] = 0.0
    assert (clf.model_.params["0.W"][:2] == 0.0).all()
    clf.coefs_[1] = np.zeros((16, 3))
    clf.intercepts_ = [np.zeros(16), [5.0, 0.0, 0.0]]
    assert (clf.predict(X) == 0).all()


@pytest.mark.parametrize("parameters", [{"norm": "batch"}, {"dropout": 0.2}, {"residual": True}], ids=str)
def test_nets_of_all_kinds_learn(iris, parameters):
    assert classifier(32, 32, max_iter=100, **parameters).fit(*iris).score(*iris) > 0.95


# Losses


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "focal", "cross_entropy", "ordinal"])
def test_other_losses_tell_classes_apart(iris, loss):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = classifier(loss=loss, max_iter=100).fit(X, names)
    assert clf.score(X, names) > 0.9
    if loss.endswith("hinge"):
        assert not hasattr(clf, "predict_proba")
        assert np.array_equal(names, clf.classes_[clf.decision_function(X).argmax(axis=1)]) == (
            clf.score(X, names) == 1
        )
    else:
        assert not hasattr(clf, "decision_function")
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "loss", ["mse", "huber", "mae", "poisson", "mixture_density", md.losses.Quantile(q=0.5)], ids=str
)
def test_a_loss_of_numbers_tells_no_classes_apart(iris, loss):
    """The numbers of the classes are names and no amounts."""
    with pytest.raises(ConfigError, match=r"loss=.* is a loss for numbers, .* Use MLPRegressor, or one of: log_loss"):
        classifier(loss=loss).fit(*iris)


def test_several_quantiles_are_for_the_regressor_that_gives_several(diabetes):
    with pytest.raises(
        ConfigError, match=r"has 3 quantiles, .* such as md.losses.Quantile\(q=0.9\), or use QuantileMLPRegressor"
    ):
        md.MLPRegressor("quantile").fit(*diabetes)
    assert md.MLPRegressor(md.losses.Quantile(q=0.9), 8, max_iter=5).fit(*diabetes).predict(diabetes[0]).shape == (442,)


def test_margins_of_two_classes_are_one_number(iris):
    X, y = iris[0][:100], iris[1][:100]
    clf = classifier(loss="hinge", max_iter=50).fit(X, y)
    assert clf.decision_function(X).shape == (100,)
    assert np.array_equal(clf.predict(X), (clf.decision_function(X) > 0).astype(int))
    assert clf.score(X, y) == 1.0


def test_a_loss_of_ones_own_takes_logits_and_class_numbers(iris):
    X, y = iris

    def surprise(z, k):
        return md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, k[:, None], axis=1)[:, 0]

    own, built_in = classifier(loss=surprise).fit(X, y), classifier().fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), built_in.predict_proba(X), rtol=1e-9)
    assert own.out_activation_ == built_in.out_activation_ == "softmax"


def test_label_smoothing_keeps_predictions_unsure(iris):
    X, y = iris
    smooth = classifier(loss=md.CrossEntropy(label_smoothing=0.3), max_iter=200).fit(X, y)
    assert smooth.predict_proba(X).max() < classifier(max_iter=200).fit(X, y).predict_proba(X).max() - 0.05


@pytest.mark.parametrize(
    ("loss", "level"),
    [("absolute_error", 0.5), ("log_cosh", 0.5), (md.losses.Quantile(q=0.9), 0.9), ("huber", 0.5)],
    ids=str,
)
def test_other_losses_aim_at_other_middles(rng, loss, level):
    X = np.zeros((2000, 1))
    y = rng.exponential(size=2000)
    reg = regressor(loss=loss, solver="lbfgs", max_iter=200, alpha=0.0).fit(X, y)
    found = reg.predict(X[:1])[0]
    if level == 0.5 and loss in ("log_cosh", "huber"):
        assert np.median(y) < found < y.mean()
    else:
        assert found == pytest.approx(np.quantile(y, level), rel=0.05)


def test_counts_are_predicted_as_rates(rng):
    y = rng.poisson(3.0, size=500)
    reg = regressor(loss="poisson", max_iter=100, learning_rate_init=0.01).fit(np.zeros((500, 1)), y)
    assert reg.predict([[0.0]])[0] == pytest.approx(y.mean(), rel=0.02)
    assert reg.out_activation_ == "exp"
    with pytest.raises(ValueError, match="must not be negative"):
        regressor(loss="poisson", batch_size=2).fit(np.zeros((2, 1)), [-1.0, 1.0])


# How it is trained


def test_a_name_of_an_optimizer_gets_the_rate_and_equals_the_object(iris):
    by_name = classifier(optimizer="adamw", learning_rate_init=0.02, weight_decay=0.1).fit(*iris)
    by_object = classifier(optimizer=md.AdamW(0.02, weight_decay=0.1), learning_rate_init=0.001, alpha=0.0).fit(*iris)
    assert np.array_equal(by_name.coefs_[0], by_object.coefs_[0])


def test_weight_decay_takes_the_place_of_alpha(iris):
    plain = classifier(solver="sgd", alpha=0.0).fit(*iris)
    decayed = classifier(solver="sgd", weight_decay=1.0).fit(*iris)
    none = classifier(solver="sgd", weight_decay=0.0).fit(*iris)
    assert np.array_equal(none.coefs_[0], plain.coefs_[0])
    assert np.linalg.norm(decayed.coefs_[0]) < np.linalg.norm(plain.coefs_[0])
    with pytest.raises(ConfigError, match=r"weight_decay=0\.1 cannot be combined with"):
        md.MLPClassifier(optimizer="lbfgs", weight_decay=0.1).fit(*iris)


@pytest.mark.parametrize("optimizer", [name for name in md.optim.OPTIMIZERS.names() if name != "adadelta"])
def test_every_optimizer_of_the_catalogue_trains(iris, optimizer):
    clf = classifier(optimizer=optimizer, max_iter=30).fit(*iris)
    assert clf.loss_curve_[-1] < clf.loss_curve_[0]


@pytest.mark.filterwarnings("error")
def test_a_schedule_runs_to_its_end_without_a_warning(iris):
    clf = md.MLPClassifier(8, schedule="cosine", max_iter=15, random_state=0, batch_size=15).fit(*iris)
    rates = clf.history_["learning_rate"]
    assert rates[0] < 1e-3
    assert (np.diff(rates) < 0).all()
    assert rates[-1] < 2e-5


def test_other_ways_to_keep_weights_small_and_steps_short(iris):
    assert np.mean(np.abs(classifier(regularizer=md.optim.L1(0.05), max_iter=200).fit(*iris).coefs_[0]) < 1e-2) > 0.5
    bounded = classifier(constraint=md.optim.MaxNorm(0.5), max_iter=50).fit(*iris)
    assert np.linalg.norm(bounded.coefs_[0], axis=0).max() <= 0.5 + 1e-9
    start = classifier(learning_rate_init=1e-12, max_iter=1).fit(*iris).coefs_[0]
    clipped = classifier(solver="sgd", momentum=0.0, clip_norm=1e-3, learning_rate_init=1.0, max_iter=1, batch_size=150)
    assert 0.0 < np.linalg.norm(clipped.fit(*iris).coefs_[0] - start) <= 1e-3


def test_the_net_gets_the_average_of_its_weights(iris):
    last = classifier(average=md.optim.EMA(0.0)).fit(*iris)
    mean = classifier(average=md.optim.SWA()).fit(*iris)
    np.testing.assert_allclose(last.coefs_[0], classifier().fit(*iris).coefs_[0])
    assert not np.allclose(mean.coefs_[0], last.coefs_[0], rtol=1e-3)


def test_weights_of_classes_that_are_none_are_refused_by_name(iris):
    with pytest.raises(ValueError, match="The 'class_weight' parameter of MLPClassifier must be a str among"):
        classifier(class_weight="fair").fit(*iris)


def test_rows_to_validate_on_are_weighed_as_those_that_train(iris):
    """A validation set in which other classes are rare."""
    X, y = iris
    rare, often = np.r_[:10, 50:150], np.r_[:50, 140:150]
    told = {0: 110 / 30, 1: 110 / 150, 2: 110 / 150}
    losses = [
        classifier(class_weight=weight, validation=(X[often], y[often])).fit(X[rare], y[rare]).history_["val_loss"]
        for weight in ("balanced", told)
    ]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-9)


def test_classes_can_be_weighted(iris):
    X, y = iris
    weights = {0: 1.0, 1: 5.0, 2: 0.5}
    by_class = classifier(class_weight=weights).fit(X, y)
    by_row = classifier().fit(X, y, sample_weight=compute_sample_weight(weights, y))
    assert np.array_equal(by_class.coefs_[0], by_row.coefs_[0])
    both = classifier(class_weight=weights).fit(X, y, sample_weight=compute_sample_weight(weights, y))
    squared = classifier().fit(X, y, sample_weight=compute_sample_weight(weights, y) ** 2)
    assert np.array_equal(both.coefs_[0], squared.coefs_[0])
    rare = np.r_[np.arange(55), np.arange(100, 150)]
    recall = [
        (classifier(class_weight=w).fit(X[rare], y[rare]).predict(X[50:100]) == 1).mean() for w in (None, "balanced")
    ]
    assert recall[1] > recall[0]
    with pytest.raises(ValueError, match="partial_fit sees only some"):
        classifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


# Validation and stopping


def test_a_validation_set_of_ones_own_is_watched_and_never_trained_on(iris):
    X, y = iris
    plain = classifier().fit(X[::2], y[::2])
    watched = classifier(validation=(X[1::2], y[1::2]), metrics="accuracy").fit(X[::2], y[::2])
    assert np.array_equal(plain.coefs_[0], watched.coefs_[0])
    assert watched.history_["val_loss"][-1] == pytest.approx(
        log_loss(y[1::2], watched.predict_proba(X[1::2])), rel=1e-9
    )
    assert watched.history_["val_accuracy"][-1] == pytest.approx(watched.score(X[1::2], y[1::2]))
    assert watched.validation_scores_ is None


def test_weights_of_a_validation_set_count(iris):
    X, y = iris
    weight = np.r_[np.ones(75), np.zeros(75)]
    half = classifier(validation=(X[:75], y[:75])).fit(X, y)
    weighted = classifier(validation=(X, y, weight)).fit(X, y)
    np.testing.assert_allclose(half.history_["val_loss"], weighted.history_["val_loss"])


def test_a_share_is_held_back_where_asked(iris):
    clf = classifier(validation=0.2).fit(*iris)
    assert clf.t_ == 20 * 120
    assert len(clf.history_["val_loss"]) == 20


@pytest.mark.parametrize(("monitor", "best"), [("val_loss", min), ("val_auc", max), ("loss", min)])
def test_early_stopping_watches_the_column_it_is_told(iris, monitor, best):
    X, y = iris
    clf = classifier(
        early_stopping=True, validation=(X[1::2], y[1::2]), metrics="auc", monitor=monitor, tol=0.0, n_iter_no_change=3
    ).fit(X[::2], y[::2])
    assert clf.validation_scores_ == clf.history_[monitor].tolist()
    assert clf.best_validation_score_ == best(clf.validation_scores_)


@pytest.mark.parametrize(("metric", "labels"), [("mse", 3), ("mae", 3), ("r2", 3), ("top_k", 2)])
def test_a_metric_that_does_not_fit_the_targets_is_refused(iris, metric, labels):
    X, y = iris
    with pytest.raises(ConfigError, match=f"metrics: {metric} "):
        classifier(metrics=metric, validation=0.2).fit(X, y % labels)


def test_early_stopping_watches_any_of_scikit_learns_scores(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    clf = classifier(
        validation=(X, names),
        metrics=["f1_macro", "neg_log_loss", make_scorer(fbeta_score, beta=2, average="macro")],
        early_stopping=True,
        monitor="val_f1_macro",
    ).fit(X, names)
    assert clf.best_validation_score_ == max(clf.history_["val_f1_macro"])
    assert clf.best_validation_score_ == pytest.approx(f1_score(names, clf.predict(X), average="macro"))
    assert {"val_neg_log_loss", "val_fbeta_score"} <= set(clf.history_)
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


@pytest.mark.parametrize("name", ["MLPRegressor", "GaussianMLPRegressor"])
def test_scores_are_in_the_units_of_the_target(diabetes, name):
    X, y = diabetes
    data = {"data": "auto"} if name == "MLPRegressor" else {}
    model = getattr(md, name)(
        hidden_layer_sizes=8, metrics="neg_mean_absolute_error", validation=(X, 1000.0 * y), max_iter=5, **data
    ).fit(X, 1000.0 * y)
    error = mean_absolute_error(1000.0 * y, model.predict(X))
    assert model.history_["val_neg_mean_absolute_error"][-1] == pytest.approx(-error)


def test_an_unknown_score_is_met_with_the_nearest(iris):
    with pytest.raises(UnknownNameError, match=r"metrics='f1_makro' is not known. Did you mean 'f1_macro'"):
        classifier(metrics=["accuracy", "f1_makro"]).fit(*iris)


def test_the_best_weights_come_back(iris):
    """With a rate at which training soon goes wrong."""
    X, y = iris
    clf = classifier(
        early_stopping=True, validation=(X[1::2], y[1::2]), monitor="val_loss", learning_rate_init=0.5, max_iter=30
    ).fit(X[::2], y[::2])
    assert clf.history_["val_loss"][-1] > min(clf.history_["val_loss"])
    assert log_loss(y[1::2], clf.predict_proba(X[1::2])) == pytest.approx(min(clf.history_["val_loss"]), rel=1e-9)


def test_history_has_curves_of_training_and_validation(diabetes):
    reg = regressor(validation=0.25, metrics=["r2", "mae"]).fit(*diabetes)
    assert {"loss", "val_loss", "r2", "val_r2", "mae", "val_mae", "learning_rate", "seconds"} <= set(reg.history_)
    assert reg.history_.epochs == reg.n_iter_ == 20


# Targets


def test_several_targets_with_classes_of_their_own_are_learned_together(iris):
    X, y = iris
    Y = np.stack([np.array(["a", "b", "c"])[y], np.where(X[:, 0] > 0, "big", "small")], axis=1)
    clf = classifier(32, max_iter=100, early_stopping=True, n_iter_no_change=50).fit(X, Y)
    assert [classes.tolist() for classes in clf.classes_] == [["a", "b", "c"], ["big", "small"]]
    assert clf.predict(X).shape == (150, 2)
    assert clf.score(X, Y) > 0.85
    p = clf.predict_proba(X)
    assert [part.shape for part in p] == [(150, 3), (150, 2)]
    assert np.array_equal(clf.classes_[1][p[1].argmax(axis=1)], clf.predict(X)[:, 1])
    np.testing.assert_allclose(p[0].sum(axis=1), 1.0)
    assert [part.shape for part in clf.predict_log_proba(X)] == [(150, 3), (150, 2)]
    with pytest.raises(ValueError, match="Column 1 of `y` has the class 'huge', which did not occur in fit"):
        clf.set_params(early_stopping=False).partial_fit(X[:2], [["a", "huge"], ["b", "big"]])
    with pytest.raises(ConfigError, match="loss='hinge' cannot be used with several columns"):
        classifier(loss="hinge").fit(X, Y)


@pytest.mark.parametrize("data", [None, "auto"])
def test_targets_of_a_data_frame_keep_their_types(iris, data):
    X, y = iris
    both = pd.DataFrame({"name": np.array(["a", "b", "c"])[y], "number": 10 * y})
    clf = classifier(data=data).fit(X, both)
    assert [classes.tolist() for classes in clf.classes_] == [["a", "b", "c"], [0, 10, 20]]
    assert clf.score(X, both) > 0.8
    assert clf.predict(X[:1]).tolist() == [["a", 0]]
    with pytest.raises(ValueError, match="Column 1 of `y` has the class 7"):
        clf.partial_fit(X, both.assign(number=7))
    with pytest.raises(TargetError, match="Column 1 of y holds text and other values"):
        clf.fit(X, both.assign(number=["a", 1, 2] * 50))
    with pytest.raises(ValueError, match="Unknown label type"):
        clf.fit(X, both.assign(number=X[:, 0]))


def test_several_targets_need_all_classes_before_training_goes_on(iris):
    X, y = iris
    with pytest.raises(ConfigError, match="partial_fit cannot begin with several columns of classes"):
        classifier().partial_fit(X, np.stack([y, y], axis=1), classes=[0, 1, 2])


# Numbers and threads


def test_arithmetic_has_the_type_that_is_asked_for(iris):
    X, y = iris
    single = classifier(dtype="float32").fit(X, y)
    assert {W.dtype for W in single.coefs_} == {np.dtype("float32")}
    assert single.predict_proba(X).dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(X), classifier().fit(X, y).predict_proba(X), atol=1e-4)


def test_results_do_not_depend_on_threads(iris):
    X = np.tile(iris[0], (10, 1))
    y = np.tile(iris[1], 10)
    one, two = (classifier(32, threads=n, batch_size=256).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.coefs_[0], two.coefs_[0])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_seed_is_all_that_chance_depends_on(iris):
    one, two, other = (classifier(dropout=0.3, random_state=seed).fit(*iris) for seed in (1, 1, 2))
    assert np.array_equal(one.coefs_[0], two.coefs_[0])
    assert not np.array_equal(one.coefs_[0], other.coefs_[0])


def test_it_is_quiet_and_shows_a_bar_when_asked(iris, capsys):
    classifier(max_iter=2).fit(*iris)
    assert capsys.readouterr() == ("", "")
    classifier(max_iter=2, progress=True).fit(*iris)
    assert "epoch 2/2" in capsys.readouterr().err


@both_kinds
def test_json_shows_booleans_as_true_and_false(name, iris):
    estimator = getattr(md, name)()
    given = estimator.get_params()
    known = {key for key, value in given.items() if isinstance(default_of(type(estimator), key), bool)}
    plain = {key: given[key] for key in known - set(CHOSEN_BY_PRESETS)}
    assert {"shuffle", "verbose", "warm_start"} <= set(plain)
    assert all(type(value) is bool for value in json.loads(json.dumps(plain)).values())
    used = estimator.set_params(preset="auto", max_iter=1, random_state=0).fit(*iris).resolved_params_
    assert all(used[key] == value for key, value in plain.items()), "a preset replaces only values that are marked"
