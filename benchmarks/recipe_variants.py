"""Variants of the recipe that recipe.py measures: parameters, or changes of the package while a model is fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar
from unittest import mock

import numpy as np

import madaline as md
from madaline.description import description
from madaline.estimators import base
from madaline.estimators.ensemble import plan
from madaline.estimators.network import network
from madaline.nn.initializers import Constant, Normal, Uniform
from madaline.nn.layer import Layer, Param, last_axis
from madaline.nn.layers.columns import Columns, as_columns, chosen, n_chosen, with_features
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


@dataclass(frozen=True)
class Variant:
    """Parameters that are added to the preset, and what is replaced in the package meanwhile."""

    parameters: dict[str, Any] = field(default_factory=dict)
    net: NetMaker = network
    has_additive: bool = True

    @contextmanager
    def applied(self) -> Iterator[None]:
        alphas = plan.ADDITIVE_ALPHAS if self.has_additive else ()
        with mock.patch.object(base, "network", self.net), mock.patch.object(plan, "ADDITIVE_ALPHAS", alphas):
            yield


def parameters(**given: Any) -> Variant:
    return Variant(given)


VARIANTS: dict[str, Variant] = {
    "recipe": parameters(data={"waves": 0}),
    "recipe and waves": Variant(),
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
}
"Each variant by name."
