"""The rows of the test set with the largest errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from madaline.report.findings import NUMBERS
from madaline.report.value_text import shown

MOST_ROWS, LEAST_ROWS = 15, 5
"Of classes, rows that are predicted right are shown only to make up the smallest number."
SMALLEST = 1e-15


@dataclass(frozen=True)
class WorstRows:
    """Rows with the largest errors, the worst first.

    Attributes
    ----------
    rows : sequence of int
        Numbers of the rows.
    outcome : mapping of str to sequences of str
        True and predicted values and the error of each row, by their names.
    columns : mapping of str to sequences of str
        Values of the feature columns.
    first : int
        The number of the first row of the table: 0 in Python, 1 on the command line.
    """

    rows: Sequence[int]
    outcome: Mapping[str, Sequence[str]]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    first: int = 0


def worst_first(task: str, truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Indices of the rows with the largest errors, the worst first.

    The error is minus the log probability of the true class, the sum of that over labels, or the absolute difference
    of numbers; several targets are divided by their standard deviations.
    """
    if task in NUMBERS:
        spread = truth.std(axis=0)
        error = np.max(np.abs(truth - prediction) / np.where(spread > 0.0, spread, 1.0), axis=1)
        n_wrong = len(truth)
    elif task == "multilabel":
        right = np.where(truth > 0.5, prediction, 1.0 - prediction)
        error = -np.log(np.maximum(right, SMALLEST)).sum(axis=1)
        n_wrong = int(((truth > 0.5) != (prediction > 0.5)).any(axis=1).sum())
    else:
        error = -prediction[np.arange(len(truth)), truth]
        n_wrong = int((prediction.argmax(axis=1) != truth).sum())
    return np.argsort(-error, kind="stable")[: min(max(n_wrong, LEAST_ROWS), MOST_ROWS)]


def outcomes(
    task: str, truth: np.ndarray, prediction: np.ndarray, classes: Sequence[object], targets: Sequence[str]
) -> dict[str, list[str]]:
    """True and predicted values of rows, as texts under their names."""
    if task == "multilabel":
        names = [str(name) for name in classes]
        found = {"true": [_labels(row > 0.5, names) for row in truth]}
        found["predicted"] = [_labels(row > 0.5, names) for row in prediction]
        right = np.where(truth > 0.5, prediction, 1.0 - prediction)
        worst = right.argmin(axis=1)
        texts = [f"{names[k]}: {row[k]:.1%}" for k, row in zip(worst, prediction, strict=True)]
        return {**found, "probability of the worst label": texts}
    if task in NUMBERS:
        found = {}
        for k in range(truth.shape[1]):
            of = f" {targets[k]}" if truth.shape[1] > 1 and k < len(targets) else ""
            size = float(max(np.abs(truth[:, k]).max(), np.abs(prediction[:, k]).max()))
            found[f"true{of}"] = [shown(value, size) for value in truth[:, k].tolist()]
            found[f"predicted{of}"] = [shown(value, size) for value in prediction[:, k].tolist()]
            found[f"error{of}"] = [shown(value, size) for value in (truth - prediction)[:, k].tolist()]
        return found
    best = np.argmax(prediction, axis=1)
    return {
        "true": [str(classes[k]) for k in truth],
        "predicted": [str(classes[k]) for k in best],
        "probability of the true class": [f"{row[k]:.1%}" for row, k in zip(prediction, truth, strict=True)],
    }


def _labels(has: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(name for name, one in zip(names, has, strict=True) if one) or "none"
