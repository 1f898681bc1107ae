"""grad and value_and_grad: what goes in, what comes out, what is refused."""

from __future__ import annotations

import functools
import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError, TraceError


class Layer(NamedTuple):
    W: np.ndarray
    b: np.ndarray


def energy(tree):
    """A scalar of anything nested."""
    if isinstance(tree, dict):
        return sum(energy(item) for item in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(energy(item) for item in tree)
    return np.sum(tree**3)


def test_the_gradient_has_the_shape_of_its_argument(rng):
    x = rng.normal(size=(2, 3, 4))
    np.testing.assert_allclose(md.grad(energy)(x), 3 * x**2, rtol=1e-14)


def test_a_python_float_gives_a_numpy_float():
    value, slope = md.value_and_grad(lambda x: x**2)(3.0)
    assert (value, slope) == (9.0, 6.0)
    assert type(value) is type(slope) is np.float64


@pytest.mark.parametrize("x", [np.array(2.0), np.float64(2.0), np.ones(()) * 2])
def test_an_array_without_axes_gives_a_scalar(x):
    assert md.grad(lambda x: x**3)(x) == 12.0


def test_nested_arguments_give_gradients_nested_alike(rng):
    params = {
        "layers": [Layer(rng.normal(size=(3, 2)), rng.normal(size=2)), Layer(rng.normal(size=(2, 1)), np.zeros(1))],
        "scale": 1.5,
        "pair": (rng.normal(size=4), {"deep": rng.normal(size=())}),
    }
    slope = md.grad(energy)(params)
    assert list(slope) == ["layers", "scale", "pair"]
    assert isinstance(slope["layers"], list)
    assert isinstance(slope["layers"][0], Layer)
    assert isinstance(slope["pair"], tuple)
    np.testing.assert_allclose(slope["layers"][0].W, 3 * params["layers"][0].W ** 2)
    np.testing.assert_allclose(slope["layers"][1].b, [0.0])
    assert slope["scale"] == pytest.approx(3 * 1.5**2)
    assert slope["pair"][1]["deep"] == pytest.approx(3 * params["pair"][1]["deep"] ** 2)


@pytest.mark.parametrize("empty", [{}, [], (), {"a": []}])
def test_an_empty_tree_has_an_empty_gradient(empty):
    value, slope = md.value_and_grad(lambda tree, x: x * 2.0)(empty, 1.5)
    assert value == 3.0
    assert slope == empty


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 15.0),
        (1, 10.0),
        (2, 6.0),
        (-1, 6.0),
        (np.int64(1), 10.0),
        ((0,), (15.0,)),
        ((2, 0), (6.0, 15.0)),
        ([0, 1], (15.0, 10.0)),
        ((-1, 0), (6.0, 15.0)),
        ((), ()),
    ],
)
def test_argnums_choose_the_arguments_and_their_order(argnums, expected):
    assert md.grad(lambda a, b, c: a * b * c, argnums)(2.0, 3.0, 5.0) == expected


def test_other_arguments_are_passed_on_untouched():
    def f(x, n, word, flag=False, *, table=None):
        assert (n, word, flag, table) == (3, "add", True, {"a": 1})
        return x**n

    assert md.grad(f)(2.0, 3, "add", True, table={"a": 1}) == 12.0


def test_keyword_arguments_are_constants():
    assert md.grad(lambda x, *, w: x * w)(2.0, w=np.float64(5.0)) == 5.0


def test_aux_comes_beside_the_gradient_and_is_no_part_of_it():
    def f(x):
        return np.sum(x**2), {"x": x * 2, "n": 3, "word": "kept", "none": None, "list": [x[0], (1.5,)]}

    x = np.array([1.0, 2.0])
    (value, aux), slope = md.value_and_grad(f, has_aux=True)(x)
    assert value == 5.0
    np.testing.assert_array_equal(slope, [2.0, 4.0])
    np.testing.assert_array_equal(aux["x"], [2.0, 4.0])
    assert aux["list"] == [1.0, (1.5,)]
    assert (aux["n"], aux["word"], aux["none"]) == (3, "kept", None)
    slope_only, aux_again = md.grad(f, has_aux=True)(x)
    np.testing.assert_array_equal(slope_only, slope)
    assert aux_again["word"] == "kept"


def test_aux_may_hold_integers_and_booleans_that_depend_on_the_argument():
    def accuracy(w, x, y):
        score = x @ w
        return np.mean((score - y) ** 2), (np.mean((score > 0) == (y > 0)), np.argmax(score))

    _, (share, best) = md.grad(accuracy, has_aux=True)(np.array([1.0]), np.array([[1.0], [-2.0], [5.0]]), np.ones(3))
    assert share == pytest.approx(2 / 3)
    assert best == 2


