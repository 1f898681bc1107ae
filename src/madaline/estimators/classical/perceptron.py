"""Rosenblatt's perceptron: weights are corrected by the rows that are on the wrong side."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from madaline.estimators.classical.units import OnlineClassifier

Array = np.ndarray[Any, Any]


class Perceptron(OnlineClassifier):
    r"""Units that learn by the rule of the Mark I Perceptron,

    .. math:: y_j = 1\{x w_j + b_j \ge 0\},\qquad w_j \leftarrow w_j + \alpha (d_j - y_j) x,\quad
              b_j \leftarrow b_j + \alpha (d_j - y_j),

    for one row after the other: a row on the right side changes nothing.

    Parameters
    ----------
    learning_rate : float, default 1.0
        The :math:`\alpha`. Weights start at 0, so it only scales them.
    max_iter : int, default 200
        How often to go through the rows at most.
    shuffle : bool, default False
        Whether each time in a new order. In the same order the weights of inseparable rows come back to what they were,
        which is noticed.
    pocket : bool, default False
        Whether to keep, for each unit, the weights with the fewest rows on the wrong side at the end of a time through
        the rows (Gallant 1990), which matters where no weights are right for all.
    random_state : int, RandomState or None
        For ``shuffle``.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (units, n_features) and (units,)
    separable_ : bool or None
        True if the rows were separated; False if weights came back, so that they never will be; None if neither.
    n_errors_ : array of shape (units,)
        Training rows on the wrong side of each unit.
    n_iter_ : int
        How often it went through the rows.

    Notes
    -----
    Rosenblatt 1958. On separable rows it ends after at most :math:`(R/\gamma)^2` corrections (rows of length at most
    :math:`R`, separable with margin :math:`\gamma`; Novikoff 1962). Weights of other rows stay bounded (the perceptron
    cycling theorem), and with inputs that are whole numbers they must repeat. Lecture rows E2 and B1; the unit fires at
    0 (on the Mark I slide only above).

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> unit = Perceptron().fit(X, y)
    >>> unit.coef_, unit.intercept_, unit.predict(X)
    (array([[2., 1.]]), array([-3.]), array([0, 0, 0, 1]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "pocket": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        learning_rate: float = 1.0,
        *,
        max_iter: int = 200,
        shuffle: bool = False,
        pocket: bool = False,
        random_state: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.pocket = pocket
        self.random_state = random_state

    def _learn(self, X: Array, fires: Array) -> None:
        rng = check_random_state(self.random_state)
        rows, weights = np.arange(len(X)), _zeros(X, fires)
        seen: dict[bytes, int] = {}
        first_seen = None
        best, fewest = weights.copy(), np.full(fires.shape[1], len(X) + 1)
        for epoch in range(1, self.max_iter + 1):
            n_corrections = self._correct_rows(X, fires, weights, rng.permutation(rows) if self.shuffle else rows)
            wrong = _count_errors(X, fires, weights)
            better = wrong < fewest
            best[:, better], fewest[better] = weights[:, better], wrong[better]
            if not n_corrections:
                break
            first_seen = None if self.shuffle else seen.get(weights.tobytes())
            if first_seen is not None:
                break
            seen[weights.tobytes()] = epoch
        self.n_iter_ = epoch
        self.separable_ = True if not n_corrections else None if first_seen is None else False
        self._keep(best if self.pocket else weights)
        self.n_errors_ = fewest if self.pocket else wrong
        if n_corrections:
            self._warn(first_seen, _count_rows(X, fires, best if self.pocket else weights), len(X))

    def _learn_on(self, X: Array, fires: Array, *, first: bool) -> None:
        weights = _zeros(X, fires) if first else np.vstack([self.coef_.T, self.intercept_])
        self._correct_rows(X, fires, weights, np.arange(len(X)))
        self._keep(weights)
        self.n_iter_ = 1

    def _correct_rows(self, X: Array, fires: Array, weights: Array, order: Array) -> int:
        """Apply the rule to each row; how often a row corrected something."""
        W, b = weights[:-1], weights[-1]
        n_corrections = 0
        for i in order:
            error = fires[i].astype(float) - (X[i] @ W + b >= 0)  # d - y
            if error.any():
                W += self.learning_rate * np.outer(X[i], error)
                b += self.learning_rate * error
                n_corrections += 1
        return n_corrections

    def _keep(self, weights: Array) -> None:
        self.coef_, self.intercept_ = weights[:-1].T.copy(), weights[-1].copy()

    def _warn(self, first_seen: int | None, n_wrong: int, n_rows: int) -> None:
        why = (
            f"No separating plane was found in max_iter={self.max_iter} times through the rows"
            if first_seen is None
            else f"The classes are not linearly separable: after {self.n_iter_} times through the rows the weights are "
            f"those of time {first_seen} again"
        )
        warnings.warn(
            f"{why}; {n_wrong} of {n_rows} rows are on the wrong side. pocket=True keeps the best weights; a net with "
            "hidden units, as MLPClassifier, can separate more.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _zeros(X: Array, fires: Array) -> Array:
    """Weights with the biases as their last row."""
    return np.zeros((X.shape[1] + 1, fires.shape[1]))


def _errors(X: Array, fires: Array, weights: Array) -> Array:
    return np.asarray((X @ weights[:-1] + weights[-1] >= 0) != fires)


def _count_errors(X: Array, fires: Array, weights: Array) -> Array:
    """Rows on the wrong side, for each unit."""
    return np.asarray(np.count_nonzero(_errors(X, fires, weights), axis=0))


def _count_rows(X: Array, fires: Array, weights: Array) -> int:
    """Rows on the wrong side of any unit."""
    return int(np.count_nonzero(_errors(X, fires, weights).any(axis=1)))
