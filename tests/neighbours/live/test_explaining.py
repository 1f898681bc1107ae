"""Packages that explain, audit and draw models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


def test_shap_kernel_and_permutation(clf, reg, iris, diabetes):
    import shap

    X, y = diabetes
    model = reg().fit(X, y)
    assert shap.KernelExplainer(model.predict, X[:10]).shap_values(X[:2], nsamples=50, silent=True).shape == (2, 10)
    assert shap.Explainer(model.predict, X[:20])(X[:2]).values.shape == (2, 10)
    X, y = iris
    model = clf().fit(X, y)
    assert shap.Explainer(model.predict_proba, X[:20])(X[:2]).values.shape == (2, 4, 3)
    assert shap.explainers.Sampling(model.predict_proba, X[:20]).shap_values(X[:1], nsamples=40).shape == (1, 4, 3)


def test_shap_of_a_table(clf, people):
    import shap

    X, y = people
    model = clf(data="auto").fit(X, y)
    background = X.head(20)

    def proba(rows):
        return model.predict_proba(pd.DataFrame(rows, columns=X.columns))[:, 1]

    masker = shap.maskers.Independent(np.arange(80).reshape(20, 4))
    assert masker.data.shape == (20, 4)
    assert shap.KernelExplainer(proba, background).shap_values(X.head(1), nsamples=20, silent=True).shape == (1, 4)


def test_lime(clf, reg, iris, diabetes):
    from lime.lime_tabular import LimeTabularExplainer

    X, y = iris
    model = clf().fit(X, y)
    assert LimeTabularExplainer(X).explain_instance(X[0], model.predict_proba, num_samples=100).as_list()
    X, y = diabetes
    model = reg().fit(X, y)
    assert LimeTabularExplainer(X, mode="regression").explain_instance(X[0], model.predict, num_samples=100).as_list()


def test_mapie(clf, reg, iris, diabetes):
    from mapie.classification import SplitConformalClassifier
    from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

    X, y = diabetes
    split = SplitConformalRegressor(reg(), confidence_level=0.9, prefit=False)
    assert split.fit(X[:300], y[:300]).conformalize(X[300:], y[300:]).predict_interval(X)[1].shape == (442, 2, 1)
    cross = CrossConformalRegressor(reg(max_iter=10), cv=3).fit_conformalize(X, y)
    assert cross.predict_interval(X)[1].shape == (442, 2, 1)
    X, y = iris
    sets = SplitConformalClassifier(clf(), prefit=False).fit(X[::2], y[::2]).conformalize(X[1::2], y[1::2])
    assert sets.predict_set(X)[1].shape == (150, 3, 1)


def test_fairlearn(clf, binary):
    from fairlearn.metrics import MetricFrame
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch
    from sklearn.metrics import accuracy_score

    X, y = binary
    group = (X[:, 0] > 6).astype(int)
    model = clf(max_iter=20)
    assert (
        MetricFrame(
            metrics=accuracy_score, y_true=y, y_pred=clf().fit(X, y).predict(X), sensitive_features=group
        ).overall
        > 0.4
    )
    reduced = ExponentiatedGradient(model, DemographicParity(), max_iter=3).fit(X, y, sensitive_features=group)
    assert reduced.predict(X).shape == (100,)
    assert GridSearch(model, DemographicParity(), grid_size=3).fit(X, y, sensitive_features=group).predict(X).shape == (
        100,
    )
    optimizer = ThresholdOptimizer(estimator=clf(), predict_method="predict_proba").fit(X, y, sensitive_features=group)
    assert optimizer.predict(X, sensitive_features=group).shape == (100,)


def test_yellowbrick(clf, reg, iris, diabetes):
    import matplotlib as mpl

    mpl.use("agg")
    from yellowbrick.classifier import ROCAUC, ClassificationReport, ConfusionMatrix
    from yellowbrick.model_selection import LearningCurve, ValidationCurve
    from yellowbrick.regressor import PredictionError, ResidualsPlot

    X, y = iris
    for make in (ClassificationReport, ConfusionMatrix, ROCAUC):
        view = make(clf())
        view.fit(X, y)
        view.score(X, y)
    for make in (ResidualsPlot, PredictionError):
        view = make(reg())
        view.fit(*diabetes)
        view.score(*diabetes)
    LearningCurve(clf(max_iter=5), cv=2).fit(X, y)
    ValidationCurve(clf(max_iter=5), param_name="alpha", param_range=[0.1, 1.0], cv=2).fit(X, y)


def test_eli5_permutation_importance(clf, iris):
    from eli5.sklearn import PermutationImportance

    X, y = iris
    found = PermutationImportance(clf().fit(X, y), n_iter=2).fit(X, y).feature_importances_
    assert found.shape == (4,)


def test_dalex(clf, binary):
    import dalex

    X, y = binary
    X = pd.DataFrame(X, columns=list("abcd"))
    explainer = dalex.Explainer(clf().fit(X, y), X, y, verbose=False)
    assert len(explainer.model_parts(B=2).result) > 4
    assert len(explainer.predict_parts(X.head(1), B=2, type="shap").result) > 0
    assert len(explainer.model_profile(verbose=False).result) > 0


def test_interpret_core_blackbox(clf, binary):
    from interpret.blackbox import PartialDependence

    X, y = binary
    assert PartialDependence(clf().fit(X, y), X).explain_global() is not None


def test_mlxtend_decision_regions(clf, iris):
    import matplotlib as mpl

    mpl.use("agg")
    from mlxtend.plotting import plot_decision_regions

    X, y = iris
    plot_decision_regions(X[:, :2], y, clf=clf().fit(X[:, :2], y))


def test_seaborn_and_altair_draw_the_history(reg, diabetes):
    import altair as alt
    import matplotlib as mpl

    mpl.use("agg")
    import seaborn as sns

    model = reg().fit(*diabetes)
    course = pd.DataFrame({"epoch": model.history_["epoch"], "loss": model.history_["loss"]})
    sns.lineplot(course, x="epoch", y="loss")
    assert alt.Chart(course).mark_line().encode(x="epoch", y="loss").to_dict()


def test_predictions_are_plain_arrays(reg, diabetes):
    X, y = diabetes
    prediction = reg().fit(X, y).predict(X)
    assert type(prediction) is np.ndarray
    assert prediction.flags.writeable
