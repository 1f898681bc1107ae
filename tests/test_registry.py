"""The registry: names in, things out, helpful when the name is wrong."""

from __future__ import annotations

import pytest

from madaline.errors import DuplicateNameError, UnknownNameError
from madaline.registry import Registry


@pytest.fixture
def activations():
    registry = Registry("activation")
    for name in ("relu", "leaky_relu", "elu", "tanh"):
        registry.add(name, name.upper())
    return registry


def test_a_thing_is_found_by_its_name(activations):
    assert activations["tanh"] == "TANH"
    assert activations.find("elu") == "ELU"
    assert "tanh" in activations
    assert "TANH" not in activations
    assert 3 not in activations


def test_iteration_gives_the_things_in_the_order_of_their_names(activations):
    assert list(activations) == ["ELU", "LEAKY_RELU", "RELU", "TANH"]
    assert activations.names() == ("elu", "leaky_relu", "relu", "tanh")
    assert activations.items()[0] == ("elu", "ELU")
    assert len(activations) == 4


def test_a_decorated_thing_is_registered_and_returned_unchanged():
    registry = Registry("loss")

    @registry.register("mse")
    class Squared:
        pass

    assert registry["mse"] is Squared
    assert isinstance(Squared, type)


def test_an_unknown_name_gets_the_nearest_and_all_known_names(activations):
    with pytest.raises(UnknownNameError) as caught:
        activations["ReLu"]
    assert str(caught.value) == (
        "activation='ReLu' is not a known activation. Did you mean 'relu'?\nKnown: elu, leaky_relu, relu, tanh"
    )


@pytest.mark.parametrize(
    ("typed", "meant"), [("LeakyReLU", "leaky_relu"), ("leaky-relu", "leaky_relu"), ("tahn", "tanh"), (" elu ", "elu")]
)
def test_other_spellings_are_recognised(activations, typed, meant):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
        activations[typed]


def test_a_name_like_no_other_gets_no_suggestion(activations):
    with pytest.raises(UnknownNameError) as caught:
        activations["convolution"]
    assert "Did you mean" not in str(caught.value)
    assert "Known: elu" in str(caught.value)


def test_the_message_names_the_argument_the_user_typed(activations):
    with pytest.raises(UnknownNameError, match=r"^hidden_activation='x' is not a known activation"):
        activations.find("x", argument="hidden_activation")
    with pytest.raises(UnknownNameError, match=r"^--activation x is not a known activation"):
        activations.find("x", argument="--activation")
    with pytest.raises(UnknownNameError, match=r"^'x' is not a known activation"):
        activations.find("x", argument="")


@pytest.mark.parametrize("wrong", [3, None, ["relu"], {}])
def test_something_that_is_no_name_gets_the_same_clear_error(activations, wrong):
    with pytest.raises(UnknownNameError, match="is not a known activation"):
        activations[wrong]


def test_an_empty_registry_says_that_it_knows_nothing():
    with pytest.raises(UnknownNameError, match="Known: none"):
        Registry("loss")["mse"]


def test_a_name_is_given_only_once(activations):
    with pytest.raises(DuplicateNameError, match="name='relu' already names the activation 'RELU'"):
        activations.add("relu", "another")
    assert activations["relu"] == "RELU"


@pytest.mark.parametrize("name", ["ReLU", "", " relu"])
def test_a_name_must_be_one_that_a_user_can_type(name):
    with pytest.raises(ValueError, match="must be lowercase"):
        Registry("activation").add(name, object())


def test_an_alias_finds_the_thing_and_is_not_iterated_over(activations):
    activations.add("swish", "SWISH", aliases=("silu", "sil"))
    assert activations["silu"] == activations["swish"] == "SWISH"
    assert "silu" in activations
    assert list(activations) == ["ELU", "LEAKY_RELU", "RELU", "SWISH", "TANH"]
    assert activations.names() == ("elu", "leaky_relu", "relu", "swish", "tanh")
    assert len(activations) == len(activations.items()) == 5
    assert activations.aliases("swish") == ("sil", "silu")
    assert activations.aliases("relu") == ()
    with pytest.raises(UnknownNameError, match=r"Did you mean 'silu'\?\nKnown: elu, leaky_relu, relu, sil, silu"):
        activations["sill_u"]


@pytest.mark.parametrize(("name", "aliases"), [("silu", ()), ("new", ("silu",)), ("new", ("relu",)), ("new", ("Big",))])
def test_an_alias_is_a_name_like_any_other_and_a_refused_thing_leaves_no_trace(activations, name, aliases):
    activations.add("swish", "SWISH", aliases=("silu",))
    with pytest.raises(ValueError, match=r"already names|must be lowercase"):
        activations.add(name, "another", aliases=aliases)
    assert "new" not in activations
    assert activations["silu"] == "SWISH"
