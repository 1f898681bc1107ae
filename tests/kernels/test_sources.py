"""Rows of arrays of any layout and type, and of sparse matrices, arrive as NumPy would give them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madaline as md
from agreement import assert_same_bits, needs_core
from madaline.errors import DtypeError, ShapeError
from madaline.kernels.loop import Loop
from madaline.kernels.sources import DenseRows, SparseRows

NUMBERS = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]


@st.composite
def laid_out(draw):
    """An array whose first axis counts rows, with any layout."""
    dtype = np.dtype(draw(st.sampled_from(NUMBERS)))
    shape = draw(st.lists(st.integers(1, 5), min_size=0, max_size=3))
    shape = [draw(st.integers(1, 9)), *shape]
    if draw(st.booleans()):
        shape[-1] = draw(st.sampled_from([33, 70]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2])) for _ in shape]
    larger = [size * abs(k) for size, k in zip(shape, steps, strict=True)]
    order = draw(st.permutations(range(len(shape))))
    if draw(st.booleans()):
        order = list(range(len(shape)))
    stored = np.empty([larger[axis] for axis in order], dtype)
    with np.errstate(all="ignore"):
        stored[...] = rng.integers(0, 200, stored.shape).astype(dtype)
        if dtype.kind == "f":
            stored[...] = (rng.normal(size=stored.shape) * 10.0 ** rng.integers(-7, 5, stored.shape)).astype(dtype)
            stored.flat[0] = draw(st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan]))
    if draw(st.booleans()):  # an address between two of its type
        raw = np.empty(stored.nbytes + 1, np.uint8)[1:]
        unaligned = raw.view(dtype).reshape(stored.shape) if stored.size else stored
        unaligned[...] = stored
        stored = unaligned
    array = stored.transpose(np.argsort(order))[tuple(slice(None, None, k) for k in steps)]
    array.flags.writeable = draw(st.booleans())
    return array


@needs_core
@settings(max_examples=300)
@given(laid_out(), st.sampled_from(["float32", "float64", "int64"]), st.data())
def test_rows_of_any_layout_and_type_arrive_as_numpy_converts_them(array, dtype, data):
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        dtype = "float32"
    n_rows = len(array)
    order = np.array(data.draw(st.lists(st.integers(0, n_rows - 1), min_size=1, max_size=20)))
    if data.draw(st.booleans()):
        order = np.arange(n_rows)
    cuts = data.draw(st.lists(st.integers(1, len(order)), max_size=4))
    starts = np.unique([0, *cuts, len(order)])
    shape = (1, *array.shape[1:])
    loop = Loop(md.trace(lambda x: x + x, np.ones(shape, dtype), rows=[0]), carried={})
    rows = np.zeros((len(order), *array.shape[1:]), dtype)
    loop.run({}, gathered={0: DenseRows(array)}, emitted={0: rows}, order=order, starts=starts)
    with np.errstate(all="ignore"):
        expected = array[order].astype(dtype)
        expected = expected + expected
    assert_same_bits([rows], [expected])


@needs_core
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("number", ["float32", "float64", "int8", "bool"])
def test_sparse_rows_become_dense(number, index, rng):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    dense = (rng.integers(1, 5, (20, 9)) * (rng.random((20, 9)) < 0.3)).astype(number)
    dense[4] = 0
    matrix = scipy_sparse.csr_array(dense)
    matrix.indptr, matrix.indices = matrix.indptr.astype(index), matrix.indices.astype(index)
    loop = Loop(md.trace(lambda x: 2 * x, np.ones((1, 9), np.float32), rows=[0]), carried={})
    order = rng.integers(0, 20, 33)
    rows = np.zeros((33, 9), np.float32)
    source = SparseRows(matrix)
    loop.run({}, gathered={0: source}, emitted={0: rows}, order=order, starts=np.array([0, 16, 32, 33]))
    assert_same_bits([rows], [2 * dense[order].astype(np.float32)])
    assert_same_bits([source.take(order, np.dtype("float32"))], [dense[order].astype(np.float32)])


def test_a_column_named_twice_in_a_sparse_row_is_added_up():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(SparseRows(matrix).take(np.array([0, 1]), np.dtype("float64")), [[0, 3], [4, 0]])
    assert len(matrix.data) == 3


@pytest.mark.parametrize(
    ("array", "place", "value", "message"),
    [
        ("indices", 1, 2, "column 2 in a matrix of 2 columns"),
        ("indices", 1, -1, "column -1 in a matrix of 2 columns"),
        ("indptr", 0, 1, "row pointers"),
        ("indptr", 1, 9, "row pointers"),
        ("indptr", -1, 4, "row pointers"),
    ],
)
def test_sparse_rows_outside_of_their_matrix_are_refused(array, place, value, message):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    getattr(matrix, array)[place] = value
    with pytest.raises(ShapeError, match=message):
        SparseRows(matrix)


def test_sparse_rows_keep_their_own_indices():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    source = SparseRows(matrix)
    matrix.indices[:] = 7
    matrix.indptr[:] = 9
    np.testing.assert_array_equal(source.take(np.array([0, 1]), np.dtype("float64")), [[1, 2], [4, 0]])
    assert source.data is matrix.data


def test_rows_of_no_numbers():
    with pytest.raises(DtypeError, match="'<U1'"):
        DenseRows(np.array(["a"]))
    with pytest.raises(DtypeError, match="'>f4'"):
        DenseRows(np.ones(3, ">f4"))
    with pytest.raises(ShapeError, match="no rows"):
        DenseRows(np.zeros(()))
    with pytest.raises(DtypeError, match="tocsr"):
        SparseRows(np.eye(3))
