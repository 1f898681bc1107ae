"""Steps of nets with large embeddings: only the rows of a table that a mini-batch uses are computed and changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.graph.node import new_input
from madaline.graph.shapes import Rows
from madaline.graph.trace import open_trace
from madaline.graph.tree import flatten, tree_map
from madaline.kernels.sources import DenseRows
from madaline.nn.layers.embedding import Embedding
from madaline.nn.network import Entry, Network
from madaline.optim.optimizer import Optimizer
from madaline.train.ahead import ahead
from madaline.train.data import TrainingData
from madaline.train.metrics import Metric
from madaline.train.programs import Programs
from madaline.train.recipe import EVERYWHERE, Recipe, matches
from madaline.train.sampling import Batches
from madaline.train.stepping import Rates, Stepper, StepResults, one_after_another

MOST_PROGRAMS = 6
"Number of programs, for different numbers of rows, that are kept."
LEAST_ROWS = 64


@dataclass(frozen=True)
class SparseTable:
    """A table of which only some rows are used at a time, and the input of the net that holds their numbers."""

    path: str
    leaf: int

    @staticmethod
    def of(network: Network) -> tuple[SparseTable, ...]:
        """The tables of all embeddings with ``sparse=True`` that are trained."""
        if not any(isinstance(row.layer, Embedding) and row.layer.sparse and not row.frozen for row in network.rows):
            return ()
        nodes = tree_map(lambda spec: new_input(0, (Rows(), *spec.shape), spec.dtype), network.inputs)
        w = new_input(0, (network.n_params,), network.dtype)
        state = new_input(0, (network.n_state,), network.dtype)
        leaves = flatten(nodes)[0]
        with open_trace([*leaves, w, state]):
            context = network.run(w, state, nodes, key=np.zeros(2, np.int64))
        users: dict[int, list[str]] = {}
        for path, layer in context.layers.items():
            for leaf in flatten(context.inputs[path])[0] if not layer.parts() else ():
                users.setdefault(id(leaf), []).append(path)
        places = {id(leaf): number for number, leaf in enumerate(leaves)}
        found = []
        for row in network.rows:
            if not (isinstance(row.layer, Embedding) and row.layer.sparse) or row.frozen:
                continue
            given = context.inputs[row.path]
            if id(given) not in places or users[id(given)] != [row.path] or row.home != row.path:
                raise ConfigError(
                    f"{row.title} has sparse=True: its categories must be an input of the net that no other layer "
                    "uses, and the layer may occur once. Give it an input of its own, or leave sparse out."
                )
            found.append(SparseTable(f"{row.path}.W" if row.path else "W", places[id(given)]))
        return tuple(found)


class SparseStepper:
    r"""Takes steps like :class:`madaline.train.stepping.Stepper`, in which tables of embeddings change sparsely.

    For each mini-batch, the rows of the tables that it uses, and their optimizer state, are copied to a small net; a
    step of the small net is taken, and they are copied back. Time and memory of a step depend on the mini-batch and
    not on the number of categories. Rows that the mini-batch does not use stay as they are, with their state. For
    SGD without momentum and for AdaGrad this is the step of the whole net; optimizers with moving averages, such as
    Adam, update the averages of a row only when it is used, as PyTorch's SparseAdam does.

    Parameters
    ----------
    model, recipe, metrics
        As for the programs of a step.
    tables : sequence of SparseTable
        At least one.
    data : TrainingData
        An example of the rows.
    seed, threads, skips
        As for Stepper.
    """

    def __init__(
        self,
        model: Model,
        recipe: Recipe,
        metrics: Sequence[Metric],
        tables: Sequence[SparseTable],
        data: TrainingData,
        *,
        seed: int,
        threads: int,
        skips: bool,
    ) -> None:
        check_sparse(recipe, tables)
        self._example = data
        self.model, self.threads, self.tables = model, threads, tuple(tables)
        self._recipe, self._metrics, self._seed, self._skips = recipe, tuple(metrics), seed, skips
        network, optimizer = model.network, recipe.optimizer
        assert isinstance(optimizer, Optimizer)
        own = model.params.flat[: network.n_trainable]
        self.arrays: dict[str, np.ndarray] = {"w": own}
        for name, value in zip(optimizer.slots, optimizer.state(own), strict=True):
            self.arrays[f"slot.{name}"] = np.asarray(value, dtype=network.dtype)
        if network.n_state:
            self.arrays["state"] = model.state.flat
        self._small: dict[tuple[int, ...], _SmallNet] = {}
        self._current: _SmallNet | None = None
        shapes = {table.path: network.params[table.path].shape for table in self.tables}
        self._owner = {path: np.zeros(shape[0], np.int32) for path, shape in shapes.items()}
        self._is_stopped = False

    @property
    def summed(self) -> set[str]:
        """Names of what a step computes for means over the epoch."""
        return self._example_net().summed

    def stop(self) -> None:
        """End after the current step; may be called from other threads."""
        self._is_stopped = True
        if self._current is not None:
            self._current.stop()

    def run(self, data: TrainingData, batches: Batches, *, t: int, rates: Rates, probing: bool = False) -> StepResults:
        """Run a step for each batch, after ``t`` earlier steps."""
        self._is_stopped, parts = False, []
        pieces = (batches.part(number, number + 1) for number in range(len(batches)))
        prepared = ((piece, *self._prepared(data, piece.order)) for piece in pieces)
        for number, (piece, used, rows) in enumerate(ahead(prepared) if len(batches) > 1 else prepared):
            found = self._small_net(used).step(self, rows, used, t=t + number, rates=rates)
            parts.append(found)
            found.bad_batch = None if found.bad_batch is None else piece
            found.skipped = None if found.skipped is None else piece
            found.is_interrupted |= self._is_stopped and number + 1 < len(batches)
            if not len(found.weights) or found.is_interrupted:
                break
        self._leave()
        return one_after_another(parts) if parts else self._example_net().run(data, batches, t=t, rates=rates)

    def _prepared(self, data: TrainingData, order: np.ndarray) -> tuple[dict[str, np.ndarray], TrainingData]:
        """The rows of the tables that some rows use, and these rows with other categories."""
        used: dict[str, np.ndarray] = {}
        specs = flatten(self.model.network.inputs)[0]
        x = [source.take(order, spec.dtype) for source, spec in zip(data.x, specs, strict=True)]
        for table in self.tables:
            used[table.path], x[table.leaf] = _numbered(x[table.leaf], self._owner[table.path])
        y, weight = data.take(order)
        leaves = tuple(DenseRows(np.asarray(leaf)) for leaf in flatten(y)[0])
        return used, TrainingData(tuple(map(DenseRows, x)), leaves, weight, len(order), y, data.target_specs)

    def _small_net(self, used: Mapping[str, np.ndarray]) -> _SmallNet:
        """The small net with room for some rows of the tables."""
        counts = {table.path: len(used[table.path]) for table in self.tables}
        sizes = tuple(_rounded(count, most=len(self._owner[path])) for path, count in counts.items())
        small = self._small.get(sizes)
        if small is None:
            while len(self._small) >= MOST_PROGRAMS:
                self._leave()
                del self._small[next(iter(self._small))]
            small = self._small[sizes] = _SmallNet(self, sizes, self._example)
        if small is not self._current:
            self._leave()
            small.enter(self)
            self._current = small
        return small

    def _example_net(self) -> Stepper:
        """Any of the small nets."""
        return self._small_net({table.path: np.zeros(1, np.int64) for table in self.tables}).stepper(self.threads)

    def _leave(self) -> None:
        """Copy what is not in tables back to the model."""
        if self._current is not None:
            self._current.leave(self)
        self._current = None

    @property
    def recipe(self) -> Recipe:
        """Training settings."""
        return self._recipe

    @property
    def settings(self) -> tuple[tuple[Metric, ...], int, bool]:
        """Metrics, random seed, and whether bad batches are skipped."""
        return self._metrics, self._seed, self._skips


class _SmallNet:
    """The net with small tables: its program, its arrays and the places of its arrays in the large ones."""

    def __init__(self, large: SparseStepper, sizes: Sequence[int], data: TrainingData) -> None:
        network = large.model.network
        self._rows = {table.path: size for table, size in zip(large.tables, sizes, strict=True)}
        self._small = _with_small_tables(network, self._rows)
        state = large.model.state.flat
        self._model = Model(self._small, np.zeros(self._small.n_params, network.dtype), state)
        if network.n_trainable < network.n_params:
            self._model.params.flat[self._small.n_trainable :] = large.model.params.flat[network.n_trainable :]
        metrics, seed, skips = large.settings
        self._programs = Programs(self._small, large.recipe)
        program = self._programs.training(data, metrics, ())
        self._stepper = Stepper(
            self._model, large.recipe, program, program, seed=seed, threads=large.threads, skips=skips
        )
        self._apart = [
            (entry, self._small.params[path])
            for path, entry in network.params.items()
            if path not in self._rows and not entry.frozen
        ]
        self._tables = [(network.params[path], self._small.params[path]) for path in self._rows]
        self._vectors = [name for name, value in large.arrays.items() if name != "state" and value.ndim]

    def stepper(self, threads: int) -> Stepper:
        """Takes its steps."""
        self._stepper.threads = threads
        return self._stepper

    def stop(self) -> None:
        """End soon."""
        self._stepper.stop()

    def step(
        self, large: SparseStepper, rows: TrainingData, used: Mapping[str, np.ndarray], *, t: int, rates: Rates
    ) -> StepResults:
        """One step with all rows, in their order."""
        own = self._stepper.arrays
        pairs = [
            (large_entry.of(large.arrays[name]), small_entry.of(own[name]), used[large_entry.path])
            for name in self._vectors
            for large_entry, small_entry in self._tables
        ]
        for whole, part, chosen in pairs:
            np.take(whole, chosen, axis=0, out=part[: len(chosen)], mode="clip")
        batch = Batches(np.arange(rows.n_rows), np.array([0, rows.n_rows]))
        found = self.stepper(large.threads).run(rows, batch, t=t, rates=rates)
        if len(found.weights) and found.weights[0]:
            for whole, part, chosen in pairs:
                _as_items(whole)[chosen] = _as_items(part)[: len(chosen)]
        return found

    def enter(self, large: SparseStepper) -> None:
        """Copy what is not in tables from the model."""
        for name, own in self._stepper.arrays.items():
            if name not in self._vectors and name != "state":
                own[...] = large.arrays[name]
        for name in self._vectors:
            for large_entry, small_entry in self._apart:
                small_entry.of(self._stepper.arrays[name])[...] = large_entry.of(large.arrays[name])

    def leave(self, large: SparseStepper) -> None:
        """Copy it back."""
        for name, own in self._stepper.arrays.items():
            if name not in self._vectors and name != "state":
                large.arrays[name][...] = own
        for name in self._vectors:
            for large_entry, small_entry in self._apart:
                large_entry.of(large.arrays[name])[...] = small_entry.of(self._stepper.arrays[name])


def new_stepper(
    model: Model,
    programs: Programs,
    metrics: Sequence[Metric],
    data: TrainingData,
    *,
    seed: int,
    threads: int,
    skips: bool,
) -> Stepper | SparseStepper:
    """What takes the steps of a model, without probes."""
    if tables := SparseTable.of(model.network):
        return SparseStepper(model, programs.recipe, metrics, tables, data, seed=seed, threads=threads, skips=skips)
    program = programs.training(data, metrics, ())
    return Stepper(model, programs.recipe, program, program, seed=seed, threads=threads, skips=skips)


def check_sparse(recipe: Recipe, tables: Sequence[SparseTable]) -> None:
    """Raise an error for what would have to change all rows of a table in every step."""
    wrong = "" if recipe.average is None else f"average={recipe.average!r}"
    for argument in ("regularizers", "constraints"):
        for pattern, item in getattr(recipe, argument):
            if getattr(item, "on", "weights") != "activations" and any(
                pattern == EVERYWHERE or matches(pattern, table.path) for table in tables
            ):
                wrong = wrong or f"{argument.removesuffix('s')}={item!r}"
    if not isinstance(recipe.optimizer, Optimizer):
        wrong = wrong or f"{recipe.optimizer!r}"
    if wrong:
        raise ConfigError(
            f"{wrong} would change every row of an embedding with sparse=True in every step. Leave it out, name other "
            "layers for it, or leave sparse out."
        )


def _numbered(categories: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different categories, and the number of each category among them; ``owner`` is memory to work with."""
    flat = categories.reshape(-1)
    places = np.arange(len(flat), dtype=np.int32)
    owner[flat] = places  # the last of equal ones stays
    last = owner[flat]
    is_last = last == places
    numbers = np.cumsum(is_last, dtype=np.int64) - 1
    return flat[is_last], numbers[last].reshape(categories.shape)


def _as_items(table: np.ndarray) -> np.ndarray:
    """The rows of a table as single items, which are copied faster."""
    return table.view(f"V{table.shape[1] * table.itemsize}")[:, 0]


def _rounded(count: int, *, most: int) -> int:
    """A number of rows of a small table that holds ``count``: few different ones, so that few programs are planned."""
    unit = max(LEAST_ROWS, 1 << max(0, int(count).bit_length() - 4))
    return min(most, max(unit, -(-count // unit) * unit))


def _with_small_tables(network: Network, rows: Mapping[str, int]) -> Network:
    """The same net with other numbers of rows in some tables."""
    params: dict[str, Entry] = {}
    offset = 0
    for path, entry in sorted(network.params.items(), key=lambda item: item[1].offset):
        shape = (rows[path], *entry.shape[1:]) if path in rows else entry.shape
        params[path] = replace(entry, shape=shape, offset=offset)
        offset += params[path].size
    params = {path: params[path] for path in network.params}
    return replace(
        network,
        params=params,
        n_params=offset,
        n_trainable=sum(entry.size for entry in params.values() if not entry.frozen),
    )
