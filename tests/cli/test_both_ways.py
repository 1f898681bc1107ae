"""The command line and Python read each other's files, and predict the same."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, f1_score, r2_score

import madaline as md
from madaline.cli.main import main

N = 160
TASKS = {
    "binary": ["answer"],
    "multiclass": ["kind"],
    "multilabel": ["p", "q"],
    "regression": ["price"],
    "several numbers": ["price", "rent"],
    "count": ["visits"],
}
each_task = pytest.mark.parametrize("task", TASKS)
FEATURES = ["size", "city", "rooms", "sold", "pool", "code"]


def table() -> pd.DataFrame:
    """Features of several kinds with gaps, and a target for each task."""
    rng = np.random.default_rng(0)
    size, rooms = rng.normal(100.0, 20.0, N).round(1), rng.integers(1, 7, N)
    city = rng.choice(["Rome", "Oslo", "Bern"], N)
    signal = (size - 100.0) / 20.0 + (city == "Rome")
    frame = pd.DataFrame(
        {
            "size": np.where(np.arange(N) % 17 == 3, np.nan, size),
            "city": np.where(np.arange(N) % 19 == 5, None, city),
            "rooms": rooms,
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), unit="D"),
            "answer": np.where(signal > 0.3, "yes", "no"),
            "kind": np.array(["a", "b", "c"])[np.digitize(signal, [-0.3, 0.8])],
            "p": (signal > 0).astype(int),
            "q": (rooms > 3).astype(int),
            "price": (1000.0 + 100.0 * signal + rng.normal(0.0, 5.0, N)).round(2),
            "rent": (10.0 + signal).round(3),
            "visits": rng.poisson(np.exp(0.5 * signal + 1.0)),
        }
    )
    frame["price"] += 0.125
    # What pandas and polars read as booleans and integers from a file, where madaline keeps the text.
    frame["pool"], frame["code"] = rng.random(N) < 0.4, rng.choice(["007", "012", "300"], N)
    return frame


FRAME = table()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run folder for each task, and the table without targets as a file."""
    folder = tmp_path_factory.mktemp("runs")
    for task, targets in TASKS.items():
        file = folder / f"{task}.csv"
        FRAME[[*FEATURES, *targets]].to_csv(file, index=False)
        options = ["--epochs", "4", "--hidden", "16", "--no-baselines", "--no-report", "--out", str(folder / task)]
        assert main(["train", str(file), "-t", ",".join(targets), *options]) == 0
    FRAME[FEATURES].to_csv(folder / "new.csv", index=False)
    return folder


def raw(file, kind):
    """The file as someone reads it who does not use madaline for it."""
    return pd.read_csv(file) if kind == "pandas" else pl.read_csv(file, try_parse_dates=True)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@each_task
def test_python_reads_a_trained_model_and_predicts_the_same(madaline, trained, task, kind):
    targets = TASKS[task]
    estimator, new = md.load(trained / task), raw(trained / "new.csv", kind)
    is_class = task in ("binary", "multiclass", "multilabel")
    option = ["--proba"] if is_class else ["--interval", "0.8"]
    result = madaline("predict", trained / task, trained / "new.csv", "--only", *option, "-o", "out.parquet")
    assert result.code == 0, result.err
    scored = pl.read_parquet("out.parquet")
    expected = scored.select(f"predicted {name}" for name in targets).to_numpy()
    found = np.asarray(estimator.predict(new)).reshape(N, -1)
    np.testing.assert_array_equal(found, expected)
    if is_class:
        names = targets if task == "multilabel" else estimator.classes_
        np.testing.assert_array_equal(
            estimator.predict_proba(new), scored.select(f"probability {name}" for name in names).to_numpy()
        )
        return
    low, high = (np.reshape(end, (N, -1)) for end in estimator.predict_interval(new, 0.8))
    np.testing.assert_array_equal(low, scored.select(f"predicted {name} low" for name in targets).to_numpy())
    np.testing.assert_array_equal(high, scored.select(f"predicted {name} high" for name in targets).to_numpy())


@each_task
def test_a_trained_model_says_in_python_what_it_is(trained, task):
    estimator = md.load(trained / task / "model.madaline")
    assert type(estimator).__name__ == (
        "MLPRegressor" if task in ("regression", "several numbers", "count") else "MLPClassifier"
    )
    assert estimator.preset == "auto"
    assert estimator.target_names_ == tuple(TASKS[task])
    assert list(estimator.feature_names_in_) == FEATURES
    assert estimator.resolved_params_["hidden_layer_sizes"] == (16,)
    assert estimator.resolved_params_["max_iter"] == 4
    assert estimator.resolved_params_["activation"] == "mish"
    assert estimator.provenance_.about["rows"]["all"] == N
    assert estimator.history_.epochs == estimator.n_iter_ <= 4


