"""The table of a run, its steps, and the probes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.errors import UnknownNameError
from madaline.train.history import SHOWN_ROWS, History, HistoryTable


def test_columns_may_come_later_and_rows_may_lack_some():
    table = HistoryTable()
    table.add(step=1, loss=0.5)
    table.add(step=2, accuracy=1.0, layer="0")
    table.add_columns({"step": np.array([3, 4]), "loss": np.array([0.25, 0.125])})
    assert table.n_rows == 4
    assert list(table) == ["step", "loss", "accuracy", "layer"]
    np.testing.assert_array_equal(table["loss"], [0.5, np.nan, 0.25, 0.125])
    np.testing.assert_array_equal(table["accuracy"], [np.nan, 1.0, np.nan, np.nan])
    assert table.row(-1)["step"] == 4
    again = HistoryTable(table.to_dict())
    assert str(again) == str(table)
    assert str(table).splitlines()[2].split() == ["2", "1", "0"]
    with pytest.raises(UnknownNameError, match=r"'los' is not a column. Columns: step, loss"):
        table["los"]


def test_a_table_is_a_data_frame_when_asked():
    table = HistoryTable()
    table.add(epoch=1, loss=0.5)
    table.add(epoch=2)
    frame = table.frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["epoch"].to_list() == [1, 2]


def test_a_long_table_is_shown_by_its_ends():
    table = HistoryTable({"epoch": list(range(1, 101))})
    lines = str(table).splitlines()
    assert len(lines) == SHOWN_ROWS + 2
    assert f"... {100 - SHOWN_ROWS} more" in lines
    assert lines[-1].strip() == "100"
    assert repr(History()) == "History(no epochs)"
    assert str(HistoryTable()) == ""


NET = md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Linear(10))


def test_an_epoch_that_was_run_with_others_has_the_row_it_would_have_by_itself(digits, same):
    one, other = (md.Trainer(NET, loss="cross_entropy", schedule="cosine", regularizer="l2") for _ in range(2))
    together = one.fit(*digits, epochs=6, record_steps=True, metrics="accuracy")
    apart = other.fit(*digits, epochs=6, record_steps=True, metrics="accuracy", callbacks=lambda trainer, row: None)
    same(one.model, other.model)
    assert list(together) == ["epoch", "loss", "penalty", "accuracy", "learning_rate", "seconds"]
    for name in list(together)[:-1]:
        assert together[name].tolist() == apart[name].tolist()
    for name in ("step", "loss", "objective", "accuracy", "learning_rate"):
        assert together.steps[name].tolist() == apart.steps[name].tolist()
    assert together.steps["step"].tolist() == list(range(1, 6 * 29 + 1))
    assert (np.diff(together["learning_rate"]) < 0).all()
    assert together.stopped == "finished"


def test_the_rate_of_each_step_is_the_schedules(digits):
    trainer = md.Trainer(NET, loss="cross_entropy", optimizer=md.SGD(0.2), schedule="cosine")
    history = trainer.fit(*digits, epochs=2, record_steps=True)
    np.testing.assert_allclose(history.steps["learning_rate"], 0.2 * md.optim.schedules.Cosine().table(58), rtol=1e-12)


def test_probes_say_what_can_be_computed_by_hand(digits):
    X, y = digits
    trainer = md.Trainer(
        md.Sequential(md.Linear(16), "tanh", md.Linear(16), "relu", md.Linear(10)), loss="cross_entropy",
        optimizer=md.SGD(0.1), dtype="float64",
    )  # fmt: skip
    history = trainer.fit(X, y, epochs=1, batch_size=None, shuffle=False, probes=True, probe_every=1)
    model = trainer.net.init(X, dtype="float64")
    outputs = model.activations(X)
    rows = {row["layer"]: row for row in (history.probes.row(i) for i in range(history.probes.n_rows))}
    assert list(rows) == ["0", "1", "2", "3", "4"]
    for path, row in rows.items():
        assert row["step"] == 1
        assert row["mean"] == pytest.approx(outputs[path].mean(), rel=1e-10)
        assert row["std"] == pytest.approx(outputs[path].std(), rel=1e-10)
        assert row["zero"] == pytest.approx((outputs[path] == 0).mean(), rel=1e-10)
    assert rows["3"]["zero"] > 0.2
    assert rows["3"]["saturated"] == pytest.approx((outputs["2"] < 0).mean(), rel=1e-10)
    assert np.isnan(rows["3"]["gradient_norm"])
    start = np.concatenate([model.params["2.W"].ravel(), model.params["2.b"]])
    moved = np.concatenate([(trainer.model.params[p] - model.params[p]).ravel() for p in ("2.W", "2.b")])
    assert rows["2"]["weight_norm"] == pytest.approx(np.linalg.norm(start), rel=1e-10)
    assert rows["2"]["gradient_norm"] == pytest.approx(np.linalg.norm(moved) / 0.1, rel=1e-8)
    assert rows["2"]["update_ratio"] == pytest.approx(np.linalg.norm(moved) / np.linalg.norm(start), rel=1e-8)


def test_probes_count_units_that_are_dead_or_saturated_for_every_row(rng):
    X = rng.uniform(-1.0, 1.0, size=(2000, 3)).astype("float32")
    model = md.Sequential(md.Linear(4), "relu", md.Linear(2), "tanh", md.Linear(1)).init(X)
    model.params["0.W"][...] = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]]
    model.params["0.b"][...] = [-9.0, -9.0, 0.0, -1.6]  # the last unit is seldom on, but not dead
    model.params["2.b"][...] = [9.0, 0.0]
    trainer = md.Trainer(model, optimizer=md.SGD(1e-6))
    history = trainer.fit(X, X[:, 0], epochs=4, batch_size=50, probes=True, probe_every=1)
    probes = history.probes
    relu, tanh = probes["layer"] == "1", probes["layer"] == "3"
    assert probes["dead"][relu][-1] == 0.5
    assert probes["saturated_units"][tanh][-1] == 0.5
    assert np.isnan(probes["dead"][relu][:4]).all(), "four samples are too few"
    assert np.isfinite(probes["dead"][relu][4:]).all()
    assert np.isnan(probes["dead"][probes["layer"] == "0"]).all(), "only activations have dead units"


def test_probes_change_nothing_and_come_as_often_as_asked(digits, same):
    plain, watched = (md.Trainer(NET, loss="cross_entropy") for _ in range(2))
    plain.fit(*digits, epochs=2)
    history = watched.fit(*digits, epochs=2, probes=["0", "2"], probe_every=10)
    same(plain.model, watched.model)
    assert history.probes["step"].tolist() == [1, 1, 11, 11, 21, 21, 31, 31, 41, 41, 51, 51]
    assert history.probes["layer"].tolist() == ["0", "2"] * 6
    assert set(watched.fit(*digits, epochs=1, probes=True).probes["layer"]) == {"0", "1", "2", "3"}
    with pytest.raises(UnknownNameError, match="probes='7' is not the path of a layer"):
        watched.fit(*digits, epochs=1, probes=["7"])


def test_probes_stand_in_the_order_of_the_documentation(digits):
    history = md.Trainer(NET, loss="cross_entropy").fit(*digits, epochs=1, probes=True)
    of_units = ["mean", "std", "zero", "saturated", "dead", "saturated_units"]
    statistics = [*of_units, "gradient_norm", "weight_norm", "update_ratio"]
    assert list(history.probes) == ["step", "layer", *statistics]


def test_a_run_with_probes_traces_no_formula_more_often_than_one_without(digits):
    def traced_by(**options):
        traced = []

        def bend(x):
            traced.append(x)
            return np.tanh(x)

        trainer = md.Trainer(md.Sequential(md.Linear(4), bend, md.Linear(10)), loss="cross_entropy")
        trainer.fit(*digits, epochs=1, **options)
        return len(traced)

    assert traced_by(probes=True) == traced_by() > 0


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc, as Linux has it")
def test_resident_memory_does_not_grow_over_epochs(run_python):
    found = run_python(
        """
