"""jacobian and hessian: every shape, both modes, nested arguments."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError

SHAPES = [(), (1,), (3,), (2, 3), (1, 2, 2), (0,), (2, 0)]
"Of arguments and results, each with each."


def mixing(out_shape, in_shape):
    """A smooth function from any shape to any other in which every output sees every input, and its Jacobian."""
    n_out, n_in = int(np.prod(out_shape)), int(np.prod(in_shape))
    A = np.random.default_rng(n_out * 100 + n_in).normal(size=(n_out, n_in))

    def f(x):
        return np.reshape(np.sin(A @ np.reshape(x, (-1,))), out_shape)

    def jacobian(x):
        return (np.cos(A @ np.reshape(x, (-1,)))[:, None] * A).reshape(out_shape + in_shape)

    return f, jacobian


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("in_shape", SHAPES, ids=str)
@pytest.mark.parametrize("out_shape", SHAPES, ids=str)
def test_the_jacobian_has_the_axes_of_the_result_and_then_those_of_the_argument(out_shape, in_shape, mode, rng):
    f, exact = mixing(out_shape, in_shape)
    x = rng.normal(size=in_shape)
    J = md.jacobian(f, mode=mode)(x)
    assert np.shape(J) == out_shape + in_shape
    np.testing.assert_allclose(J, exact(x), rtol=1e-12, atol=1e-14)


def test_forward_and_reverse_agree_to_the_last_digits(rng):
    def f(x):
        return np.stack([np.prod(x, axis=0), np.max(x, axis=0), md.functional.logsumexp(x, axis=0)]) @ np.ones((4, 2))

    x = rng.normal(size=(3, 4))
    forward, reverse = (md.jacobian(f, mode=mode)(x) for mode in ("forward", "reverse"))
    assert forward.shape == (3, 2, 3, 4)
    np.testing.assert_allclose(forward, reverse, rtol=1e-13, atol=1e-15)


def test_auto_takes_the_mode_with_fewer_passes():
    def flops(n_in, n_out, mode):
        A = np.ones((n_out, n_in))
        return md.trace(md.jacobian(lambda x: np.tanh(A @ np.tanh(x)), mode=mode), np.ones(n_in)).flops()

    for n_in, n_out, cheap, dear in [(2, 30, "forward", "reverse"), (30, 2, "reverse", "forward")]:
        assert flops(n_in, n_out, "auto") == flops(n_in, n_out, cheap)
        assert flops(n_in, n_out, cheap) < flops(n_in, n_out, dear) / 3


def test_nested_arguments_and_results_give_blocks():
    def f(p):
        return {"s": p["a"] * p["b"], "t": (p["a"] ** 2,)}

    J = md.jacobian(f)({"a": 3.0, "b": np.array([1.0, 2.0])})
    np.testing.assert_array_equal(J["s"]["a"], [1.0, 2.0])
    np.testing.assert_array_equal(J["s"]["b"], 3.0 * np.eye(2))
    assert J["t"][0]["a"] == 6.0
    np.testing.assert_array_equal(J["t"][0]["b"], [0.0, 0.0])


def test_several_argnums_give_a_tuple_inside_the_structure_of_the_result():
    J = md.jacobian(lambda a, b: [a * b, a + 2 * b], argnums=(0, 1))(2.0, 5.0)
    assert J == [(5.0, 2.0), (1.0, 2.0)]
    assert md.jacobian(lambda a, b: a * b, argnums=(1,))(2.0, 5.0) == (2.0,)


def test_scalars_give_scalars():
    slope = md.jacobian(np.sin)(0.5)
    assert type(slope) is np.float64
    assert slope == pytest.approx(np.cos(0.5))


def test_keyword_arguments_reach_the_function():
    np.testing.assert_array_equal(md.jacobian(lambda x, *, k: k * x)(np.ones(2), k=3.0), 3 * np.eye(2))


def test_constants_and_unused_arguments_have_jacobian_zero():
    np.testing.assert_array_equal(md.jacobian(lambda x: np.ones((2, 3)))(np.ones(4)), np.zeros((2, 3, 4)))
    assert md.jacobian(lambda x: 1.0)(2.0) == 0.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_jacobian_has_the_type_of_the_argument(dtype, mode):
    J = md.jacobian(lambda x: x**2, mode=mode)(np.ones(2, dtype=dtype))
    assert J.dtype == dtype
    np.testing.assert_array_equal(J, 2 * np.eye(2))


def test_a_jacobian_may_stand_inside_a_loss(rng):
    """Contractive penalty: the squared norm of a layer's Jacobian, differentiated by the layer's weights."""

    def loss(W, x):
        J = md.jacobian(lambda x: np.tanh(W @ x))(x)
        return np.sum(J**2)

    def by_hand(W, x):
        return np.sum(((1 - np.tanh(W @ x) ** 2)[:, None] * W) ** 2)

    W, x = rng.normal(size=(3, 2)), rng.normal(size=2)
    value, slope = md.value_and_grad(loss)(W, x)
    assert value == pytest.approx(by_hand(W, x), rel=1e-12)
    np.testing.assert_allclose(slope, md.grad(by_hand)(W, x), rtol=1e-10)
    assert md.check_gradient(loss, W, x)


def test_a_jacobian_of_a_jacobian_has_all_axes(rng):
    x = rng.normal(size=2)
    second = md.jacobian(md.jacobian(lambda x: np.outer(x, x**2)))(x)
    assert second.shape == (2, 2, 2, 2)
    expected = np.zeros((2, 2, 2, 2))  # y_ij = x_i x_j^2
    for i in range(2):
        for j in range(2):
            expected[i, j, i, j] += 2 * x[j]
            expected[i, j, j, i] += 2 * x[j]
            expected[i, j, j, j] += 2 * x[i]
    np.testing.assert_allclose(second, expected, rtol=1e-13)


def test_the_hessian_is_symmetric_and_right(rng):
    def f(x):
        return np.sum(x[0] * np.exp(x[1:] * x[:-1]))

    x = rng.normal(size=4)
    H = md.hessian(f)(x)
    np.testing.assert_allclose(H, H.T, rtol=1e-12)
    step = 1e-5
    rows = [(md.grad(f)(x + step * e) - md.grad(f)(x - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(H, np.stack(rows), rtol=1e-6, atol=1e-7)


def test_the_hessian_of_a_quadratic_form_is_its_matrix(rng):
    A = rng.normal(size=(3, 3))
    np.testing.assert_allclose(md.hessian(lambda x: x @ A @ x)(np.zeros(3)), A + A.T, rtol=1e-13)


def test_the_hessian_by_a_matrix_has_four_axes(rng):
    W = rng.normal(size=(2, 3))
    H = md.hessian(lambda W: np.sum(W**3))(W)
    np.testing.assert_allclose(H.reshape(6, 6), np.diag(6 * W.reshape(-1)), rtol=1e-13)


def test_the_hessian_by_a_tree_has_blocks_that_mirror_each_other():
    H = md.hessian(lambda p: p["a"] ** 2 * np.sum(p["b"] ** 3))({"a": 2.0, "b": np.array([1.0, -1.0])})
    assert H["a"]["a"] == 0.0
    np.testing.assert_array_equal(H["a"]["b"], [12.0, 12.0])
    np.testing.assert_array_equal(H["b"]["a"], [12.0, 12.0])
    np.testing.assert_array_equal(H["b"]["b"], np.diag([24.0, -24.0]))


def test_the_hessian_by_several_arguments_is_a_square_of_blocks():
    assert md.hessian(lambda a, b: a * b**2, argnums=(0, 1))(2.0, 3.0) == ((0.0, 6.0), (6.0, 4.0))


def test_the_hessian_of_a_linear_function_is_zero():
    np.testing.assert_array_equal(md.hessian(np.sum)(np.ones(3)), np.zeros((3, 3)))


def test_a_jacobian_by_shared_values_can_be_taken_inside_a_batch(rng):
    """One pass for each weight, whatever the number of rows; the rows of the result stay open."""
    per_row = md.compile(lambda w, x: md.jacobian(lambda w: np.tanh(x @ w))(w), rows=[1])
    w = rng.normal(size=3)
    for n_rows in (1, 4, 300):
        x = rng.normal(size=(n_rows, 3))
        np.testing.assert_allclose(per_row(w, x), (1 - np.tanh(x @ w) ** 2)[:, None] * x, rtol=1e-12, atol=1e-14)


# Errors


def test_an_unknown_mode_is_refused():
    with pytest.raises(ShapeError, match=re.escape("mode='sideways' is not known. Use one of auto, forward, reverse.")):
        md.jacobian(np.sin, mode="sideways")


def test_integer_arguments_and_results_are_refused():
    with pytest.raises(DtypeError, match="x has type int64, which has no derivative"):
        md.jacobian(lambda x: x * 1.0)(np.arange(3))
    with pytest.raises(DtypeError, match="The function gives a value of type int64, which has no derivative"):
        md.jacobian(np.argmax)(np.ones(3))


def test_the_hessian_of_a_vector_function_is_refused():
    with pytest.raises(
        ShapeError, match=re.escape("The function gives an array of shape (2,), but a gradient needs one")
    ):
        md.hessian(lambda x: x)(np.ones(2))


def test_one_pass_for_each_row_of_an_open_batch_is_refused():
    compiled = md.compile(md.jacobian(np.tanh), rows=[0])
    with pytest.raises(ShapeError, match="one pass for each element of the result, whose number of rows is not known"):
        compiled(np.ones((2, 3)))
    compiled = md.compile(md.jacobian(np.tanh, mode="forward"), rows=[0])
    with pytest.raises(
        ShapeError, match="one pass for each element of the argument, whose number of rows is not known"
    ):
        compiled(np.ones((2, 3)))


@pytest.mark.parametrize(
    "derivative", [md.hessian, lambda f: md.jacobian(md.grad(f)), lambda f: md.compile(md.hessian(f))]
)
def test_the_hessian_of_a_polynomial_has_coefficients_that_are_sums_of_numbers(derivative):
    """Some arrays within it are filled with one number, which is not yet a number for the whole chain."""
    x = np.array([1.0, 2.0, -1.0])
    found = derivative(lambda x: np.sum(2.0 * x**2 + 3.0 * x**3))(x)
    np.testing.assert_allclose(found, np.diag(4.0 + 18.0 * x), rtol=1e-14)
