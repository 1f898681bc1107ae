"""A net for inputs of a certain shape: the place of each parameter in the flat vector, and how to run the net."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.cached import cached_property
from madaline.errors import ConfigError, DtypeError, ShapeError
from madaline.graph.node import Node, new_input
from madaline.graph.shapes import Rows
from madaline.graph.trace import open_trace
from madaline.graph.tree import flatten, tree_map
from madaline.nn.context import Context
from madaline.nn.initializers import Initializer, as_initializer
from madaline.nn.inputs import InputSpec, input_specs
from madaline.nn.layer import Layer, Param
from madaline.nn.layers.sequential import Sequential
from madaline.nn.summary import LayerRow, layer_rows

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from madaline.graph.arrays import Array


@dataclass(frozen=True)
class Entry:
    """The place of an array in a flat vector, and its initializer."""

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
class Network:
    """A net laid out for inputs of a certain shape.

    The flat vector holds trainable parameters first, in the order in which the net uses them, then frozen ones.
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
    "Every layer, inner layers before outer ones; the last is the whole net."
    freeze: tuple[str, ...] = ()
    "Paths of frozen layers, in addition to those with ``trainable=False``."

    @property
    def out_shape(self) -> Any:
        """The shape of the output; the first axis is the batch."""
        return self.rows[-1].out_shape

    @cached_property
    def min_rows(self) -> int:
        """The minimum number of rows in a training batch."""
        return max((row.layer.min_rows(row.in_shape) for row in self.rows if not row.frozen), default=1)

    def run(self, w: Array, state: Any, x: Any, *, frozen: Any = None, key: Any = None, train: bool = False) -> Context:
        """Build the graph of one pass; ``outputs[""]`` of the result is the output of the net.

        Parameters
        ----------
        w : vector, or arrays by path
            All parameters, or, with ``frozen``, the trainable ones.
        state : vector, or arrays by path
            Running statistics and the like.
        x : traced value, or dict or tuple of them
            A batch with the types of ``inputs``.
        frozen : vector, optional
            The parameters that are not trained.
        key : array of two integers, optional
            Seed and step of random numbers.
        train : bool
            Whether to use training mode.
        """
        store = _Slices(self, w, frozen, state)
        context = Context(store, train=train, key=key, dtype=self.dtype, freeze=self.freeze)
        context.enter(self.net, x)
        return context

    def in_type(self, dtype: np.dtype[Any]) -> Network:
        """The same net computed in another type of floats; categories stay integers."""
        inputs = tree_map(lambda s: replace(s, dtype=dtype) if s.dtype.kind == "f" else s, self.inputs)
        return replace(self, dtype=dtype, inputs=inputs)

    def part(self, index: int | slice) -> Network:
        """Some layers of a Sequential, over the same flat vectors."""
        net = self.net
        if not isinstance(net, Sequential):
            raise ConfigError(f"[{index!r}] selects layers of a Sequential, but the net is {net!r}.")
        chosen = range(len(net))[index] if isinstance(index, slice) else range(len(net))[index : index + 1 or None]
        if not chosen or chosen.step != 1:
            raise ConfigError(f"[{index}] of {len(net)} layers selects none of them, or not consecutive ones.")
        rows = {row.path: row for row in self.rows}
        names = {str(number): str(position) for number, position in enumerate(chosen)}
        if not isinstance(index, slice):
            names = {"": str(chosen[0])}
        part = build(net[index], rows[str(chosen[0])].inputs, dtype=self.dtype)
        whole = {row.path: rows[_in_the_whole(row.path, names)] for row in part.rows if row.path or "" in names}
        homes = {row.home: whole[row.path].home for row in part.rows if row.path in whole}
        frozen = {path for path, row in whole.items() if row.frozen}
        return replace(
            part,
            rows=tuple(replace(row, frozen=row.path in frozen) for row in part.rows),
            freeze=tuple(sorted(frozen)),
            params={path: _moved(path, homes, self.params) for path in part.params},
            state={path: _moved(path, homes, self.state) for path in part.state},
            n_params=self.n_params,
            n_trainable=self.n_trainable,
            n_state=self.n_state,
        )

    def state_after(self, context: Context, state: Any) -> Array:
        """The flat state after a pass."""
        if not context.new_state:
            return state
        pieces = [context.new_state.get(path, entry.of(state)) for path, entry in self.state.items()]
        return np.concatenate([piece.astype(self.dtype).reshape(-1) for piece in pieces])


