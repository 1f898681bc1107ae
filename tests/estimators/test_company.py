"""In scikit-learn's company: pipelines, searches, ensembles, and several at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed, parallel_config
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - scikit-learn wants it so
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, cross_val_score, learning_curve
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import madaline as md
from madaline.estimators.threads import allowed_threads

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, y = load_iris(return_X_y=True)


def clf(**parameters):
    parameters = {"max_iter": 20, "learning_rate_init": 0.05, "batch_size": 30, "random_state": 0} | parameters
    return md.MLPClassifier(8, **parameters)


def scaled(**parameters):
    return make_pipeline(StandardScaler(), clf(**parameters))


def test_in_a_pipeline_with_weights_by_name():
    weighted = scaled().fit(X, y, mlpclassifier__sample_weight=np.where(y == 2, 0.0, 1.0))
    assert set(weighted.predict(X)) == {0, 1}


def test_behind_a_column_transformer():
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["p", "q", "r"])[y])
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["a", "b"]))
    model = make_pipeline(columns.set_output(transform="default"), clf()).fit(table, y)
    assert model.score(table, y) == 1.0


def test_in_a_grid_search_over_wider_parameters():
    grid = {"mlpclassifier__dropout": [0.0, 0.2], "mlpclassifier__norm": [None, "layer"]}
    search = GridSearchCV(scaled(), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 4


def test_in_a_halving_search():
    spread = {"mlpclassifier__alpha": loguniform(1e-5, 1.0)}
    search = HalvingRandomSearchCV(scaled(batch_size="auto"), spread, random_state=0, cv=2, n_candidates=4)
    search.fit(X, y)
    assert search.best_score_ > 0.85


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_two_at_a_time_score_as_one_after_another(backend):
    alone = cross_val_score(scaled(), X, y, cv=2)
    with parallel_config(backend=backend):
        assert np.array_equal(cross_val_score(scaled(), X, y, cv=2, n_jobs=2), alone)


def test_calibrated_by_probabilities_and_by_margins():
    for loss in ("log_loss", "hinge"):
        model = CalibratedClassifierCV(scaled(loss=loss), cv=2).fit(X, y)
        assert model.score(X, y) > 0.9


def test_in_ensembles():
    assert BaggingClassifier(scaled(), n_estimators=3, random_state=0).fit(X, y).score(X, y) > 0.9
    assert VotingClassifier([("a", scaled()), ("b", scaled(norm="batch"))], voting="soft").fit(X, y).score(X, y) > 0.9
    assert StackingClassifier([("a", scaled())], final_estimator=scaled(), cv=2).fit(X, y).score(X, y) > 0.85
    assert MultiOutputClassifier(scaled()).fit(X, np.stack([y, y], axis=1)).predict(X).shape == (150, 2)


def test_understood_by_scikit_learns_tools():
    model = scaled().fit(X, y)
    importance = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert importance[2:].sum() > importance[:2].sum()
    curve = partial_dependence(model, X, [2], grid_resolution=5)["average"]
    assert curve.shape == (3, 5)
    assert learning_curve(scaled(), X, y, cv=2, train_sizes=[0.5, 1.0], shuffle=True, random_state=0)[2].shape == (2, 2)


def test_sample_weights_are_routed():
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(MinMaxScaler(), clf().set_fit_request(sample_weight=True))
        model.fit(X, y, sample_weight=np.where(y == 2, 0.0, 1.0))
    assert set(model.predict(X)) == {0, 1}


def test_the_page_of_a_notebook_shows_it():
    assert "MLPClassifier" in clf()._repr_html_()


# Threads


def test_threads_of_joblib_get_one_thread_each():
    assert allowed_threads(None) == md.get_threads()
    assert allowed_threads(3) == 3
    with parallel_config(backend="threading"):
        found = Parallel(n_jobs=2)(delayed(allowed_threads)(None) for _ in range(4))
    assert found == [1, 1, 1, 1]


def test_other_threads_use_what_the_process_may():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(allowed_threads, None).result() == md.get_threads()


def test_processes_of_joblib_share_the_cpus(run_python):
    code = """
import os
from joblib import Parallel, delayed
from madaline.estimators.threads import allowed_threads
if __name__ == "__main__":
    found = Parallel(n_jobs=2, backend="loky")(delayed(allowed_threads)(None) for _ in range(2))
    most = max(len(os.sched_getaffinity(0)) // 2, 1) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert all(1 <= n <= most for n in found), found
"""
    run = run_python(code)
    assert run.returncode == 0, run.stderr


def test_predictions_of_many_rows_use_the_threads_they_may():
    rows = np.tile(X, (20, 1))
    one, two = (clf(threads=n).fit(X, y).predict_proba(rows) for n in (1, 2))
    assert np.array_equal(one, two)
    with parallel_config(backend="threading"):
        model = clf().fit(X, y)
        inside = Parallel(n_jobs=2)(delayed(model.predict_proba)(rows) for _ in range(4))
    assert all(np.array_equal(part, one) for part in inside)
