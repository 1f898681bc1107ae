"""Options of ``fit``: validation, checkpoint, resume, max_seconds, classes; and what becomes of runs that diverge."""

from __future__ import annotations

import re
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import madaline as md
from madaline.errors import ConfigError
from madaline.estimators.training import EstimatorFitOptions

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] - X[:, 1] ** 2 + 0.1 * RNG.normal(size=120)
CLASSES = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
NOISE = RNG.permutation(Y)
TABLE = pd.DataFrame({"x": X[:, 0], "city": RNG.choice(["Rome", "Oslo", "Bern"], 120), "z": X[:, 2]})

SGD = {"solver": "sgd", "hidden_layer_sizes": 16}
PRESET = {"preset": "auto", "max_iter": 12, "hidden_layer_sizes": (16,)}
RUNS = {
    "preset, regressor": (md.MLPRegressor, PRESET, TABLE, Y),
    "preset, classifier": (md.MLPClassifier, PRESET, TABLE, CLASSES),
    "preset that stops early": (
        md.MLPRegressor, PRESET | {"max_iter": 60, "n_iter_no_change": 3, "learning_rate_init": 0.05}, X, NOISE
    ),
    "plain regressor": (md.MLPRegressor, {"hidden_layer_sizes": (16,), "max_iter": 15}, X, Y),
    "plain classifier": (md.MLPClassifier, {"max_iter": 15, "dropout": 0.2, "batch_size": 32}, X, CLASSES),
    "plain that converges": (
        md.MLPClassifier, {"tol": 0.05, "n_iter_no_change": 4, "learning_rate_init": 0.02}, X, CLASSES
    ),
    "adaptive rate": (
        md.MLPClassifier,
        SGD | {"learning_rate": "adaptive", "tol": 0.05, "n_iter_no_change": 2, "learning_rate_init": 0.1}, X, CLASSES
    ),
    "rate that falls": (
        md.MLPClassifier, SGD | {"learning_rate": "invscaling", "learning_rate_init": 0.5, "max_iter": 15}, X, CLASSES
    ),
    "early stopping": (
        md.MLPRegressor,
        {"early_stopping": True, "monitor": "val_loss", "n_iter_no_change": 4, "learning_rate_init": 0.02}, X, Y
    ),
    "density": (md.GaussianMLPRegressor, {"hidden_layer_sizes": 16, "max_iter": 12}, X, Y),
}  # fmt: skip
"Estimators, their parameters and their data."
each_run = pytest.mark.parametrize("name", RUNS)
AT = 5
"The epoch in which runs are interrupted."


@pytest.fixture
def checkpoints_always(monkeypatch):
    """Checkpoints after each epoch, so that quick runs have some."""
    monkeypatch.setattr("madaline.estimators.training.CHECKPOINT_SECONDS", 0.0)


def run_of(name, **parameters):
    kind, given, rows, target = RUNS[name]
    return kind(random_state=0, **given, **parameters), rows, target


def whole(name, folder):
    """The run as it is if nothing happens."""
    estimator, rows, target = run_of(name)
    return estimator.fit(rows, target, checkpoint=folder / "whole.checkpoint")


def assert_equal(one, other, rows):
    np.testing.assert_array_equal(one.model_.params.flat, other.model_.params.flat)
    np.testing.assert_array_equal(one.predict(rows), other.predict(rows))
    assert one.loss_curve_ == other.loss_curve_
    assert one.validation_scores_ == other.validation_scores_
    assert (one.n_iter_, one.t_, one.n_samples_) == (other.n_iter_, other.t_, other.n_samples_)
    assert one.history_.stopped == other.history_.stopped
    assert one.history_.best_epoch == other.history_.best_epoch
    for attribute in ("best_loss_", "best_validation_score_"):
        assert getattr(one, attribute) == getattr(other, attribute)


@each_run
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(name, tmp_path):
    def stop(trainer, row):
        if row["epoch"] == AT:
            trainer.stop()

    estimator, rows, target = run_of(name, callbacks=stop)
    stopped = estimator.fit(rows, target, checkpoint=tmp_path / "run.checkpoint")
    assert stopped.n_iter_ == AT
    resumed = run_of(name)[0].fit(rows, target, checkpoint=tmp_path / "run.checkpoint", resume=True)
    expected = whole(name, tmp_path)
    assert expected.n_iter_ > AT
    assert_equal(resumed, expected, rows)


