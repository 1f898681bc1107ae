"""What was learned from a table: its file, its intervals, its answers in the words of the target."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from madaline.estimators.tabular.intervals import SHARES, covered
from madaline.estimators.tabular.learned import Learned
from madaline.estimators.tabular.training import learned, prepare, target_of, train
from safetensors.numpy import load_file, save_file

import madaline as md
from madaline.data.reading.format import TableFormat
from madaline.data.split import split_rows
from madaline.errors import ConfigError, FileFormatError, InputError

GOLDEN = Path(__file__).parent / "golden"


def table(n=200):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    city = rng.choice(["Rome", "Oslo", "Kyiv"], n)
    return pl.DataFrame({"x": x, "city": city, "price": 3.0 * x + (city == "Rome") * 2.0 + rng.normal(0.0, 0.3, n)})


def fitted(frame, targets, **told):
    target = target_of(frame, targets, None)
    prepared = prepare(
        frame, targets, target, split_rows(len(frame)), told={"epochs": 30, "learning_rate": 0.01} | told
    )
    trainer, _ = train(prepared)
    return learned(prepared, trainer, TableFormat(), {"note": "a test"})


@pytest.fixture(scope="module")
def prices():
    return fitted(table(), ["price"])


def test_plans_are_made_from_training_rows_alone():
    """And an error in any part names the row of the whole table."""
    frame = table()
    split = split_rows(len(frame))

    def plans(frame):
        prepared = prepare(frame, ["price"], target_of(frame, ["price"], None), split, told={})
        return prepared.table, prepared.target.centres, prepared.target.scales

    others = np.zeros(len(frame), dtype=bool)
    others[split.validation] = others[split.test] = True
    strange = {"x": 1e6, "city": "Nowhere", "price": -1e9}
    changed = frame.with_columns(
        pl.Series(name, np.where(others, value, frame[name].to_numpy())) for name, value in strange.items()
    )
    assert plans(changed) == plans(frame)
    for part in (split.train, split.validation, split.test):
        wrong = frame["x"].to_numpy().copy()
        wrong[part[-1]] = np.inf
        with pytest.raises(InputError, match=f"Column 'x': row {part[-1]} holds inf"):
            plans(frame.with_columns(x=wrong))


def test_a_file_gives_the_same_answers_again(prices, tmp_path):
    prices.save(tmp_path / "m.madaline")
    again = Learned.load(tmp_path / "m.madaline")
    assert np.array_equal(again.predict(table()), prices.predict(table()))
    assert again.about == {"note": "a test"}
    assert np.array_equal(again.margins(0.9), prices.margins(0.9))


def test_the_net_of_a_file_is_read_by_md_load(prices, tmp_path):
    prices.save(tmp_path / "m.madaline")
    assert np.array_equal(md.load(tmp_path / "m.madaline").params.flat, prices.model.params.flat)


def test_answers_are_in_the_units_of_the_target(prices):
    frame = table()
    assert np.corrcoef(prices.predict(frame), frame["price"].to_numpy())[0, 1] > 0.95


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_intervals_hold_the_truth_of_new_rows_as_often_as_they_say(share):
    """Averaged over many test sets, of rows that are like each other: exact by exchangeability."""
    rng = np.random.default_rng(1)
    held = []
    for _ in range(400):
        found = Learned.__new__(Learned)
        found.errors, found.target = None, md.data.TargetPlan.fit(rng.normal(size=10), task="regression")
        errors = rng.standard_t(3, 61)
        found.learn_errors(errors[:60], np.zeros(60))
        held.append(abs(errors[60]) <= found.margins(share)[0])
    assert np.mean(held) == pytest.approx(share, abs=0.06)


def test_how_often_intervals_hold_is_told_by_other_rows(rng):
    """Errors of one row alone are no larger than themselves; of other rows, as often as said."""
    truth = rng.standard_t(3, (4000, 2))
    found = covered(truth, np.zeros((4000, 2)), 0.9)
    assert found.shape == (4000, 2)
    assert found.mean(axis=0) == pytest.approx(0.9, abs=0.02)
    size = np.where(np.arange(4000) < 2000, 0.1, 10.0)[:, None]
    by_size = covered(truth * size, np.zeros((4000, 2)), 0.9)
    assert by_size[:2000].all()
    assert by_size[2000:].mean() == pytest.approx(0.8, abs=0.03)


def test_intervals_are_for_numbers_and_shares(prices):
    with pytest.raises(ConfigError, match=r"--interval 1.5 must be a share between 0 and"):
        prices.margins(1.5)
    species = fitted(md.read_table("iris")[0], ["species"])
    with pytest.raises(ConfigError, match="The model predicts classes: intervals are for numbers"):
        species.margins(0.9)
    assert species.classes == ("setosa", "versicolor", "virginica")
    assert set(species.predict(md.read_table("iris")[0])) <= set(species.classes)
    assert species.predict_proba(md.read_table("iris")[0]).shape == (150, 3)
    with pytest.raises(ConfigError, match="there are no classes to give probabilities of"):
        prices.predict_proba(table())


def test_counts_are_never_negative():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3.0, 3.0, 300)
    frame = pl.DataFrame({"x": x, "n": rng.poisson(np.exp(x)).astype(int)})
    counts = fitted(frame, ["n"], epochs=5)
    assert counts.target.task == "count"
    found = counts.predict(pl.DataFrame({"x": np.linspace(-30.0, 3.0, 50)}))
    assert found.min() >= 0.0
    low, high = counts.interval(found[:, None], 0.9)
    assert low.min() == 0.0
    assert np.all(high[:, 0] > found)


def test_intervals_of_counts_hold_small_and_large_ones_alike(tmp_path):
    """Counts of rate m vary by the root of m: one width for all would be too wide below and too narrow above."""
    rng = np.random.default_rng(0)

    def drawn(n):
        x = rng.uniform(0.0, 6.0, n)
        return pl.DataFrame({"x": x, "n": rng.poisson(np.exp(x)).astype(int)})

    counts = fitted(drawn(4000), ["n"], epochs=40)
    counts.save(tmp_path / "counts.madaline")
    again, new = Learned.load(tmp_path / "counts.madaline"), drawn(2000)
    low, high = again.interval(again.predict(new)[:, None], 0.9)
    truth = new["n"].to_numpy()[:, None]
    held = (low <= truth) & (truth <= high)
    is_large = new["x"].to_numpy() > 3.0
    assert held[is_large].mean() == pytest.approx(0.9, abs=0.06)
    assert held[~is_large].mean() == pytest.approx(0.9, abs=0.06)


def test_counts_far_from_the_data_stay_numbers_one_can_believe(tmp_path):
    """A rate grows exponentially with what the net sees: a mistyped value would make it infinite."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 3.0, 300)
    frame = pl.DataFrame({"x": x, "n": rng.poisson(np.exp(x)).astype(int)})
    counts = fitted(frame, ["n"], epochs=60)
    far = pl.DataFrame({"x": [3.0, 3e3, 3e6]})
    found, largest = counts.predict(far), frame["n"].max()
    assert found[0] <= 2 * largest
    assert found[1:].tolist() == [counts.target.limits[0]] * 2
    assert 5 * largest < counts.target.limits[0] <= 10 * largest
    counts.save(tmp_path / "counts.madaline")
    assert Learned.load(tmp_path / "counts.madaline").target.limits == counts.target.limits


