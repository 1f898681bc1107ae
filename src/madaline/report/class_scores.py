"""Precision, recall and F1 of each class or label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ClassScore:
    r"""How well one class or label is predicted.

    Precision is the fraction of its predictions that are right, recall the fraction of its rows for which it is
    predicted, and :math:`F_1 = 2\,TP / (2\,TP + FP + FN)`. What is not defined is NaN.

    Attributes
    ----------
    name : str
        The class or label, or the name of an average.
    precision, recall, f1 : float
    n_rows : int
        Rows that have it.
    """

    name: str
    precision: float
    recall: float
    f1: float
    n_rows: int


def class_scores(truth: np.ndarray, prediction: np.ndarray, names: Sequence[object]) -> list[ClassScore]:
    """Scores of each class or label, then their unweighted mean ("macro average").

    Parameters
    ----------
    truth : array
        Numbers of classes (n,), or labels (n, k).
    prediction : array of shape (n, k)
        Probabilities. A class is predicted if it has the largest one, a label if its own is above 0.5.
    names : sequence
        Names of the classes or labels.

    Examples
    --------
    >>> found = class_scores(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]), ["no", "yes"])
    >>> [(each.name, each.precision, each.recall, round(each.f1, 3)) for each in found]
    [('no', 1.0, 0.5, 0.667), ('yes', 0.5, 1.0, 0.667), ('macro average', 0.75, 0.75, 0.667)]
    """
    count = prediction.shape[1]
    if truth.ndim == 1:
        has, given = (codes[:, None] == np.arange(count) for codes in (truth, np.argmax(prediction, axis=1)))
    else:
        has, given = truth > 0.5, prediction > 0.5
    both, n_rows, n_given = (has & given).sum(axis=0), has.sum(axis=0), given.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall, f1 = both / n_given, both / n_rows, 2.0 * both / (n_given + n_rows)
    found = [
        ClassScore(str(names[k]), float(precision[k]), float(recall[k]), float(f1[k]), int(n_rows[k]))
        for k in range(count)
    ]
    # Classes that are neither true nor predicted in any row say nothing; undefined scores of the others count as 0.
    present = n_rows + n_given > 0
    if present.any():
        p, r, f = (float(np.nan_to_num(each[present]).mean()) for each in (precision, recall, f1))
        found.append(ClassScore("macro average", p, r, f, int(n_rows.sum())))
    return found
