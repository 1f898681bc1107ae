r"""The kernel member of an ensemble: a radial basis function network whose centres are rows of the training set.

Nets are smooth where tables often are not. A kernel machine learns local structure from the rows themselves, as trees
do, if distances count only in the directions in which the target changes, which the nets know (``directions.py``).

Its outputs are those of ridge regression with a kernel (``machine.py``). For classes, the target is 0 or 1 and the
output an estimate of a probability.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from madaline.data.encode import NUMBERS
from madaline.estimators.ensemble.directions import find_directions, numbers_of
from madaline.estimators.ensemble.machine import Equations, Machine
from madaline.estimators.ensemble.members import EnsembleMember, Task
from madaline.estimators.ensemble.plan import EnsembleKind
from madaline.estimators.ensemble.weights import best_temperature
from madaline.estimators.row_set import RowSet
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.nn.layer import Layer
from madaline.nn.layers.embedding import Embedding
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.parallel import Concat, Parallel
from madaline.nn.layers.radial import Radial
from madaline.nn.layers.reshape import Identity
from madaline.nn.layers.sequential import Sequential
from madaline.nn.network import build
from madaline.train.history import History

Array = np.ndarray[Any, Any]

NAME = "kernel"
"Name of the kind of member."
RADIUS = 2.0
"The kernel falls to 1/e at this many median distances."
RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
"Candidates for the ridge, of which the best one on held-out rows is used."
RIDGE_ROWS = 3_000
"Number of rows for the first choice of the ridge."
LEAST_PROBABILITY = 1e-3
"Probabilities are at least this; estimates may be negative."
LARGEST = 1e15
"With larger numbers, squared distances overflow."
TRIAL_ROWS = 2_000
"Number of rows by which the time of a machine is measured."
RIDGE_MACHINES = 2.5
"Time of the choice of the ridge, compared with that of a machine."
FEWEST_ROWS = 1_500
"With less time than for this number of rows, there is no kernel member."


def kernel_member(
    nets: Sequence[EnsembleMember],
    rows: RowSet,
    loss: Loss,
    *,
    number: int,
    most_rows: int,
    average: str,
    seed: int,
    threads: int,
) -> EnsembleMember | None:
    """A kernel machine on all rows, with outputs for each row by a machine that was not trained on it.

    The directions of a machine for held-out rows are those of the net that did not see these rows: nets fit noise, too,
    and the directions of the others would reveal the targets.

    Parameters
    ----------
    nets : sequence of EnsembleMember
        The trained nets, whose gradients say in which directions distances count. There is a machine for each fold of
        the first kind.
    rows : RowSet
        All rows, as inputs of the nets.
    loss : Loss
        For the temperature of probabilities.
    number : int
        Number of the member.
    most_rows : int
        Largest number of training rows of a machine; of more, a random sample is used.
    average : {"identity", "softmax", "sigmoid"}
        What the ensemble averages.
    seed : int
        Random seed of samples.
    threads : int
        Number of machines that are computed at the same time.

    Returns
    -------
    EnsembleMember or None
        None if there is none for such columns or targets.
    """
    targets = _targets(rows.y, average, nets[0].outputs.shape[1])
    if targets is None:
        return None
    weight = None if rows.weight is None else rows.weight / rows.weight.mean()
    problem = _Problem(rows.X, targets, weight, most_rows, seed)

    def directions_of(seen: Sequence[EnsembleMember]) -> Array | None:
        found = find_directions(seen, rows, average, radius=RADIUS, seed=seed)
        return found if found is None or np.abs(problem.space(found)).max() < LARGEST else None

    judges = [net for net in nets if net.task.kind.repeat == nets[0].task.kind.repeat]
    with threadpool_limits(1, user_api="blas"):  # sums in another order would have other digits
        directions = directions_of(nets)
        folds = [(net.task, own) for net in judges if (own := directions_of([net])) is not None]
        if directions is None or len(folds) < len(judges):
            return None
        outputs = np.zeros(targets.shape)
        (task, own), *rest = folds
        ridge, outputs[task.held] = problem.best_ridge(task, problem.space(own))
        with ThreadPoolExecutor(max(threads, 1)) as pool:
            whole = pool.submit(problem.machine, problem.space(directions), ridge)
            others = pool.map(lambda fold: problem.held_out(fold[0], problem.space(fold[1]), ridge), rest)
            for (task, _), found in zip(rest, others, strict=True):
                outputs[task.held] = found
            machine = whole.result()
    known = np.unique(np.concatenate([task.held for task, _ in folds]))
    finish = _finish(outputs[known], rows.take(known), loss, average)
    model = _as_model(machine, directions, nets[0].model, finish)
    task = Task(number, EnsembleKind(NAME, nets[0].task.kind.settings), 0, np.arange(len(rows)), known)
    return EnsembleMember(task, model, History(), np.asarray(finish(outputs[known]), dtype=np.float64))


def affordable_rows(seconds: float, y: Array, n_folds: int, threads: int) -> int:
    """The number of rows for which machines for the targets ``y`` take at most so long; 0 if it is too small for them.

    The time of a machine, which grows with the square of its rows, is measured with some random rows. Those for the
    folds and for all rows are computed by several threads.
    """
    n_outputs = y.shape[1] if y.ndim == 2 else int(y.max()) + 1 if y.dtype.kind in "iu" else 1
    rng = np.random.default_rng(0)
    Z, targets = (rng.normal(size=(TRIAL_ROWS, n)).astype(np.float32) for n in (16, n_outputs))
    Z *= np.float32(1.0 / (RADIUS * np.median(np.linalg.norm(Z[1:] - Z[:-1], axis=1))))
    with threadpool_limits(1, user_api="blas"):
        began = time.monotonic()
        Equations(Z, targets).solved(RIDGES[0])
        cost = time.monotonic() - began
    machines = RIDGE_MACHINES + n_folds / threads  # that of the ridge has the outputs of the first fold
    rows = int(TRIAL_ROWS * (max(seconds, 0.0) / (machines * cost)) ** 0.5)
    return rows if rows >= FEWEST_ROWS else 0


@dataclass(frozen=True)
class _Problem:
    """Inputs of nets, with targets and weights."""

    X: Any
    targets: Array
    weight: Array | None
    most_rows: int
    seed: int

    def space(self, directions: Array) -> Array:
        """The rows in the space of distances."""
        return np.asarray(numbers_of(self.X).astype(np.float32) @ directions)

    def equations(self, Z: Array, train: Array) -> Equations:
        """Those of some rows, or of a sample of them if they are many; rows without weight are ignored."""
        if self.weight is not None:
            train = train[self.weight[train] > 0.0]
        used = _sample(train, self.most_rows, self.seed)
        return Equations(Z[used], self.targets[used], None if self.weight is None else self.weight[used])

    def machine(self, Z: Array, ridge: float) -> Machine:
        """The machine for all rows."""
        return self.equations(Z, np.arange(len(Z))).solved(ridge)

    def held_out(self, task: Task, Z: Array, ridge: float) -> Array:
        """Outputs for the held-out rows of a fold."""
        return self.equations(Z, task.train).solved(ridge)(Z[task.held])

    def best_ridge(self, task: Task, Z: Array) -> tuple[float, Array]:
        """The ridge with the lowest squared error on the held-out rows of a fold, and the outputs for them.

        More rows need a smaller ridge: the search begins with the best one for some of the rows and goes down.
        """
        few = replace(self, most_rows=min(self.most_rows, RIDGE_ROWS)).equations(Z, task.train)
        some = _sample(task.held, RIDGE_ROWS, self.seed)
        place = int(np.argmin([self._error(some, few.solved(ridge)(Z[some])) for ridge in RIDGES]))
        equations, X = self.equations(Z, task.train), Z[task.held]
        outputs = equations.solved(RIDGES[place])(X)
        while place > 0:
            others = equations.solved(RIDGES[place - 1])(X)
            if self._error(task.held, others) >= self._error(task.held, outputs):
                break
            place, outputs = place - 1, others
        return RIDGES[place], outputs

    def _error(self, held: Array, outputs: Array) -> float:
        squares = ((outputs - self.targets[held]) ** 2).sum(axis=1)
        return float(np.average(squares, weights=None if self.weight is None else self.weight[held] + 1e-30))


def _sample(numbers: Array, most: int, seed: int) -> Array:
    """At most so many of some row numbers, in order."""
    if len(numbers) <= most:
        return numbers
    return np.sort(np.random.default_rng(seed).choice(numbers, most, replace=False))


def _targets(y: Array, average: str, n_outputs: int) -> Array | None:
    """Targets as columns of numbers, one for each output; None if the outputs have another meaning."""
    if average == "softmax":
        found = y if y.ndim == 2 else np.eye(n_outputs)[y.astype(np.intp)]
    elif average == "sigmoid" or (average == "identity" and y.dtype.kind == "f"):
        found = y.reshape(len(y), -1)
    else:
        return None
    return np.asarray(found, dtype=np.float32) if found.shape == (len(y), n_outputs) else None


def _finish(outputs: Array, known: RowSet, loss: Loss, average: str) -> Callable[[Any], Any]:
    """From estimates to raw outputs of a net: for probabilities, logits with the best temperature."""
    if average == "identity":
        return lambda f: f
    raw = _log_odds if average == "sigmoid" else _log_probabilities
    z = np.asarray(raw(outputs))

    def loss_of(temperature: float) -> float:
        return float(np.average(loss.rows(z / temperature, known.y), weights=known.weight))

    temperature = best_temperature(loss_of, len(known))
    return lambda f: raw(f) * (1.0 / temperature)


def _log_probabilities(p: Any) -> Any:
    return np.log(np.maximum(p, LEAST_PROBABILITY))


def _log_odds(p: Any) -> Any:
    bounded = np.minimum(np.maximum(p, LEAST_PROBABILITY), 1.0 - LEAST_PROBABILITY)
    return np.log(bounded / (1.0 - bounded))


def _as_model(machine: Machine, directions: Array, like: Model, finish: Callable[[Any], Any]) -> Model:
    """The machine as a net with the inputs of another one."""
    inputs = like.network.inputs
    front: list[Any] = []
    if isinstance(inputs, dict):  # categories are not used: their embeddings are one column of zeros each
        counts = {row.path.rpartition(".")[2]: row.layer for row in like.network.rows if row.layer.takes == "integers"}
        branches: dict[str, Any] = {name: _unused(counts.get(name)) for name in inputs}
        front = [Parallel(**branches), Concat()]
    layers = [Linear(directions.shape[1], bias=False), Radial(len(machine.centres)), Linear(len(machine.mean))]
    model = Model.zeros(build(Sequential(*front, *layers, finish), inputs, dtype=like.network.dtype))
    first, radial, last = (str(len(front) + place) for place in range(3))
    before = list(inputs).index(NUMBERS) if isinstance(inputs, dict) else 0
    model.params[f"{first}.W"][before : before + len(directions)] = directions
    model.params[f"{radial}.c"] = machine.centres.T
    model.params[f"{last}.W"], model.params[f"{last}.b"] = machine.coefficients, machine.mean
    return model


def _unused(layer: Any) -> Layer:
    return Identity() if layer is None else Embedding(layer.n_categories, 1)
