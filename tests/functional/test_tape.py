"""A table of forms never gives the gradient of another call: not after other values, writes, or nested derivatives."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import madaline as md
from madaline.graph import tape

A = np.array([5.0, 1.0, 2.0, 3.0])
B = np.array([1.0, 2.0, 9.0, 3.0])
W = np.arange(1.0, 5.0)


def central(f, x, step=1e-6):
    """The gradient by central differences."""
    slope = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        move = np.zeros(x.shape)
        move[index] = step
        slope[index] = (f(x + move) - f(x - move)) / (2.0 * step)
    return slope


def same_for_each(f, *xs):
    """Whether one function has the right gradient at several places, one after the other."""
    for x in (*xs, *xs[::-1]):
        np.testing.assert_allclose(md.grad(f)(x), central(f, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.broadcast_to(x, (np.argmax(x) + 1, 4))),
        lambda x: np.sum(np.flip(np.outer(x, x), np.argmax(x) // 2)[0] * W),
        lambda x: np.sum(np.roll(x, np.argmax(x)) * W),
        lambda x: np.sum(np.tile(x, np.argmax(x) + 1) ** 2),
        lambda x: np.sum(np.sum(np.outer(x, x**2), axis=(x[0] > 2).astype(int)) * W),
        lambda x: np.sum(np.reshape(x, (2 if x[0] > 2 else 4, -1))[0]),
        lambda x: np.sum(np.diff(x, np.argmax(x) + 1) ** 2),
        lambda x: np.sum(np.concatenate([np.outer(x, x), np.outer(x, W)], np.argmax(x) // 2)[0] ** 2),
        lambda x: np.linalg.norm(x[:3], x[3]),
        lambda x: np.sum(np.tril(np.outer(x, x), np.argmax(x))),
        lambda x: np.sum(np.triu(np.outer(x, W), np.argmax(x))),
        lambda x: np.sum(np.diagonal(np.outer(x, W), np.argmax(x))),
        lambda x: np.sum(np.diag(x, np.argmax(x))[0] ** 2) + np.diag(x, np.argmax(x)).shape[0] * x[0],
        lambda x: np.var(x, ddof=np.argmax(x)),
        lambda x: np.sum(np.max(np.outer(x, W), axis=np.argmax(x) // 2)),
    ],
    ids=[
        "broadcast_to",
        "flip",
        "roll",
        "tile",
        "sum",
        "reshape",
        "diff",
        "concatenate",
        "norm",
        *("tril", "triu", "diagonal", "diag"),
        "var",
        "max",
    ],
)
def test_traced_numbers_that_decide_about_the_graph_may_change(f):
    same_for_each(f, A, B, np.array([1.0, 2.0, 3.0, 1.0]), np.array([1.0, 2.0, 4.0, 3.0]))


def test_a_norm_is_differentiated_by_its_order():
    for order in (1.0, 2.0, 3.0, 1.5):
        slope = md.grad(lambda p: np.linalg.norm(md.array([3.0, 1.0, 2.0]) + 0.0 * p, p))(order)
        assert slope == pytest.approx(central(lambda p: np.linalg.norm(W[:3], p[()]), np.array(order))[()], rel=1e-6)
    assert md.grad(lambda x: np.linalg.norm(x[:3], x[3]))(np.array([1.0, -5.0, 2.0, np.inf])).tolist() == [0, -1, 0, 0]


def test_arguments_of_nested_derivatives_are_told_apart_though_they_are_equal():
    def f(x):
        def outer(u):
            start = np.sum(x * u) + np.sum(u * u) + np.dot(u, u)
            inner = md.grad(lambda v: np.sum(x * v) + np.sum(u * v) + np.dot(u, v) + np.sum(np.sin(v) * u))
            return start + np.sum(inner(x) * x)

        return np.sum(md.grad(outer)(x) * W)

    for x in (A, B):
        np.testing.assert_allclose(
            md.grad(f)(x), central(lambda x: np.sum((7.0 * x + np.cos(x) * x) * W), x), rtol=1e-6
        )


@pytest.mark.parametrize("kind", ["array", "without axes", "float32", "view", "read-only view", "memoryview"])
def test_an_array_that_changes_during_a_call_counts_as_it_was(kind):
    base = np.full(4, 2.0)
    array = {
        "array": base,
        "without axes": np.array(2.0),
        "float32": base.astype(np.float32),
        "view": base[::-1],
        "read-only view": np.broadcast_to(base[:1], 4),
        "memoryview": np.frombuffer(memoryview(base.data).toreadonly()),
    }[kind]
    writable = base if kind in ("view", "read-only view", "memoryview") else array

    def f(x):
        writable[...] = 2.0
        first = np.sum(x * array) + np.sum(array + x)
        writable[...] = 3.0
        return first + 10.0 * np.sum(x * array)

    for x in (A, B):
        assert md.grad(f)(x).tolist() == [33.0] * 4


def test_an_argument_that_changes_during_a_call_counts_as_it_was():
    x = np.array([1.0, 2.0])

    def f(z):
        y = np.sum(z**2)
        x[0] += 100.0
        return y

    assert md.grad(f)(x).tolist() == [2.0, 4.0]
    assert md.value_and_grad(f)(x)[0] == 101.0**2 + 4.0


def test_lists_of_sizes_that_change_do_not_change_views():
    x = np.arange(1.0, 7.0)

    def f(x, shape, after):
        y = np.reshape(x * 1.0, shape)
        shape[:] = after
        y[0] = 0.0
        return np.sum(y**2)

    for after in ([3, 2], [6, 1], [2, 3]):
        assert md.grad(f)(x, [2, 3], after).tolist() == [0.0, 0.0, 0.0, 8.0, 10.0, 12.0]


def test_views_and_copies_of_one_graph_are_told_apart():
    def f(x):
        one, two = x * 1.0, x * 1.0
        number, place = one[np.int64(0)], two[np.int64(0), ...]
        copy, view = np.reshape(number, (1,)), np.reshape(place, (1,))
        copy[0], view[0] = 0.0, 0.0
        return np.sum(one * W) + 10.0 * np.sum(two * W)

    for x in (A, B):
        assert md.grad(f)(x).tolist() == [1.0, 22.0, 33.0, 44.0]


def test_kinds_of_numbers_are_told_apart():
    x = np.array([0.5, 2.0], np.float32)
    for number in (1, True, 1.0, np.float32(1.0), np.float64(1.0), np.int64(1), np.bool_(True)):
        for f in (lambda x, n: x * n, lambda x, n: n - x, np.maximum, lambda x, n: np.clip(x, n, 3)):
            try:
                plain = f(x, number)
            except TypeError:  # NumPy has no difference of booleans
                continue
            both = md.value_and_grad(lambda x, f=f, n=number: (np.sum(f(x, n)), f(x, n)), has_aux=True)
            (_, found), slope = both(x)
            assert found.dtype == plain.dtype
            assert slope.dtype == np.float32
            np.testing.assert_array_equal(found, plain)


def test_tables_that_are_renewed_all_the_time_change_nothing(monkeypatch):
    monkeypatch.setattr(tape, "MAX_FORMS", 3)

    def f(x, n):
        y = x
        for k in range(n):
            y = np.tanh(y * W + float(k))
        return np.sum(y)

    for n in (1, 5, 2, 7, 1, 5, 2):
        np.testing.assert_allclose(md.grad(f)(A, n), central(lambda x, n=n: f(x, n), A), atol=1e-6)


def test_rules_by_hand_and_their_arrays_are_not_kept():
    def f(x, table):
        return np.sum(md.checkpoint(lambda y: np.tanh(y * table))(x))

    md.grad(f)(A, W.copy())
    before = len(tape._TABLES.forms)
    for k in range(20):
        md.grad(f)(A, W + k)
    assert len(tape._TABLES.forms) <= before + 1


def test_threads_may_trace_at_once(monkeypatch):
    monkeypatch.setattr(tape, "MAX_FORMS", 20)
    wrong = []

    def work(number):
        rng = np.random.default_rng(number)
        for k in range(60):
            a, b, x = rng.normal(size=(3, 4))
            factor = float(rng.integers(3))

            def f(x, a=a, b=b, factor=factor, k=k):
                y = np.tanh(x * a) * factor if number % 2 else np.tanh(x * b) * a
                return np.sum(y * b + x * (k % 3))

            y = np.tanh(x * a) if number % 2 else np.tanh(x * b)
            slope = (1.0 - y**2) * a * b * (factor if number % 2 else b) + k % 3
            if not np.allclose(md.grad(f)(x), slope, rtol=1e-12, atol=1e-12):
                wrong.append((number, k))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_exception_in_the_middle_leaves_nothing_behind():
    def f(x, fail):
        y = np.sin(x) * W
        y[0] = 3.0
        if fail:
            raise RuntimeError
        return np.sum(y)

    for fail in (True, False, True, False):
        if fail:
            with pytest.raises(RuntimeError):
                md.grad(f)(A, fail)
        else:
            np.testing.assert_allclose(md.grad(f)(A, fail), [0.0, *(np.cos(A) * W)[1:]])
