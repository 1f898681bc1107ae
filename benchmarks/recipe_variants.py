"""Variants of the recipe that recipe.py measures: parameters, or changes of the package while a model is fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar
from unittest import mock

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import PowerTransformer, QuantileTransformer

import madaline as md
from madaline.description import description
from madaline.estimators import base, preset
from madaline.estimators.ensemble import kernel, plan
from madaline.estimators.ensemble.plan import PLAIN
from madaline.estimators.network import network
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.nn.layer import Layer, Param, last_axis
from madaline.nn.layers import periodic
from madaline.nn.layers.columns import Columns, as_columns, chosen, n_chosen, with_features
from madaline.nn.layers.periodic import Periodic
from madaline.nn.layers.piecewise import Piecewise
from madaline.nn.layers.residual import Residual
from madaline.nn.layers.sequential import Sequential
from madaline.optim.schedule import Schedule

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


@description
class Views(Layer):
    r"""TabM-mini: several nets that share all layers but a factor of each input and the last layer.

    In training, every row is seen by one of them, at random: the expected loss is the mean of their losses, and a step
    takes as long as that of one net. Their mean is the output.
    """

    name: ClassVar[str] = "views"
    layers: tuple[Layer, ...] = ()
    n_out: int = 1
    n_views: int = 8
    mean: float = 0.0
    std: float = 1.0

    def params(self, in_shape: Any) -> dict[str, Param]:
        last = next(layer.n_out for layer in reversed(self.layers) if hasattr(layer, "n_out"))
        return {
            "r": Param((self.n_views, last_axis(in_shape)), Normal(self.std)),
            "W": Param((last, self.n_views * self.n_out), Normal(last**-0.5), decays=True),
            "b": Param((self.n_views * self.n_out,), Constant(0.0)),
        }

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        return Sequential(*self.layers).parts()

    def __call__(self, x: Any, p: Mapping[str, Any], context: Any) -> Any:
        n, k = x.shape[0], self.n_views
        if context.train:
            place = np.floor(context.uniform((n, 1), rows=True) * k)
            chosen_view = (place == np.arange(k)).astype(context.dtype)
            hidden = Sequential(*self.layers)(x * (self.mean + chosen_view @ p["r"]), {}, context)
            outputs = (hidden @ p["W"] + p["b"]).reshape((n, k, self.n_out))
            return np.sum(outputs * chosen_view.reshape((n, k, 1)), axis=1)
        hidden = Sequential(*self.layers)(x.reshape((n, 1, x.shape[1])) * (self.mean + p["r"]), {}, context)
        outputs = (hidden @ p["W"] + p["b"]).reshape((n, k, k, self.n_out))
        return np.sum(outputs * (np.eye(k) / k).reshape((k, k, 1)), axis=(1, 2))


@dataclass(frozen=True)
class WithViews:
    """Several views of the inputs that share the hidden layers."""

    n_views: int = 8
    mean: float = 0.0
    std: float = 1.0

    def __call__(self, settings: Any, n_outputs: int, front: Any = None) -> Sequential:
        *hidden, _ = network(settings, n_outputs, None).layers
        if not hidden:
            return network(settings, n_outputs, front)
        body = Views(layers=tuple(hidden), n_out=n_outputs, n_views=self.n_views, mean=self.mean, std=self.std)
        return Sequential(body) if front is None else Sequential(front, body)


@description
class FlatCosine(Schedule):
    r"""Constant for half of the run after a warm-up of a tenth, then a cosine to 0."""

    name: ClassVar[str] = "flat_cosine"

    def rate(self, t: Any, total: int | None = None) -> Any:
        place = (t - 1) / (total or 1)
        fall = 0.5 * (1.0 + np.cos(np.pi * np.maximum(2.0 * place - 1.0, 0.0)))
        return np.minimum(place / 0.1 + 0.01, 1.0) * fall


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
    waves: type[Layer] = Periodic
    target: str | None = None
    kernel_from: int = plan.KERNEL_FROM
    kernel_rows: int = plan.KERNEL_ROWS
    kernel: dict[str, Any] = field(default_factory=dict)
    preset: dict[str, Any] = field(default_factory=dict)
    nets: dict[str, Any] = field(default_factory=lambda: plan.NETS)
    nets_to: int = plan.FEW_ROWS

    def around(self, estimator: Any) -> Any:
        """The estimator, with the target transformed if the variant does that."""
        if self.target is None:
            return estimator
        if self.target == "quantile":
            return TransformedTargetRegressor(estimator, transformer=QuantileTransformer(output_distribution="normal"))
        return TransformedTargetRegressor(estimator, transformer=PowerTransformer())

    @contextmanager
    def applied(self) -> Iterator[None]:
        alphas = plan.ADDITIVE_ALPHAS if self.has_additive else ()
        with (
            mock.patch.object(base, "network", self.net),
            mock.patch.object(periodic, "Periodic", self.waves),
            mock.patch.object(plan, "ADDITIVE_ALPHAS", alphas),
            mock.patch.multiple(plan, KERNEL_FROM=self.kernel_from, KERNEL_ROWS=self.kernel_rows),
            mock.patch.multiple(kernel, **({"RADIUS": kernel.RADIUS} | self.kernel)),
            mock.patch.multiple(preset, **({"ALONE": preset.ALONE} | self.preset)),
            mock.patch.multiple(plan, NETS=self.nets, FEW_ROWS=self.nets_to),
            nullcontext() if self.steps is None else self.steps.applied(),
        ):
            yield


def parameters(**given: Any) -> Variant:
    return Variant(given)


def one_net(**given: Any) -> Variant:
    """A net by itself, with other parameters."""
    return Variant({"preset": "auto"} | given)


VARIANTS: dict[str, Variant] = {
    "recipe": parameters(data={"waves": 0}),
    "recipe and waves": Variant(),
    "shipped": Variant(),
    "with kernel": Variant(),
    "without kernel": Variant(kernel_from=10**9),
    "kernel from 200 rows": Variant(kernel_from=200),
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
    "bins 48": parameters(data={"waves": 0, "bins": 48, "scale_rate": 0.0}),
    "scale layer": parameters(data={"waves": 0, "scale_rate": 6.0}),
    "coslog4": parameters(data={"waves": 0}, schedule=md.optim.schedules.Coslog4()),
    "batch 64": parameters(data={"waves": 0}, batch_size=64),
    "edges at ties": Variant(),
    "now, 32 bins": parameters(data={"bins": 32}),
    "now, wave std 0.5": parameters(data={"wave_std": 0.5}),
    "now, dropout 0": parameters(dropout=0.0),
    "now, batch 128": parameters(batch_size=128),
    "now, width 256": parameters(hidden_layer_sizes=(256, 256, 256)),
    "now, dropout 0.25": parameters(dropout=0.25),
    "16 bins and 8 steps": Variant({"data": {"bins": 24}}, steps=TreeSteps(8)),
    "faster": Variant(),
    "faster, 0.6 of the epochs": Variant(preset={"EPOCH_ROWS": 360_000, "FEWEST_EPOCHS": 12, "MOST_EPOCHS": 90}),
    "faster, two nets for a fold": Variant(nets={"net": {}, "net again": {}}, nets_to=10**9),
    "kernel of 6,000 rows": Variant(kernel_rows=6_000),
    "one net": parameters(preset="auto"),
    "one net, as members": Variant({"preset": "auto"}, preset={"ALONE": 1.0, "ALONE_BATCH": 256}),
    "one net, batch 128": Variant({"preset": "auto"}, preset={"ALONE": 1.0}),
    "one net, twice the epochs": Variant({"preset": "auto"}, preset={"ALONE": 2.0}),
    "net: other seed": one_net(random_state=1000),
    "net: without waves": one_net(data={"waves": 0}),
    "net: without bins": one_net(data={"bins": 0}),
    "net: without waves, bins and factors": one_net(data=PLAIN),
    "net: factors for classes, too": one_net(data={"scale_rate": 6.0}),
    "net: without factors": one_net(data={"scale_rate": 0.0}),
    "net: PBLD": Variant({"preset": "auto"}, waves=PBLD),
    "net: 32 bins": one_net(data={"bins": 32}),
    "net: waves of higher frequency": one_net(data={"wave_std": 0.3}),
    "net: standardised numbers": one_net(data={"scaling": "standard", "clip": "none"}),
    "net: robust scaling, smooth clipping": one_net(data={"scaling": "robust", "clip": "smooth"}),
    "net: parametric mish": one_net(activation=Blend()),
    "net: selu": one_net(activation="selu"),
    "net: relu": one_net(activation="relu"),
    "net: weights and biases from data": one_net(init="kraehenbuehl"),
    "net: coslog4": one_net(schedule=md.optim.schedules.Coslog4()),
    "net: flat_cos": one_net(schedule=FlatCosine()),
    "net: dropout 0": one_net(dropout=0.0),
    "net: dropout 0.2": one_net(dropout=0.2),
    "net: weight decay 0.1": one_net(weight_decay=0.1),
    "net: weight decay 0.001": one_net(weight_decay=1e-3),
    "net: learning rate 0.002": one_net(learning_rate_init=2e-3),
    "net: learning rate 0.01": one_net(learning_rate_init=1e-2),
    "net: beta2 0.95": one_net(optimizer=md.optim.AdamW(5e-3, beta2=0.95)),
    "net: batch 64": one_net(batch_size=64),
    "net: label smoothing 0.1": one_net(loss=md.CrossEntropy(label_smoothing=0.1)),
    "net: linear path": Variant({"preset": "auto"}, net=with_linear_path),
    "net: width 64": one_net(hidden_layer_sizes=(64, 64, 64)),
    "net: width 256": one_net(hidden_layer_sizes=(256, 256, 256)),
    "net: one hidden layer fewer": one_net(hidden_layer_sizes=(128, 128)),
    "net: one hidden layer more": one_net(hidden_layer_sizes=(128, 128, 128, 128)),
    "net: without averaged weights": Variant({"preset": "auto"}, preset={"AVERAGE": None}),
    "net: longer average": one_net(average=md.optim.EMA(0.998, warmup=True)),
    "net: a tenth to validate": one_net(validation_fraction=0.1),
    "net: quantiles of the target": Variant({"preset": "auto"}, target="quantile"),
    "net: power of the target": Variant({"preset": "auto"}, target="power"),
    "net: eight views": Variant({"preset": "auto"}, net=WithViews()),
    "with four views": Variant(net=WithViews(4)),
    "with eight views": Variant(net=WithViews(8)),
    "net: four views": Variant({"preset": "auto"}, net=WithViews(4)),
    "net: four near views": Variant({"preset": "auto"}, net=WithViews(4, 1.0, 0.5)),
    "net: four heads": Variant({"preset": "auto"}, net=WithViews(4, 1.0, 0.1)),
}
"Each variant by name."
