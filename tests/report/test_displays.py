"""Display objects: what is drawn is what training left behind, where it was asked to be drawn."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay
from sklearn.model_selection import LearningCurveDisplay, ValidationCurveDisplay
from sklearn.neural_network import MLPClassifier as ScikitLearnMLP

import madaline as md
from madaline.errors import ConfigError, MissingPackageError, ShapeError, UnknownNameError
from madaline.report.loss_curve import TRAINING, VALIDATION

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 9)).astype(np.float32)
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def classifier(**parameters):
    parameters = {"max_iter": 6, "batch_size": 40, "random_state": 0} | parameters
    return md.MLPClassifier((8, 5), **parameters).fit(X, y)


@pytest.fixture(scope="module")
def watched():
    return classifier(callbacks=md.train.Probes(), validation=0.25, metrics="accuracy", activation=["tanh", "relu"])


def test_the_loss_of_both_parts_and_the_best_epoch(watched):
    display = md.report.LossCurveDisplay.from_estimator(watched)
    history = watched.history_
    np.testing.assert_array_equal(display.line_.get_ydata(), history["loss"])
    np.testing.assert_array_equal(display.validation_line_.get_ydata(), history["val_loss"])
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 7))
    assert display.best_line_.get_xdata()[0] == history["val_loss"].argmin() + 1
    assert (display.line_.get_color(), display.validation_line_.get_color()) == (TRAINING, VALIDATION)
    assert display.ax_.get_ylabel() == "loss"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()][:2] == ["training", "validation"]


def test_any_metric_of_the_history_is_drawn_on_the_axes_that_are_given(watched):
    _, ax = plt.subplots()
    display = md.report.LossCurveDisplay.from_estimator(watched, metric="accuracy", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.best_line_.get_xdata()[0] == watched.history_["val_accuracy"].argmax() + 1
    with pytest.raises(UnknownNameError, match=r"metric='auc' is not in the history. Known: loss, penalty, acc"):
        md.report.LossCurveDisplay.from_estimator(watched, metric="auc")


def test_the_epoch_that_early_stopping_kept_is_the_best_one():
    clf = classifier(early_stopping=True, max_iter=12, n_iter_no_change=3, validation_fraction=0.3)
    best = int(np.argmax(clf.validation_scores_)) + 1
    assert md.report.LossCurveDisplay.from_estimator(clf).best_line_.get_xdata()[0] == best == clf.history_.best_epoch


def test_losses_that_fall_far_have_a_logarithmic_axis():
    def display(values):
        return md.report.LossCurveDisplay(epochs=np.arange(1, 4), training=np.array(values))

    assert display([1.0, 0.5, 0.4]).plot().ax_.get_yscale() == "linear"
    assert display([1.0, 0.1, 0.001]).plot().ax_.get_yscale() == "log"
    assert display([1.0, 0.1, 0.0]).plot().ax_.get_yscale() == "linear"
    assert display([1.0, 0.1, 0.001]).plot(log=False).ax_.get_yscale() == "linear"


def test_trainers_histories_and_scikit_learns_nets_have_loss_curves():
    trainer = md.Trainer(md.mlp(4, 3), loss="cross_entropy")
    history = trainer.fit(X, y, epochs=2)
    for thing in (trainer, history):
        np.testing.assert_array_equal(
            md.report.LossCurveDisplay.from_estimator(thing).line_.get_ydata(), trainer.history["loss"]
        )
    theirs = ScikitLearnMLP(4, max_iter=3, random_state=0).fit(X, y)
    assert md.report.LossCurveDisplay.from_estimator(theirs).line_.get_ydata().tolist() == theirs.loss_curve_
    with pytest.raises(ConfigError, match="not fitted or not from madaline, has no history"):
        md.report.LossCurveDisplay.from_estimator(md.MLPClassifier())


def test_layers_are_drawn_over_the_steps_a_panel_for_each_statistic(watched):
    display = md.report.LayerStatisticsDisplay.from_estimator(watched)
    assert len(display.axes_) == 6
    probes = watched.history_.probes
    first = probes["layer"] == "1"
    np.testing.assert_array_equal(display.lines_["std", "1"].get_ydata(), probes["std"][first])
    np.testing.assert_array_equal(display.lines_["std", "1"].get_xdata(), probes["step"][first])
    by_statistic = {name: [path for one, path in display.lines_ if one == name] for name, _ in display.lines_}
    assert by_statistic["mean"] == by_statistic["saturated"] == ["1", "3"]
    assert by_statistic["gradient_norm"] == by_statistic["update_ratio"] == ["0", "2", "4"]
    assert [text.get_text() for text in display.figure_.legends[0].get_texts()] == [
        "0 Linear",
        "1 Tanh",
        "2 Linear",
        "3 ReLU",
        "4 Linear",
    ]
    assert [ax.get_yscale() for ax in display.axes_] == ["linear"] * 4 + ["log"] * 2


def test_statistics_are_drawn_where_they_are_asked_for(watched):
    _, axes = plt.subplots(1, 2)
    display = md.report.LayerStatisticsDisplay.from_estimator(watched, statistics=["std", "weight_norm"], ax=axes)
    assert list(display.axes_) == list(axes)
    assert axes[1].get_legend() is not None
    alone = md.report.LayerStatisticsDisplay.from_estimator(watched.history_, statistics=["zero"])
    assert [text.get_text() for text in alone.figure_.legends[0].get_texts()] == ["1", "3"]
    with pytest.raises(ConfigError, match="ax has 1 axes for 2 statistics: std, zero"):
        md.report.LayerStatisticsDisplay.from_estimator(watched, statistics=["std", "zero"], ax=axes[0])
    with pytest.raises(UnknownNameError, match=r"statistics='median' is not known. Known: mean, std"):
        md.report.LayerStatisticsDisplay.from_estimator(watched, statistics=["median"])
    with pytest.raises(ConfigError, match=r"no probes. Train with callbacks=md.train.Probes\(\)"):
        md.report.LayerStatisticsDisplay.from_estimator(classifier())


def test_probes_watch_the_layers_and_steps_they_are_told_and_change_nothing():
    clf = classifier(callbacks=md.train.Probes(["1"], sample_every=2))
    probes = clf.history_.probes
    assert set(probes["layer"].tolist()) == {"1"}
    assert np.diff(probes["step"]).tolist() == [2] * (len(probes["step"]) - 1)
    np.testing.assert_array_equal(clf.coefs_[0], classifier().coefs_[0])


def test_a_linear_net_has_its_own_outputs_drawn():
    trainer = md.Trainer(md.mlp(3), loss="cross_entropy")
    trainer.fit(X, y, epochs=2, probes=True)
    display = md.report.LayerStatisticsDisplay.from_estimator(trainer)
    assert ("mean", "0") in display.lines_
    assert not any(name == "saturated" for name, _ in display.lines_)


def test_first_layer_weights_are_images(watched):  # C2
    display = md.report.FirstLayerDisplay.from_estimator(watched)
    (image,) = display.images_
    mosaic = np.asarray(image.get_array().filled(np.nan))
    assert mosaic.shape == (11, 11)  # three by three tiles of three by three, one apart
    W = watched.coefs_[0]
    np.testing.assert_array_equal(mosaic[:3, :3], W[:, 0].reshape(3, 3))
    np.testing.assert_array_equal(mosaic[4:7, 8:], W[:, 5].reshape(3, 3))
    assert np.isnan(mosaic[3]).all()
    low, high = image.get_clim()
    assert low == -high < 0


def test_the_row_that_excites_a_unit_most_stands_beside_it(watched):  # C2
    display = md.report.FirstLayerDisplay.from_estimator(watched, X, units=[2, 6], image_shape=(1, 9))
    sums = X @ watched.coefs_[0] + watched.intercepts_[0]
    for place, unit in enumerate((2, 6)):
        np.testing.assert_array_equal(display.patterns[place, 0], X[sums[:, unit].argmax()])
    assert len(display.axes_) == len(display.images_) == 2


def test_of_many_units_those_with_the_largest_weights_are_shown_and_colours_are_colours():
    model = md.Linear(100).init(12)
    display = md.report.FirstLayerDisplay.from_estimator(model, image_shape=(2, 2, 3))
    assert len(display.units) == 64
    norms = np.linalg.norm(model.params["W"], axis=0)
    assert norms[list(display.units)].min() >= np.delete(norms, display.units).max()
    shown = display.images_[0].get_array()
    assert shown.shape == (23, 23, 3)
    assert 0.0 <= shown.min() < shown.max() <= 1.0


def test_what_is_no_image_is_said(watched):
    model = md.Linear(2).init(6)
    with pytest.raises(ConfigError, match="image_shape must be given: 6 inputs are not a square"):
        md.report.FirstLayerDisplay.from_estimator(model)
    with pytest.raises(ShapeError, match=r"image_shape=\(2, 2\) has 4 pixels, and the layer has 6 inputs"):
        md.report.FirstLayerDisplay.from_estimator(model, image_shape=(2, 2))
    with pytest.raises(ShapeError, match=r"must be \(height, width\)"):
        md.report.FirstLayerDisplay.from_estimator(model, image_shape=(6,))
    with pytest.raises(ConfigError, match="units=9 is not the index of a unit: the layer has 8"):
        md.report.FirstLayerDisplay.from_estimator(watched, units=[9])
    with pytest.raises(ConfigError, match="no Linear layer"):
        md.report.FirstLayerDisplay.from_estimator(md.Sequential("tanh").init(4))
    with pytest.raises(ConfigError, match="has no net"):
        md.report.FirstLayerDisplay.from_estimator(md.MLPClassifier())
    with pytest.raises(ConfigError, match="need two"):
        md.report.FirstLayerDisplay.from_estimator(watched, X, ax=plt.gca())


def test_without_matplotlib_the_error_says_how_to_get_it(watched, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"madaline\[plot\]"):
        md.report.LossCurveDisplay.from_estimator(watched)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scikit_learns_decision_boundaries(n_classes):
    clf = md.MLPClassifier(4, max_iter=5, random_state=0).fit(X[:, :2], np.arange(120) % n_classes)
    display = DecisionBoundaryDisplay.from_estimator(clf, X[:, :2], response_method="predict_proba", grid_resolution=20)
    grid = np.stack([display.xx0.ravel(), display.xx1.ravel()], axis=1)
    p = clf.predict_proba(grid)
    expected = p[:, 1].reshape(20, 20) if n_classes == 2 else p.reshape(20, 20, 3)
    np.testing.assert_allclose(display.response, expected, rtol=1e-5)


def test_scikit_learns_partial_dependence_and_curves(watched):
    shown = PartialDependenceDisplay.from_estimator(watched, X, [0, (0, 1)], target=1, grid_resolution=4)
    assert shown.axes_.shape == (1, 2)
    clf = md.MLPClassifier(4, max_iter=4, random_state=0)
    curve = LearningCurveDisplay.from_estimator(clf, X, y, cv=2, train_sizes=[0.5, 1.0])
    assert curve.train_sizes.tolist() == [30, 60]
    curve = ValidationCurveDisplay.from_estimator(
        clf, X, y, cv=2, param_name="dropout", param_range=np.array([0.0, 0.5])
    )
    assert np.isfinite(curve.test_scores).all()
