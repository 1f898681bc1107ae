"""Norms: what is special to each."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, ShapeError, UnknownNameError


def after_steps(net, X, n_steps, *, batch_size=8):
    """The model after some passes in training mode, which move the running statistics and nothing else."""
    model = net.init(X, dtype="float64")
    network = model.network

    def step(w, state, x):
        return network.state_after(network.run(w, state, x, train=True), state)

    program = md.compile(step, rows=[2])
    for k in range(n_steps):
        start = k * batch_size % len(X)
        model.state.flat[...] = program(model.params.flat, model.state.flat, X[start : start + batch_size])
    return model


def test_in_training_batch_norm_gives_mean_0_and_variance_1(rng):  # A14, E12
    x = 5.0 + 3.0 * rng.normal(size=(200, 4))
    y = md.BatchNorm(eps=0.0).init(4, dtype="float64")(x, train=True)
    np.testing.assert_allclose(y.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(y.var(axis=0), 1.0, rtol=1e-12)


def test_running_statistics_come_to_those_of_the_data_and_serve_afterwards(rng):  # E12
    X = 5.0 + 3.0 * rng.normal(size=(800, 2))
    model = after_steps(md.BatchNorm(), X, 400)
    np.testing.assert_allclose(model.state["mean"], X.mean(axis=0), atol=0.6)
    np.testing.assert_allclose(model.state["variance"], X.var(axis=0, ddof=1), rtol=0.4)
    expected = (X - model.state["mean"]) / np.sqrt(model.state["variance"] + 1e-5)
    np.testing.assert_allclose(model(X), expected, rtol=1e-12)


def test_momentum_1_keeps_the_last_batch_and_0_keeps_the_start(rng):
    X = rng.normal(size=(8, 3))
    last = after_steps(md.BatchNorm(momentum=1.0), X, 3)
    np.testing.assert_allclose(last.state["variance"], X.var(axis=0, ddof=1), rtol=1e-12)
    first = after_steps(md.BatchNorm(momentum=0.0), X, 3)
    np.testing.assert_array_equal(first.state.flat, [0, 0, 0, 1, 1, 1])


def test_the_two_pass_variance_holds_far_from_0(rng):
    x = 1e6 + rng.normal(size=(64, 3))
    y = md.BatchNorm(eps=0.0).init(3, dtype="float64")(x, train=True)
    np.testing.assert_allclose(y.var(axis=0), 1.0, rtol=1e-8)


def test_running_in_training_mode_changes_nothing(rng):
    model = md.BatchNorm().init(3)
    before = model.state.to_dict()
    model(rng.normal(size=(5, 3)), train=True)
    for path, value in before.items():
        np.testing.assert_array_equal(model.state[path], value)


def test_one_row_cannot_train_a_batch_norm_but_one_image_can(rng):
    net = md.Sequential(md.Linear(4), md.BatchNorm())
    text = (
        "Layer '1' (BatchNorm()) needs at least 2 rows to train on, and the batch has 1: one row has no variance. "
        "Use a larger batch_size, or LayerNorm(), which works on single rows."
    )
    with pytest.raises(ShapeError, match=re.escape(text)):
        net.init(3)(np.ones((1, 3)), train=True)
    assert net.init(3)(np.ones((1, 3))).shape == (1, 4)
    with pytest.raises(ShapeError, match=r"There are no rows to train on\."):
        net.init(3)(np.ones((0, 3)), train=True)
    assert md.BatchNorm().init((2, 5))(rng.normal(size=(1, 2, 5)), train=True).shape == (1, 2, 5)
    with pytest.raises(ShapeError, match="BatchNorm"):
        md.BatchNorm().init((2, 1))(np.ones((1, 2, 1)), train=True)


def test_a_frozen_batch_norm_uses_its_running_averages_in_training(rng):
    X = rng.normal(size=(8, 3)) + 4.0
    net = md.Sequential(md.Linear(3), md.BatchNorm())
    for model in (md.Model.of(net, X, freeze=["1"]), md.Sequential(net[0], net[1], trainable=False).init(X)):
        np.testing.assert_array_equal(model(X, train=True), model(X))
        model(X[:1], train=True)  # and so one row will do
    moving = net.init(X)
    assert np.abs(moving(X, train=True) - moving(X)).max() > 0.1


def test_a_batch_norm_that_stands_twice_updates_one_state_twice(rng):
    X = rng.normal(size=(8, 2))
    norm = md.BatchNorm(momentum=0.5)
    model = after_steps(md.Sequential(norm, norm), X, 1)
    once = 0.5 * X.mean(axis=0)
    np.testing.assert_allclose(model.state["0.mean"], 0.5 * once + 0.5 * 0.0, atol=1e-12)
    assert list(model.state) == ["0.mean", "0.variance"]


def test_layer_norm_does_not_look_at_the_batch_and_rms_norm_does_not_centre(rng):  # C7, D5
    x = 2.0 + rng.normal(size=(5, 50))
    y = md.LayerNorm(eps=0.0).init(50, dtype="float64")(x)
    np.testing.assert_allclose((y.mean(axis=1), y.var(axis=1)), (np.zeros(5), np.ones(5)), atol=1e-12)
    np.testing.assert_array_equal(y[:1], md.LayerNorm(eps=0.0).init(50, dtype="float64")(x[:1], train=True))
    z = md.nn.RMSNorm(eps=0.0).init(50, dtype="float64")(x)
    np.testing.assert_allclose((z**2).mean(axis=1), 1.0, rtol=1e-12)
    assert (z.mean(axis=1) > 0.5).all()


def test_one_group_is_layer_norm_and_as_many_as_channels_is_instance_norm(rng):  # C7
    x = rng.normal(size=(4, 6, 5))
    of = {"dtype": "float64"}
    flat = md.LayerNorm(n_axes=2).init((6, 5), **of)(x)
    np.testing.assert_allclose(md.nn.GroupNorm(1).init((6, 5), **of)(x), flat, rtol=1e-12)
    np.testing.assert_allclose(
        md.nn.GroupNorm(6).init((6, 5), **of)(x), md.nn.InstanceNorm().init((6, 5), **of)(x), rtol=1e-12
    )


def test_norm_parameters_and_biases_do_not_decay_and_weights_do():
    net = md.Sequential(md.nn.WeightNorm(md.Linear(4)), md.BatchNorm(), md.nn.PReLU(), md.Linear(2), md.LayerNorm())
    decays = {path for path, entry in net.init(3).network.params.items() if entry.decays}
    assert decays == {"0.V", "3.W"}


def test_wrong_shapes_and_numbers_are_told():
    with pytest.raises(
        ShapeError, match=r"InstanceNorm needs inputs of shape \(rows, channels, positions \.\.\.\), not"
    ):
        md.nn.InstanceNorm().init(5)
    with pytest.raises(ShapeError, match=r"GroupNorm\(groups=4\) got .*groups=4 do not divide 6 channels"):
        md.nn.GroupNorm(4).init(6)
    with pytest.raises(ConfigError, match="LayerNorm: n_axes=2 must be less than the 2 axes of the input"):
        md.LayerNorm(n_axes=2).init(5)
    with pytest.raises(ConfigError, match=r"BatchNorm: momentum=2 must be a number in \[0, 1\]; eps=-1 must be"):
        md.BatchNorm(momentum=2, eps=-1)
    with pytest.raises(ConfigError, match=r"BatchNorm: affine='no' must be True or False\."):
        md.BatchNorm(affine="no")
    with pytest.raises(ConfigError, match=r"GroupNorm: groups=0 must be an integer of at least 1\."):
        md.nn.GroupNorm(0)
    with pytest.raises(UnknownNameError, match=r"'bath' is not a known norm\. Did you mean 'batch'"):
        md.mlp(3, 1, norm="bath")


@pytest.mark.parametrize(
    "layer", [md.BatchNorm(), md.BatchNorm(affine=False), md.LayerNorm(), md.nn.RMSNorm()], ids=repr
)
def test_second_derivatives_through_a_norm_in_training_are_those_of_finite_differences(layer, rng):
    x, v, c = rng.normal(size=(3, 5, 4))
    model = layer.init(4, dtype="float64")

    def loss(x):
        y = model.network.run(model.params.flat, model.state.flat, x, train=True).outputs[""]
        return np.sum(c * y**3)

    step = 1e-5
    expected = (md.grad(loss)(x + step * v) - md.grad(loss)(x - step * v)) / (2 * step)
    np.testing.assert_allclose(md.hvp(loss, (x,), (v,)), expected, rtol=1e-6, atol=1e-6)
