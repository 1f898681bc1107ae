"""The report as a reader has it: its parts, its safety, its size."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import madaline as md
from madaline.data.table import Table
from madaline.report.findings import Dependence, Effect, Effects, Findings
from madaline.report.html.page import POLICY, in_script
from madaline.report.html.write import report, write_report
from madaline.report.table_summary import summarize
from madaline.report.worst_rows import WorstRows
from report_page import Page

SECTIONS = ["result", "learning", "predictions", "columns", "data", "net", "use", "config"]
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<b>bold</b>",
    "' onmouseover='alert(1)",
    "<!--<script>",
    "%{x}",
    "a\x00b\u2028c",
    "\ud800",
)


@dataclass(frozen=True)
class Measured:
    name: str
    value: float
    low: float
    high: float
    meaning: str = "the share that is right"

    def __str__(self):
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@pytest.fixture(scope="module")
def trained():
    """A small net with what its probes saw."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    trainer = md.Trainer(md.mlp(8, 3, activation="tanh"), loss="cross_entropy", optimizer=md.Adam(1e-2))
    history = trainer.fit(X, rng.integers(0, 3, 60), epochs=4, batch_size=20, validation=0.2, probes=True)
    return trainer.model, history


def summary(names, classes):
    """Of two columns of numbers and two of categories."""
    rng = np.random.default_rng(3)
    texts = [name.encode("utf-8", "replace").decode() for name in names]  # a table has no other texts
    columns = {name: rng.choice(texts, 50) if k % 2 else rng.normal(size=50) for k, name in enumerate(texts)}
    truth = np.arange(50) % len(classes)
    return summarize(Table.of(columns), truth, task="multiclass", classes=classes, targets=[names[1]])


def findings(trained, names=("a", "b", "c", "d"), classes=("x", "y", "z")):
    """Of a classifier, complete."""
    rng = np.random.default_rng(1)
    model, history = trained
    p = rng.dirichlet(np.ones(len(classes)), 50)
    dependence = Dependence(np.linspace(0.0, 1.0, 5), rng.dirichlet(np.ones(len(classes)), 5))
    kinds = Dependence(np.array(names, dtype=object), rng.dirichlet(np.ones(len(classes)), len(names)))
    found = [Effect(names[0], 0.5, 0.1, dependence), Effect(names[1], 0.1, 0.1, kinds), Effect(names[2], 0.0)]
    return Findings(
        title=names[0],
        task="multiclass",
        facts={"Rows": names[0]},
        scores={"this net": [Measured("accuracy", 0.9, 0.8, 1.0)], names[0]: [Measured("accuracy", 0.5, 0.4, 0.6)]},
        targets=[names[1]],
        classes=classes,
        truth=np.arange(50) % len(classes),
        prediction=p,
        history=history,
        model=model,
        inputs=names,
        effects=Effects("log loss", found, 4, 50),
        worst=WorstRows([7, 3], {"true": classes[:2], "predicted": classes[-2:]}, {name: ["u", "v"] for name in names}),
        data=summary(names, classes),
        columns=[(name, "number", f"{name} is one") for name in names],
        assumptions=[f"{names[0]} was read"],
        warnings=[f"{names[1]} leaks"],
        advice=[(f"try {names[2]}", f"--ignore {names[2]}")],
        usage=[f"madaline predict {names[0]}"],
        config=f"target = {names[1]}",
        made="today",
    )


def of_numbers(trained, n=50):
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(n, 1))
    prediction = truth + 0.1 * rng.normal(size=(n, 1))
    data = summarize(Table.of({"a": truth[:, 0], "b": prediction[:, 0]}), truth, task="regression", targets=["b"])
    numbers = replace(findings(trained), task="regression", classes=(), truth=truth, prediction=prediction, data=data)
    return replace(numbers, effects=None, worst=None)


def test_a_classifiers_report_has_every_part(trained):
    page = Page(report(findings(trained)))
    assert page.sections == SECTIONS
    expected = {
        "Loss",
        "Learning rate",
        "Comparison with baseline models",
        "Confusion matrix",
        "Calibration of probabilities",
        "ROC curve",
        "Precision-recall curve",
        "Permutation importance",
        "Class balance",
        "Correlations",
        "Weights of the first layer",
        "Activations",
        "Gradient norm",
        "Relative update size",
    }
    assert expected <= set(page.titles)
    assert len(page.charts) == len(page.titles)
    for text in ("0.900", "0.800 to 1.000", "a is one", "a was read", "b leaks", "--ignore c", "target = b", "today"):
        assert text in page.text
    assert "svg" in page.tags


