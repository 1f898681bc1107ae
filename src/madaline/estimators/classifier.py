"""The classifier: scikit-learn's ``MLPClassifier`` with additional features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from madaline.errors import ConfigError, ShapeError
from madaline.estimators.base import NetEstimator
from madaline.estimators.documentation import documented
from madaline.estimators.losses import SeveralClasses, SummedOverOutputs, scikit_loss
from madaline.estimators.monte_carlo import ThinnedNets
from madaline.estimators.parameters import ClassifierParameters
from madaline.estimators.recipe import can_continue
from madaline.estimators.row_set import RowSet
from madaline.estimators.tables import plain_matrix
from madaline.estimators.targets import Classes
from madaline.estimators.thresholds import best_threshold
from madaline.losses.classes import ClassLoss, LabelLoss
from madaline.losses.cross_entropy import BinaryCrossEntropy, CrossEntropy
from madaline.losses.custom import CustomLoss
from madaline.losses.loss import LOSSES, Loss

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets


def _has_probabilities(estimator: Any) -> bool:
    if estimator.loss == "log_loss":
        return True
    loss = scikit_loss(estimator.loss)
    if loss.out_activation != "identity" or isinstance(loss, CustomLoss):
        return True
    raise AttributeError(f"loss={estimator.loss!r} gives margins, not probabilities. Use decision_function.")


def _has_margins(estimator: Any) -> bool:
    loss = None if estimator.loss == "log_loss" else scikit_loss(estimator.loss)
    if loss is not None and loss.out_activation == "identity" and not isinstance(loss, CustomLoss):
        return True
    raise AttributeError(f"loss={estimator.loss!r} gives probabilities, not margins. Use predict_proba.")


@documented
class MLPClassifier(ThinnedNets, ClassifierMixin, NetEstimator, ClassifierParameters):
    """Multilayer perceptron classifier: scikit-learn's, weight for weight, with many more options.

    Targets are two classes or more, labels (a matrix of 0 and 1), or several columns of classes.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    classes_ : array, or list of arrays
        The classes; one array for each column of several targets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MLPClassifier((32, 32), norm="batch", dropout=0.1, schedule="cosine", batch_size=32, random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.95
    True
    """

    _estimator_type: ClassVar[str] = "classifier"  # older packages, such as Yellowbrick, look for it
    _has_ensembles: ClassVar[bool] = True

    classes_: Any
    class_encoding_: Classes
    _balance: Any

    def _read_target(self, y: Any, *, fresh: bool) -> np.ndarray:
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        given = self.__dict__.pop("_classes_given", False)
        if fresh and not given:
            self.class_encoding_ = Classes.of(y)
            self.classes_ = self.class_encoding_.classes
        else:
            self.class_encoding_.check_known(y, warm_start=self.warm_start)
        return self.class_encoding_.encode(y)

    def _know_classes(self, classes: Any) -> None:
        self.class_encoding_ = Classes.of(np.asarray(classes))
        self.classes_ = self.class_encoding_.classes
        self._classes_given = True

    def _row_weights(self, y: Any, weight: Any, *, fresh: bool) -> Any:
        if self.class_weight is None:
            return weight
        given = self.class_weight
        if isinstance(given, str):  # computed from the training set, and also used for the validation set
            if fresh or "_balance" not in self.__dict__:
                self._balance = _balanced(y.toarray() if issparse(y) else y)
            given = self._balance
        of_class = compute_sample_weight(given, y)
        return of_class if weight is None else of_class * weight

    def _encoding_key(self) -> Any:
        classes = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        return [[str(item) for item in each] for each in classes], self.__dict__.get("_balance")

    def _make_loss(self) -> Loss:
        kind = self.class_encoding_.kind
        if self.loss != "log_loss":
            if kind == "several":
                raise ConfigError(f"loss={self.loss!r} cannot be used with several columns of classes. Use 'log_loss'.")
            return self._loss_of_classes()
        if kind == "several":
            return SeveralClasses(tuple(len(classes) for classes in self.classes_))
        if kind == "multiclass":
            return CrossEntropy()
        return SummedOverOutputs(BinaryCrossEntropy()) if kind == "labels" else BinaryCrossEntropy()

    def _loss_of_classes(self) -> Loss:
        """The loss, or an error if it is a loss for numbers, which would treat class indices as numbers."""
        loss = scikit_loss(self.loss)
        if isinstance(loss, (ClassLoss, LabelLoss)) or loss.name not in LOSSES:
            return loss
        known = [name for name, kind in LOSSES.items() if issubclass(kind, (ClassLoss, LabelLoss))]
        raise ConfigError(
            f"loss={self.loss!r} is a loss for numbers, but a classifier predicts classes. Use MLPRegressor, or one "
            "of: "
            f"log_loss, {', '.join(known)}."
        )

    def _n_outputs(self) -> int:
        target = self.class_encoding_.target
        if isinstance(self.loss_function_, CustomLoss):
            return len(self.classes_) if self.class_encoding_.kind == "multiclass" else target.width
        return self.loss_function_.n_outputs(target)

    def _n_targets(self) -> int:
        return self.class_encoding_.target.width

    def _check_restored(self) -> None:
        super()._check_restored()
        known = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        again = (
            self.class_encoding_.classes
            if isinstance(self.class_encoding_.classes, list)
            else [self.class_encoding_.classes]
        )
        if len(known) != len(again) or not all(map(np.array_equal, known, again)):
            raise ValueError("the classes are not those of the target")

    def _output_activation(self) -> str:
        if isinstance(self.loss_function_, CustomLoss):
            return "softmax" if self.class_encoding_.kind == "multiclass" else "sigmoid"
        return super()._output_activation()

    def unscaled_targets(self, target: np.ndarray) -> np.ndarray:
        return np.asarray(target).astype(np.int64)

    def _class_numbers(self, rows: RowSet) -> np.ndarray | None:
        return rows.y.ravel().astype(int) if self.class_encoding_.kind in ("binary", "multiclass") else None

    def _learn_from_held_out(self, outputs: np.ndarray, rows: RowSet, is_known: np.ndarray) -> None:
        found = self.probabilities(self.activated(outputs))
        for each in found if isinstance(found, list) else [found]:
            each[~is_known] = np.nan
        self.oof_prediction_ = found

    def _strata(self, rows: RowSet) -> np.ndarray | None:
        return rows.y.reshape(-1, 1) if self.class_encoding_.kind == "binary" else None

    def _decode(self, prediction: np.ndarray, classes: Classes) -> Any:
        return classes.decode(prediction, threshold=0.0 if self.out_activation_ == "identity" else 0.5)

    def score_rows(self, prediction: np.ndarray, rows: RowSet) -> float:
        found = self._decode(prediction, self.class_encoding_.numbered())
        return float(np.average((found == rows.y).reshape(len(rows), -1).all(axis=1), weights=rows.weight))

    @available_if(can_continue)
    def partial_fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> Self:
        """Train for one more epoch on these rows.

        Parameters
        ----------
        X, y, sample_weight
            See ``fit``.
        classes : array of shape (n_classes,), optional
            All classes; required in the first call.
        """
        if not hasattr(self, "model_"):
            self._validate_params()
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} counts the rows of every class, and partial_fit sees only some. "
                "Pass the weights: compute_class_weight('balanced', classes=np.unique(y), y=y)."
            )
        if not hasattr(self, "model_") and np.ndim(y) == 2 and not _are_labels(y):
            raise ConfigError(
                "partial_fit cannot begin with several columns of classes. Call fit first, with all classes."
            )
        if _check_partial_fit_first_call(self, classes):
            labels = type_of_target(y).startswith("multilabel")
            self.class_encoding_ = Classes.of(y if labels else self.classes_)
            self._classes_given = True
        try:
            return self._fit(X, y, sample_weight, continues=True)
        finally:
            self.__dict__.pop("_classes_given", None)

    def predict(self, X: Inputs) -> Any:
        """Predicted classes; for labels and several targets, (n_samples, n_outputs)."""
        prediction = self._predict_rows(X)
        return self._decode(prediction, self.class_encoding_)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Inputs) -> Any:
        """Probabilities of the classes, in the order of ``classes_``; a list of them for several targets."""
        return self.probabilities(self._predict_rows(X))

    @available_if(_has_probabilities)
    def choose_threshold(
        self,
        y: ArrayLike,
        X: ArrayLike | None = None,
        *,
        metric: str | None = None,
        cost: tuple[float, float] | None = None,
        precision: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The probability of the second class above which it should be predicted, by a metric, by costs or a precision.

        This replaces class weights, which distort probabilities. scikit-learn's ``FixedThresholdClassifier`` makes a
        classifier with this threshold. The rows must not be those that the net was trained on; with ``preset="best"``
        the out-of-fold predictions of the training rows serve.

        Parameters
        ----------
        y : array of shape (n_samples,)
            Classes of the rows; without ``X``, those given to ``fit``.
        X : array or data frame, optional
            Rows that training did not see. By default ``oof_prediction_`` is used, which ``preset="best"`` makes.
        metric : {"accuracy", "balanced_accuracy", "f1"}, optional
            The metric to maximise.
        cost : (float, float), optional
            The costs of a false positive and of a false negative, whose sum is minimised.
        precision : float, optional
            The smallest precision; the threshold with the largest recall is chosen.
        sample_weight : array of shape (n_samples,), optional
        """
        check_is_fitted(self, "model_")
        if self.class_encoding_.kind != "binary" or len(self.classes_) != 2:
            raise ConfigError("choose_threshold needs a classifier for two classes.")
        if X is None and "oof_prediction_" not in self.__dict__:
            raise ConfigError(
                'choose_threshold needs rows that training did not see: pass X, or fit with preset="best".'
            )
        p = np.asarray(self.oof_prediction_ if X is None else self.predict_proba(X))[:, 1]
        labels = np.asarray(y).ravel()
        if len(labels) != len(p):
            raise ShapeError(f"y has {len(labels)} values, and there are predictions of {len(p)} rows.")
        self.class_encoding_.check_known(labels, warm_start=False)
        weight = _check_sample_weight(sample_weight, np.empty((len(p), 1)))
        used = np.isfinite(p)
        return best_threshold(
            p[used],
            self.class_encoding_.encode(labels)[used],
            weight[used],
            metric=metric,
            cost=cost,
            precision=precision,
        )

    def predict_encoded(self, arrays: Any) -> np.ndarray:
        """Probabilities for rows that are already encoded by ``table_plan_``, for explanations."""
        return np.asarray(self.probabilities(self._predictor(plain_matrix(arrays))))

    def probabilities(self, p: Any) -> Any:
        """Probabilities of all classes from what the output activation gives; both may be traced."""
        if ("table_plan_" in self.__dict__ or self.preset is not None) and p.dtype == np.float32:
            p = p.astype(np.float64)  # the preset chose float32: probabilities must add up to 1
            p = p / p.sum(axis=1, keepdims=True) if self._output_activation() == "softmax" else p
        if p.shape[1] == 1 and self.class_encoding_.kind == "binary":
            return np.concatenate((1.0 - p, p), axis=1) if len(self.classes_) > 1 else np.ones_like(p)
        return self.loss_function_.blocks(p) if isinstance(self.loss_function_, SeveralClasses) else p

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Inputs) -> Any:
        """Logarithms of ``predict_proba``."""
        p = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in p] if isinstance(p, list) else np.log(p)

    def _one_sample(self, outputs: np.ndarray) -> Any:
        if isinstance(self.loss_function_, SeveralClasses):
            raise ConfigError("predict_samples needs a net with one target; this one has several.")
        return self.probabilities(self.activated(outputs))

    @available_if(_has_margins)
    def decision_function(self, X: Inputs) -> np.ndarray:
        """Margins, for losses without probabilities such as hinge: (n,) for two classes, else (n, n_classes)."""
        z = self._predict_rows(X, raw=True)
        return z[:, 0] if z.shape[1] == 1 else z

    def score(self, X: Inputs, y: Targets, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy; with labels or several targets, the fraction of rows for which all are correct."""
        from sklearn.metrics import accuracy_score  # slow to import

        found = self.predict(X)
        if self.class_encoding_.kind == "several":
            weights = None if sample_weight is None else np.asarray(sample_weight)
            return float(np.average(np.all(np.asarray(y) == found, axis=1), weights=weights))
        return float(accuracy_score(y if issparse(y) else np.asarray(y), found, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _balanced(y: np.ndarray) -> Any:
    """Balanced class weights; one dict for each of several targets."""
    if y.ndim == 2 and y.shape[1] > 1:
        return [_balanced(column) for column in y.T]
    classes = np.unique(y)
    return dict(zip(classes.tolist(), compute_class_weight("balanced", classes=classes, y=y.ravel()), strict=True))


def _are_labels(y: Any) -> bool:
    return issparse(y) or np.shape(y)[1] == 1 or bool(np.isin(np.asarray(y), (0, 1)).all())
