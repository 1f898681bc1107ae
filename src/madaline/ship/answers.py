"""The predictions of fitted estimators as graphs: from columns or rows to probabilities, classes and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import ConfigError
from madaline.estimators.base import NetEstimator
from madaline.estimators.classical.madaline import Madaline
from madaline.estimators.classical.units import UnitClassifier
from madaline.estimators.classifier import MLPClassifier
from madaline.estimators.density.base import StandardizedRegressor
from madaline.estimators.density.gaussian import GaussianMLPRegressor
from madaline.estimators.density.mixture import MixtureDensityRegressor
from madaline.estimators.density.quantile import QuantileMLPRegressor
from madaline.estimators.regressor import MLPRegressor
from madaline.functional.model import Model
from madaline.graph.node import Node, new_input
from madaline.graph.shapes import Rows
from madaline.graph.trace import open_trace
from madaline.losses.loss import softmax
from madaline.ship.columns import TableColumns
from madaline.ship.inference import InferenceGraph, completed, number_type, run

Answers = tuple[dict[str, Any], dict[str, Mapping[str, Any]]]
"Outputs by name, and the kind and values of some of them."


def inference_of_estimator(
    estimator: Any, dtype: DTypeLike | None = None, *, interval: float | None = None
) -> InferenceGraph:
    """The graph of a fitted estimator, preprocessing and classes included.

    With ``interval``, a regressor that knows the size of its errors has the additional outputs ``low`` and ``high``:
    the ends of the prediction interval of this coverage.
    """
    if isinstance(estimator, UnitClassifier):
        return _of_units(estimator)
    answers = next((rule for kind, rule in ANSWERS.items() if isinstance(estimator, kind)), None)
    if answers is None or not hasattr(estimator, "model_"):
        hint = " A pipeline of scikit-learn can be exported with to='onnx'." if hasattr(estimator, "steps") else ""
        raise TypeError(
            f"export needs a model, such as trainer.model, or a fitted estimator of madaline. It was given "
            f"{'an unfitted ' if answers else ''}{type(estimator).__name__}.{hint}"
        )
    plan = getattr(estimator, "table_plan_", None)

    def found(raw: Any) -> Answers:
        outputs, known = answers(estimator, raw)
        if interval is not None and isinstance(estimator, MLPRegressor) and estimator.is_calibrated:
            low, high = estimator.interval_around(outputs["prediction"], interval)
            outputs = {**outputs, "low": low, "high": high}
        return outputs, known

    return _of_net(estimator.model_, plan, found, type(estimator).__name__, dtype)


def _of_net(
    model: Model, plan: Any, answers: Callable[[Any], Answers], title: str, dtype: DTypeLike | None
) -> InferenceGraph:
    number = number_type(model, dtype)
    columns = None if plan is None else TableColumns(plan)
    spec = model.network.inputs
    inputs = columns.inputs if columns else [new_input(0, (Rows(), *spec.shape), number, "x")]
    with open_trace(inputs):
        x = columns.encoded() if columns else inputs[0]
        # A net without embeddings may take the matrix by its name or directly.
        x = dict.fromkeys(spec, x) if isinstance(spec, dict) and not isinstance(x, dict) else x
        x = next(iter(x.values())) if isinstance(x, dict) and not isinstance(spec, dict) else x
        passed = run(model, x, number, columns.layers if columns else None)
        outputs, known = answers(passed.y)
    parameters = frozenset(model.network.params)
    about = columns.known if columns else None
    return completed(inputs, outputs, f"{title}: {model.net!r}", passed, parameters, columns=about, known=known)


def _classified(p: Any, classes: Any, threshold: float = 0.5) -> Answers:
    """Probabilities (or margins) and the class: that of the largest, or the second of two if above the threshold."""
    names = tuple(np.asarray(classes).tolist())
    known: dict[str, Mapping[str, Any]] = {"label": {"kind": "label", "values": names}}
    scores = "probabilities" if threshold else "decision"
    if p.shape[1] > 1:
        return {scores: p, "label": np.argmax(p, axis=1)}, known
    if len(names) == 1:
        return {scores: np.ones_like(p), "label": np.zeros_like(p[:, 0]).astype(np.int64)}, known
    both = np.concatenate([1.0 - p, p], axis=1) if threshold else p
    return {scores: both, "label": (p[:, 0] > threshold).astype(np.int64)}, known


def _of_classifier(estimator: MLPClassifier, raw: Any) -> Answers:
    p, kind = estimator.activated(raw), estimator.class_encoding_.kind
    threshold = 0.0 if estimator.out_activation_ == "identity" else 0.5
    if kind == "labels":
        return {"probabilities": p, "labels": (p > threshold).astype(np.int64)}, {}
    if kind != "several":
        return _classified(p, estimator.classes_, threshold)
    outputs: dict[str, Any] = {"probabilities": p}
    known: dict[str, Mapping[str, Any]] = {}
    ends = np.cumsum([0, *(len(classes) for classes in estimator.classes_)]).tolist()
    for number, (start, stop) in enumerate(pairwise(ends)):
        outputs[f"label_{number}"] = np.argmax(p[:, start:stop], axis=1)
        known[f"label_{number}"] = {"kind": "label", "values": tuple(estimator.classes_[number].tolist())}
    return outputs, known


def _of_regressor(estimator: MLPRegressor, raw: Any) -> Answers:
    found = estimator.activated(raw)
    if estimator.target_scaling_ is not None:
        centre, scale = estimator.target_scaling_
        found = found.astype(np.float64) * scale + centre
    found = estimator.clip_to_bounds(found)
    return {"prediction": found[:, 0] if found.shape[1] == 1 else found}, {}


def _in_units(estimator: StandardizedRegressor, values: Any, *, shift: bool = True) -> Any:
    """Convert standardized numbers, with the targets on the last axis, to the units of the targets."""
    found = values.astype(np.float64) * np.atleast_1d(estimator.target_scale_)
    return found + np.atleast_1d(estimator.target_centre_) if shift else found


def _of_quantiles(estimator: QuantileMLPRegressor, raw: Any) -> Answers:
    by_target = np.sort(raw.reshape((raw.shape[0], estimator.target_spec_.width, -1)), axis=2)
    found = np.swapaxes(_in_units(estimator, np.swapaxes(by_target, 1, 2)), 1, 2)
    return {"quantiles": found if estimator.target_is_matrix_ else found[:, 0, :]}, {}


def _of_gaussian(estimator: GaussianMLPRegressor, raw: Any) -> Answers:
    _refuse_thinned(estimator)
    loss: Any = estimator.loss_function_
    mean = _in_units(estimator, loss.predict(raw))
    std = _in_units(estimator, np.sqrt(loss.variance(raw)), shift=False)
    return {"mean": _shaped(estimator, mean), "std": _shaped(estimator, std)}, {}


def _of_mixture(estimator: MixtureDensityRegressor, raw: Any) -> Answers:
    _refuse_thinned(estimator)
    loss: Any = estimator.loss_function_
    logits, means, _, _ = loss.split(raw, estimator.target_spec_.width)
    weights = softmax(logits)
    means = _in_units(estimator, means)
    mean = np.sum(weights[:, :, None] * means, axis=1)
    return {"mean": _shaped(estimator, mean), "weights": weights, "means": means}, {}


def _shaped(estimator: StandardizedRegressor, values: Any) -> Any:
    return values if estimator.target_is_matrix_ else values[:, 0]


def _refuse_thinned(estimator: Any) -> None:
    if estimator.mc_dropout:
        raise ConfigError(
            f"mc_dropout={estimator.mc_dropout} samples random nets for each prediction, which exported files do not "
            "support. Export the complete net: estimator.set_params(mc_dropout=0)."
        )


def _of_units(estimator: UnitClassifier) -> InferenceGraph:
    """Classical units: weighted sums, and the class of the largest sum or of the sign."""
    if not hasattr(estimator, "classes_"):
        raise TypeError(f"export needs a fitted estimator; this {type(estimator).__name__} is not fitted.")
    x = new_input(0, (Rows(), int(estimator.n_features_in_)), np.float64, "x")
    with open_trace([x]):
        sums = _sums(estimator, x)
        label = np.argmax(sums, axis=1) if len(estimator.classes_) > 2 else (sums[:, 0] >= 0.0).astype(np.int64)
    outputs: dict[str, Node] = {"decision": sums, "label": label}
    known = {"label": {"kind": "label", "values": tuple(estimator.classes_.tolist())}}
    return completed([x], outputs, repr(estimator), known=known)


def _sums(estimator: Any, x: Any) -> Any:
    if isinstance(estimator, Madaline):
        (W, V), (b, c) = estimator.coefs_, estimator.intercepts_
        return np.where(x @ W + b >= 0.0, 1.0, -1.0) @ V + c
    return x @ estimator.coef_.T + estimator.intercept_


ANSWERS: dict[type[NetEstimator], Callable[[Any, Any], Answers]] = {
    MLPClassifier: _of_classifier,
    MLPRegressor: _of_regressor,
    QuantileMLPRegressor: _of_quantiles,
    GaussianMLPRegressor: _of_gaussian,
    MixtureDensityRegressor: _of_mixture,
}
"How each estimator converts the outputs of its net to predictions."
