"""compile: traced once, run many times, for any number of rows, from any thread."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError, TraceError
from madaline.kernels.execute import CACHE_SIZE

ROWS = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 257, 1000]
"Batch sizes around the tiles' sizes and beyond them."


def counted(f):
    """The function, and a list that grows whenever Python runs it."""
    calls = []

    def g(*args, **kwargs):
        calls.append(1)
        return f(*args, **kwargs)

    return g, calls


def mlp_loss(params, x, y):
    h = np.tanh(x @ params["W1"] + params["b1"])
    h = md.functional.relu(h @ params["W2"] + params["b2"])
    return np.mean((h @ params["w3"] - y) ** 2)


def mlp_params(rng, dtype=np.float64):
    shapes = {"W1": (5, 7), "b1": (7,), "W2": (7, 6), "b2": (6,), "w3": (6,)}
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


def test_a_compiled_function_runs_python_once_for_one_kind_of_arguments():
    f, calls = counted(lambda x: np.sin(x) * 2)
    compiled = md.compile(f)
    for k in range(5):
        np.testing.assert_allclose(compiled(np.full(3, float(k))), np.sin(np.full(3, k)) * 2, rtol=1e-14)
    assert len(calls) == 1


def test_new_shapes_types_and_nestings_are_traced_anew():
    f, calls = counted(lambda x: np.sum(x[0]) if isinstance(x, list) else np.sum(x))
    compiled = md.compile(f)
    kinds = (np.ones(2), np.ones(3), np.ones((3, 1)), np.ones(2, np.float32), [np.ones(2)], 1.0, np.float64(1.0))
    for x in kinds:
        assert compiled(x) == np.sum(x)
    assert len(calls) == 7
    compiled(np.zeros(2))
    assert len(calls) == 7


def test_integers_strings_and_none_are_static():
    f, calls = counted(lambda x, n, how, extra: x**n if how == "power" else x * n + (extra is None))
    compiled = md.compile(f)
    assert compiled(2.0, 3, "power", None) == 8.0
    assert compiled(3.0, 3, "power", None) == 27.0
    assert len(calls) == 1
    assert compiled(2.0, 4, "power", None) == 16.0
    assert compiled(2.0, 4, "times", None) == 9.0
    assert compiled(2.0, True, "times", None) == 3.0  # True is not 1: Python code may tell them apart
    assert compiled(2.0, 1, "times", None) == 3.0
    assert len(calls) == 5


def test_integer_arrays_are_traced():
    compiled = md.compile(lambda x, index: x[index])
    x = np.array([10.0, 20.0, 30.0])
    np.testing.assert_array_equal(compiled(x, np.array([2, 0])), [30.0, 10.0])
    np.testing.assert_array_equal(compiled(x, np.array([1, 1])), [20.0, 20.0])


def test_keyword_arguments_are_arguments():
    f, calls = counted(lambda x, *, w, power=1: (x * w) ** power)
    compiled = md.compile(f)
    assert compiled(2.0, w=3.0) == 6.0
    assert compiled(2.0, w=4.0) == 8.0
    assert compiled(2.0, w=4.0, power=2) == 64.0
    assert len(calls) == 2


def test_results_keep_their_nesting_and_what_is_no_array():
    compiled = md.compile(lambda x: {"y": [x * 2, (x,)], "n": 3, "word": "kept", "none": None, "float": 1.5})
    result = compiled(np.array([1.0]))
    np.testing.assert_array_equal(result["y"][0], [2.0])
    np.testing.assert_array_equal(result["y"][1][0], [1.0])
    assert (result["n"], result["word"], result["none"], result["float"]) == (3, "kept", None, 1.5)


def test_closures_are_frozen_as_they_were():
    scale = np.array([1.0, 2.0])
    compiled = md.compile(lambda x: (x * scale, scale))
    compiled(np.ones(2))
    scale[:] = 100.0
    product, copy = compiled(np.ones(2))
    np.testing.assert_array_equal(product, [1.0, 2.0])
    np.testing.assert_array_equal(copy, [1.0, 2.0])
    copy[:] = 7.0  # a result is the caller's own
    np.testing.assert_array_equal(compiled(np.ones(2))[1], [1.0, 2.0])


def test_np_random_inside_is_a_constant():
    compiled = md.compile(lambda x: x + np.random.default_rng().normal(size=3))
    np.testing.assert_array_equal(compiled(np.zeros(3)), compiled(np.zeros(3)))


def test_a_python_float_does_not_widen_float32():
    step = md.compile(lambda w, lr: w - lr * w)
    assert step(np.ones(2, dtype=np.float32), 0.1).dtype == np.float32
    assert step(np.ones(2), 0.1).dtype == np.float64
    np.testing.assert_allclose(step(np.ones(2), 0.1), 0.9, rtol=1e-15)
    assert md.compile(lambda a: a * 2)(0.1) == 0.2


@pytest.mark.parametrize("n_rows", ROWS)
def test_one_program_serves_every_batch_size(n_rows, rng):
    f, calls = counted(lambda w, x: (np.tanh(x @ w), np.tanh(x @ w).sum(axis=0), x.T @ x, np.max(x, axis=1)))
    compiled = md.compile(f, rows=[1])
    w = rng.normal(size=(5, 3))
    compiled(w, rng.normal(size=(8, 5)))
    x = rng.normal(size=(n_rows, 5))
    y, total, gram, top = compiled(w, x)
    assert len(calls) == 1
    np.testing.assert_allclose(y, np.tanh(x @ w), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(total, np.tanh(x @ w).sum(axis=0), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(gram, x.T @ x, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(top, np.max(x, axis=1))


@pytest.mark.parametrize("n_rows", [n for n in ROWS if n])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-3)])
def test_the_gradient_of_a_batch_loss_serves_every_batch_size(n_rows, dtype, rtol, rng):
    compiled = md.compile(md.value_and_grad(mlp_loss), rows=[1, 2])
    params = mlp_params(rng, dtype)
    x, y = rng.normal(size=(n_rows, 5)).astype(dtype), rng.normal(size=n_rows).astype(dtype)
    value, slopes = compiled(params, x, y)
    exact = {name: array.astype(np.float64) for name, array in params.items()}
    expected, expected_slopes = md.value_and_grad(mlp_loss)(exact, x.astype(np.float64), y.astype(np.float64))
    assert value.dtype == dtype
    assert value == pytest.approx(expected, rel=rtol)
    for name, slope in slopes.items():
        np.testing.assert_allclose(slope, expected_slopes[name], rtol=rtol, atol=rtol * 10, err_msg=name)


def test_a_batch_of_no_rows_has_an_empty_sum_and_no_mean(rng):
    w = np.ones(2)
    total = md.compile(md.value_and_grad(lambda w, x: np.sum((x @ w) ** 2)), rows=[1])
    value, slope = total(w, np.zeros((0, 2)))
    assert value == 0.0
    np.testing.assert_array_equal(slope, [0.0, 0.0])
    mean = md.compile(lambda w, x: np.mean(x @ w), rows=[1])
    assert np.isnan(mean(w, np.zeros((0, 2))))


def test_batch_arguments_may_be_nested(rng):
    compiled = md.compile(lambda w, batch: np.sum(batch["x"] @ w * batch["pair"][0]), rows=[1])
    for n_rows in (1, 100):
        batch = {"x": rng.normal(size=(n_rows, 2)), "pair": (rng.normal(size=n_rows), rng.normal(size=(n_rows, 3)))}
        assert compiled(np.ones(2), batch) == pytest.approx(np.sum(batch["x"].sum(axis=1) * batch["pair"][0]))


def test_values_that_mix_rows_are_planned_for_each_size(rng):
    compiled = md.compile(lambda x: x @ x.T, rows=[0])
    for n_rows in (0, 1, 5, 70):
        x = rng.normal(size=(n_rows, 4))
        np.testing.assert_allclose(compiled(x), x @ x.T, rtol=1e-12, atol=1e-13)


def test_rows_given_as_columns_read_only_or_reversed_are_the_same(rng):
    compiled = md.compile(lambda x: np.cumsum(x, axis=1) * 2, rows=[0])
    base = rng.normal(size=(100, 6))
    for x in (base[::-3], base.T.copy().T, np.broadcast_to(base[0], (9, 6)), base.astype(">f8")):
        np.testing.assert_allclose(compiled(x), np.cumsum(x, axis=1) * 2, rtol=1e-13)


def test_a_compiled_function_can_be_differentiated(rng):
    compiled = md.compile(lambda x: np.sum(np.sin(x)))
    x = rng.normal(size=3)
    np.testing.assert_allclose(md.grad(compiled)(x), np.cos(x), rtol=1e-13)
    np.testing.assert_allclose(md.hessian(compiled)(x), np.diag(-np.sin(x)), rtol=1e-13)
    assert md.grad(lambda a: compiled(a * x) * 2)(1.0) == pytest.approx(2 * np.sum(np.cos(x) * x))


def test_a_compiled_function_with_plain_arguments_inside_a_trace_gives_numbers():
    compiled = md.compile(lambda x: x**2)
    assert md.grad(lambda w: w * compiled(3.0))(1.0) == 9.0
    assert compiled(3.0) == 9.0


def test_a_compiled_closure_over_a_traced_value_keeps_the_trace():
    assert md.grad(lambda w: md.compile(lambda x: x * w**2)(2.0))(3.0) == 12.0
    inner = {}

    def outer(w):
        if not inner:
            inner["f"] = md.compile(lambda x: x * inner["w"])
        inner["w"] = w
        return inner["f"](2.0)

    assert md.grad(outer)(3.0) == 2.0
    assert md.grad(outer)(4.0) == 2.0  # nothing of the first trace was kept


def test_compile_inside_compile(rng):
    layer = md.compile(lambda x, W: np.tanh(x @ W))
    net = md.compile(lambda x, W, V: layer(layer(x, W), V), rows=[0])
    x, W, V = rng.normal(size=(9, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    np.testing.assert_allclose(net(x, W, V), np.tanh(np.tanh(x @ W) @ V), rtol=1e-12, atol=1e-14)


def test_many_threads_may_call_it_at_once(rng):
    compiled = md.compile(md.value_and_grad(mlp_loss), rows=[1, 2])
    params = mlp_params(rng)
    batches = [(rng.normal(size=(n, 5)), rng.normal(size=n)) for n in (1, 7, 64, 200) * 8]
    alone = [compiled(params, *batch) for batch in batches]
    fresh = md.compile(md.value_and_grad(mlp_loss), rows=[1, 2])  # the first calls race to trace it
    barrier = threading.Barrier(4)

    def work(part):
        barrier.wait(10)
        return [fresh(params, *batches[i]) for i in range(part, len(batches), 4)]

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(work, range(4)))
    for part, results in enumerate(parts):
        for position, (value, slopes) in enumerate(results):
            expected, expected_slopes = alone[part + 4 * position]
            assert value == expected
            for name in params:
                np.testing.assert_array_equal(slopes[name], expected_slopes[name])


def test_it_looks_like_the_function_it_wraps():
    def loss(w):
        """My loss."""
        return w

    compiled = md.compile(loss)
    assert compiled.__name__ == "loss"
    assert compiled.__doc__ == "My loss."


def test_the_program_can_be_looked_at():
    program = md.compile(lambda x: np.exp(x) * 2, rows=[0]).program(np.ones((4, 2)))
    assert [node.shape for node in program.outputs] == [(program.inputs[0].shape[0], 2)]


# Errors


def test_rows_must_name_arguments_that_are_there():
    message = "rows=[2] names argument 2, but there are 1 positional arguments."
    with pytest.raises(ShapeError, match=re.escape(message)):
        md.compile(np.sin, rows=[2])(np.ones(3))
    with pytest.raises(ShapeError, match=re.escape(message)):
        md.trace(np.sin, np.ones(3), rows=[2])


def test_what_is_kept_for_other_numbers_and_other_batches_is_bounded():
    scaled = md.compile(lambda x, n: x * n)
    mixed = md.compile(lambda x: x @ x.T, rows=[0])
    for n in range(1, CACHE_SIZE + 10):
        assert scaled(1.5, n) == 1.5 * n
        assert mixed(np.ones((n, 1))).sum() == n * n
    (executable, _, _) = next(iter(mixed._ready.values()))
    assert len(scaled._ready) <= CACHE_SIZE
    assert len(executable._programs) <= CACHE_SIZE


def test_a_number_that_changes_later_does_not_reach_other_batches():
    factor = np.array(2.0)
    compiled = md.compile(lambda x: (x @ x.T) * factor, rows=[0])
    compiled(np.ones((1, 1)))
    factor[...] = 3.0
    np.testing.assert_array_equal(compiled(np.ones((2, 1))), np.full((2, 2), 2.0))


def test_a_compiled_function_that_was_used_can_be_pickled_and_copied():
    """joblib sends it to its workers like this."""
    compiled = md.compile(np.sin, rows=[0])
    x = np.ones((3, 2))
    value = compiled(x)
    for other in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        np.testing.assert_array_equal(other(x), value)
        np.testing.assert_array_equal(other(x[:1]), value[:1])


@pytest.mark.parametrize("rows", [0, "x", [0.5], ["x"]])
def test_rows_must_be_positions(rows):
    for use in (lambda: md.compile(np.sin, rows=rows), lambda: md.trace(np.sin, np.ones(3), rows=rows)):
        with pytest.raises(TraceError, match=re.escape(f"rows={rows!r} is not a list of positions. Use rows=[0]")):
            use()


def test_batches_must_have_equally_many_rows():
    with pytest.raises(ShapeError, match="The batch arguments have 2 and 3 rows; they must be equal"):
        md.compile(lambda x, y: x + y, rows=[0, 1])(np.ones(2), np.ones(3))


def test_a_number_is_no_batch():
    with pytest.raises(ShapeError, match="A batch argument is a number, without an axis for its rows"):
        md.compile(lambda x: x, rows=[0])(1.0)


def test_an_argument_that_is_neither_array_nor_hashable_is_refused():
    with pytest.raises(DtypeError, match="is neither an array nor hashable, so a compiled function cannot take it"):
        md.compile(lambda x, s: x)(1.0, {1, 2})


def test_the_number_of_rows_cannot_steer_python():
    with pytest.raises(TraceError, match="The number of rows is not known while a batch is traced"):
        md.compile(lambda x: x if x.shape[0] > 2 else -x, rows=[0])(np.ones(3))


def test_a_function_that_fails_is_traced_again_when_it_can_succeed():
    def f(x):
        if not allowed:
            raise RuntimeError("not yet")
        return x

    allowed = []
    compiled = md.compile(f)
    with pytest.raises(RuntimeError, match="not yet"):
        compiled(1.0)
    allowed.append(1)
    assert compiled(1.0) == 1.0
