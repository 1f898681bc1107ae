"""A user's functions as their graphs: the same bits, the same gradients, for other sizes and types, without code."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import madaline as md
from madaline.description import Description
from madaline.errors import ConfigError, MadalineError, ShapeError
from madaline.graph.as_formula import as_formula
from madaline.graph.formula import Formula
from madaline.graph.shapes import Rows
from madaline.losses.custom import CustomLoss, as_loss
from madaline.nn.activation_function import as_activation
from madaline.optim.moments import AdaptiveMoments
from madaline.optim.optimizer import as_optimizer
from madaline.optim.regularizers import CustomPenalty, Regularizer
from madaline.optim.schedule import as_schedule
from madaline.optim.sgd import SGD

both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
N = Rows()


def again(thing: Description) -> Description:
    return Description.from_dict(json.loads(json.dumps(thing.to_dict(), allow_nan=False)))


def assert_same(function, found, *args, rows=(0,)):
    """Values and gradients, compiled and not, to the last bit."""
    for a, b in ((function, found), (md.compile(function, rows=rows), md.compile(found, rows=rows))):
        expected = a(*args)
        np.testing.assert_array_equal(b(*args), expected)
        assert np.asarray(b(*args)).dtype == np.asarray(expected).dtype
    slopes = [md.grad(lambda x, f=f: np.sum(f(x, *args[1:]) ** 2))(args[0]) for f in (function, found)]
    np.testing.assert_array_equal(slopes[1], slopes[0])


ACTIVATIONS = {
    "product": lambda x: x * np.tanh(x),
    "constants": lambda x: 0.1 * x**3 + np.where(x > 0.3, x, 1e-3),
    "like": lambda x: np.where(x > 0, x, np.zeros_like(x)) + np.ones_like(x),
    "precision": lambda x: x + np.finfo(x.dtype).eps,
    "softmax": lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
    "centred": lambda x: x - np.mean(x, axis=1, keepdims=True),
    "normed": lambda x: (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5),
    "whole batch": lambda x: x / np.mean(np.abs(x)),
    "constant": np.ones_like,
}


@both_types
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_the_same_for_other_batches_widths_and_types(name, dtype, rng):
    function = as_activation(ACTIVATIONS[name])
    found = again(function)
    assert (found.name, found.elementwise) == (function.name, function.elementwise)
    for shape in ((1, 2), (4, 3), (7, 40)):
        assert_same(function, found, rng.normal(size=shape).astype(dtype))


def test_an_elementwise_activation_takes_any_shape(rng):
    found = again(as_activation(ACTIVATIONS["like"]))
    for shape in ((), (5,), (2, 3, 4), (2, 1, 3, 2)):
        x = rng.normal(size=shape)
        np.testing.assert_array_equal(found(x), ACTIVATIONS["like"](x))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x / x.shape[-1] ** 0.5, "depends on the sizes of its arguments"),
        (lambda x: x * np.arange(x.shape[-1]), "depends on the sizes of its arguments"),
        (lambda x: np.concatenate([np.sin(x[:, :1]), x[:, 1:]], axis=1), "depends on the sizes of its arguments"),
        (lambda x: x if x.shape[-1] % 2 else -x, "depends on the sizes of its arguments"),
    ],
)
def test_an_activation_that_depends_on_its_width_is_not_saved_wrongly(function, text):
    with pytest.raises(ConfigError, match=text):
        as_activation(function).to_dict()


LOSSES = {
    "rows": lambda z, y: np.mean((z - y) ** 4, axis=1),
    "whole": lambda z, y: np.mean(np.abs(z - y)),
    "classes": lambda z, y: md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], axis=1)[:, 0],
    "sum": lambda z, y: np.sum(np.where(np.abs(z - y) < 1, (z - y) ** 2, 0.5), axis=-1),
}


@both_types
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_the_same_for_other_batches_and_widths(name, dtype, rng):
    loss = as_loss(LOSSES[name])
    found = again(loss)
    for shape in ((1, 1), (5, 3), (6, 12)):
        y = rng.integers(0, shape[1], size=shape[0]) if name == "classes" else rng.normal(size=shape).astype(dtype)
        assert_same(loss, found, rng.normal(size=shape).astype(dtype), y, rows=(0, 1))
        found.check(shape, y)


def test_a_loss_that_depends_on_its_width_is_saved_for_the_widths_it_is_told(rng):
    def ranked(z, y):
        return np.sum(np.arange(z.shape[1]) * (z - y) ** 2, axis=1)

    z, y = rng.normal(size=(4, 12)), rng.normal(size=(4, 12))
    with pytest.raises(ShapeError, match=r"was saved for other arguments than float64 \(4, 12\), float64 \(4, 12\)"):
        again(CustomLoss(ranked))(z, y)
    assert_same(CustomLoss(ranked), again(CustomLoss(ranked).traced(z, y)), z, y, rows=(0, 1))


def test_a_loss_that_cannot_be_traced_says_so():
    def branching(z, y):
        return z[:, 0] if np.sum(z) > 0 else y[:, 0]

    with pytest.raises(
        ConfigError, match="The loss branching: The function cannot be saved, since it cannot be traced"
    ):
        CustomLoss(branching).to_dict()


def adam(w, g, m, v, *, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


def normed(w, g, *, t, lr):
    return w - lr * g * np.sqrt(np.sum(w * w) / (np.mean(g * g) + 1e-9))


@both_types
@pytest.mark.parametrize("rates", [False, True])
@pytest.mark.parametrize("rule", [adam, normed])
def test_an_update_rule_is_the_same_for_any_number_of_parameters(rule, rates, dtype, rng):
    given = as_optimizer(rule, learning_rate=0.1, weight_decay=1e-3)
    found = again(given)
    assert found.slots == given.slots
    assert (found.learning_rate, found.weight_decay) == (0.1, 1e-3)

    def step(optimizer):
        def one(w, g, t, lr, rate):
            slots = tuple(np.zeros_like(w) for _ in optimizer.slots)
            new, kept = optimizer.step(w, g, slots, t=t, lr=lr, rate=rate if rates else None)
            return (new, *kept)

        return md.compile(one)

    for n in (1, 6, 100):
        args = [
            rng.normal(size=n).astype(dtype),
            rng.normal(size=n).astype(dtype),
            dtype(3),
            dtype(0.1),
            np.ones(n, dtype),
        ]
        for a, b in zip(step(given)(*args), step(found)(*args), strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == dtype
    w = rng.normal(size=9)
    expected, _ = given.step(w, w, given.state(w), t=2)
    by_numpy, _ = found.step(w, w, found.state(w), t=2)
    np.testing.assert_allclose(by_numpy, expected, rtol=1e-14)


@pytest.mark.parametrize("function", [lambda t: 1 / t, lambda t: np.where(t > 3, 0.5, 1.0), lambda t: 0.9 ** (t // 2)])
def test_a_schedule_has_the_same_table(function):
    given = as_schedule(function)
    found = again(given)
    np.testing.assert_allclose(found.table(50), given.table(50), rtol=1e-15)
    assert found.rate(7) == pytest.approx(given.rate(7), rel=1e-15)
    product = again(given.then(as_schedule("cosine"), after=10))
    np.testing.assert_allclose(product.table(30), given.then(as_schedule("cosine"), after=10).table(30), rtol=1e-15)


@pytest.mark.parametrize(
    "rule",
    [
        SGD(0.1, momentum=lambda t: t / (t + 3), nesterov=True),
        AdaptiveMoments(0.1, gamma=1.0, lam=lambda t: 1 / t),
        AdaptiveMoments(0.1, gamma=lambda t: np.maximum(0.1, 1 / t), lam=lambda t: 0.5**t),
    ],
    ids=["nesterov", "adagrad", "both"],
)
def test_coefficients_that_vary_with_the_step_are_saved(rule, rng):
    found = again(rule)
    w = v = rng.normal(size=5)
    kept, slots = rule.state(w), found.state(w)
    for t in range(1, 6):
        g = rng.normal(size=5)
        w, kept = rule.step(w, g, kept, t=t)
        v, slots = found.step(v, g, slots, t=t)
        np.testing.assert_allclose(v, w, rtol=1e-14)


@both_types
@pytest.mark.parametrize("on", ["weights", "matrix", "activations"])
def test_a_penalty_is_the_same_for_other_sizes(on, dtype, rng):
    given = CustomPenalty(lambda w: 0.1 * np.sum(np.abs(w) ** 1.5) + np.mean(w), on=on)
    found = again(given)
    assert found.on == on
    shapes = {"weights": [(1,), (7,), (300,)], "matrix": [(2, 9), (20, 30)], "activations": [(1, 6), (50, 8)]}
    for shape in shapes[on]:
        assert_same(given, found, rng.normal(size=shape).astype(dtype), rows=(0,) if on == "activations" else ())


def test_a_function_is_a_regularizer():
    assert Regularizer.of(np.sum) == CustomPenalty(np.sum)
    with pytest.raises(ConfigError, match="on='biases' must be 'weights' or 'matrix' or 'activations'"):
        CustomPenalty(np.sum, on="biases")


WIDTHS = [[[((N, width), np.float64)] for width in range(1, 5)]]


def test_formulas_are_equal_if_their_graphs_are():
    first, second = (as_formula(lambda x: np.sin(x) * 2, WIDTHS) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != as_formula(lambda x: np.sin(x) * 3, WIDTHS)
    assert repr(first) == "<formula of x>"
    assert as_formula(first, WIDTHS) is first
    for copied in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first), again(first)):
        assert copied == first
        np.testing.assert_array_equal(copied(np.ones((2, 2))), first(np.ones((2, 2))))


def test_other_arguments_than_it_was_traced_for_are_refused():
    formula = as_formula(lambda x: np.sum(x, axis=1), WIDTHS)
    for wrong in (np.ones((2, 3), np.float32), np.ones(3), np.ones((2, 3, 4)), 1.0):
        with pytest.raises(
            ShapeError, match=r"was saved for other arguments than .* It was traced for: float64 \(n, 4\)"
        ):
            formula(wrong)
    with pytest.raises(ShapeError, match="was saved for other arguments"):
        formula(np.ones((2, 3)), np.ones((2, 3)))


def test_a_width_below_those_that_are_alike_has_its_own_graph(rng):
    def first_two(x):
        return np.sum(x[:, :2], axis=1)

    formula = as_formula(first_two, WIDTHS)
    for width in (1, 2, 3, 10):
        x = rng.normal(size=(5, width))
        np.testing.assert_array_equal(formula(x), first_two(x))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(variants=[]),
        lambda data: data.update(variants=3),
        lambda data: data.update(more=3),
        lambda data: data["variants"][0].pop("sizes"),
        lambda data: data["variants"][0].update(sizes=[[99, 0, [1]]]),
        lambda data: data["variants"][0].update(sizes=[[0, 0, [1]]]),
        lambda data: data["variants"][0]["inputs"][0].pop("free"),
        lambda data: data["variants"][0]["inputs"][0].update(free=[1]),
        lambda data: data["variants"][0].update(outputs=[]),
        lambda data: data["variants"][0].update(inputs=[]),
        lambda data: data.update(name="pickle"),
    ],
)
def test_data_that_are_no_formula_are_refused(change):
    data = as_formula(lambda x: np.mean(x, axis=1), WIDTHS).to_dict()
    change(data)
    with pytest.raises(MadalineError):
        Formula.from_dict(data)
