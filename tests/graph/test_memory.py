"""Writing in place: what a traced function gives is what NumPy gives, views included."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madaline as md
from madaline.errors import ShapeError, TraceError

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])


def filled(x):
    y = np.zeros_like(x)
    y[0] = x[1] ** 2
    y[1, :2] = x[0, 1:] * x[1, 0]
    return y


def recurrence(x):
    y = md.zeros(5)
    y[0] = x[0, 0]
    for i in range(1, 5):
        y[i] = np.sin(y[i - 1]) + x[i % 2, i % 3]
    return y


def through_a_view(x):
    y = x * 1.0
    column, row = y[:, 1], y[1]
    column[:] = row[:2] * 2.0
    row += column[0]
    return y * row


def view_sees_the_write(x):
    y = x.copy()
    row = y[0]
    y[0, 0] = x[1, 1] * 3.0
    return row * 2.0


def copy_does_not(x):
    y = x.copy()
    for other in (y[0].copy(), y.flatten(), y[[0, 1]], +y, y.astype(float), np.copy(y.T), copy.copy(y)):
        other[0] = 7.0
    return y + np.sum(y[0])


def scalar_is_no_view(x):
    y = x.copy()
    first = y[0, 0]
    y[0, 0] = 5.0 * x[1, 0]
    return first * y


def in_place_operators(x):
    y = x.copy()
    y += x
    y *= 2.0
    y -= np.ones(3)
    y /= 3.0
    y **= 2
    y[0] += x[1]
    y[:, 1] *= x[:, 0]
    return y


def masks(x):
    y = x.copy()
    y[y < 0] = 0.0
    y[x > 2] *= x[x > 2]
    return y


def fancy(x):
    y = x.copy()
    y[[0, 1, 0], [2, 0, 2]] = x.ravel()[:3]
    y[np.array([1]), 1:] = 2.0 * x[0, :2]
    return y


def rows_in_a_loop(x):
    y = x.copy()
    for row, factor in zip(y, (2.0, 3.0), strict=True):
        row[:] *= factor
        row[1] = row[0] * row[2]
    return y


def reshaped(x):
    y = x.copy()
    flat, turned = y.ravel(), y.T
    flat[::2] = x.ravel()[::2] ** 2
    turned[1] = flat[:2]
    y.reshape(3, 2)[2] = 1.0
    return y * flat[0]


def copied_by_reshape(x):
    y = x.copy()
    flat = y.T.ravel()  # NumPy copies here
    flat[0] = 100.0
    flat += y[0, 1]
    return y * flat[1]


def out_argument(x):
    y = np.zeros_like(x)
    np.multiply(x, 2.0, out=y)
    np.add(y, x, out=y, where=x > 0)
    np.cumsum(x, axis=1, out=y[:, ::-1])
    return y


def functions(x):
    square = np.outer(x[0], x[1])
    np.fill_diagonal(square, x[1] * 2.0)
    np.copyto(square[0], x[0])
    np.put(square, [1, -1], x[1, 0])
    np.put_along_axis(square, np.array([[1], [0], [2]]), x[0].reshape(3, 1), axis=1)
    np.putmask(square, square > 3.0, -square)
    np.add.at(square, ([0, 0, 1], [0, 0, 2]), x[0])
    np.subtract.at(square, 2, 1.0)
    return square


def methods(x):
    y = x.copy()
    y.sort(axis=1)
    y[1].fill(x[0, 0])
    y[0].put([1], x[1, 1])
    z = y[0].copy()
    z.partition(1)
    return y * z[0]


def swapped(x):
    y = x.copy()
    y[0], y[1] = y[1].copy(), y[0].copy()
    y[:, [0, 2]] = y[:, [2, 0]]
    return y


def overlapping(x):
    y = x.ravel().copy()
    y[1:] = y[:-1] * 2.0
    y[:-1] += y[1:]
    return y


def changed_argument(x):
    x[0] = x[1]
    x *= 2.0
    return x


def broadcast_value(x):
    y = np.ones_like(x)
    y[:] = x[0]
    y[:, :1] = x[:, :1] * x[0, 0]
    y[..., 2] = 4.0
    y[None, 1] = x[None, :1]
    return y


def transposed_kept(x):
    a, b = np.split(x.copy(), 2)
    a[:] = b
    b[0, 0] = 9.0
    return np.concatenate([a, b]) * a


PROGRAMS = [
    filled,
    recurrence,
    through_a_view,
    view_sees_the_write,
    copy_does_not,
    scalar_is_no_view,
    in_place_operators,
    masks,
    fancy,
    rows_in_a_loop,
    reshaped,
    copied_by_reshape,
    out_argument,
    functions,
    methods,
    swapped,
    overlapping,
    changed_argument,
    broadcast_value,
    transposed_kept,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_that_writes_in_place_has_numpys_value_and_the_right_derivatives(f):
    value, _ = md.jvp(f, (X,), (X,))
    np.testing.assert_allclose(value, f(X.copy()), rtol=1e-13)
    assert md.check_gradient(f, X), str(md.check_gradient(f, X))
    total = md.grad(lambda x: np.sum(np.sin(f(x))))
    assert md.check_gradient(total, X)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not masks], ids=lambda f: f.__name__)
def test_it_can_be_compiled(f):
    compiled = md.compile(md.value_and_grad(lambda x: np.sum(np.sin(f(x)))))
    plain = md.value_and_grad(lambda x: np.sum(np.sin(f(x))))
    for x in (X, X + 0.25):
        value, slope = compiled(x)
        expected, expected_slope = plain(x)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(slope, expected_slope, rtol=1e-11)


def test_masks_whose_values_are_not_known_can_be_written_with_one_number():
    def f(x):
        y = x.copy()
        y[x > 1.0] = 3.0
        y[np.argmax(x)] = 5.0
        return np.sum(y * x)

    x = np.array([0.5, 2.0, 1.5, -1.0])
    np.testing.assert_allclose(md.compile(md.grad(f))(x), md.grad(f)(x))


def test_the_callers_array_stays_as_it_is():
    x = X.copy()
    md.grad(lambda x: np.sum(changed_argument(x)))(x)
    np.testing.assert_array_equal(x, X)


def test_nested_derivatives_see_the_content_of_their_moment():
    def f(x):
        y = x.copy()
        inner = md.grad(lambda z: np.sum(z**2 * y))(x)
        y[0] = inner[1]
        return np.sum(y * inner)

    assert md.check_gradient(md.grad(f), np.array([1.0, 2.0, 3.0]))
    x = np.array([1.0, 2.0, 3.0])
    assert md.check_gradient(md.grad(lambda z: np.sum(in_place_operators(z))), X)
    step = np.array([1e-6, 0.0, 0.0])
    difference = (f_by_hand(x + step) - f_by_hand(x - step)) / 2e-6
    assert md.grad(f)(x)[0] == pytest.approx(difference, rel=1e-6)


def f_by_hand(x):
    inner = 2.0 * x * x
    return np.sum(np.array([inner[1], x[1], x[2]]) * inner)


REFUSED = [
    (lambda x: np.broadcast_to(x, (2, 2, 3)).__setitem__(0, 1.0), TraceError, "read-only view"),
    (lambda x: np.diagonal(x @ x.T).__setitem__(0, 1.0), TraceError, "read-only view"),
    (lambda x: x.__setitem__(0, np.ones(4)), ShapeError, r"\(4,\) cannot be assigned to elements of shape \(3,\)"),
    (lambda x: (x > 0).__iadd__(x), TraceError, "cannot be written into an array of bool"),
    (lambda x: x.__iadd__(np.ones((2, 2, 3))), ShapeError, "cannot be written into shape"),
    (lambda x: x.__delitem__(0), TraceError, r"np\.delete"),
    (lambda x: x.resize(6), TraceError, r"np\.resize"),
    (lambda x: np.add(x, 1.0, out=np.zeros((2, 3))), TraceError, r"make the array with md\.zeros"),
    (lambda x: np.fill_diagonal(np.zeros((2, 3)), x[0]), TraceError, r"md\.zeros"),
    (lambda x: np.sum(x).fill(2.0), TraceError, r"leaves a number as it is.* Write x = value"),
    (lambda x: x[0, 0].fill(2.0), TraceError, r"Write x = value"),
    (lambda x: np.multiply.at(x, 0, 2.0), TraceError, r"np\.add\.at and np\.subtract\.at are"),
]


@pytest.mark.parametrize(("f", "error", "text"), REFUSED)
def test_what_cannot_be_written_is_refused_with_the_way_out(f, error, text):
    with pytest.raises(error, match=text):
        md.grad(lambda x: f(x * 1.0))(X)


def test_a_view_that_depends_on_the_order_in_memory_is_refused():
    def f(x):
        y = x.T * 2.0  # stored by columns, so that ravel copies
        flat = y.ravel()
        flat[0] = 5.0
        return y

    with pytest.raises(TraceError, match="may be a view or a copy"):
        md.jacobian(f)(X)


def test_an_array_is_written_only_while_its_function_runs():
    kept = []
    md.grad(lambda x: kept.append(x) or np.sum(x))(X)
    with pytest.raises(TraceError, match="only while its function runs"):
        kept[0][0] = 1.0


def test_a_batch_of_unknown_size_is_not_written():
    def f(x):
        x[:, 0] = 1.0
        return x

    with pytest.raises(TraceError, match=r"Write x = x \+ v for x \+= v, np\.where"):
        md.compile(f, rows=[0])(X)


def test_a_plain_array_that_changes_while_it_is_used_counts_as_it_was():
    """The graph is run later than the function; what the function saw must be what it gets."""

    def f(x):
        buffer, total = np.zeros(3), 0.0
        for i in range(3):
            buffer[:] = i
            total = total + np.sum(x * buffer)
        return total

    assert md.grad(f)(np.ones(3)).tolist() == [3.0, 3.0, 3.0]
    assert md.compile(md.grad(f))(np.ones(3)).tolist() == [3.0, 3.0, 3.0]
    assert md.grad(lambda x: f(x) + np.sum(x))(np.ones(3)).tolist() == [4.0, 4.0, 4.0]


def test_an_array_that_does_not_change_is_one_constant():
    """However often it is used, with or without NaN: otherwise a loop over data would copy the data each time."""
    for table in (np.arange(3.0), np.array([1.0, np.nan, 2.0]), np.ones((3, 3))[:, 1]):
        graph = md.trace(lambda x, t=table: sum(np.sum(x * t * float(i)) for i in range(5)), np.ones(3))
        assert len({id(node) for node in graph.nodes if node.primitive.name == "constant" and node.ndim}) == 1


VIEWS = {
    "whole": lambda a: a[:],
    "tail": lambda a: a[1:],
    "every other": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "flipped": np.flip,
    "flipped along no axis": lambda a: np.flip(a, axis=()),
    "turned": lambda a: a.T,
    "flat": lambda a: a.ravel(),
    "first": lambda a: a[0] if a.ndim > 1 else a,
    "column": lambda a: a[..., 0] if a.ndim > 1 else a,
    "new axis": lambda a: a[None],
    "square": lambda a: a.reshape(-1, 2) if a.size % 2 == 0 else a,
    "copy": lambda a: a.copy(),
    "taken": lambda a: a[[0]],
    "added": lambda a: a + 1.0,
}
WRITES = {
    "fill": lambda a, b: a.fill(0.25),
    "set from": lambda a, b: a.__setitem__(Ellipsis, np.sum(b) / 8.0),
    "add": lambda a, b: a.__iadd__(np.mean(b)),
    "scale": lambda a, b: a.__imul__(0.5),
    "first": lambda a, b: a.__setitem__(0, b.ravel()[-1]) if a.ndim == 1 else a[0].__iadd__(b.ravel()[0]),
    "square": lambda a, b: np.multiply(a, a, out=a),
}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("view"), st.sampled_from(sorted(VIEWS)), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("write"), st.sampled_from(sorted(WRITES)), st.integers(0, 9), st.integers(0, 9)),
    ),
    min_size=2,
    max_size=10,
)


def run(steps, x):
    arrays = [x * 1.0]
    for kind, name, first, second in steps:
        a, b = arrays[first % len(arrays)], arrays[second % len(arrays)]
        if kind == "view":
            arrays.append(VIEWS[name](a))
        elif a.size and b.size:
            WRITES[name](a, b)
    return np.concatenate([a.ravel() for a in arrays])


@settings(max_examples=120, deadline=None)
@given(STEPS)
def test_any_sequence_of_views_and_writes_gives_numpys_numbers(steps):
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    expected = run(steps, x)
    direction = np.cos(np.arange(6.0)).reshape(2, 3)
    value, slope = md.jvp(lambda x: run(steps, x), (x,), (direction,))
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-14)
    difference = (run(steps, x + 1e-6 * direction) - run(steps, x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(slope, difference, rtol=1e-5, atol=1e-7)


def number_has_memory_of_its_own(x):
    y = x.copy()
    first = y[0, 0]
    wider = np.expand_dims(first, 0)
    wider += x[1, 1]
    return first * y + wider


def entry_with_dots_is_a_view(x):
    y = x.copy()
    entry = y[0, 1, ...]
    entry[...] = x[1, 2] * 2.0
    return y * y[0, 1]


def array_without_axes_changes_in_place(x):
    y = x[:1, :1].copy()
    entry = y.squeeze()
    other = entry.reshape(1)
    entry *= 3.0 * x[1, 0]
    entry += other[0]
    return y * x + other


def number_is_bound_anew(x):
    total = np.sum(x)
    before = total
    total *= 2.0
    return before * x + total


def rows_by_tuples(x):
    y = x[(0, 1, 0), (2, 1, 2)]
    y[0] = 5.0
    return y * x[0]


def nothing_is_read(x):
    y = x.copy()
    y *= 2.0
    return np.sum(y[2:, ::2]) + y[:, 3:].sum() + y


def flipped_number_is_a_copy(x):
    y = x[:1, :1].copy()
    entry = y.squeeze()
    turned = np.flip(entry)
    entry *= 3.0
    total = np.sum(x)
    other = np.flip(total)
    other *= 2.0
    return turned * x + y + total * other


def array_without_axes_is_filled(x):
    y = x[:1, :1].copy()
    y.squeeze().fill(2.0)
    return y * x


def flipped_along_no_axis_is_a_view(x):
    y = x.copy()
    turned = np.flip(y, axis=())
    turned *= 3.0
    np.flip(y)[0] += x[1]
    return y * x


SMALL = [
    array_without_axes_is_filled,
    flipped_along_no_axis_is_a_view,
    flipped_number_is_a_copy,
    number_has_memory_of_its_own,
    entry_with_dots_is_a_view,
    array_without_axes_changes_in_place,
    number_is_bound_anew,
    rows_by_tuples,
    nothing_is_read,
]


@pytest.mark.parametrize("f", SMALL)
def test_numbers_entries_and_empty_parts_are_numpys(f):
    value, pullback = md.vjp(f, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-14)
    assert md.check_gradient(f, X)
    assert pullback(np.ones_like(value))[0].shape == X.shape