def test_counts_are_learned_by_their_likelihood_on_their_own_scale(tmp_path):
    """Rates from 0.02 to 400: the share by which a rate is missed is as large for the small ones as for the others."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-4.0, 6.0, 4000)
    counts = fitted(pl.DataFrame({"x": x, "n": rng.poisson(np.exp(x)).astype(int)}), ["n"], epochs=40)
    assert counts.loss == md.losses.Poisson()
    assert counts.target.centres == (0.0,)
    at = np.linspace(-3.0, 5.5, 30)
    missed = np.log(counts.predict(pl.DataFrame({"x": at}))) - at
    assert np.abs(missed).max() < 0.7
    assert np.abs(missed).mean() < 0.25
    counts.save(tmp_path / "counts.madaline")
    again = Learned.load(tmp_path / "counts.madaline")
    np.testing.assert_array_equal(again.predict(pl.DataFrame({"x": at})), counts.predict(pl.DataFrame({"x": at})))


DAMAGES = {
    "table": {"kind": "table plan"},
    "target": [1, 2],
    "targets": [3],
    "loss": {"kind": "loss", "name": "os.system"},
    "reading": {"decimal": "!"},
    "errors": [[1.0]],
    "spread": "wild",
    "about": "me",
    "net": {"kind": "layer", "name": "linear", "n_out": 2**62},
    "format": 99,
}


@pytest.mark.parametrize("part", DAMAGES)
def test_a_part_that_has_no_meaning_is_refused(prices, tmp_path, part):
    path = tmp_path / "m.madaline"
    prices.save(path)
    arrays = load_file(path)
    document = json.loads(_metadata(path)) | {part: DAMAGES[part]}
    save_file(arrays, path, metadata={"madaline": json.dumps(document)})
    with pytest.raises(FileFormatError):
        Learned.load(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(prices, tmp_path, value):
    path = tmp_path / "m.madaline"
    prices.save(path)
    arrays = load_file(path)
    name = next(name for name in arrays if name.endswith(".W"))
    arrays[name][0, 0] = value
    save_file(arrays, path, metadata={"madaline": _metadata(path)})
    with pytest.raises(FileFormatError, match="has numbers that are not finite"):
        Learned.load(path)


def _metadata(path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return file.metadata()["madaline"]


@settings(max_examples=200)
@given(place=st.floats(0.0, 1.0, exclude_max=True), byte=st.integers(0, 255), cut=st.booleans())
def test_any_changed_byte_is_refused_or_does_no_harm(place, byte, cut, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "changed.madaline"
    content = bytearray((GOLDEN / "penguins-format-1.madaline").read_bytes())
    # Half of all changes go to the description, which is a small part of the file.
    where = int(place * (len(content) if byte % 2 else min(6000, len(content))))
    content = content[:where] if cut else content
    if not cut:
        content[where] = byte
    path.write_bytes(bytes(content))
    try:
        found = Learned.load(path)
    except FileFormatError:
        return
    assert isinstance(found, Learned)


def test_files_of_format_1_are_read_forever():
    """Written by the first version that had them; the answers were written beside it then."""
    old = Learned.load(GOLDEN / "penguins-format-1.madaline")
    answers = pl.read_csv(GOLDEN / "penguins-format-1.csv")
    found = old.predict_proba(answers)
    expected = answers.select(pl.col("^probability .*$")).to_numpy()
    assert found == pytest.approx(expected, abs=1e-5)
    assert len(SHARES) == 200
