"""Descriptions of targets, and checks whose errors name the row and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import DtypeError, ShapeError, TargetError
from madaline.graph.shapes import Rows, Shape, show

if TYPE_CHECKING:
    from madaline.graph.arrays import Array

SUM_TOLERANCE = 1e-5
"Tolerance for the sum of a row's probabilities: float32 rounding errors of many classes."


@dataclass(frozen=True)
class Target:
    """What a loss needs to know about targets to determine the number of outputs.

    Parameters
    ----------
    width : int
        Number of columns.
    n_classes : int or None
        Number of classes, if the targets are class indices.

    Examples
    --------
    >>> Target.of(np.array([0, 2, 1]))
    Target(width=1, n_classes=3)
    """

    width: int = 1
    n_classes: int | None = None

    @classmethod
    def of(cls, target: Array) -> Target:
        """The description of an array: a single column of non-negative integers is taken as class indices."""
        target = np.asarray(target)
        width = prod(target.shape[1:])
        whole = target.dtype.kind in "iub" and target.ndim == 1 and target.size and target.min() >= 0
        return cls(width, int(target.max()) + 1 if whole else None)

    def classes(self, loss: str) -> int:
        """The number of classes: that of the class indices, or the number of columns."""
        n_classes = self.n_classes if self.n_classes is not None else self.width
        if n_classes < 2:
            raise TargetError(f"{loss} needs targets with two or more classes, got {self}. Are they class indices?")
        return n_classes


def columns(x: Array) -> Array:
    """Reshape to two axes: ``(n,)`` becomes ``(n, 1)`` and ``(n, a, b)`` becomes ``(n, a b)``."""
    if x.ndim == 0:
        raise ShapeError("A prediction or target is a number, without an axis for its rows. Pass x[None] for one row.")
    return x if x.ndim == 2 else np.reshape(x, (x.shape[0], prod(x.shape[1:])))


def n_columns(x: Array) -> int:
    """Number of columns of an array with two axes, of which the first may be a batch of any size."""
    size = x.shape[1]
    assert isinstance(size, int)
    return size


def matched(prediction: Array, target: Array) -> tuple[Any, Any]:
    """Both with two axes and the same shape and type, so that nothing is broadcast by accident."""
    z, y = columns(prediction), columns(target)
    check_same_shape(z.shape, y.shape)
    return z, y.astype(z.dtype)


def check_same_shape(prediction: Shape, target: Shape) -> None:
    """Raise an error unless there is one target for each output."""
    wide = prod(target[1:])
    if prod(prediction[1:]) != wide:
        raise ShapeError(
            f"prediction has shape {show(prediction)}, target has shape {show(target)}: there must be one target for "
            f"each output. Give the net {wide} output{'s' * (wide != 1)}, or select columns of the target."
        )
    check_rows(prediction, target)


def check_rows(prediction: Shape, target: Shape) -> None:
    """Raise an error unless both have the same number of rows, or one of them is not known yet."""
    if not prediction or not target:
        raise ShapeError("A prediction or target is a number, without an axis for its rows. Pass x[None] for one row.")
    known = not isinstance(prediction[0], Rows) and not isinstance(target[0], Rows)
    if known and prediction[0] != target[0]:
        raise ShapeError(
            f"prediction has {prediction[0]} rows, target has {target[0]}; the numbers must be equal. "
            f"The shapes are {show(prediction)} and {show(target)}."
        )


def check_numbers(target: np.ndarray[Any, Any]) -> None:
    """Raise an error unless every target is a finite number."""
    if target.dtype.kind not in "fiub":
        raise DtypeError(f"target has type {target.dtype}; this loss needs numbers. Convert it: y.astype(float).")
    if target.dtype.kind == "f":
        refuse(target, ~np.isfinite(target), "must be finite", "Drop those rows, or fill in the values")


def check_classes(target: np.ndarray[Any, Any], n_classes: Any) -> None:
    """Raise an error unless every target is a class index."""
    if target.dtype.kind not in "iub":
        raise DtypeError(
            f"target has type {target.dtype}; class indices must be integers from 0 to {n_classes - 1}. "
            "Number the classes: np.unique(y, return_inverse=True)[1]."
        )
    wrong = (target < 0) | (target >= n_classes)
    refuse(
        target,
        wrong,
        f"must be a class from 0 to {n_classes - 1}",
        "Give the net one output per class, or number the classes from 0",
    )


def check_distribution(target: np.ndarray[Any, Any]) -> None:
    """Raise an error unless every row holds probabilities that add up to 1."""
    check_probabilities(target)
    total = target.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1.0) > SUM_TOLERANCE)
    if wrong.size:
        row = wrong[0]
        raise TargetError(
            f"The target probabilities of row {row} add up to {total[row]:.6g} ({wrong.size} such rows); they must add "
            "up to 1. Divide by their sum, or use binary_cross_entropy if a row can have several labels."
        )


def check_probabilities(target: np.ndarray[Any, Any]) -> None:
    """Raise an error unless every target is between 0 and 1."""
    check_numbers(target)
    refuse(target, (target < 0) | (target > 1), "must be between 0 and 1", "Number the classes 0 and 1")


def refuse(target: np.ndarray[Any, Any], wrong: np.ndarray[Any, Any], rule: str, fix: str) -> None:
    """Raise an error with the position of the first wrong target and the number of wrong ones."""
    if not wrong.any():
        return
    place = np.argwhere(wrong)[0]
    where = f"row {place[0]}" + "".join(f", column {column}" for column in place[1:])
    count = int(np.count_nonzero(wrong))
    more = f" (and {count - 1} more)" if count > 1 else ""
    raise TargetError(f"target is {target[tuple(place)]} at {where}{more}; it {rule}. {fix}.")
