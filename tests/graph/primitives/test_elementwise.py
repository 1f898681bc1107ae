"""Kinks, ties, edges of the domain, NaN and infinity: what elementwise rules promise beyond the common sweep."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import madaline as md
from madaline.errors import TraceError
from madaline.graph.numpy_api import special
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise, erf, relu, sigmoid, softplus, stop_gradient

UNARY = [p for p in PRIMITIVES if isinstance(p, Elementwise) and len(p.domains) == 1 and p.ufunc is not None]
BINARY = [p for p in PRIMITIVES if isinstance(p, Elementwise) and len(p.domains) == 2 and p.ufunc is not None]
BINARY = [p for p in BINARY if p.types != "logical"]
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324])

AT_A_KINK = [
    ("abs", np.abs, 0.0, 0.0),
    ("abs below", np.abs, -2.0, -1.0),
    ("sign", np.sign, 0.0, 0.0),
    ("relu", relu, 0.0, 0.0),
    ("relu of minus zero", relu, -0.0, 0.0),
    ("maximum of a constant", lambda x: np.maximum(x, 1.0), 1.0, 0.5),
    ("minimum of a constant", lambda x: np.minimum(1.0, x), 1.0, 0.5),
    ("maximum of itself", lambda x: np.maximum(x, x), 3.0, 1.0),
    ("clip at its lower bound", lambda x: np.clip(x, -1.0, 1.0), -1.0, 0.5),
    ("clip at its upper bound", lambda x: np.clip(x, -1.0, 1.0), 1.0, 0.5),
    ("clip inside", lambda x: np.clip(x, -1.0, 1.0), 0.3, 1.0),
    ("clip outside", lambda x: np.clip(x, -1.0, 1.0), 2.0, 0.0),
    ("fmax at a tie", lambda x: np.fmax(x, 2.0), 2.0, 0.5),
    ("norm at the origin", lambda x: np.linalg.norm(np.stack([x, 0.0 * x])), 0.0, 0.0),
    ("3-norm at the origin", lambda x: np.linalg.norm(np.stack([x, x]), 3), 0.0, 0.0),
    ("hypot at the origin", lambda x: np.hypot(x, 0.0), 0.0, 0.0),
    ("hypot of one leg", lambda x: np.hypot(x, 0.0), -2.0, -1.0),
    ("hypot of large legs", lambda x: np.hypot(x, 1e200), 1e200, np.sqrt(0.5)),
    ("sinc at 0", np.sinc, 0.0, 0.0),
    ("sqrt at 0", np.sqrt, 0.0, np.inf),
    ("cbrt at 0", np.cbrt, 0.0, np.inf),
    ("log at 0", np.log, 0.0, np.inf),
    ("rint at a half", np.rint, 0.5, 0.0),
    ("floor at an integer", np.floor, 2.0, 0.0),
    ("square at 0", lambda x: x**2, 0.0, 0.0),
    ("first power at 0", lambda x: x**1, 0.0, 1.0),
    ("zeroth power at 0", lambda x: x**0, 0.0, 0.0),
    ("zeroth power, traced exponent", lambda x: x ** (0.0 * x), 2.0, 0.0),
    ("power 1.5 at 0", lambda x: x**1.5, 0.0, 0.0),
    ("power 0.3 at 0", lambda x: x**0.3, 0.0, np.inf),
    ("cube of a negative number", lambda x: x**3, -2.0, 12.0),
    ("inverse square of a negative number", lambda x: x**-2, -2.0, 0.25),
    ("exponent of base 0", lambda p: 0.0**p, 2.0, 0.0),
    ("exponent of base 1", lambda p: 1.0**p, 2.0, 0.0),
    ("x log x at 0 guarded by where", lambda x: np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0), 0.0, 0.0),
    ("logaddexp of equal numbers", lambda x: np.logaddexp(x, 1.0), 1.0, 0.5),
    ("heaviside", lambda x: np.heaviside(x, 0.5), 0.0, 0.0),
    ("interp at a point", lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]), 1.0, 4.0),
    ("copysign", lambda x: np.copysign(x, -1.0), 2.0, -1.0),
    ("arctan2 on the negative axis", lambda x: np.arctan2(x, -2.0), 0.0, -0.5),
    ("remainder at a jump", lambda x: np.remainder(x, 1.0), 2.0, 1.0),
    ("stop_gradient", lambda x: x * stop_gradient(x), 3.0, 3.0),
    ("sigmoid far out", sigmoid, 800.0, 0.0),
    ("sigmoid far below", sigmoid, -800.0, 0.0),
    ("softplus far out", softplus, 800.0, 1.0),
    ("softplus far below", softplus, -800.0, 0.0),
    ("tanh far out", np.tanh, 400.0, 0.0),
]


@pytest.mark.parametrize(
    ("function", "x", "slope"), [case[1:] for case in AT_A_KINK], ids=[case[0] for case in AT_A_KINK]
)
def test_the_derivative_at_a_kink_is_the_documented_one(function, x, slope, gradients):
    (found,) = gradients(function, np.float64(x))
    assert found == pytest.approx(slope, rel=1e-14, nan_ok=True)


AT_TIES = [
    ("logaddexp of equal numbers", lambda x: np.logaddexp(x, 1.0), 1.0, 0.25),
    ("logaddexp of zeros", lambda x: np.logaddexp(0.0, -x), 0.0, 0.25),
    ("logaddexp of minus infinity", lambda x: np.logaddexp(x, -np.inf), 1.0, 0.0),
    ("logaddexp2 of equal numbers", lambda x: np.logaddexp2(x, 1.0), 1.0, 0.25 * np.log(2.0)),
    ("sinc at 0", np.sinc, 0.0, -(np.pi**2) / 3.0),
    ("sinc near 0", np.sinc, 1e-9, -(np.pi**2) / 3.0),
    ("i1 at 0", scipy.special.i1, 0.0, 0.0),
    ("i0 at 0", scipy.special.i0, 0.0, 0.5),
    ("gaussian at 0", lambda x: np.exp(-(x**2)), 0.0, -2.0),
]


@pytest.mark.parametrize(("function", "x", "bend"), [case[1:] for case in AT_TIES], ids=[case[0] for case in AT_TIES])
def test_the_second_derivative_of_a_smooth_function_is_right_at_ties_and_zeros(function, x, bend):
    assert md.grad(md.grad(function))(x) == pytest.approx(bend, rel=1e-12, abs=1e-15)
    assert md.jvp(md.grad(function), (x,), (1.0,))[1] == pytest.approx(bend, rel=1e-12, abs=1e-15)


def test_logaddexp_of_infinities():
    assert md.value_and_grad(np.logaddexp, argnums=(0, 1))(1.0, -np.inf) == (1.0, (1.0, 0.0))
    assert md.value_and_grad(np.logaddexp, argnums=(0, 1))(-np.inf, 1.0) == (1.0, (0.0, 1.0))
    assert md.value_and_grad(np.logaddexp)(-np.inf, -np.inf)[0] == -np.inf


def test_a_tie_shares_the_derivative_between_both_arguments(gradients):
    for function in (np.maximum, np.minimum):
        assert gradients(lambda a, b, f=function: f(a, b).sum(), np.ones(2), np.ones(2))[0].tolist() == [0.5, 0.5]
        first, second = gradients(lambda a, b, f=function: f(a, b), np.float64(1.0), np.float64(1.0))
        assert (first, second) == (0.5, 0.5)


@pytest.mark.parametrize("primitive", UNARY, ids=lambda p: p.name)
def test_special_values_go_through_as_in_numpy(primitive, run):
    with np.errstate(all="ignore"):
        expected = primitive.ufunc(SPECIAL)
    np.testing.assert_array_equal(run(primitive.ufunc, SPECIAL), expected)


@pytest.mark.parametrize("primitive", BINARY, ids=lambda p: p.name)
def test_pairs_of_special_values_go_through_as_in_numpy(primitive, run):
    with np.errstate(all="ignore"):
        expected = primitive.ufunc(SPECIAL[:, None], SPECIAL)
    np.testing.assert_array_equal(run(primitive.ufunc, SPECIAL[:, None], SPECIAL), expected)


FORMULAS = {
    "hypot": np.hypot,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "heaviside": np.heaviside,
    "float_power": np.float_power,
    "logaddexp": np.logaddexp,
}


@pytest.mark.parametrize("function", FORMULAS.values(), ids=FORMULAS)
def test_formulas_treat_special_values_as_numpy(function, run):
    usual = SPECIAL[np.abs(SPECIAL) != 5e-324]
    with np.errstate(all="ignore"):
        expected = function(usual[:, None], usual)
    np.testing.assert_allclose(run(function, usual[:, None], usual), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "function", [np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.signbit, np.nan_to_num, np.round, np.fix]
)
def test_tests_and_repairs_of_special_values_are_numpys(function, run):
    np.testing.assert_array_equal(run(function, SPECIAL), function(SPECIAL))


@pytest.mark.parametrize("primitive", [*UNARY, *BINARY], ids=lambda p: p.name)
def test_arrays_without_elements_and_without_axes_have_derivatives(primitive, gradients):
    count = len(primitive.domains)
    middle = [np.float64(sum(domain) / 2 + 0.1) for domain in primitive.domains]
    if primitive.types in {"compare", "logical"}:
        return
    for bar in gradients(lambda *x: np.sum(primitive.ufunc(*x)), *[np.zeros((0, 2))] * count):
        assert bar.shape == (0, 2)
    for bar in gradients(primitive.ufunc, *middle):
        assert bar.shape == ()
        assert np.isfinite(bar)


def test_stable_functions_agree_with_scipy(run):
    x = np.array([-1000.0, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 1000.0, np.inf, -np.inf, np.nan])
    np.testing.assert_allclose(run(sigmoid, x), scipy.special.expit(x), rtol=1e-15)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(run(softplus, x), np.logaddexp(x, 0.0), rtol=1e-15)
    np.testing.assert_allclose(run(erf, x), scipy.special.erf(x), rtol=1e-15)
    np.testing.assert_array_equal(run(relu, x), np.maximum(x, 0.0))


P, Q, U = np.array([0.2, 0.7, 3.5]), np.array([1.5, 0.4, 2.0]), np.array([0.1, 0.6, 0.95])
Z = np.array([-2.5, 0.3, 4.0])
SPECIAL_FUNCTIONS = {
    "beta": [P, Q],
    "betainc": [P, Q, U],
    "betaln": [P, Q],
    "cbrt": [P],
    "digamma": [P],
    "entr": [np.array([0.0, 0.3, 1.0, 2.0])],
    "erf": [np.linspace(-3, 3, 7)],
    "erfc": [Z],
    "erfcx": [Z],
    "erfcinv": [np.array([1e-9, 0.7, 1.9])],
    "erfinv": [np.array([-0.999, 0.2, 0.9])],
    "exp10": [Z],
    "exp2": [Z],
    "expit": [np.linspace(-30, 30, 7)],
    "expm1": [Z],
    "gamma": [P],
    "gammainc": [P, Q],
    "gammaincc": [P, Q],
    "gammaln": [P],
    "gammasgn": [np.array([-2.5, -1.5, 0.3])],
    "huber": [P, Z],
    "i0": [Z],
    "i0e": [Z],
    "i1": [Z],
    "i1e": [Z],
    "iv": [2.5, P],
    "ive": [0, Z],
    "j0": [Z],
    "j1": [Z],
    "jv": [3, Z],
    "k0": [P],
    "k1": [P],
    "kl_div": [P, Q],
    "kv": [2, P],
    "log1p": [P],
    "log_expit": [np.array([-800.0, -2.0, 0.0, 2.0, 800.0])],
    "log_ndtr": [np.array([-40.0, -2.0, 5.0])],
    "loggamma": [P],
    "binom": [np.array([5.0, 7.5, 3.2]), np.array([2.0, 3.3, 1.1])],
    "boxcox": [P, np.resize([0.5, -1.3, 2.0], len(P))],
    "inv_boxcox": [P, np.resize([0.5, 1.3, 2.0], len(P))],
    "logit": [np.array([1e-9, 0.2, 0.9])],
    "ndtr": [Z],
    "ndtri": [U],
    "pseudo_huber": [P, Z],
    "psi": [P],
    "rel_entr": [np.array([0.0, 0.3, 1.0]), np.array([0.5, 0.4, 2.0])],
    "rgamma": [P],
    "stdtr": [P, Z],
    "xlog1py": [np.array([0.0, 0.3, -1.0]), np.array([-1.0, 0.4, 2.0])],
    "xlogy": [np.array([0.0, 0.3, -1.0]), np.array([0.0, 0.4, 2.0])],
    "y0": [P],
    "y1": [P],
    "yn": [2, P],
    "yv": [0.5, P],
}
CONSTANT = {
    "betainc": 2,
    "gammainc": 1,
    "gammaincc": 1,
    "iv": 1,
    "ive": 1,
    "jv": 1,
    "kv": 1,
    "stdtr": 1,
    "yn": 1,
    "yv": 1,
}
"Arguments by which no derivative is known, or that are an order: how many, from the first on."


def test_every_function_of_scipy_special_has_an_example():
    assert set(SPECIAL_FUNCTIONS) == set(special.FUNCTIONS)


@pytest.mark.parametrize(("name", "args"), SPECIAL_FUNCTIONS.items(), ids=SPECIAL_FUNCTIONS)
def test_functions_of_scipy_special_have_scipys_value_and_the_right_derivative(name, args, run, gradients):
    fixed, args = args[: CONSTANT.get(name, 0)], args[CONSTANT.get(name, 0) :]

    def function(*x):
        return getattr(scipy.special, name)(*fixed, *x)

    np.testing.assert_allclose(run(function, *args), function(*args), rtol=1e-13)
    bars = gradients(lambda *x: function(*x)[1], *args)
    for position, bar in enumerate(bars):
        step = np.zeros_like(args[position])
        step[1] = 1e-6 * args[position][1] if name == "logit" else 1e-6
        moved = [[a + sign * step if i == position else a for i, a in enumerate(args)] for sign in (1, -1)]
        difference = (function(*moved[0])[1] - function(*moved[1])[1]) / (2 * step[1])
        assert bar[1] == pytest.approx(difference, rel=1e-6)
        assert np.isfinite(bar[[0, 2]]).all()
        assert not bar[[0, 2]].any()


@pytest.mark.parametrize("name", [name for name in CONSTANT if name in PRIMITIVES.names()])
def test_a_derivative_that_is_not_known_is_an_error_not_a_zero(name):
    args = SPECIAL_FUNCTIONS[name]
    for position in range(CONSTANT[name]):
        with pytest.raises(TraceError, match=rf"derivative of {name} with respect to argument {position} is not known"):
            md.grad(lambda *x: getattr(scipy.special, name)(*x).sum(), argnums=position)(*args)
        with pytest.raises(TraceError, match="not known"):
            md.jvp(
                lambda x, i=position: getattr(scipy.special, name)(*args[:i], x, *args[i + 1 :]),
                (args[position],),
                (np.ones(3),),
            )


def test_xlogy_has_its_derivative_where_x_is_zero():
    """Only where the logarithm is not finite is there none."""
    assert md.grad(scipy.special.xlogy)(0.0, 3.0) == pytest.approx(np.log(3.0))
    assert md.grad(scipy.special.xlog1py)(0.0, 3.0) == pytest.approx(np.log(4.0))


def test_where_shields_the_branch_not_taken(gradients):
    """The derivative of the branch not chosen is multiplied by nothing: no 0 * inf."""
    (bar,) = gradients(lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)), np.array([0.0, 4.0]))
    assert bar.tolist() == [0.0, 0.25]


def test_types_mix_as_in_numpy(run):
    single, double, integer = np.float32(1.5), np.float64(2.5), np.int64(3)
    for a, b in [
        (single, double),
        (single, integer),
        (integer, double),
        (single, 2),
        (single, 2.5),
        (integer, 2.5),
        (integer, True),
    ]:
        expected = np.asarray(a * b)
        found = run(lambda x, b=b: x * b, a)
        assert found.dtype == expected.dtype, (a, b)
        assert found == expected
    assert run(np.multiply, np.float16(1.5), np.float16(2.0)).dtype == np.float32


def test_the_derivative_has_the_type_of_its_argument(gradients):
    (bar,) = gradients(lambda x: np.sum(x * np.ones(3)), np.ones(3, dtype=np.float32))
    assert bar.dtype == np.float32


def test_constant_factors_are_not_multiplied_when_they_are_one():
    from madaline.graph.primitives.elementwise import scaled

    x = np.ones(3)
    assert scaled(x, 1.0) is x
    assert scaled(x, -1.0).tolist() == [-1.0, -1.0, -1.0]
    assert scaled(x, 2.0).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1.0, 1e3, 1e200])
def test_inverse_functions_have_their_slope_at_any_size(size):
    """No square on the way may over- or underflow."""
    by_s, by_x = md.grad(np.arctan2, argnums=(0, 1))(3.0 * size, 4.0 * size)
    np.testing.assert_allclose([by_s, by_x], [0.16 / size, -0.12 / size], rtol=1e-12)
    np.testing.assert_allclose(md.grad(np.arcsinh)(size), 1.0 / np.hypot(1.0, size), rtol=1e-12)
    if size > 1.0:
        np.testing.assert_allclose(
            md.grad(np.arccosh)(size), 1.0 / (size * np.sqrt(1.0 - (1.0 / size) ** 2)), rtol=1e-12
        )
