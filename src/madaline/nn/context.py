"""One pass through a net: where the value is, what mode it is in, which arrays the layer there has."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from madaline.errors import DtypeError, MadalineError, ShapeError
from madaline.graph import random
from madaline.graph.node import INPUT, Node
from madaline.graph.shapes import show
from madaline.graph.tree import flatten, tree_map
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.layer import Layer, Param


class Store(Protocol):
    """Where a pass finds the arrays of a layer."""

    def param(self, path: str, spec: Param, context: Context) -> Any:
        """The parameter at a path."""

    def state(self, path: str, spec: Param) -> Any:
        """The state at a path, as it was before the pass."""


class Context:
    """What a layer may ask while it is run.

    Parameters
    ----------
    store : Store
        The arrays.
    train : bool
        Whether this is training: dropout drops, batch norm uses the statistics of the batch.
    key : array of two integers, optional
        Seed and step of the random numbers; needed where something is random.
    dtype : dtype
        Of the floats.
    freeze : sequence of str
        Paths of layers that are not to be trained, besides those that say so themselves.
    """

    def __init__(self, store: Store, *, train: bool, key: Any, dtype: Any, freeze: Sequence[str] = ()) -> None:
        self.train = train
        self.dtype = np.dtype(dtype)
        self.path = ""
        "Where the layer being run stands in the net, as ``3.0``."
        self.following: ActivationFunction | None = None
        "The activation that the output of the layer meets, if there is one."
        self.frozen = "" in freeze
        "Whether the layer or one around it is not to be trained."
        self.outputs: dict[str, Any] = {}
        "The output of every layer by path."
        self.inputs: dict[str, Any] = {}
        self.layers: dict[str, Layer] = {}
        self.homes: dict[str, str] = {}
        "Where the arrays of the layer at a path are: its own path, or the first one of a layer that stands twice."
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
        """The output of a layer inside the one being run.

        Parameters
        ----------
        name : str
            Of the layer inside: its parameters are at ``path.name.W``, or where the same object was met before.
        layer : Layer
            What to run.
        x : traced value, or dict or tuple of them
            Its input.
        following : ActivationFunction, optional
            What its output meets; what that of the layer around meets, unless told.
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
                raise ShapeError(f"{type(layer).__name__} takes one array, and several came in. Join them by Concat().")
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
        """State of the layer being run: what the last :meth:`update` of this pass set, or what was kept before."""
        path = self._inside(name)
        return self.new_state[path] if path in self.new_state else self._store.state(path, self._state_specs[path])

    def update(self, name: str, value: Any) -> None:
        """Set the state of the layer being run, for later passes."""
        self.new_state[self._inside(name)] = value

    def uniform(self, shape: Any) -> Any:
        """Uniform numbers of the layer being run: others at every step, for every row, in every place of the net."""
        stream = zlib.crc32(self.path.encode())
        return random.uniform(self._key, shape, stream=stream, dtype=self.dtype, rows=True)

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
        """Say once, at the innermost layer, where the error happened."""
        if getattr(error, "layer_path", None) is not None or not error.args:
            return
        error.layer_path = self.path  # type: ignore[attr-defined]
        where = f"Layer {self.path!r} ({layer!r})" if self.path else f"{layer!r}"
        shapes = show_all(tree_map(lambda leaf: leaf.shape, x))
        error.args = (f"{where} was given inputs of shape {shapes}. {error.args[0]}", *error.args[1:])


def _need_integers(x: Any, layer: Layer) -> None:
    """An error for floats that were computed; those of an input will be whole numbers, as the net then asks for."""
    for leaf in flatten(x)[0]:
        if leaf.dtype.kind == "f" and not (isinstance(leaf, Node) and leaf.primitive is INPUT):
            raise DtypeError(f"{type(layer).__name__} takes categories, whole numbers, and was given {leaf.dtype}.")


def show_all(shapes: Any) -> str:
    """Shapes by name, or one after another, or the one there is."""
    if isinstance(shapes, dict):
        return ", ".join(f"{name} {show_all(item)}" for name, item in shapes.items())
    if shapes and isinstance(shapes[0], (tuple, dict)):
        return ", ".join(map(show_all, shapes))
    return show(shapes)