@each_run
def test_a_run_that_was_interrupted_again_and_again_ends_as_if_it_had_not_been(name, tmp_path, checkpoints_always):
    class GoneError(Exception):
        pass

    file = tmp_path / "run.checkpoint"
    for at in (2, 3, AT, AT + 1):

        def fail(trainer, row, at=at):
            if row["epoch"] == at:
                raise GoneError

        estimator, rows, target = run_of(name, callbacks=fail)
        with pytest.raises(GoneError):
            estimator.fit(rows, target, checkpoint=file, resume=True)
        assert file.exists()
    resumed = run_of(name)[0].fit(rows, target, checkpoint=file, resume=True)
    assert_equal(resumed, whole(name, tmp_path), rows)


@each_run
def test_a_complete_run_that_is_resumed_stays_as_it_is(name, tmp_path, checkpoints_always):
    expected = whole(name, tmp_path)
    rows, target = run_of(name)[1:]
    again = run_of(name)[0].fit(rows, target, checkpoint=tmp_path / "whole.checkpoint", resume=True)
    assert_equal(again, expected, rows)


def test_ctrl_c_is_an_interruption_too(tmp_path):
    def interrupt(trainer, row):
        if row["epoch"] == AT:
            raise KeyboardInterrupt

    estimator, rows, target = run_of("preset, regressor", callbacks=interrupt)
    with pytest.warns(UserWarning, match="Training interrupted by user"):
        estimator.fit(rows, target, checkpoint=tmp_path / "run.checkpoint")
    assert estimator.predict(rows).shape == (120,)
    resumed = run_of("preset, regressor")[0].fit(rows, target, checkpoint=tmp_path / "run.checkpoint", resume=True)
    assert_equal(resumed, whole("preset, regressor", tmp_path), rows)


KILLED = """
import os, sys, warnings
import numpy as np
import madaline as md
from madaline.estimators import training

training.CHECKPOINT_SECONDS = 0.0
warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
X = rng.normal(size=(150, 3))
table = {"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down"), "c": X[:, 2]}
kind, file, how = GIVEN

def die(trainer, row):
    if row["epoch"] == 6 and how == "killed":
        os._exit(9)

given = dict(max_iter=15, random_state=0, callbacks=die)
if kind == "preset":
    model, rows, y = md.MLPRegressor(preset="auto", hidden_layer_sizes=(16,), **given), table, X[:, 0]
else:
    model, rows, y = md.MLPClassifier(16, batch_size=32, **given), X, X[:, 0] > 0
model.fit(rows, y, checkpoint=file, resume=True)
print(model.n_iter_, model.model_.params.flat.tobytes().hex())
"""


@pytest.mark.parametrize("kind", ["preset", "plain"])
def test_a_process_that_was_killed_is_followed_by_one_that_ends_the_same(kind, tmp_path, run_forked):
    def run(file, how):
        return run_forked(KILLED.replace("GIVEN", repr((kind, str(tmp_path / file), how))))

    assert run("killed", "killed").returncode == 9
    assert (tmp_path / "killed").exists()
    resumed, expected = run("killed", "to the end"), run("other", "to the end")
    assert resumed.returncode == expected.returncode == 0, resumed.stderr + expected.stderr
    assert resumed.stdout == expected.stdout
    assert resumed.stdout.startswith("15 ")


# What a run cannot be resumed with


def stopped_run(name, folder):
    estimator, rows, target = run_of(name, callbacks=lambda trainer, row: row["epoch"] == 3 and trainer.stop())
    estimator.fit(rows, target, checkpoint=folder / "run.checkpoint")
    return rows, target


OTHER = [
    {"hidden_layer_sizes": (17,)},
    {"activation": "tanh"},
    {"learning_rate_init": 0.011},
    {"batch_size": 31},
    {"dropout": 0.3},
    {"random_state": 1},
    {"tol": 0.02},
    {"n_iter_no_change": 7},
    {"dtype": "float64"},
]