class _Slices:
    """Arrays as views of flat vectors."""

    def __init__(self, network: Network, w: Array, frozen: Any, state: Any) -> None:
        self._network, self._w, self._frozen, self._state = network, w, frozen, state

    def param(self, path: str, spec: Param, context: Context) -> Array:
        if isinstance(self._w, dict):
            return self._w[path]
        entry = self._network.params[path]
        if self._frozen is None or not entry.frozen:
            return entry.of(self._w)
        start = entry.offset - self._network.n_trainable
        return self._frozen[start : start + entry.size].reshape(entry.shape)

    def state(self, path: str, spec: Param) -> Array:
        return self._state[path] if isinstance(self._state, dict) else self._network.state[path].of(self._state)


class _Collected:
    """Records the arrays that a net asks for in its first run, and gives it inputs of that shape."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.params: dict[str, tuple[Param, Initializer, bool]] = {}
        self.states: dict[str, Param] = {}
        self.nodes: dict[str, Node] = {}

    def param(self, path: str, spec: Param, context: Context) -> Array:
        if path in self.params:
            known, init, was_frozen = self.params[path]
            if known.shape != spec.shape:
                raise ShapeError(
                    f"The same layer also occurs elsewhere in the net, where its {path} has shape {known.shape}; here "
                    f"it would have {spec.shape}. Shared layers need inputs of equal width: use two layers."
                )
            self.params[path] = known, init, was_frozen or context.frozen
        else:
            init = as_initializer(spec.init, activation=context.following or "identity", bias_inputs=spec.n_in)
            self.params[path] = spec, init, context.frozen
            self.nodes[path] = new_input(-1, spec.shape, self.dtype, path)
        return self.nodes[path]

    def state(self, path: str, spec: Param) -> Array:
        self.states[path] = spec
        return self.nodes.setdefault(path, new_input(-1, spec.shape, self.dtype, path))


def as_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The type of a net's parameters and floats; an error lists the possible ones."""
    number: np.dtype[Any]
    try:
        number = np.dtype(dtype)
    except TypeError:
        number = np.dtype(object)
    if number.name not in ("float32", "float64"):
        raise DtypeError(f"dtype={dtype!r} is not a possible type of a net. Use 'float32' or 'float64'.")
    return number


def build(net: Layer, inputs: Any = None, *, dtype: DTypeLike = "float32", freeze: Sequence[str] = ()) -> Network:
    """Run a net once on inputs without values, and lay out the arrays it asks for.

    Parameters
    ----------
    net : Layer
        The description.
    inputs : array, int, tuple, dict
        As for :meth:`Layer.init`.
    dtype : {"float32", "float64"}
        Type of parameters and floats.
    freeze : sequence of str
        Paths of layers to freeze, such as ``"0"``.
    """
    freeze = (freeze,) if isinstance(freeze, str) else tuple(freeze)
    number = as_dtype(dtype)
    specs = input_specs(net, inputs, number)
    nodes = tree_map(lambda spec: new_input(0, (Rows(), *spec.shape), spec.dtype), specs)
    store = _Collected(number)
    context = Context(store, train=False, key=np.zeros(2, dtype=np.int64), dtype=number, freeze=freeze)
    try:
        with open_trace(flatten(nodes)[0]):  # a layer's formula may hold derivatives, traced inside
            context.enter(net, nodes)
    except RecursionError:
        raise ConfigError(
            "The net is nested too deeply: layers inside of layers need Python's call stack. Put the layers one after "
            "the other, as in Sequential(*[Residual(...) for _ in range(500)])."
        ) from None
    for path in freeze:
        if path not in context.outputs:
            known = ", ".join(map(repr, context.layers))
            raise ConfigError(f"freeze={path!r} is not the path of a layer. Known: {known}")
    # Inputs of layers that take integers are integers, all others floats.
    categories = {id(leaf) for taken in context.integers for leaf in flatten(taken)[0]}
    integer = np.dtype(np.int64)
    specs = tree_map(lambda s, node: InputSpec(s.shape, integer if id(node) in categories else number), specs, nodes)
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
        rows=tuple(layer_rows(context, {path: entry.size for path, entry in params.items()})),
        freeze=freeze,
    )


def _in_the_whole(path: str, names: dict[str, str]) -> str:
    """The path that a layer of a part has in the whole net; ``names`` gives it for the outermost layers."""
    if "" in names:
        return f"{names['']}.{path}" if path else names[""]
    head, _, rest = path.partition(".")
    return f"{names[head]}.{rest}" if rest else names[head]


def _moved(path: str, homes: dict[str, str], entries: dict[str, Entry]) -> Entry:
    """The entry of an array of a part: that of the whole net under the part's path."""
    home, _, name = path.rpartition(".")
    whole = homes[home]
    return replace(entries[f"{whole}.{name}" if whole else name], path=path)


def _placed(items: Any) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    offset = 0
    for path, spec, init, frozen in items:
        entries[path] = Entry(path, spec.shape, offset, init, spec.decays, frozen)
        offset += entries[path].size
    return entries