def binary(trained, p, truth, classes=("no", "yes")):
    prediction = np.stack([1.0 - p, p], axis=1)
    two = replace(findings(trained, classes=classes), task="binary", effects=None, data=None, worst=None)
    return replace(two, truth=truth, prediction=prediction)


def test_the_threshold_chooser_has_the_confusion_matrix_of_every_threshold(trained):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    p = np.clip(0.25 * truth + 0.6 * rng.random(300), 0.0, 1.0)
    page = Page(report(binary(trained, p, truth)))
    chart = page.chart("Choose a threshold")
    values = chart["values"]
    assert chart["script"] == "threshold"
    f1 = []
    for place, threshold in enumerate(values["thresholds"]):
        given = p > threshold
        tp, fp = int((given & (truth == 1)).sum()), int((given & (truth == 0)).sum())
        assert (values["true_positive"][place], values["false_positive"][place]) == (tp, fp)
        f1.append(2 * tp / (2 * tp + fp + (truth == 1).sum() - tp))
    assert values["best"] == int(np.argmax(f1))
    assert (values["n_positive"], values["n_negative"]) == (truth.sum(), 300 - truth.sum())
    drawn = {trace["name"]: trace["y"] for trace in chart["data"]}
    assert list(drawn) == ["precision", "recall", "F1", "predicted positive", "cost per row"], (
        "the script draws the last"
    )
    np.testing.assert_allclose(drawn["F1"], f1, rtol=1e-3)
    best = values["thresholds"][values["best"]]
    assert f"F1 is largest, {max(f1):.3f}, at a threshold of {best:.3f}" in page.text
    kinds = [value for tag, name, value in page.attributes if (tag, name) == ("input", "type")]
    assert kinds == ["range", "number", "number"]


def test_thresholds_of_a_rare_class_are_fine_where_its_probabilities_are(trained):
    p = np.linspace(0.0, 0.02, 400)
    values = Page(report(binary(trained, p, (p > 0.015).astype(int)))).chart("Choose a threshold")["values"]
    assert sum(threshold < 0.02 for threshold in values["thresholds"]) > 50
    assert values["thresholds"][values["best"]] == pytest.approx(0.015, abs=2e-4)


def test_a_test_set_of_one_class_has_no_threshold_to_choose(trained):
    assert "Choose a threshold" not in Page(report(binary(trained, np.full(9, 0.7), np.ones(9, dtype=int)))).titles


def test_inline_scripts_are_all_that_the_policy_allows(trained):
    page = Page(report(binary(trained, np.linspace(0, 1, 50), np.arange(50) % 2)))
    assert POLICY in [value for tag, _, value in page.attributes if tag == "meta"]
    handlers = [name for _, name, _ in page.attributes if name.startswith("on")]
    assert not handlers, "controls are wired by the script of the page"


def test_each_class_has_its_scores_and_the_worst_rows_have_theirs(trained):
    page = Page(report(findings(trained)))
    assert "Scores of each class" in page.text
    assert "macro average" in page.text
    rows = page.rows("Worst predictions")
    assert rows[0] == ["row", "true", "predicted", "a", "b", "c", "d"]
    assert rows[1:] == [["7", "x", "y", "u", "u", "u", "u"], ["3", "y", "z", "v", "v", "v", "v"]]


def test_columns_without_missing_values_are_said_to_be_complete(trained):
    assert "The training set has no missing values." in Page(report(findings(trained))).text


def test_large_numbers_are_written_alike(trained):
    """Never 8.73e+03 beside 8,730."""
    numbers = of_numbers(trained, 200)
    text = Page(report(replace(numbers, truth=87_300 * numbers.truth, prediction=87_300 * numbers.prediction))).text
    assert "e+0" not in text
    assert "within 5," in text or "within 6," in text


