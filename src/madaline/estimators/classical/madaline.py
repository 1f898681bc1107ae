"""Two layers of Adalines, trained by the principle of minimal disturbance (Madaline Rule II)."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from madaline.estimators.classical.units import UnitClassifier

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs

Array = np.ndarray[Any, Any]


class Madaline(UnitClassifier):
    r"""A hidden layer and an output layer of Adalines with sign activations, trained by Madaline Rule II.

    The sign function has no useful derivative, so the rule does without gradients. For a row with wrong outputs it
    makes the smallest change that helps: among the hidden units whose flipped sign would reduce the number of wrong
    outputs, it takes the one whose sum is closest to 0 and changes its weights just enough to flip the sign,

    .. math:: w \leftarrow w + (d - x w)\,\frac{x}{\lVert x\rVert^2},\qquad d = \pm 1,

    where :math:`x` contains a 1 for the bias. Then it tries pairs of units. The weights of outputs that are still wrong
    are corrected in the same way.

    Parameters
    ----------
    n_units : int, default 10
        Number of hidden units. With only as many units as necessary, the rule may get stuck in a cycle of changes.
    max_iter : int, default 200
        Maximum number of epochs.
    max_flips : int, default 2
        Maximum number of signs that are flipped together.
    random_state : int, RandomState or None
        Random seed for the initial weights and the order of the rows.

    Attributes
    ----------
    coefs_, intercepts_ : lists of two arrays
        Weights, (n_in, n_out), and biases of the two layers, from the epoch with the fewest errors: the rule does not
        decrease the number of errors monotonically.
    n_errors_ : int
        Number of training rows with a wrong output.
    n_iter_ : int
        Number of epochs.

    Notes
    -----
    Winter & Widrow 1988. The more often a unit was changed, the further from 0 its sum is taken to be, so that all
    units are used ("usage"). Widrow's machine of 1962 (Rule I) had a fixed output unit. Lecture row B2.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> Madaline(4, random_state=0).fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    coefs_: list[Array]
    intercepts_: list[Array]
    n_errors_: int

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_units": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_flips": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_units: int = 10,
        *,
        max_iter: int = 200,
        max_flips: int = 2,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_units = n_units
        self.max_iter = max_iter
        self.max_flips = max_flips
        self.random_state = random_state

    def _learn(self, X: Array, fires: Array) -> None:
        rng = check_random_state(self.random_state)
        x, d = _with_ones(X), np.where(fires, 1.0, -1.0)
        W = rng.uniform(-1.0, 1.0, size=(x.shape[1], self.n_units))
        V = rng.uniform(-1.0, 1.0, size=(self.n_units + 1, d.shape[1]))
        usage = np.zeros(self.n_units)
        fewest = len(x) + 1
        for epoch in range(1, self.max_iter + 1):
            self.n_iter_ = epoch
            for i in rng.permutation(len(x)):
                self._correct_units(x[i], d[i], W, V, usage)
            wrong = int(np.count_nonzero((_signs(_with_ones(_signs(x @ W)) @ V) != d).any(axis=1)))
            if wrong < fewest:
                fewest, best = wrong, (W.copy(), V.copy())
            if not wrong:
                break
        self.coefs_, self.intercepts_ = [A[:-1] for A in best], [A[-1] for A in best]
        self.n_errors_ = fewest
        if fewest:
            warnings.warn(
                f"After max_iter={self.max_iter} epochs, {fewest} of {len(x)} training rows have a wrong output. "
                "Increase n_units or max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _correct_units(self, x: Array, d: Array, W: Array, V: Array, usage: Array) -> None:
        """Apply the smallest change of weights that reduces the number of wrong outputs for one row."""
        s = x @ W
        h = _signs(s)
        n_wrong = _n_wrong(h @ V[:-1] + V[-1], d)
        for n_flips in range(1, min(self.max_flips, self.n_units) + 1):
            if not n_wrong:
                return
            sets = _sets(self.n_units, n_flips)
            turned = (
                h @ V[:-1] + V[-1] - 2.0 * np.sum(h[sets][..., None] * V[sets], axis=1)
            )  # output sums after the flip
            left = _n_wrong(turned, d)
            disturbance = np.where(left < n_wrong, np.sum(np.abs(s[sets]) * (1.0 + usage[sets]), axis=1), np.inf)
            least = int(np.argmin(disturbance))
            if np.isfinite(disturbance[least]):
                units = sets[least]
                h[units] *= -1.0
                W[:, units] += np.outer(x, (h[units] - s[units]) / (x @ x))
                s[units] = h[units]
                usage[units] += 1.0
                n_wrong = left[least]
        h = np.append(h, 1.0)
        outputs = h @ V
        wrong = _signs(outputs) != d
        V[:, wrong] += np.outer(h, (d - outputs)[wrong] / (h @ h))

    def decision_function(self, X: Inputs) -> Array:
        """The sum of each output unit: (n,) for two classes, else (n, classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        (W, V), (b, c) = self.coefs_, self.intercepts_
        return self._squeezed(_signs(X @ W + b) @ V + c)


def _with_ones(x: Array) -> Array:
    return np.hstack([x, np.ones((len(x), 1))])


def _signs(s: Array) -> Array:
    return np.where(s >= 0, 1.0, -1.0)


def _n_wrong(sums: Array, d: Array) -> Any:
    """Number of outputs with a wrong sign, for one row of sums or for each of several."""
    return np.count_nonzero(_signs(sums) != d, axis=-1)


@cache
def _sets(n_units: int, size: int) -> Array:
    """All sets of ``size`` units, one per row."""
    return np.array(list(combinations(range(n_units), size)))
