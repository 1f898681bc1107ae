"""One set of samples for every layer, and what PyTorch says it computes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import madaline as md
from madaline.graph.tree import tree_map
from madaline.nn.layer import LAYERS, Layer
from madaline.nn.network import build

N_ROWS = 6


@dataclass(frozen=True)
class Case:
    """A layer, the shape of a row that goes in, and ``by_torch(T, x, p, s, train)``.

    There ``T`` is the module torch, ``p`` and ``s`` are parameters and state by path; state is changed in place. None
    where PyTorch has no such layer or other random numbers. ``rows`` may also be a dict or tuple of shapes.
    """

    name: str
    layer: Layer
    rows: Any
    by_torch: Callable[..., Any] | None = None
    n_categories: int = 0

    def network(self, dtype: Any = "float64") -> Any:
        return build(self.layer, self.rows, dtype=dtype)

    def inputs(self, dtype: Any = np.float64, n_rows: int = N_ROWS) -> Any:
        """Rows as the net takes them; the first are the same for every number of rows."""
        specs = self.network(dtype).inputs
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))

        def draw(spec: Any) -> np.ndarray:
            if spec.dtype.kind == "i":
                return rng.integers(0, self.n_categories, size=(1000, *spec.shape))[:n_rows]
            # Such numbers are the same in float32 and float64.
            return rng.normal(size=(1000, *spec.shape)).astype(np.float32)[:n_rows].astype(dtype)

        return tree_map(draw, specs)

    def arrays(self, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
        """Parameters and state, away from where they start; variances and deviations are positive."""
        network = self.network(dtype)
        rng = np.random.default_rng(zlib.crc32(self.name.encode()) + 1)
        w = (0.6 * rng.normal(size=network.n_params)).astype(np.float32).astype(dtype)
        state = rng.uniform(0.5, 2.0, size=network.n_state).astype(np.float32).astype(dtype)
        return w, state

    def model(self, dtype: Any = np.float64) -> md.Model:
        return md.Model(self.network(dtype), *self.arrays(dtype))


def numbers(p: Any, prefix: str = "") -> tuple[Any, Any]:
    """Scale and shift, or None."""
    return p.get(f"{prefix}weight"), p.get(f"{prefix}bias")


def affine(T, x, p, prefix=""):
    b = p.get(f"{prefix}b")
    return T.nn.functional.linear(x, p[f"{prefix}W"].T, b)


def periodic(T, x, p, s, train, columns=slice(None)):
    numbers = x[:, columns]
    waves = T.cos(2 * T.pi * (numbers[:, :, None] * p["frequency"] + p["phase"]))
    return T.cat([x, waves.flatten(1)], -1)


def periodic_of_some(T, x, p, s, train):
    return periodic(T, x, p, s, train, [0, 1, 3])


def radial(radius):
    return lambda T, x, p, s, train: T.exp(-T.sqrt(T.cdist(x, p["c"].T) ** 2 + 1e-4) / radius)


def batch_norm(momentum=0.1, eps=1e-5):
    def run(T, x, p, s, train):
        return T.nn.functional.batch_norm(x, s["mean"], s["variance"], *numbers(p), train, momentum, eps)

    return run


def layer_norm(shape, eps=1e-5, prefix=""):
    return lambda T, x, p, s, train: T.nn.functional.layer_norm(x, shape, *numbers(p, prefix), eps)


def rms_norm(shape, eps=1e-5):
    return lambda T, x, p, s, train: T.nn.functional.rms_norm(x, shape, p.get("weight"), eps)


def group_norm(groups, eps=1e-5):
    return lambda T, x, p, s, train: T.nn.functional.group_norm(x, groups, *numbers(p), eps)


def instance_norm(eps=1e-5):
    return lambda T, x, p, s, train: T.nn.functional.instance_norm(
        x, weight=p.get("weight"), bias=p.get("bias"), eps=eps
    )


def maxout(k):
    return lambda T, x, p, s, train: affine(T, x, p).unflatten(-1, (-1, k)).amax(-1)


def weight_norm(T, x, p, s, train):
    return T.nn.functional.linear(x, T._weight_norm(p["V"].T, p["g"].unsqueeze(1), 0), p.get("b"))


def embedding(T, x, p, s, train):
    return T.nn.functional.embedding(x, p["W"]).flatten(1)


def small_net(T, x, p, s, train):
    h = T.nn.functional.gelu(affine(T, x, p, "0."))
    h = h @ p["2.projection.W"] + T.tanh(affine(T, layer_norm((4,), prefix="2.norm.")(T, h, p, s, train), p, "2.0."))
    h = T.nn.functional.batch_norm(h, s["3.mean"], s["3.variance"], p["3.weight"], p["3.bias"], train)
    return affine(T, h, p, "4.")


def two_inputs(T, x, p, s, train):
    joined = T.cat([embedding(T, x["shop"], {"W": p["0.shop.W"]}, s, train), x["numbers"]], -1)
    return affine(T, joined, p, "2.")


SHARED = md.Linear(4)

CASES = [
    Case("linear", md.Linear(3), 4, lambda T, x, p, s, train: affine(T, x, p)),
    Case("linear without bias", md.Linear(3, bias=False), 4, lambda T, x, p, s, train: affine(T, x, p)),
    Case("linear frozen", md.Linear(3, init="orthogonal", trainable=False), 4,
         lambda T, x, p, s, train: affine(T, x, p)),
    Case("linear of three axes", md.Linear(3), (2, 4), lambda T, x, p, s, train: affine(T, x, p)),
    Case("maxout", md.nn.Maxout(3), 4, maxout(2)),
    Case("maxout of four", md.nn.Maxout(2, 4, bias=False), 5, maxout(4)),
    Case("activation", md.nn.Activation("tanh"), 3, lambda T, x, p, s, train: T.tanh(x)),
    Case("activation with parameters", md.nn.LeakyReLU(slope=0.2), (2, 3),
         lambda T, x, p, s, train: T.nn.functional.leaky_relu(x, 0.2)),
    Case("prelu", md.nn.PReLU(), 5, lambda T, x, p, s, train: T.nn.functional.prelu(x, p["slope"])),
    Case("prelu of a layer", md.nn.PReLU(per="layer"), (2, 3),
         lambda T, x, p, s, train: T.nn.functional.prelu(x, p["slope"])),
    Case("learned hinge", md.nn.LearnedHinge(), 5,
         lambda T, x, p, s, train: p["shift"] + T.nn.functional.prelu(x - p["shift"], p["slope"])),
    Case("dropout", md.Dropout(0.3), 4),
    Case("dropout of the original form", md.Dropout(0.3, form="original"), 4),
    Case("dropout of nothing", md.Dropout(0.0), 4, lambda T, x, p, s, train: x * 1.0),
    Case("spatial dropout", md.nn.SpatialDropout(0.4), (3, 2, 2)),
    Case("batch norm", md.BatchNorm(), 4, batch_norm()),
    Case("batch norm with options", md.BatchNorm(momentum=0.3, eps=1e-2), 3, batch_norm(0.3, 1e-2)),
    Case("batch norm without scale", md.BatchNorm(affine=False), 3, batch_norm()),
    Case("batch norm of sequences", md.BatchNorm(), (3, 5), batch_norm()),
    Case("batch norm of images", md.BatchNorm(), (2, 3, 4), batch_norm()),
    Case("layer norm", md.LayerNorm(), 7, layer_norm((7,))),
    Case("layer norm of two axes", md.LayerNorm(n_axes=2, eps=1e-3), (2, 3, 4), layer_norm((3, 4), 1e-3)),
    Case("layer norm without scale", md.LayerNorm(affine=False), (3, 5), layer_norm((5,))),
    Case("rms norm", md.nn.RMSNorm(), 7, rms_norm((7,))),
    Case("rms norm of two axes", md.nn.RMSNorm(n_axes=2, affine=False, eps=1e-2), (3, 4), rms_norm((3, 4), 1e-2)),
    Case("group norm", md.nn.GroupNorm(2), 6, group_norm(2)),
    Case("group norm of images", md.nn.GroupNorm(3, eps=1e-3), (6, 2, 2), group_norm(3, 1e-3)),
    Case("group norm without scale", md.nn.GroupNorm(affine=False), (4, 3), group_norm(1)),
    Case("instance norm", md.nn.InstanceNorm(), (3, 5), instance_norm()),
    Case("instance norm with scale", md.nn.InstanceNorm(affine=True, eps=1e-3), (2, 3, 4), instance_norm(1e-3)),
    Case("weight norm", md.nn.WeightNorm(md.Linear(3)), 4, weight_norm),
    Case("weight norm without bias", md.nn.WeightNorm(md.Linear(2, bias=False)), 5, weight_norm),
    Case("residual", md.Residual(md.Linear(4), "tanh"), 4, lambda T, x, p, s, train: x + T.tanh(affine(T, x, p, "0."))),
    Case("residual projected", md.Residual(md.Linear(3)), 4,
         lambda T, x, p, s, train: x @ p["projection.W"] + affine(T, x, p, "0.")),
    Case("residual always projected", md.Residual("relu", projection="always"), 4,
         lambda T, x, p, s, train: x @ p["projection.W"] + T.relu(x)),
    Case("residual with a norm before", md.Residual(md.Linear(4), norm="layer"), 4,
         lambda T, x, p, s, train: x + affine(T, layer_norm((4,), prefix="norm.")(T, x, p, s, train), p, "0.")),
    Case("sequential", md.Sequential(md.Linear(4), "gelu", md.Residual(md.Linear(3), "tanh", norm="layer"),
                                     md.BatchNorm(), md.Linear(2)), 5, small_net),
    Case("sequential of nothing", md.Sequential(), 3, lambda T, x, p, s, train: x * 1.0),
    Case("layers that stand twice", md.Sequential(SHARED, "tanh", md.Residual(SHARED), SHARED), 4,
         lambda T, x, p, s, train: affine(T, (h := T.tanh(affine(T, x, p, "0."))) + affine(T, h, p, "0."), p, "0.")),
    Case("parallel", md.Parallel(md.Linear(2), md.Sequential(md.Linear(3), "tanh")), 4,
         lambda T, x, p, s, train: (affine(T, x, p, "0."), T.tanh(affine(T, x, p, "1.0.")))),
    Case("parallel with names", md.Sequential(md.Parallel(shop=md.Embedding(5, 2), numbers=md.nn.Identity()),
                                              md.Concat(), md.Linear(3)), {"shop": (), "numbers": (4,)}, two_inputs, 5),
    Case("concat", md.Concat(), ((2,), (3,)), lambda T, x, p, s, train: T.cat(x, -1)),
    Case("add", md.nn.Add(), ((2, 3), (2, 3)), lambda T, x, p, s, train: x[0] + x[1]),
    Case("ensemble", md.nn.Ensemble(md.Linear(2), md.Sequential(md.Linear(3), "tanh", md.Linear(2)), weights=(3, 1)), 4,
         lambda T, x, p, s, train: (
             0.75 * affine(T, x, p, "0.") + 0.25 * affine(T, T.tanh(affine(T, x, p, "1.0.")), p, "1.2."))),
    Case("ensemble of classes", md.nn.Ensemble(md.Linear(3), md.Linear(3), average="softmax"), 4,
         lambda T, x, p, s, train: (
             (affine(T, x, p, "0.").softmax(-1) + affine(T, x, p, "1.").softmax(-1)) / 2).log()),
    Case("ensemble of labels", md.nn.Ensemble(md.Linear(2), md.Linear(2), average="sigmoid"), 4,
         lambda T, x, p, s, train: T.logit((affine(T, x, p, "0.").sigmoid() + affine(T, x, p, "1.").sigmoid()) / 2)),
    Case("ensemble of rates", md.nn.Ensemble(md.Linear(1), md.Linear(1), average="exp"), 4,
         lambda T, x, p, s, train: ((affine(T, x, p, "0.").exp() + affine(T, x, p, "1.").exp()) / 2).log()),
    Case("flatten", md.nn.Flatten(), (2, 3), lambda T, x, p, s, train: x.flatten(1)),
    Case("identity", md.nn.Identity(), (2, 3), lambda T, x, p, s, train: x * 1.0),
    Case("input", md.nn.Input(3), 3, lambda T, x, p, s, train: x * 1.0),
    Case("embedding", md.Embedding(7, 3), (2,), embedding, 7),
    Case("embedding of one column", md.Embedding(4, 2), (), embedding, 4),
    Case("periodic", md.nn.Periodic(3), 4, periodic),
    Case("periodic of some columns", md.nn.Periodic(2, columns=(0, 1, 3)), 5, periodic_of_some),
    Case("radial", md.nn.Radial(3), 4, radial(1.0)),
    Case("radial of a wide radius", md.nn.Radial(5, radius=3.0), 2, radial(3.0)),
    Case("standardize", md.nn.Standardize(), 4, lambda T, x, p, s, train: (x - s["mean"]) / s["std"]),
    Case("standardize by numbers", md.nn.Standardize((1.0, 2.0), (0.5, 3.0)), 2,
         lambda T, x, p, s, train: (x - s["mean"]) / s["std"]),
]  # fmt: skip


def everything(layer):
    """A layer and all layers inside."""
    yield layer
    for _, part in layer.parts():
        yield from everything(part)


# A layer that is not listed is asked with its defaults on rows of four numbers, by every sweep but that with PyTorch.
LISTED = {type(part) for case in CASES for part in everything(case.layer)}
CASES += [
    Case(kind.name, kind(), 4)
    for kind in LAYERS
    if kind.__module__.startswith("madaline.") and not any(issubclass(other, kind) for other in LISTED)
]
