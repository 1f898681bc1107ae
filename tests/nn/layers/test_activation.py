"""Activation layers are classes, one for each activation of the registry."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, UnknownNameError
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.layer import Layer
from madaline.nn.layers import activation as layers

TITLES = [thing.title for thing in ACTIVATIONS if thing.formula.__module__.startswith("madaline.")]
each_title = pytest.mark.parametrize("title", TITLES)


@each_title
def test_an_activation_layer_is_an_object_of_its_class(title):
    kind = getattr(layers, title)
    assert inspect.isclass(kind)
    assert issubclass(kind, layers.Activation)
    layer = kind()
    assert type(layer) is kind
    assert isinstance(layer, Layer)
    assert not isinstance(layer, layers.PReLU)
    others = [other for other in TITLES if other != title]
    assert not any(isinstance(layer, getattr(layers, other)) for other in others)
    assert repr(layer) == f"{title}()"
    assert kind.__doc__ == layer.function.__doc__


@each_title
def test_a_layer_made_by_name_is_of_that_class_and_equal(title):
    kind = getattr(layers, title)
    name = kind().function.name
    for made in (layers.Activation(name), md.Sequential(name)[0], layers.Activation(ACTIVATIONS[name])):
        assert type(made) is kind
        assert made == kind()
        assert hash(made) == hash(kind())


@each_title
def test_a_layer_is_copied_pickled_and_saved_as_its_class(title):
    kind = getattr(layers, title)
    parameters = {name: type(value)(2) for name, value in kind().function.parameters if name != "axis"}
    layer = kind(trainable=False, **parameters)
    again = (
        copy.copy(layer),
        copy.deepcopy(layer),
        pickle.loads(pickle.dumps(layer)),
        Layer.from_dict(layer.to_dict()),
        layers.Activation.from_dict(layer.to_dict()),
    )
    for one in again:
        assert type(one) is kind
        assert one == layer
        assert repr(one) == repr(layer)
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert layer.to_dict()["name"] == "activation"


def test_the_classes_take_the_parameters_of_the_formula():
    leaky = layers.LeakyReLU(slope=0.25)
    assert isinstance(leaky, layers.LeakyReLU)
    assert leaky != layers.LeakyReLU()
    assert repr(leaky) == "LeakyReLU(slope=0.25)"
    assert list(inspect.signature(layers.LeakyReLU).parameters) == ["slope", "trainable"]
    assert inspect.signature(layers.LeakyReLU).parameters["slope"].default == 0.01
    with pytest.raises(UnknownNameError, match="alpha=1 is not a parameter of the activation 'leaky_relu'"):
        layers.LeakyReLU(alpha=1)
    with pytest.raises(TypeError):
        layers.ReLU("tanh")


def test_a_class_instead_of_a_layer_is_refused():
    with pytest.raises(ConfigError, match=r"ReLU is a class. Pass a layer: ReLU\(\.\.\.\)\."):
        md.Sequential(md.Linear(2), layers.ReLU)


def test_a_function_without_a_name_is_a_plain_activation_layer():
    layer = layers.Activation(lambda x: x * np.tanh(x))
    assert type(layer) is layers.Activation
    assert not isinstance(layer, layers.Tanh)


def test_a_registered_custom_activation_has_a_class_too(run_python):
    """In a new interpreter, since registering stays."""
    code = """
import pickle
import numpy as np, madaline as md
from madaline.nn.activation_function import activation
from madaline.nn.layers.activation import Activation

@activation(init="he_normal")
def own_rectifier(x, *, power=2.0):
    "Power of a rectifier."
    return np.maximum(x, 0.0) ** power

layer = Activation("own_rectifier", power=3.0)
assert repr(layer) == "OwnRectifier(power=3.0)", repr(layer)
assert type(layer).__name__ == "OwnRectifier"
assert isinstance(Activation(own_rectifier), type(layer))
assert pickle.loads(pickle.dumps(layer)) == layer
assert type(pickle.loads(pickle.dumps(layer))) is type(layer)
assert Activation.from_dict(layer.to_dict()) == layer
"""
    run = run_python(code)
    assert run.returncode == 0, run.stderr
