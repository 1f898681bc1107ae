"""Estimators in pipelines of scikit-learn that skl2onnx converts.

``register()`` tells skl2onnx how to convert the estimators of madaline; ``skl2onnx.to_onnx`` then takes pipelines,
searches and ensembles that hold them. ``md.export(pipeline, path, to="onnx")`` does both.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from madaline.errors import ConfigError, ExportError, MissingPackageError
from madaline.estimators.classical.adaline import Adaline
from madaline.estimators.classical.madaline import Madaline
from madaline.estimators.classical.perceptron import Perceptron
from madaline.estimators.classical.threshold_logic import ThresholdLogicUnit
from madaline.estimators.classifier import MLPClassifier
from madaline.estimators.density.gaussian import GaussianMLPRegressor
from madaline.estimators.density.mixture import MixtureDensityRegressor
from madaline.estimators.density.quantile import QuantileMLPRegressor
from madaline.estimators.regressor import MLPRegressor
from madaline.ship.answers import inference_of_estimator
from madaline.ship.onnx_graph import ML_OPSET, OPSET, Builder, onnx_model

__all__ = ["convert", "register"]

CLASSIFIERS: tuple[type[Any], ...] = (MLPClassifier, Perceptron, Adaline, Madaline, ThresholdLogicUnit)
REGRESSORS: tuple[type[Any], ...] = (MLPRegressor, QuantileMLPRegressor, GaussianMLPRegressor, MixtureDensityRegressor)
OPTIONS: dict[str, list[Any]] = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [True, False],
    "raw_scores": [True, False],
}
"Options that skl2onnx gives to classifiers."


def register() -> None:
    """Register the estimators of madaline with skl2onnx."""
    skl2onnx = _package()
    for kind in CLASSIFIERS:
        skl2onnx.update_registered_converter(
            kind, f"Madaline{kind.__name__}", _shapes_of_classifier, _convert_classifier, options=OPTIONS
        )
    for kind in REGRESSORS:
        skl2onnx.update_registered_converter(kind, f"Madaline{kind.__name__}", _shapes_of_regressor, _convert_regressor)


def convert(pipeline: Any, dtype: DTypeLike | None = None) -> Any:
    """A fitted pipeline as an ONNX model.

    Parameters
    ----------
    pipeline : estimator of scikit-learn
        A fitted pipeline or another estimator whose parts skl2onnx knows, with estimators of madaline inside.
    dtype : {"float32", "float64"}, optional
        Type of the numbers. By default ``float32``.

    Returns
    -------
    onnx.ModelProto
        If the pipeline chooses columns by name, it has an input of shape (n, 1) for each column, of numbers or strings.
        Otherwise its input ``X`` is a matrix. Outputs are ``label`` and ``probabilities``, or ``variable``.
    """
    skl2onnx = _package()
    register()
    types = _input_types(pipeline, np.dtype(dtype or np.float32))
    options: dict[Any, Any] = {"zipmap": False} if hasattr(pipeline, "classes_") else {}
    try:
        return skl2onnx.to_onnx(pipeline, initial_types=types, options=options)
    except (RuntimeError, NotImplementedError, ValueError, TypeError, NameError) as error:
        if isinstance(error, (ConfigError, ExportError)):
            raise
        first = str(error).strip().split("\n", 1)[0]
        raise ExportError(
            f"skl2onnx cannot convert this {type(pipeline).__name__}: {type(error).__name__}: {first} For columns of "
            "unusual types, call madaline.ship.skl2onnx.register() and skl2onnx.to_onnx(pipeline, X[:1])."
        ) from error


def _package() -> Any:
    try:
        return importlib.import_module("skl2onnx")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("skl2onnx", "onnx"):
            raise
        raise MissingPackageError(
            'Converting a pipeline needs the packages skl2onnx and onnx. Install them: pip install skl2onnx "madaline'
            '[onnx]".'
        ) from None


# Types of inputs


def _input_types(model: Any, dtype: np.dtype[Any]) -> list[tuple[str, Any]]:
    """Names and types of the inputs of a fitted pipeline, as far as its first step tells them."""
    types = importlib.import_module("skl2onnx.common.data_types")
    number = types.DoubleTensorType if dtype == np.float64 else types.FloatTensorType
    first = _first_step(model)
    if not hasattr(first, "n_features_in_"):
        raise ConfigError(f"export needs a fitted {type(model).__name__}: call fit first.")
    names = getattr(first, "feature_names_in_", None)
    if not hasattr(first, "transformers_") or names is None:
        kind = types.StringTensorType if _takes_texts(first) else number
        return [("X", kind([None, int(first.n_features_in_)]))]
    texts = {name for _, transformer, columns in first.transformers_ if _takes_texts(_first_step(transformer))
             for name in _column_names(columns, names)}  # fmt: skip
    return [(str(name), (types.StringTensorType if name in texts else number)([None, 1])) for name in names]


def _first_step(model: Any) -> Any:
    while True:
        if getattr(model, "steps", None):
            model = model.steps[0][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return model


def _column_names(columns: Any, names: Any) -> Iterator[str]:
    """The columns of a transformer, given by name, number or mask."""
    if isinstance(columns, str):
        yield columns
        return
    chosen = np.asarray(columns if not isinstance(columns, slice) else np.arange(len(names))[columns])
    yield from chosen.tolist() if chosen.dtype.kind in "UO" else np.asarray(names)[chosen].tolist()


def _takes_texts(transformer: Any) -> bool:
    """Whether an encoder has learned categories that are texts."""
    categories = getattr(transformer, "categories_", None) or []
    return any(np.asarray(each).dtype.kind in "UOT" and any(isinstance(v, str) for v in each) for each in categories)


# What skl2onnx calls


def _number_type(types: Any, operator: Any) -> Any:
    is_double = isinstance(operator.inputs[0].type, types.DoubleTensorType)
    return types.DoubleTensorType if is_double else types.FloatTensorType


def _shapes_of_classifier(operator: Any) -> None:
    types = importlib.import_module("skl2onnx.common.data_types")
    estimator, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    label, scores = operator.outputs
    number = _number_type(types, operator)
    if isinstance(estimator.classes_, list):
        raise ExportError("skl2onnx does not support several targets. Export the estimator itself: md.export.")
    is_text = np.asarray(estimator.classes_).dtype.kind in "UOT"
    is_multilabel = getattr(getattr(estimator, "class_encoding_", None), "kind", "") == "labels"
    n_classes = len(estimator.classes_)
    shape = [rows, n_classes] if is_multilabel else [rows]
    label.set_type((types.StringTensorType if is_text and not is_multilabel else types.Int64TensorType)(shape))
    has_margin = not hasattr(estimator, "predict_proba") and n_classes == 2
    scores.set_type(number([rows, 1 if has_margin else n_classes]))


def _shapes_of_regressor(operator: Any) -> None:
    types = importlib.import_module("skl2onnx.common.data_types")
    estimator, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    number = _number_type(types, operator)
    sizes = inference_of_estimator(estimator).outputs[0].shape[1:]
    sizes = sizes[:-1] if isinstance(estimator, QuantileMLPRegressor) else sizes
    operator.outputs[0].set_type(number([rows, *(sizes or (1,))]))


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    types = importlib.import_module("skl2onnx.common.data_types")
    found = _Insertion(scope, operator, container)
    label, scores = operator.outputs
    name = "labels" if "labels" in found.outputs else "label"
    if isinstance(label.type, types.StringTensorType):
        found.copy(name, label)
    else:
        found.cast(name, label, np.int64)
    found.cast(next(each for each in ("probabilities", "decision") if each in found.outputs), scores)


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    found = _Insertion(scope, operator, container)
    name = next(iter(found.outputs))
    if isinstance(operator.raw_operator, QuantileMLPRegressor):
        found.choose(name, operator.raw_operator.median_place)
    found.cast(name, operator.outputs[0])


class _Insertion:
    """The operators of an estimator, added to the container of a conversion.

    Attributes
    ----------
    outputs : dict of str
        Names of the results in the container, by the names of the outputs of the estimator.
    """

    def __init__(self, scope: Any, operator: Any, container: Any) -> None:
        self._scope, self._operator, self._container = scope, operator, container
        if container.target_opset_onnx < OPSET:
            raise ExportError(f"The estimators of madaline need target_opset={OPSET} or later.")
        self._inference = inference_of_estimator(operator.raw_operator)
        model = onnx_model(self._inference)
        builder = Builder(self._inference)
        self._names: dict[str, str] = {}
        self._add_inputs(builder.ports)
        for tensor in model.graph.initializer:
            name = self._names[tensor.name] = scope.get_unique_variable_name("madaline_weight")
            texts = list(tensor.string_data)
            container.add_initializer(name, tensor.data_type, list(tensor.dims), texts or tensor)
        self._add_operators(model)
        self.outputs = {port.name: self._names[builder.ports[port.name]] for port in self._inference.outputs}

    def _add_operators(self, model: Any) -> None:
        from onnx import helper

        for node in model.graph.node:
            for name in node.output:
                self._names[name] = self._scope.get_unique_variable_name("madaline_value")
            attributes: Mapping[str, Any] = {each.name: helper.get_attribute_value(each) for each in node.attribute}
            self._container.add_node(
                node.op_type,
                [self._names[name] if name else "" for name in node.input],
                [self._names[name] for name in node.output],
                op_domain=node.domain,
                op_version=ML_OPSET if node.domain == "ai.onnx.ml" else OPSET,
                name=self._scope.get_unique_operator_name(f"Madaline{node.op_type}"),
                **attributes,
            )

    def _add_inputs(self, titles: Mapping[str, str]) -> None:
        """Bring the inputs of the operator to the shapes and types that the graph of the estimator takes."""
        from onnx import helper

        ports, given = self._inference.inputs, self._operator.inputs
        if not any(port.is_column for port in ports):
            joined = self._joined([each.full_name for each in given])
            self._names[titles[ports[0].name]] = self._node(
                "Cast", [joined], to=helper.np_dtype_to_tensor_dtype(ports[0].dtype)
            )
            return
        by_name = {each.raw_name: each for each in given}
        for port in ports:
            title = str(port.title.value)
            if title in by_name:
                column = by_name[title].full_name
            elif port.kind == "number" and len(given) == 1:
                index = self._constant(np.array([port.place], np.int64))
                column = self._node("Gather", [given[0].full_name, index], axis=1)
            else:
                raise ExportError(
                    f"The column {title!r} of the table has no input in the converted pipeline. Export an estimator "
                    'with data="auto" or a preset by itself: md.export takes the raw columns.'
                )
            flat = self._node("Reshape", [column, self._constant(np.array([-1, *port.shape[1:]], np.int64))])
            if port.kind != "category":
                flat = self._node("Cast", [flat], to=helper.np_dtype_to_tensor_dtype(port.dtype))
            self._names[titles[port.name]] = flat

    def _joined(self, names: list[str]) -> str:
        return names[0] if len(names) == 1 else self._node("Concat", names, axis=1)

    def _constant(self, value: np.ndarray) -> str:
        from onnx import helper

        name: str = self._scope.get_unique_variable_name("madaline_constant")
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        self._container.add_initializer(name, kind, list(value.shape), value.ravel().tolist())
        return name

    def _node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        name: str = output or self._scope.get_unique_variable_name("madaline_value")
        title = self._scope.get_unique_operator_name(f"Madaline{kind}")
        self._container.add_node(kind, inputs, [name], op_version=OPSET, name=title, **attributes)
        return name

    def copy(self, name: str, to: Any) -> None:
        """Give an output its place."""
        self._node("Identity", [self.outputs[name]], to.full_name)

    def choose(self, name: str, place: int) -> None:
        """Keep one element of the last axis of an output."""
        index = self._constant(np.array([place], np.int64))
        self.outputs[name] = self._node("Gather", [self.outputs[name], index], axis=-1)

    def cast(self, name: str, to: Any, dtype: DTypeLike | None = None) -> None:
        """Give an output its place, in the shape and type that skl2onnx expects there."""
        from onnx import helper

        types = importlib.import_module("skl2onnx.common.data_types")
        if dtype is None:
            dtype = np.float64 if isinstance(to.type, types.DoubleTensorType) else np.float32
        sizes = [-1, *(int(size) for size in to.type.shape[1:])]
        flat = self._node("Reshape", [self.outputs[name], self._constant(np.array(sizes, np.int64))])
        self._node("Cast", [flat], to.full_name, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
