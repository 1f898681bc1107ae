"""Layers that meet the data: Embedding, Standardize, Input, Flatten; and the names and shapes of what comes in."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DtypeError, InputError, ShapeError, UnknownNameError

# Embedding


def test_an_embedding_is_a_linear_map_of_the_one_hot_code(rng):
    x = rng.integers(0, 6, size=20)
    model = md.Embedding(6, 3).init(x, dtype="float64")
    np.testing.assert_array_equal(model(x), np.eye(6)[x] @ model.params["W"])


def test_columns_share_the_table_and_stand_side_by_side():
    model = md.Embedding(6, 2).init(np.array([[1, 2, 3]]))
    W = model.params["W"]
    np.testing.assert_array_equal(model([[5, 0, 5]])[0], np.concatenate([W[5], W[0], W[5]]))


def test_one_category_gives_one_vector():
    model = md.Embedding(6, 2).init(np.arange(6))
    for one in (4, np.int64(4), np.array(4), 4.0):
        np.testing.assert_array_equal(model(one), model.params["W"][4])


@pytest.mark.parametrize("given", [3, (2,), np.zeros((4, 2)), np.zeros((4, 2), "uint8"), np.zeros(4, "uint16")])
def test_categories_are_integers_however_the_net_was_made(given):
    assert md.Embedding(6, 2).init(given).network.inputs.dtype == np.int64


def test_a_category_outside_of_the_table_is_named_with_layer_and_row():
    net = md.Sequential(md.Parallel(shop=md.Embedding(50, 4), day=md.Embedding(7, 2)), md.Concat(), md.Linear(1))
    data = {"shop": np.arange(5), "day": np.arange(5)}
    model = net.init(data)
    text = (
        "Layer '0.day' (Embedding(7, 2)): category 7 in row 3 is not one of the 7, which are 0 to 6. Use a larger "
        "n_categories, or one category for all unknown values."
    )
    with pytest.raises(InputError, match=re.escape(text)):
        model(data | {"day": [0, 1, 2, 7, 9]})
    with pytest.raises(InputError, match=re.escape("category -1 in row 1")):
        model(data | {"shop": [0, -1, 2, 3, 4]})
    with pytest.raises(InputError, match="category 7 in row 3"):
        model.check(data | {"day": [0, 1, 2, 7, 9]})
    model.check(data)


def test_fractions_and_missing_values_are_no_categories():
    model = md.Embedding(5, 2).init((2,))
    for wrong in (0.5, np.nan, np.inf):
        with pytest.raises(DtypeError, match=rf"holds categories, which must be integers, but contains {wrong}"):
            model([[1.0, wrong]])
    assert model([[1.0, 2.0]]).shape == (1, 4)
    with pytest.raises(DtypeError, match=r"Layer '1' .*Embedding takes categories \(integers\) but got float32"):
        md.Sequential(md.Linear(2), md.Embedding(3, 2)).init(4)


# Standardize


def test_standardize_learns_mean_and_deviation_from_the_data_and_keeps_them(rng):  # B10, D6
    X = 3.0 + 5.0 * rng.normal(size=(300, 4))
    model = md.Sequential(md.nn.Standardize(), md.Linear(2)).init(X, dtype="float64")
    y = model.activations(X)["0"]
    np.testing.assert_allclose((y.mean(axis=0), y.std(axis=0)), (np.zeros(4), np.ones(4)), atol=1e-12)
    np.testing.assert_array_equal(model.activations(X[:5], train=True)["0"], y[:5])
    assert list(model.state) == ["0.mean", "0.std"]


def test_standardize_after_another_layer_sees_what_comes_to_it(rng):
    X = rng.normal(size=(100, 3))
    double = md.nn.Activation(lambda x: 2.0 * x + 7.0)
    model = md.Sequential(double, md.nn.Standardize()).init(X, dtype="float64")
    np.testing.assert_allclose(model.state["1.mean"], 2.0 * X.mean(axis=0) + 7.0, rtol=1e-12)


def test_a_column_that_does_not_vary_is_only_centred():
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    y = md.nn.Standardize().init(X, dtype="float64")(X)
    np.testing.assert_array_equal(y[:, 0], 0.0)
    assert md.nn.Standardize().init(X[:1])(X[:1]).tolist() == [[0.0, 0.0]]


def test_standardize_that_stands_twice_learns_where_it_stands_first(rng):
    X = 4.0 + rng.normal(size=(50, 2))
    layer = md.nn.Standardize()
    model = md.Sequential(layer, layer).init(X, dtype="float64")
    np.testing.assert_allclose(model.state["0.mean"], X.mean(axis=0))
    assert len(model.state) == 2


def test_numbers_can_be_given_and_data_are_needed_otherwise():
    model = md.nn.Standardize([1.0, 2.0], np.array([2.0, 4.0])).init(2)
    assert model([[3.0, 6.0]]).tolist() == [[1.0, 1.0]]
    with pytest.raises(ConfigError, match=r"Standardize\(\): it needs data\. Pass the data to init, as net\.init\(X\)"):
        md.nn.Standardize().init(2)
    with pytest.raises(ConfigError, match=re.escape("Layer '1' (Standardize()): it needs data")):
        md.Sequential(md.nn.Input(2), md.nn.Standardize()).init()
    with pytest.raises(ShapeError, match="mean has 2 numbers for 3 columns"):
        md.nn.Standardize([1.0, 2.0], [2.0, 4.0]).init(3)


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [
        ([1.0], None, "must both be given, or neither"),
        ([1.0], [1.0, 2.0], "mean has 1 numbers and std 2"),
        ([1.0], [0.0], "finite and above 0"),
        ([np.nan], [1.0], "mean=.* must be finite"),
        ([[1.0, 2.0]], [[1.0, 2.0]], "must be a sequence of numbers"),
        (1.0, 1.0, "must be a sequence of numbers"),
    ],
)
def test_wrong_numbers_are_told(mean, std, text):
    with pytest.raises(ConfigError, match=text):
        md.nn.Standardize(mean, std)


def test_data_without_a_mean_are_refused_with_row_and_column():
    X = np.ones((4, 3))
    X[2, 1] = np.nan
    with pytest.raises(
        InputError, match=re.escape("Standardize(): nan in row 2 of column 1 cannot be used in a mean.")
    ):
        md.nn.Standardize().init(X)
    with pytest.raises(InputError, match="there are no rows"):
        md.nn.Standardize().init(X[:0])


# Shapes and names


def test_a_net_that_begins_with_input_can_be_made_without_data():
    assert md.Sequential(md.nn.Input(5), md.Linear(2)).init().params["1.W"].shape == (5, 2)
    net = md.Sequential(md.Parallel(a=md.nn.Input(3), b=md.Sequential(md.nn.Input(2, 2), md.nn.Flatten())), md.Concat())
    assert net.init()({"a": np.ones((4, 3)), "b": np.ones((4, 2, 2))}).shape == (4, 7)
    with pytest.raises(ShapeError, match=r"A row must have shape \(5,\), but has shape \(4,\)"):
        md.Sequential(md.nn.Input(5), md.Linear(2)).init(4)
    with pytest.raises(ShapeError, match=r"The number of inputs of Sequential is not known\. Pass the data"):
        md.Sequential(md.Linear(2)).init()
    with pytest.raises(ConfigError, match=re.escape("Input(-1,) needs the shape of one row")):
        md.nn.Input(-1)


@pytest.mark.parametrize(
    ("inputs", "kind", "text"),
    [
        (np.ones(5), ShapeError, r"The data have shape \(5,\); they need one axis for rows and one for columns"),
        (3.5, ShapeError, r"The data have shape \(\)"),
        (np.array([["a"]]), DtypeError, "The data of dtype <U1 cannot be used: a net takes numbers"),
        (np.ones((2, 2), complex), DtypeError, "complex128"),
        (-3, ShapeError, r"The shape of a row, \(-3,\), has a negative size"),
        (True, ShapeError, "need one axis for rows"),
        (np.arange(5), ShapeError, r"The input \(n,\) has rows but no columns"),
        ((), ShapeError, "has rows but no columns"),
    ],
)
def test_a_net_cannot_be_made_for_what_is_no_table(inputs, kind, text):
    with pytest.raises(kind, match=text):
        md.Linear(2).init(inputs)


def test_inputs_are_checked_against_what_the_net_was_made_for():
    model = md.Linear(2).init(3)
    with pytest.raises(
        ShapeError,
        match=re.escape("has shape (4, 2); the net was made for rows of shape (3,), so it must have shape (n, 3)."),
    ):
        model(np.ones((4, 2)))
    with pytest.raises(DtypeError, match="The input of dtype <U1 cannot be used"):
        model([["a", "b", "c"]])
    with pytest.raises(ShapeError, match="The net takes one array; it was given several, named 'a'"):
        model({"a": np.ones((4, 3))})


def test_several_inputs_are_checked_by_name():
    model = md.Sequential(md.Parallel(a=md.Linear(2), b=md.Linear(2)), md.nn.Add()).init({"a": 3, "b": 4})
    a, b = np.ones((5, 3)), np.ones((5, 4))
    np.testing.assert_array_equal(model({"a": a, "b": b}), model({"b": b, "a": a}))
    assert model({"a": a[0], "b": b[0]}).shape == (2,)
    with pytest.raises(ShapeError, match=r"The net takes a dict of 'a', 'b'; it was given a dict of 'a', 'c'\."):
        model({"a": a, "c": b})
    with pytest.raises(ShapeError, match=r"The net takes a dict of 'a', 'b'; it was given ndarray\."):
        model(a)
    with pytest.raises(ShapeError, match=r"The input 'b' has shape \(5, 3\)"):
        model({"a": a, "b": a})
    with pytest.raises(ShapeError, match=r"the same number of rows; they have: 'a' 5, 'b' 4\."):
        model({"a": a, "b": b[:4]})
    with pytest.raises(ShapeError, match="Some inputs are single rows and others batches"):
        model({"a": a, "b": b[0]})


def test_inputs_by_position_may_be_a_tuple_or_a_list():
    model = md.Sequential(md.Parallel(md.Linear(2), md.nn.Identity()), md.Concat()).init(((3,), (1,)))
    x, y = np.ones((5, 3)), np.ones((5, 1))
    np.testing.assert_array_equal(model((x, y)), model([x, y.tolist()]))
    with pytest.raises(ShapeError, match=r"takes a tuple of 2 inputs; it was given 3 items"):
        model((x, y, y))


def test_an_unknown_initializer_is_refused_when_the_layer_is_made():
    for make in (md.Linear, md.nn.Maxout):
        with pytest.raises(UnknownNameError, match=rf"{make.__name__}: init='he_norml' is not a known initializer"):
            make(3, init="he_norml")
        with pytest.raises(UnknownNameError, match="bias_init='zero' is not a known initializer"):
            make(3, bias_init="zero")
    with pytest.raises(ShapeError, match=r"'b' cannot be initialized by FanScaled.*: shape=\(3,\) has no inputs"):
        md.Linear(3, bias_init="he_normal").init(2)
    assert md.Linear(3, init={"name": "normal", "std": 0.5}) == md.Linear(3, init=md.nn.initializers.Normal(0.5))
    with pytest.raises(UnknownNameError, match="Embedding: init='he' is not a known initializer"):
        md.Embedding(3, 2, init="he")


@pytest.mark.parametrize("n_out", [0, -1, 2.5, "3", True, None])
def test_a_number_of_units_that_is_none_is_refused(n_out):
    with pytest.raises(ConfigError, match=re.escape(f"Linear: n_out={n_out!r} must be an integer of at least 1.")):
        md.Linear(n_out)


# Periodic


@pytest.mark.parametrize("columns", [(), (1, 1), (2, 0), (-1,), (0.5,), 3.5])
def test_waves_of_columns_that_cannot_be_are_refused(columns):
    with pytest.raises((ConfigError, TypeError)):
        md.nn.Periodic(2, columns=columns)


def test_waves_of_a_column_that_does_not_come_in_are_refused():
    with pytest.raises(ShapeError, match="columns contains 3, but the input has 3 columns"):
        md.nn.Periodic(2, columns=[0, 3]).init(3)


def test_a_net_with_waves_learns_a_function_that_jumps(rng):
    """Steps of a tenth are hard for a small smooth net, and easy with waves."""
    X = rng.uniform(-1, 1, (512, 1))
    y = np.floor(10 * X) % 2
    losses = []
    for front in (md.nn.Identity(), md.nn.Periodic(32, std=2.0)):
        trainer = md.Trainer(md.Sequential(front, md.mlp(32, 1)), optimizer=md.Adam(1e-2))
        losses.append(trainer.fit(X, y, epochs=60)["loss"][-1])
    assert losses[1] < 0.5 * losses[0]


# Piecewise and FeatureScale


def test_values_that_many_rows_share_leave_bins_for_the_others():
    """Of quantiles alone, all but the last one would be zero, and a net would see one bin for all other values."""
    rng = np.random.default_rng(0)
    X = np.where(np.arange(1000) < 950, 0.0, rng.uniform(1.0, 9.0, 1000))[:, None]
    model = md.nn.Piecewise(8).init(X, dtype="float64")
    left, slope = model.state["left"][0], model.state["slope"][0]
    assert np.count_nonzero(slope) == 8
    assert left[0] == 0.0
    assert left[1] == np.float32(X[X > 0].min())
    counts = np.histogram(X[X > 0], [*left[1:], np.inf])[0]
    assert counts.max() <= 2 * counts.min()


def test_bins_without_shared_values_are_quantiles():
    X = np.random.default_rng(0).normal(size=(999, 1))
    left = md.nn.Piecewise(4).init(X, dtype="float64").state["left"][0]
    np.testing.assert_allclose(left, np.quantile(X, [0.0, 0.25, 0.5, 0.75], method="inverted_cdf"), rtol=1e-6)


def test_a_linear_map_of_bins_is_any_piecewise_linear_function():
    """Zigzag through the edges: the sum of the features' rises."""
    X = np.arange(5.0)[:, None]
    model = md.nn.Piecewise(4).init(X, dtype="float64")
    rises = np.array([3.0, -1.0, 0.0, 5.0])
    x = np.array([[0.5], [1.0], [3.5], [9.0], [-9.0]])
    np.testing.assert_allclose(model(x)[:, 1:] @ rises, [1.5, 3.0, 4.5, 7.0, 0.0])