@pytest.mark.parametrize("given", OTHER, ids=str)
@pytest.mark.parametrize("name", ["preset, regressor", "plain classifier"])
def test_other_parameters_are_refused_with_a_sentence(name, given, tmp_path):
    if name == "plain classifier" and "dtype" in given:
        given = {"dtype": "float32"}
    rows, target = stopped_run(name, tmp_path)
    other = run_of(name)[0].set_params(**given)
    with pytest.raises(
        ConfigError, match=r"was written by a run with another .* Resume with the same settings and data"
    ):
        other.fit(rows, target, checkpoint=tmp_path / "run.checkpoint", resume=True)


def test_another_schedule_of_scikit_learn_is_refused(tmp_path):
    stopping = {"callbacks": lambda trainer, row: row["epoch"] == 3 and trainer.stop()}
    given = {"solver": "sgd", "max_iter": 10, "random_state": 0, "learning_rate": "invscaling"}
    md.MLPRegressor(**given, **stopping).fit(X, Y, checkpoint=tmp_path / "run.checkpoint")
    for other in ({"learning_rate": "constant"}, {"power_t": 0.4}):
        with pytest.raises(ConfigError, match=f"was written by a run with another {next(iter(other))}"):
            md.MLPRegressor(**given | other).fit(X, Y, checkpoint=tmp_path / "run.checkpoint", resume=True)


@pytest.mark.parametrize("name", ["preset, regressor", "plain classifier"])
def test_other_data_are_refused_with_a_sentence(name, tmp_path):
    rows, target = stopped_run(name, tmp_path)
    message = "Resume with the same settings and data"
    changed = pd.DataFrame(rows).copy()
    changed.iloc[3, 0] += 1.0
    changed = changed if isinstance(rows, pd.DataFrame) else changed.to_numpy()
    for X, y, more in (
        (rows[:-1], target[:-1], {}),
        (changed, target, {}),
        (rows, np.roll(target, 1), {}),
        (rows, target, {"sample_weight": np.linspace(0.5, 1.0, len(target))}),
        (rows, target, {"validation": (rows[:30], target[:30])}),
    ):
        with pytest.raises(ConfigError, match=message):
            run_of(name)[0].fit(X, y, checkpoint=tmp_path / "run.checkpoint", resume=True, **more)


def test_a_checkpoint_needs_a_seed_that_can_be_given_again(tmp_path):
    for seed in (None, np.random.RandomState(0)):
        with pytest.raises(ConfigError, match="checkpoint= needs an integer random_state"):
            md.MLPRegressor(random_state=seed).fit(X, Y, checkpoint=tmp_path / "run.checkpoint")


def test_options_that_cannot_be_are_refused(tmp_path):
    reg = md.MLPRegressor(random_state=0, max_iter=2)
    with pytest.raises(ConfigError, match="pass checkpoint=PATH, too"):
        reg.fit(X, Y, resume=True)
    with pytest.raises(ConfigError, match="must be a number of seconds above 0"):
        reg.fit(X, Y, max_seconds=0)
    with pytest.raises(ConfigError, match='early stopping must watch a column of the history: monitor="val_loss"'):
        md.MLPRegressor(early_stopping=True, random_state=0).fit(X, Y, checkpoint=tmp_path / "run.checkpoint")
    with pytest.raises(ConfigError, match="cannot be used with LBFGS"):
        md.MLPRegressor(solver="lbfgs", random_state=0).fit(X, Y, checkpoint=tmp_path / "run.checkpoint")
    assert not list(tmp_path.iterdir())
    (tmp_path / "broken").write_text("no checkpoint")
    with pytest.raises(md.errors.FileFormatError, match="broken' is damaged or not a madaline file"):
        reg.fit(X, Y, checkpoint=tmp_path / "broken", resume=True)


# Time


@pytest.mark.parametrize("name", ["preset, regressor", "plain regressor", "early stopping"])
def test_a_time_limit_ends_training_with_the_best_model_so_far(name, recwarn):
    estimator, rows, target = run_of(name)
    estimator.set_params(max_iter=10**6, n_iter_no_change=10**6, tol=0.0)
    estimator.fit(rows, target, max_seconds=0.3)
    assert estimator.history_.stopped == "time"
    assert 0 < estimator.n_iter_ < 10**6
    assert np.isfinite(estimator.predict(rows)).all()
    if "val_loss" in estimator.history_:
        assert estimator.history_.best_epoch == 1 + int(np.argmin(estimator.history_["val_loss"]))


