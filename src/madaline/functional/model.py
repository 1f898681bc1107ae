"""A net with its arrays: run it, look inside, change its weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from madaline.errors import ConfigError, DtypeError, ShapeError, UnknownNameError
from madaline.functional.compile import CompiledFunction
from madaline.graph.shapes import show
from madaline.graph.tree import describe, flatten, tree_map, unflatten
from madaline.nn.initializers import DataDependent, stream
from madaline.nn.layer import Layer
from madaline.nn.network import Entry, InputSpec, Network, build
from madaline.nn.table import table

Array = np.ndarray[Any, np.dtype[Any]]


class Arrays(Mapping[str, Array]):
    """Named arrays that are writable views of one flat vector.

    Examples
    --------
    >>> import madaline as md
    >>> params = md.Linear(2).init(3).params
    >>> list(params), params.flat.shape
    (['W', 'b'], (8,))
    >>> params["b"] = [1.0, 2.0]
    >>> params.flat[-2:]
    array([1., 2.], dtype=float32)
    """

    def __init__(self, flat: Array, entries: Mapping[str, Entry]) -> None:
        self.flat = flat
        self._entries = entries

    def __getitem__(self, path: str) -> Array:
        view: Array = self._entry(path).of(self.flat)
        return view

    def __setitem__(self, path: str, value: Any) -> None:
        target, value = self[path], np.asarray(value)
        if value.shape != target.shape:
            raise ShapeError(f"{path!r} has shape {target.shape} and cannot be set to an array of shape {value.shape}.")
        target[...] = value

    def _entry(self, path: str) -> Entry:
        if path not in self._entries:
            known = ", ".join(map(repr, self._entries)) or "none"
            raise UnknownNameError(f"{path!r} is not the path of an array. Known: {known}")
        return self._entries[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def to_dict(self) -> dict[str, Array]:
        """Copies of the arrays by path."""
        return {path: self[path].copy() for path in self}

    def __repr__(self) -> str:
        shown = ", ".join(f"{path!r}: {entry.shape}" for path, entry in self._entries.items())
        return f"{{{shown}}}"


class Model:
    """A net with parameters and state; ``net.init(X)`` makes it.

    Attributes
    ----------
    net : Layer
        The description.
    params : Arrays
        What is learned: ``model.params["0.W"]`` is a writable view of ``model.params.flat``.
    state : Arrays
        What is kept besides, as running statistics.

    Examples
    --------
    The net of lecture row A1, which solves XOR.

    >>> import numpy as np, madaline as md
    >>> model = md.Sequential(md.Linear(2), "relu", md.Linear(1)).init(2)
    >>> model.params["0.W"], model.params["0.b"] = np.ones((2, 2)), [0.0, -1.0]
    >>> model.params["2.W"], model.params["2.b"] = [[2.0], [-4.0]], [-1.0]
    >>> model(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))[:, 0]
    array([-1.,  1.,  1., -1.], dtype=float32)
    """

    def __init__(self, network: Network, params: Array, state: Array) -> None:
        self.network = network
        self.params = Arrays(params, network.params)
        self.state = Arrays(state, network.state)
        self._run = CompiledFunction(self._outputs, [2])
        self._run_inside = CompiledFunction(self._all_outputs, [2])

    @classmethod
    def of(cls, net: Layer, inputs: Any = None, *, seed: int = 0, dtype: Any = "float32", freeze: Any = ()) -> Model:
        """A fresh model; see :meth:`madaline.nn.layer.Layer.init`."""
        network = build(net, inputs, dtype=dtype, freeze=freeze)
        model = cls(network, np.zeros(network.n_params, network.dtype), np.zeros(network.n_state, network.dtype))
        model._draw(seed)
        model._look_at_data(inputs)
        return model

    @property
    def net(self) -> Layer:
        """The description."""
        return self.network.net

    def __call__(self, X: Any, *, train: bool = False, seed: int = 0, step: int = 0) -> Any:
        """The net's output.

        Parameters
        ----------
        X : array, or dict or tuple of them
            A batch; a single row (without the batch axis) gives a single row.
        train : bool
            Training mode: dropout drops and batch norm uses the statistics of this batch. Nothing is changed.
        seed, step : int
            Of the random numbers of training mode.
        """
        return self._called(self._run, X, train, seed, step)

    def activations(self, X: Any, *, train: bool = False, seed: int = 0, step: int = 0) -> dict[str, Any]:
        """The output of every layer by its path; that of the whole net is at ``""``."""
        result: dict[str, Any] = self._called(self._run_inside, X, train, seed, step)
        return result

    def __getitem__(self, index: int | slice) -> Model:
        """Some of the layers of a :class:`Sequential`, with the same arrays: what is changed in one changes in both."""
        return Model(self.network.part(index), self.params.flat, self.state.flat)

    def __repr__(self) -> str:
        return f"Model({self.net!r}, {self.network.n_params:,} parameters, {self.network.dtype})"

    def __str__(self) -> str:
        return table(self.network)

    def _outputs(self, w: Any, state: Any, x: Any, key: Any, train: bool) -> Any:
        return self.network.run(w, state, x, key=key, train=train).outputs[""]

    def _all_outputs(self, w: Any, state: Any, x: Any, key: Any, train: bool) -> Any:
        return self.network.run(w, state, x, key=key, train=train).outputs

    def _called(self, function: CompiledFunction, X: Any, train: bool, seed: int, step: int) -> Any:
        batch, is_row = self.batch(X)
        if train:
            self.need_rows(len(flatten(batch)[0][0]))
        key = np.array([seed, step], dtype=np.int64)
        result = function(self.params.flat, self.state.flat, batch, key, train)
        return tree_map(lambda array: array[0], result) if is_row else result

    def batch(self, X: Any) -> tuple[Any, bool]:
        """Inputs as the net takes them, and whether they were a single row."""
        specs, structure = flatten(self.network.inputs)
        leaves, given = flatten(X) if isinstance(self.network.inputs, (dict, tuple)) else ([X], structure)
        if given != structure:
            raise ShapeError(f"The net takes inputs {describe(structure)}; it was given {describe(given)}.")
        arrays = [_input(leaf, spec) for leaf, spec in zip(leaves, specs, strict=True)]
        is_row = all(array.ndim == len(spec.shape) for array, spec in zip(arrays, specs, strict=True))
        return unflatten(structure, [array[None] if is_row else array for array in arrays]), is_row

    def need_rows(self, n_rows: int) -> None:
        """An error if a training batch has too few rows."""
        if n_rows < self.network.min_rows:
            culprit = next(row for row in self.network.rows if row.layer.min_rows(row.in_shape) > n_rows)
            raise ShapeError(
                f"Layer {culprit.path!r}, {culprit.layer!r}, needs at least {self.network.min_rows} rows to train on, "
                f"and the batch has {n_rows}: the statistics of one row are no statistics. Use a larger batch_size, or "
                "LayerNorm(), which works on single rows."
            )

    def _draw(self, seed: int) -> None:
        """Start every array as its initializer says, then let each layer relate them."""
        for path, entry in self.network.params.items():
            self.params[path] = entry.init.draw(entry.shape, stream(seed, path, "init"))
        for path, entry in self.network.state.items():
            self.state[path] = entry.init.draw(entry.shape, stream(seed, path, "init"))
        for row in self.network.rows:
            own = self._own(row.path, self.params)
            for name, value in row.layer.start(own).items():
                own[name][...] = value

    def _own(self, path: str, arrays: Arrays) -> dict[str, Array]:
        """The arrays of one layer by their short names."""
        prefix = f"{path}." if path else ""
        return {
            name.removeprefix(prefix): arrays[name]
            for name in arrays
            if name.startswith(prefix) and "." not in name.removeprefix(prefix)
        }

    def _look_at_data(self, inputs: Any) -> None:
        """Let initializers and layers that learn from data before training do so, first layer first."""
        looking = {
            path.rpartition(".")[0] for path, e in self.network.params.items() if isinstance(e.init, DataDependent)
        }
        learning = [row for row in self.network.rows if row.layer.learns_from_data]
        if not looking and not learning:
            return
        leaves = flatten(inputs)[0] if isinstance(inputs, (dict, tuple)) else [inputs]
        has_data = all(hasattr(leaf, "shape") or isinstance(leaf, list) for leaf in leaves)
        batch = self.batch(inputs)[0] if has_data and inputs is not None else None
        for row in self.network.rows:
            if row.layer.learns_from_data:
                own = self._own(row.path, self.state)
                x = None if batch is None else self._seen_by(row.path, batch)
                for name, value in row.layer.state_of(x).items():
                    own[name][...] = value
            if row.path in looking:
                self._adjust(row.path, batch)

    def _seen_by(self, path: str, batch: Any) -> Any:
        function = CompiledFunction(lambda w, state, x: self.network.run(w, state, x).inputs[path], [2])
        return function(self.params.flat, self.state.flat, batch)

    def _adjust(self, path: str, batch: Any) -> None:
        own = self._own(path, self.params)
        init = self.network.params[f"{path}.W" if path else "W"].init
        if batch is None:
            raise ConfigError(f"init={init!r} of layer {path!r} looks at data: give init the data, as net.init(X).")
        assert isinstance(init, DataDependent)

        def outputs(W: Array, b: Array) -> Array:
            own["W"][...] = W
            if "b" in own:
                own["b"][...] = b
            found: Array = self.activations(batch)[path]
            return found.astype(np.float64)

        W, b = own["W"].astype(np.float64), own.get("b", np.zeros(own["W"].shape[-1])).astype(np.float64)
        outputs(*init.adjust(W, b, outputs))


def _input(leaf: Any, spec: InputSpec) -> Array:
    array = np.asarray(leaf)
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"Inputs of dtype {array.dtype} cannot be used; they must be numbers.")
    if array.shape[1:] != spec.shape and array.shape != spec.shape:
        raise ShapeError(
            f"The inputs have shape {show(array.shape)}; the net was made for rows of shape {show(spec.shape)}, "
            f"so they must have shape {show(('n', *spec.shape))}."  # type: ignore[arg-type]
        )
    if spec.dtype.kind == "i" and array.dtype.kind == "f" and not np.array_equal(array, np.floor(array)):
        raise DtypeError("Categories must be whole numbers, and the inputs have fractions or missing values.")
    return array.astype(spec.dtype, copy=False)
