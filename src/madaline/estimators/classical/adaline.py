"""The adaptive linear neuron of Widrow and Hoff: the delta rule, gradient descent on the squared error."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from madaline.estimators.classical.units import OnlineClassifier
from madaline.estimators.recipe import seed_of
from madaline.losses.squared import HalfMSE
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.sequential import Sequential
from madaline.optim.sgd import SGD
from madaline.train.stopping import EarlyStopping
from madaline.train.trainer import Trainer

Array = np.ndarray[Any, Any]
GROWN_ERROR = 1.0
"Twice the loss of zero weights for targets 1 and -1. The loss exceeds it only if the steps are too large."


class Adaline(OnlineClassifier):
    r"""Linear units trained by the delta rule (least mean squares), one row at a time,

    .. math:: w_j \leftarrow w_j + \alpha (d_j - s_j) x,\quad b_j \leftarrow b_j + \alpha (d_j - s_j),
              \qquad s_j = x w_j + b_j,

    where :math:`d_j` is 1 for the rows of unit ``j``'s class and -1 for the others. The error is computed from the sum
    before the threshold, so the rule is gradient descent on :math:`\frac12 (d_j - s_j)^2`. It is implemented in this
    way: as a linear layer trained with a mini-batch size of 1.

    Parameters
    ----------
    learning_rate : float or "auto", default "auto"
        Learning rate :math:`\alpha`. Steps are stable for rows shorter than :math:`\sqrt{2/\alpha}`. "auto" is
        :math:`0.1/\max_i(1+\lVert x_i\rVert^2)`, a tenth of a full correction of the longest row.
    max_iter : int, default 1000
        Maximum number of epochs.
    tol : float, default 1e-6
        Minimum decrease of the loss that counts as an improvement.
    n_iter_no_change : int, default 10
        Number of epochs without improvement after which training stops.
    shuffle : bool, default True
        Whether to shuffle the rows in every epoch.
    random_state : int, RandomState or None
        Random seed for ``shuffle``.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (units, n_features) and (units,)
    loss_curve_ : list of float
        Half the mean squared error of each epoch; the error of a row is taken before its update.
    n_iter_ : int
        Number of epochs.

    Notes
    -----
    Widrow & Hoff 1960. The weights converge to the neighbourhood of the least-squares solution, whether or not the
    classes are linearly separable. Lecture row B2.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> Adaline(random_state=0).fit(X, y).predict(X)
    array(['no', 'yes', 'yes', 'yes'], dtype='<U3')
    """

    loss_curve_: list[float]
    _rate: float

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        learning_rate: float | Literal["auto"] = "auto",
        *,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_iter_no_change: int = 10,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state

    def _learn(self, X: Array, fires: Array) -> None:
        self._trainer = self._make_trainer(X, fires.shape[1])
        stopping = EarlyStopping("loss", patience=self.n_iter_no_change, min_delta=self.tol, restore_best=False)
        self._trainer.fit(
            X,
            np.where(fires, 1.0, -1.0),
            epochs=self.max_iter,
            batch_size=1,
            shuffle=self.shuffle,
            early_stopping=stopping,
            progress=False,
        )
        self._keep()
        if self.loss_curve_[-1] > GROWN_ERROR:
            warnings.warn(
                f"Training diverged: learning_rate={self.learning_rate} is too large for rows whose squared length "
                f"is up to {np.max(np.sum(X * X, axis=1)):.3g}. Use learning_rate='auto', or scale the inputs.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _learn_on(self, X: Array, fires: Array, *, first: bool) -> None:
        if first or not hasattr(self, "_trainer"):  # a loaded estimator has no trainer
            self._trainer = self._make_trainer(X, fires.shape[1], continues=not first)
        self._trainer.partial_fit(X, np.where(fires, 1.0, -1.0), batch_size=1, shuffle=False)
        self._keep()

    def _make_trainer(self, X: Array, n_units: int, *, continues: bool = False) -> Trainer:
        if not continues:
            longest = 1.0 + np.max(np.sum(X * X, axis=1))
            self._rate = float(0.1 / longest if self.learning_rate == "auto" else self.learning_rate)
        model = Sequential(Linear(n_units, init="zeros")).init(X.shape[1], dtype="float64")
        if continues:
            model.params["0.W"], model.params["0.b"] = self.coef_.T, self.intercept_
        return Trainer(
            model,
            loss=HalfMSE(),
            optimizer=SGD(self._rate * n_units),  # the loss is the mean over units; each has its own step
            dtype="float64",
            threads=1,
            seed=seed_of(check_random_state(self.random_state)),
        )

    def _keep(self) -> None:
        params, history = self._trainer.model.params, self._trainer.history
        self.coef_, self.intercept_ = params["0.W"].T.copy(), params["0.b"].copy()
        self.loss_curve_ = [float(value) for value in history["loss"]]
        self.n_iter_ = len(self.loss_curve_)
        self._trainer.release()
