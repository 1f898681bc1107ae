"""Variants of the recipe that recipe.py measures: parameters, or changes of the package while a model is fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar
from unittest import mock

import numpy as np

import madaline as md
from madaline.description import description
from madaline.estimators import base, preset
from madaline.estimators.ensemble import kernel, plan
from madaline.estimators.network import network
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.nn.layer import Layer, Param, last_axis
from madaline.nn.layers.columns import Columns, as_columns, chosen, n_chosen, with_features
from madaline.nn.layers.piecewise import Piecewise
from madaline.nn.layers.residual import Residual
from madaline.nn.layers.sequential import Sequential

NetMaker = Callable[..., Sequential]


@description
class Blend(Layer):
    r"""Mish with a learned strength for each unit, :math:`y = x + a (f(x) - x)`, a = 1 at the start."""

    name: ClassVar[str] = "blended_mish"

    def params(self, in_shape: Any) -> dict[str, Param]:
        return {"a": Param((last_axis(in_shape),), Constant(1.0))}

    def __call__(self, x: Any, p: Mapping[str, Any], context: Any) -> Any:
        return x + p["a"] * (md.nn.activations.mish(x) - x)

    def first_activation(self) -> Any:
        return md.nn.activations.mish


@description
class PBLD(Layer):
    r"""RealMLP's embedding of each number, :math:`[x, \cos(2\pi(f x + b)) W + c]` with three outputs a column."""

    name: ClassVar[str] = "pbld"
    n_waves: int = 16
    _: KW_ONLY
    n_out: int = 3
    std: float = 0.1
    columns: Columns | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "columns", as_columns("PBLD", self.columns))

    def params(self, in_shape: Any) -> dict[str, Param]:
        count, limit = n_chosen(self.columns, in_shape), 1.0 / np.sqrt(self.n_waves)
        return {
            "frequency": Param((count, self.n_waves), Normal(self.std)),
            "phase": Param((count, self.n_waves), Uniform(-0.5, 0.5)),
            "W": Param((count, self.n_waves, self.n_out), Uniform(-limit, limit)),
            "b": Param((count, self.n_out), Uniform(-limit, limit)),
        }

    def __call__(self, x: Any, p: Mapping[str, Any], context: Any) -> Any:
        numbers = chosen(x, self.columns)
        waves = np.cos(2.0 * np.pi * (numbers.reshape((*numbers.shape, 1)) * p["frequency"] + p["phase"]))
        parts = [np.sum(waves * p["W"][:, :, k], axis=-1) + p["b"][:, k] for k in range(self.n_out)]
        return with_features(x, np.stack(parts, axis=-1))


def with_linear_path(settings: Any, n_outputs: int, front: Any = None) -> Sequential:
    """The net plus a linear map of its inputs."""
    layers = network(settings, n_outputs, None).layers
    if not settings.hidden_layer_sizes:
        return network(settings, n_outputs, front)
    body = Residual(*layers, projection="always")
    return Sequential(body) if front is None else Sequential(front, body)


