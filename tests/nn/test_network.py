"""Nets laid out: where arrays start, which layers share or are frozen, what is printed, what files may hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DtypeError, MadalineError, ShapeError
from madaline.nn.initializers import FanScaled
from madaline.nn.layer import Layer, Param
from madaline.nn.network import build

HE, XAVIER, LECUN = FanScaled(2.0, "in"), FanScaled(1.0, "mean"), FanScaled(1.0, "in")


def inits(net, inputs=4):
    return {path: entry.init for path, entry in build(net, inputs).params.items() if path.endswith(("W", "V"))}


# Where weights start


@pytest.mark.parametrize(
    ("net", "expected"),
    [
        (md.Sequential(md.Linear(3), "relu", md.Linear(3), "tanh", md.Linear(2)), [HE, XAVIER, XAVIER]),
        (md.Sequential(md.Linear(3), md.BatchNorm(), md.Dropout(0.1), "relu"), [HE]),
        (md.Sequential(md.Linear(3), md.Sequential(md.LayerNorm(), md.Sequential("selu"))), [LECUN]),
        (md.Sequential(md.Sequential(md.Linear(3), md.Linear(3)), "relu"), [XAVIER, HE]),
        (md.Sequential(md.Residual(md.Linear(4), "relu", md.Linear(3)), "relu"), [HE, HE, XAVIER]),
        (md.Sequential(md.Linear(4), md.Residual("relu")), [XAVIER]),
        (md.Sequential(md.Parallel(md.Linear(3), md.Linear(2)), md.Concat(), "relu"), [HE, HE]),
        (md.Sequential(md.nn.WeightNorm(md.Linear(3)), md.nn.PReLU()), [HE]),
        (md.Sequential(md.Linear(3), md.nn.Maxout(2)), [XAVIER, HE]),
        (md.Sequential(md.Linear(3, init="lecun_normal"), "relu"), [LECUN]),
        (md.Linear(3), [XAVIER]),
    ],
    ids=lambda value: str(value) if isinstance(value, Layer) else "",
)
def test_auto_is_chosen_by_the_activation_that_follows(net, expected):  # D4
    assert list(inits(net).values()) == expected


def test_a_layer_more_does_not_change_how_the_others_start():
    short = md.Sequential(md.Linear(5), "relu", md.Linear(4)).init(3, seed=7)
    long = md.Sequential(md.Linear(5), "relu", md.Linear(4), "relu", md.Linear(2)).init(3, seed=7)
    np.testing.assert_array_equal(short.params["0.W"], long.params["0.W"])
    assert np.any(long.params["2.W"][:3, :2] != long.params["4.W"][:3, :2])


def test_types_agree_but_for_rounding():
    one, other = (md.Linear(4).init(3, seed=1, dtype=dtype).params["W"] for dtype in ("float32", "float64"))
    np.testing.assert_array_equal(one, other.astype(np.float32))


def deep(init):
    blocks = [md.Residual(md.Linear(20, init=init), "relu", md.Linear(20, init=init)) for _ in range(2)]
    hidden = [layer for _ in range(8) for layer in (md.Linear(20, init=init), "tanh")]
    return md.Sequential(*hidden, *blocks, md.nn.WeightNorm(md.Linear(10, init=init)), md.nn.Maxout(3, 2, init=init))


def test_lsuv_brings_the_sums_of_every_layer_to_variance_1(rng):  # D4
    X = 30.0 * rng.normal(size=(256, 12))
    model = deep("lsuv").init(X, dtype="float64")
    inside = model.activations(X)
    linear = [row.path for row in model.network.rows if isinstance(row.layer, (md.Linear, md.nn.WeightNorm))]
    assert len(linear) == 13
    for path in linear:
        assert np.var(inside[path]) == pytest.approx(1.0, abs=0.02), path


def test_kraehenbuehl_brings_every_unit_to_mean_0_and_variance_1(rng):  # D4
    X = 5.0 + 3.0 * rng.normal(size=(256, 12))
    model = deep("kraehenbuehl").init(X, dtype="float64")
    inside = model.activations(X)
    for row in model.network.rows:
        if isinstance(row.layer, (md.Linear, md.nn.WeightNorm)):
            np.testing.assert_allclose(inside[row.path].mean(axis=0), 0.0, atol=1e-10)
            np.testing.assert_allclose(inside[row.path].std(axis=0), 1.0, rtol=1e-10)


def test_initializers_that_look_at_data_need_them_and_weights():
    net = md.Sequential(md.Linear(3, init="lsuv"))
    with pytest.raises(
        ConfigError, match=r"Layer '0' \(Linear\(3, init='lsuv'\)\): init=LSUV.* needs data. Pass the data to"
    ):
        net.init(4)
    with pytest.raises(ConfigError, match="has no weighted sums, which a data-dependent initializer needs"):
        md.Embedding(5, 2, init="lsuv").init(np.arange(5))
    assert md.Linear(2, init="lsuv", bias=False).init(np.eye(4)).params["W"].shape == (4, 2)


# Sharing and freezing


def test_one_object_in_two_places_shares_and_two_equal_ones_do_not():
    layer = md.Linear(4)
    assert list(md.Sequential(layer, "relu", layer).init(4).params) == ["0.W", "0.b"]
    assert len(md.Sequential(md.Linear(4), "relu", md.Linear(4)).init(4).params) == 4
    with pytest.raises(ShapeError, match=r"0\.W has shape \(3, 4\); here it would have \(4, 4\)\. Shared layers need"):
        md.Sequential(layer, layer).init(3)


def test_the_gradient_of_a_shared_layer_is_the_sum_over_its_places(rng):
    layer, x = md.Linear(3), rng.normal(size=(5, 3))
    shared = md.Sequential(layer, "tanh", layer).init(3, dtype="float64")
    apart = md.Sequential(md.Linear(3), "tanh", md.Linear(3)).init(3, dtype="float64")
    apart.params.flat[...] = np.tile(shared.params.flat, 2)

    def slope(model):
        loss = lambda w: np.sum(model.network.run(w, model.state.flat, x).outputs[""] ** 2)  # noqa: E731
        return md.grad(loss)(model.params.flat)

    np.testing.assert_allclose(slope(shared), slope(apart).reshape(2, -1).sum(axis=0), rtol=1e-12)


def test_layers_of_a_shared_block_are_shared_with_it():
    block = md.Residual(md.Linear(4), md.BatchNorm(), "relu")
    model = md.Sequential(block, md.Sequential(block), block).init(4)
    assert list(model.params) == ["0.0.W", "0.0.b", "0.1.weight", "0.1.bias"]
    assert list(model.state) == ["0.1.mean", "0.1.variance"]
    assert str(model).count("as 0.0") == 2


def test_sharing_survives_plain_data():
    layer = md.Linear(4)
    net = md.Sequential(layer, "relu", md.Residual(layer))
    again = Layer.from_dict(json.loads(json.dumps(net.to_dict())))
    assert again[2].layers[0] is again[0]
    assert list(again.init(4).params) == ["0.W", "0.b"]


def test_frozen_parameters_come_last_and_are_counted():
    net = md.Sequential(md.Linear(4, trainable=False), "relu", md.Linear(3), md.Residual(md.Linear(3), norm="layer"))
    network = build(net, 5, freeze=["3.norm"])
    assert network.n_params - network.n_trainable == 24 + 6
    frozen = {path for path, entry in network.params.items() if entry.frozen}
    assert frozen == {"0.W", "0.b", "3.norm.weight", "3.norm.bias"}
    assert all((entry.offset >= network.n_trainable) == entry.frozen for entry in network.params.values())
    assert "frozen" in md.Model.of(net, 5).__str__()


def test_a_shared_layer_frozen_in_one_place_is_frozen():
    layer = md.Linear(4)
    net = md.Sequential(layer, "relu", layer)
    for path in ("0", "2"):
        assert build(net, 4, freeze=path).n_trainable == 0
    with pytest.raises(ConfigError, match=r"freeze='7' is not the path of a layer\. Known: '', '0', '1', '2'"):
        build(net, 4, freeze=["7"])


def test_running_with_parameters_apart_is_running_with_all(rng):
    net = md.Sequential(md.Linear(4), "tanh", md.Linear(3, trainable=False), md.Linear(2))
    model, x = net.init(5, dtype="float64"), rng.normal(size=(6, 5))
    flat, cut = model.params.flat, model.network.n_trainable
    apart = md.compile(lambda w, f, x: model.network.run(w, model.state.flat, x, frozen=f).outputs[""], rows=[2])
    np.testing.assert_array_equal(apart(flat[:cut], flat[cut:], x), model(x))


@pytest.mark.parametrize("dtype", ["float16", "int32", "real", object])
def test_nets_are_float32_or_float64(dtype):
    with pytest.raises(DtypeError, match=r"is not a possible type of a net\. Use 'float32' or 'float64'"):
        md.Linear(2).init(3, dtype=dtype)


# What is printed


def test_a_net_that_knows_its_inputs_prints_as_a_table():
    net = md.Sequential(
        md.nn.Input(6),
        md.Parallel(wide=md.Linear(4), deep=md.Residual(md.Linear(6), "tanh", norm="layer")),
        md.Concat(),
        md.Linear(2, trainable=False),
    )
    assert str(net) == (
        "layer        kind                        output                    parameters  flops\n"
        "0            Input(6)                    (n, 6)                             0      0\n"
        "1            Parallel                    wide (n, 4), deep (n, 6)\n"
        "1.wide         Linear(4)                 (n, 4)                            28     52\n"
        "1.deep         Residual                  (n, 6)\n"
        "1.deep.norm      LayerNorm()             (n, 6)                            12     46\n"
        "1.deep.0         Linear(6)               (n, 6)                            42     78\n"
        "1.deep.1         Tanh()                  (n, 6)                             0      6\n"
        "2            Concat()                    (n, 10)                            0      0\n"
        "3            Linear(2, trainable=False)  (n, 2)                            22     42\n"
        "total                                                                     104    230\n"
        "frozen                                                                     22"
    )


def test_a_net_that_does_not_know_its_inputs_prints_as_a_list():
    net = md.Sequential(md.Linear(4), "relu", md.Residual(md.Linear(4), norm="rms"), md.Parallel(a=md.Linear(1)))
    assert str(net) == (
        "Sequential\n  0: Linear(4)\n  1: ReLU()\n  2: Residual\n    norm: RMSNorm()\n    0: Linear(4)\n"
        "  3: Parallel\n    a: Linear(1)"
    )
    assert str(md.Linear(4)) == "Linear(4)"
    assert str(md.Sequential(md.nn.Input(3), md.nn.InstanceNorm())) == "Sequential\n  0: Input(3)\n  1: InstanceNorm()"


def test_flops_are_those_of_one_row():
    rows = {row.path: row for row in build(md.Sequential(md.Linear(50), "relu", md.Linear(2, bias=False)), 30).rows}
    assert rows["0"].flops == 2 * 30 * 50 + 50
    assert rows["2"].flops == 2 * 50 * 2
    assert rows[""].flops == sum(rows[path].flops for path in ("0", "1", "2"))


def test_an_error_inside_names_the_innermost_layer_once():
    net = md.Sequential(md.Linear(4), md.Residual(md.Linear(4), md.nn.GroupNorm(3)))
    with pytest.raises(ShapeError) as caught:
        net.init(2)
    assert str(caught.value) == (
        "Layer '1.1' (GroupNorm(groups=3)) got inputs of shape (n, 4). groups=3 do not divide 4 channels."
    )


# A layer of one's own


@dataclass(frozen=True)
class Gate(Layer):
    """Two maps, one of which opens the other: what the manual says a layer is."""

    n_out: int

    def params(self, in_shape: Any) -> dict[str, Param]:
        return {"W": Param((in_shape[-1], self.n_out), "auto", decays=True)}

    def __call__(self, x: Any, p: Mapping[str, Any], context: Any) -> Any:
        gate = context.run("gate", md.Sequential(md.Linear(self.n_out), "sigmoid"), x)
        return gate * (x @ p["W"])


def test_a_layer_of_ones_own_is_like_the_others(rng):
    model = md.Sequential(Gate(3), "relu", md.Linear(1)).init(4, dtype="float64")
    assert list(model.params) == ["0.W", "0.gate.0.W", "0.gate.0.b", "2.W", "2.b"]
    x = rng.normal(size=(5, 4))
    p = model.params
    gate = 1 / (1 + np.exp(-(x @ p["0.gate.0.W"] + p["0.gate.0.b"])))
    np.testing.assert_allclose(model.activations(x)["0"], gate * (x @ p["0.W"]), rtol=1e-12)
    with pytest.raises(ConfigError, match="Gate has no name to be saved under"):
        model.net.to_dict()


def test_a_field_that_hides_a_method_is_refused():
    with pytest.raises(ConfigError, match="Mine: a field cannot be named 'start', which is a method of Layer"):

        @dataclass(frozen=True)
        class Mine(Layer):
            start: float = 1.0


# Plain data from anywhere


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"name": "linear"},
        {"name": "linear", "n_out": "3"},
        {"name": "linear", "n_out": -3},
        {"name": "linear", "n_out": 3, "weight_init": "no_such"},
        {"name": "linear", "n_out": 3, "weight_init": {"kind": "loss", "name": "mse"}},
        {"name": "linear", "n_out": 3, "bias": "yes"},
        {"name": "linear", "n_out": 3, "extra": 1},
        {"name": "__class__"},
        {"name": "sequential", "layers": 3},
        {"name": "sequential", "layers": ["relu"]},
        {"name": "sequential", "layers": [{"kind": "layer", "name": "same", "number": 0}]},
        {"name": "sequential", "layers": [{"kind": "optimizer", "name": "adam"}]},
        {"name": "parallel", "layers": [{"kind": "layer", "name": "identity"}], "names": ["a", "b"]},
        {"name": "parallel", "layers": [{"kind": "layer", "name": "identity"}], "names": ["trainable"]},
        {"name": "parallel", "layers": []},
        {"name": "residual", "layers": [], "norm": {"kind": "layer", "name": "nothing"}},
        {"name": "activation"},
        {"name": "activation", "function": "os.system"},
        {"name": "input", "shape": [-1]},
        {"name": "input", "shape": "ab"},
        {"name": "standardize", "mean": [1.0]},
        {"name": "standardize", "mean": [1.0], "std": [0.0]},
        {"name": "weight_norm", "layer": None},
        {"name": "dropout", "p": 2},
        {"name": "embedding", "n_categories": 10**30, "width": 1},
    ],
    ids=str,
)
def test_hostile_plain_data_are_refused(data):
    with pytest.raises(MadalineError):
        Layer.from_dict(data)


def test_a_net_with_a_function_of_ones_own_is_saved_as_its_formula(rng):
    net = md.Sequential(md.Linear(3), lambda x: x * np.tanh(np.log1p(np.exp(x))), md.Linear(1))
    again = Layer.from_dict(json.loads(json.dumps(net.to_dict())))
    x = rng.normal(size=(7, 2))
    np.testing.assert_array_equal(again.init(2)(x), net.init(2)(x))


def nested(depth):
    net = md.Linear(3)
    for _ in range(depth):
        net = md.Residual(net)
    return net


def test_residuals_nested_a_hundred_deep_are_saved_and_trained(tmp_path):
    trainer = md.Trainer(nested(100), loss="mse", optimizer=md.SGD(1e-40))
    trainer.fit(np.ones((4, 3)), np.ones((4, 3)), epochs=1, progress=False)
    md.save(trainer.model, tmp_path / "model")
    np.testing.assert_array_equal(md.load(tmp_path / "model")(np.ones((2, 3))), trainer.model(np.ones((2, 3))))


def test_a_net_that_is_nested_too_deeply_is_one_sentence():
    with pytest.raises(ConfigError, match="nested too deeply"):
        nested(400).init(3)