def test_reading_the_table_counts_towards_the_time_limit():
    now = time.monotonic()
    assert EstimatorFitOptions().seconds_left is None
    assert EstimatorFitOptions(max_seconds=1000.0, began=now - 400.0).seconds_left == pytest.approx(600.0, abs=60.0)
    assert EstimatorFitOptions(max_seconds=1000.0, began=now - 2000.0).seconds_left == 100.0
    assert EstimatorFitOptions(max_seconds=0.3, began=now - 2.0).seconds_left == 0.3


def test_a_run_that_time_ended_is_resumed(tmp_path):
    reg, rows, target = run_of("preset, regressor")
    reg.set_params(max_iter=300)
    reg.fit(rows, target, max_seconds=0.001, checkpoint=tmp_path / "run.checkpoint")
    assert reg.history_.stopped == "time"
    again = run_of("preset, regressor")[0].set_params(max_iter=300)
    again.fit(rows, target, checkpoint=tmp_path / "run.checkpoint", resume=True)
    expected = run_of("preset, regressor")[0].set_params(max_iter=300).fit(rows, target)
    assert_equal(again, expected, rows)


# Classes


def test_classes_that_the_training_rows_lack_have_a_probability():
    few = CLASSES != "c"
    for parameters in ({}, {"preset": "auto"}, {"data": "auto"}):
        clf = md.MLPClassifier(8, max_iter=3, random_state=0, **parameters)
        clf.fit(X[few], CLASSES[few], classes=["c", "a", "b"])
        assert clf.classes_.tolist() == ["a", "b", "c"]
        assert clf.predict_proba(X).shape == (120, 3)
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
        clf.partial_fit(X, CLASSES) if not parameters else None


def test_classes_are_those_of_one_fit():
    """And not of the next, be it after an error."""
    clf = md.MLPClassifier(8, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf.fit(X, CLASSES[:-1], classes=["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="y is missing in row 0"):
        clf.fit(X, np.array([None, *CLASSES[1:]]), classes=["a", "b", "c", "d"])
    assert clf.fit(X, CLASSES).classes_.tolist() == ["a", "b", "c"]
    assert clf.fit(X, CLASSES, classes=["a", "b", "c", "d"]).classes_.tolist() == ["a", "b", "c", "d"]
    assert clf.fit(X, CLASSES == "a").classes_.tolist() == [False, True]


def test_classes_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"has classes not in `self\.classes_`"):
        md.MLPClassifier(8, max_iter=2).fit(X, CLASSES, classes=["a", "b"])
    with pytest.raises(ConfigError, match="classes is for classifiers, and MLPRegressor predicts numbers"):
        md.MLPRegressor(max_iter=2).fit(X, Y, classes=[1, 2])


# Validation


@pytest.mark.parametrize("kind", ["array", "table"])
def test_separate_validation_rows_leave_all_others_for_training(kind):
    rows = X if kind == "array" else TABLE
    more = {} if kind == "array" else {"preset": "auto"}
    reg = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=4, random_state=0, **more)
    reg.fit(rows[:80], Y[:80], validation=(rows[80:], Y[80:]))
    assert reg.n_samples_ == 80
    assert len(reg.history_["val_loss"]) == 4
    low, high = reg.predict_interval(rows[80:], 0.8)
    assert np.mean((low <= Y[80:]) & (Y[80:] <= high)) == pytest.approx(0.8, abs=0.1)


def test_strange_validation_rows_change_nothing_that_is_learned_from_the_others():
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=4, random_state=0)
    plain = reg.fit(TABLE[:80], Y[:80], validation=(TABLE[80:], Y[80:]))
    curve, plan, bounds = plain.loss_curve_, plain.table_plan_, plain._bounds
    strange = TABLE[80:].assign(x=1e6, city="Nowhere")
    other = reg.fit(TABLE[:80], Y[:80], validation=(strange, 1e9 + Y[80:]))
    assert (other.loss_curve_, other.table_plan_) == (curve, plan)
    assert np.array_equal(other._bounds, bounds)


def test_weights_of_validation_rows_count():
    weight = np.r_[np.ones(20), np.zeros(20)]
    reg = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=4, random_state=0)
    half = reg.fit(X[:80], Y[:80], validation=(X[80:100], Y[80:100])).history_["val_loss"]
    weighted = reg.fit(X[:80], Y[:80], validation=(X[80:], Y[80:], weight)).history_["val_loss"]
    np.testing.assert_allclose(half, weighted)