def test_bars_of_calibration_are_not_cut_off():
    """Three rows, all right and very sure: their share may be anything from 44% on."""
    truth, prediction = np.ones(3, dtype=int), np.array([[0.01, 0.99]] * 3)
    page = Page(report(Findings("few", "binary", classes=("a", "b"), truth=truth, prediction=prediction)))
    chart = dict(zip(page.titles, page.charts, strict=True))["Calibration of probabilities"]
    (points,) = (trace for trace in chart["data"] if "error_y" in trace)
    lows = [y - down for y, down in zip(points["y"], points["error_y"]["arrayminus"], strict=True)]
    assert chart["layout"]["yaxis"]["range"][0] <= min(lows)


def test_a_regressors_report_shows_residuals_in_place_of_classes(trained):
    shown = set(Page(report(of_numbers(trained))).titles)
    assert {
        "Predicted and true values",
        "Residuals",
        "Residuals by prediction",
        "Distribution of the target b",
    } <= shown
    assert not {"ROC curve", "Confusion matrix", "Permutation importance"} & shown
    assert "Coverage of prediction intervals" not in shown, "there are none"


def test_a_regressors_report_shows_where_its_numbers_and_intervals_can_be_believed(trained):
    """Truths twice as large as predicted from the middle on, and intervals that hold below it alone."""
    guess = np.linspace(1.0, 20.0, 200)[:, None]
    is_low = guess < 10.0
    numbers = replace(of_numbers(trained), truth=np.where(is_low, guess, 2.0 * guess), prediction=guess, covered=is_low)
    page = Page(report(numbers))
    charts = {title: chart["data"][-1] for title, chart in zip(page.titles, page.charts, strict=True)}
    means, held = charts["Calibration"], charts["Coverage of prediction intervals"]
    assert len(means["x"]) == 10
    np.testing.assert_allclose(means["y"][:4], means["x"][:4])
    np.testing.assert_allclose(means["y"][5:], 2.0 * np.array(means["x"][5:]), rtol=1e-3)
    assert held["y"][:4] == [1.0] * 4
    assert held["y"][5:] == [0.0] * 5
    assert sum(held["text"]) == 200
    assert "47.5% overall" in page.text


@pytest.mark.parametrize("guess", [np.zeros(200), np.arange(5.0)], ids=["all the same", "few"])
def test_too_little_to_average_over_is_left_out(trained, guess):
    truth, prediction = np.arange(float(len(guess)))[:, None], guess[:, None]
    numbers = replace(of_numbers(trained), truth=truth, prediction=prediction, covered=truth > 2.0)
    assert not {"Calibration", "Coverage of prediction intervals"} & set(Page(report(numbers)).titles)


def test_of_two_classes_one_curve_says_all(trained):
    two = replace(findings(trained, classes=("no", "yes")), task="binary", effects=None)
    page = Page(report(two))
    curves = page.chart("Precision-recall curve")["data"]
    assert [curve["name"].split(":")[0] for curve in curves] == ["yes"]


def test_labels_have_curves_and_no_confusion(trained):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (50, 3)).astype(np.float32)
    labels = replace(findings(trained), task="multilabel", truth=truth, prediction=rng.random((50, 3)), effects=None)
    shown = set(Page(report(labels)).titles)
    assert {"ROC curve", "Precision-recall curve"} <= shown
    assert "Confusion matrix" not in shown


def test_labels_are_counted_one_by_one_and_their_probabilities_judged_together(trained):
    truth = np.zeros((100, 2), dtype=np.float32)
    truth[:40, 0] = 1.0
    p = np.full((100, 2), 0.125)
    p[:30, 0] = p[90:, 0] = 0.75  # of 40 rows that have it 30 are found, beside 10 that have it not
    labels = replace(
        findings(trained), task="multilabel", classes=("old", "new"), truth=truth, prediction=p, effects=None
    )
    page = Page(report(labels))
    recall, precision = page.chart("Precision and recall by label")["data"]
    assert (recall["x"], precision["x"]) == ([0.75, None], [0.75, None])
    calibration = page.chart("Calibration of probabilities")["data"][1]
    assert calibration["x"] == [0.125, 0.75]
    assert calibration["y"] == pytest.approx([10 / 160, 30 / 40], rel=1e-3)


