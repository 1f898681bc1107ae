"""Odd shapes, found by hypothesis: what NumPy accepts is accepted, with NumPy's value; what it refuses is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import madaline as md
from madaline.errors import ShapeError, TraceError
from madaline.graph.node import constant
from madaline.graph.numpy_api.dispatch import FUNCTIONS, UFUNCS
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, trace

SIDES = st.integers(min_value=0, max_value=4)
SHAPES = st.lists(SIDES, min_size=0, max_size=4).map(tuple)
quick = settings(max_examples=60, deadline=None)


def filled(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def agree(run_, evaluate_, function, *args):
    """Both give the same value, or both refuse; and the gradient has the shapes of the arguments."""
    try:
        with np.errstate(all="ignore"):
            expected = np.asarray(function(*args))
    except (ValueError, IndexError, TypeError):
        with pytest.raises((ValueError, IndexError, TypeError)):
            trace(function, *args)
        return
    found = run_(function, *args)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    if expected.dtype.kind != "f":
        return
    graph = trace(function, *args)
    bars = cotangents(graph.outputs, graph.inputs, [constant(np.ones(expected.shape))])
    bars = [node._zeros() if bar is None else bar for node, bar in zip(graph.inputs, bars, strict=True)]
    for bar, arg in zip(evaluate_(Graph(graph.inputs, tuple(bars)), *args), args, strict=True):
        assert bar.shape == arg.shape


@pytest.fixture(scope="module")
def both():
    """The evaluator of this folder, for tests that hypothesis calls many times."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("graph_conftest", Path(__file__).parents[1] / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module._run, module._evaluate


@quick
@given(
    left=SHAPES,
    right=SHAPES,
    function=st.sampled_from([np.add, np.multiply, np.maximum, np.arctan2, np.hypot, np.logaddexp]),
)
def test_broadcasting(both, left, right, function):
    agree(*both, function, filled(left), filled(right, 1))


@quick
@given(left=SHAPES, right=SHAPES)
def test_products_of_all_ranks(both, left, right):
    agree(*both, np.matmul, filled(left), filled(right, 1))


@quick
@given(data=st.data(), left=SHAPES.filter(bool), right=SHAPES.filter(bool))
def test_products_that_fit(both, data, left, right):
    right = (*right[:-2], left[-1], right[-1]) if len(right) > 1 else (left[-1],)
    agree(*both, np.matmul, filled(left), filled(right, 1))
    agree(*both, np.dot, filled(left), filled(right, 1))


@quick
@given(
    shape=SHAPES,
    axis=st.one_of(st.none(), st.integers(-5, 4), st.tuples(st.integers(-4, 3), st.integers(-4, 3))),
    keepdims=st.booleans(),
    function=st.sampled_from([np.sum, np.prod, np.max, np.min, np.any, np.all]),
)
def test_reductions_over_any_axes(both, shape, axis, keepdims, function):
    agree(*both, lambda x: function(x, axis=axis, keepdims=keepdims), filled(shape))


@quick
@given(
    shape=SHAPES,
    axis=st.one_of(st.none(), st.integers(-5, 4)),
    function=st.sampled_from([np.argmax, np.cumsum, np.sort, np.argsort, np.cumprod]),
)
def test_functions_of_one_axis(both, shape, axis, function):
    agree(*both, lambda x: function(x, axis=axis), filled(shape))


@quick
@given(shape=SHAPES, data=st.data())
def test_basic_indexing(both, shape, data):
    index = data.draw(hnp.basic_indices(shape, max_dims=6, allow_newaxis=True, allow_ellipsis=True))
    agree(*both, lambda x: x[index], filled(shape))