def test_validation_given_to_fit_comes_before_the_parameter():
    reg = md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=2, random_state=0, validation=0.5)
    assert reg.fit(X, Y).n_samples_ == 60
    assert reg.fit(X, Y, validation=(X[:10], Y[:10])).n_samples_ == 120
    with pytest.raises(ConfigError, match="validation must be a fraction"):
        reg.fit(X, Y, validation=(X,))


# Divergence


class Poison(md.Callback):
    """Takes steps that are far too long after an epoch of the first ``times`` attempts."""

    def __init__(self, epoch=3, times=1):
        self.epoch, self.times, self.starts = epoch, times, 0

    def on_fit_start(self, trainer):
        self.starts += 1

    def on_epoch_end(self, trainer, row):
        if row["epoch"] == self.epoch and self.starts <= self.times:
            trainer.scale_rate(1e38 if trainer.model.network.dtype == np.float32 else 1e300)


def with_outlier():
    table = TABLE.copy()
    table.loc[20, "z"] = 9831.3
    return table


def test_a_preset_that_diverges_is_started_again_with_a_lower_rate_and_says_so():
    poison = Poison()
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=6, random_state=0, callbacks=poison)
    with pytest.warns(ConvergenceWarning) as caught:
        reg.fit(with_outlier(), Y)
    (text,) = {str(each.message) for each in caught}
    assert re.search(r"Training diverged in epoch 4; it is started again with a learning rate of 0\.0013\.", text)
    assert re.search(
        r"Column 'z' has the value 9831\.3, [\d,]+ times its usual range; correct it, or leave the column out", text
    )
    assert poison.starts == 2
    assert reg.resolved_params_["learning_rate_init"] == pytest.approx(5e-3 / 4)
    assert reg.n_iter_ == 6
    assert len(reg.loss_curve_) == len(reg.validation_scores_) == reg.history_.epochs == 6
    calm = md.MLPRegressor(
        preset="auto", hidden_layer_sizes=(8,), max_iter=6, random_state=0, learning_rate_init=5e-3 / 4
    )
    np.testing.assert_array_equal(calm.fit(with_outlier(), Y).predict(TABLE), reg.predict(TABLE))


def test_a_preset_that_diverges_twice_keeps_the_best_epoch():
    poison = Poison(times=2)
    reg = md.MLPRegressor(preset="auto", hidden_layer_sizes=(8,), max_iter=6, random_state=0, callbacks=poison)
    with pytest.warns(ConvergenceWarning) as caught:
        reg.fit(TABLE, Y)
    texts = [str(each.message) for each in caught]
    assert len(texts) == 2
    assert "Training diverged in epoch 4; the weights of the best epoch are kept" in texts[1]
    assert poison.starts == 2
    assert np.isfinite(reg.predict(TABLE)).all()


def test_without_a_preset_nothing_is_started_again():
    poison = Poison()
    with pytest.raises(ValueError, match="non-finite parameter weights"):
        md.MLPRegressor(hidden_layer_sizes=(8,), max_iter=6, random_state=0, callbacks=poison).fit(X, Y)
    assert poison.starts == 1


def test_a_run_that_diverged_is_resumed_with_the_lower_rate(tmp_path, checkpoints_always):
    """Interrupted in its second attempt."""
    options = {"preset": "auto", "hidden_layer_sizes": (8,), "max_iter": 8, "random_state": 0}

    def stop(trainer, row):
        if poison.starts == 2 and row["epoch"] == 5:
            trainer.stop()

    poison = Poison()
    with pytest.warns(ConvergenceWarning, match="started again"):
        md.MLPRegressor(**options, callbacks=[poison, stop]).fit(TABLE, Y, checkpoint=tmp_path / "run.checkpoint")
    resumed = md.MLPRegressor(**options).fit(TABLE, Y, checkpoint=tmp_path / "run.checkpoint", resume=True)
    expected = md.MLPRegressor(**options, callbacks=Poison()).fit(TABLE, Y)
    assert_equal(resumed, expected, TABLE)
    assert resumed.resolved_params_["learning_rate_init"] == pytest.approx(5e-3 / 4)
