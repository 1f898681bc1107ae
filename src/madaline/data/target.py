"""The target as a net learns it, and predictions in the units or classes of the target."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from madaline.data.column import Column
from madaline.data.roles import SET
from madaline.data.scale import centre_and_scale
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
from madaline.description import Description, description, short
from madaline.errors import ConfigError, ShapeError, TargetError
from madaline.registry import Registry

TARGET_PLANS: Registry[type[TargetPlan]] = Registry("target plan")

MOST = 10.0
"Predicted counts are at most this many times the largest count of the training set."


@description
class TargetPlan(Description):
    """How a target is encoded for training, and predictions are decoded; fitted by :meth:`fit`, kept with the model.

    Parameters
    ----------
    task : str
        One of :data:`TASKS`.
    reason : str
        Why this task was chosen.
    """

    registry: ClassVar[Registry[Any]] = TARGET_PLANS
    tasks: ClassVar[tuple[str, ...]] = TASKS

    task: str
    _: KW_ONLY
    reason: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.task not in self.tasks:
            raise ConfigError(f"task={self.task!r} must be one of {', '.join(self.tasks)} for this target.")

    @staticmethod
    def fit(y: Any, *, task: str | None = None, scale: bool = True) -> TargetPlan:
        """Fit a plan to the target of the training table.

        Parameters
        ----------
        y : array, list, series or data frame
            One value for each row, or several columns of numbers.
        task : str, optional
            One of :data:`TASKS`, or ``"classification"``. By default it is told from the values; see
            :func:`~madaline.data.task.infer_task`.
        scale : bool
            Whether numbers are scaled to mean 0 and standard deviation 1.

        Examples
        --------
        >>> plan = TargetPlan.fit(["yes", "no", "no"])
        >>> plan.task, plan.encode(["no", "yes"]), plan.decode(np.array([1, 0]))
        ('binary', array([0, 1]), array(['yes', 'no'], dtype='<U3'))
        """
        columns = columns_of(y)
        if not columns or not len(columns[0]):
            raise ShapeError("The target has no rows: there is nothing to learn from.")
        for column in columns:
            check_no_gaps(column)
        found, reason = infer_task(columns)
        if task is not None and task != "classification":
            found, reason = task, SET
        elif task == "classification" and found not in ("binary", "multiclass", "multilabel"):
            found, reason = "multiclass", SET
        if found in ("binary", "multiclass"):
            return ClassTarget.of_column(the_column(columns, found), reason, task=found)
        if found == "multilabel":
            return LabelTarget("multilabel", reason=reason, labels=tuple(column.name for column in columns))
        matrix = matrix_of(columns)
        if found == "count" and matrix.min() < 0.0:
            row = int(np.flatnonzero((matrix < 0.0).any(axis=1))[0])
            raise TargetError(
                f"task='count' is for numbers of things, but row {row} of the target is {matrix[row].min():g}. Use "
                "task='regression'."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            centre, size = centre_and_scale(matrix, "standard" if scale else "none")
        if not (np.isfinite(centre) & np.isfinite(size) & (size > 0.0)).all():
            raise TargetError("The target is too large or too small to be learned. Convert it to other units.")
        limits = MOST * np.maximum(matrix.max(axis=0), 1.0) if found == "count" else np.zeros(0)
        return NumberTarget(
            found,
            reason=reason,
            centres=tuple(centre.tolist()),
            scales=tuple(size.tolist()),
            is_matrix=is_matrix(y),
            limits=tuple(limits.tolist()),
        )

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the net for a row."""
        raise NotImplementedError

    def encode(self, y: Any) -> np.ndarray:
        """The target as arrays for training."""
        raise NotImplementedError

    def decode(self, answers: np.ndarray) -> np.ndarray:
        """Predictions in the classes or units of the target."""
        raise NotImplementedError


