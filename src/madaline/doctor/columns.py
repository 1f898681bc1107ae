"""What a column of numbers is like."""

from __future__ import annotations

import numpy as np


def is_measured(x: np.ndarray) -> bool:
    """Whether a column holds measurements: it varies, has more than two values and is not mostly 0."""
    x = x[np.isfinite(x)]
    if not len(x) or x.min() == x.max():
        return False
    return bool(np.mean(x == 0) < 0.5 and len(np.unique(x[:200])) > 2)


def rank_auc(score: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve: the chance that a positive row has a larger score than another one."""
    from scipy.stats import rankdata

    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return 0.5
    ranks = rankdata(score)
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def shift_auc(train: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """How well a linear rule in x and x^2 tells two sets apart, by two folds, and the standard error of it."""
    X = np.concatenate([train, other])
    X = (X - train.mean(axis=0)) / np.maximum(train.std(axis=0), 1e-12)
    X = np.clip(X, -6.0, 6.0)
    X = np.concatenate([X, X**2, np.ones((len(X), 1))], axis=1)
    y = np.concatenate([np.zeros(len(train)), np.ones(len(other))])
    weight = np.where(y == 1, len(train) / max(len(other), 1), 1.0)
    fold = np.random.default_rng(0).integers(0, 2, len(y))
    score = np.empty(len(y))
    for number in (0, 1):
        rows = fold != number
        A = X[rows] * weight[rows, None]
        w = np.linalg.solve(A.T @ X[rows] + 0.01 * rows.sum() * np.eye(X.shape[1]), A.T @ (2 * y[rows] - 1))
        score[fold == number] = X[fold == number] @ w
    found = [rank_auc(score[fold == number], y[fold == number] == 1) for number in (0, 1)]
    return float(np.mean(found)), 0.5 / np.sqrt(3 * min(len(train), len(other)))
