"""Types and memory: what arguments may look like, and that they stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


def loss(x):
    return np.sum(np.sin(x) * x)


def expected(x):
    x = np.asarray(x, dtype=np.float64)
    return np.cos(x) * x + np.sin(x)


def layouts():
    base = np.random.default_rng(3).normal(size=(6, 8))
    readonly = base.copy()
    readonly.setflags(write=False)
    return {
        "contiguous": base,
        "transposed": base.T,
        "fortran": np.asfortranarray(base),
        "every second": base[::2, ::3],
        "reversed": base[::-1, ::-1],
        "broadcast": np.broadcast_to(base[0], (5, 8)),
        "read-only": readonly,
        "big-endian": base.astype(">f8"),
        "unaligned": np.frombuffer(b"\0" + base.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(base.shape),
        "field of a record": np.array([(1.0, 2), (3.0, 4)], dtype=[("x", "f8"), ("n", "i8")])["x"],
        "subclass": base.view(type("Marked", (np.ndarray,), {})),
    }


@pytest.mark.parametrize("layout", layouts())
def test_any_memory_layout_gives_the_same_numbers(layout):
    x = layouts()[layout]
    copy = np.array(x)
    value, slope = md.value_and_grad(loss)(x)
    assert value == pytest.approx(float(loss(copy)), rel=1e-13)
    np.testing.assert_allclose(slope, expected(copy), rtol=1e-13)
    assert slope.dtype == np.float64
    assert slope.dtype.isnative
    np.testing.assert_array_equal(x, copy)  # the argument is as it was


@pytest.mark.parametrize("layout", layouts())
def test_results_are_fresh_and_writable(layout):
    x = layouts()[layout]
    value, pullback = md.vjp(lambda x: x, x)
    results = [
        value,
        pullback(np.array(x))[0],
        pullback(np.array(x))[0],
        md.grad(np.sum)(x),
        md.grad(lambda x: 0.0)(x),
        md.grad(lambda x: (np.sum(x), x), has_aux=True)(x)[1],
        *md.jvp(lambda x: x, (x,), (x,)),
        md.compile(lambda x: x)(x),
        md.jacobian(lambda x: x)(x),
    ]
    for result in results:
        assert result.flags.writeable
        assert not np.shares_memory(result, x)
    for i, one in enumerate(results):
        assert not any(np.shares_memory(one, other) for other in results[:i])


def test_calling_twice_gives_two_results():
    slope = md.grad(loss)
    first = slope(np.ones(3))
    first[:] = 7.0
    np.testing.assert_allclose(slope(np.ones(3)), expected(np.ones(3)))


@pytest.mark.parametrize(
    ("dtype", "value_dtype", "rtol"),
    [(np.float64, np.float64, 1e-13), (np.float32, np.float32, 2e-6), (np.float16, np.float32, 2e-3)],
)
def test_gradients_have_the_type_of_their_argument(dtype, value_dtype, rtol, rng):
    x = rng.normal(size=(3, 4)).astype(dtype)
    value, slope = md.value_and_grad(loss)(x)
    assert slope.dtype == dtype
    assert value.dtype == value_dtype  # float16 is computed in float32
    np.testing.assert_allclose(slope, expected(x), rtol=rtol, atol=rtol)


def test_a_float32_scalar_stays_float32():
    value, slope = md.value_and_grad(lambda x: x**2)(np.float32(3.0))
    assert type(value) is type(slope) is np.float32
    assert (value, slope) == (9.0, 6.0)


def test_python_numbers_do_not_widen_float32(rng):
    x = rng.normal(size=4).astype(np.float32)
    value, slope = md.value_and_grad(lambda x: np.mean(0.5 * x**2 + 3 * x) / 7)(x)
    assert value.dtype == slope.dtype == np.float32


def test_mixed_types_are_computed_in_the_wider_and_given_back_in_their_own(rng):
    a, b, c = rng.normal(size=3).astype(np.float16), rng.normal(size=3).astype(np.float32), rng.normal(size=3)
    value, slopes = md.value_and_grad(lambda a, b, c: np.sum(a * b * c), argnums=(0, 1, 2))(a, b, c)
    assert value.dtype == np.float64
    assert [slope.dtype for slope in slopes] == [np.float16, np.float32, np.float64]
    np.testing.assert_allclose(slopes[1], (a * c).astype(np.float32), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.bool_])
def test_integers_and_booleans_may_stand_beside_the_argument(dtype):
    n = np.array([0, 1, 1], dtype=dtype)
    np.testing.assert_array_equal(md.grad(lambda x, n: np.sum(x * n))(np.ones(3), n), [0.0, 1.0, 1.0])


def test_integer_arguments_index_and_choose():
    def f(x, index, mask):
        return np.sum(np.where(mask, x[index], 2.0 * x))

    slope = md.grad(f)(np.array([1.0, 2.0, 3.0]), np.array([2, 2, 0]), np.array([True, True, False]))
    np.testing.assert_array_equal(slope, [0.0, 0.0, 4.0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_pass_through_as_in_numpy(value):
    x = np.array([1.0, value])
    result, slope = md.value_and_grad(lambda x: np.sum(x**2))(x)
    np.testing.assert_equal(float(result), float(np.sum(x**2)))
    np.testing.assert_equal(slope, 2 * x)


def test_no_argument_is_modified_by_any_function(rng):
    x, v = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    kept = x.copy(), v.copy()
    md.grad(loss)(x)
    md.jvp(loss, (x,), (v,))
    md.vjp(np.sin, x)[1](v)
    md.hvp(loss, (x,), (v,))
    md.jacobian(np.sin, mode="forward")(x)
    md.jacobian(np.sin, mode="reverse")(x)
    md.hessian(loss)(x)
    md.compile(md.grad(loss), rows=[0])(x)
    md.check_gradient(loss, x)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(v, kept[1])
