"""One pass through a net: the current layer, the mode, and the arrays of the layer."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from madaline.errors import DtypeError, MadalineError, ShapeError
from madaline.graph import random
from madaline.graph.node import INPUT, Node
from madaline.graph.shapes import show
from madaline.graph.tree import flatten, tree_map
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.layer import Layer, Param

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class Store(Protocol):
    """The source of the arrays of layers during a pass."""

    def param(self, path: str, spec: Param, context: Context) -> Any:
        """The parameter at a path."""

    def state(self, path: str, spec: Param) -> Any:
        """The state at a path, as it was before the pass."""


class Context:
    """What a layer can use while it runs: mode, state, random numbers, layers inside.

    Parameters
    ----------
    store : Store
        The arrays.
    train : bool
        Whether this is training: dropout drops, batch norm uses the statistics of the batch.
    key : array of two integers, optional
        Seed and step of the random numbers; needed if a layer is random.
    dtype : dtype
        Type of the floats.
    freeze : sequence of str
        Paths of frozen layers, in addition to those with ``trainable=False``.
    """

    def __init__(self, store: Store, *, train: bool, key: Any, dtype: DTypeLike, freeze: Sequence[str] = ()) -> None:
        self.train = train
        self.dtype = np.dtype(dtype)
        self.path = ""
        "Path of the current layer, such as ``3.0``."
        self.following: ActivationFunction | None = None
        "The activation that follows the current layer, if there is one."
        self.frozen = "" in freeze
        "Whether the current layer, or one around it, is frozen."
        self.outputs: dict[str, Any] = {}
        "The output of every layer by path."
        self.inputs: dict[str, Any] = {}
        self.layers: dict[str, Layer] = {}
        self.homes: dict[str, str] = {}
        "The path of the arrays of each layer: its own, or the first path of a layer that occurs twice."
        self.frozen_paths: set[str] = set()
        self.integers: list[Any] = []
        "Inputs of layers that take integers as they are."
        self.new_state: dict[str, Any] = {}
        self._store = store
        self._key = key
        self._freeze = frozenset(freeze)
        self._home = ""
        self._homes: dict[int, str] = {}
        self._state_specs: dict[str, Param] = {}

    def enter(self, net: Layer, x: Any) -> Any:
        """The output of the whole net."""
        return self._at("", "", net, x)

    def run(self, name: str, layer: Layer, x: Any, *, following: ActivationFunction | None = None) -> Any:
        """The output of a layer inside the current one.

        Parameters
        ----------
        name : str
            Name of the layer inside. Its parameters have the path ``path.name.W``, or that of an earlier occurrence.
        layer : Layer
            The layer.
        x : traced value, or dict or tuple of them
            Its input.
        following : ActivationFunction, optional
            The activation that follows it. By default that of the current layer.
        """
        outside = self.following
        self.following = following if following is not None else outside
        try:
            return self._at(
                f"{self.path}.{name}" if self.path else name,
                self._homes.setdefault(id(layer), f"{self._home}.{name}" if self._home else name),
                layer,
                x,
            )
        finally:
            self.following = outside

    def _at(self, path: str, home: str, layer: Layer, x: Any) -> Any:
        outside = self.path, self._home, self.frozen
        self.path, self._home = path, home
        self.frozen = self.frozen or not layer.trainable or path in self._freeze
        # Kept, so that no other object gets the id of one that was seen.
        self.layers[path], self.homes[path] = layer, home
        if self.frozen:
            self.frozen_paths.add(path)
        try:
            if isinstance(x, (dict, tuple)) and not layer.takes_several:
                raise ShapeError(f"{type(layer).__name__} takes one array but got several. Join them with Concat().")
            if layer.takes == "floats":
                x = tree_map(self._as_float, x)
            elif layer.takes == "integers":
                self.integers.append(x)
                _need_integers(x, layer)
            self.inputs[path] = x
            y = self.outputs[path] = layer(x, self._params(layer, x), self)
        except MadalineError as error:
            self._name_the_layer(error, layer, x)
            raise
        finally:
            self.path, self._home, self.frozen = outside
        return y

    def state(self, name: str) -> Any:
        """State of the current layer: set by the last :meth:`update` of this pass, or kept from before."""
        path = self._inside(name)
        return self.new_state[path] if path in self.new_state else self._store.state(path, self._state_specs[path])

    def update(self, name: str, value: Any) -> None:
        """Set the state of the current layer for later passes."""
        self.new_state[self._inside(name)] = value

    def uniform(self, shape: Any, *, rows: bool = True) -> Any:
        """Uniform random numbers, different for every step and layer, and for every row if the first axis is rows."""
        stream = zlib.crc32(self.path.encode())
        return random.uniform(self._key, shape, stream=stream, dtype=self.dtype, rows=rows)

    def _params(self, layer: Layer, x: Any) -> Mapping[str, Any]:
        shape: Any = tree_map(lambda leaf: leaf.shape, x)
        for name, spec in layer.state(shape).items():
            self._state_specs[self._inside(name)] = spec
            self._store.state(self._inside(name), spec)
        return {name: self._store.param(self._inside(name), spec, self) for name, spec in layer.params(shape).items()}

    def _inside(self, name: str) -> str:
        return f"{self._home}.{name}" if self._home else name

    def _as_float(self, x: Any) -> Any:
        return x if x.dtype == self.dtype else x.astype(self.dtype)

    def _name_the_layer(self, error: MadalineError, layer: Layer, x: Any) -> None:
        """Add the innermost layer to an error message, once."""
        if getattr(error, "layer_path", None) is not None or not error.args:
            return
        error.layer_path = self.path  # type: ignore[attr-defined]  # read by outer layers alone
        where = f"Layer {self.path!r} ({layer!r})" if self.path else f"{layer!r}"
        shapes = show_all(tree_map(lambda leaf: leaf.shape, x))
        error.args = (f"{where} got inputs of shape {shapes}. {error.args[0]}", *error.args[1:])


def _need_integers(x: Any, layer: Layer) -> None:
    """Raise an error for computed floats. Floats of an input are fine: the net then declares it as integers."""
    for leaf in flatten(x)[0]:
        if leaf.dtype.kind == "f" and not (isinstance(leaf, Node) and leaf.primitive is INPUT):
            raise DtypeError(f"{type(layer).__name__} takes categories (integers) but got {leaf.dtype}.")


def show_all(shapes: Any) -> str:
    """One shape, or several by position or name, as text."""
    if isinstance(shapes, dict):
        return ", ".join(f"{name} {show_all(item)}" for name, item in shapes.items())
    if shapes and isinstance(shapes[0], (tuple, dict)):
        return ", ".join(map(show_all, shapes))
    return show(shapes)