def test_a_trained_model_can_be_fitted_again_in_python(trained):
    """With the same parameters, on other rows."""
    estimator = md.load(trained / "regression" / "model.madaline")
    again = estimator.fit(FRAME[FEATURES], FRAME["price"])
    assert again.resolved_params_["hidden_layer_sizes"] == (16,)
    assert again.predict(FRAME[FEATURES]).shape == (N,)


def saved_in_python(task, **parameters):
    targets = TASKS[task]
    y = FRAME[targets[0]] if len(targets) == 1 else FRAME[targets]
    kind = md.MLPRegressor if task in ("regression", "several numbers", "count") else md.MLPClassifier
    loss = {"loss": "poisson"} if task == "count" else {}
    made = kind(hidden_layer_sizes=(8,), max_iter=3, random_state=0, **loss, **parameters)
    return made.fit(FRAME[FEATURES], y)


NUMBERS = FRAME[["size", "rooms", "rent"]].fillna(100.0)
ARRAY = NUMBERS.to_numpy()
QUICK = {"max_iter": 3, "random_state": 0, "hidden_layer_sizes": (8,)}


def classifier(X, target, **parameters):
    return lambda: md.MLPClassifier(**QUICK | parameters).fit(X, target)


def regressor(X, target, kind=md.MLPRegressor, **parameters):
    return lambda: kind(**QUICK | parameters).fit(X, target)


