"""Initial biases: units with few inputs get hinges that lie apart, all others start at 0."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.nn.initializers import FEW_INPUTS, Hinges, Uniform, auto_bias


def test_hinges_of_rectifiers_of_one_input_lie_apart():  # A17
    model = md.mlp(200, 1).init(1)
    hinges = -model.params["0.b"] / model.params["0.W"][0]
    assert np.abs(hinges).max() <= 3.0 + 1e-5
    assert np.histogram(hinges, bins=6, range=(-3.0, 3.0))[0].min() > 15  # 33 expected in each


def test_hinges_of_several_inputs_are_within_their_distance_of_the_origin():
    model = md.mlp(500, 1).init(4)
    W, b = model.params["0.W"], model.params["0.b"]
    distances = np.abs(b) / np.linalg.norm(W, axis=0)
    assert 0.7 < distances.max() <= 0.75 + 1e-6


def test_other_units_with_few_inputs_get_uniform_biases():
    b = md.mlp(500, 1, activation="tanh").init(2).params["0.b"]
    assert 1.4 < np.abs(b).max() <= 1.5


@pytest.mark.parametrize("n_in", [FEW_INPUTS + 1, 784])
def test_units_with_many_inputs_start_with_biases_of_zero(n_in):
    assert not md.mlp(8, 1).init(n_in).params["0.b"].any()


@pytest.mark.parametrize("net", [md.mlp(1), md.mlp(8, 3), md.Sequential(md.Linear(3), "softmax")])
def test_biases_of_outputs_start_at_zero(net):
    params = net.init(2).params
    last = max(path for path in params if path.endswith("b"))
    assert not params[last].any()


def test_pieces_of_maxout_have_different_biases():
    assert np.unique(md.nn.Maxout(4).init(1).params["b"]).size == 8


def test_a_given_initializer_of_biases_is_used():
    assert not md.Sequential(md.Linear(4, bias_init="zeros"), "relu").init(1).params["0.b"].any()


def test_the_default_depends_on_activation_and_inputs():
    assert auto_bias("leaky_relu", 3) == Hinges(1.0)
    assert auto_bias("sigmoid", 3) == Uniform(-1.0, 1.0)
    assert auto_bias("softmax", 3) == auto_bias("identity", 3) == auto_bias("relu", 13)


def test_hinges_for_weights_are_refused():
    with pytest.raises(ConfigError, match=r"'W' cannot be initialized by Hinges\(spread=3.0\), which is for biases"):
        md.Linear(3, init="hinges").init(2)


def test_a_net_of_one_input_fits_a_function():  # A17
    """With biases of 0, the largest error is 0.45."""
    x = np.linspace(-4.0, 4.0, 256, dtype="float32")[:, None]
    y = np.sin(2.0 * x) * np.exp(-(x**2) / 4.0)
    trainer = md.Trainer(md.mlp(64, 1), loss="mse", optimizer=md.Adam(0.003), schedule="cosine")
    trainer.fit(x, y, epochs=500, batch_size=16)
    assert np.abs(trainer.model(x) - y).max() < 0.12


def test_hinges_of_weight_normalised_layers_lie_apart():
    model = md.Sequential(md.nn.WeightNorm(md.Linear(50)), "relu").init(1)
    assert np.unique(model.params["0.b"]).size == 50
    assert np.abs(model.params["0.b"]).max() > 1.0