def tree_thresholds(x: np.ndarray, y: np.ndarray, n: int) -> list[np.ndarray]:
    """At most n thresholds of each column: those of some trees that reduce the impurity most, apart from each other."""
    from sklearn.tree import DecisionTreeRegressor

    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 1 and np.issubdtype(y.dtype, np.integer):
        y = np.eye(int(y.max()) + 1, dtype=np.float32)[y]
    rng, found = np.random.default_rng(0), [[] for _ in range(x.shape[1])]
    for seed in range(4):
        rows = rng.choice(len(x), min(len(x), 20_000) * 2 // 3 + 1, replace=False)
        tree = DecisionTreeRegressor(
            max_leaf_nodes=96, min_samples_leaf=max(5, len(rows) // 300), max_features=0.5, random_state=seed
        )
        t = tree.fit(x[rows], y[rows]).tree_
        for node in np.flatnonzero(t.children_left >= 0):
            children = t.children_left[node], t.children_right[node]
            gain = t.impurity[node] * t.n_node_samples[node] - sum(
                t.impurity[c] * t.n_node_samples[c] for c in children
            )
            found[t.feature[node]].append((gain, t.threshold[node]))
    kept = []
    for column, each in enumerate(found):
        ordered, some = np.sort(x[:, column]), []
        for _, threshold in sorted(each, reverse=True):
            place = np.searchsorted(ordered, threshold) / len(ordered)
            if len(some) < n and all(abs(place - other) > 0.005 for _, other in some):
                some.append((threshold, place))
        kept.append(np.sort([threshold for threshold, _ in some]))
    return kept


@dataclass(frozen=True)
class TreeSteps:
    """Steps at thresholds of trees, in place of some of the quantile bins, while a model is fitted."""

    n_steps: int
    as_bins: bool = False

    @contextmanager
    def applied(self) -> Iterator[None]:
        seen: list[Any] = []
        new_model, state_of = base.NetEstimator.new_model, Piecewise.state_of

        def with_target(self_: Any, settings: Any, rows: Any, *args: Any, **options: Any) -> Any:
            seen[:] = [rows.y]
            return new_model(self_, settings, rows, *args, **options)

        def with_steps(layer: Any, x: Any) -> Any:
            given = dict(state_of(layer, x))
            rows = np.asarray(chosen(x.reshape(-1, x.shape[-1]), layer.columns), dtype=np.float64)
            thresholds = tree_thresholds(rows, seen[0], self.n_steps)
            n_bins = max(layer.n_bins - self.n_steps, 0)
            edges = (
                np.quantile(rows, np.linspace(0.0, 1.0, n_bins + 1), axis=0, method="inverted_cdf").T
                if n_bins
                else [np.empty(0)] * len(thresholds)
            )
            left, slope = np.zeros_like(given["left"]), np.zeros_like(given["slope"])
            for column, (own, steps) in enumerate(zip(edges, thresholds, strict=True)):
                values = np.unique(rows[:, column].astype(np.float32)).astype(np.float64)
                span = max(values[-1] - values[0], 1e-30)
                if self.as_bins:
                    bins = np.unique(np.concatenate([own, steps, values[[0, -1]]]).astype(np.float32)).astype(float)
                    begin, width = bins[:-1], np.diff(bins)
                else:
                    bins = np.unique(own.astype(np.float32)).astype(np.float64)
                    place = np.searchsorted(values, steps)
                    low = values[np.maximum(place - 1, 0)]
                    high = values[np.minimum(place, len(values) - 1)]
                    width = np.concatenate([np.diff(bins), np.maximum(high - low, 1e-4 * span)])
                    begin = np.concatenate([bins[:-1], low])
                ok = width > 1e-6 * span
                begin, width = begin[ok][: layer.n_bins], width[ok][: layer.n_bins]
                left[column, : len(begin)], slope[column, : len(begin)] = begin, 1.0 / width
            return {"left": left, "slope": slope}

        with (
            mock.patch.object(base.NetEstimator, "new_model", with_target),
            mock.patch.object(Piecewise, "state_of", with_steps),
        ):
            yield


@dataclass(frozen=True)
class Variant:
    """Parameters that are added to the preset, and what is replaced in the package meanwhile."""

    parameters: dict[str, Any] = field(default_factory=dict)
    net: NetMaker = network
    has_additive: bool = True
    steps: TreeSteps | None = None
    kernel_from: int = plan.KERNEL_FROM
    kernel: dict[str, Any] = field(default_factory=dict)
    preset: dict[str, Any] = field(default_factory=dict)
    nets: dict[str, Any] = field(default_factory=lambda: plan.NETS)
    nets_to: int = plan.FEW_ROWS

    @contextmanager
    def applied(self) -> Iterator[None]:
        alphas = plan.ADDITIVE_ALPHAS if self.has_additive else ()
        with (
            mock.patch.object(base, "network", self.net),
            mock.patch.object(plan, "ADDITIVE_ALPHAS", alphas),
            mock.patch.object(plan, "KERNEL_FROM", self.kernel_from),
            mock.patch.multiple(kernel, **({"RADIUS": kernel.RADIUS} | self.kernel)),
            mock.patch.multiple(preset, **({"ALONE": preset.ALONE} | self.preset)),
            mock.patch.multiple(plan, NETS=self.nets, FEW_ROWS=self.nets_to),
            nullcontext() if self.steps is None else self.steps.applied(),
        ):
            yield


def parameters(**given: Any) -> Variant:
    return Variant(given)


VARIANTS: dict[str, Variant] = {
    "recipe": parameters(data={"waves": 0}),
    "recipe and waves": Variant(),
    "shipped": Variant(),
    "with kernel": Variant(),
    "without kernel": Variant(kernel_from=10**9),
    "kernel from 200 rows": Variant(kernel_from=200),
    "kernel radius 1": Variant(kernel={"RADIUS": 1.0}),
    "kernel radius 4": Variant(kernel={"RADIUS": 4.0}),
    "auto": parameters(preset="auto", data={"waves": 0}),
    "auto with waves": parameters(preset="auto", data={"waves": 16, "bins": 0, "scale_rate": 0.0}),
    "waves": Variant({"data": {"waves": 16, "bins": 0, "scale_rate": 0.0}}, has_additive=False),
    "waves std 0.3": Variant(
        {"data": {"waves": 16, "bins": 0, "scale_rate": 0.0, "wave_std": 0.3}}, has_additive=False
    ),
    "no features": Variant({"data": {"waves": 0, "bins": 0, "scale_rate": 0.0}}, has_additive=False),
    "waves and bins": Variant({"data": {"waves": 16, "scale_rate": 0.0}}, has_additive=False),
    "bins only": Variant({"data": {"waves": 0, "scale_rate": 0.0}}, has_additive=False),
    "bins and additive": parameters(data={"waves": 0, "scale_rate": 0.0}),
    "bins 8": parameters(data={"waves": 0, "bins": 8}),
    "bins 32": parameters(data={"waves": 0, "bins": 32}),
    "bins 48": parameters(data={"waves": 0, "bins": 48, "scale_rate": 0.0}),
    "scale layer": parameters(data={"waves": 0, "scale_rate": 6.0}),
    "scale layer, rate 2": parameters(data={"waves": 0, "scale_rate": 2.0}),
    "no scale layer": parameters(data={"waves": 0, "scale_rate": 0.0}),
    "linear path": Variant({"data": {"waves": 0}}, net=with_linear_path),
    "blended mish": parameters(data={"waves": 0}, activation=Blend()),
    "relu": parameters(data={"waves": 0}, activation="relu"),
    "selu": parameters(data={"waves": 0}, activation="selu"),
    "init on data": parameters(data={"waves": 0}, init="kraehenbuehl"),
    "coslog4": parameters(data={"waves": 0}, schedule=md.optim.schedules.Coslog4()),
    "dropout 0": parameters(data={"waves": 0}, dropout=0.0),
    "dropout 0.2": parameters(data={"waves": 0}, dropout=0.2),
    "decay 0.1": parameters(data={"waves": 0}, weight_decay=0.1),
    "decay 0.001": parameters(data={"waves": 0}, weight_decay=1e-3),
    "rate 0.002": parameters(data={"waves": 0}, learning_rate_init=2e-3),
    "rate 0.01": parameters(data={"waves": 0}, learning_rate_init=1e-2),
    "beta2 0.95": parameters(data={"waves": 0}, optimizer=md.optim.AdamW(5e-3, beta2=0.95)),
    "batch 64": parameters(data={"waves": 0}, batch_size=64),
    "width 256": parameters(data={"waves": 0}, hidden_layer_sizes=(256, 256, 256)),
    "two layers": parameters(data={"waves": 0}, hidden_layer_sizes=(128, 128)),
    "width 64": parameters(data={"waves": 0}, hidden_layer_sizes=(64, 64, 64)),
    "log compression": parameters(data={"waves": 0, "scaling": "winsorized", "clip": "log"}),
    "robust scaling": parameters(data={"waves": 0, "scaling": "robust", "clip": "smooth"}),
    "edges at ties": Variant(),
    "now, 32 bins": parameters(data={"bins": 32}),
    "now, wave std 0.5": parameters(data={"wave_std": 0.5}),
    "now, dropout 0": parameters(dropout=0.0),
    "other seed": parameters(random_state=1000),
    "now, auto": parameters(preset="auto"),
    "now, batch 128": parameters(batch_size=128),
    "now, rate 0.01": parameters(learning_rate_init=1e-2),
    "now, width 256": parameters(hidden_layer_sizes=(256, 256, 256)),
    "now, relu": parameters(activation="relu"),
    "now, 48 bins and relu": parameters(activation="relu", data={"waves": 0, "bins": 48}),
    "now, dropout 0.25": parameters(dropout=0.25),
    "8 bins and 8 steps": Variant(steps=TreeSteps(8)),
    "16 bins and 8 steps": Variant({"data": {"bins": 24}}, steps=TreeSteps(8)),
    "tree bins": Variant(steps=TreeSteps(15, as_bins=True)),
    "now, decay 0.1": parameters(weight_decay=0.1),
    "faster": Variant(),
    "faster, radius 1": Variant(kernel={"RADIUS": 1.0}),
    "faster, 0.6 of the epochs": Variant(preset={"EPOCH_ROWS": 360_000, "FEWEST_EPOCHS": 12, "MOST_EPOCHS": 90}),
    "faster, two nets for a fold": Variant(nets={"net": {}, "net again": {}}, nets_to=10**9),
    "one net": parameters(preset="auto"),
    "one net, as members": Variant({"preset": "auto"}, preset={"ALONE": 1.0, "ALONE_BATCH": 256}),
    "one net, batch 128": Variant({"preset": "auto"}, preset={"ALONE": 1.0}),
    "one net, twice the epochs": Variant({"preset": "auto"}, preset={"ALONE": 2.0}),
}
"Each variant by name."