@pytest.mark.parametrize("task", ["regression", "count", "binary"])
def test_effects_of_columns_are_drawn_to_one_scale(trained, task):
    """A column that hardly matters must not look as if it did as much as another."""
    k = 2 if task == "binary" else 1
    strong = Dependence(np.arange(3.0), np.full((3, k), [[0.1], [0.5], [0.9]]))
    weak = Dependence(np.array(["a", "b"], dtype=object), np.full((2, k), [[0.4], [0.41]]))
    effects = Effects("RMSE", [Effect("x", 0.5, 0.1, strong), Effect("z", 0.1, 0.1, weak)], 2, 50)
    classes = ("no", "yes") if task == "binary" else ()
    page = Page(report(Findings("t", task, targets=["y"], classes=classes, effects=effects)))
    ranges = [page.chart("x")["layout"]["yaxis"]["range"], page.chart("z")["layout"]["xaxis"]["range"]]
    assert ranges[0] == ranges[1]
    assert ranges[0][0] <= 0.1
    assert ranges[0][1] >= 0.9


def test_targets_of_several_units_have_scales_of_their_own(trained):
    found = [Dependence(np.arange(2.0), np.array([[0.0, 900.0], [1.0, 1000.0]]))]
    effects = Effects("RMSE", [Effect("x", 0.5, 0.1, found[0])], 1, 50)
    page = Page(report(Findings("t", "regression", targets=["a", "b"], effects=effects)))
    assert "range" not in page.chart("x")["layout"]["yaxis"]


def test_long_names_keep_their_ends(trained):
    names = [f"a column with a rather long name wave {k}" for k in (1, 2, 3, 14)]
    page = Page(report(findings(trained, names=names)))
    labels = page.chart("Weights of the first layer")["layout"]["yaxis"]["ticktext"]
    assert [label[-7:].strip() for label in labels] == ["wave 1", "wave 2", "wave 3", "wave 14"]
    assert max(map(len, labels)) == 24
    assert "A wave is a cosine of a column with a learned frequency" in page.text


def test_a_class_that_no_test_row_has_gets_no_curve(trained):
    page = Page(report(replace(findings(trained), truth=np.zeros(50, int) + np.arange(50) % 2)))
    curves = page.chart("Precision-recall curve")["data"]
    assert len(curves) == 2


def test_what_is_not_known_has_no_part_and_needs_no_plotly():
    text = report(Findings("nothing", "regression"))
    assert Page(text).sections == []
    assert len(text) < 10_000


def test_a_history_without_probes_and_validation_has_its_curves_alone():
    rng = np.random.default_rng(0)
    trainer = md.Trainer(md.mlp(4, 1), loss="mse")
    history = trainer.fit(rng.normal(size=(20, 2)), rng.normal(size=20), epochs=3)
    page = Page(report(Findings("short", "regression", history=history)))
    assert page.sections == ["learning"]
    assert page.titles == ["Loss", "Learning rate"]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_of_the_data_stay_texts(trained, name):
    names = [f"{name}{k}" for k in range(4)]
    calm_names = [f"{'a' * len(name)}{k}" for k in range(4)]  # as long, so that as many columns fit
    plain, hostile = (findings(trained, names=each, classes=tuple(each[:3])) for each in (calm_names, names))
    calm, page = Page(report(plain)), Page(report(hostile).encode("utf-8", "replace").decode())
    assert page.tags == calm.tags
    assert [(tag, key) for tag, key, _ in page.attributes] == [(tag, key) for tag, key, _ in calm.attributes]
    assert "<" not in json.dumps([_labels(chart) for chart in page.charts])


def _labels(chart):
    """All texts of a chart that plotly would take marks of its own from, but its own templates."""
    own = ("hovertemplate", "texttemplate")
    traces = [{key: value for key, value in trace.items() if key not in own} for trace in chart["data"]]
    return [traces, chart["layout"]]


def test_names_that_look_like_numbers_or_dates_stay_names(trained):
    page = Page(report(findings(trained, classes=("2020-01-01", "1", "007"))))
    axis = page.chart("Confusion matrix")["layout"]["xaxis"]
    assert axis["ticktext"] == ["2020-01-01", "1", "007"]
    assert axis["tickvals"] == [0, 1, 2]


