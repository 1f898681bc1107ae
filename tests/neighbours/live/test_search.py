"""Packages that search hyperparameters and combine models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

pytestmark = pytest.mark.filterwarnings("ignore")


def test_optuna_objective(clf, iris):
    import optuna

    X, y = iris
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        return cross_val_score(
            clf(alpha=trial.suggest_float("alpha", 1e-5, 1, log=True), max_iter=10), X, y, cv=2
        ).mean()

    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=3)
    assert study.best_value > 0.2


def test_optuna_prunes_by_a_callback(clf, iris):
    import optuna

    X, y = iris
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        model = clf(max_iter=1, warm_start=True)
        for step in range(5):
            model.fit(X, y)
            trial.report(model.score(X, y), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return model.score(X, y)

    study = optuna.create_study(direction="maximize", pruner=optuna.pruners.MedianPruner(n_startup_trials=1))
    study.optimize(objective, n_trials=3)
    assert len(study.trials) == 3


def test_scikit_optimize(clf, iris):
    from skopt import BayesSearchCV

    X, y = iris
    assert (
        BayesSearchCV(clf(max_iter=10), {"alpha": (1e-5, 1.0, "log-uniform")}, n_iter=2, cv=2).fit(X, y).best_score_ > 0
    )


def test_hyperopt(clf, iris):
    from hyperopt import fmin, hp, tpe

    X, y = iris
    best = fmin(
        lambda alpha: -clf(alpha=alpha, max_iter=10).fit(X, y).score(X, y),
        hp.loguniform("alpha", -8, 0), algo=tpe.suggest, max_evals=2, show_progressbar=False,
    )  # fmt: skip
    assert "alpha" in best


def test_bayesian_optimization(clf, iris):
    from bayes_opt import BayesianOptimization

    X, y = iris
    search = BayesianOptimization(
        lambda alpha: clf(alpha=alpha, max_iter=10).fit(X, y).score(X, y), {"alpha": (0.0, 1.0)}, verbose=0
    )
    search.maximize(init_points=2, n_iter=1)
    assert search.max["target"] > 0


def test_flaml_with_a_custom_learner(binary):
    from flaml import tune

    X, y = binary
    import madaline as md

    def evaluate(config):
        return {"score": md.MLPClassifier((8,), max_iter=10, **config).fit(X, y).score(X, y)}

    found = tune.run(evaluate, {"alpha": tune.loguniform(1e-5, 1)}, metric="score", mode="max", num_samples=2)
    assert found.best_result["score"] > 0.3


def test_mlxtend_stacking_and_selection(clf, iris):
    from mlxtend.classifier import EnsembleVoteClassifier, StackingCVClassifier
    from mlxtend.evaluate import bias_variance_decomp
    from mlxtend.feature_selection import SequentialFeatureSelector

    X, y = iris
    assert StackingCVClassifier([clf(max_iter=10)], clf(max_iter=10), cv=2).fit(X, y).predict(X).shape == (150,)
    assert EnsembleVoteClassifier([clf(), clf()], voting="soft").fit(X, y).predict(X).shape == (150,)
    assert len(SequentialFeatureSelector(clf(max_iter=5), k_features=2, cv=2).fit(X, y).k_feature_idx_) == 2
    assert bias_variance_decomp(clf(max_iter=5), X, y, X, y, num_rounds=2)[0] >= 0


def test_imbalanced_learn(clf, binary):
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline
    from imblearn.under_sampling import InstanceHardnessThreshold

    X, y = binary
    X, y = X[:70], y[:70]
    assert make_pipeline(SMOTE(random_state=0), clf()).fit(X, y).score(X, y) > 0.3
    assert BalancedBaggingClassifier(clf(max_iter=5), n_estimators=2).fit(X, y).predict(X).shape == (70,)
    assert len(InstanceHardnessThreshold(estimator=clf(max_iter=20), cv=2).fit_resample(X, y)[0]) > 0


def test_scikit_lego(clf, reg, binary, diabetes):
    from sklego.meta import EstimatorTransformer, Thresholder, ZeroInflatedRegressor

    X, y = binary
    assert Thresholder(clf(), threshold=0.4).fit(X, y).predict(X).shape == (100,)
    assert EstimatorTransformer(clf()).fit(X, y).transform(X).shape[0] == 100
    X, y = diabetes
    y = np.where(y < 100, 0, y)
    assert ZeroInflatedRegressor(clf(), reg()).fit(X, y).predict(X).shape == (442,)


def test_dask_ml_searches_and_predicts_in_parallel(clf, iris):
    from dask_ml.model_selection import GridSearchCV
    from dask_ml.wrappers import ParallelPostFit

    X, y = iris
    import dask

    with dask.config.set(scheduler="synchronous"):
        assert GridSearchCV(clf(max_iter=100), {"alpha": [0.1, 0.01]}, cv=2).fit(X, y).best_score_ > 0
        assert ParallelPostFit(clf()).fit(X, y).predict(X).shape == (150,)


def test_dask_ml_incremental(clf, iris):
    import dask
    import dask.array as da
    from dask_ml.wrappers import Incremental

    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    with dask.config.set(scheduler="synchronous"):
        model = Incremental(clf()).fit(da.from_array(X[order], (50, 4)), da.from_array(y[order], 50), classes=[0, 1, 2])
        assert np.asarray(model.predict(X)).shape == (150,)


def test_sktime_reduction(reg):
    import pandas as pd
    from sktime.forecasting.compose import make_reduction

    series = pd.Series(np.sin(np.arange(60) / 4), index=pd.period_range("2020-01", periods=60, freq="M"))
    forecast = make_reduction(reg(), window_length=8, strategy="recursive").fit(series).predict(fh=[1, 2, 3])
    assert len(forecast) == 3


def test_beside_lightgbm_in_one_vote(clf, iris):
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import VotingClassifier

    X, y = iris
    members = [("net", clf()), ("lgbm", LGBMClassifier(n_estimators=3, verbose=-1))]
    assert VotingClassifier(members, voting="soft").fit(X, y).score(X, y) > 0.8
