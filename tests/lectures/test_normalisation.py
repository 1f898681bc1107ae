"""Norms: what each of them brings to mean 0 and variance 1. Lecture rows A14, C7, D5, D6, E12."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

# D6: the worked table, 5 samples x 4 features

SAMPLES = np.array([[2, 80, 400, 0.5], [4, 90, 300, 0.7], [6, 70, 500, 0.4], [8, 85, 600, 0.6], [10, 95, 200, 0.8]])
NORMALISED = [
    [-1.414, -0.465, 0, -0.707],
    [-0.707, 0.698, -0.707, 0.707],
    [0, -1.628, 0.707, -1.414],
    [0.707, 0.116, 1.414, 0],
    [1.414, 1.279, -1.414, 1.414],
]


def test_input_normalisation_gives_the_printed_table():  # D6
    model = md.nn.Standardize().init(SAMPLES, dtype="float64")
    np.testing.assert_array_equal(model.state["mean"].round(3), [6, 84, 400, 0.6])
    np.testing.assert_array_equal(model.state["std"].round(3), [2.828, 8.602, 141.421, 0.141])
    np.testing.assert_allclose(model(SAMPLES), NORMALISED, atol=1e-3)
    # The deck divides the second column by 8.6 and prints 0.698 and -1.628 for 0.697 and -1.627.
    as_printed = md.nn.Standardize((6, 84, 400, 0.6), (8**0.5, 8.6, 20_000**0.5, 0.02**0.5)).init(4, dtype="float64")
    np.testing.assert_array_equal(as_printed(SAMPLES).round(3) + 0.0, NORMALISED)


def test_batch_norm_of_the_same_mini_batch_is_the_same_table():  # D6, A14
    """It begins with gamma 1 and beta 0; each feature has one of them (A and D print one a sample)."""
    model = md.BatchNorm(eps=0.0).init(SAMPLES, dtype="float64")
    np.testing.assert_allclose(model(SAMPLES, train=True), NORMALISED, atol=1e-3)
    assert model.params["weight"].shape == model.params["bias"].shape == (4,)


# E12: the printed examples of batch norm


def test_the_printed_example_of_batch_norm(rng):  # E12
    x = rng.standard_normal((10_000, 3)) * [2, 5, 10] + [-10, 25, 3]
    # The deck's own sample has means -9.9898, 24.9165, 2.8945 and deviations 2.0006, 5.0146, 9.9501.
    np.testing.assert_allclose(x.mean(axis=0), [-10, 25, 3], atol=0.3)
    np.testing.assert_allclose(x.std(axis=0), [2, 5, 10], rtol=0.03)
    model = md.BatchNorm().init(x)
    model.params["bias"] = [2, 4, 8]
    model.params["weight"] = [1, 2, 3]
    y = model(x, train=True).astype(np.float64)
    np.testing.assert_array_equal(y.mean(axis=0).round(4), [2, 4, 8])
    # The batch is normalised by its biased deviation; the deck prints the sample's, a little larger.
    np.testing.assert_array_equal(y.std(axis=0, ddof=1).round(4), [1.0, 2.0001, 3.0001])


def test_batch_norm_of_images_has_one_weight_and_bias_a_channel(rng):  # E12
    x = rng.standard_normal((20, 100, 35, 45)).astype(np.float32) + np.arange(100)[:, None, None] / 10
    model = md.BatchNorm().init(x)
    assert model.params["weight"].shape == model.params["bias"].shape == (100,)
    y = model(x, train=True)
    assert y.shape == (20, 100, 35, 45)
    np.testing.assert_allclose(y.mean(axis=(0, 2, 3), dtype=np.float64), 0.0, atol=1e-4)
    np.testing.assert_allclose(y.std(axis=(0, 2, 3), dtype=np.float64), 1.0, rtol=1e-4)


# A14: what batch norm can do and undo


def test_gamma_and_beta_can_undo_the_normalisation(rng):  # A14
    """With gamma = sqrt(variance + eps) and beta = mean the layer is the identity."""
    x = rng.normal(3.0, 5.0, size=(40, 6))
    model = md.BatchNorm().init(x, dtype="float64")
    model.params["weight"], model.params["bias"] = np.sqrt(x.var(axis=0) + 1e-5), x.mean(axis=0)
    np.testing.assert_allclose(model(x, train=True), x, rtol=1e-12)


def test_gamma_and_beta_learn_to_undo_it(rng):  # A14
    x = rng.normal(3.0, 2.0, size=(40, 3))
    trainer = md.Trainer(md.BatchNorm(), loss="mse", optimizer=md.SGD(0.3))
    trainer.fit(x, x, epochs=200, batch_size=None)
    np.testing.assert_allclose(trainer.model(x, train=True), x, atol=1e-3)


def test_running_averages_take_the_place_of_the_batch_at_test_time(rng):  # A14
    """After training a row's output does not depend on its companions, and nearly equals what training gave."""
    x = rng.normal(3.0, 2.0, size=(64, 3)).astype(np.float32)
    trainer = md.Trainer(md.BatchNorm(), loss="mse", optimizer=md.SGD(0.0))
    trainer.fit(x, x, epochs=100, batch_size=None)
    model = trainer.model
    np.testing.assert_allclose(model.state["mean"], x.mean(axis=0), rtol=1e-3)
    np.testing.assert_allclose(model.state["variance"], x.var(axis=0, ddof=1), rtol=1e-3)
    np.testing.assert_array_equal(model(x[:5]), model(x)[:5])
    assert np.abs(model(x[:5], train=True) - model(x, train=True)[:5]).max() > 0.1
    np.testing.assert_allclose(model(x), model(x, train=True), atol=0.05)


