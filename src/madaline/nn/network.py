"""A net and the shape of its inputs: where each parameter lies in the flat vector, and how to run it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from madaline.errors import ConfigError, DtypeError, ShapeError
from madaline.graph.listing import node_flops
from madaline.graph.node import Node, new_input, topological_order
from madaline.graph.shapes import Rows, Shape, show
from madaline.graph.tree import flatten, tree_map
from madaline.nn.context import Context
from madaline.nn.initializers import Initializer, as_initializer
from madaline.nn.layer import Layer, Param
from madaline.nn.layers.sequential import Sequential


@dataclass(frozen=True)
class InputSpec:
    """What one input of a net is: the shape of a row and the type in which the net takes it."""

    shape: Shape
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Entry:
    """Where one array lies in a flat vector, and how it starts."""

    path: str
    shape: tuple[int, ...]
    offset: int
    init: Initializer
    decays: bool = False
    frozen: bool = False

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def of(self, flat: Any) -> Any:
        """The array: a view of the flat vector."""
        return flat[self.offset : self.offset + self.size].reshape(self.shape)


@dataclass(frozen=True)
class LayerRow:
    """What is known of one layer: a row of the table a net prints as."""

    path: str
    layer: Layer
    inputs: Any
    "An :class:`InputSpec`, or a dict or tuple of them."
    out_shape: Any
    n_params: int
    flops: int

    @property
    def in_shape(self) -> Any:
        """The shape of the input; the first axis is the batch."""
        return tree_map(lambda spec: (Rows(), *spec.shape), self.inputs)


@dataclass(frozen=True)
class Network:
    """A net laid out for inputs of a certain shape.

    Trainable parameters come first in the flat vector, in the order in which the net is run, then frozen ones.
    """

    net: Layer
    inputs: Any
    "An :class:`InputSpec`, or a dict or tuple of them."
    dtype: np.dtype[Any]
    params: dict[str, Entry]
    state: dict[str, Entry]
    n_params: int
    n_trainable: int
    n_state: int
    rows: tuple[LayerRow, ...]

    @property
    def out_shape(self) -> Any:
        """The shape of the output; the first axis is the batch."""
        return self.rows[-1].out_shape

    @property
    def min_rows(self) -> int:
        """The least number of rows a training batch must have."""
        return max(row.layer.min_rows(row.in_shape) for row in self.rows)

    def run(self, w: Any, state: Any, x: Any, *, frozen: Any = None, key: Any = None, train: bool = False) -> Context:
        """Build the graph of one pass; the result's ``outputs[""]`` is the net's output.

        Parameters
        ----------
        w : vector
            All parameters, or, with ``frozen``, the trainable ones.
        state : vector
            Running statistics and the like.
        x : traced value, or dict or tuple of them
            A batch, of the types of ``inputs``.
        frozen : vector, optional
            The parameters that are not trained.
        key : array of two integers, optional
            Seed and step of random numbers.
        train : bool
            The mode.
        """
        context = Context(_Slices(self, w, frozen, state), train=train, key=key, dtype=self.dtype)
        context.enter(self.net, x)
        return context

    def part(self, index: int | slice) -> Network:
        """Some layers of a Sequential, over the same flat vectors."""
        net = self.net
        if not isinstance(net, Sequential):
            raise ConfigError(f"[{index!r}] takes layers out of a Sequential, and the net is {net!r}.")
        chosen = range(len(net))[index] if isinstance(index, slice) else range(len(net))[index : index + 1 or None]
        if not chosen or chosen.step != 1:
            raise ConfigError(f"[{index}] of {len(net)} layers leaves none of them, or not one after another.")
        first = next(row for row in self.rows if row.path == str(chosen[0]))
        part = build(net[index], first.inputs, dtype=self.dtype)
        names: dict[str, str] = {}
        for number, position in enumerate(chosen):
            # A layer that stands in several places has its parameters where it stands first.
            home = next(place for place, layer in enumerate(net) if layer is net[position])
            names.setdefault(str(home), str(number) if isinstance(index, slice) else "")
        return replace(
            part,
            params=_renamed(self.params, names),
            state=_renamed(self.state, names),
            n_params=self.n_params,
            n_trainable=self.n_trainable,
            n_state=self.n_state,
        )

    def state_after(self, context: Context, state: Any) -> Any:
        """The flat state after a pass."""
        if not context.new_state:
            return state
        pieces = [context.new_state.get(path, entry.of(state)) for path, entry in self.state.items()]
        return np.concatenate([piece.astype(self.dtype).reshape(-1) for piece in pieces])


class _Slices:
    """Arrays as views of flat vectors."""

    def __init__(self, network: Network, w: Any, frozen: Any, state: Any) -> None:
        self._network, self._w, self._frozen, self._state = network, w, frozen, state

    def param(self, path: str, spec: Param, context: Context) -> Any:
        entry = self._network.params[path]
        if self._frozen is None or not entry.frozen:
            return entry.of(self._w)
        start = entry.offset - self._network.n_trainable
        return self._frozen[start : start + entry.size].reshape(entry.shape)

    def state(self, path: str, spec: Param) -> Any:
        return self._network.state[path].of(self._state)


class _Collected:
    """Notes what a net asks for as it is run for the first time, and gives it inputs of that shape."""

    def __init__(self, dtype: np.dtype[Any], freeze: Sequence[str]) -> None:
        self.dtype = dtype
        self.freeze = freeze
        self.params: dict[str, tuple[Param, Initializer, bool]] = {}
        self.states: dict[str, Param] = {}
        self.nodes: dict[str, Node] = {}

    def param(self, path: str, spec: Param, context: Context) -> Any:
        frozen = context.frozen or any(path.startswith(f"{prefix}.") for prefix in self.freeze)
        if path in self.params:
            known, init, was_frozen = self.params[path]
            if known.shape != spec.shape:
                raise ShapeError(
                    f"The same layer stands in another place of the net, where its {path} has shape {known.shape}; "
                    f"here it would have {spec.shape}. Shared layers need inputs of equal width: make two layers."
                )
            self.params[path] = known, init, was_frozen or frozen
        else:
            init = as_initializer(spec.init, activation=context.following or "identity")
            self.params[path] = spec, init, frozen
            self.nodes[path] = new_input(-1, spec.shape, self.dtype, path)
        return self.nodes[path]

    def state(self, path: str, spec: Param) -> Any:
        self.states[path] = spec
        return self.nodes.setdefault(path, new_input(-1, spec.shape, self.dtype, path))


def build(net: Layer, inputs: Any = None, *, dtype: Any = "float32", freeze: Sequence[str] = ()) -> Network:
    """Run a net once on inputs without values, and lay out what it asks for.

    Parameters
    ----------
    net : Layer
        The description.
    inputs : array, int, tuple, dict
        As for :meth:`Layer.init`.
    dtype : {"float32", "float64"}
        Of parameters and floats.
    freeze : sequence of str
        Paths of layers that are not to be trained, as ``"0"``.
    """
    try:
        number = np.dtype(dtype)
    except TypeError:
        number = np.dtype(object)
    if number.name not in ("float32", "float64"):
        raise DtypeError(f"dtype={dtype!r} is not a type a net can have. Use 'float32' or 'float64'.")
    specs = input_specs(net, inputs, number)
    nodes = tree_map(lambda spec: new_input(0, (Rows(), *spec.shape), spec.dtype), specs)
    store = _Collected(number, freeze)
    context = Context(store, train=False, key=np.zeros(2, dtype=np.int64), dtype=number)
    context.enter(net, nodes)
    for path in freeze:
        if path not in context.outputs:
            raise ConfigError(f"freeze={path!r} is not the path of a layer. Paths: {', '.join(context.outputs)}.")
    # Where no layer wants integers as they are, rows become floats as they come in.
    as_is = {id(leaf) for taken in context.integers for leaf in flatten(taken)[0]}
    specs = tree_map(lambda spec, node: spec if id(node) in as_is else InputSpec(spec.shape, number), specs, nodes)
    ordered = sorted(store.params.items(), key=lambda item: item[1][2])
    params = _placed((path, spec, init, frozen) for path, (spec, init, frozen) in ordered)
    params = {path: params[path] for path in store.params}
    state = _placed((path, spec, as_initializer(spec.init), True) for path, spec in store.states.items())
    return Network(
        net,
        specs,
        number,
        params,
        state,
        n_params=sum(entry.size for entry in params.values()),
        n_trainable=sum(entry.size for entry in params.values() if not entry.frozen),
        n_state=sum(entry.size for entry in state.values()),
        rows=tuple(_layer_rows(context, params)),
    )


def _renamed(entries: dict[str, Entry], names: dict[str, str]) -> dict[str, Entry]:
    """The entries of some layers, under the names these have in a part of the net."""
    found = {}
    for path, entry in entries.items():
        head, _, rest = path.partition(".")
        if head in names:
            new = f"{names[head]}.{rest}" if names[head] else rest
            found[new] = replace(entry, path=new)
    return found


def _placed(items: Any) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    offset = 0
    for path, spec, init, frozen in items:
        entries[path] = Entry(path, spec.shape, offset, init, spec.decays, frozen)
        offset += entries[path].size
    return entries


def _layer_rows(context: Context, params: dict[str, Entry]) -> Iterator[LayerRow]:
    """One row a layer, those inside another before it; flops are those of one row of the batch."""
    seen: set[int] = set()
    flops: dict[str, int] = {}
    for path, output in context.outputs.items():
        inside = f"{path}." if path else ""
        new = [node for node in topological_order(flatten(output)[0]) if id(node) not in seen]
        seen.update(map(id, new))
        flops[path] = sum(node_flops(node, 1) for node in new)
        total = sum(count for other, count in flops.items() if other == path or other.startswith(inside))
        yield LayerRow(
            path,
            context.layers[path],
            tree_map(lambda leaf: InputSpec(leaf.shape[1:], leaf.dtype), context.inputs[path]),
            tree_map(lambda leaf: leaf.shape, output),
            sum(entry.size for entry in params.values() if entry.path.startswith(inside)),
            total,
        )


def input_specs(net: Layer, inputs: Any, dtype: np.dtype[Any]) -> Any:
    """The kinds of input, from data, widths or shapes."""
    if inputs is None:
        inputs = net.own_inputs()
        if inputs is None:
            raise ShapeError(
                f"The number of inputs of {type(net).__name__} is not known. Give init the data or the number of "
                "columns, as net.init(X) or net.init(20), or begin the net with Input(20)."
            )
    return _specs(inputs, dtype)


def _specs(inputs: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(inputs, InputSpec):
        return inputs
    if isinstance(inputs, dict):
        return {name: _specs(item, dtype) for name, item in inputs.items()}
    if isinstance(inputs, (int, np.integer)) and not isinstance(inputs, bool):
        shape: Shape = (int(inputs),)
    elif isinstance(inputs, tuple) and all(isinstance(size, (int, np.integer)) for size in inputs):
        shape = tuple(int(size) for size in inputs)
    elif isinstance(inputs, tuple):
        return tuple(_specs(item, dtype) for item in inputs)
    else:
        array = inputs if hasattr(inputs, "shape") and hasattr(inputs, "dtype") else np.asarray(inputs)
        if len(array.shape) < 2 and array.dtype.kind != "i":
            raise ShapeError(
                f"inputs has shape {show(tuple(array.shape))}; data needs one axis for its rows and one for its "
                "columns. Use X.reshape(-1, 1) for one column, or give the number of columns."
            )
        if array.dtype.kind not in "fiub":
            raise DtypeError(f"inputs of dtype {array.dtype} cannot be used; they must be numbers.")
        integers = array.dtype.kind in "iu"
        return InputSpec(tuple(array.shape[1:]), np.dtype(np.int64) if integers else dtype)
    if any(size < 0 for size in shape):
        raise ShapeError(f"inputs={inputs!r} has a negative size.")
    return InputSpec(shape, dtype)
