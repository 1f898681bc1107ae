"""From a table to the arrays of a net."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
from any_values import VALUES
from madaline.data.scale import centre_and_scale, smooth_clip
from madaline.errors import ConfigError, DataWarning, InputError, MadalineError, ShapeError

DAY = dt.datetime(2023, 1, 1)  # noqa: DTZ001 - the clock on the wall


@pytest.fixture
def table(rng):
    n = 60
    return pl.DataFrame(
        {
            "size": [None if i % 10 == 3 else float(x) for i, x in enumerate(rng.normal(5.0, 2.0, n))],
            "rooms": rng.integers(1, 6, n),
            "new": rng.random(n) < 0.5,
            "city": rng.choice(["Rome", "Oslo", "Bern"], n),
            "owner": rng.choice(["yes", "no"], n),
            "street.name": [f"street {i % 20}" for i in range(n)],
            "sold": [DAY + dt.timedelta(days=9 * i, hours=i % 5) for i in range(n)],
            "id": np.arange(n),
            "same": [1] * n,
        }
    )


def test_the_arrays_have_the_names_the_net_expects(table, rng):
    plan = md.data.TablePlan.fit(table)
    arrays = plan.encode(table)
    assert {name: (array.dtype.name, array.shape) for name, array in arrays.items()} == {
        "numbers": ("float32", (60, 18)),
        "street_name": ("int64", (60,)),
    }
    assert plan.features()[:8] == (
        "size", "size missing", "rooms", "new", "city=Bern", "city=Oslo", "city=Rome", "owner=yes",
    )  # fmt: skip
    assert plan.features()[8:11] == ("sold year", "sold days", "sold month sin")
    net = md.Sequential(plan.front(), md.mlp(8, 1))
    trainer = md.Trainer(net)
    trainer.fit(arrays, rng.normal(size=60), epochs=1)
    assert trainer.predict(plan.encode(table.head(3))).shape == (3, 1)


def test_numbers_are_filled_with_the_median_scaled_and_clipped():
    plan = md.data.TablePlan.fit({"x": [1.0, 2.0, 3.0, None, 1000.0]})
    given = np.array([1.0, 2.0, 3.0, 1000.0])
    centre, scale = centre_and_scale(given, "robust")
    expected = smooth_clip((np.array([1.0, 2.0, 3.0, 2.5, 1000.0]) - centre) / scale)
    out = plan.encode({"x": [1.0, 2.0, 3.0, None, 1000.0]})["numbers"]
    np.testing.assert_allclose(out[:, 0], expected, rtol=1e-6)
    np.testing.assert_array_equal(out[:, 1], [0, 0, 0, 1, 0])


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none", "robust"])
def test_the_scaling_is_that_of_the_training_data(scaling, rng):
    X = rng.normal(3.0, 2.0, (50, 2))
    centre, scale = centre_and_scale(X, scaling)
    plan = md.data.TablePlan.fit(X, scaling=scaling, clip=False)
    new = rng.normal(size=(5, 2))
    np.testing.assert_allclose(plan.encode(new)["numbers"], (new - centre) / scale, rtol=1e-5)


def test_a_gap_that_is_new_is_the_median_without_a_column_that_says_so():
    plan = md.data.TablePlan.fit({"x": [1.0, 2.0, 4.0]}, scaling="none")
    assert plan.encode({"x": [None]})["numbers"].tolist() == [[2.0]]


def test_categories_that_are_new_or_missing_have_a_meaning():
    plan = md.data.TablePlan.fit({"city": ["Rome", "Oslo", "Bern"] * 2})
    assert plan.encode({"city": ["Oslo", "Paris", None]})["numbers"].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    plan = md.data.TablePlan.fit({"city": ["Rome", "Oslo", "Bern"] * 2 + ["Rome", "Nice", None, "Lodi"]})
    assert plan.features() == ("city=Bern", "city=Oslo", "city=Rome", "city other", "city missing")
    out = plan.encode({"city": ["Bern", "Paris", None]})["numbers"]
    assert out.tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]


def test_two_categories_share_a_column():
    plan = md.data.TablePlan.fit({"ok": ["no", "yes", None] * 5})
    assert plan.features() == ("ok=yes", "ok missing")
    assert plan.encode({"ok": ["yes", "no", None, "perhaps"]})["numbers"].tolist() == [[1, 0], [-1, 0], [0, 1], [0, 0]]


def test_many_categories_are_whole_numbers_with_one_for_others_and_one_for_gaps():
    names = [f"k{i}" for i in range(12)]
    plan = md.data.TablePlan.fit({"k": names * 3})
    assert plan.encode({"k": ["k0", "k9", "new", None]})["k"].tolist() == [0, 11, 12, 13]
    (embedding,) = plan.front().layers[0].layers
    assert (embedding.n_categories, embedding.width) == (14, 6)
    few = md.data.TablePlan.fit({"k": names * 3}, one_hot=12)
    assert len(few.features()) == 12


def test_numbers_may_have_waves_and_nothing_else_has_them(table):
    plan = md.data.TablePlan.fit(table, waves=5)
    (numbers, _) = plan.front().layers[0].layers
    assert numbers == md.nn.Periodic(5, columns=(0, 2))  # size and rooms; 1 says where size is missing
    assert md.Sequential(plan.front()).init(plan.encode(table))(plan.encode(table)).shape == (60, 18 + 2 * 5 + 8)
    wide = md.data.TablePlan.fit(np.random.default_rng(0).normal(size=(10, 100)), waves=16)
    assert wide.waves == 2
    alone = md.data.TablePlan.fit({"x": [1.0, 2.0, 3.0]}, waves=4)
    matrix = alone.encode({"x": [1.0, 2.0]})["numbers"]
    assert alone.front().init(matrix)(matrix).shape == (2, 5)


def test_numbers_may_have_bins_and_every_input_a_factor(table):
    plan = md.data.TablePlan.fit(table, bins=5, waves=3, scale_rate=2.0)
    (numbers, _) = plan.front().layers[0].layers
    assert numbers == md.Sequential(md.nn.Piecewise(5, columns=(0, 2)), md.nn.Periodic(3, columns=(0, 2)))
    assert plan.front().layers[-1] == md.nn.FeatureScale(2.0)
    rows = plan.encode(table)
    assert plan.front().init(rows)(rows).shape == (60, 18 + 2 * (5 + 3) + 8)


def test_features_of_a_plan_can_be_changed(table):
    plan = md.data.TablePlan.fit(table, bins=5, scale_rate=2.0)
    assert plan.adds_features
    plain = plan.with_features(bins=0, scale_rate=0.0)
    assert not plain.adds_features
    assert plain.with_features(bins=1000).bins == 128  # there are two numbers, and at most 256 bins


def test_inputs_have_names_of_their_own():
    names = [f"k{i}" for i in range(12)] * 2
    plan = md.data.TablePlan.fit({"a.b": names, "a_b": names, "numbers": names, "": names, "x": list(range(24))})
    assert list(plan.encode({c: ["k1"] for c in ("a.b", "a_b", "numbers", "")} | {"x": [1]})) == [
        "numbers", "a_b", "a_b_2", "numbers_2", "column",
    ]  # fmt: skip


def test_booleans_may_come_as_words_or_numbers():
    plan = md.data.TablePlan.fit({"new": [True, False, True]})
    assert plan.encode({"new": [True, False]})["numbers"].tolist() == [[1], [-1]]
    assert plan.encode({"new": ["true", "False", None]})["numbers"].tolist() == [[1], [-1], [0]]
    assert plan.encode({"new": [1, 0]})["numbers"].tolist() == [[1], [-1]]


def test_dates_are_what_grows_and_what_comes_round():
    days = [dt.date(2023, 1, 1), dt.date(2024, 7, 1), None]
    plan = md.data.TablePlan.fit({"t": days})
    assert plan.features() == (
        "t year", "t days", "t month sin", "t month cos", "t weekday sin", "t weekday cos", "t missing",
    )  # fmt: skip
    out = plan.encode({"t": days})["numbers"]
    np.testing.assert_allclose(out[:, 0], [-1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(out[:, 1], [-1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(out[:, 3], [1, -1, 0], atol=1e-6)  # January and July are opposite
    np.testing.assert_array_equal(out[2], [0, 0, 0, 0, 0, 0, 1])


def test_columns_are_found_by_name_in_any_order(table):
    plan = md.data.TablePlan.fit(table)
    turned = table.select(reversed(table.columns)).with_columns(extra=pl.lit(1)).drop("id", "same")
    np.testing.assert_array_equal(plan.encode(turned)["numbers"], plan.encode(table)["numbers"])
    assert plan.unknown(turned) == ("extra",)


def test_columns_without_names_are_found_by_place(table, rng):
    X = rng.normal(size=(20, 3))
    plan = md.data.TablePlan.fit(X)
    named = pl.DataFrame(X, schema=["a", "b", "c"])
    np.testing.assert_array_equal(plan.encode(named)["numbers"], plan.encode(X)["numbers"])
    assert plan.unknown(named) == ()
    with pytest.raises(ShapeError, match="The table has 2 columns, but the training table had 3"):
        plan.encode(X[:, :2])


def test_a_column_that_is_not_there_is_named(table):
    plan = md.data.TablePlan.fit(table)
    with pytest.raises(InputError, match=r"no column 'rooms', which the model was trained with. Did you mean 'room'"):
        plan.encode(table.rename({"rooms": "room"}))


def test_a_column_that_is_used_already_is_not_proposed_for_another_one():
    plan = md.data.TablePlan.fit({"bill_length": [1.0, 2.5], "bill_depth": [2.0, 3.5]})
    with pytest.raises(InputError, match=r"no column 'bill_depth', which the model was trained with. It has: bill_len"):
        plan.encode({"bill_length": [1.0]})


def test_only_some_of_many_columns_are_listed():
    plan = md.data.TablePlan.fit({"x": [1.0, 2.5]})
    with pytest.raises(InputError, match=r"c18, c19 and 4,980 more\.$"):
        plan.encode({f"c{k}": [1.0] for k in range(5000)})


def test_a_value_that_cannot_be_used_is_named_with_row_and_column(rng):
    plan = md.data.TablePlan.fit({"x": rng.normal(size=5000), "t": [dt.date(2024, 1, 1 + i % 28) for i in range(5000)]})
    t = [dt.date(2024, 1, 1)]
    with pytest.raises(InputError, match="Column 'x': row 1 holds 'much', which is not a number"):
        plan.encode({"x": ["1", "much"], "t": t * 2})
    x = np.zeros(5000)
    x[4500] = np.inf
    with pytest.raises(InputError, match="Column 'x': row 4500 holds inf, which is too large"):
        plan.encode({"x": x, "t": t * 5000})
    with pytest.raises(InputError, match="Column 't' holds numbers, but dates are needed"):
        plan.encode({"x": [1.0], "t": [3]})
    with pytest.raises(InputError, match="Column 'x': row 4500 holds inf"):
        md.data.TablePlan.fit({"x": x})
    with pytest.raises(InputError, match="row 0 holds 1e"):
        md.data.TablePlan.fit({"x": [0.0, 1.0]}, scaling="none").encode({"x": [1e300]})


def test_huge_values_are_clipped():
    plan = md.data.TablePlan.fit({"x": [0.0, 1.0, 2.0, 3.0]})
    np.testing.assert_allclose(plan.encode({"x": [1e300, -1e308]})["numbers"][:, 0], [3.0, -3.0], rtol=1e-6)


def test_a_leak_is_left_out_with_a_warning(rng):
    y = rng.normal(size=30)
    with pytest.warns(DataWarning, match="Column 'price' is left out: it is equal to the target in every row"):
        plan = md.data.TablePlan.fit({"price": y, "x": rng.normal(size=30)}, y)
    assert plan.features() == ("x",)


@pytest.mark.parametrize(
    ("values", "remedy"),
    [
        ([0.5 * k * k for k in range(30)], "numeric"),
        ([f"{0.5 * k * k}" for k in range(30)], "numeric"),
        (["low" if k < 15 else "high" for k in range(30)], "categorical"),
        ([k < 15 for k in range(30)], "numeric"),
    ],
    ids=["numbers", "numbers as text", "text", "booleans"],
)
def test_the_remedy_of_a_leak_fits_the_kind_of_the_column(values, remedy, rng):
    table = {"price": values, "x": rng.normal(size=30)}
    with pytest.warns(
        DataWarning, match=rf"pass {remedy}=\['price'\] to TablePlan.fit, or data=\{{'{remedy}': \['price'"
    ):
        md.data.TablePlan.fit(table, values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = md.data.TablePlan.fit(table, values, **{remedy: ["price"]})
    assert not plan.roles()[0].is_left_out


def test_a_plan_prints_short_lines_whatever_the_table_holds(rng):
    long = {
        "what people " * 30: rng.normal(size=5),
        "note": ["a very long remark " * 50] * 5,
        "two\nlines": [1, 2, 2, 1, 1],
    }
    lines = str(md.data.TablePlan.fit(long)).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 180
    assert lines[2].startswith("two lines ")
    assert lines[0].startswith("what people what people what people w...")


def test_a_plan_prints_a_line_for_each_column():
    plan = md.data.TablePlan.fit({"age": [30, 40, 40], "row": [1, 2, 3]})
    assert str(plan).splitlines() == [
        "age  number         2 different whole numbers",
        "row  left out (id)  identifier: integers that are all different",
    ]
    assert repr(plan).startswith("TablePlan(columns=(")


def test_a_table_of_which_nothing_is_left_is_refused():
    with pytest.raises(ConfigError, match=r"is left to learn from:\na  left out \(constant\)  1 in every row"):
        md.data.TablePlan.fit({"a": [1, 1]})
    with pytest.raises(ConfigError, match=r"\nc9  left out \(constant\)  1 in every row\nand 9,990 more$"):
        md.data.TablePlan.fit({f"c{k}": [1, 1] for k in range(10_000)})
    with pytest.raises(ShapeError, match="no rows"):
        md.data.TablePlan.fit({"a": []})


def test_every_column_has_its_role_and_reason(table):
    roles = {role.column: (role.role, role.reason) for role in md.data.TablePlan.fit(table).roles()}
    assert list(roles) == table.columns
    assert roles["size"][0] == "number"
    assert roles["street.name"] == ("category", "20 different texts")
    assert roles["same"] == ("constant", "1 in every row")


def test_a_plan_comes_back_equal_from_json(table):
    plan = md.data.TablePlan.fit(table)
    again = md.data.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again == plan
    for name, array in plan.encode(table).items():
        np.testing.assert_array_equal(again.encode(table)[name], array)


def test_a_plan_holds_no_rows(table):
    """Texts of ids and numbers of rows are nowhere in it."""
    secret = table.with_columns(name=pl.Series([f"secret {i}" for i in range(60)]))
    assert "secret" not in json.dumps(md.data.TablePlan.fit(secret).to_dict())


PLAN = md.data.TablePlan.fit(
    {
        "x": [1.5, None, 2.0] * 8,
        "k": [f"k{i % 12}" for i in range(24)],
        "c": ["a", "b", "c"] * 8,
        "t": [dt.date(2024, 1 + i % 12, 1) for i in range(24)],
        "b": [True, False, None] * 8,
    }
).to_dict()
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_whatever_a_file_holds_there_is_a_plan_that_works_or_a_clear_error(data):
    """One place of the plain data is replaced by anything."""
    plain = json.loads(json.dumps(PLAN))
    place, keys = plain, []
    while isinstance(place, (dict, list)) and place:
        keys.append(
            (place, data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))))
        )
        place = keys[-1][0][keys[-1][1]]
    holder, key = data.draw(st.sampled_from(keys))
    holder[key] = data.draw(HOSTILE)
    with contextlib.suppress(MadalineError):
        plan = md.data.TablePlan.from_dict(plain)
        arrays = plan.encode({column.column: [None] for column in plan.columns})
        assert all(len(array) == 1 for array in arrays.values())


KINDS = st.sampled_from([st.integers(), st.floats(), st.text(max_size=4), st.dates(), st.booleans(), VALUES])


@given(st.data())
def test_whatever_a_table_holds_it_is_encoded_or_refused_with_a_clear_error(data):
    n_rows = data.draw(st.integers(1, 12))
    columns = [
        data.draw(st.lists(data.draw(KINDS) | st.none(), min_size=n_rows, max_size=n_rows))
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    table = {f"c{place}": values for place, values in enumerate(columns)}
    with contextlib.suppress(MadalineError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        plan = md.data.TablePlan.fit(table, columns[-1] if data.draw(st.booleans()) else None)
        arrays = plan.encode(table)
        assert all(len(array) == n_rows and np.isfinite(array).all() for array in arrays.values())
        assert md.data.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
