"""The function that attributions explain: a net whose inputs are all numbers, and the meaning of its outputs.

A net behind a table (``data="auto"``) has categories as inputs, which have no derivative: attributions are computed for
their embedding vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.kernels.mapped import check_files
from madaline.nn.layer import Layer
from madaline.nn.layers.embedding import Embedding
from madaline.nn.layers.ensemble import Ensemble
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.parallel import Parallel
from madaline.nn.layers.sequential import Sequential
from madaline.nn.network import build
from madaline.train.data import is_sparse

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ExplainedNet:
    """A net, its inputs and its outputs.

    Attributes
    ----------
    model : Model
        Its inputs are floats.
    inputs : callable
        From rows as users give them to arrays of the net's type, or a dict of them.
    meaning : callable
        From raw outputs to the explained quantity, (n, outputs). It is traced.
    by_column : callable
        From attributions of the inputs to attributions of the columns of the table.
    names : array or None
        Names of the outputs, if they are classes.
    picks : bool
        Whether the largest output is the prediction, as for one class of several.
    """

    model: Model
    inputs: Callable[[Any], Any]
    meaning: Callable[[Any], Any]
    by_column: Callable[[Any], Any]
    names: Array | None = None
    picks: bool = False


def explained(model: Any, *, raw: bool) -> ExplainedNet:
    """The net, inputs and outputs of a model or estimator."""
    if isinstance(model, Model):
        return _of_model(model)
    from madaline.estimators.base import NetEstimator  # imports scikit-learn, which a model does not need

    if not isinstance(model, NetEstimator):
        raise ConfigError(
            f"{type(model).__name__} is neither a md.Model nor an estimator of madaline. To explain a pipeline, use "
            "its last step with the transformed rows: md.explain(pipeline[-1], pipeline[:-1].transform(X))."
        )
    return _of_estimator(model, raw=raw)


def _of_model(model: Model) -> ExplainedNet:
    specs = model.network.inputs
    for name, spec in specs.items() if isinstance(specs, dict) else [("", specs)]:
        if getattr(spec, "dtype", np.dtype(float)).kind == "i":
            raise ConfigError(
                f"The input {name!r} holds categories, which have no derivative. Explain the layers after the "
                "embedding, model[k:], on what they are given, model[:k](X); or an estimator with data='auto'."
            )
    if not isinstance(model.network.out_shape, tuple) or len(model.network.out_shape) != 2:
        raise ConfigError("Attributions explain nets with one output of shape (n, outputs).")
    return ExplainedNet(model, lambda X: model.batch(X)[0], lambda z: z, lambda found: found)


def _of_estimator(estimator: Any, *, raw: bool) -> ExplainedNet:
    from sklearn.utils.validation import check_is_fitted, validate_data

    check_is_fitted(estimator, "model_")
    model, names, picks = estimator.model_, None, False
    if hasattr(estimator, "classes_"):
        kind = estimator.class_encoding_.kind
        names = None if kind == "several" else np.asarray(estimator.classes_)
        picks = kind in ("binary", "multiclass")
    meaning = meaning_of(estimator, raw=raw)
    plan = estimator.__dict__.get("table_plan_")
    if plan is not None:
        return _behind_a_table(plan, model, meaning, names, picks)

    def inputs(X: Any) -> Any:
        check_files(X)
        X = validate_data(estimator, X, accept_sparse=["csr", "csc"], reset=False)
        return model.batch(X.toarray() if is_sparse(X) else X)[0]

    return ExplainedNet(model, inputs, meaning, lambda found: found, names, picks)


def meaning_of(estimator: Any, *, raw: bool) -> Callable[[Any], Any]:
    """The function from raw outputs to what an estimator predicts, or to themselves."""
    if hasattr(estimator, "classes_"):
        is_raw = raw or estimator.out_activation_ == "identity"
        if estimator.class_encoding_.kind != "binary":
            return (lambda z: z) if is_raw else estimator.activated
        if is_raw:  # the logit of one class is minus that of the other
            return lambda z: np.concatenate((-z, z), axis=1) if z.shape[1] == 1 else z
        return lambda z: estimator.probabilities(estimator.activated(z))
    if raw:
        return lambda z: z
    from madaline.estimators.regressor import MLPRegressor

    loss = estimator.loss_function_
    if isinstance(estimator, MLPRegressor):
        return lambda z: estimator.clip_to_bounds(estimator.in_target_units(loss.predict(z)))
    centre, spread = np.atleast_1d(estimator.target_centre_), np.atleast_1d(estimator.target_scale_)

    def in_units_of_the_target(z: Any) -> Any:
        y = loss.predict(z)
        each = y.shape[1] // len(spread)  # quantiles of each target are side by side
        if each > 1:  # quantiles that cross are sorted, as in predict
            y = np.sort(y.reshape((y.shape[0], len(spread), each)), axis=2).reshape(y.shape)
        return y * np.repeat(spread, each).astype(z.dtype) + np.repeat(centre, each).astype(z.dtype)

    return in_units_of_the_target


def _behind_a_table(plan: Any, model: Model, meaning: Any, names: Array | None, picks: bool) -> ExplainedNet:
    from madaline.data.encode import NUMBERS
    from madaline.estimators.tables import encoded

    vectors = plan.inputs()
    place_of = {column.column: place for place, column in enumerate(plan.columns)}
    owners = [place_of[column.column] for column in plan.columns for _ in column.features()]
    after, paths = _after_embeddings(model, list(vectors.values()))

    def inputs(table: Any) -> Any:
        arrays = encoded(plan, table)
        if isinstance(arrays, dict):
            inside = model.activations(arrays)
            arrays |= {name: np.concatenate([inside[path] for path in each], axis=1) for name, each in paths.items()}
        return after.batch(arrays)[0]

    def by_column(found: Any) -> Array:
        found = found if isinstance(found, dict) else {NUMBERS: found}
        total = np.zeros((len(next(iter(found.values()))), len(plan.columns)))
        if NUMBERS in found:
            for place, owner in enumerate(owners):
                total[:, owner] += found[NUMBERS][:, place]
        for column, name in vectors.items():
            total[:, place_of[column]] = found[name].sum(axis=1)
        return total

    return ExplainedNet(after, inputs, meaning, by_column, names, picks)


@dataclass
class _EmbeddingsAsInputs:
    """Replaces the embeddings of a net by linear maps that choose columns of an input of vectors.

    In an ensemble, every member has its own embedding of a column; their vectors are side by side.

    Attributes
    ----------
    names : list of str
        Names of the inputs that are embedded.
    paths : dict of lists of str
        Paths of the embeddings of each input, in the order of their columns.
    """

    names: list[str]
    paths: dict[str, list[str]] = field(default_factory=dict)
    widths: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.paths = {name: [] for name in self.names}
        self.widths = {name: [] for name in self.names}

    def __call__(self, layer: Layer, path: str = "") -> Any:
        """The layer without embeddings; only containers of layers are made anew."""
        name = path.rpartition(".")[2]
        if isinstance(layer, Embedding) and name in self.names:
            self.widths[name].append(layer.width)
            self.paths[name].append(path)
            return Linear(layer.width, bias=False)
        parts = {part: self(inner, f"{path}.{part}" if path else part) for part, inner in layer.parts()}
        if isinstance(layer, Ensemble):
            return Ensemble(
                *parts.values(), weights=layer.weights, average=layer.average, temperature=layer.temperature
            )
        if isinstance(layer, Parallel):
            return Parallel(**parts) if layer.names else Parallel(*parts.values())
        return Sequential(*parts.values()) if isinstance(layer, Sequential) else layer

    def maps(self) -> dict[str, Array]:
        """The matrices of the linear maps, by their paths."""
        found: dict[str, Array] = {}
        for name, paths in self.paths.items():
            columns = np.split(np.eye(sum(self.widths[name])), np.cumsum(self.widths[name])[:-1], axis=1)
            found |= {f"{path}.W": W for path, W in zip(paths, columns, strict=True)}
        return found


def _after_embeddings(model: Model, embedded: list[str]) -> tuple[Model, dict[str, list[str]]]:
    """The same net with embedding vectors as inputs in place of categories, and the paths of the embeddings."""
    if not embedded:
        return model, {}
    replaced = _EmbeddingsAsInputs(embedded)
    net = replaced(model.net)
    specs = {name: spec.shape for name, spec in model.network.inputs.items()}
    specs |= {name: (sum(widths),) for name, widths in replaced.widths.items()}
    network = build(net, specs, dtype=model.network.dtype)
    return Model.from_arrays(network, {**model.params, **model.state, **replaced.maps()}), replaced.paths
