"""What estimators do alike: read the rows, build the net, train it, and show what was learned as scikit-learn does."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from madaline.estimators import preset
from madaline.estimators.callbacks import heard
from madaline.estimators.network import (
    Views,
    coefs,
    draw_as_scikit_learn,
    hidden_widths,
    intercepts,
    looks_at_rows,
    network,
)
from madaline.estimators.parameters import CONSTRAINTS, Settings, check_not_said_twice, settings_of
from madaline.estimators.predictor import LAYERS, Predictor
from madaline.estimators.recipe import seed_of
from madaline.estimators.rows import Rows
from madaline.estimators.saved import Saved
from madaline.estimators.scoring import with_scores
from madaline.estimators.tables import encoded, learn_table, pointing_to_tables, read_table
from madaline.estimators.targets import refuse_gaps
from madaline.estimators.training import NOT_FINITE, keeps_schedule, new_trainer, parted, train, train_on
from madaline.functional.model import Model
from madaline.losses.loss import OUT_ACTIVATIONS, Loss
from madaline.train.history import History
from madaline.train.trainer import Trainer


class NetEstimator(Saved, BaseEstimator):
    """A net as an estimator.

    A subclass lists its parameters in ``__init__`` (those it does not list are as they are here) and gives
    ``_read_target`` (targets as the loss takes them), ``_make_loss``, ``_n_outputs`` and ``_score_rows``; what it
    predicts it makes of ``_predict_rows``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS
    _target_checks: ClassVar[Mapping[str, Any]] = {}
    "How scikit-learn is to check targets besides."

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
    data: Any = None
    preset: str | None = None

    model_: Model
    table_plan_: Any
    history_: History
    n_iter_: int
    n_outputs_: int
    _loss: Loss
    _trainer: Trainer
    _predictor: Predictor

    def _keep(self, arguments: Mapping[str, Any]) -> None:
        """Take the arguments of ``__init__`` as attributes, as scikit-learn wants it."""
        for name in self._get_param_names():
            setattr(self, name, arguments[name])

    @classmethod
    def all_parameters(cls) -> list[str]:
        """The names of all parameters, those too that this estimator does not let users choose."""
        return [name for name in inspect.get_annotations(NetEstimator) if name in vars(NetEstimator) and name[0] != "_"]

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

    def _output_activation(self) -> str:
        """What makes predictions of outputs."""
        name = self._loss.out_activation
        return name if name in LAYERS or name == "identity" else "own"

    def _meaning(self, outputs: np.ndarray) -> np.ndarray:
        """Predictions, of outputs as the net gives them."""
        name = self._output_activation()
        return np.asarray(self._loss.predict(outputs) if name == "own" else OUT_ACTIVATIONS[name](outputs))

    def _answers_of(self, target: np.ndarray) -> np.ndarray:
        """Targets as users give them, classes as numbers, of targets as the loss takes them."""
        return target

    def _strata(self, rows: Rows) -> np.ndarray | None:
        """What validation rows are to have their share of."""
        return None

    def _row_weights(self, y: Any, weight: Any, *, fresh: bool) -> Any:
        """The weights of rows, from those given and from their targets."""
        return weight

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Let callbacks of scikit-learn's kind listen, in place of those before: each epoch is a task of the fit."""
        from sklearn.callback import CallbackSupportMixin  # which takes long to import, and few ask for it

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on the rows of ``X`` and their targets ``y``. What is learned ends in an underscore.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers; with ``data="auto"`` a table of anything.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        return cast(Self, heard(self._fit)(X, y, sample_weight, goes_on=False))

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, goes_on: bool) -> Self:
        check_not_said_twice(self)
        fresh = not hasattr(self, "model_") or not (self.warm_start or goes_on)
        settings = settings_of(self)
        if settings.preset is not None:
            settings = preset.before_reading(self, settings)
        if goes_on and settings.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")
        hidden_widths(settings.hidden_layer_sizes)
        rows = self._read(settings, X, y, sample_weight, fresh=fresh)
        if settings.preset is not None:
            settings = preset.sized(self, settings, len(rows), goes_on=goes_on)
        rng = check_random_state(self.random_state)
        looks = rows.is_table or looks_at_rows(settings.init)
        if fresh and not looks:
            self._begin(settings, rows, rng)  # scikit-learn draws weights first, and then which rows are held back
        rows, held = (rows, None) if goes_on else parted(self, settings, rows, rng)
        if fresh:
            self._learn(settings, rows)
        rows = self._for_net(rows)
        if fresh and looks:
            self._begin(settings, rows, rng)
        trainer = self._trainer if goes_on and keeps_schedule(self, settings) else new_trainer(self, settings, rng)
        settings.metrics = with_scores(self, settings.metrics)
        self.n_iter_ = 0
        if goes_on:
            train_on(self, trainer, settings, rows, rng)
        else:
            held = None if held is None else self._for_net(held)
            train(self, trainer, settings, rows, held, rng, given=Rows(X, y, sample_weight))
        trainer.release()
        self._trainer, self.model_ = trainer, trainer.model
        self._predictor = self._make_predictor(self.model_)
        if not np.isfinite(self.model_.params.flat).all():
            raise ValueError(NOT_FINITE)
        return self

    def _read(self, settings: Settings, X: Any, y: Any, sample_weight: Any = None, *, fresh: bool) -> Rows:
        """Rows checked as scikit-learn does; a table stays one until a plan is made from those that train."""
        refuse_gaps(y)
        if settings.data is not None and not issparse(X):
            X, y = read_table(X, y, numeric=self._target_checks.get("y_numeric", False))
        else:
            self.__dict__.pop("table_plan_", None)
            with pointing_to_tables():
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
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, np.empty((y.shape[0], 1)))
        target = self._read_target(y, fresh=fresh)
        return Rows(X, target, self._row_weights(y, weight, fresh=fresh), y)

    def _learn(self, settings: Settings, rows: Rows) -> None:
        """What is to be known of rows before a net is trained on them, as the plan of a table."""
        if rows.is_table:
            learn_table(self, settings.data, rows.X, rows.answers)

    def _for_net(self, rows: Rows) -> Rows:
        """Rows as the net takes them."""
        return replace(rows, X=encoded(self.table_plan_, rows.X)) if rows.is_table else rows

    def _begin(self, settings: Settings, rows: Rows, rng: np.random.RandomState) -> None:
        """A fresh model, and counters at 0."""
        self._loss = self._make_loss()
        self.n_outputs_ = self._n_outputs()
        name = self._output_activation()
        self.out_activation_ = {"sigmoid": "logistic", "own": self._loss.out_activation}.get(name, name)
        dtype = settings.dtype or (rows.X.dtype if hasattr(rows.X, "dtype") else "float32")
        plan = self.__dict__.get("table_plan_")
        front = plan.front() if plan is not None and (isinstance(rows.X, dict) or plan.waves) else None
        net = network(settings, self.n_outputs_, front)
        self.model_ = Model.of(
            net, rows.X if looks_at_rows(settings.init) else rows.inputs, seed=seed_of(rng), dtype=dtype
        )
        if settings.init is None:
            draw_as_scikit_learn(self.model_, rng, logistic=settings.activation == "logistic")
        self.n_layers_ = len(hidden_widths(settings.hidden_layer_sizes)) + 2
        self.t_ = 0
        self.loss_curve_: list[float] = []
        self._no_improvement_count = 0
        self._best: tuple[np.ndarray, np.ndarray] | None = None
        self.validation_scores_: list[float] | None = [] if settings.early_stopping else None
        self.best_validation_score_: float | None = -np.inf if settings.early_stopping else None
        self.best_loss_: float | None = None if settings.early_stopping else np.inf

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

    def _make_predictor(self, model: Model) -> Predictor:
        return Predictor(model, self._loss, activation=self._output_activation(), threads=self.threads)

    def _predict_rows(self, X: Any, *, raw: bool = False) -> np.ndarray:
        """What the net predicts, (n, outputs); ``raw`` are its outputs as they are."""
        predictor: Predictor | None = self.__dict__.get("_predictor")
        if predictor is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        if "table_plan_" in self.__dict__:
            X = encoded(self.table_plan_, X)
        elif not predictor.takes(X) or "feature_names_in_" in self.__dict__:
            X = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
        return predictor.outputs(X) if raw else predictor(X)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_predictor"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self._predictor = self._make_predictor(self.model_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
