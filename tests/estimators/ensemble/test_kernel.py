"""The kernel member of an ensemble, which learns local structure."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.model_selection import KFold, ShuffleSplit

import madaline as md
from madaline.errors import FileFormatError
from madaline.estimators.ensemble import fitting, kernel, plan
from madaline.estimators.ensemble.joining import joined
from madaline.estimators.ensemble.kernel import affordable_rows
from madaline.estimators.ensemble.machine import Equations, similarity

TINY = {"preset": "best", "hidden_layer_sizes": (8,), "max_iter": 6, "random_state": 0}


@pytest.fixture(autouse=True)
def for_few_rows(monkeypatch):
    """Kernel members for tables that are trained in a second."""
    monkeypatch.setattr(plan, "KERNEL_FROM", 100)


def bumps(n_rows, seed):
    """Waves in two columns that are too short for a tiny net."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n_rows, 2))
    return X, np.sin(9.0 * X[:, 0]) * np.cos(9.0 * X[:, 1]) + X[:, 0]


def weight_of(estimator):
    return sum(member["weight"] for member in estimator.members_ if member["kind"] == "kernel")


def test_local_structure_is_learned_from_the_rows(monkeypatch):
    (X, y), (Z, truth) = bumps(800, 0), bumps(400, 1)
    longer = TINY | {"max_iter": 60}
    found = md.MLPRegressor(**longer).fit(X, y)
    assert weight_of(found) > 0.5
    monkeypatch.setattr(plan, "KERNEL_FROM", 10_000)
    without = md.MLPRegressor(**longer).fit(X, y)
    assert weight_of(without) == 0.0
    assert found.score(Z, truth) > without.score(Z, truth) + 0.1


def test_it_is_part_of_one_model_in_one_file(tmp_path):
    """For every task, a fresh process predicts the same from the file; the table has a column that it does not use."""
    X, y = bumps(300, 0)
    table = pd.DataFrame(X, columns=["width", "height"])
    table["city"] = np.random.default_rng(0).choice([f"town {k}" for k in range(20)], 300)
    table.to_parquet(tmp_path / "rows.parquet")
    targets = {
        "binary": np.where(y > 0.0, "yes", "no"),
        "multiclass": np.array(["low", "mid", "top"])[np.digitize(y, [-0.3, 0.3])],
        "two numbers": np.stack([y, -2.0 * y], axis=1),
    }
    expected = {}
    for task, target in targets.items():
        estimator = (md.MLPRegressor if task == "two numbers" else md.MLPClassifier)(**TINY).fit(table, target)
        assert weight_of(estimator) > 0.1, task
        md.save(estimator, tmp_path / f"{task}.madaline")
        expected[task] = getattr(estimator, "predict_proba", estimator.predict)(table)
    script = """
import sys, json, pathlib, madaline as md, polars as pl
folder = pathlib.Path(sys.argv[1])
rows = pl.read_parquet(folder / "rows.parquet")
models = {file.stem: md.load(file) for file in folder.glob("*.madaline")}
found = {name: getattr(model, "predict_proba", model.predict)(rows).tolist() for name, model in models.items()}
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    for task in targets:
        np.testing.assert_allclose(found[task], expected[task], rtol=1e-6)


def test_held_out_outputs_are_by_machines_that_did_not_see_the_row():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    estimator = md.MLPRegressor(**TINY).fit(X, y)
    assert abs(np.corrcoef(estimator.oof_prediction_, y)[0, 1]) < 0.25


def test_rows_of_a_group_are_held_out_together():
    """Each group is a point with a random target: only rows of the same group would tell it."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    X, y = rng.normal(size=(60, 3))[groups], rng.normal(size=60)[groups]
    estimator = md.MLPRegressor(**TINY).fit(X, y, groups=groups)
    assert abs(np.corrcoef(estimator.oof_prediction_, y)[0, 1]) < 0.4
    apart = md.MLPRegressor(**TINY).fit(X, y)
    assert np.corrcoef(apart.oof_prediction_, y)[0, 1] > 0.8