def test_nothing_is_loaded_from_anywhere(trained):
    page = Page(report(findings(trained)))
    addresses = [value for _, name, value in page.attributes if name in ("src", "href", "srcset", "action", "data")]
    assert addresses
    assert all(address.startswith("#") and address[1:] in page.sections for address in addresses)
    policy = [value for tag, name, value in page.attributes if tag == "meta" and "default-src" in (value or "")]
    assert policy
    assert "default-src 'none'" in policy[0]
    assert "http" not in policy[0]


def test_the_file_is_small_with_plotly_inside_however_many_rows_there_are(trained, tmp_path):
    rng = np.random.default_rng(0)
    many = tuple(f"class {k}" for k in range(300))
    truth = rng.integers(0, 300, 20_000)
    classes = replace(findings(trained), classes=many, truth=truth, prediction=rng.random((20_000, 300)), effects=None)
    for place, found in enumerate((classes, of_numbers(trained, 200_000))):
        path = tmp_path / f"{place}.html"
        write_report(path, found)
        assert 4_000_000 < path.stat().st_size < 6_000_000
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0.html", "1.html"]


def test_numbers_that_are_not_finite_are_left_out_of_charts(trained):
    broken = md.Trainer(md.mlp(4, 1), loss="mse").fit(np.ones((8, 2)), np.ones(8), epochs=3)
    broken.add(epoch=4, loss=float("inf"))
    page = Page(report(replace(findings(trained), history=broken)))
    loss = page.chart("Loss")["data"][0]["y"]
    assert loss[-1] is None
    assert all(value is not None for value in loss[:-1])


def test_no_text_can_end_the_script_that_holds_it():
    given = ["</script>", "<!--", "\u2028", "&amp;"]
    text = in_script(given)
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == given


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    ("task", "truth", "prediction", "classes"),
    [
        ("multiclass", 0, [0.25, 0.25, 0.5], "abc"),
        ("binary", 1, [0.0, 1.0], "ab"),
        ("multilabel", [0.0, 0.0], [0.0, 0.0], "ab"),
        ("regression", [0.0], [0.0], ""),
        ("regression", [1e200, -1e200], [0.0, 0.0], ""),
    ],
)
def test_a_row_or_two_are_enough(n, task, truth, prediction, classes):
    rows = [np.array([value] * n) for value in (truth, prediction)]
    page = Page(report(Findings("few", task, classes=tuple(classes), truth=rows[0], prediction=rows[1])))
    assert page.sections == ["predictions"]


def test_a_class_has_one_colour_in_all_charts(trained):
    """Rows of the last class are the most, so an order by frequency would give it the first colour."""
    page = Page(report(replace(findings(trained), truth=np.array([0] * 10 + [1] * 15 + [2] * 25))))
    seen = {}
    for title in ("ROC curve", "Precision-recall curve", "a"):
        for trace in page.chart(title)["data"]:
            if "name" in trace:
                seen.setdefault(trace["name"].split(":")[0], set()).add(trace["line"]["color"])
    assert set(seen) == {"x", "y", "z"}
    assert all(len(colours) == 1 for colours in seen.values())


def of_table(width=3):
    """A net behind a table: two numbers beside an embedded category."""
    branches = md.Parallel(numbers=md.nn.Identity(), city=md.Embedding(20, width))
    net = md.Sequential(md.Sequential(branches, md.Concat()), md.Linear(4), "relu", md.Linear(1))
    return net.init({"numbers": np.zeros((1, 2), np.float32), "city": np.zeros(1, np.int64)})


def test_the_first_layers_weights_are_those_of_the_layer_that_sees_all_columns():
    model, names = of_table(), ["size", "age", "city [1]", "city [2]", "city [3]"]
    chart = Page(report(Findings("t", "regression", model=model, inputs=names))).chart("Weights of the first layer")
    assert chart["layout"]["yaxis"]["ticktext"] == names
    assert np.array(chart["data"][0]["z"]).shape == (5, 4)
    shown = {f"unit {k}": column for k, column in enumerate(model.params["1.W"].T)}
    for unit, column in zip(chart["data"][0]["x"], np.array(chart["data"][0]["z"]).T, strict=True):
        np.testing.assert_allclose(column, shown[unit], rtol=1e-3)


