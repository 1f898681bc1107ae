"""A function as its traced graphs: plain data that can be called, differentiated, saved and compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from madaline.description import Description, description
from madaline.errors import ConfigError, MadalineError, ShapeError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import CONSTANT, INPUT, ROW_COUNT, Node, as_node, constant, graph_dtype, row_count
from madaline.graph.plain import graph_from_dict, graph_to_dict
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape, broadcast, is_symbolic, resolve, show, size_of
from madaline.graph.trace import Graph
from madaline.registry import Registry

FORMULAS: Registry[type[Formula]] = Registry("formula")


@dataclass(frozen=True)
class Variant:
    """One graph of a formula, and for which arguments it holds."""

    graph: Graph
    least: tuple[dict[int, int] | None, ...]
    "For each argument: the least sizes of its axes that may have others than traced; None if its shape is free."
    sizes: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    "Constants that are sizes, as the divisor of a mean: number of the value, number of the argument, its axes."

    def rows_for(self, args: Sequence[Any]) -> Any:
        """The number of rows of these arguments, 0 if no shape depends on it, or None if the graph is not for them."""
        if len(args) != len(self.graph.inputs):
            return None
        n_rows: Any = None
        for node, arg, least in zip(self.graph.inputs, args, self.least, strict=True):
            if not isinstance(arg, (bool, int, float)) and graph_dtype(arg.dtype) != node.dtype:
                return None
            if isinstance(arg, float) and node.dtype.kind != "f":
                return None
            if least is None:
                continue
            shape = np.shape(arg)
            if len(shape) != len(node.shape):
                return None
            for axis, (size, traced) in enumerate(zip(shape, node.shape, strict=True)):
                if isinstance(traced, Rows):
                    if n_rows not in (None, size):
                        return None
                    n_rows = size
                elif axis in least:
                    if isinstance(size, Rows) or size < least[axis]:
                        return None
                elif isinstance(size, Rows) or size != traced:
                    return None
        return 0 if n_rows is None else n_rows

    def run(self, args: Sequence[Any], n_rows: Any) -> tuple[Any, ...]:
        """The outputs for nodes or arrays."""
        typed = [_typed(arg, node.dtype) for arg, node in zip(args, self.graph.inputs, strict=True)]
        nodes = self.graph.nodes
        sizes = {
            id(nodes[number]): _with_size(nodes[number], size_of(tuple(typed[of].shape[axis] for axis in axes)))
            for number, of, axes in self.sizes
        }
        results = replay(self.graph, typed, n_rows, sizes)
        if all(least is None for least in self.least) and is_elementwise(self.graph):
            shape: Any = broadcast(*(arg.shape for arg in typed))
            results = tuple(y if y.shape == shape else np.broadcast_to(y, shape) for y in results)
        return results

    def to_dict(self) -> dict[str, Any]:
        """The graph as plain data; each input says which of its axes are ``free``."""
        data = graph_to_dict(self.graph)
        for entry, least in zip(data["inputs"], self.least, strict=True):
            entry["free"] = "all" if least is None else sorted([axis, size] for axis, size in least.items())
        return data | {"sizes": [[number, of, list(axes)] for number, of, axes in self.sizes]}

    @classmethod
    def from_dict(cls, data: Any) -> Variant:
        """The variant again, every part of it checked."""
        try:
            free = [entry["free"] for entry in data["inputs"]]
            inputs = [{key: value for key, value in entry.items() if key != "free"} for entry in data["inputs"]]
            least = tuple(None if axes == "all" else {int(axis): int(size) for axis, size in axes} for axes in free)
            sizes = tuple(
                (int(number), int(of), tuple(int(axis) for axis in axes)) for number, of, axes in data["sizes"]
            )
            graph = graph_from_dict({key: value for key, value in data.items() if key != "sizes"} | {"inputs": inputs})
            for number, of, axes in sizes:
                traced = [graph.inputs[of].shape[axis] for axis in axes]
                leaf = graph.nodes[number]
                is_size = leaf.primitive is ROW_COUNT or (leaf.primitive is CONSTANT and leaf.shape == ())
                if not is_size or is_symbolic(tuple(traced)) or least[of] is None:
                    raise LookupError
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            if isinstance(error, MadalineError):
                raise
            raise ConfigError("A formula's graph must say which axes of its inputs are free, and its sizes.") from None
        return cls(graph, least, sizes)


@description
class Formula(Description):
    """A function that was traced for arguments of several shapes and types; it is called like the function.

    Where the graphs for all shapes were the same it takes arguments of any size; otherwise only of those it was
    traced for. Two formulas are equal if their graphs are.

    Parameters
    ----------
    text : str
        The graphs as JSON; :func:`~madaline.graph.as_formula.as_formula` makes it from a function.
    """

    registry: ClassVar[Registry[Any]] = FORMULAS
    name: ClassVar[str] = "graph"
    text: str
    variants: tuple[Variant, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        made = tuple(Variant.from_dict(variant) for variant in json.loads(self.text)["variants"])
        if not made or any(not variant.graph.outputs or not variant.graph.inputs for variant in made):
            raise ConfigError("A formula must have a graph, with inputs and outputs.")
        object.__setattr__(self, "variants", made)

    @property
    def names(self) -> tuple[str, ...]:
        """What the arguments are called."""
        return tuple(node.params["name"] for node in self.variants[0].graph.inputs)

    @property
    def elementwise(self) -> bool:
        """Whether every number of the result depends on one number of each argument alone."""
        return all(is_elementwise(variant.graph) for variant in self.variants)

    def __call__(self, *args: Any) -> Any:
        """The result, or a tuple of them, for arrays, traced values and numbers."""
        args = tuple(arg if isinstance(arg, (Node, bool, int, float)) else np.asarray(arg) for arg in args)
        for variant in self.variants:
            n_rows = variant.rows_for(args)
            if n_rows is not None:
                results = variant.run(args, n_rows)
                return results if len(results) > 1 else results[0]
        given = ", ".join(_described(np.shape(arg), getattr(arg, "dtype", type(arg).__name__)) for arg in args)
        known = "; ".join(
            ", ".join(_described(node.shape, node.dtype) for node in variant.graph.inputs) for variant in self.variants
        )
        raise ShapeError(
            f"The formula of {', '.join(self.names)} was saved for other arguments than {given}. It was traced for: "
            f"{known}. Save it anew from the function, traced for these."
        )

    def parameters_to_save(self) -> tuple[str, dict[str, Any]]:
        return self.name, json.loads(self.text)

    @classmethod
    def from_parameters(cls, name: str, parameters: dict[str, Any]) -> Description:
        cls.registry.find(name)
        if set(parameters) != {"variants"} or not isinstance(parameters["variants"], tuple):
            raise ConfigError("A formula must have a single entry, variants, which is a list.")
        try:
            return cls(canonical(parameters))
        except (TypeError, ValueError) as error:
            raise error if isinstance(error, MadalineError) else ConfigError(f"Not a formula: {error}") from error

    def __repr__(self) -> str:
        return f"<formula of {', '.join(self.names)}>"

    def __reduce__(self) -> Any:
        return Formula, (self.text,)


def is_elementwise(graph: Graph) -> bool:
    """Whether all its nodes are elementwise, inputs or single numbers."""
    return all(
        isinstance(node.primitive, Elementwise)
        or node.primitive is INPUT
        or (node.primitive is CONSTANT and node.shape == ())
        for node in graph.nodes
    )


def replay(graph: Graph, args: Sequence[Any], n_rows: int, sizes: Mapping[int, Node]) -> tuple[Any, ...]:
    """The outputs with other inputs: by NumPy for arrays, as new nodes if one of them is traced."""
    traced = any(isinstance(arg, Node) for arg in args)
    values: dict[int, Any] = {
        id(node): as_node(arg) if traced else arg for node, arg in zip(graph.inputs, args, strict=True)
    }
    for node in graph.nodes[len(graph.inputs) :]:
        if node.primitive is CONSTANT or node.primitive is ROW_COUNT:
            known = _resolved(sizes.get(id(node), node), n_rows)
            values[id(node)] = known if traced else known.params["value"]
        else:
            inputs = [values[id(item)] for item in node.inputs]
            params = {key: resolve(value, n_rows) for key, value in node.params.items()}
            run = node.primitive if traced else node.primitive.value
            values[id(node)] = run(*inputs, **params)
    return tuple(values[id(node)] for node in graph.outputs)


def _resolved(leaf: Node, n_rows: Any) -> Node:
    if leaf.primitive is CONSTANT:
        return leaf
    size = resolve(leaf.params["rows"], n_rows)
    return row_count(size, leaf.dtype) if isinstance(size, Rows) else constant(size, leaf.dtype)


def _with_size(leaf: Node, size: int) -> Node:
    """The leaf with another size: the constant itself, or the coefficient of the number of rows."""
    return row_count(Rows(size), leaf.dtype) if leaf.primitive is ROW_COUNT else constant(size, leaf.dtype)


def _typed(arg: Operand, dtype: np.dtype[Any]) -> Array:
    return arg if isinstance(arg, Node) else np.asarray(arg, dtype=dtype)


def canonical(data: dict[str, Any]) -> str:
    """One text for equal data."""
    return json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _described(shape: Shape, dtype: DTypeLike) -> str:
    return f"{dtype} {show(shape)}"