import numpy as np, madaline as md
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
X = np.random.default_rng(0).normal(size=(4000, 50)).astype("float32")
trainer = md.Trainer(md.Sequential(md.Linear(64), md.BatchNorm(), "relu", md.Linear(50)))
seen = []
def note(trainer, row):
    seen.append(resident())
trainer.fit(X, epochs=60, batch_size=50, validation=0.1, callbacks=note, metrics=["r2"])
print(max(seen) - seen[9])
"""
    )
    assert int(found.stdout) < 4_000_000, found.stderr


@pytest.mark.parametrize(
    ("width", "epochs", "between"),
    [
        (4, 5, (5, 12)),  # a short run: some samples, so that there is something to look at
        (4, 400, (5, 12)),  # of a net whose steps take microseconds: not more
        (1024, 3, (6, 7)),  # of a wide net: twice an epoch
    ],
)
def test_probes_are_sampled_often_enough_to_see_and_seldom_enough_to_cost_little(rng, width, epochs, between):
    X = rng.normal(size=(200, 8)).astype("float32")
    trainer = md.Trainer(md.mlp(width, width, 2), loss="cross_entropy")
    history = trainer.fit(X, (X[:, 0] > 0).astype(int), epochs=epochs, batch_size=10, probes=["0"])
    steps = history.probes["step"]
    assert steps[0] == 1
    assert between[0] <= len(steps) <= between[1]
    assert history.n_rows == epochs