def test_a_function_that_does_not_use_its_argument_has_gradient_zero():
    value, (a_bar, b_bar) = md.value_and_grad(lambda a, b: np.sum(b), argnums=(0, 1))(np.ones((2, 3)), np.ones(4))
    assert value == 4.0
    np.testing.assert_array_equal(a_bar, np.zeros((2, 3)))
    np.testing.assert_array_equal(b_bar, np.ones(4))


@pytest.mark.parametrize("constant", [5.0, np.float32(5.0), np.array(5.0)])
def test_a_constant_function_has_gradient_zero(constant):
    value, slope = md.value_and_grad(lambda x: constant)(np.ones(3))
    assert value == 5.0
    np.testing.assert_array_equal(slope, np.zeros(3))


def test_the_argument_itself_as_result_has_gradient_one():
    assert md.value_and_grad(lambda x: x)(4.0) == (4.0, 1.0)


def test_an_empty_array_has_an_empty_gradient():
    value, slope = md.value_and_grad(lambda x: np.sum(x**2))(np.zeros((0, 3)))
    assert value == 0.0
    assert slope.shape == (0, 3)


def test_stop_gradient_makes_a_part_count_as_constant():
    assert md.grad(lambda x: x * md.functional.stop_gradient(x) + md.functional.stop_gradient(x**3))(3.0) == 3.0


def test_a_function_may_use_shapes_for_control_flow(rng):
    def f(x):
        total = 0.0
        for row in x:
            for k in range(len(row)):
                total += row[k] ** (k + 1)
        return total if x.ndim == 2 else None

    x = rng.normal(size=(3, 2))
    np.testing.assert_allclose(md.grad(f)(x), np.stack([np.ones(3), 2 * x[:, 1]], axis=1))


def test_methods_partials_and_callable_objects_can_be_differentiated():
    class Net:
        def __init__(self, w):
            self.w = w

        def loss(self, x):
            return np.sum(self.w * x)

        def __call__(self, x):
            return self.loss(x) ** 2

    net = Net(np.array([1.0, 2.0]))
    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(md.grad(net.loss)(x), net.w)
    np.testing.assert_array_equal(md.grad(net)(x), 22 * net.w)
    np.testing.assert_array_equal(md.grad(functools.partial(lambda w, x: np.sum(w * x), net.w))(x), net.w)


def test_each_call_traces_anew_so_closures_may_change():
    scale = np.array([1.0, 1.0])
    slope = md.grad(lambda x: np.sum(scale * x))
    np.testing.assert_array_equal(slope(np.ones(2)), [1.0, 1.0])
    scale[:] = 3.0
    np.testing.assert_array_equal(slope(np.ones(2)), [3.0, 3.0])


def test_np_random_inside_is_drawn_by_numpy_at_every_trace():
    """It is a constant of the graph: the gradient is that of the numbers drawn, and each call draws its own."""
    drawn = []

    def f(x):
        noise = np.random.default_rng(len(drawn)).normal(size=3)
        drawn.append(noise)
        return np.sum(noise * x)

    first, second = md.grad(f)(np.ones(3)), md.grad(f)(np.ones(3))
    np.testing.assert_array_equal(first, drawn[0])
    np.testing.assert_array_equal(second, drawn[1])


def test_two_hidden_layers_in_ten_lines_of_numpy(rng):
    """The net most people start with; every element of its gradient against differences."""

    def loss(params, x, y):
        h = x
        for W, b in params[:-1]:
            h = np.tanh(h @ W + b)
        W, b = params[-1]
        logits = h @ W + b
        log_p = logits - md.functional.logsumexp(logits, axis=1, keepdims=True)
        return -np.mean(log_p[np.arange(len(y)), y])

    sizes = [4, 5, 6, 3]
    params = [(rng.normal(size=(n, m)), rng.normal(size=m)) for n, m in pairwise(sizes)]
    x, y = rng.normal(size=(7, 4)), rng.integers(0, 3, size=7)
    assert md.check_gradient(loss, params, x, y, raise_error=True)
    before = loss(params, x, y)
    for _ in range(20):
        value, slope = md.value_and_grad(loss)(params, x, y)
        params = [(W - 0.5 * dW, b - 0.5 * db) for (W, b), (dW, db) in zip(params, slope, strict=True)]
    assert value < 0.5 * before