def test_bins_of_columns_with_few_values_are_fewer():
    X = np.stack([np.repeat([0.0, 1.0], 50), np.full(100, 7.0), np.arange(100.0)], axis=1)
    model = md.nn.Piecewise(8).init(X, dtype="float64")
    features = model(np.array([[0.5, 8.0, 1e30]]))[0, 3:].reshape(3, 8)
    np.testing.assert_array_equal(features[0], [0.5] + [0.0] * 7)
    np.testing.assert_array_equal(features[1], 0.0)  # a constant column has no bins
    np.testing.assert_array_equal(features[2], 1.0)


def test_bins_of_many_rows_come_from_a_sample(monkeypatch):
    monkeypatch.setattr("madaline.nn.layers.piecewise.MOST_ROWS", 100)
    X = np.arange(1000.0)[:, None]
    left = md.nn.Piecewise(4).init(X, dtype="float64").state["left"][0]
    np.testing.assert_allclose(left, [0.0, 240.0, 490.0, 740.0])  # every tenth row


def test_bins_need_data():
    with pytest.raises(ConfigError, match="it needs data for its bins"):
        md.nn.Piecewise(4).init(3)
    with pytest.raises(InputError, match="its bins need finite numbers"):
        md.nn.Piecewise(4).init(np.array([[1.0], [np.nan]]))


def test_factors_of_features_learn_faster_than_weights():
    """One step of Adam changes a factor by the rate times the learning rate."""
    model = md.nn.FeatureScale(5.0).init(np.ones((4, 1)), dtype="float64")
    trainer = md.Trainer(model, loss="mse", optimizer=md.Adam(1e-3))
    trainer.fit(np.ones((4, 1)), np.full((4, 1), 3.0), epochs=1, batch_size=4)
    assert trainer.model(np.ones((1, 1)))[0, 0] == pytest.approx(1.0 + 5e-3, rel=1e-5)
