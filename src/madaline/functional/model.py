"""Models: a net with its parameters and state, to run, to look inside and to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from madaline.errors import ConfigError, InputError, ShapeError
from madaline.functional.arrays import Array, Arrays
from madaline.functional.compile import CompiledFunction
from madaline.functional.forward import Forward
from madaline.functional.network_runs import NetworkRuns, need_rows
from madaline.functional.with_parameters import ModelWithParameters, complete
from madaline.graph.node import Node
from madaline.graph.tree import flatten, tree_map
from madaline.kernels.sources import unmapped
from madaline.nn.initializers import DataDependent, Hinges, stream
from madaline.nn.inputs import as_batch
from madaline.nn.layer import Layer
from madaline.nn.network import Network, build
from madaline.nn.summary import LayerRow
from madaline.nn.table import table

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from madaline.data.data_types import Inputs
    from madaline.graph.node import Node


class Model:
    """A net with parameters and state; ``net.init(X)`` makes it.

    Attributes
    ----------
    net : Layer
        The description.
    params : Arrays
        Learned arrays: ``model.params["0.W"]`` is a writable view of ``model.params.flat``.
    state : Arrays
        Other arrays, such as running statistics.

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
        self._params = Arrays(params, network.params)
        self._state = Arrays(state, network.state)
        self._forward: Forward | None = None
        self._runs = {network.dtype: NetworkRuns(network)}

    @classmethod
    def of(
        cls,
        net: Layer,
        inputs: Any = None,
        *,
        seed: int = 0,
        dtype: DTypeLike = "float32",
        freeze: Any = (),
        data: Callable[[], Any] | None = None,
    ) -> Model:
        """Make a model; see :meth:`madaline.nn.layer.Layer.init`.

        ``data`` returns the rows for initializers and layers that use data; it is called only if there are any. By
        default these are the inputs.
        """
        network = build(net, inputs, dtype=dtype, freeze=freeze)
        model = cls(network, *_zeros(network))
        model._draw(seed)
        model._look_at_data(data or (lambda: inputs))
        return model

    @classmethod
    def zeros(cls, network: Network) -> Self:
        """A model whose arrays are all 0, to be filled."""
        return cls(network, *_zeros(network))

    @classmethod
    def from_arrays(cls, network: Network, arrays: Mapping[str, Array]) -> Self:
        """A model with the parameters and the state that ``arrays`` holds by path."""
        model = cls.zeros(network)
        for own in (model.params, model.state):
            for path in own:
                own[path] = arrays[path]
        return model

    @property
    def net(self) -> Layer:
        """The description."""
        return self.network.net

    @property
    def params(self) -> Arrays:
        """Learned arrays by path."""
        return self._params

    @params.setter
    def params(self, value: Any) -> NoReturn:
        _refuse_to_replace("params")

    @property
    def state(self) -> Arrays:
        """Other arrays, such as running statistics, by path."""
        return self._state

    @state.setter
    def state(self, value: Any) -> NoReturn:
        _refuse_to_replace("state")

    def __call__(self, X: Inputs | Node, *, train: bool = False, seed: int = 0, step: int = 0) -> Any:
        """The net's output.

        Parameters
        ----------
        X : array, or dict or tuple of them
            A batch. A single row (without the batch axis) gives a single row.
        train : bool
            Use training mode: dropout, and batch norm by the statistics of this batch. The model does not change.
        seed, step : int
            Random seed and step of training mode.
        """
        if not train:
            if self._forward is None:
                self._forward = Forward(self.network, self.params.flat, self.state.flat)
            found = self._forward(np.asarray(X) if isinstance(X, np.memmap) else X)
            if found is not None:
                return found
        runs = self._runs[self.network.dtype]
        return self._explained(runs.output, X, train=train, seed=seed, step=step)

    def activations(self, X: Inputs | Node, *, train: bool = False, seed: int = 0, step: int = 0) -> dict[str, Any]:
        """The output of every layer by its path; that of the whole net is at ``""``."""
        result: dict[str, Any] = self._explained(
            self._runs[self.network.dtype].outputs, X, train=train, seed=seed, step=step
        )
        return result

    def with_parameters(self, parameters: Any) -> ModelWithParameters:
        """The same net and state with other parameters, which may be traced: to differentiate with respect to them.

        Parameters
        ----------
        parameters : vector, or mapping of arrays by path
            All parameters as one vector, like ``params.flat``, or some of them by path, like ``params.to_dict()``;
            paths that are left out keep their values. The net is computed in their type, float32 or float64.

        Returns
        -------
        ModelWithParameters
            Call it like the model. The model itself does not change.

        Examples
        --------
        >>> import numpy as np, madaline as md
        >>> model = md.Sequential(md.Linear(3), "tanh", md.Linear(1)).init(2, dtype="float64")
        >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> slope = md.grad(lambda p: np.mean(model.with_parameters(p)(X) ** 2))
        >>> slope(model.params.flat).shape, slope({"2.b": np.zeros(1)})["2.b"].shape
        ((13,), (1,))
        """
        whole, dtype = complete(parameters, self.params)
        if dtype not in self._runs:
            self._runs[dtype] = NetworkRuns(self.network.in_type(dtype))
        return ModelWithParameters(self._runs[dtype], whole, self.state)

    def __getitem__(self, index: int | slice) -> Model:
        """Some of the layers of a :class:`Sequential`, sharing their arrays with this model."""
        return Model(self.network.part(index), self.params.flat, self.state.flat)

    def __iter__(self) -> Iterator[Model]:
        """The layers of a :class:`Sequential`, each with its arrays."""
        return (self[position] for position in range(len(self.net.parts())))

    def __repr__(self) -> str:
        return f"Model({self.net!r}, {self.network.rows[-1].n_params:,} parameters, {self.network.dtype})"

    def __reduce__(self) -> Any:
        # Programs are planned again after unpickling: a worker process may have another CPU.
        return Model, (self.network, self.params.flat, self.state.flat)

    def __str__(self) -> str:
        return table(self.network)

    def _explained(self, run: Callable[..., Any], X: Inputs, **options: Any) -> Any:
        if isinstance(X, (np.ndarray, dict, tuple)):
            X = tree_map(lambda leaf: unmapped(leaf) if isinstance(leaf, np.ndarray) else leaf, X)
        try:
            return run(self.params.flat, self.state.flat, X, **options)
        except IndexError:
            if not any(isinstance(leaf, Node) for leaf in flatten(X)[0]):
                self.check(X)
            raise

    def batch(self, X: Inputs) -> tuple[Any, bool]:
        """Inputs in the types of the net, and whether they were a single row."""
        return as_batch(X, self.network.inputs)

    def check(self, X: Inputs) -> None:
        """Raise an error with layer, row and value if some numbers in ``X`` are not valid inputs of a layer.

        Training checks all its data in advance; running does so after a failure.
        """
        batch, _ = self.batch(X)
        for row in self.network.rows:
            if row.layer.takes == "integers":
                try:
                    row.layer.check(self._seen_by(row.path, batch))
                except InputError as error:
                    raise InputError(f"{row.title}: {error}") from None

    def need_rows(self, n_rows: int) -> None:
        """Raise an error if a training batch has too few rows."""
        need_rows(self.network, n_rows)

    def _draw(self, seed: int) -> None:
        """Draw every array with its initializer, then let each layer adjust its arrays."""
        for arrays, entries in ((self.params, self.network.params), (self.state, self.network.state)):
            for path, entry in entries.items():
                try:
                    arrays[path] = entry.init.draw(entry.shape, stream(seed, path, "init"))
                except ShapeError as error:
                    raise ShapeError(f"{path!r} cannot be initialized by {entry.init!r}: {error}") from None
        for path, entry in self.network.params.items():
            if isinstance(entry.init, Hinges):
                self._place_hinges(path, entry.init)
        for row in self._rows():
            self._start(row)

    def _place_hinges(self, path: str, init: Hinges) -> None:
        """Multiply drawn biases by the norms of their units' weights: the matrix of the same layer."""
        drawn = self.params[path]
        own = self._own(path.rpartition(".")[0], self.params)
        weights = [array for array in own.values() if array.ndim == 2 and array.shape[1:] == drawn.shape]
        if not weights:
            raise ConfigError(f"{path!r} cannot be initialized by {init!r}, which is for biases. Use 'zeros'.")
        self.params[path] = init.place(drawn, weights[0])

    def _rows(self) -> Iterator[LayerRow]:
        """Every layer once, first layer first, inner layers before outer ones."""
        return (row for row in self.network.rows if row.path == row.home)

    def _start(self, row: LayerRow) -> None:
        own = self._own(row.home, self.params)
        for name, value in row.layer.start(own).items():
            own[name][...] = value

    def _own(self, home: str, arrays: Arrays) -> dict[str, Array]:
        """The arrays of one layer by their short names."""
        return {path.rpartition(".")[2]: arrays[path] for path in arrays.by_layer.get(home, ())}

    def _look_at_data(self, data: Callable[[], Any]) -> None:
        """Run data-dependent initializers and layers that use data before training, first layer first."""
        looking = {
            path.rpartition(".")[0] for path, e in self.network.params.items() if isinstance(e.init, DataDependent)
        }
        learning = [row for row in self.network.rows if row.layer.learns_from_data]
        if not looking and not learning:
            return
        inputs = data()
        batch = self.batch(inputs)[0] if _is_data(inputs) else None
        for row in self._rows():
            if row.layer.learns_from_data:
                own = self._own(row.home, self.state)
                x = None if batch is None else self._seen_by(row.path, batch)
                try:
                    learned = row.layer.state_of(x)
                except (ConfigError, InputError) as error:
                    raise type(error)(f"{row.title}: {error}") from None
                for name, value in learned.items():
                    own[name][...] = value
            if row.home in looking:
                self._adjust(row, batch)

    def _seen_by(self, path: str, batch: Any) -> Any:
        function = CompiledFunction(lambda w, state, x: self.network.run(w, state, x).inputs[path], [2])
        return function(self.params.flat, self.state.flat, batch)

    def _adjust(self, row: LayerRow, batch: Any) -> None:
        own = self._own(row.home, self.params)
        prefix = f"{row.home}." if row.home else ""
        inits = {name: self.network.params[f"{prefix}{name}"].init for name in own}
        weights, init = next((name, init) for name, init in inits.items() if isinstance(init, DataDependent))
        if batch is None:
            raise ConfigError(f"{row.title}: init={init!r} needs data. Pass the data to init, as net.init(X).")
        x = np.asarray(self._seen_by(row.path, batch), dtype=np.float64)
        W = own[weights].astype(np.float64)
        b = own["b"].astype(np.float64) if "b" in own else np.zeros(W.shape[-1])
        found = init.adjust(W, b, lambda W, b: np.asarray(row.layer.sums(x, {weights: W, "b": b})))
        for name, value in zip((weights, "b"), found, strict=True):
            if name in own:
                own[name][...] = value
        self._start(row)


def _refuse_to_replace(name: str) -> NoReturn:
    raise AttributeError(f"model.{name} cannot be replaced. Set model.{name}.flat, or single arrays of model.{name}.")


def _is_data(inputs: Any) -> bool:
    """Whether inputs are arrays, not only their widths or shapes."""
    if isinstance(inputs, (dict, tuple)):
        return all(map(_is_data, inputs.values() if isinstance(inputs, dict) else inputs))
    return inputs is not None and not isinstance(inputs, (int, np.integer))


def _zeros(network: Network) -> tuple[Array, Array]:
    """Parameters and state of a net, all 0."""
    return np.zeros(network.n_params, network.dtype), np.zeros(network.n_state, network.dtype)