# Errors


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (3, "x has type int64, which has no derivative. Pass floats (for example float(x)), or choose other"),
        (True, "x has type bool, which has no derivative."),
        (np.arange(3), "x has type int64, which has no derivative. Pass floats (for example x.astype(float)), or"),
        (np.ones(2, dtype=bool), "x has type bool, which has no derivative."),
        ({"W": 1.0, "n": [2]}, "x['n'][0] has type int64, which has no derivative. Pass floats (for example float(x["),
        (None, "x=None is not an array or a number."),
        ("word", "x='word' is not an array or a number."),
        (np.ones(2) * 1j, "x has type complex128, which cannot be traced."),
        (np.array(["a"]), "x has type <U1, which cannot be traced."),
        (np.ma.array([1.0, 2.0], mask=[True, False]), "A masked array would lose its mask in a graph."),
    ],
)
def test_differentiating_by_what_has_no_derivative_is_refused_by_name(x, message):
    with pytest.raises((DtypeError, TraceError), match=re.escape(message)):
        md.grad(lambda x: np.sum(np.ones(2)))(x)


def test_an_argument_without_a_name_is_called_by_its_position():
    with pytest.raises(
        DtypeError, match=re.escape("argument 0 has type int64, which has no derivative. Pass floats (for")
    ):
        md.grad(np.sin)(3)


def test_a_method_names_its_own_arguments():
    class Net:
        def loss(self, weights):
            return weights

    with pytest.raises(DtypeError, match=r"^weights has type int64"):
        md.grad(Net().loss)(1)


def test_a_derivative_knows_the_names_of_the_function_it_came_from():
    def loss(weights, x):
        return weights * x

    with pytest.raises(DtypeError, match=r"^weights has type int64"):
        md.grad(md.grad(loss))(1, 2.0)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda x: x, "The function gives an array of shape (3,), but a gradient needs one number."),
        (lambda x: x[:0], "The function gives an array of shape (0,), but a gradient needs one number."),
        (lambda x: (x[0], x[1]), "The function gives a tuple, but a gradient needs one number."),
        (lambda x: {"a": x[0]}, "The function gives a dict, but a gradient needs one number."),
        (np.argmax, "The function gives a value of type int64, which has no derivative."),
        (lambda x: x[0] > 0, "The function gives a value of type bool, which has no derivative."),
        (lambda x: 7, "The function gives a value of type int64, which has no derivative."),
        (lambda x: None, "The function gives None, which is not an array or a number. Is a return missing?"),
        (lambda x: "text", "The function gives 'text', which is not an array or a number."),
    ],
)
def test_a_result_that_is_not_one_float_is_refused(result, message):
    with pytest.raises((ShapeError, DtypeError), match=re.escape(message)):
        md.grad(result)(np.ones(3))


def test_an_array_of_one_element_is_one_number():
    """As column vectors give it; the value is a number as well."""
    A = np.array([[2.0, 1.0], [1.0, 3.0]])

    def f(x):
        return x.T @ A @ x

    x = np.array([[1.0], [2.0]])
    value, slope = md.value_and_grad(f)(x)
    assert value == f(x)[0, 0]
    assert np.shape(value) == ()
    np.testing.assert_allclose(slope, 2 * A @ x)
    np.testing.assert_allclose(md.compile(md.grad(f))(x), 2 * A @ x)
    np.testing.assert_allclose(md.hessian(f)(x)[:, 0, :, 0], 2 * A)
    np.testing.assert_allclose(md.hvp(f, (x,), (x,)), 2 * A @ x)
    np.testing.assert_allclose(md.grad(lambda x: np.sum(md.grad(f)(x)))(x), 2 * A.sum(axis=0)[:, None])


def test_has_aux_needs_a_pair():
    with pytest.raises(ShapeError, match=r"has_aux=True needs a function that gives a pair \(value, aux\)"):
        md.grad(lambda x: x, has_aux=True)(1.0)


@pytest.mark.parametrize(
    ("argnums", "error", "message"),
    [
        (2, ShapeError, "argnums=2 names argument 2, but the function was called with 2 positional arguments."),
        (-3, ShapeError, "argnums=-3 names argument -3, but"),
        ((0, 0), ShapeError, "argnums=(0, 0) names an argument twice."),
        ((1, -1), ShapeError, "argnums=(1, -1) names an argument twice."),
        ("x", DtypeError, "argnums='x' is not a position. Use an int, or a tuple of ints."),
        (0.0, DtypeError, "argnums=0.0 is not a position."),
        (None, DtypeError, "argnums=None is not a position."),
    ],
)
def test_argnums_that_name_no_argument_are_refused(argnums, error, message):
    with pytest.raises(error, match=re.escape(message)):
        md.grad(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_an_argument_given_by_name_cannot_be_differentiated_by():
    with pytest.raises(ShapeError, match="Pass the arguments to differentiate with respect to by position"):
        md.grad(lambda x: x)(x=1.0)


def test_an_exception_inside_the_function_comes_through_and_leaves_no_trace_open():
    def f(x):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        md.grad(f)(1.0)
    assert isinstance(md.grad(lambda x: x**2)(1.0), np.float64)