def test_weights_of_inputs_that_have_no_names_are_left_out():
    """The net has two inputs, so that "input 3" would name nothing that a reader knows."""
    page = Page(report(Findings("t", "regression", model=of_table(), inputs=["size", "age", "city"])))
    assert "Weights of the first layer" not in page.titles


def test_all_rows_of_a_table_can_be_seen(trained):
    names = [f"column {k}" for k in range(120)]
    text = report(replace(findings(trained), columns=[(name, "number", "because") for name in names]))
    assert all(f"<td>{name}</td>" in text for name in names)
    assert "max-height" not in text[: text.index("<body>")], "a box that scrolls hides its last rows"


def test_titles_of_axes_keep_clear_of_long_labels(trained):
    page = Page(report(findings(trained, classes=("a rather long class name", "y", "z"))))
    layout = page.chart("Confusion matrix")["layout"]
    assert all(layout[axis]["title"]["standoff"] > 0 for axis in ("xaxis", "yaxis"))


def probed(values, layers=("0", "1")):
    """A history whose probes saw these standard deviations, a row for each layer."""
    history = md.History({"epoch": [1], "loss": [1.0]})
    for place, layer in enumerate(layers):
        for step, value in enumerate(values[place]):
            history.probes.add(step=10 * step, layer=layer, std=value)
    return history


def test_a_batch_of_one_row_leaves_no_gap_in_a_heat_map():
    """The only output of one row has no spread: its logarithm is not finite."""
    history = probed([[1.0] * 6, [1.0, 0.0, 100.0, 0.0, 100.0, 100.0]])
    (chart,) = Page(report(Findings("t", "regression", history=history))).charts
    assert chart["data"][0]["z"][1] == pytest.approx([0.0, 1.0, 2.0, 2.0, 2.0, 2.0])


def test_a_batch_of_two_rows_leaves_no_stripe_in_a_heat_map():
    history = probed([[10.0, 10.0, 1e-3, 10.0, 10.0, 10.0]], layers="0")
    (chart,) = Page(report(Findings("t", "regression", history=history))).charts
    assert chart["data"][0]["z"][0] == [1.0] * 6


def test_a_layer_that_has_stopped_stays_empty_in_a_heat_map():
    history = probed([[1.0] * 8, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    (chart,) = Page(report(Findings("t", "regression", history=history))).charts
    assert chart["data"][0]["z"][1] == [0.0, 0.0, *[None] * 6]


@pytest.mark.parametrize("count", [2, 12, 40])
def test_an_ensemble_is_drawn_with_its_members(trained, count):
    """A member is a box with a bar for each layer; kinds of members are listed with their weights."""
    nets = [md.mlp(8, 3, activation="tanh") for _ in range(count - 1)]
    model = md.nn.Ensemble(*nets, md.Linear(3), weights=[0.5 / (count - 1)] * (count - 1) + [0.5]).init(4)
    text = report(replace(findings(trained), model=model))
    drawn = min(count, 12)
    assert f"<title>An ensemble of {count} members</title>" in text
    assert text.count('<rect class="unit"') == drawn
    assert text.count('<rect class="layer"') == 3 * (drawn - 1) + 2
    assert f"{count - 1} net{'s' * (count > 2)} (4 → 8 → 3 units), weight" in text
    assert "1 linear model (4 → 3 units), weight 0.50" in text
    assert "The first member" in text
    assert f"those of the first of {count} members" in text
    assert "1 Tanh()" in text.replace("\\u0020", " "), "layers of probes are named as in the first member"


def test_the_worst_rows_show_as_many_columns_as_fit(trained):
    """Wide columns are left out, so that the table is not cut off; the text says how many there are."""
    names = [f"a column with a long name {k}" for k in range(6)]
    columns = {name: ["x" * 200, "y"] for name in names}
    rows = WorstRows([3, 4], {"true": ["x", "y"], "predicted": ["y", "x"]}, columns)
    text = report(replace(findings(trained), worst=rows))
    assert "The 2 most important of 6 columns are shown." in text
    few = WorstRows([3, 4], {"true": ["x", "y"]}, {str(k): ["1", "2"] for k in range(6)})
    assert "most important" not in report(replace(findings(trained), worst=few)).split("Worst predictions")[1]
