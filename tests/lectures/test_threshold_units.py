"""Threshold logic units, and any Boolean function built of them. Lecture row E1."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import madaline as md

TWO = np.array(list(product([0, 1], repeat=2)))
THREE = np.array(list(product([0, 1], repeat=3)))


def unit(weights, bias):
    """f(x) = 1{<w, x> + b >= 0}."""
    model = md.Sequential(md.Linear(1), md.nn.Step()).init(len(weights))
    model.params["0.W"], model.params["0.b"] = np.reshape(weights, (-1, 1)), [bias]
    return model


def test_or_and_and_not_have_the_weights_of_the_lecture():  # E1
    a, b = TWO.T
    np.testing.assert_array_equal(unit([1, 1], -0.5)(TWO)[:, 0], a | b)
    np.testing.assert_array_equal(unit([1, 1], -1.5)(TWO)[:, 0], a & b)
    np.testing.assert_array_equal(unit([-1], 0.5)([[0], [1]])[:, 0], [1, 0])


def test_a_unit_fires_at_its_threshold():  # E1
    """>= 0, as the lecture defines the unit (the Mark I slide has > 0)."""
    np.testing.assert_array_equal(unit([1, 1], -1.0)(TWO)[:, 0], [0, 1, 1, 1])


def boolean_net(truth):
    """An or of ands: one hidden unit for each row of inputs for which the function is true.

    The unit of the row (1, 0, 1) is a and (not b) and c: 1{a - b + c - 1.5 >= 0}.
    """
    rows = THREE[truth]
    model = md.Sequential(md.Linear(max(len(rows), 1)), md.nn.Step(), md.Linear(1), md.nn.Step()).init(3)
    model.params["0.W"] = 2 * rows.T - 1 if len(rows) else np.zeros((3, 1))
    model.params["0.b"] = 0.5 - rows.sum(axis=1) if len(rows) else [-0.5]
    model.params["2.W"][...], model.params["2.b"][...] = 1.0, -0.5
    return model


def test_every_boolean_function_of_three_inputs_can_be_built():  # E1
    """All 256; XOR of three inputs, which no single unit computes, is among them."""
    for truth in product([False, True], repeat=8):
        np.testing.assert_array_equal(boolean_net(np.array(truth))(THREE)[:, 0], truth)


def test_a_composition_of_not_or_and_and_is_a_net_too():  # E1
    """xor(a, b) = and(or(a, b), not(and(a, b))), unit by unit."""
    either, both = unit([1, 1], -0.5)(TWO), unit([1, 1], -1.5)(TWO)
    xor = unit([1, 1], -1.5)(np.hstack([either, unit([-1], 0.5)(both)]))
    np.testing.assert_array_equal(xor[:, 0], [0, 1, 1, 0])


@pytest.mark.parametrize(
    "layer", [md.Linear(1), md.Sequential(md.Linear(4), md.nn.Step(), md.Linear(1))], ids=["one", "two"]
)
def test_nothing_is_learned_through_a_step(layer):  # E1
    """Its slope is 0, so the layers before it get no gradient: what perceptron rules and sigmoids are for."""
    model = md.Sequential(layer, md.nn.Step()).init(2, dtype="float64")
    slope = md.grad(lambda w: np.sum(model.network.run(w, model.state.flat, TWO + 0.0).outputs[""]))(model.params.flat)
    np.testing.assert_array_equal(slope, 0.0)
