"""Who listens to a fit: our callbacks and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import madaline as md
from madaline.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


class Recorder:
    """A callback of scikit-learn's kind that writes down what it is told, and may stop a fit."""

    def __init__(self, last=None):
        self.told, self.scores, self.last = [], [], last

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.told.append(f"end {context.task_name}")
        if context.task_name == "epoch" and fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
            self.weight = metadata
            return len(self.scores) == self.last
        return False


def clf(**parameters):
    return md.MLPClassifier(**{"hidden_layer_sizes": 8, "max_iter": 3, "random_state": 0} | parameters)


def test_a_function_is_called_after_each_epoch_and_may_stop():
    rows = []

    def listen(trainer, row):
        rows.append(row["loss"])
        if len(rows) == 2:
            trainer.stop()

    model = clf(callbacks=listen).fit(X, y)
    assert model.n_iter_ == len(rows) == 2
    assert rows == model.history_["loss"].tolist()


def test_a_callback_of_ours_hears_of_partial_fit():
    class Count(md.Callback):
        ends = 0

        def on_fit_end(self, trainer):
            self.ends += 1

    count = Count()
    clf(callbacks=[count]).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    assert count.ends == 2


def test_what_is_no_callback_is_refused():
    with pytest.raises(ConfigError, match="neither a Callback nor a function"):
        clf(callbacks=[3]).fit(X, y)


def test_scikit_learns_callbacks_see_every_epoch_as_a_task():
    recorder = Recorder()
    weight = np.ones(150)
    model = clf().set_callbacks(recorder).fit(X, NAMES, sample_weight=weight)
    epochs = ["begin epoch", "end epoch"] * 3
    assert recorder.told == ["setup", "begin fit", *epochs, "end fit", "teardown"]
    assert recorder.scores[-1] == model.score(X, NAMES)
    assert recorder.weight["sample_weight"] is weight


def test_a_callback_of_scikit_learns_may_stop_the_fit():
    recorder = Recorder(last=2)
    assert clf(max_iter=50).set_callbacks(recorder).fit(X, NAMES).n_iter_ == 2
    assert recorder.told[-4:] == ["begin epoch", "end epoch", "end fit", "teardown"]


def test_every_task_that_begins_ends():
    """L-BFGS ends when it is content, with an iteration announced that never runs."""
    recorder = Recorder()
    clf(solver="lbfgs", tol=1.0).set_callbacks(recorder).fit(X, NAMES)
    for task in ("fit", "epoch"):
        assert recorder.told.count(f"begin {task}") == recorder.told.count(f"end {task}")


def test_teardown_comes_after_an_error_too():
    recorder = Recorder()
    with pytest.raises(ConfigError):
        clf(early_stopping=True, monitor="val_auc").set_callbacks(recorder).fit(X, y)
    assert recorder.told in ([], ["setup", "teardown"])


def test_scikit_learns_own_callbacks_work():
    monitor = ScoringMonitor(scoring="accuracy")
    model = clf().set_callbacks(monitor).fit(X, NAMES)
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "epoch"]
    assert len(scores) == 3
    assert scores[-1] == model.score(X, NAMES)
    clf().set_callbacks(ProgressBar()).fit(X, y)


def test_callbacks_of_a_search_reach_the_nets_inside(capsys):
    search = GridSearchCV(make_pipeline(StandardScaler(), clf()), {"mlpclassifier__alpha": [0.1, 1.0]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "MLPClassifier" in capsys.readouterr().out
