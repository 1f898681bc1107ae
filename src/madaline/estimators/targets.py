"""Encoding of classes and labels as numbers, and decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import column_or_1d
from sklearn.utils._missing import is_pandas_na
from sklearn.utils.multiclass import type_of_target, unique_labels

from madaline.errors import DtypeError, TargetError
from madaline.losses.targets import Target

if TYPE_CHECKING:
    from madaline.data.data_types import Targets

KINDS = ("binary", "multiclass", "labels", "several")
"Kinds of targets of a classifier."


def refuse_gaps(y: Targets) -> None:
    """Raise an error that names the first row without a target."""
    values = np.empty(0) if y is None or issparse(y) else np.asarray(y)
    if values.dtype != object or values.ndim == 0:
        return
    gaps = np.array([value is None or is_pandas_na(value) for value in values.ravel()]).reshape(values.shape)
    if gaps.any():
        place = np.argwhere(gaps)[0]
        where = f"row {place[0]}" + "".join(f", column {column}" for column in place[1:])
        raise TargetError(
            f"y is missing in {where} ({np.count_nonzero(gaps)} such values). Leave out the rows without a target."
        )


def target_names(y: Targets, target: np.ndarray) -> tuple[str, ...]:
    """The names of the targets in a data frame or series; otherwise ``y``, or ``y0``, ``y1`` ..."""
    names = getattr(y, "columns", None)
    if names is not None:
        return tuple(map(str, names))
    if target.ndim == 1 or target.shape[1] == 1:
        return (str(getattr(y, "name", None) or "y"),)
    return tuple(f"y{place}" for place in range(target.shape[1]))


def as_numbers(y: Any) -> np.ndarray:
    """Targets of a regression as an array, one column without its axis, with scikit-learn's warning."""
    y = y.toarray() if issparse(y) else np.asarray(y)
    if y.dtype.kind not in "fiub":
        raise DtypeError(f"y has dtype {y.dtype}, and a regressor predicts numbers. Convert it: y.astype(float).")
    return np.asarray(column_or_1d(y, warn=True)) if y.ndim == 2 and y.shape[1] == 1 else y


@dataclass(frozen=True)
class Classes:
    """The classes of a target, or of several.

    Parameters
    ----------
    kind : {"binary", "multiclass", "labels", "several"}
        At most two classes, more classes, binary labels, or several targets with their own classes.
    classes : array, or list of them
        See scikit-learn's ``classes_``.
    is_sparse : bool
        Whether labels are given and returned as a sparse matrix.
    """

    kind: str
    classes: Any
    is_sparse: bool = False

    def __post_init__(self) -> None:
        columns = self.classes if self.kind == "several" else [self.classes]
        if self.kind not in KINDS or not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in columns):
            raise TargetError(f"{self.kind!r} and {self.classes!r:.60} do not describe classes.")

    @classmethod
    def of(cls, y: Any) -> Classes:
        """Find the classes; errors are those of scikit-learn."""
        of_any_kind = not issparse(y) and y.dtype == object and y.ndim == 2 and y.shape[1] > 1
        found = "" if of_any_kind else type_of_target(y, input_name="y", raise_unknown=True)
        if of_any_kind or found == "multiclass-multioutput":
            columns = _columns(y)
            for column in columns:
                unique_labels(column)  # raises an error for values that are not classes
            return cls("several", [np.unique(column) for column in columns])
        kinds = {"binary": "binary", "multiclass": "multiclass", "multilabel-indicator": "labels"}
        classes = unique_labels(y)  # raises an error for other kinds of targets
        return cls(kinds[found], classes, issparse(y))

    @property
    def target(self) -> Target:
        """The description of the targets for a loss."""
        if self.kind == "labels":
            return Target(len(self.classes))
        return Target(1, max(len(self.classes), 2)) if self.kind != "several" else Target(len(self.classes))

    def numbered(self) -> Classes:
        """The same with class indices instead of names."""
        names = self.classes
        numbers = [np.arange(len(one)) for one in names] if self.kind == "several" else np.arange(len(names))
        return Classes(self.kind, numbers)

    def encode(self, y: Any) -> np.ndarray:
        """Indices of classes; 0 and 1 for two classes and for labels."""
        if self.kind == "several":
            columns = zip(self.classes, _columns(y), strict=True)
            return np.stack([np.searchsorted(classes, column) for classes, column in columns], axis=1)
        if self.kind == "labels":
            dense: np.ndarray = y.toarray() if issparse(y) else np.asarray(y)
            return dense.astype(bool)
        found: np.ndarray = np.searchsorted(self.classes, y)
        return found.astype(bool) if self.kind == "binary" else found

    def check_known(self, y: Targets, *, warm_start: bool) -> None:
        """Raise scikit-learn's error if ``y`` has new classes."""
        if self.kind == "several":
            self._check_known_columns(y)
            return
        now = unique_labels(y)
        if warm_start and set(now.tolist()) != set(self.classes.tolist()):
            raise ValueError(
                "warm_start can only be used where `y` has the same classes as in the previous call to fit. "
                f"Previously got {self.classes}, `y` has {now}"
            )
        if len(np.setdiff1d(now, self.classes, assume_unique=True)):
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes}. 'y' has {now}."
            )

    def _check_known_columns(self, y: Targets) -> None:
        for place, (classes, column) in enumerate(zip(self.classes, _columns(y), strict=True)):
            new = np.setdiff1d(column, classes).tolist()
            if new:
                raise ValueError(f"Column {place} of `y` has the class {new[0]!r}, which did not occur in fit.")

    def decode(self, scores: np.ndarray, *, threshold: float = 0.5) -> Any:
        """Classes from probabilities, or from margins (with ``threshold=0``): the largest, or all above it."""
        if self.kind == "several":
            ends = np.cumsum([0, *(len(classes) for classes in self.classes)])
            picked = [
                classes[np.argmax(scores[:, start:stop], axis=1)]
                for classes, start, stop in zip(self.classes, ends[:-1], ends[1:], strict=True)
            ]
            if len({classes.dtype.kind for classes in self.classes}) > 1:  # text beside numbers
                picked = [column.astype(object) for column in picked]
            return np.stack(picked, axis=1)
        if self.kind == "labels":
            found = (scores > threshold).astype(int)
            return csr_matrix(found) if self.is_sparse else found
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(scores))
        if scores.shape[1] == 1:
            return self.classes[(scores[:, 0] > threshold).astype(int)]
        return self.classes[np.argmax(scores, axis=1)]


def _columns(y: Targets) -> list[np.ndarray]:
    """The columns of the targets, with numbers in mixed data frames converted back to numbers."""
    columns = list(np.asarray(y).T)
    for place, column in enumerate(columns):
        if column.dtype == object:
            is_text = {isinstance(value, str) for value in column}
            if len(is_text) > 1:
                raise TargetError(f"Column {place} of y holds text and other values. Use classes of one type.")
            columns[place] = column if True in is_text else np.array(column.tolist())
    return columns
