"""Types of the data that users give to nets and estimators."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from narwhals.typing import IntoDataFrame, IntoSeries
from numpy.typing import ArrayLike


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy, which has no type information of its own."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def tocsr(self) -> Any: ...


class Splitter(Protocol):
    """A splitter of scikit-learn, such as ``GroupKFold(5)``."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[ArrayLike, ArrayLike]]: ...


TableLike = ArrayLike | SparseMatrix | IntoDataFrame
"Rows and columns: an array, nested lists, a sparse matrix or a data frame of any library."

Inputs = TableLike | Mapping[str, TableLike] | Sequence[TableLike]
"The inputs of a net: one table, or a dict or tuple of them for nets with several inputs."

Targets = ArrayLike | IntoDataFrame | IntoSeries | Mapping[str, ArrayLike]
"The targets: one array, data frame or column, or a dict of them for nets with several outputs."

OneClassWeight = Mapping[Any, float] | ArrayLike | Literal["balanced"]
"The weights of the classes of one target."

ClassWeights = OneClassWeight | Sequence[OneClassWeight] | Mapping[Hashable, OneClassWeight]
"Class weights: of one target, of each label, or of each named output."

Folds = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]
"Folds of cross-validation: their number, a splitter, or the row numbers of the training and held-out rows of each."
