"""One sweep over the activations: limits, slopes, saturation, gains, precision, names."""

from __future__ import annotations

import copy
import math
import pickle
import re

import numpy as np
import pytest

import madaline as md
from agreement import ISAS, ROUNDINGS, needs_core, run_native, run_reference
from madaline.errors import DtypeError, ShapeError, TraceError, UnknownNameError
from madaline.nn import activations
from madaline.nn.activation_function import ACTIVATIONS, FLAT, ActivationFunction, as_activation
from madaline.nn.initializers import INITIALIZERS

ALL = [thing for name, thing in ACTIVATIONS.items() if getattr(activations, name, None) is thing]
ELEMENTWISE = [thing for thing in ALL if thing.elementwise]
VARIANTS = [
    *ELEMENTWISE,
    activations.leaky_relu.with_parameters(slope=0.2),
    activations.leaky_relu.with_parameters(slope=0.001),
    activations.elu.with_parameters(alpha=0.5),
    activations.elu.with_parameters(alpha=0.005),
    activations.celu.with_parameters(alpha=2.0),
    activations.softplus.with_parameters(beta=3.0),
    activations.swish.with_parameters(beta=2.0),
    activations.threshold.with_parameters(theta=-1.0, value=2.0),
]
each = pytest.mark.parametrize("activation", ALL, ids=repr)
each_elementwise = pytest.mark.parametrize("activation", ELEMENTWISE, ids=repr)
each_variant = pytest.mark.parametrize("activation", VARIANTS, ids=repr)

inf, nan = math.inf, math.nan
EDGES = np.array([-inf, -1e30, -0.0, 0.0, 1e30, inf])
# Values and slopes at EDGES. Where a slope at 1e30 is not yet its limit, it is tiny.
LIMITS = {
    "celu": ([-1, -1, 0, 0, 1e30, inf], [0, 0, 1, 1, 1, 1]),
    "elu": ([-1, -1, 0, 0, 1e30, inf], [0, 0, 1, 1, 1, 1]),
    "gelu": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0.5, 0.5, 1, 1]),
    "gelu_tanh": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0.5, 0.5, 1, 1]),
    "hard_sigmoid": ([0, 0, 0.5, 0.5, 1, 1], [0, 0, 1 / 6, 1 / 6, 0, 0]),
    "hard_swish": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0.5, 0.5, 1, 1]),
    "hard_tanh": ([-1, -1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]),
    "hardshrink": ([-inf, -1e30, 0, 0, 1e30, inf], [1, 1, 0, 0, 1, 1]),
    "identity": ([-inf, -1e30, 0, 0, 1e30, inf], [1, 1, 1, 1, 1, 1]),
    "leaky_relu": ([-inf, -1e28, 0, 0, 1e30, inf], [0.01, 0.01, 0.01, 0.01, 1, 1]),
    "log_sigmoid": ([-inf, -1e30, -math.log(2), -math.log(2), 0, 0], [1, 1, 0.5, 0.5, 0, 0]),
    "mish": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0.6, 0.6, 1, 1]),
    "relu": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0, 0, 1, 1]),
    "relu6": ([0, 0, 0, 0, 6, 6], [0, 0, 0, 0, 0, 0]),
    "selu": ([-1.7580993408473766, -1.7580993408473766, 0, 0, 1.0507009873554805e30, inf],
             [0, 0, 1.7580993408473766, 1.7580993408473766, 1.0507009873554805, 1.0507009873554805]),
    "shifted_relu": ([-1, -1, 0, 0, 1e30, inf], [0, 0, 1, 1, 1, 1]),
    "sigmoid": ([0, 0, 0.5, 0.5, 1, 1], [0, 0, 0.25, 0.25, 0, 0]),
    "sinc": ([0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]),
    "softplus": ([0, 0, math.log(2), math.log(2), 1e30, inf], [0, 0, 0.5, 0.5, 1, 1]),
    "softshrink": ([-inf, -1e30, 0, 0, 1e30, inf], [1, 1, 0, 0, 1, 1]),
    "softsign": ([-1, -1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]),
    "step": ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]),
    "swish": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0.5, 0.5, 1, 1]),
    "tanh": ([-1, -1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]),
    "tanh_shrink": ([-inf, -1e30, 0, 0, 1e30, inf], [1, 1, 0, 0, 1, 1]),
    "threshold": ([0, 0, 0, 0, 1e30, inf], [0, 0, 0, 0, 1, 1]),
}  # fmt: skip


