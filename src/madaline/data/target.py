"""The target of a table as an estimator takes it: classes, labels or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.data.task import (
    TASKS,
    check_no_gaps,
    classes_of,
    columns_of,
    infer_task,
    is_matrix,
    matrix_of,
    the_column,
)
from madaline.data.texts import written
from madaline.description import short
from madaline.errors import ConfigError, ShapeError, TargetError

CLASS_TASKS = ("binary", "multiclass")
NUMBER_TASKS = ("regression", "count")


@dataclass(frozen=True)
class TargetReader:
    """Reads target columns, whatever their type, as the arrays an estimator was or will be fitted to.

    Attributes
    ----------
    task : str
        One of :data:`TASKS`.
    names : tuple of str
        The target columns.
    classes : tuple
        The classes of ``"binary"`` and ``"multiclass"``, in order.
    reason : str
        Why the task was chosen.

    Examples
    --------
    >>> reader = TargetReader.fit({"answer": ["yes", "no", "no"]})
    >>> reader.task, reader.classes, reader.values({"answer": ["no", "yes"]})
    ('binary', ('no', 'yes'), array(['no', 'yes'], dtype='<U3'))
    """

    task: str
    names: tuple[str, ...]
    classes: tuple[Any, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ConfigError(f"task={self.task!r} must be one of {', '.join(TASKS)}.")

    @classmethod
    def fit(cls, y: Any, *, task: str | None = None) -> TargetReader:
        """Decide from the values of the target what the task is.

        Parameters
        ----------
        y : array, list, series, data frame or dict of columns
        task : str, optional
            One of :data:`TASKS`; inferred by default.
        """
        columns = columns_of(y)
        if not columns or not len(columns[0]):
            raise ShapeError("The target has no rows: there is nothing to learn from.")
        for column in columns:
            check_no_gaps(column)
        names = tuple(column.name for column in columns)
        if task is not None and task not in TASKS:
            raise ConfigError(f"task={task!r} must be one of {', '.join(TASKS)}.")
        found, reason = infer_task(columns) if task is None else (task, "as requested")
        if found in CLASS_TASKS:
            classes = classes_of(the_column(columns, found))
            if len(classes) == 1:
                raise TargetError(f"The target is {classes[0]!r} in every row: there is nothing to learn.")
            if found == "binary" and len(classes) != 2:
                raise TargetError(f"task='binary' needs two classes, and the target has {len(classes)}.")
            return cls("binary" if len(classes) == 2 else "multiclass", names, classes, reason)
        if found in NUMBER_TASKS:
            matrix = matrix_of(columns)
            if found == "count" and matrix.min() < 0.0:
                row = int(np.flatnonzero((matrix < 0.0).any(axis=1))[0])
                raise TargetError(
                    f"task='count' needs numbers that are not negative, and row {row} of the target is "
                    f"{matrix[row].min():g}. Use task='regression'."
                )
        if found == "multilabel":
            for column in columns:
                column.booleans()  # raises an error that names a value that is not a label
        return cls(found, names, (), reason)

    def values(self, y: Any) -> np.ndarray:
        """The targets of rows: classes (n,), labels as 0 and 1 (n, k), or numbers (n,) or (n, k)."""
        columns = columns_of(y)
        for column in columns:
            check_no_gaps(column)
        if len(columns) != len(self.names):
            raise TargetError(f"The target has {len(columns)} columns, and in training it had {len(self.names)}.")
        if self.task in CLASS_TASKS:
            codes = columns[0].codes(tuple(map(written, self.classes)))
            unseen = np.flatnonzero(codes < 0)
            if len(unseen):
                value = columns[0].texts()[int(unseen[0])]
                raise TargetError(
                    f"Row {unseen[0]} of the target is {value!r}, a class that was not in the training data. Known: "
                    f"{short(self.classes)}."
                )
            return np.asarray(np.array(self.classes)[codes])
        if self.task == "multilabel":
            return np.stack([column.booleans() for column in columns], axis=1).astype(np.int64)
        matrix = matrix_of(columns)
        return matrix if len(columns) > 1 or is_matrix(y) else matrix[:, 0]
