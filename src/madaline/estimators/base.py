"""The base class of estimators: validate the rows, build the net, train it, and set the fitted attributes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import _check_sample_weight, validate_data

from madaline.data.encode import TablePlan
from madaline.errors import ConfigError
from madaline.estimators import preset
from madaline.estimators.callbacks import with_sklearn_callbacks
from madaline.estimators.checks import constraints
from madaline.estimators.defaults import plain
from madaline.estimators.functions import with_graphs
from madaline.estimators.network import (
    Views,
    coefs,
    draw_as_scikit_learn,
    hidden_widths,
    intercepts,
    looks_at_rows,
    network,
)
from madaline.estimators.outliers import without_far_rows
from madaline.estimators.parameters import NetParameters, check_not_given_twice, resolved
from madaline.estimators.predictor import LAYERS, Predictor
from madaline.estimators.recipe import seed_of
from madaline.estimators.row_set import RowSet, split_off_validation
from madaline.estimators.saved import SavableEstimator
from madaline.estimators.scoring import with_scores
from madaline.estimators.stopping import reset_counters
from madaline.estimators.table_stream import EncodedRows, TableStream, encode_stream
from madaline.estimators.tables import check_width, encoded, learn_table, pointing_to_tables, read_table
from madaline.estimators.targets import refuse_gaps, target_names
from madaline.estimators.training import (
    NOT_FINITE,
    EstimatorFitOptions,
    FitData,
    continue_training,
    keeps_schedule,
    new_trainer,
    train,
    validation_fraction,
)
from madaline.functional.model import Model
from madaline.kernels.mapped import check_files
from madaline.losses.loss import OUT_ACTIVATIONS, Loss
from madaline.train.history import History
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from madaline.data.data_types import Folds, Inputs, Targets
    from madaline.estimators.ensemble.joining import TrainedEnsemble
    from madaline.train.options import ValidationLike


class NetEstimator(SavableEstimator, NetParameters, BaseEstimator):
    """A net as an estimator.

    A subclass defines ``_read_target`` (targets in the form that the loss needs), ``_make_loss``, ``_n_outputs``,
    ``_n_targets`` and ``score_rows``, and computes its predictions from ``_predict_rows``. Its parameters are those of
    :class:`~madaline.estimators.parameters.NetParameters` and additional ones.
    """

    _target_checks: ClassVar[Mapping[str, Any]] = {}
    "Additional arguments of scikit-learn's check of targets."
    _has_ensembles: ClassVar[bool] = False
    'Whether preset="best" is available; such a subclass defines ``_learn_from_held_out``.'

    model_: Model
    table_plan_: TablePlan
    history_: History
    resolved_params_: dict[str, Any]
    n_samples_: int
    n_outputs_: int
    n_layers_: int
    out_activation_: str
    members_: list[dict[str, Any]]
    trials_: list[dict[str, Any]]
    best_params_: dict[str, Any]
    search_: dict[str, Any]
    t_: int
    loss_: float
    loss_curve_: list[float]
    best_loss_: float | None
    validation_scores_: list[float] | None
    best_validation_score_: float | None
    epochs_without_improvement_: int
    best_weights_: tuple[np.ndarray, np.ndarray] | None
    loss_function_: Loss
    _trainer: Trainer
    _predictor: Predictor

    def _validate_params(self) -> None:
        given = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        validate_parameter_constraints(constraints(cast(Any, type(self))), given, caller_name=type(self).__name__)

    def check_parameters(self) -> None:
        """Raise an error if a parameter is invalid."""
        self._validate_params()

    def _read_target(self, y: Targets, *, fresh: bool) -> np.ndarray:
        """Targets in the form that the loss needs; ``fresh`` if they are the first ones."""
        raise NotImplementedError

    def _know_classes(self, classes: Any) -> None:
        """Set all classes before rows are read."""
        raise ConfigError(f"classes is for classifiers, and {type(self).__name__} predicts numbers.")

    def _make_loss(self) -> Loss:
        """The loss, when the targets are known."""
        raise NotImplementedError

    def _n_outputs(self) -> int:
        """Number of outputs of the net."""
        raise NotImplementedError

    def _n_targets(self) -> int:
        """Number of target columns."""
        raise NotImplementedError

    def score_rows(self, prediction: np.ndarray, rows: RowSet) -> float:
        """Score of predictions for early stopping, larger is better."""
        raise NotImplementedError

    def _output_activation(self) -> str:
        """The function that turns outputs into predictions."""
        name = self.loss_function_.out_activation
        return name if name in LAYERS or name == "identity" else "own"

    def activated(self, outputs: Any) -> Any:
        """Apply the output activation to raw outputs of the net, which may be traced."""
        name = self._output_activation()
        return self.loss_function_.predict(outputs) if name == "own" else OUT_ACTIVATIONS[name](outputs)

    def unscaled_targets(self, target: np.ndarray) -> np.ndarray:
        """Targets in the user's units (classes as numbers), from targets in the form that the loss needs."""
        return target

    def _strata(self, rows: RowSet) -> np.ndarray | None:
        """Values by which the validation set is stratified."""
        return None

    def _row_weights(self, y: Targets, weight: Any, *, fresh: bool) -> Any:
        """Sample weights, from those given and from the targets."""
        return weight

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set scikit-learn callbacks, replacing earlier ones; each epoch is a task of the fit."""
        from sklearn.callback import CallbackSupportMixin  # slow to import and rarely needed

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    def fit(
        self,
        X: Inputs,
        y: Targets | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        validation: ValidationLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        max_seconds: float | None = None,
        classes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        cv: Folds | None = None,
        cluster: str | None = None,
        replicas: int = 1,
        local_steps: int = 50,
    ) -> Self:
        """Fit the net to the rows ``X`` and their targets ``y``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), or TableStream
            Numbers; with ``data="auto"`` a table of any kind. A stream brings its own targets.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional
        validation : (X, y) or (X, y, sample_weight), optional
            Validation set, in place of the parameter ``validation``.
        checkpoint : path, optional
            File that is written during training, about once a second. Needs an integer ``random_state``. Rows are then
            shuffled in an order that can be continued, which is not that of scikit-learn.
        resume : bool, default False
            Continue from ``checkpoint`` if that file exists: the result is bit for bit that of a run that was never
            interrupted. Needs the same data and parameters.
        max_seconds : float, optional
            Time limit, including the time to read the table; the model is then that of the best epoch so far.
        classes : array, optional
            All classes, if the training rows may lack some of them; for classifiers.
        groups : array of shape (n_samples,), optional
            With ``preset="best"``: rows of one group stay in one fold.
        cv : int, scikit-learn splitter or iterable of (train, test), optional
            With ``preset="best"``: the folds. By default 3 to 8, by the number of rows.
        cluster : str, optional
            Ray cluster to train on: ``"auto"`` for that of this computer, ``"host:port"`` for another one, or
            ``"local"`` to start one here. With ``preset="best"``, its CPUs train the members of the ensemble, with the
            same results; one net needs ``replicas``. Needs ``pip install "madaline[ray]"``.
        replicas, local_steps : int
            Data-parallel training of one net, as for :meth:`madaline.Trainer.fit`. The result depends on the number of
            replicas, and not on where they run.
        """
        self._validate_params()
        options = EstimatorFitOptions(
            validation, checkpoint, resume, max_seconds, classes, groups, cv, cluster, replicas, local_steps
        )
        options.check_seed(self.random_state)
        try:
            return cast(Self, with_sklearn_callbacks(self._fit)(X, y, sample_weight, options=options))
        finally:
            self.__dict__.pop("_classes_given", None)

    def fit_members(
        self,
        train_members: Callable[..., TrainedEnsemble],
        X: Inputs,
        y: Targets,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        cv: Folds | None = None,
    ) -> Self:
        """Fit an ensemble whose members a function trains, as a search does.

        Parameters
        ----------
        train_members : callable
            Called with the arguments of :func:`madaline.estimators.ensemble.fitting.fit_ensemble`.
        X, y, sample_weight, classes, groups, cv
            As for :meth:`fit`.
        """
        self._validate_params()
        options = EstimatorFitOptions(classes=classes, groups=groups, cv=cv, train_members=train_members)
        try:
            return self._fit(X, y, sample_weight, options=options)
        finally:
            self.__dict__.pop("_classes_given", None)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, *, continues: bool = False, options: EstimatorFitOptions | None = None
    ) -> Self:
        check_not_given_twice(self)
        options = options or EstimatorFitOptions()
        fresh = not hasattr(self, "model_") or not (self.warm_start or continues)
        settings = resolved(self)
        if settings.preset is not None:
            settings = preset.before_reading(self, settings)
        if continues and settings.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")
        hidden_widths(settings.hidden_layer_sizes)
        stream = X if isinstance(X, TableStream) else None
        if settings.preset == "best":
            if not self._has_ensembles:
                raise ConfigError(f'{type(self).__name__} has no preset="best". Use preset="auto".')
            options.check_for_ensemble(settings, is_stream=stream is not None, continues=not fresh or continues)
        if options.classes is not None:
            self._know_classes(options.classes)
        if stream is not None:
            X, y = stream.check(settings, y, sample_weight, options.validation)
        rows = self._read(settings, X, y, sample_weight, fresh=fresh)
        if fresh:
            self.target_names_ = target_names(y, rows.y)
        rng = check_random_state(self.random_state)
        encoded_rows: EncodedRows | None = None
        if stream is not None:
            self._learn(settings, rows)
            encoded_rows = encode_stream(
                stream,
                lambda X, y: self._for_net(self._read(settings, X, y, fresh=False)),
                key=[self.table_plan_.to_dict(), self._encoding_key()],
            )
        n_rows = len(rows) if encoded_rows is None else encoded_rows.n_rows
        if settings.preset is not None:
            settings = preset.sized(self, settings, n_rows, continues=continues)
        if settings.preset == "best" or options.train_members is not None:
            return self._fit_ensemble(settings, rows, rng, options)
        options.check_for_one_net()
        looks = rows.is_table or looks_at_rows(settings.init)
        if fresh and not looks:
            self._begin(settings, rows, rng)  # scikit-learn draws weights first, and then the validation set
        rows, validation = (
            (rows, None) if continues else self._split_validation(settings, rows, rng, options.validation)
        )
        if fresh and stream is None:
            self._learn(settings, rows)
        rows = self._for_net(rows)
        if fresh and looks:
            self._begin(settings, rows, rng)
        self.n_samples_ = len(rows) if encoded_rows is None else encoded_rows.n_rows
        self._resolve(settings)
        settings.metrics = with_scores(self, settings.metrics)
        self.n_iter_ = 0
        if continues:
            trainer = self.__dict__.get("_trainer")
            if trainer is None or not keeps_schedule(trainer, settings):
                trainer = new_trainer(self.model_, self.loss_function_, settings, rng)
            continue_training(self, trainer, settings, rows, rng)
        else:
            validation = None if validation is None else self._for_net(validation)
            if validation is not None and settings.preset is not None and "table_plan_" in self.__dict__:
                validation = without_far_rows(validation, rows, self.table_plan_)
            given = RowSet(X, y, sample_weight)
            data = FitData(rows, validation, given, encoded_rows)
            trainer = train(self, settings, data, rng, make_predictor=self._make_predictor, options=options)
        trainer.release()
        self._trainer, self.model_ = trainer, trainer.model
        self._predictor = self._make_predictor(self.model_)
        if not np.isfinite(self.model_.params.flat).all():
            raise ValueError(NOT_FINITE)
        self._finish_fit(settings, validation)
        return self

    def _fit_ensemble(
        self, settings: NetParameters, rows: RowSet, rng: np.random.RandomState, options: EstimatorFitOptions
    ) -> Self:
        """Train several nets and other models on folds; ``model_`` is their weighted mean."""
        from madaline.estimators.ensemble.fitting import fit_ensemble  # only this preset needs it

        strata = self._class_numbers(rows)
        self._learn(settings, rows)
        rows = self._for_net(rows)
        self._know_outputs()
        self.n_samples_, self.n_layers_ = len(rows), len(hidden_widths(settings.hidden_layer_sizes)) + 2
        self._resolve(settings)
        settings.metrics = with_scores(self, settings.metrics)
        reset_counters(self, settings)
        found = (options.train_members or fit_ensemble)(
            self,
            settings,
            rows,
            strata=strata,
            seed=seed_of(rng),
            options=options,
            output_activation=self._output_activation(),
        )
        self.model_, self.history_ = found.model, found.members[0].history
        if found.stopped in ("interrupted", "time"):
            self.history_.stopped = found.stopped
        self._predictor = self._make_predictor(self.model_)
        self.n_iter_ = self.history_.epochs
        if self.n_iter_:  # a time limit may have ended training within the first epoch
            self.loss_curve_ = [float(value) for value in self.history_["loss"]]
            self.loss_ = self.loss_curve_[-1]
        self.members_ = [
            {
                "kind": member.task.kind.name,
                "repeat": member.task.kind.repeat,
                "fold": member.task.fold,
                "epochs": member.history.epochs,
                "weight": float(weight),
            }
            for member, weight in zip(found.members, found.weights, strict=True)
        ]
        self._learn_from_held_out(found.outputs, rows, found.is_known)
        self._finish_fit(settings, None)
        if found.stopped == "interrupted":
            warnings.warn("Training interrupted by user.", stacklevel=4)
        return self

    def _class_numbers(self, rows: RowSet) -> np.ndarray | None:
        """The class of each row, which folds have in equal shares; None if there is not one class for each row."""
        return None

    def _learn_from_held_out(self, outputs: np.ndarray, rows: RowSet, is_known: np.ndarray) -> None:
        """Keep out-of-fold predictions of an ensemble, given its outputs for rows that its members did not see."""
        raise NotImplementedError

    def _split_validation(
        self, settings: NetParameters, rows: RowSet, rng: np.random.RandomState, given: Any
    ) -> tuple[RowSet, RowSet | None]:
        """Training set and validation set: given to ``fit``, given as a parameter, split off, or none."""
        given = settings.validation if given is None else given
        if isinstance(given, (tuple, list)):
            if len(given) not in (2, 3):
                raise ConfigError("validation must be a fraction, (X, y) or (X, y, sample_weight).")
            return rows, self._read(settings, *given, fresh=False)
        fraction = validation_fraction(settings, given)
        if fraction is None:
            return rows, None
        return split_off_validation(rows, fraction, rng, strata=self._strata(rows))

    def _resolve(self, settings: NetParameters) -> None:
        """Record the parameters that are used."""
        used = self.get_params(deep=False) | vars(settings)
        self.resolved_params_ = {name: plain(value) for name, value in used.items()}

    def _finish_fit(self, settings: NetParameters, validation: RowSet | None) -> None:
        """Set the attributes that are known after training."""
        self.resolved_params_["learning_rate_init"] = settings.learning_rate_init

    def _read(
        self, settings: NetParameters, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, fresh: bool
    ) -> RowSet:
        """Validate rows as scikit-learn does; a table is encoded later, by a plan fitted to the training set."""
        check_files(X, y, sample_weight)
        refuse_gaps(y)
        if settings.data is not None and not issparse(X):
            if not fresh and hasattr(self, "n_features_in_"):
                check_width(self, X)
            X, y = read_table(self, X, y, numeric=self._target_checks.get("y_numeric", False))
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
        return RowSet(X, target, self._row_weights(y, weight, fresh=fresh), y)

    def _learn(self, settings: NetParameters, rows: RowSet) -> None:
        """Learn what is needed before a net is trained on rows, such as the plan of a table."""
        if rows.is_table:
            learn_table(self, settings.data, rows.X, rows.given_y)

    def _for_net(self, rows: RowSet) -> RowSet:
        """Rows as inputs of the net."""
        return replace(rows, X=encoded(self.table_plan_, rows.X)) if rows.is_table else rows

    def _encoding_key(self) -> Any:
        """The information that the encoding of targets depends on, as plain data."""
        return None

    def _begin(self, settings: NetParameters, rows: RowSet, rng: np.random.RandomState) -> None:
        """Create a new model and reset the counters."""
        self._know_outputs()
        self.model_ = self.new_model(settings, rows, rng)
        self.n_layers_ = len(hidden_widths(settings.hidden_layer_sizes)) + 2
        reset_counters(self, settings)

    def _know_outputs(self) -> None:
        """Choose the loss and the outputs of the net, when the targets are known."""
        self.loss_function_ = self._make_loss()
        self.n_outputs_ = self._n_outputs()
        name = self._output_activation()
        self.out_activation_ = {"sigmoid": "logistic", "own": self.loss_function_.out_activation}.get(name, name)

    def new_model(
        self,
        settings: NetParameters,
        rows: RowSet,
        rng: np.random.RandomState,
        *,
        plan: TablePlan | None = None,
    ) -> Model:
        """A new model for rows such as these; ``plan`` replaces the table plan, to add other features."""
        dtype = settings.dtype or (rows.X.dtype if hasattr(rows.X, "dtype") else "float32")
        plan = self.__dict__.get("table_plan_") if plan is None else plan
        front = plan.front() if plan is not None and (isinstance(rows.X, dict) or plan.adds_features) else None
        net = network(settings, self.n_outputs_, front)
        looks = looks_at_rows(settings.init) or (plan is not None and plan.bins)
        model = Model.of(net, rows.X if looks else rows.inputs, seed=seed_of(rng), dtype=dtype)
        if settings.init is None:
            draw_as_scikit_learn(model, rng, logistic=settings.activation == "logistic")
        return model

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

    @property
    def _no_improvement_count(self) -> int:
        """scikit-learn's name of the counter, for code that reads it from its estimators."""
        return self.epochs_without_improvement_

    def _fitted_model(self, attribute: str) -> Model:
        if "model_" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {attribute!r}: it is not fitted yet."
            )
        return self.model_

    def _make_predictor(self, model: Model) -> Predictor:
        return Predictor(model, self.loss_function_, activation=self._output_activation(), threads=self.threads)

    def _predict_rows(self, X: Inputs, *, raw: bool = False) -> np.ndarray:
        """Predictions of the net, (n, outputs); its raw outputs with ``raw``."""
        predictor: Predictor | None = self.__dict__.get("_predictor")
        if predictor is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        if "table_plan_" in self.__dict__:
            check_width(self, X)
            X = encoded(self.table_plan_, X)
        elif not predictor.takes(X) or "feature_names_in_" in self.__dict__:
            check_files(X)
            X = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
        return predictor.outputs(X) if raw else predictor(X)

    def restore_net(self, model: Model, history: History) -> None:
        """Take the net and the history that were read from a file, if they fit what is already restored."""
        self.model_, self.history_, self.best_weights_ = model, history, None
        self.loss_function_ = self._make_loss()
        self._predictor = self._make_predictor(model)
        self._check_restored()

    def _check_restored(self) -> None:
        """Raise an error if the parts that were read from a file do not fit together."""
        from madaline.estimators import integrity

        integrity.check_finite(self.model_)
        integrity.check_inputs(self.model_, self.__dict__.get("table_plan_"), self.n_features_in_)
        integrity.check_outputs(self.model_, self._n_outputs(), self._n_targets(), self.target_names_)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        state = {name: value for name, value in state.items() if name != "_predictor"}
        if "resolved_params_" in state:
            state["resolved_params_"] = with_graphs(state["resolved_params_"])
        return with_graphs(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self._predictor = self._make_predictor(self.model_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        takes_tables = self.data is not None or self.preset is not None
        tags.input_tags.allow_nan = tags.input_tags.string = takes_tables
        return tags
