"""Rosenblatt's perceptron: misclassified rows correct the weights."""

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
    r"""Units trained by the learning rule of the Mark I Perceptron,

    .. math:: y_j = 1\{x w_j + b_j \ge 0\},\qquad w_j \leftarrow w_j + \alpha (d_j - y_j) x,\quad
              b_j \leftarrow b_j + \alpha (d_j - y_j),

    one row at a time. A correctly classified row does not change the weights.

    Parameters
    ----------
    learning_rate : float, default 1.0
        Learning rate :math:`\alpha`. Weights start at 0, so it only scales them.
    max_iter : int, default 200
        Maximum number of epochs.
    shuffle : bool, default False
        Whether to shuffle the rows in every epoch. Without shuffling, the weights repeat if the classes are not
        linearly separable; training then stops.
    pocket : bool, default False
        Whether to keep, for each unit, the weights of the epoch with the fewest misclassified rows (Gallant 1990).
        This is useful if the classes are not linearly separable.
    random_state : int, RandomState or None
        Random seed for ``shuffle``.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (units, n_features) and (units,)
    separable_ : bool or None
        True if the classes were separated, False if the weights repeated, which proves that they cannot be, None if
        neither happened.
    n_errors_ : array of shape (units,)
        Number of training rows that each unit misclassifies.
    n_iter_ : int
        Number of epochs.

    Notes
    -----
    Rosenblatt 1958. If the classes are linearly separable, the rule converges after at most :math:`(R/\gamma)^2`
    corrections (rows of length at most :math:`R`, margin :math:`\gamma`; Novikoff 1962). Otherwise the weights stay
    bounded (perceptron cycling theorem), and with integer inputs they must repeat. Lecture rows E2 and B1. Here a unit
    fires if its sum is at least 0 (on the Mark I slide, above 0).

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> unit = Perceptron().fit(X, y)
    >>> unit.coef_, unit.intercept_, unit.predict(X)
    (array([[2., 1.]]), array([-3.]), array([0, 0, 0, 1]))
    """

    separable_: bool | None
    n_errors_: Array

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
        random_state: int | np.random.RandomState | None = None,
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
        """Apply the rule to each row and return the number of corrections."""
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
            f"No separating hyperplane was found in max_iter={self.max_iter} epochs"
            if first_seen is None
            else f"The classes are not linearly separable: the weights after epoch {self.n_iter_} repeat "
            f"those of epoch {first_seen}"
        )
        warnings.warn(
            f"{why}; {n_wrong} of {n_rows} rows are misclassified. Use pocket=True to keep the best weights, or a net "
            "with hidden units such as MLPClassifier.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _zeros(X: Array, fires: Array) -> Array:
    """Zero weights, with the biases in the last row."""
    return np.zeros((X.shape[1] + 1, fires.shape[1]))


def _errors(X: Array, fires: Array, weights: Array) -> Array:
    return np.asarray((X @ weights[:-1] + weights[-1] >= 0) != fires)


def _count_errors(X: Array, fires: Array, weights: Array) -> Array:
    """Number of rows that each unit misclassifies."""
    return np.asarray(np.count_nonzero(_errors(X, fires, weights), axis=0))


def _count_rows(X: Array, fires: Array, weights: Array) -> int:
    """Number of rows that at least one unit misclassifies."""
    return int(np.count_nonzero(_errors(X, fires, weights).any(axis=1)))
