"""Training data as the loop takes it: sources of rows, checked once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from madaline.errors import ConfigError, DtypeError, InputError, ShapeError
from madaline.functional.model import Model
from madaline.graph.shapes import show
from madaline.graph.tree import flatten, unflatten
from madaline.kernels.sources import DenseRows, Source, SparseRows, unmapped
from madaline.losses.loss import Loss
from madaline.nn.inputs import matched
from madaline.nn.network import Network
from madaline.train.sampling import Batches
from madaline.train.step import target_specs
from madaline.train.weights import row_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.data.data_types import ClassWeights, Inputs, Targets

INITIAL_ROWS = 1 << 18
"Maximum number of rows, evenly spaced, for layers that learn from the data before training."
INITIAL_NUMBERS = 1 << 24
"Maximum number of values of sparse data for them, because it is made dense."
DIGESTED_ROWS = 64
"Number of rows by which a checkpoint recognises its data."
CHECKED_ROWS = 1 << 16
"Rows that are checked at a time, so that a file larger than memory is never read at once."


class DataReader(Protocol):
    """The interface of :func:`read`."""

    def __call__(
        self,
        network: Network,
        loss: Loss | dict[str, Loss],
        X: Inputs,
        y: Targets,
        *,
        sample_weight: ArrayLike | None = None,
        class_weight: ClassWeights | None = None,
        may_weigh_nothing: bool = False,
    ) -> TrainingData: ...


@dataclass(frozen=True)
class TrainingData:
    """Rows with their targets and weights, checked."""

    x: tuple[Source, ...]
    y: tuple[Source, ...]
    weight: np.ndarray | None
    n_rows: int
    targets: Any
    "The targets as an array, or a dict of arrays."
    target_specs: Any

    def gathered(self) -> dict[str, Source]:
        """The sources by the names of the inputs of a step."""
        found: dict[str, Source] = {f"x[{i}]": source for i, source in enumerate(self.x)}
        found |= {f"y[{i}]": source for i, source in enumerate(self.y)}
        if self.weight is not None:
            found["weight"] = DenseRows(self.weight)
        return found

    def for_batches(
        self, batches: Batches, model: Model, loss: Loss | dict[str, Loss]
    ) -> tuple[TrainingData, Batches, int]:
        """Rows in memory that hold these batches, the batches by their numbers, and the number of the first of them."""
        return self, batches, 0

    def digest(self, chosen: np.ndarray | None = None) -> str:
        """A checksum of evenly spaced rows, converted to float64, and of the numbers of rows that were chosen."""
        rows = np.unique(np.linspace(0, self.n_rows - 1, DIGESTED_ROWS).astype(np.int64))
        found = hashlib.blake2b(digest_size=8)
        for source in self.gathered().values():
            found.update(source.take(rows, np.dtype(np.float64)).tobytes())
        if chosen is not None:
            found.update(chosen.tobytes())
        return found.hexdigest()

    def take(self, rows: np.ndarray | None) -> tuple[Any, Any]:
        """Copies of the targets of some rows, or of all, and their weights."""
        leaves, structure = flatten(self.targets)
        y = unflatten(structure, [np.array(leaf, order="C") if rows is None else leaf[rows] for leaf in leaves])
        return y, self.weight if self.weight is None or rows is None else self.weight[rows]


def is_sparse(X: object) -> bool:
    """Whether X is a SciPy sparse matrix; SciPy is not imported for it."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def as_csr(matrix: Any, name: str) -> Any:
    """A sparse matrix in CSR format; raises a ShapeError if it is malformed, which SciPy would not notice."""
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format()
    except ValueError as error:
        raise ShapeError(
            f"{name} is a malformed sparse matrix: {error}. Make it again, or look for code that changes its arrays."
        ) from None
    return matrix.tocsr()


def check_mask(leaf: Any, name: str) -> None:
    """Raise an error if some values are masked."""
    if np.ma.is_masked(leaf):
        places = np.argwhere(np.ma.getmaskarray(leaf))
        raise ConfigError(
            f"{name} has {len(places)} masked values; the first is at {_place(places[0])}. Replace them, or drop "
            "those rows."
        )