def slopes(activation, x):
    """By reverse mode; forward mode must say the same."""
    value, pullback = md.vjp(activation, x)
    (found,) = pullback(np.ones_like(value))
    _, forward = md.jvp(activation, (x,), (np.ones_like(x),))
    np.testing.assert_allclose(forward, found, rtol=1e-5 if x.dtype == np.float32 else 1e-12, atol=1e-15)
    return found


def test_all_of_the_lectures_are_there():  # A3, B5, D1
    figure = "sigmoid, tanh, relu, elu, step, softplus, softsign, log_sigmoid, swish, sinc, leaky_relu, mish"
    others = "identity, softmax, log_softmax, gelu, selu, hard_sigmoid, hard_tanh, relu6, hard_swish, shifted_relu"
    assert set(f"{figure}, {others}".split(", ")) <= set(ACTIVATIONS.names())
    assert set(figure.split(", ")) <= set(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_slopes_are_exact_at_the_edges(name, dtype):
    activation = ACTIVATIONS[name]
    values, expected_slopes = (np.array(expected, dtype=dtype) for expected in LIMITS[name])
    x = EDGES.astype(dtype)
    tolerance = {"rtol": 4 * np.finfo(dtype).eps, "atol": 1e-29}  # 1e-29: what sinc has at 1e30
    np.testing.assert_allclose(activation(x), values, **tolerance)
    np.testing.assert_allclose(md.compile(activation)(x), values, **tolerance)
    np.testing.assert_allclose(slopes(activation, x), expected_slopes, **tolerance)


@each_elementwise
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_overflows_or_divides_by_zero(activation, dtype):
    largest = np.finfo(dtype).max / 2  # selu is 1.05 times a large number
    x = np.array([-inf, -largest, -1e30, -1000.0, -1.0, -0.0, 0.0, 1.0, 1000.0, 1e30, largest, inf], dtype=dtype)
    with np.errstate(over="raise", divide="raise"):
        y = activation.formula(x, **dict(activation.parameters))
    assert np.isfinite(y[1:-1]).all()


@each_elementwise
def test_nan_stays_nan_without_a_warning(activation):
    assert np.isnan(activation(np.array([nan]))).all()
    assert np.isnan(md.compile(activation)(np.array([nan]))).all()


@each_elementwise
def test_slopes_agree_with_central_differences(activation):
    x = np.linspace(-7.3, 7.3, 98)  # no kink within a step of any of them
    h = 1e-5
    differences = (activation(x + h) - activation(x - h)) / (2 * h)
    np.testing.assert_allclose(slopes(activation, x), differences, rtol=1e-8, atol=1e-9)


@each_elementwise
def test_second_derivatives_agree_with_differences_of_the_first(activation):
    x = np.linspace(-7.3, 7.3, 98)
    h = 1e-5
    differences = (slopes(activation, x + h) - slopes(activation, x - h)) / (2 * h)
    found = md.grad(lambda x: np.sum(md.grad(lambda x: np.sum(activation(x)))(x)))(x)
    np.testing.assert_allclose(found, differences, rtol=1e-7, atol=1e-8)


@each
def test_md_check_gradient_agrees(activation, rng):
    x = rng.uniform(0.1, 0.4, size=(3, 4)) * rng.choice([-1.0, 1.0], size=(3, 4))
    w = rng.normal(size=(3, 4))
    assert md.check_gradient(lambda x: np.sum(w * activation(x)), x)


@each
def test_arrays_and_traced_values_give_the_same_in_their_own_type(activation, rng):
    for dtype in (np.float32, np.float64):
        x = (3.0 * rng.normal(size=(20, 7))).astype(dtype)
        y = activation(x)
        compiled = md.compile(activation, rows=[0])(x)
        assert y.dtype == compiled.dtype == dtype
        np.testing.assert_allclose(compiled, y, rtol=20 * np.finfo(dtype).eps, atol=20 * np.finfo(dtype).eps)


@each
def test_float32_is_a_few_roundings_from_float64(activation, rng):
    """Measured in roundings of the numbers that occur on the way: of 1, of x and of the result."""
    x = np.concatenate([rng.uniform(-12.0, 12.0, 400), rng.normal(size=112)]).reshape(16, 32).astype(np.float32)
    eps = float(np.finfo(np.float32).eps)
    exact = activation(x.astype(np.float64))
    bound = 6 * eps * (np.maximum(1.0, np.abs(x)) if activation.name in ("tanh_shrink", "log_softmax") else 1.0)
    np.testing.assert_array_less(np.abs(md.compile(activation)(x) - exact), bound + 6 * eps * np.abs(exact))
    w = np.cos(np.arange(x.size)).reshape(x.shape)
    (exact_bar,) = md.vjp(activation, x.astype(np.float64))[1](w)
    (x_bar,) = md.vjp(activation, x)[1](w.astype(np.float32))
    np.testing.assert_array_less(np.abs(x_bar - exact_bar), 30 * eps * (1.0 + np.abs(exact_bar)))


@needs_core
@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_native_core_agrees_with_the_reference_on_every_instruction_set(activation, dtype, rng):
    x = np.concatenate([3.0 * rng.normal(size=103), [0.0, -0.0, 50.0, -50.0, 700.0]]).astype(dtype)
    x = x.reshape(12, 9)
    graph = md.trace(lambda x: (activation(x), md.grad(lambda x: np.sum(activation(x) * x))(x)), x)
    expected = run_reference(graph, [x])
    eps = float(np.finfo(dtype).eps)
    for isa in ISAS:
        for found, by_numpy in zip(run_native(graph, [x], isa=isa), expected, strict=True):
            np.testing.assert_allclose(found, by_numpy, rtol=ROUNDINGS * eps, atol=ROUNDINGS * eps, err_msg=isa)


@each_variant
def test_outside_its_saturation_range_it_is_flat_and_just_inside_it_is_not(activation):
    steep = np.abs(slopes(activation, np.arange(-120.0005, 120.0, 1e-3))) >= FLAT * (1.0 - 1e-6)
    x = np.arange(-120.0005, 120.0, 1e-3)
    if activation.saturation is None:
        assert steep[0]
        assert steep[-1]
        return
    low, high = activation.saturation
    assert not steep[(x < low) | (x > high)].any()
    if low < high:
        assert x[steep][0] <= max(low, x[0]) + 0.002
        assert x[steep][-1] >= min(high, x[-1]) - 0.002


@each_variant
def test_the_gain_keeps_the_second_moment_by_monte_carlo(activation, rng):
    """Weights of variance gain^2 / n_in give the next layer's sums variance 1."""
    squares = (activation.gain * activation(rng.normal(size=200_000))) ** 2
    assert squares.mean() == pytest.approx(1.0, abs=4 * squares.std() / np.sqrt(squares.size))


def test_gains_known_in_closed_form():
    assert activations.relu.gain == pytest.approx(math.sqrt(2.0), rel=1e-6)  # He et al. 2015
    assert activations.leaky_relu.with_parameters(slope=0.3).gain == pytest.approx(math.sqrt(2.0 / 1.09), rel=1e-6)
    assert activations.selu.gain == pytest.approx(1.0, abs=1e-6)  # self-normalising
    assert activations.identity.gain == pytest.approx(1.0, rel=1e-6)
    assert activations.step.gain == pytest.approx(math.sqrt(2.0), rel=1e-6)
    assert activations.softmax.gain == 1.0


@each
def test_it_recommends_an_initializer_that_exists_and_says_what_it_computes(activation):
    assert activation.init in INITIALIZERS
    assert ":math:" in activation.__doc__


def test_slopes_at_kinks_are_as_documented():
    """Those of the recorded answers of PyTorch; here by hand."""
    at = [
        ("relu", 0.0, 0.0), ("leaky_relu", 0.0, 0.01), ("elu", 0.0, 1.0), ("shifted_relu", -1.0, 0.0),
        ("hard_tanh", 1.0, 0.0), ("hard_tanh", -1.0, 0.0), ("hard_sigmoid", 3.0, 0.0), ("relu6", 6.0, 0.0),
        ("hard_swish", -3.0, 0.0), ("hard_swish", 3.0, 1.0), ("softshrink", 0.5, 0.0), ("hardshrink", -0.5, 0.0),
        ("threshold", 1.0, 0.0), ("step", 0.0, 0.0), ("selu", 0.0, 1.7580993408473766),
    ]  # fmt: skip
    for name, x, slope in at:
        assert md.grad(ACTIVATIONS[name])(x) == pytest.approx(slope), name


def test_sinc_is_exact_near_0_where_the_quotient_would_cancel():
    x = np.array([1e-12, 1e-8, 1e-4, 1e-2, 0.4999999, 0.5000001])
    np.testing.assert_allclose(activations.sinc(x), np.sin(x) / x, rtol=1e-15)
    series = -x / 3 + x**3 / 30 - x**5 / 840 + x**7 / 45360 - x**9 / 3991680 + x**11 / 518918400
    np.testing.assert_allclose(slopes(activations.sinc, x), series, rtol=1e-13)


def test_softmax_sums_to_one_and_takes_minus_infinity_and_huge_numbers(rng):  # E8
    x = np.array([[1e4, 0.0, -inf], [1.0, 2.0, 3.0]])
    p = activations.softmax(x)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(p[0], [1.0, 0.0, 0.0])
    assert not np.isnan(md.vjp(activations.softmax, x)[1](rng.normal(size=x.shape))[0]).any()
    np.testing.assert_allclose(np.exp(activations.log_softmax(x)), p, rtol=1e-15)
    np.testing.assert_allclose(activations.softmax(x[1:], axis=0), 1.0)


def test_maxout_is_the_largest_of_k_pieces(rng):  # B5
    z = rng.normal(size=(5, 12))
    y = activations.maxout(z, 3)
    np.testing.assert_array_equal(y, np.stack([z[:, 3 * j : 3 * j + 3].max(axis=1) for j in range(4)], axis=1))
    np.testing.assert_array_equal(md.compile(lambda z: activations.maxout(z, 3), rows=[0])(z), y)
    slope = md.grad(lambda z: np.sum(activations.maxout(z, 3)))(z)
    np.testing.assert_array_equal(slope, z == np.repeat(y, 3, axis=1))
    relu_pieces = np.stack([z, np.zeros_like(z)], axis=-1).reshape(5, 24)
    np.testing.assert_array_equal(activations.maxout(relu_pieces, 2), activations.relu(z))
    with pytest.raises(ShapeError, match=r"The 12 columns of z are not a multiple of k=5 pieces per unit"):
        activations.maxout(z, 5)


def test_learned_rectifiers_differ_by_unit_and_have_slopes_by_their_parameters(rng):  # B5
    x, slope, shift = rng.normal(size=(6, 3)), np.array([0.1, 0.0, -0.5]), np.array([-1.0, 0.5, 0.0])
    np.testing.assert_array_equal(activations.prelu(x, slope), np.where(x > 0, x, slope * x))
    y = activations.shifted_rectifier(x, slope, shift)
    np.testing.assert_allclose(y, np.where(x > shift, x, shift + slope * (x - shift)), rtol=1e-14)
    np.testing.assert_allclose(activations.shifted_rectifier(x, 0.0, -1.0), activations.shifted_relu(x), rtol=1e-14)
    assert md.check_gradient(lambda *args: np.sum(activations.shifted_rectifier(*args) ** 2), x, slope, shift)
    assert activations.prelu(x.astype(np.float32), slope.astype(np.float32)).dtype == np.float32


def test_parameters_can_be_changed_and_are_what_tells_two_apart():
    leaky = activations.leaky_relu
    steep = leaky.with_parameters(slope=0.2)
    assert steep != leaky
    assert steep == leaky.with_parameters(slope=0.2)
    assert len({leaky, steep, leaky.with_parameters(slope=0.2)}) == 2
    assert repr(steep) == "leaky_relu(slope=0.2)"
    assert steep(-1.0) == leaky(-1.0, slope=0.2) == -0.2
    assert repr(leaky) == "leaky_relu(slope=0.01)"


@each_variant
def test_it_can_be_copied_and_pickled(activation):
    for again in (pickle.loads(pickle.dumps(activation)), copy.deepcopy(activation)):
        assert again == activation
        assert again.saturation == activation.saturation


def test_a_wrong_parameter_is_named():
    with pytest.raises(UnknownNameError, match=re.escape("slop=0.1 is not a parameter of the activation 'leaky_relu'")):
        activations.leaky_relu.with_parameters(slop=0.1)
    with pytest.raises(UnknownNameError, match="Known: none"):
        activations.relu.with_parameters(slope=0.1)
    for wrong in ("0.1", nan, True, None):
        with pytest.raises(DtypeError, match=r"must be a finite number, like 0\.01"):
            activations.leaky_relu.with_parameters(slope=wrong)
    for name, parameter in {"elu": "alpha", "celu": "alpha", "swish": "beta", "softplus": "beta"}.items():
        with pytest.raises(ValueError, match=rf"{parameter}=0 of the activation '{name}' must be above 0, like 1\.0"):
            ACTIVATIONS[name].with_parameters(**{parameter: 0})


def test_an_activation_is_found_by_name_alias_or_itself():
    assert as_activation("silu") is as_activation("swish") is activations.swish
    assert as_activation("logistic") is activations.sigmoid
    assert as_activation(activations.mish) is activations.mish
    with pytest.raises(UnknownNameError, match=r"hidden='ReLu' is not a known activation\. Did you mean 'relu'\?"):
        as_activation("ReLu", argument="hidden")
    with pytest.raises(UnknownNameError, match="activation=3 is not a known activation"):
        as_activation(3)


def test_any_function_of_one_argument_is_an_activation(rng):
    x = rng.normal(size=(4, 3))

    def bent(x):
        return x * np.tanh(x)

    mine = as_activation(bent)
    assert isinstance(mine, ActivationFunction)
    assert (mine.name, mine.init, mine.saturation) == ("bent", "he_normal", None)
    np.testing.assert_array_equal(mine(x), bent(x))
    np.testing.assert_allclose(md.grad(lambda x: np.sum(mine(x)))(x), np.tanh(x) + x / np.cosh(x) ** 2, rtol=1e-12)
    assert mine.elementwise
    assert mine == as_activation(bent)
    centred = as_activation(lambda x: x - x.mean(axis=1, keepdims=True))
    assert (centred.elementwise, centred.gain) == (False, 1.0)
    assert as_activation(lambda x: np.exp(np.exp(x))).gain == 1.0  # its second moment is infinite
    assert as_activation(lambda x: x) != as_activation(lambda x: 2 * x)  # one name, two formulas


def test_a_function_that_cannot_be_traced_is_refused_by_name():
    def branching(x):
        return x if x.sum() > 0 else -x

    def f(x, y):
        return x + y

    with pytest.raises(TraceError, match="activation=branching cannot be traced"):
        as_activation(branching)
    with pytest.raises(TraceError, match=r"hidden=f cannot be traced: it failed on an array of shape \(2, 3\)"):
        as_activation(f, argument="hidden")
    with pytest.raises(ShapeError, match="must give a float for each element"):
        as_activation(np.sum)
    with pytest.raises(ShapeError, match="gave bool of shape"):
        as_activation(lambda x: x > 0)