@quick
@given(data=st.data(), shape=st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
def test_indexing_by_arrays_in_every_position(both, data, shape):
    """Integers, arrays of integers that broadcast, masks, slices, None and ... mixed."""
    common = data.draw(st.sampled_from([(), (2,), (3, 2), (0,)]))
    entries, axis = [], 0
    while axis < len(shape):
        size = shape[axis]
        kind = data.draw(st.sampled_from(["array", "slice", "integer", "none", "mask", "end"]))
        if kind == "array":
            thin = data.draw(st.sampled_from([common, common[-1:], (1,) * len(common)]))
            entries.append(data.draw(hnp.arrays(np.int64, thin, elements=st.integers(-size, size - 1))))
        elif kind == "slice":
            entries.append(data.draw(st.slices(size)))
        elif kind == "integer":
            entries.append(data.draw(st.integers(-size, size - 1)))
        elif kind == "mask":
            entries.append(data.draw(hnp.arrays(np.bool_, (size,))))
        elif kind == "none":
            entries.append(None)
            continue
        else:
            break
        axis += 1
    if data.draw(st.booleans()):
        entries.insert(data.draw(st.integers(0, len(entries))), Ellipsis)
    agree(*both, lambda x: x[tuple(entries)], filled(shape))


@quick
@given(data=st.data(), shape=SHAPES)
def test_reshaping_and_transposing(both, data, shape):
    sizes = data.draw(st.permutations(shape))
    agree(*both, lambda x: x.reshape(tuple(sizes)), filled(shape))
    axes = data.draw(st.permutations(range(len(shape))))
    agree(*both, lambda x: np.transpose(x, axes), filled(shape))
    opened = data.draw(st.lists(st.integers(-1, 6), max_size=3).map(tuple))
    agree(*both, lambda x: np.reshape(x, opened), filled(shape))


@quick
@given(shape=SHAPES, count=st.integers(1, 3), axis=st.integers(-5, 4))
def test_joining(both, shape, count, axis):
    arrays = [filled(shape, seed) for seed in range(count)]
    agree(*both, lambda *x: np.stack(x, axis=axis), *arrays)
    agree(*both, lambda *x: np.concatenate(x, axis=axis), *arrays)


LETTERS = "abcde"


@quick
@given(data=st.data())
def test_einsum_of_random_terms(both, data):
    sizes = {letter: data.draw(st.integers(1, 3)) for letter in LETTERS}
    terms = data.draw(st.lists(st.text(LETTERS, max_size=4), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    output = "".join(data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))])
    text = ",".join(terms) + data.draw(st.sampled_from(["->" + output, ""]))
    arrays = [filled(tuple(sizes[letter] for letter in term), seed) for seed, term in enumerate(terms)]
    agree(*both, lambda *x: np.einsum(text, *x), *arrays)


@quick
@given(
    shape=SHAPES,
    widths=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4),
    mode=st.sampled_from(["constant", "edge", "wrap", "reflect", "symmetric"]),
)
def test_padding(both, shape, widths, mode):
    agree(*both, lambda x: np.pad(x, widths, mode=mode), filled(shape))


@quick
@given(shape=SHAPES, repeats=st.one_of(st.integers(0, 3), st.lists(st.integers(0, 3), max_size=4).map(tuple)))
def test_tiling(both, shape, repeats):
    agree(*both, lambda x: np.tile(x, repeats), filled(shape))


@quick
@given(shape=SHAPES, offset=st.integers(-4, 4), axes=st.tuples(st.integers(-3, 2), st.integers(-3, 2)))
def test_diagonals(both, shape, offset, axes):
    agree(*both, lambda x: np.diagonal(x, offset, *axes), filled(shape))


def _has_one_array(function):
    return not isinstance(function, np.ufunc) or function.nin == 1


WITHOUT_VALUE = {"empty_like"}
ONE_ARRAY = sorted(
    {
        function.__module__ + "." + function.__name__
        if not isinstance(function, np.ufunc)
        else function.__name__: function
        for function in (*FUNCTIONS, *UFUNCS)
        if _has_one_array(function) and function.__name__ not in WITHOUT_VALUE
    }.items()
)


@pytest.mark.parametrize(("name", "function"), ONE_ARRAY, ids=[name for name, _ in ONE_ARRAY])
def test_every_function_of_one_array_takes_small_shapes(name, function):
    """A single element, a single row, a single column: where a rule may take an axis of size 1 for none."""
    for shape in ((1,), (2,), (1, 1), (1, 3), (3, 1), (2, 1, 2)):
        x = np.abs(filled(shape)) / 4.0 + 0.1
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = function(x.copy())
        except (ValueError, IndexError, TypeError, np.linalg.LinAlgError):
            continue  # NumPy wants more arguments, or another shape
        first = expected[0] if isinstance(expected, (list, tuple)) and expected else expected
        if np.asarray(first).dtype.kind not in "fib":
            continue
        try:
            found, _ = md.jvp(function, (x,), (np.ones(shape),))
        except (TraceError, ShapeError):
            continue  # refused with a text, as other tests check
        together = zip(found, expected, strict=True) if isinstance(expected, (list, tuple)) else [(found, expected)]
        for ours, numpys in together:
            assert np.shape(ours) == np.shape(numpys), shape
            np.testing.assert_allclose(ours, numpys, rtol=1e-9, atol=1e-12)