def as_source(leaf: Any, name: str) -> Source:
    """Rows of an array or a sparse matrix, without a copy if possible; lists become arrays."""
    if is_sparse(leaf):
        matrix = as_csr(leaf, name)
        is_wide = matrix.dtype.kind == "f" and matrix.dtype.itemsize > 8
        return SparseRows(matrix.astype(np.float64) if is_wide else matrix)
    check_mask(leaf, name)
    array = leaf if isinstance(leaf, np.ndarray) else np.asarray(leaf)
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{name} has dtype {array.dtype}; it must hold numbers.")
    if not array.dtype.isnative or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
        array = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype.newbyteorder("="))
    if array.ndim == 0:
        raise ShapeError(f"{name} is a single number; it must have one row for each sample.")
    return DenseRows(array)


def input_sources(network: Network, X: Inputs) -> tuple[Source, ...]:
    """A source for each input of the net."""
    sources = []
    for leaf, spec, key in matched(X, network.inputs):
        name = _called(key)
        source = as_source(leaf, name)
        if source.row_shape != spec.shape:
            raise ShapeError(
                f"{name} has rows of shape {show(source.row_shape)}; the net was made for rows of shape "
                f"{show(spec.shape)}."
            )
        sources.append(source)
    if len({source.n_rows for source in sources}) > 1:
        raise ShapeError(
            f"The inputs have {', '.join(str(s.n_rows) for s in sources)} rows; the numbers must be equal."
        )
    return tuple(sources)


def read(
    network: Network,
    loss: Loss | dict[str, Loss],
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    class_weight: Any = None,
    may_weigh_nothing: bool = False,
) -> TrainingData:
    """Check data and prepare them for training. In a part of a stream all weights may be 0 (``may_weigh_nothing``).

    Raises
    ------
    MadalineError
        For missing or infinite values (with row and column), targets that the loss cannot use, negative weights, or
        lengths that differ.
    """
    x = input_sources(network, X)
    n_rows = x[0].n_rows
    if not n_rows:
        raise ShapeError("X has no rows: there is nothing to learn from.")
    for source, (_, _, key) in zip(x, matched(X, network.inputs), strict=True):
        _check_finite(source, _called(key))
    _check_names(network.out_shape)
    targets = _as_targets(y)
    leaves = flatten(targets)[0]
    if any(len(leaf) != n_rows for leaf in leaves):
        raise ShapeError(f"X has {n_rows} rows and y has {', '.join(str(len(leaf)) for leaf in leaves)}.")
    _check_targets(loss, network.out_shape, targets)
    weight = row_weights(loss, network.out_shape, targets, n_rows, sample_weight, class_weight)
    if weight is not None and not weight.any() and not may_weigh_nothing:
        raise ConfigError("The weight is 0 for every row: there is nothing to learn from.")
    return TrainingData(
        x,
        tuple(as_source(leaf, "y") for leaf in leaves),
        None if weight is None else weight.astype(network.dtype),
        n_rows,
        targets,
        target_specs(targets, network.dtype),
    )


def _check_names(out_shape: Any) -> None:
    """Raise an error if the net has several outputs without names, because losses are assigned by name."""
    if isinstance(out_shape, tuple) and out_shape and isinstance(out_shape[0], (tuple, dict)):
        raise ConfigError(
            f"The net has {len(out_shape)} outputs without names. Name them: md.Parallel(price=..., kind=...), and "
            "give a loss and targets for each: loss={'price': 'mse', ...}."
        )


def _as_targets(y: Targets) -> Any:
    if is_sparse(y):
        return as_csr(y, "y").toarray()
    if isinstance(y, dict):
        return {name: _as_targets(item) for name, item in y.items()}
    check_mask(y, "y")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ShapeError(f"y is not an array: its rows or parts have different shapes ({error}).") from None
    if array.dtype.kind not in "fiub":
        raise DtypeError(
            f"y has dtype {array.dtype}; it must hold numbers. "
            "Number the classes: np.unique(y, return_inverse=True)[1]."
        )
    if array.ndim == 0:
        raise ShapeError("y is a single number; it must have one row for each sample.")
    return array


