"""How predictable the target is by one column alone and without it, and whether a column is made from the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from madaline.doctor.baselines import linear_rows
from madaline.doctor.exam import Exam, is_sure
from madaline.doctor.reference import reference_setup
from madaline.doctor.sample import Problem
from madaline.graph.tree import flatten

BINS, STRATA, FEWEST = 24, 30, 60
SOMETHING = 2.5
"Standard errors by which a model without a column must be ahead of a constant."
SIGNIFICANT = 0.001
"With a smaller p value the other columns say something about the column besides what they say about the target."


def loss_without(exam: Exam, columns: Sequence[int], *, with_net: bool = False) -> float | None:
    """The loss of a linear model without these columns on held-out rows, or of a net of usual size if that is lower.

    None if the inputs are not one array.
    """
    problem = without_columns(exam.problem, columns)
    if problem is None:
        return None
    linear = linear_rows(exam.setup, problem, exam.n_outputs)
    found = [] if linear is None else [float(linear.mean())]
    if with_net:
        outcome = exam.run(reference_setup(exam.setup, problem, exam.n_outputs), problem)
        found.append(float(exam.held_losses(outcome, problem).mean()))
    return min(found, default=None)


def others_say_something(exam: Exam, columns: Sequence[int] | np.ndarray) -> bool:
    """Whether a linear model or a net of usual size predicts the target without these columns, beyond chance.

    Also if that cannot be seen, because the inputs are not one array.
    """
    problem = without_columns(exam.problem, columns)
    if problem is None:
        return True
    linear = linear_rows(exam.setup, problem, exam.n_outputs)
    if linear is not None and is_sure(exam.constant - linear, SOMETHING):
        return True
    outcome = exam.run(reference_setup(exam.setup, problem, exam.n_outputs), problem)
    return is_sure(exam.constant - exam.held_losses(outcome, problem), SOMETHING)


def without_columns(problem: Problem, columns: Sequence[int] | np.ndarray) -> Problem | None:
    """The rows without some columns; None if the inputs are not one array, or if no column is left."""
    if len(flatten(problem.train.X)[0]) != 1 or problem.train.X.ndim != 2:
        return None
    kept = np.setdiff1d(np.arange(problem.train.X.shape[1]), columns)
    if not len(kept):
        return None
    train = replace(problem.train, X=np.ascontiguousarray(problem.train.X[:, kept]))
    held = replace(problem.held, X=np.ascontiguousarray(problem.held.X[:, kept]))
    monitored = problem.monitored
    if monitored is not None:
        monitored = replace(monitored, X=np.ascontiguousarray(monitored.X[:, kept]))
    return replace(problem, train=train, held=held, monitored=monitored)


def loss_of_column(exam: Exam, column: int) -> float:
    """The loss on held-out rows if the target is predicted by one column: a monotone curve, or shares of classes."""
    x, x_held = exam.columns[:, column], exam.problem.held.matrix[:, column]
    if exam.classes is not None and exam.held_classes is not None:
        return _loss_of_shares(x, exam.classes.astype(int), x_held, exam.held_classes.astype(int))
    y = np.asarray(exam.problem.train.y, dtype=np.float64).reshape(len(x))
    values, fitted = _monotone(x, y)
    predicted = np.interp(x_held, values, fitted).reshape(len(x_held), 1)
    return float(np.mean(exam.loss(predicted, exam.problem.held.y, reduction="none")))


def explained_by_column(x: np.ndarray, y: np.ndarray) -> float:
    """The fraction of the variance of a target that a monotone curve in one column explains."""
    values, fitted = _monotone(x, y)
    return 1.0 - float(np.var(y - fitted[np.searchsorted(values, x)])) / max(float(np.var(y)), 1e-300)


def _monotone(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of a column, and the monotone curve in them that is nearest to the target."""
    from scipy.optimize import isotonic_regression
    from scipy.stats import rankdata

    is_rising = bool(np.corrcoef(rankdata(x), rankdata(y))[0, 1] > 0) if x.std() else True
    values, place = np.unique(x, return_inverse=True)
    counts = np.bincount(place)
    fitted = isotonic_regression(np.bincount(place, y) / counts, weights=counts, increasing=is_rising).x
    return values, fitted


def _loss_of_shares(x: np.ndarray, classes: np.ndarray, x_held: np.ndarray, held: np.ndarray) -> float:
    """The mean -log p of the classes, with their shares in intervals of the column as probabilities."""
    n_classes = int(max(classes.max(), held.max())) + 1
    edges = np.unique(np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1]))
    counts = np.full((len(edges) + 1, n_classes), 0.2)
    np.add.at(counts, (np.searchsorted(edges, x, side="right"), classes), 1.0)
    p = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(p[np.searchsorted(edges, x_held, side="right"), held]).mean())


def is_made_from_target(exam: Exam, column: int) -> bool:
    """Whether the other columns say nothing about a column that the target does not say: a test of independence.

    Rows with nearly the same target are compared. A cause of the target fails the test, because there the other causes
    say how large it must have been.
    """
    from scipy.stats import f, rankdata

    problem = exam.problem
    X = np.concatenate([problem.train.matrix, problem.held.matrix])
    if exam.classes is not None and exam.held_classes is not None:
        strata = np.concatenate([exam.classes, exam.held_classes]).astype(int)
        y = np.zeros(len(X))
    else:
        y = np.concatenate([np.asarray(problem.train.y), np.asarray(problem.held.y)]).reshape(len(X))
        strata = (rankdata(y, method="ordinal") - 1).astype(int) * STRATA // len(X)
    others = _within(np.delete(X, column, axis=1), strata, y)
    own = _within(rankdata(X[:, column]).reshape(-1, 1), strata, y)[:, 0]
    others = others[:, others.std(axis=0) > 1e-9 * (1 + np.abs(others).max(axis=0))]
    n, k = len(X), min(others.shape[1], len(X) // 10)
    if n < FEWEST or not k or not own.std():
        return False
    others = others[:, :k] / others[:, :k].std(axis=0)
    left = own - others @ np.linalg.lstsq(others, own, rcond=None)[0]
    free = n - k - 2 * len(np.unique(strata))
    if free < 1:
        return False
    statistic = ((own @ own - left @ left) / k) / (left @ left / free)
    return bool(f.sf(statistic, k, free) > SIGNIFICANT)


def _within(X: np.ndarray, strata: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Columns minus a line in y that is fitted to the rows of the same stratum, divided by the spread there."""
    found = np.array(X, dtype=np.float64)
    for stratum in np.unique(strata):
        rows = strata == stratum
        part, t = found[rows] - found[rows].mean(axis=0), y[rows] - y[rows].mean()
        part -= np.outer(t, t @ part) / max(float(t @ t), 1e-300)
        found[rows] = part / np.where(part.std(axis=0) > 0, part.std(axis=0), 1.0)
    return found