@description
class ClassTarget(TargetPlan):
    """Classes, encoded as their position in order."""

    name: ClassVar[str] = "classes"
    tasks: ClassVar[tuple[str, ...]] = ("binary", "multiclass")
    _: KW_ONLY
    classes: tuple[str, ...] | tuple[int, ...] | tuple[float, ...] | tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.classes) < 2 or len(set(self.classes)) != len(self.classes):
            raise ConfigError(f"classes={short(self.classes)} must be two or more different values.")

    @classmethod
    def of_column(cls, column: Column, reason: str, *, task: str) -> ClassTarget:
        """The classes of a column."""
        classes = classes_of(column)
        if len(classes) == 1:
            raise TargetError(f"The target is {classes[0]!r} in every row: there is nothing to learn.")
        if task == "binary" and len(classes) != 2:
            raise TargetError(f"task='binary' needs two classes, but the target has {len(classes)}.")
        return cls("binary" if len(classes) == 2 else "multiclass", reason=reason, classes=classes)

    @property
    def n_outputs(self) -> int:
        return len(self.classes)

    def encode(self, y: Any) -> np.ndarray:
        column = the_column(columns_of(y), self.task)
        check_no_gaps(column)
        codes = column.codes(tuple(map(written, self.classes)))
        unseen = np.flatnonzero(codes < 0)
        if len(unseen):
            value = column.texts()[int(unseen[0])]
            raise TargetError(
                f"Row {unseen[0]} of the target is {value!r}, a class that training did not have. Known: "
                f"{short(self.classes)}."
            )
        return codes

    def decode(self, answers: np.ndarray) -> np.ndarray:
        labels: np.ndarray = np.array(self.classes)[answers]
        return labels


@description
class LabelTarget(TargetPlan):
    """Several labels, any number of which apply to a row: a matrix of 0 and 1."""

    name: ClassVar[str] = "labels"
    tasks: ClassVar[tuple[str, ...]] = ("multilabel",)
    _: KW_ONLY
    labels: tuple[str, ...] = ()

    @property
    def n_outputs(self) -> int:
        return len(self.labels)

    def encode(self, y: Any) -> np.ndarray:
        columns = columns_of(y)
        for column in columns:
            check_no_gaps(column)
        if len(columns) != len(self.labels):
            raise TargetError(f"The target has {len(columns)} labels, but in training it had {len(self.labels)}.")
        return np.stack([column.booleans() for column in columns], axis=1).astype(np.float32)

    def decode(self, answers: np.ndarray) -> np.ndarray:
        return np.asarray(answers).astype(np.int64)


@description
class NumberTarget(TargetPlan):
    r"""One or more numbers, learned as :math:`t = (y - c)/s`. Predicted counts are between 0 and ``limits``."""

    name: ClassVar[str] = "numbers"
    tasks: ClassVar[tuple[str, ...]] = ("regression", "count")
    _: KW_ONLY
    centres: tuple[float, ...] = (0.0,)
    scales: tuple[float, ...] = (1.0,)
    is_matrix: bool = False
    limits: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        finite = all(map(math.isfinite, (*self.centres, *self.scales)))
        if self.limits and (len(self.limits) != len(self.scales) or not min(self.limits) > 0.0):
            raise ConfigError("Every output needs a positive limit, or none has one.")
        if len(self.centres) != len(self.scales) or not self.scales or not finite or min(self.scales) <= 0.0:
            raise ConfigError("Every output needs a finite centre and a finite positive scale.")
        if len(self.scales) > 1 and not self.is_matrix:
            raise ConfigError("Several outputs need is_matrix=True.")

    @property
    def n_outputs(self) -> int:
        return len(self.scales)

    def encode(self, y: Any) -> np.ndarray:
        columns = columns_of(y)
        for column in columns:
            check_no_gaps(column)
        if len(columns) != self.n_outputs:
            raise TargetError(f"The target has {len(columns)} columns, but in training it had {self.n_outputs}.")
        t = ((matrix_of(columns) - self.centres) / self.scales).astype(np.float32)
        return t if self.is_matrix else t[:, 0]

    def bounded(self, answers: Any) -> Any:
        """Predictions in the units of the target, as arrays or traced; those of counts within their limits.

        A rate is an exponential of the output of the net, which may be any number far from the training rows.
        """
        if self.task != "count":
            return answers
        above = np.maximum(answers, 0.0)
        if not self.limits:
            return above
        return np.minimum(above, np.array(self.limits) if self.is_matrix else self.limits[0])

    def decode(self, answers: np.ndarray) -> np.ndarray:
        t = np.asarray(answers, dtype=np.float64)
        t = t.reshape(len(t), self.n_outputs) * self.scales + self.centres
        return t if self.is_matrix else t[:, 0]
