"""Layers made of layers: Sequential, Residual, Parallel, WeightNorm, mlp; activations as layers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, ShapeError, TraceError, UnknownNameError

# Sequential


def test_strings_and_functions_are_activations():
    net = md.Sequential(md.Linear(2), "relu", np.tanh, lambda x: x**2, md.nn.activations.mish)
    assert [type(layer).__name__ for layer in net] == ["Linear", "ReLU", "Activation", "Activation", "Mish"]
    x = np.array([[1.0, -2.0]])
    np.testing.assert_allclose(net[3].init(2)(x), x**2)


def test_a_net_is_cut_like_a_list():
    net = md.Sequential(md.Linear(2), "relu", md.Linear(3))
    assert (len(net), net[0], net[-1]) == (3, md.Linear(2), md.Linear(3))
    assert net[:2] == md.Sequential(md.Linear(2), "relu")
    assert md.Sequential(*net, "tanh")[3] == md.nn.Tanh()
    assert md.Sequential(md.Linear(2), trainable=False)[:1].trainable is False


def test_a_class_in_place_of_a_layer_is_told():
    for wrong in (md.Linear, md.ReLU):
        with pytest.raises(ConfigError, match=rf"{wrong.__name__} is a class\. Pass a layer: {wrong.__name__}"):
            md.Sequential(wrong)
    with pytest.raises(UnknownNameError, match=r"activation='rellu' is not a known activation\. Did you mean 'relu'"):
        md.Sequential("rellu")
    with pytest.raises(TraceError, match="cannot be traced"):
        md.Sequential(lambda a, b: a)


def test_threshold_units_compose_to_logic():  # A2
    xor = md.Sequential(md.Linear(2), "step", md.Linear(1), "step").init(2)
    xor.params["0.W"], xor.params["0.b"] = np.ones((2, 2)), [-0.5, -1.5]
    xor.params["2.W"], xor.params["2.b"] = [[1.0], [-1.0]], [-0.5]
    assert xor([[0, 0], [0, 1], [1, 0], [1, 1]])[:, 0].tolist() == [0.0, 1.0, 1.0, 0.0]


# Residual


def test_a_residual_around_layers_that_give_nothing_changes_nothing(rng):  # C9
    x = rng.normal(size=(4, 3))
    block = md.Residual(md.Linear(3, init="zeros"), norm="layer").init(3, dtype="float64")
    np.testing.assert_array_equal(block(x), x)


def test_widths_that_differ_are_projected_or_refused():
    assert md.Residual(md.Linear(5)).init(3).params["projection.W"].shape == (3, 5)
    assert "projection.W" not in md.Residual(md.Linear(3)).init(3).params
    with pytest.raises(
        ShapeError, match=re.escape("The layers inside return (n, 5), which cannot be added to (n, 3).")
    ):
        md.Residual(md.Linear(5), projection="never").init(3)
    with pytest.raises(ConfigError, match="Residual: projection='yes' must be 'auto' or 'always' or 'never'"):
        md.Residual(md.Linear(5), projection="yes")
    with pytest.raises(ShapeError, match="cannot be added to"):
        md.Residual(md.nn.Flatten()).init((2, 3))


def test_a_residual_that_stands_twice_has_one_projection():
    block = md.Residual(md.Linear(4), projection="always")
    model = md.Sequential(md.Linear(4), block, block).init(3)
    assert list(model.params) == ["0.W", "0.b", "1.0.W", "1.0.b", "1.projection.W"]


# Parallel


def test_one_input_goes_to_every_branch_and_several_are_dealt_out(rng):
    x, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    same = md.Parallel(md.nn.Identity(), md.nn.Activation(np.tanh)).init(3, dtype="float64")(x)
    np.testing.assert_allclose(same[1], np.tanh(x))
    one, two = md.Parallel(md.Linear(1), md.Linear(1)).init(((3,), (2,)))((x, y))
    assert one.shape == two.shape == (4, 1)


def test_a_net_can_have_several_outputs_by_name(rng):
    net = md.Sequential(
        md.Linear(8), "relu", md.Parallel(mean=md.Linear(1), spread=md.Sequential(md.Linear(1), "softplus"))
    )
    model = net.init(3)
    found = model(rng.normal(size=(5, 3)))
    assert {name: value.shape for name, value in found.items()} == {"mean": (5, 1), "spread": (5, 1)}
    assert model(np.ones(3))["mean"].shape == (1,)
    assert list(model.params)[2:4] == ["2.mean.W", "2.mean.b"]


def test_branches_that_do_not_fit_their_inputs_are_told():
    with pytest.raises(ShapeError, match="Parallel has 2 branches and got 3 inputs"):
        md.Parallel(md.Linear(1), md.Linear(1)).init(((1,), (1,), (1,)))
    with pytest.raises(ShapeError, match="The inputs are named 'a', 'c', the branches of Parallel 'a', 'b'"):
        md.Parallel(a=md.Linear(1), b=md.Linear(1)).init({"a": 1, "c": 1})
    with pytest.raises(ConfigError, match="Parallel got 1 layers by position and 1 by name"):
        md.Parallel(md.Linear(1), b=md.Linear(1))
    with pytest.raises(ConfigError, match=r"'a\.b' cannot be the name of a branch: dots separate paths"):
        md.Parallel(**{"a.b": md.Linear(1)})
    with pytest.raises(ShapeError, match=r"\(n, 1\), \(n, 2\)\. Linear takes one array but got several"):
        md.Sequential(md.Parallel(md.Linear(1), md.Linear(2)), md.Linear(1)).init(3)
    with pytest.raises(ShapeError, match=re.escape("Inputs of shapes (n, 2, 3), (n, 4, 3) cannot be concatenated")):
        md.Concat().init(((2, 3), (4, 3)))
    with pytest.raises(ShapeError, match=re.escape("Inputs of shapes (n, 2) and (n, 3) cannot be added")):
        md.nn.Add().init(((2,), (3,)))
    with pytest.raises(ShapeError, match="has rows but no columns"):
        md.Concat().init((np.arange(3), np.arange(3)))


def test_a_branch_may_be_called_self():
    assert md.Parallel(self=md.Linear(1)).init(2)(np.ones((3, 2)))["self"].shape == (3, 1)


# WeightNorm


def test_weight_norm_starts_as_its_layer_and_its_scale_is_the_length(rng):  # C7
    x = rng.normal(size=(5, 4))
    for layer in (md.Linear(3), md.Linear(3, bias=False), md.nn.Maxout(2, 3), md.Linear(3, init="orthogonal")):
        plain, normed = (net.init(4, seed=2, dtype="float64") for net in (layer, md.nn.WeightNorm(layer)))
        plain.params["W"] = normed.params["V"]
        if layer.bias:
            plain.params["b"] = normed.params["b"]
        np.testing.assert_allclose(normed(x), plain(x), rtol=1e-12)
    np.testing.assert_allclose(normed.params["g"], 1.0)
    normed.params["V"][...] *= 7.0
    np.testing.assert_allclose(normed(x), plain(x), rtol=1e-12)
    normed.params["g"][...] *= 2.0
    np.testing.assert_allclose(normed(x), 2.0 * plain(x), rtol=1e-12)


def test_weight_norm_needs_a_layer_with_weights():
    with pytest.raises(ConfigError, match="WeightNorm\\('relu'\\) needs a layer"):
        md.nn.WeightNorm("relu")
    with pytest.raises(ConfigError, match=re.escape("ReLU() has no weights W to normalise.")):
        md.nn.WeightNorm(md.ReLU()).init(3)
    with pytest.raises(ConfigError, match="a table of categories has no units to normalise"):
        md.nn.WeightNorm(md.Embedding(3, 2))


# Activations as layers


def test_named_activations_are_layers_and_say_their_parameters():
    assert md.nn.Activation("leaky_relu", slope=0.2) == md.nn.LeakyReLU(slope=0.2)
    assert repr(md.nn.LeakyReLU(slope=0.2)) == "LeakyReLU(slope=0.2)"
    assert repr(md.nn.LeakyReLU()) == "LeakyReLU()"
    assert md.nn.Swish.__name__ == "Swish"
    assert ":math:" in md.nn.Swish.__doc__
    with pytest.raises(UnknownNameError, match=r"slop=1\.0 is not a parameter of the activation 'leaky_relu'"):
        md.nn.LeakyReLU(slop=1.0)


@pytest.mark.parametrize("layer", [md.nn.PReLU, md.nn.LearnedHinge])
def test_learned_rectifiers_have_one_slope_a_unit_or_one_in_all(layer):  # B5
    assert layer().init(5).params["slope"].shape == (5,)
    assert layer(per="layer").init(5).params["slope"].shape == (1,)
    assert (layer(start_slope=0.5).init(2).params["slope"] == 0.5).all()
    with pytest.raises(ConfigError, match=f"{layer.__name__}: per='row' must be 'unit' or 'layer'"):
        layer(per="row")
    with pytest.raises(ShapeError, match="has rows but no columns"):
        layer().init(np.arange(3))


# mlp


def test_mlp_puts_linear_norm_activation_dropout_in_this_order():
    net = md.mlp(8, 4, 2, activation="tanh", norm="layer", dropout=(0.1, 0.2), input_dropout=0.3, n_in=5)
    assert repr(net) == (
        "Sequential(Input(5), Dropout(p=0.3), Linear(8), LayerNorm(), Tanh(), Dropout(p=0.1), Linear(4), LayerNorm(), "
        "Tanh(), Dropout(p=0.2), Linear(2))"
    )
    assert net.init()(np.ones((3, 5))).shape == (3, 2)


def test_each_hidden_layer_of_an_mlp_has_its_own_norm_and_activation():
    net = md.mlp(8, 8, 1, activation=md.nn.PReLU(), norm=md.LayerNorm(eps=1e-3))
    paths = list(net.init(8).params)
    assert {"1.weight", "4.weight", "2.slope", "5.slope"} <= set(paths)


def test_a_linear_before_a_batch_norm_has_no_bias():
    for norm in ("batch", md.BatchNorm(affine=False)):
        net = md.mlp(8, 1, norm=norm)
        assert (net[0].bias, net[-1].bias) == (False, True)
    assert md.mlp(8, 1, norm="layer")[0].bias
    assert not any(layer.bias for layer in md.mlp(8, 1, bias=False) if isinstance(layer, md.Linear))


def test_an_mlp_can_be_residual_and_standardize_its_inputs(rng):
    net = md.mlp(8, 8, 6, 1, residual=True, standardize=True, init="orthogonal")
    assert [type(layer).__name__ for layer in net] == [
        "Standardize",
        "Linear",
        "ReLU",
        "Residual",
        "Residual",
        "Linear",
    ]
    assert net.init(rng.normal(size=(20, 3)))(np.ones((2, 3))).shape == (2, 1)


def test_an_mlp_without_outputs_or_with_too_few_words_is_refused():
    with pytest.raises(ConfigError, match=r"mlp\(\) needs at least the number of outputs"):
        md.mlp()
    with pytest.raises(ConfigError, match=r"activation has 1 items for 2 hidden layers\. Pass one"):
        md.mlp(8, 8, 1, activation=["relu"])
    assert md.mlp(3, dropout=0.5) == md.Sequential(md.Linear(3))
