"""What estimators do alike: read the rows, build the net, train it, and show what was learned as scikit-learn does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from madaline.estimators.losses import reported_by_scikit_learn
from madaline.estimators.network import Views, coefs, draw_as_scikit_learn, hidden_widths, intercepts, network
from madaline.estimators.parameters import CONSTRAINTS, check_not_said_twice
from madaline.estimators.predictor import Predictor
from madaline.estimators.recipe import SameOrder, regularizer, seed_of, solver
from madaline.estimators.stopping import Convergence
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.nn.initializers import DataDependent, as_initializer
from madaline.optim.lbfgs import LBFGS
from madaline.train.history import History
from madaline.train.trainer import Trainer

NOT_FINITE = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be preprocessed."
)


@dataclass(frozen=True)
class Rows:
    """Rows with their targets, as the net takes them, and weights."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None

    def take(self, rows: np.ndarray) -> Rows:
        """Some of them."""
        return Rows(self.X[rows], self.y[rows], None if self.weight is None else self.weight[rows])

    @property
    def n(self) -> int:
        """How many."""
        return len(self.y)


class NetEstimator(BaseEstimator):
    """A net as an estimator.

    A subclass lists its parameters in ``__init__``, those it does not list are as here; it gives ``_read_target`` (its
    targets as the loss takes them), ``_make_loss`` and ``_score_rows``, and predicts.
    """

    _parameter_constraints: dict[str, Any] = CONSTRAINTS

    hidden_layer_sizes: Any = (100,)
    activation: Any = "relu"
    loss: Any = None
    solver: str = "adam"
    alpha: float = 0.0001
    batch_size: Any = "auto"
    learning_rate: str = "constant"
    learning_rate_init: float = 0.001
    power_t: float = 0.5
    max_iter: int = 200
    shuffle: bool = True
    random_state: Any = None
    tol: float = 1e-4
    verbose: Any = False
    warm_start: bool = False
    momentum: float = 0.9
    nesterovs_momentum: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    n_iter_no_change: Any = 10
    max_fun: int = 15000
    dropout: Any = 0.0
    input_dropout: float = 0.0
    norm: Any = None
    residual: bool = False
    init: Any = None
    optimizer: Any = None
    schedule: Any = None
    weight_decay: float | None = None
    regularizer: Any = None
    clip_norm: float | None = None
    constraint: Any = None
    average: Any = None
    validation: Any = None
    metrics: Any = None
    monitor: str | None = None
    callbacks: Any = None
    progress: bool | None = False
    threads: int | None = None
    dtype: Any = None

    model_: Model
    history_: History
    n_iter_: int
    t_: int
    n_outputs_: int
    n_layers_: int
    out_activation_: str
    _trainer: Trainer

    def _keep(self, arguments: Mapping[str, Any]) -> None:
        """Take the arguments of ``__init__`` as attributes, as scikit-learn wants it."""
        for name in self._get_param_names():
            setattr(self, name, arguments[name])

    def _read_target(self, y: Any, *, fresh: bool) -> np.ndarray:
        """Targets as the loss takes them; ``fresh`` if they are the first ones."""
        raise NotImplementedError

    def _make_loss(self) -> Loss:
        """The loss, when the targets are known."""
        raise NotImplementedError

    def _n_outputs(self) -> int:
        """How many outputs the net needs."""
        raise NotImplementedError

    def _score_rows(self, prediction: np.ndarray, rows: Rows) -> float:
        """How good predictions are, the larger the better: what early stopping watches."""
        raise NotImplementedError

    def _strata(self, rows: Rows) -> np.ndarray | None:
        """What validation rows are to have their share of."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on the rows of ``X`` and their targets ``y``. What is learned ends in an underscore.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        return self._fit(X, y, sample_weight, goes_on=False)

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, goes_on: bool) -> Self:
        check_not_said_twice(self)
        fresh = not hasattr(self, "model_") or not (self.warm_start or goes_on)
        if goes_on and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")
        hidden_widths(self.hidden_layer_sizes)
        rows = self._read(X, y, sample_weight, fresh=fresh)
        rng = check_random_state(self.random_state)
        if fresh:
            self._begin(rows, rng)
        trainer = self._trainer if goes_on and hasattr(self, "_trainer") else self._make_trainer(rng)
        if goes_on:
            self._train_on(trainer, rows, rng)
        else:
            self._train(trainer, rows, rng)
        self._trainer, self.model_ = trainer, trainer.model
        self._predictor = Predictor(self.model_, self._loss)
        trainer.release()
        if not np.isfinite(self.model_.params.flat).all():
            raise ValueError(NOT_FINITE)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, *, fresh: bool) -> Rows:
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc"],
            multi_output=True,
            dtype=(np.float64, np.float32),
            reset=fresh,
            **self._target_checks,
        )
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        return Rows(X, self._read_target(y, fresh=fresh), weight)

    _target_checks: ClassVar[Mapping[str, Any]] = {}
    "How scikit-learn is to check targets besides."

    def _begin(self, rows: Rows, rng: np.random.RandomState) -> None:
        """A fresh model, and counters at 0."""
        self._loss = self._make_loss()
        self.n_outputs_ = self._n_outputs()
        self.out_activation_ = {"sigmoid": "logistic"}.get(self._loss.out_activation, self._loss.out_activation)
        net = network(self, self.n_outputs_)
        looks = self.init is not None and isinstance(as_initializer(self.init), DataDependent)
        inputs = rows.X if looks else rows.X.shape[1]
        self.model_ = Model.of(net, inputs, seed=seed_of(rng), dtype=self.dtype or rows.X.dtype)
        if self.init is None:
            draw_as_scikit_learn(self.model_, rng, logistic=self.activation == "logistic")
        self.n_layers_ = len(hidden_widths(self.hidden_layer_sizes)) + 2
        self.n_iter_ = self.t_ = 0
        self.loss_curve_: list[float] = []
        self._no_improvement_count = 0
        self._best: tuple[np.ndarray, np.ndarray] | None = None
        self.validation_scores_: list[float] | None = [] if self.early_stopping else None
        self.best_validation_score_: float | None = -np.inf if self.early_stopping else None
        self.best_loss_: float | None = None if self.early_stopping else np.inf

    def _make_trainer(self, rng: np.random.RandomState) -> Trainer:
        return Trainer(
            self.model_,
            loss=self._loss,
            optimizer=solver(self),
            schedule=self.schedule,
            regularizer=regularizer(self),
            clip_norm=self.clip_norm,
            constraint=self.constraint,
            average=self.average,
            threads=self.threads,
            seed=seed_of(rng),
        )

    def _train(self, trainer: Trainer, rows: Rows, rng: np.random.RandomState) -> None:
        """All epochs, or until convergence."""
        self.n_iter_ = 0
        held = None
        if self.early_stopping and not isinstance(trainer.recipe.optimizer, LBFGS):
            rows, held = self._split(rows, rng)
        convergence = self._convergence(rows, held, stops=not isinstance(trainer.recipe.optimizer, LBFGS))
        self.history_ = trainer.fit(
            rows.X,
            rows.y,
            epochs=self.max_iter,
            batch_size=self._batch_rows(rows.n),
            sample_weight=rows.weight,
            validation=None if held is None else (held.X, held.y, held.weight),
            metrics=self.metrics,
            callbacks=[convergence],
            sampler=SameOrder(rng) if self.shuffle else None,
            shuffle=False,
            on_divergence="stop",
            progress=self.progress,
        )
        self._after(trainer, convergence)

    def _train_on(self, trainer: Trainer, rows: Rows, rng: np.random.RandomState) -> None:
        """One epoch more."""
        convergence = self._convergence(rows, None)
        self.n_iter_ = 0
        self.history_ = trainer.partial_fit(
            rows.X,
            rows.y,
            batch_size=self._batch_rows(rows.n),
            sample_weight=rows.weight,
            metrics=self.metrics,
            callbacks=[convergence],
            sampler=SameOrder(rng) if self.shuffle else None,
            shuffle=False,
            on_divergence="stop",
        )
        if self.history_.stopped == "diverged":
            raise ValueError(NOT_FINITE)

    def _convergence(self, rows: Rows, held: Rows | None, *, stops: bool = True) -> Convergence:
        score = None
        if held is not None:

            def score(trainer: Trainer, row: Mapping[str, float]) -> float:
                prediction = trainer.predict(held.X)
                return self._score_rows(prediction, held) if np.isfinite(prediction).all() else float("nan")

        reported = reported_by_scikit_learn(self._loss, rows.y, rows.weight)
        return Convergence(self, n_rows=rows.n, as_reported=reported, score=score, stops=stops)

    def _split(self, rows: Rows, rng: np.random.RandomState) -> tuple[Rows, Rows]:
        """Rows to train on and rows to validate on, as scikit-learn chooses them."""
        train, held = train_test_split(
            np.arange(rows.n), random_state=rng, test_size=self.validation_fraction, stratify=self._strata(rows)
        )
        if len(held) < 2:
            raise ValueError(
                "The validation set is too small. Increase 'validation_fraction' or the size of your dataset."
            )
        return rows.take(train), rows.take(held)

    def _batch_rows(self, n_rows: int) -> int:
        if self.batch_size == "auto":
            return min(200, n_rows)
        if self.batch_size > n_rows:
            warnings.warn(
                "Got `batch_size` less than 1 or larger than sample size. It is going to be clipped", stacklevel=2
            )
        return int(np.clip(self.batch_size, 1, n_rows))

    def _after(self, trainer: Trainer, convergence: Convergence) -> None:
        """What to say about how the run ended, and the best weights back."""
        ended = self.history_.stopped
        if ended == "diverged":
            if self._best is None:
                raise ValueError(NOT_FINITE)
            assert self.validation_scores_ is not None
            self.validation_scores_.append(float("nan"))
            warnings.warn(
                f"Training diverged in epoch {self.n_iter_ + 1}; the weights of the best epoch are kept. Lower the "
                "learning rate, or scale the inputs.",
                ConvergenceWarning,
                stacklevel=2,
            )
        elif ended == "interrupted":
            warnings.warn("Training interrupted by user.", stacklevel=2)
        elif self.history_.converged is False:
            warnings.warn(
                f"lbfgs failed to converge after {self.n_iter_} iteration(s): it reached max_iter={self.max_iter} "
                f"iterations or max_fun={self.max_fun} evaluations.\nIncrease them, or scale the data as shown in:\n"
                "    https://scikit-learn.org/stable/modules/preprocessing.html",
                ConvergenceWarning,
                stacklevel=2,
            )
        elif self.history_.converged is None and not convergence.is_converged and self.schedule is None:
            warnings.warn(
                f"Stochastic Optimizer: Maximum iterations ({self.max_iter}) reached and the optimization hasn't "
                "converged yet.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if self._best is not None:
            trainer.model.params.flat[...], trainer.model.state.flat[...] = self._best

    @property
    def coefs_(self) -> Views:
        """The weights of the Linear layers in order: writable views of the net."""
        return coefs(self._fitted_model("coefs_"))

    @coefs_.setter
    def coefs_(self, arrays: Any) -> None:
        self.coefs_[:] = arrays

    @property
    def intercepts_(self) -> Views:
        """The biases of the Linear layers in order: writable views of the net."""
        return intercepts(self._fitted_model("intercepts_"))

    @intercepts_.setter
    def intercepts_(self, arrays: Any) -> None:
        self.intercepts_[:] = arrays

    def _fitted_model(self, attribute: str) -> Model:
        if "model_" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {attribute!r}: it is not fitted yet."
            )
        return self.model_

    def _predict_rows(self, X: Any, *, raw: bool = False) -> np.ndarray:
        """What the net predicts, (n, outputs); ``raw`` are its outputs as they are."""
        check_is_fitted(self, "model_")
        predictor = self._predictor
        if not predictor.takes(X) or "feature_names_in_" in self.__dict__:
            X = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
        return predictor.outputs(X) if raw else predictor(X)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_predictor"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self._predictor = Predictor(self.model_, self._loss)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