MODELS = {
    **{f"preset: {task}": (lambda task=task: saved_in_python(task, preset="auto")) for task in TASKS},
    "table: binary": lambda: saved_in_python("binary", data="auto"),
    "table: regression": lambda: saved_in_python("regression", data="auto"),
    "array: classes": classifier(ARRAY, FRAME["kind"].to_numpy()),
    "array: numbers": regressor(ARRAY, FRAME["price"].to_numpy()),
    "array: preset": classifier(ARRAY, FRAME["answer"].to_numpy(), preset="auto"),
    "frame of numbers: classes": classifier(NUMBERS, FRAME["answer"]),
    "frame of numbers: numbers": regressor(NUMBERS, FRAME["price"]),
    "density: gaussian": regressor(NUMBERS, FRAME["price"], md.GaussianMLPRegressor),
    "density: quantiles": regressor(
        FRAME[FEATURES], FRAME["price"], md.QuantileMLPRegressor, data="auto", quantiles=(0.1, 0.5, 0.9)
    ),
    "density: mixture": regressor(NUMBERS, FRAME["price"], md.MixtureDensityRegressor),
    "margins": classifier(NUMBERS, FRAME["kind"], loss="hinge"),
    "unit: perceptron": lambda: md.classical.Perceptron(max_iter=5).fit(NUMBERS, FRAME["answer"]),
    "unit: adaline of an array": lambda: md.classical.Adaline(max_iter=5, learning_rate=1e-6).fit(
        ARRAY, FRAME["kind"].to_numpy()
    ),
    "unit: madaline": lambda: md.classical.Madaline(max_iter=2, random_state=0).fit(NUMBERS, FRAME["answer"]),
}
each_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Each model, and the name of its file."""
    folder, found = tmp_path_factory.mktemp("saved"), {}
    for place, (name, make) in enumerate(MODELS.items()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models that were trained too little
            model = make()
        md.save(model, folder / f"{place}.madaline")
        found[name] = model, folder / f"{place}.madaline"
    return found


def rows_of(model):
    return FRAME[FEATURES] if "city" in list(getattr(model, "feature_names_in_", ())) else NUMBERS


def in_python(model):
    """The rows as the model takes them in Python."""
    rows = rows_of(model)
    return rows if hasattr(model, "feature_names_in_") else rows.to_numpy()


def truth_of(name, model):
    """The targets under the names that the model knows them by."""
    known = {"classes": "kind", "numbers": "price", "preset": "answer", "adaline": "kind"}
    targets = getattr(model, "target_names_", ("y",))
    if set(targets) <= set(FRAME.columns):
        return FRAME[list(targets)]
    column = next(column for word, column in known.items() if word in name)
    return pd.DataFrame({"y": FRAME[column]})


@each_model
def test_the_command_line_predicts_what_python_does(madaline, saved, name):
    model, file = saved[name]
    rows_of(model).to_csv("new.csv", index=False)
    result = madaline("predict", file, "new.csv", "--only", "-o", "out.parquet")
    assert result.code == 0, result.err
    expected = np.asarray(model.predict(in_python(model))).reshape(N, -1)
    scored = pl.read_parquet("out.parquet")
    assert scored.width == expected.shape[1]
    np.testing.assert_array_equal(scored.to_numpy().astype(expected.dtype), expected)


@each_model
def test_the_command_line_gives_the_probabilities_and_intervals_that_python_does(madaline, saved, name):
    model, file = saved[name]
    rows_of(model).to_csv("new.csv", index=False)
    proba = madaline("predict", file, "new.csv", "--only", "--proba", "-o", "proba.parquet")
    if hasattr(model, "predict_proba"):
        found = pl.read_parquet("proba.parquet").select(pl.col("^probability .*$")).to_numpy()
        np.testing.assert_array_equal(found, model.predict_proba(in_python(model)))
    else:
        assert proba.code == 2
        assert "probabilities" in proba.err
    interval = madaline("predict", file, "new.csv", "--only", "--interval", "0.8", "-o", "interval.parquet")
    if name.startswith(("density", "preset: re", "preset: se", "preset: count")):
        low, high = (np.reshape(end, (N, -1)) for end in model.predict_interval(in_python(model), 0.8))
        scored = pl.read_parquet("interval.parquet")
        np.testing.assert_array_equal(scored.select(pl.col("^.* low$")).to_numpy(), low)
        np.testing.assert_array_equal(scored.select(pl.col("^.* high$")).to_numpy(), high)
    else:  # without rows that training did not see, or with classes
        assert interval.code == 2
        assert "interval" in interval.err
        assert not Path("interval.parquet").exists()


@each_model
def test_the_command_line_scores_what_python_does(madaline, saved, name):
    model, file = saved[name]
    truth = truth_of(name, model)
    pd.concat([rows_of(model).drop(columns=truth.columns, errors="ignore"), truth], axis=1).to_csv("t.csv", index=False)
    result = madaline("evaluate", file, "t.csv", "--json")
    assert result.code == 0, result.err
    scores = {key: value["value"] for key, value in result.json()["scores"].items()}
    found = model.predict(in_python(model))
    if not hasattr(model, "classes_"):
        mean_square = np.mean((truth.to_numpy() - found.reshape(N, -1)) ** 2)
        assert scores["R2"] == pytest.approx(1.0 - mean_square / np.mean(truth.to_numpy().var(axis=0)))
        if truth.shape[1] == 1:
            assert scores["R2"] == pytest.approx(r2_score(truth, found))
    elif truth.shape[1] > 1:
        assert scores["F1"] == pytest.approx(f1_score(truth, found, average="micro"))
    else:
        assert scores["accuracy"] == pytest.approx(accuracy_score(truth, found))
        assert ("log loss" in scores) == hasattr(model, "predict_proba")


@each_model
def test_the_command_line_shows_what_was_saved_in_python(madaline, saved, name):
    model, file = saved[name]
    result = madaline("inspect", file)
    assert result.code == 0, result.err
    assert type(model).__name__ in result.out
    document = madaline("inspect", file, "--json").json()
    assert document["class"] == type(model).__name__
    assert document["target"] == list(getattr(model, "target_names_", ("y",)))
    classes = document["target"] if document["task"] == "multilabel" else list(getattr(model, "classes_", ()))
    assert document["classes"] == classes


@each_model
def test_the_command_line_exports_what_was_saved_in_python(madaline, saved, name):
    model, file = saved[name]
    result = madaline("export", file, "--to", "python", "-o", "model.py")
    assert result.code == 0, result.err
    spec = importlib.util.spec_from_file_location("exported_model", "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = in_python(model)
    found = module.predict(rows)
    labels = next(
        (found[key] for key in ("label", "labels", "prediction", "mean") if isinstance(found, dict) and key in found),
        found,
    )
    expected = np.asarray(model.predict(rows))
    if name == "density: quantiles":
        expected = model.predict_quantiles(rows)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(labels, expected, rtol=1e-4)
    else:
        assert np.mean(np.asarray(labels) == expected) > 0.99


@pytest.mark.parametrize("target", ["python", "python-only"])
def test_an_export_predicts_what_the_command_line_does_from_a_data_frame(madaline, trained, target):
    result = madaline("export", trained / "regression", "--to", target, "-o", "model.py")
    assert result.code == 0, result.err
    namespace = {}
    exec(Path("model.py").read_text(), namespace)
    frame = pd.read_csv(trained / "new.csv").replace({np.nan: None})
    if target == "python":
        found = namespace["predict"](frame)
    else:
        found = [namespace["predict_row"](row) for row in frame.to_dict("records")]
    np.testing.assert_allclose(np.ravel(found), md.load(trained / "regression").predict(frame), rtol=1e-4)


def test_a_table_that_lacks_a_column_or_has_too_many_is_refused_with_a_sentence(madaline, saved):
    NUMBERS.drop(columns="rooms").to_csv("few.csv", index=False)
    few = madaline("predict", saved["frame of numbers: classes"][1], "few.csv")
    assert few.code == 1
    assert "no column 'rooms', which the model was trained with" in few.err
    array = madaline("predict", saved["array: classes"][1], "few.csv")
    assert array.code == 1
    assert "The table has 2 feature columns, and the model was trained with an array of 3." in array.err


def test_text_where_a_model_needs_numbers_is_refused_with_a_sentence(madaline, saved):
    NUMBERS.assign(rooms="many").to_csv("text.csv", index=False)
    for name in ("frame of numbers: classes", "array: classes", "unit: perceptron"):
        result = madaline("predict", saved[name][1], "text.csv")
        assert result.code == 1, name
        assert "Column 'rooms': row 0 holds 'many', which is not a number" in result.err
    NUMBERS.assign(rooms=np.where(np.arange(N) == 7, np.nan, 1.0)).to_csv("gap.csv", index=False)
    for name in ("frame of numbers: classes", "array: classes", "unit: perceptron"):
        result = madaline("predict", saved[name][1], "gap.csv")
        assert result.code == 1
        assert "Column 'rooms' has no value in row 7 (1 such rows)" in result.err


def test_what_does_not_predict_is_refused_with_a_sentence(madaline):
    md.save(md.data.ColumnScaler().fit(NUMBERS.to_numpy()), "scaler.madaline")
    for command in (
        ["predict", "scaler.madaline", "iris"],
        ["inspect", "scaler.madaline"],
        ["export", "scaler.madaline"],
    ):
        result = madaline(*command)
        assert result.code == 1
        assert "'scaler.madaline' holds a ColumnScaler, which does not predict." in result.err


@pytest.mark.parametrize("name", ["frame of numbers: classes", "frame of numbers: numbers", "density: quantiles"])
def test_the_command_line_explains_what_was_saved_in_python(madaline, saved, name):
    """By default what ``predict`` gives; rows that need more steps than others are no exception."""
    model, file = saved[name]
    rows_of(model).to_csv("new.csv", index=False)
    result = madaline("explain", file, "new.csv", "--rows", "40", "--json")
    assert result.code == 0, result.err
    found = result.json()["explanations"]
    predicted = model.predict(in_python(model))[:40]
    if hasattr(model, "classes_"):
        assert [row["output"] for row in found] == list(predicted)
    else:
        np.testing.assert_allclose([row["prediction"] for row in found], predicted, rtol=1e-4)


def test_several_columns_of_classes_are_shown_and_predicted(madaline):
    targets = FRAME[["answer", "kind"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few epochs
        model = classifier(FRAME[FEATURES], targets, data="auto")()
    md.save(model, "both.madaline")
    FRAME[FEATURES].to_csv("new.csv", index=False)
    shown = madaline("inspect", "both.madaline")
    assert shown.code == 0, shown.err
    assert "multioutput classification of 'answer', 'kind' (MLPClassifier)" in shown.out
    assert "Classes of kind: a, b, c" in shown.out
    document = madaline("inspect", "both.madaline", "--json").json()
    assert (document["task"], document["classes"]) == ("multioutput", [["no", "yes"], ["a", "b", "c"]])
    scored = madaline("predict", "both.madaline", "new.csv", "--only", "--proba", "-o", "proba.parquet")
    assert scored.code == 0, scored.err
    found = pl.read_parquet("proba.parquet")
    assert found.columns[:5] == [
        "predicted answer",
        "predicted kind",
        "probability answer no",
        "probability answer yes",
        "probability kind a",
    ]
    np.testing.assert_array_equal(found[:, :2].to_numpy(), model.predict(FRAME[FEATURES]))
    np.testing.assert_array_equal(found[:, 2:].to_numpy(), np.hstack(model.predict_proba(FRAME[FEATURES])))
    plain = madaline("predict", "both.madaline", "new.csv", "--only", "-o", "out.parquet")
    assert plain.code == 0, plain.err
    assert pl.read_parquet("out.parquet").columns == ["predicted answer", "predicted kind"]
    FRAME[[*FEATURES, "answer", "kind"]].to_csv("full.csv", index=False)
    scores = madaline("evaluate", "both.madaline", "full.csv")
    assert scores.code == 2
    assert "several columns of classes" in scores.err


def test_a_net_alone_is_shown_and_exported(madaline):
    net = md.mlp(4, 3, activation="tanh").init(5)
    md.save(net, "net.madaline")
    shown = madaline("inspect", "net.madaline")
    assert shown.code == 0, shown.err
    assert "Linear(4)" in shown.out
    document = madaline("inspect", "net.madaline", "--json").json()
    assert (document["class"], document["n_weights"]) == ("Model", net.params.flat.size)
    assert madaline("export", "net.madaline", "--to", "python", "-o", "model.py").code == 0
    namespace = {}
    exec(Path("model.py").read_text(), namespace)
    X = np.random.default_rng(0).normal(size=(7, 5)).astype("float32")
    np.testing.assert_allclose(namespace["predict"](X), net(X), atol=1e-6)
