"""scikit-learn's own tools that were not obvious."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, permutation_importance
from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay, RocCurveDisplay, make_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
    TargetEncoder,
)
from sklearn.semi_supervised import SelfTrainingClassifier

import madaline as md

pytestmark = pytest.mark.filterwarnings("ignore")


def test_regressor_chain(reg, diabetes):
    X, y = diabetes
    two = np.column_stack([y, -y])
    assert RegressorChain(reg()).fit(X, two).predict(X).shape == (442, 2)


def test_classifier_chain(clf, binary):
    X, y = binary
    two = np.column_stack([y, 1 - y])
    assert ClassifierChain(clf()).fit(X, two).predict(X).shape == (100, 2)


def test_multi_output_regressor(reg, diabetes):
    X, y = diabetes
    assert MultiOutputRegressor(reg()).fit(X, np.column_stack([y, -y])).predict(X).shape == (442, 2)


@pytest.mark.parametrize("names", [None, np.array(["setosa", "versicolor", "virginica"])], ids=["numbers", "texts"])
def test_rfe_by_permutation_importance(clf, iris, names):
    X, y = iris
    y = y if names is None else names[y]

    def importance(model):
        return permutation_importance(model, X[:, : model.n_features_in_], y, n_repeats=2).importances_mean

    assert RFE(clf(), n_features_to_select=2, importance_getter=importance).fit(X, y).support_.sum() == 2


def test_rfe_by_the_weights_of_the_first_layer(clf, iris):
    X, y = iris

    def importance(model):
        return np.abs(model.coefs_[0]).sum(axis=1)

    assert RFECV(clf(), importance_getter=importance, cv=2, min_features_to_select=2).fit(X, y).n_features_ >= 2


def test_select_from_model(clf, iris):
    X, y = iris
    chosen = SelectFromModel(clf(), importance_getter=lambda m: np.abs(m.coefs_[0]).sum(axis=1), max_features=2)
    assert chosen.fit_transform(X, y).shape == (150, 2)


def test_sequential_selection(clf, iris):
    X, y = iris
    assert SequentialFeatureSelector(clf(max_iter=10), n_features_to_select=1, cv=2).fit(X, y).support_.sum() == 1


@pytest.mark.parametrize("kind", [int, object])
def test_self_training_with_numbers_and_texts(clf, iris, kind):
    X, y = iris
    names = np.array(["a", "b", "c"])
    labels = y.copy() if kind is int else names[y].astype(object)
    hidden = np.arange(len(y)) % 3 == 0
    labels[hidden] = -1
    model = SelfTrainingClassifier(clf(max_iter=150)).fit(X, labels)
    truth = y if kind is int else names[y]
    assert (model.predict(X) == truth).mean() > 0.8


def test_cross_validate_with_routed_weights(clf, iris):
    X, y = iris
    with config_context(enable_metadata_routing=True):
        model = clf().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(model, X, y, params={"sample_weight": np.ones(150)}, cv=2, error_score="raise")
        assert len(found["test_score"]) == 2
        search = GridSearchCV(model, {"alpha": [0.1, 0.01]}, cv=2, error_score="raise")
        assert search.fit(X, y, sample_weight=np.ones(150)).best_score_ > 0.3


def test_routed_groups_do_not_disturb(reg, diabetes):
    X, y = diabetes
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), reg().set_fit_request(sample_weight=True)
        )
        assert model.fit(X, y, sample_weight=np.ones(len(y))).predict(X).shape == (442,)


def test_stacking_voting_bagging_and_boosting_of_regressors(reg, diabetes):
    X, y = diabetes
    small = reg(max_iter=10)
    for model in (
        StackingRegressor([("a", small)], cv=2),
        VotingRegressor([("a", small), ("b", reg(max_iter=5))]),
        BaggingRegressor(small, n_estimators=2),
        AdaBoostRegressor(small, n_estimators=2),
    ):
        assert model.fit(X, y).predict(X).shape == (442,)


def test_thresholds(clf, binary):
    X, y = binary
    assert TunedThresholdClassifierCV(clf(), cv=2, scoring="f1").fit(X, y).score(X, y) > 0.5
    assert FixedThresholdClassifier(clf(), threshold=0.3).fit(X, y).score(X, y) > 0.4


def test_frozen_and_calibrated(clf, iris):
    X, y = iris
    assert CalibratedClassifierCV(FrozenEstimator(clf().fit(X, y))).fit(X, y).predict_proba(X).shape == (150, 3)


def test_one_against_others(clf, iris):
    X, y = iris
    for make in (OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier):
        assert make(clf(max_iter=20)).fit(X, y).predict(X).shape == (150,)


def test_transformed_target(reg, diabetes):
    X, y = diabetes
    model = TransformedTargetRegressor(reg(max_iter=200), func=np.log, inverse_func=np.exp).fit(X, y)
    assert model.score(X, y) > 0.3


def test_displays(clf, binary):
    import matplotlib as mpl

    mpl.use("agg")
    X, y = binary
    model = clf().fit(X, y)
    RocCurveDisplay.from_estimator(model, X, y)
    PrecisionRecallDisplay.from_estimator(model, X, y)
    ConfusionMatrixDisplay.from_estimator(model, X, y)
    CalibrationDisplay.from_estimator(model, X, y)
    PartialDependenceDisplay.from_estimator(model, X, [0, (0, 1)])
    DecisionBoundaryDisplay.from_estimator(clf().fit(X[:, :2], y), X[:, :2])


def test_curves_and_cross_val_predict(clf, iris):
    X, y = iris
    assert cross_val_predict(clf(), X, y, cv=2, method="predict_proba").shape == (150, 3)
    assert validation_curve(clf(), X, y, param_name="alpha", param_range=[0.1, 1], cv=2)[0].shape == (2, 2)
    assert permutation_test_score(clf(max_iter=10), X, y, n_permutations=2, cv=2)[2] <= 1


def test_random_search_with_custom_scorer(clf, binary):
    X, y = binary
    scorer = make_scorer(roc_auc_score, response_method="predict_proba")
    search = RandomizedSearchCV(
        clf(), {"alpha": [0.1, 0.2], "activation": ["relu", "tanh"]}, n_iter=2, cv=2, scoring=scorer
    )
    assert search.fit(X, y).best_score_ > 0.5


def test_mixed_columns_in_a_column_transformer(clf, people):
    X, y = people
    X = X.drop(columns="when")
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), ["city"]),
    )
    assert make_pipeline(columns, clf()).fit(X, y).score(X, y) > 0.9


def test_other_transformers(reg, diabetes):
    X, y = diabetes
    union = FeatureUnion([("p", PolynomialFeatures(2)), ("k", KBinsDiscretizer(3)), ("f", FunctionTransformer())])
    assert make_pipeline(union, StandardScaler(with_mean=False), SelectKBest(k=5), reg()).fit(X, y).predict(X).ndim == 1


def test_target_encoder_and_ordinal_encoder(clf, people):
    X, y = people
    for encoder in (TargetEncoder(), OrdinalEncoder()):
        assert make_pipeline(encoder, clf()).fit(X[["city"]], y).score(X[["city"]], y) > 0.5


def test_set_output_of_pandas_and_polars(clf, people):
    X, y = people
    for kind in ("pandas", "polars"):
        model = make_pipeline(StandardScaler().set_output(transform=kind), clf())
        model.fit(X[["fare"]], y)
        assert model.predict(X[["fare"]]).shape == (200,)


def test_texts_without_data_auto_name_the_way_out(clf, people):
    X, y = people
    with pytest.raises(ValueError, match='data="auto"'):
        clf().fit(X, y)
    with pytest.raises(ValueError, match='data="auto"'):
        clf().fit(X[["age"]], y)
    assert clf(data="auto").fit(X, y).score(X, y) > 0.9


def test_iterative_imputer_uses_the_regressor(reg, people):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    X, _ = people
    filled = IterativeImputer(reg(max_iter=20), max_iter=2).fit_transform(X[["age", "fare"]])
    assert np.isfinite(filled).all()


def test_clone_pickle_and_repr(clf, iris):
    X, y = iris
    model = clone(clf(dropout=0.1)).fit(X, y)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
    assert "dropout=0.1" in repr(model)


@pytest.mark.parametrize("where", ["activation", "loss"])
def test_a_lambda_pickles(reg, diabetes, where):
    X, y = diabetes
    given = (
        {"activation": lambda x: np.tanh(x) * x}
        if where == "activation"
        else {"loss": lambda p, t: np.abs(p[:, 0] - t)}
    )
    model = reg(**given)
    fresh = pickle.loads(pickle.dumps(model)).fit(X, y)
    model.fit(X, y)
    np.testing.assert_allclose(fresh.predict(X), model.predict(X), rtol=1e-4)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_types_of_predictions(clf, reg, iris, diabetes):
    X, y = diabetes
    assert reg().fit(X, y).predict(X).dtype == np.float64
    assert reg().fit(X.astype(np.float32), y.astype(np.float32)).predict(X.astype(np.float32)).dtype == np.float32
    assert isinstance(json.dumps(reg().fit(X, y).predict(X[:2]).tolist()), str)
    X, y = iris
    assert clf().fit(X, y.astype(np.int32)).predict(X).dtype == np.int32
    assert clf().fit(X, y == 1).predict(X).dtype == bool
    assert clf().fit(X, np.array(["a", "b", "c"])[y]).predict(X).dtype.kind == "U"
    series = pd.Series(np.array(["a", "b", "c"])[y], dtype="str")
    assert set(clf().fit(X, series).predict(X)) <= {"a", "b", "c"}
    assert json.dumps(clf().fit(X, y).predict(X[:3]).tolist())


def test_density_estimators_in_a_pipeline(diabetes):
    X, y = diabetes
    for kind in (md.QuantileMLPRegressor, md.GaussianMLPRegressor, md.MixtureDensityRegressor):
        model = make_pipeline(StandardScaler(), kind(hidden_layer_sizes=(8,), max_iter=20, random_state=0))
        assert model.fit(X, y).predict(X).shape[0] == 442