@pytest.mark.parametrize("order", ["before", "after"])
def test_batch_norm_stands_before_or_after_the_activation(order, rng):  # A14
    """The original work put it before. Both kinds train; only after it are the features themselves standardised."""
    x = rng.normal(size=(200, 4))
    y = np.sin(2 * x[:, :1]) * x[:, 1:2]
    pair = [md.BatchNorm(), md.ReLU()]
    net = md.Sequential(md.Linear(20), *(pair if order == "before" else pair[::-1]), md.Linear(1))
    features = net.init(x)[:3](x, train=True)
    assert np.allclose(features.mean(axis=0), 0.0, atol=1e-5) is (order == "after")
    history = md.Trainer(net, loss="mse", optimizer=md.Adam(0.02)).fit(x, y, epochs=300, batch_size=None)
    assert history["loss"][-1] < 0.1 * history["loss"][0]


# C7 and D5: the others. Inputs are (rows, channels, positions).

AXES = {  # norm: the axes it averages over
    "batch": (md.BatchNorm(affine=False), (0, 2)),
    "layer, over the last axis": (md.LayerNorm(affine=False), (2,)),
    "layer, over all of a row": (md.LayerNorm(n_axes=2, affine=False), (1, 2)),
    "instance": (md.nn.InstanceNorm(), (2,)),
    "group, one": (md.nn.GroupNorm(1, affine=False), (1, 2)),
}
inputs = np.random.default_rng(1).normal(3.0, 2.0, size=(8, 6, 5)) * np.arange(1, 7)[:, None]


@pytest.mark.parametrize("name", AXES)
def test_each_norm_takes_its_statistics_over_its_own_axes(name):  # C7, D5
    norm, axes = AXES[name]
    y = norm.init(inputs, dtype="float64")(inputs, train=True)
    mean, variance = inputs.mean(axis=axes, keepdims=True), inputs.var(axis=axes, keepdims=True)
    np.testing.assert_allclose(y, (inputs - mean) / np.sqrt(variance + 1e-5), rtol=1e-10)
    np.testing.assert_allclose(y.mean(axis=axes), 0.0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=axes), 1.0, rtol=1e-4)