def test_the_result_does_not_depend_on_threads_or_on_an_interruption(tmp_path):
    X, y = bumps(300, 0)
    found = [md.MLPRegressor(**TINY, threads=n).fit(X, y).predict(X) for n in (1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    md.MLPRegressor(**TINY).fit(X, y, checkpoint=tmp_path / "run")
    again = md.MLPRegressor(**TINY).fit(X, y, checkpoint=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(again.predict(X), found[0])


def test_ctrl_c_while_it_is_computed_keeps_the_other_members(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "kernel_member", interrupted)
    X, y = bumps(150, 0)
    with pytest.warns(UserWarning, match="interrupted"):
        estimator = md.MLPRegressor(**TINY).fit(X, y)
    assert np.isfinite(estimator.predict(X)).all()
    assert estimator.history_.stopped == "interrupted"


def test_rows_without_weight_are_ignored():
    X, y = bumps(400, 0)
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    wrong = np.where(weight > 0.0, y, 100.0)
    estimator = md.MLPRegressor(**TINY).fit(X, wrong, sample_weight=weight, cv=2)
    assert weight_of(estimator) > 0.1
    assert np.abs(estimator.predict(X[:300])).max() < 10.0


@pytest.mark.parametrize("n_rows", [1, 2, 40, 1_200])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_equations_are_solved(n_rows, ridge, weighted):
    """Against a solver in float64; one of the two targets does not change, and one row in ten has no weight."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n_rows, 3)).astype(np.float32)
    targets = np.stack([np.sin(3.0 * Z[:, 0]), np.full(n_rows, 2.0)], axis=1).astype(np.float32)
    weight = np.where(np.arange(n_rows) % 10 == 9, 0.0, rng.uniform(0.1, 2.0, n_rows)) if weighted else np.ones(n_rows)
    found = Equations(Z, targets, weight if weighted else None).solved(ridge)(Z)
    scale = np.sqrt(weight)
    K = np.exp(-np.linalg.norm(Z.astype(np.float64)[:, None] - Z, axis=2))
    mean = np.average(targets, axis=0, weights=weight)
    inner = scale[:, None] * K * scale + ridge * np.eye(n_rows)
    exact = K @ (scale[:, None] * np.linalg.solve(inner, scale[:, None] * (targets - mean))) + mean
    np.testing.assert_allclose(found, exact, atol=0.01 * max(1.0, np.abs(exact).max()))


def test_weights_equal_repeated_rows():
    Z, y = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32), np.arange(20.0, dtype=np.float32)[:, None]
    weight = np.where(np.arange(20) < 5, 3.0, 1.0).astype(np.float32)
    repeated = np.repeat(np.arange(20), weight.astype(int))
    found = Equations(Z, y, weight).solved(0.1)(Z)
    np.testing.assert_allclose(found, Equations(Z[repeated], y[repeated]).solved(0.1)(Z), rtol=1e-3)


@pytest.mark.parametrize("n_rows", [2, 50, 2_000])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_equal_rows_are_predicted_by_their_mean(n_rows, ridge):
    """Their kernel has rank 1. A ridge below the rounding of float32 is increased."""
    y = np.linspace(0.0, 1.0, n_rows, dtype=np.float32)[:, None]
    found = Equations(np.zeros((n_rows, 2), dtype=np.float32), y).solved(ridge)(np.zeros((1, 2), dtype=np.float32))
    np.testing.assert_allclose(found, 0.5, atol=1e-2)


def test_the_kernel_is_that_of_the_layer():
    Z, c = (np.random.default_rng(k).normal(size=(n, 3)).astype(np.float32) for k, n in ((0, 5), (1, 4)))
    model = md.nn.Radial(4).init(3)
    model.params["c"] = c.T
    np.testing.assert_allclose(model(Z), similarity(Z, c), rtol=1e-5)


@pytest.mark.parametrize("n_columns", [0, 3])
def test_tables_without_what_it_needs_have_none(n_columns):
    """A table of categories alone, and columns in which nothing changes for most rows."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{k}": np.where(np.arange(200) < 3, 1.0, 0.0) for k in range(n_columns)})
    table["city"] = rng.choice([f"town {k}" for k in range(20)], 200)
    estimator = md.MLPRegressor(**TINY).fit(table, rng.normal(size=200))
    assert weight_of(estimator) == 0.0


def test_many_columns_or_another_kind_of_output_have_none():
    rng = np.random.default_rng(0)
    wide = md.MLPRegressor(**TINY | {"max_iter": 1}).fit(rng.normal(size=(120, 1_001)), rng.normal(size=120), cv=2)
    count = md.MLPRegressor(**TINY, loss="poisson").fit(rng.normal(size=(150, 2)), rng.poisson(2.0, 150))
    assert weight_of(wide) == weight_of(count) == 0.0


def test_a_short_time_leaves_it_out_and_a_longer_one_has_more_rows():
    y = np.zeros(10)
    assert affordable_rows(1e-4, y, 5, 2) == 0
    assert 1_500 <= affordable_rows(10.0, y, 5, 2) < affordable_rows(1e4, y, 5, 2)
    assert affordable_rows(10.0, np.array([0, 99]), 5, 2) < affordable_rows(10.0, y, 5, 2)
    X, y = bumps(400, 0)
    estimator = md.MLPRegressor(**TINY).fit(X, y, max_seconds=0.02)
    assert weight_of(estimator) == 0.0


def test_many_rows_are_represented_by_a_sample(monkeypatch):
    monkeypatch.setattr(plan, "KERNEL_ROWS", 150)
    X, y = bumps(400, 0)
    estimator = md.MLPRegressor(**TINY).fit(X, y)
    sizes = [row.layer.n_out for row in estimator.model_.network.rows if isinstance(row.layer, md.nn.Radial)]
    assert sizes == [150]
    assert np.isfinite(estimator.oof_prediction_).all()


def test_a_damaged_plan_is_refused(tmp_path):
    X, y = bumps(150, 0)
    md.MLPRegressor(**TINY).fit(X, y, checkpoint=tmp_path / "run")
    file = tmp_path / "run" / "plan.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"kernel_rows": -1}))
    with pytest.raises(FileFormatError, match="not the plan of an ensemble"):
        md.MLPRegressor(**TINY).fit(X, y, checkpoint=tmp_path / "run", resume=True)


def test_probabilities_are_calibrated_before_they_are_mixed(monkeypatch):
    """Estimates of a ridge regression are drawn towards the mean: with its own temperature, no other one is better."""
    seen = []
    monkeypatch.setattr(fitting, "joined", lambda members, *given: seen.extend(members) or joined(members, *given))
    X, y = bumps(600, 0)
    classes = np.digitize(y, np.quantile(y, np.linspace(0.0, 1.0, 9)[1:-1]))
    estimator = md.MLPClassifier(**TINY).fit(X, classes)
    assert weight_of(estimator) > 0.5
    (kernel,) = [member for member in seen if member.task.kind.name == "kernel"]

    def loss(temperature):
        z = kernel.outputs / temperature
        return float(np.mean(logsumexp(z, axis=1) - z[np.arange(600), classes]))

    assert all(loss(1.0) < loss(temperature) for temperature in (0.8, 0.9, 1.1, 1.25))


def test_noise_in_many_columns_is_not_predicted():
    """A net fits the noise of the rows that train it, so that its directions reveal their targets."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 150)), rng.normal(size=400)
    estimator = md.MLPRegressor(**TINY | {"max_iter": 30}).fit(X, y)
    assert abs(np.corrcoef(estimator.oof_prediction_, y)[0, 1]) < 0.2


def test_folds_may_be_an_iterator():
    """Iterators can be read once, and the ensemble needs its folds several times."""
    X, y = bumps(300, 0)
    tiny = TINY | {"max_iter": 2}
    found = md.MLPRegressor(**tiny).fit(X, y, cv=KFold(3).split(X))
    np.testing.assert_array_equal(found.predict(X), md.MLPRegressor(**tiny).fit(X, y, cv=KFold(3)).predict(X))


def test_random_folds_are_those_of_the_nets():
    """A splitter without a seed divides the rows differently each time."""
    X, y = bumps(400, 0)
    assert weight_of(md.MLPRegressor(**TINY).fit(X, y, cv=ShuffleSplit(3, test_size=0.2))) > 0.1


@pytest.mark.parametrize("loss", ["cross_entropy", "focal"])
def test_true_and_false_may_have_an_output_each(loss):
    X, y = bumps(300, 0)
    estimator = md.MLPClassifier(**TINY, loss=loss).fit(X, y > 0.0)
    assert weight_of(estimator) > 0.1
    assert estimator.score(X, y > 0.0) > 0.8


def test_samples_have_only_rows_with_weight(monkeypatch):
    monkeypatch.setattr(plan, "KERNEL_ROWS", 20)
    monkeypatch.setattr(kernel, "RIDGE_ROWS", 20)
    X, y = bumps(400, 0)
    weight = np.where(np.arange(400) % 40 == 0, 1.0, 0.0)
    estimator = md.MLPRegressor(**TINY).fit(X, y, sample_weight=weight, cv=2)
    assert np.isfinite(estimator.predict(X)).all()


def test_a_ridge_of_a_row_with_hardly_any_weight_does_not_overflow():
    Z, y = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32), np.arange(60.0, dtype=np.float32)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Equations(Z, y, np.where(np.arange(60) < 30, 1e-200, 1.0)).solved(0.1)
    np.testing.assert_allclose(found(Z), Equations(Z[30:], y[30:]).solved(0.1)(Z), rtol=1e-3)
