"""Sources of rows: arrays of any layout and number type, and sparse matrices."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.node import name_of
from madaline.kernels.core import core
from madaline.kernels.execute import executor
from madaline.kernels.mapped import MappedFile, mapped_file


class Source(Protocol):
    """Rows that can be gathered: ``n_rows`` of them, each of shape ``row_shape``."""

    n_rows: int
    row_shape: tuple[int, ...]
    dtype: np.dtype[Any]
    arrays: tuple[np.ndarray, ...]
    file: MappedFile | None
    "The file that the values are read from, if they are memory-mapped."

    def take(self, rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """The rows with these numbers, gathered with NumPy, as a reference for the native core."""

    def native(self, core: ModuleType, dtype: np.dtype[Any]) -> Any:
        """The source inside the core."""


class DenseRows:
    """Rows of an array: any strides, any real number type, read-only or memory-mapped; nothing is copied.

    A memory-mapped file that is cut while it is read is a FileFormatError, if the native core reads it.

    Examples
    --------
    >>> DenseRows(np.arange(12).reshape(4, 3)[::-1, :2]).take(np.array([0, 3]), np.dtype("float32"))
    array([[ 9., 10.],
           [ 0.,  1.]], dtype=float32)
    """

    def __init__(self, array: np.ndarray) -> None:
        if not array.ndim:
            raise ShapeError("An array without axes has no rows. Give it one: array.reshape(-1, 1) is a column.")
        _check_numbers(array, "array")
        self.array = array
        self.n_rows, *rest = array.shape
        self.row_shape = tuple(rest)
        self.dtype = array.dtype
        self.arrays: tuple[np.ndarray, ...] = (array,)
        self.file = _checked_file(array)

    def take(self, rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """The rows with these numbers."""
        if self.file is not None:
            return _taken(self, self.file, rows, dtype)
        return self.taken(rows, dtype)

    def taken(self, rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """The rows with these numbers, by NumPy."""
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(np.asarray(self.array)[rows], dtype=dtype)

    def native(self, core: ModuleType, dtype: np.dtype[Any]) -> Any:
        """The source inside the core."""
        return core.Rows(self.array, core.DTYPES[name_of(dtype)], self.file is not None)


class SparseRows:
    """Rows of a matrix in compressed sparse row format, made dense as they are gathered.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array or csr_matrix
        The matrix. Its values are not copied. Its indices are copied and checked, because training would write outside
        of its memory if another thread changed them. If a row has duplicate columns, the values are copied and summed.

    Examples
    --------
    >>> import scipy.sparse
    >>> matrix = scipy.sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])
    >>> SparseRows(matrix).take(np.array([1]), np.dtype("float32"))
    array([[2., 0.]], dtype=float32)
    """

    def __init__(self, matrix: Any) -> None:
        if getattr(matrix, "format", None) != "csr" or matrix.ndim != 2:
            raise DtypeError(
                f"matrix is {type(matrix).__name__}, not a sparse matrix of rows. Convert it with matrix.tocsr()."
            )
        _check_numbers(matrix.data, "matrix")
        self.n_rows, n_columns = matrix.shape
        self.row_shape: tuple[int, ...] = (n_columns,)
        self.dtype = matrix.dtype
        index = np.result_type(matrix.indptr, matrix.indices)
        self.indptr, self.indices = np.array(matrix.indptr, index), np.array(matrix.indices, index)
        self.data = np.ascontiguousarray(matrix.data)
        self._check_indices()
        own = type(matrix)((self.data, self.indices, self.indptr), shape=matrix.shape)
        if not own.has_canonical_format:
            own = own.copy()
            own.sum_duplicates()
            self.indptr, self.indices, self.data = own.indptr, own.indices, own.data
        self.arrays: tuple[np.ndarray, ...] = (self.indptr, self.indices, self.data)
        self.file = _checked_file(self.data)

    def _check_indices(self) -> None:
        """Raise an error if an index points outside of the matrix or its arrays."""
        n_values = min(len(self.indices), len(self.data))
        indptr, indices, (n_columns,) = self.indptr, self.indices, self.row_shape
        if (
            len(indptr) != self.n_rows + 1
            or indptr[0] != 0
            or indptr[-1] > n_values
            or bool((indptr[1:] < indptr[:-1]).any())
        ):
            raise ShapeError(
                f"The row pointers of the sparse matrix do not rise from 0 to at most {n_values}, its number of "
                "values. Make it again, or look for code that changes matrix.indptr."
            )
        for column in (int(indices.min()), int(indices.max())) if len(indices) else ():
            if not 0 <= column < n_columns:
                raise ShapeError(
                    f"The sparse matrix has a value at column {column} in a matrix of {n_columns} columns. Make it "
                    "again, or look for code that changes matrix.indices."
                )

    def take(self, rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """The rows with these numbers."""
        if self.file is not None:
            return _taken(self, self.file, rows, dtype)
        return self.taken(rows, dtype)

    def taken(self, rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """The rows with these numbers, by NumPy."""
        batch = np.zeros((len(rows), *self.row_shape), dtype)
        with np.errstate(all="ignore"):
            for to, row in zip(batch, rows, strict=True):
                part = slice(self.indptr[row], self.indptr[row + 1])
                to[self.indices[part]] = self.data[part]
        return batch

    def native(self, core: ModuleType, dtype: np.dtype[Any]) -> Any:
        """The source inside the core."""
        number = core.DTYPES[name_of(dtype)]
        return core.Rows(self.indptr, self.indices, self.data, *self.row_shape, number, self.file is not None)


LEAST_PREDICTED_BYTES = 1 << 22
"As LEAST_BYTES of mapped arrays, for predictions, which must not wait for the list of mapped files."


def mapped_rows(array: np.ndarray) -> DenseRows | None:
    """Rows of an array whose memory is a file; None for other arrays."""
    if array.base is None or mapped_file(array, LEAST_PREDICTED_BYTES) is None:
        return None
    is_number = array.dtype.kind in "fiub" and array.dtype.itemsize <= 8 and array.dtype.isnative
    return DenseRows(array) if is_number and array.ndim else None


def unmapped(array: np.ndarray) -> np.ndarray:
    """The array, or a copy of it if its memory is a file; a file that is cut meanwhile is a FileFormatError."""
    rows = mapped_rows(array)
    return array if rows is None else rows.take(np.arange(rows.n_rows), rows.dtype)


def _taken(source: DenseRows | SparseRows, file: MappedFile, rows: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Rows of a mapped file: by the core, which survives if the file is cut meanwhile."""
    file.check()
    module = None if executor() == "reference" else core()
    is_kept = dtype.kind == source.dtype.kind or (dtype.kind == "f" and dtype.itemsize >= 4)
    if module is None or dtype.name not in module.DTYPES or not is_kept:
        return source.taken(rows, dtype)
    batch = np.empty((len(rows), *source.row_shape), dtype)
    if not source.native(module, dtype).take(np.ascontiguousarray(rows, np.int64), batch):
        raise file.error()
    return batch


def _checked_file(array: np.ndarray) -> MappedFile | None:
    file = mapped_file(array)
    if file is not None:
        file.check()
    return file


def _check_numbers(array: np.ndarray, name: str) -> None:
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8 or not array.dtype.isnative:
        raise DtypeError(
            f"{name} has dtype {array.dtype.str!r}; rows are gathered from float16 to float64, integers and bool in "
            f"the byte order of this machine. Convert it first, as with {name}.astype('float32')."
        )