def test_group_norm_averages_over_the_channels_of_a_group():  # C7, D5
    y = md.nn.GroupNorm(3, affine=False).init(inputs, dtype="float64")(inputs).reshape(8, 3, 2 * 5)
    np.testing.assert_allclose(y.mean(axis=2), 0.0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=2), 1.0, rtol=1e-4)


def test_as_many_groups_as_channels_is_instance_norm():  # C7, D5
    by_group, by_instance = (
        norm.init(inputs)(inputs) for norm in (md.nn.GroupNorm(6, affine=False), md.nn.InstanceNorm())
    )
    np.testing.assert_allclose(by_group, by_instance, atol=1e-6)


def test_rms_norm_scales_and_does_not_centre():  # C7, D5
    x = inputs[:, :, 0]
    y = md.nn.RMSNorm().init(x, dtype="float64")(x)
    np.testing.assert_allclose((y**2).mean(axis=1), 1.0, rtol=1e-4)
    np.testing.assert_allclose(y / x, (y / x)[:, :1] * np.ones(6), rtol=1e-12)  # one factor a row


def test_layer_norm_normalises_each_sample_over_its_features():  # C7, D5
    """The deck's mini-batch of 5 samples and 4 features: 5 means, 5 variances (its indices are swapped)."""
    y = md.LayerNorm(eps=0.0).init(SAMPLES, dtype="float64")(SAMPLES)
    expected = (SAMPLES - SAMPLES.mean(axis=1, keepdims=True)) / SAMPLES.std(axis=1, keepdims=True)
    np.testing.assert_allclose(y, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "norm", [md.LayerNorm(), md.nn.RMSNorm(), md.nn.GroupNorm(2), md.nn.InstanceNorm()], ids=lambda n: n.name
)
def test_all_but_batch_norm_treat_a_row_alike_in_any_company_and_mode(norm):  # C7, D5
    """So they serve where batches are small or of one row; batch norm needs at least two and says so."""
    model = norm.init(inputs)
    np.testing.assert_array_equal(model(inputs[:1], train=True), model(inputs)[:1])
    with pytest.raises(md.errors.ShapeError, match="at least 2 rows"):
        md.BatchNorm().init(3)(np.ones((1, 3)), train=True)


def test_weight_normalisation_takes_length_and_direction_apart(rng):  # C7, D5
    """w = g v / |v|: the length of v means nothing, that of w is g, and the gradient by v is across v."""
    x = rng.normal(size=(7, 4))
    model = md.nn.WeightNorm(md.Linear(3)).init(x, dtype="float64")
    y = model(x)
    V, g = model.params["V"], model.params["g"]
    np.testing.assert_allclose(y, x @ V, rtol=1e-12)  # nothing is changed at first
    slopes = md.grad(lambda w: np.sum(np.sin(model.network.run(w, model.state.flat, x).outputs[""])))(model.params.flat)
    across = model.network.params["V"].of(slopes)
    np.testing.assert_allclose((across * V).sum(axis=0), 0.0, atol=1e-12)
    V *= [2.0, 5.0, 0.1]
    np.testing.assert_allclose(model(x), y, rtol=1e-12)
    g *= 3.0
    np.testing.assert_allclose(model(x), 3.0 * y, rtol=1e-12)


@pytest.mark.parametrize("norm", ["batch", "layer", "rms"])
def test_pre_norm_stands_on_the_branch_and_leaves_the_skip_alone(norm, rng):  # C7, D5
    """y = x + f(norm(x)): scaling x changes what the branch adds not at all."""
    x = rng.normal(1.0, 2.0, size=(30, 6))
    model = md.Residual(md.Linear(6), "tanh", norm=norm).init(x, dtype="float64")
    branch = [model(scale * x, train=True) - scale * x for scale in (1.0, 100.0)]
    np.testing.assert_allclose(branch[0], branch[1], atol=1e-4)