def _check_targets(loss: Loss | dict[str, Loss], out_shape: Any, targets: Any) -> None:
    if isinstance(loss, dict):
        for name, item in loss.items():
            if (
                not isinstance(targets, dict)
                or name not in targets
                or not isinstance(out_shape, dict)
                or name not in out_shape
            ):
                raise ConfigError(f"loss names the output {name!r}; the net and y must have it too, as dicts.")
            _check_targets(item, out_shape[name], targets[name])
        return
    if isinstance(out_shape, dict) or isinstance(targets, dict):
        raise ConfigError("The net or y has several named outputs; give a loss for each: loss={'name': 'mse', ...}.")
    loss.check(out_shape, targets)


def check_categories(model: Model, x: tuple[Source, ...]) -> None:
    """Raise an error that names layer, row and value if an embedding has no entry for a category."""
    if not any(row.layer.takes == "integers" for row in model.network.rows):
        return
    specs, structure = flatten(model.network.inputs)
    for start in range(0, x[0].n_rows, CHECKED_ROWS):
        rows = np.arange(start, min(start + CHECKED_ROWS, x[0].n_rows))
        try:
            model.check(unflatten(structure, [source.take(rows, s.dtype) for source, s in zip(x, specs, strict=True)]))
        except InputError as error:
            raise InputError(
                f"{error} Rows are counted from row {start} of the data." if start else str(error)
            ) from None


def initial_rows(X: Any, rows: np.ndarray | None = None) -> Any:
    """The rows from which layers and initializers learn before training: all, or evenly spaced ones of many.

    Parameters
    ----------
    X : array, sparse matrix, or dict or tuple of them
        Inputs.
    rows : array of int, optional
        The rows of the training set; by default all.
    """
    if is_sparse(X):
        X = as_csr(X, "X")
    elif isinstance(X, dict):
        return {name: initial_rows(item, rows) for name, item in X.items()}
    elif isinstance(X, tuple):
        return tuple(initial_rows(item, rows) for item in X)
    elif not isinstance(X, np.ndarray):
        X = np.asarray(X)
    most = max(INITIAL_NUMBERS // max(X.shape[1], 1), 1) if is_sparse(X) and X.ndim > 1 else INITIAL_ROWS
    n_rows = len(rows) if rows is not None else X.shape[0] if X.ndim else 0
    step = -(-n_rows // min(most, INITIAL_ROWS))
    if rows is not None:
        return X[rows[::step]]
    X = X[::step] if step > 1 else X
    return unmapped(X) if isinstance(X, np.ndarray) else X


def _check_finite(source: Source, name: str) -> None:
    """Raise an error that names the place of the first missing or infinite value."""
    if source.dtype.kind != "f":
        return
    if isinstance(source, SparseRows):
        data = unmapped(source.data)
        wrong = np.flatnonzero(~np.isfinite(data))
        if len(wrong):
            row = int(np.searchsorted(source.indptr, wrong[0], side="right")) - 1
            raise _not_finite(name, len(wrong), data[wrong[0]], (row, int(source.indices[wrong[0]])))
        return
    array = source.arrays[0]
    for start in range(0, source.n_rows, CHECKED_ROWS):
        part = np.asarray(array[start : start + CHECKED_ROWS])
        if source.file is not None:  # by the core, which survives if the file is cut meanwhile
            part = source.take(np.arange(start, start + len(part)), np.result_type(source.dtype, np.float32))
        with np.errstate(all="ignore"):
            # The sum of finite values may overflow, so an infinite sum needs a closer look.
            if np.isfinite(part.sum(dtype=np.float64)) or np.isfinite(part).all():
                continue
        places = np.argwhere(~np.isfinite(part))
        row, *columns = places[0].tolist()
        raise _not_finite(name, len(places), part[tuple(places[0])], (start + row, *columns))


def _called(key: str) -> str:
    """The name of an input in messages."""
    return f"The input {key}" if key else "X"


def _not_finite(name: str, count: int, value: Any, place: tuple[int, ...]) -> ConfigError:
    return ConfigError(
        f"{name} has at least {count} missing or infinite value{'s' * (count > 1)}; the first is {value} at "
        f"{_place(place)}. Replace them, or drop those rows."
    )


def _place(place: Any) -> str:
    return f"row {place[0]}" + "".join(f", column {column}" for column in place[1:])
