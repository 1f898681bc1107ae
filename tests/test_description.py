"""Every description becomes plain data and comes back equal; data that are wrong or hostile get a clear error."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
import madaline.nn.layers  # which fills the registry
from madaline.description import KINDS, Description
from madaline.errors import ConfigError, MadalineError, UnknownNameError
from madaline.losses.custom import as_loss
from madaline.losses.loss import LOSSES
from madaline.nn.activation_function import ActivationFunction, as_activation
from madaline.nn.activations import ACTIVATIONS
from madaline.nn.initializers import INITIALIZERS, FanScaled, Initializer
from madaline.nn.layer import LAYERS
from madaline.optim.averaging import AVERAGES, EMA
from madaline.optim.clipping import CLIPPINGS, ClipNorm
from madaline.optim.constraints import CONSTRAINTS, MaxNorm
from madaline.optim.lbfgs import SOLVERS
from madaline.optim.moments import AdaptiveMoments
from madaline.optim.optimizer import OPTIMIZERS, as_optimizer
from madaline.optim.regularizers import REGULARIZERS, CustomPenalty
from madaline.optim.schedule import SCHEDULES, as_schedule
from madaline.registry import Registry

OTHERS = [
    md.nn.Ensemble(md.Linear(2), md.Linear(2), weights=(1, 3), average={"a": "softmax", "b": "exp"}),
    ACTIVATIONS["leaky_relu"].with_parameters(slope=0.1),
    ACTIVATIONS["softmax"].with_parameters(axis=0),
    FanScaled(1.5, "out", "truncated", gain=2.0),
    LOSSES["quantile"](q=0.9),
    LOSSES["mixture_density"](components=3, covariance="tied", floor=1e-3),
    OPTIMIZERS["sgd"](0.1, momentum=0.9, nesterov=True, weight_decay=1e-4, decoupled=True),
    SCHEDULES["linear_warmup"](10).then(SCHEDULES["multistep"]((3, 5)), after=7) * SCHEDULES["cosine"](steps=100),
    REGULARIZERS["group_lasso"](0.3, groups="outputs"),
    EMA(0.9, warmup=True),
    ClipNorm(np.float32(0.5)),
    MaxNorm(np.int64(2)),
]


def defaults() -> list[Description]:
    registries = (ACTIVATIONS, INITIALIZERS, LOSSES, OPTIMIZERS, SCHEDULES, REGULARIZERS)
    things = [thing for registry in (*registries, AVERAGES, CLIPPINGS, CONSTRAINTS, SOLVERS) for thing in registry]
    return [thing if isinstance(thing, Description) else thing() for thing in things]


LAYER_ARGUMENTS = {
    "activation": ("leaky_relu",),
    "embedding": (5, 2),
    "ensemble": (md.Linear(2), "relu"),
    "input": (3,),
    "linear": (3,),
    "maxout": (3,),
    "parallel": (md.Linear(2), "relu"),
    "residual": (md.Linear(2), md.BatchNorm()),
    "sequential": (md.Linear(2), md.Parallel(a=md.Linear(1), b=md.nn.Identity()), md.Concat()),
    "standardize": ((0.0, 1.0), (1.0, 2.0)),
    "weight_norm": (md.Linear(2, init=FanScaled(3.0), bias=False),),
}
"What layers need; those that are not here need nothing."


def again(thing: Description) -> Description:
    return Description.from_dict(json.loads(json.dumps(thing.to_dict(), allow_nan=False)))


def label(thing: Description) -> str:
    return f"{thing.registry.kind}-{thing!r}"[:60]


@pytest.mark.parametrize("thing", [*defaults(), *OTHERS], ids=label)
def test_every_description_survives_json(thing):
    found = again(thing)
    assert found == thing
    assert type(found) is type(thing)
    assert KINDS[thing.registry.kind].from_dict(thing.to_dict()) == thing
    assert again(found).to_dict() == thing.to_dict()


@pytest.mark.parametrize(
    "thing", [kind(*LAYER_ARGUMENTS.get(name, ()), trainable=False) for name, kind in LAYERS.items()], ids=label
)
def test_every_layer_survives_json(thing):
    assert again(thing) == thing


@dataclass(frozen=True)
class Shifted(md.MSE):
    by: float = 1.0


def test_descriptions_are_equal_if_class_and_parameters_are():
    assert md.Adam(0.1) == md.Adam(0.1)
    assert hash(md.Adam(0.1)) == hash(md.Adam(0.1))
    assert len({md.Adam(0.1), md.Adam(0.1), md.Adam(0.2), md.optim.AMSGrad(0.1)}) == 3
    assert md.MSE() != md.losses.HalfMSE()
    assert md.MSE() != "mse"
    assert md.optim.schedules.ReduceOnPlateau(0.1, patience=3) != md.optim.schedules.ReduceOnPlateau(0.1, patience=4)
    assert Shifted(2.0) == Shifted(2.0) != Shifted(3.0)
    assert Shifted() != md.MSE() != Shifted()


def test_a_description_shows_its_parameters():
    assert repr(md.Huber(delta=2.0)) == "Huber(delta=2.0)"
    assert repr(md.MSE()) == "MSE()"
    assert repr(md.optim.ClipValue(0.5)) == "ClipValue(limit=0.5)"
    assert repr(Shifted()) == "Shifted(by=1.0)"


@pytest.mark.parametrize("thing", [*defaults(), *OTHERS, Shifted()], ids=label)
def test_no_description_can_be_changed(thing):
    for name in (*(item.name for item in fields(thing)), "anything"):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, 1)
        with pytest.raises(FrozenInstanceError):
            delattr(thing, name)


def test_a_whole_net_survives_json_and_keeps_its_activations():
    net = md.Sequential(md.Linear(4, init=FanScaled(3.0)), md.nn.Activation(lambda x: x * np.tanh(x)), md.Linear(2))
    x = np.ones((3, 5), dtype=np.float32)
    np.testing.assert_array_equal(again(net).init(5, seed=3)(x), net.init(5, seed=3)(x))


def test_one_layer_in_two_places_stays_one_layer():
    tied, free = md.Linear(4), md.Linear(4)
    found = again(md.Sequential(md.Linear(4), tied, md.ReLU(), tied, free))
    layers = found.layers
    assert layers[1] is layers[3]
    assert layers[4] is not layers[1]
    assert layers[0] is not layers[1]


@pytest.mark.parametrize("name", sorted(set(INITIALIZERS.names()) | {"glorot_normal"}))
def test_a_name_and_other_numbers_are_enough(name):
    assert Initializer.from_dict({"name": name}) == Initializer.of(name) == INITIALIZERS[name]
    assert Initializer.of("he_normal", gain=2.0) == FanScaled(2.0, gain=2.0)


@given(
    rate=st.floats(0, 1e10),
    beta=st.floats(0, 1, exclude_max=True),
    decoupled=st.booleans(),
)
def test_every_number_comes_back_to_the_last_digit(rate, beta, decoupled):
    rule = OPTIMIZERS["adam"](rate, beta1=beta, decoupled=decoupled)
    assert again(rule) == rule


THINGS: Registry[type[Thing]] = Registry("thing")


@dataclass(frozen=True)
class Thing(Description):
    registry: ClassVar[Registry[Any]] = THINGS


@dataclass(frozen=True)
class Box(Thing):
    name: ClassVar[str] = "box"
    number: float = 0.0
    count: int | None = None
    mode: Literal["a", "b"] = "a"
    inside: tuple[Thing, ...] = ()
    pair: tuple[int, str] = (1, "x")
    named: dict[str, Description] | None = None
    rule: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Need(Thing):
    name: ClassVar[str] = "need"
    size: int

    def __post_init__(self) -> None:
        if self.size == 13:
            raise RuntimeWarning if self.size < 0 else ZeroDivisionError("no thirteen")


@pytest.mark.parametrize("number", [math.inf, -math.inf, 1e-320, -0.0, 0.1])
def test_floats_that_json_has_no_number_for_come_back(number):
    found = again(Box(number)).number
    assert (found, math.copysign(1.0, found)) == (number, math.copysign(1.0, number))
    assert math.isnan(again(Box(math.nan)).number)


def test_anything_may_stand_inside_anything():
    box = Box(inside=(Box(1.0), Need(3)), named={"a": ClipNorm(), "b": as_activation("relu")})
    assert again(box) == box


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (3, "3 is not a description"),
        ({}, r"thing='' is not a known thing"),
        ({"name": "bx"}, r"thing='bx' is not a known thing. Did you mean 'box'"),
        ({"name": 3}, "name=3 of a thing must be a string"),
        ({"name": ["box"]}, "must be a string"),
        ({"kind": "loss", "name": "mse"}, "kind='loss' is given where a thing is needed"),
        ({"kind": "os.system", "name": "box"}, "kind='os.system' is not a known kind. Known: activation"),
        ({"kind": {}, "name": "box"}, "is not a known kind"),
        ({"name": "box", "size": 3}, "Box has no parameter size. It has: number, count"),
        ({"name": "need"}, "Need needs the parameter size, which is missing"),
        ({"name": "need", "size": 13}, "Need cannot have these parameters: no thirteen"),
        ({"name": "need", "size": 1.5}, "Need: size=1.5 must be int"),
        ({"name": "need", "size": True}, "size=True must be int"),
        ({"name": "need", "size": 2**64}, "more than 64 bits"),
        ({"name": "box", "number": "1", "count": "2"}, "number='1' must be float; count='2' must be int or None"),
        ({"name": "box", "mode": "c"}, "mode='c' must be 'a' or 'b'"),
        ({"name": "box", "inside": [3]}, r"inside=\(3,\) must be"),
        ({"name": "box", "inside": {"kind": "loss", "name": "mse"}}, "inside=MSE"),
        ({"name": "box", "pair": [1]}, "pair="),
        ({"name": "box", "named": {"a": 1}}, "named="),
        ({"name": "box", "named": {1: {"kind": "loss", "name": "mse"}}}, "1 is not the name of a parameter"),
        ({"name": "box", "rule": {"kind": "loss", "name": "mse"}}, "rule=.* must be a formula or None"),
        ({"name": "box", "rule": "lambda x: x"}, "must be a formula"),
        ({"name": "box", "number": {"kind": "float", "name": "1"}}, "its name must be nan, inf or -inf"),
        ({"name": "box", "number": {1, 2}}, "is not a plain value"),
        ({"name": "same", "number": 0}, "refers to number 0, which was not read before"),
        ({"name": "custom"}, "thing='custom' is not a known thing"),
    ],
)
def test_wrong_data_are_refused_with_what_is_wrong(data, text):
    with pytest.raises((ConfigError, UnknownNameError), match=text):
        Thing.from_dict(data)


def test_nesting_without_end_is_refused():
    data: dict[str, Any] = {"kind": "thing", "name": "box"}
    for _ in range(5000):
        data = {"kind": "thing", "name": "box", "inside": [data]}
    with pytest.raises(ConfigError, match="nested more than 256 levels deep"):
        Thing.from_dict(data)
    circle: dict[str, Any] = {"kind": "thing", "name": "box"}
    circle["inside"] = [circle]
    with pytest.raises(ConfigError, match="nested more than 256 levels deep"):
        Thing.from_dict(circle)
    deep = Box()
    for _ in range(300):
        deep = Box(inside=(deep,))
    with pytest.raises(ConfigError, match="nested more than 256 levels deep"):
        deep.to_dict()


def test_what_is_no_plain_value_cannot_be_written():
    with pytest.raises(ConfigError, match=r"Box: rule=<function .* is not a plain value"):
        Box(rule=lambda x: x).to_dict()
    with pytest.raises(ConfigError, match="is not a plain value"):
        Box(named={"kind": Box()}).to_dict()


def test_the_kind_of_class_that_is_asked_for_is_what_comes():
    with pytest.raises(ConfigError, match="name='box' is a Box, and a Need is needed"):
        Need.from_dict({"name": "box"})
    with pytest.raises(ConfigError, match="kind=None is not a known kind"):
        Description.from_dict({"name": "box"})


CUSTOM = [
    as_activation(lambda x: x * np.tanh(x)),
    as_activation(lambda x: x - np.mean(x, axis=1, keepdims=True)),
    as_loss(lambda z, y: np.mean((z - y) ** 4, axis=1)),
    as_optimizer(lambda w, g, v, *, t, lr: (w - lr * v / (1 - 0.9**t), 0.9 * v + 0.1 * g), learning_rate=0.1),
    as_schedule(lambda t: 1 / np.sqrt(t)),
    AdaptiveMoments(gamma=lambda t: 1 / t, lam=0.5),
    CustomPenalty(lambda h: np.mean(np.abs(h)), on="activations"),
    md.Sequential(md.Linear(2), md.nn.Activation(lambda x: 2 * np.sin(x)), md.Residual(md.Linear(2))),
]


@pytest.mark.parametrize("index", range(len(CUSTOM)))
def test_custom_things_are_the_same_when_written_again(index):
    found = again(CUSTOM[index])
    assert found.to_dict() == CUSTOM[index].to_dict()
    assert again(found) == found
    assert hash(again(found)) == hash(found)


def test_a_formula_without_a_name_can_be_replaced():
    found = again(as_activation(np.sin))
    assert isinstance(found, ActivationFunction)
    assert replace(found, name="sine").name == "sine"


def mutated(data: Any, chance: random.Random) -> Any:
    """The data with one thing changed at random, somewhere."""
    data = copy.deepcopy(data)
    places: list[tuple[Any, Any]] = []
    stack = [data]
    while stack:
        item = stack.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
        for key in keys:
            places.append((item, key))
            stack.append(item[key])
    inside, key = chance.choice(places)
    odd = [
        None,
        True,
        -1,
        0,
        1,
        2,
        10**9,
        2**62,
        0.5,
        math.nan,
        "",
        "n",
        "9n-5",
        "relu",
        "sum",
        [],
        {},
        [[]],
        [-1],
        [0, 9],
    ]
    choice = chance.randrange(4)
    if choice == 0:
        del inside[key]
    elif choice == 1:
        inside[key] = chance.choice(odd)
    elif choice == 2:
        other, place = chance.choice(places)
        inside[key] = copy.deepcopy(other[place])
    elif isinstance(inside, dict):
        inside[chance.choice(["kind", "name", "x", "axes"])] = chance.choice(odd)
    else:
        inside.append(chance.choice(odd))
    return data


@pytest.mark.parametrize("thing", [*CUSTOM, *OTHERS], ids=[f"{index}" for index in range(len(CUSTOM) + len(OTHERS))])
def test_data_changed_at_random_give_an_error_of_ours_or_a_description(thing):
    chance = random.Random(0)
    plain = thing.to_dict()
    for _ in range(150):
        data = plain
        for _ in range(chance.randint(1, 3)):
            data = mutated(data, chance)
        try:
            found = Description.from_dict(data)
        except MadalineError:
            continue
        assert again(found).to_dict() == found.to_dict()


def test_references_count_as_what_they_stand_for():
    layer: dict[str, Any] = {"kind": "layer", "name": "identity"}
    for number in range(25):
        layer = {
            "kind": "layer",
            "name": "residual",
            "layers": [layer, {"kind": "layer", "name": "same", "number": number}],
        }
    with pytest.raises(ConfigError, match="expand to more than"):
        Description.from_dict(layer)
    shared = md.Sequential(*[md.Linear(2)] * 20)
    assert len(again(md.Sequential(*[shared] * 100)).layers) == 100
