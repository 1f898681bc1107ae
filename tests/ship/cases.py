"""What is exported in tests: nets that together hold every layer and activation, and every primitive by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import madaline as md
from madaline.graph.node import new_input
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.tree import flatten
from madaline.ship.inference import InferenceGraph, completed, inference_of
from nn.layer_cases import CASES, Case

NOT_EXPORTED = {"random_uniform": "a random number needs a key, which an exported net has not"} | {
    primitive.name: "it is run by LAPACK or SciPy, which an exported net has not, and no trained net can hold it"
    for primitive in PRIMITIVES
    if primitive.library
}
"Primitives that no target knows, and why."


def bump(x):
    return np.exp(-np.square(x)) + 0.1 * np.sort(x, axis=-1) + np.cumsum(x, axis=-1)


def with_own_slope(x):
    """A formula that holds a derivative, which is graph as well."""
    return x * md.grad(lambda z: np.sum(np.tanh(z) ** 2))(x)


NETS = [
    *CASES,
    *(Case(f"with {name}", md.Sequential(md.Linear(6), name, md.Linear(2)), 4) for name in md.nn.ACTIVATIONS.names()),
    Case("mlp", md.mlp(8, 6, 3), 5),
    Case("mlp with batch norm and dropout", md.mlp(8, 8, 3, norm="batch", dropout=0.2, activation="swish"), 5),
    Case("mlp with layer norm, residual", md.mlp(8, 8, 2, norm="layer", residual=True, activation="gelu"), 5),
    Case("own formula", md.Sequential(md.Linear(5), md.nn.Activation(bump), md.Linear(2)), 3),
    Case("own formula with a slope", md.Sequential(md.Linear(5), md.nn.Activation(with_own_slope), md.Linear(2)), 3),
    Case("outputs by name", md.Parallel(mean=md.Linear(2), spread=md.Sequential(md.Linear(2), "softplus")), 3),
    Case("standardized", md.Sequential(md.nn.Standardize((0.0, 1.0), (2.0, 3.0)), md.mlp(4, 1)), 2),
]


@dataclass(frozen=True)
class Exported:
    """Something to export, the inputs to try it with, and the right outputs."""

    name: str
    inference: InferenceGraph
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


def net_case(case: Case, dtype: str) -> Exported:
    model, x = case.model(dtype), case.inputs(dtype)
    return Exported(case.name, inference_of(model), flatten(x)[0], flatten(model(x))[0])


def primitive_samples() -> list[tuple[str, int]]:
    """Name and number of every sample of every primitive that has some."""
    found = []
    for primitive in PRIMITIVES:
        if primitive.name in ("input", "constant", "row_count", *NOT_EXPORTED):
            continue
        found += [(primitive.name, k) for k, _ in enumerate(primitive.samples(np.random.default_rng(0)))]
    return found


def primitive_case(name: str, number: int, dtype: str) -> Exported:
    """One primitive with one of its samples; floats are of the type."""
    primitive: Any = PRIMITIVES[name]
    args, params = list(primitive.samples(np.random.default_rng(3)))[number]
    args = [np.asarray(arg, dtype=dtype) if arg.dtype.kind == "f" else np.asarray(arg) for arg in args]
    if params.get("to") == dtype:
        params = params | {"to": "int64"}
    nodes = [new_input(k, arg.shape, arg.dtype, f"a{k}") for k, arg in enumerate(args)]
    node = primitive(*nodes, **params)
    inference = completed(nodes, {"y": node}, name)
    return Exported(name, inference, args, [np.asarray(primitive.value(*args, **params))])


def integer_primitives() -> list[str]:
    """Primitives that keep integers integers, or compare them."""
    kept = (p for p in PRIMITIVES if isinstance(p, Elementwise) and p.types in ("number", "compare"))
    return [p.name for p in kept if p.name not in ("power", "isnan", "isinf", "isfinite")]


def integer_case(name: str) -> Exported:
    """One primitive on whole numbers of both signs."""
    primitive: Any = PRIMITIVES[name]
    rng = np.random.default_rng(5)
    args = [rng.integers(-9, 9, size=(5, 3)) for _ in primitive.domains]
    args = [np.where(x == 0, 2, x) for x in args] if name in ("floor_divide", "remainder", "fmod") else args
    args = [args[0] > 0, *args[1:]] if name == "where" else args
    nodes = [new_input(k, arg.shape, arg.dtype, f"a{k}") for k, arg in enumerate(args)]
    inference = completed(nodes, {"y": primitive(*nodes)}, name)
    return Exported(name, inference, args, [np.asarray(primitive.value(*args))])


def agree(got: list[np.ndarray], case: Exported) -> None:
    """An assertion that outputs are right to 1e-5."""
    assert len(got) == len(case.outputs)
    for ours, theirs in zip(case.outputs, map(np.asarray, got), strict=True):
        assert theirs.shape == ours.shape
        atol = 1e-5 * max(1.0, np.abs(ours).max(initial=0.0))
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=atol, err_msg=case.name)
