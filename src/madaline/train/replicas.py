"""Data-parallel training: replicas of a net take steps on rows of their own and are averaged after every round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.optim.optimizer import Optimizer
from madaline.train.blocks import BlockSource
from madaline.train.data import TrainingData
from madaline.train.metrics import Metric
from madaline.train.options import FitOptions
from madaline.train.programs import Programs
from madaline.train.recipe import Recipe
from madaline.train.sampling import Batches
from madaline.train.sparse import SparseStepper, new_stepper
from madaline.train.stepping import Rates, Stepper, StepResults, one_after_another

SEED_DISTANCE = 0x9E3779B97F4A7C15
"Distance between the random seeds of two replicas, modulo 2**63."
SHARED = ("w", "state", "average")
"Arrays that all replicas have in common at the end of a round."
NESTEROV_RATE, NESTEROV_MOMENTUM = 0.7, 0.9
"Constants of the outer step of DiLoCo (Douillard et al., 2023)."


@dataclass(frozen=True)
class ReplicaSetup:
    """What the replicas of a run have in common."""

    model: Model
    recipe: Recipe
    metrics: tuple[Metric, ...]
    skips: bool

    def with_own_arrays(self) -> ReplicaSetup:
        """The same with a copy of the model."""
        model = self.model
        return replace(self, model=Model(model.network, model.params.flat.copy(), model.state.flat.copy()))


@dataclass(frozen=True)
class ReplicaWork:
    """Some steps of one replica: its arrays, its rows, and the learning rates of the steps after step ``t``."""

    seed: int
    arrays: Mapping[str, np.ndarray]
    batches: Batches
    t: int
    rates: np.ndarray


@dataclass(frozen=True)
class ReplicaResult:
    """The arrays of a replica after its steps, and what the steps computed."""

    arrays: dict[str, np.ndarray]
    steps: StepResults


class ReplicaRunner(Protocol):
    """Where replicas take their steps: in this process, or on a cluster."""

    def run(self, data: TrainingData, works: Sequence[ReplicaWork], *, threads: int) -> list[ReplicaResult] | None:
        """The results in the order of ``works``; None if :meth:`stop` was called before all were there."""

    def stop(self) -> None:
        """End soon; may be called from other threads."""

    def describe(self) -> str:
        """Where they are, for messages."""


class ReplicaWorker:
    """Takes the steps of replicas with programs that are made once."""

    def __init__(self, setup: ReplicaSetup) -> None:
        self._setup, self._programs = setup, Programs(setup.model.network, setup.recipe)

    def run(self, data: TrainingData, work: ReplicaWork, *, threads: int) -> ReplicaResult:
        """Take the steps of one replica."""
        setup = self._setup
        data, batches, first = data.for_batches(work.batches, setup.model, setup.recipe.loss)
        stepper = new_stepper(
            setup.model, self._programs, setup.metrics, data, seed=work.seed, threads=threads, skips=setup.skips
        )
        for name, value in stepper.arrays.items():
            value[...] = work.arrays[name]
        steps = stepper.run(data, batches, t=work.t, rates=lambda t: work.rates[t - work.t - 1])
        steps.bad_batch, steps.skipped = (
            None if batch is None else Batches(batch.order + first, batch.starts)
            for batch in (steps.bad_batch, steps.skipped)
        )
        return ReplicaResult({name: value.copy() for name, value in stepper.arrays.items()}, steps)

    def stop(self) -> None:
        """End after the current step."""
        for loop in self._programs.loops():
            loop.stop()


class LocalReplicas:
    """Replicas that take turns in this process."""

    def __init__(self, setup: ReplicaSetup) -> None:
        self._worker = ReplicaWorker(setup)

    def run(self, data: TrainingData, works: Sequence[ReplicaWork], *, threads: int) -> list[ReplicaResult] | None:
        """Run one after another; a round that was stopped leaves no trace."""
        found = []
        for work in works:
            found.append(self._worker.run(data, work, threads=threads))
            if found[-1].steps.is_interrupted:
                return None
        return found

    def stop(self) -> None:
        """End after the current step."""
        self._worker.stop()

    def describe(self) -> str:
        """Nothing: they are here."""
        return ""


class RoundStepper:
    r"""Takes the steps of a session with several replicas.

    In each step a replica :math:`r` takes its part of the rows of the batch and changes its own parameters :math:`w_r`
    and optimizer state. A round ends after ``local_steps`` steps, and with every epoch: then

    .. math:: \Delta = w - \frac1R \sum_r w_r, \quad v \leftarrow \mu v + \Delta, \quad
              w \leftarrow w - \eta\,(\Delta + \mu v), \quad w_r \leftarrow w.

    With ``outer="mean"``, :math:`\eta = 1` and :math:`\mu = 0` (local SGD); with ``"nesterov"``, :math:`\eta = 0.7` and
    :math:`\mu = 0.9` (DiLoCo). Running statistics of norms and averages of parameters are averaged, too. Sums are
    computed in the order of the replicas, so that results depend on their number, but not on where they run.

    Parameters
    ----------
    example : Stepper
        Takes the steps of a run with one replica. Its model is changed in place at the end of a round.
    runner : ReplicaRunner
        Where replicas take their steps.
    options : FitOptions
        With ``replicas``, ``local_steps`` and ``outer``.
    epoch_steps : int
        Number of steps of each epoch.
    seed, threads : int
        Random seed; maximum number of threads.

    Attributes
    ----------
    arrays : dict of array
        Everything that changes from step to step. Those of replicas have a leading axis.
    """

    def __init__(
        self,
        example: Stepper | SparseStepper,
        runner: ReplicaRunner,
        options: FitOptions,
        *,
        epoch_steps: int,
        seed: int,
        threads: int,
    ) -> None:
        self.threads, self._seed, self._runner = threads, seed, runner
        self._count, self._local_steps, self._epoch_steps = options.replicas, options.local_steps, epoch_steps
        self._example = example
        self._own = list(example.arrays)
        self.arrays: dict[str, np.ndarray] = {name: value for name, value in example.arrays.items() if name in SHARED}
        self.arrays |= {f"replicas.{name}": np.stack([value] * self._count) for name, value in example.arrays.items()}
        self._has_momentum = options.outer == "nesterov"
        if self._has_momentum:
            self.arrays["outer.velocity"] = np.zeros_like(self.arrays["w"])

    @property
    def summed(self) -> set[str]:
        """Names of what a step computes for means over the epoch."""
        return self._example.summed

    def stop(self) -> None:
        """End soon; may be called from other threads."""
        self._runner.stop()

    def describe(self) -> str:
        """Number of replicas, and where they run."""
        where = self._runner.describe()
        return f"{self._count} replicas" + (f" on {where}" if where else "")

    def run(self, data: TrainingData, batches: Batches, *, t: int, rates: Rates, probing: bool = False) -> StepResults:
        """Run a step of every replica for each batch, after ``t`` earlier steps."""
        parts: list[StepResults] = []
        done = 0
        while done < len(batches):
            at = (t + done) % self._epoch_steps
            stop = min(len(batches), done + self._local_steps - at % self._local_steps, done + self._epoch_steps - at)
            found = self._run_steps(data, batches.part(done, stop), t=t + done, rates=rates)
            parts.append(found)
            done += len(found.weights)
            if done < stop:
                break
            if (t + done) % self._epoch_steps % self._local_steps == 0:
                self._end_round()
        return one_after_another(parts) if parts else self._example.run(data, batches, t=t, rates=rates)

    def _run_steps(self, data: TrainingData, batches: Batches, *, t: int, rates: Rates) -> StepResults:
        """Steps between two ends of rounds."""
        works = [
            ReplicaWork(
                seed=(self._seed + number * SEED_DISTANCE) % 2**63,
                arrays={name: self.arrays[f"replicas.{name}"][number] for name in self._own},
                batches=_rows_of(batches, number, self._count),
                t=t,
                rates=rates(t + np.arange(1, len(batches) + 1)),
            )
            for number in range(self._count)
        ]
        results = self._runner.run(data, works, threads=self.threads)
        if results is None:
            nothing = self._example.run(data, batches.part(0, 0), t=t, rates=rates)
            nothing.is_interrupted = True
            return nothing
        for number, result in enumerate(results):
            for name in self._own:
                self.arrays[f"replicas.{name}"][number] = result.arrays[name]
        found = _mean_over_replicas([result.steps for result in results])
        if found.bad_batch is not None:  # the explanation of the error looks at the parameters of this replica
            number = next(i for i, result in enumerate(results) if result.steps.bad_batch is not None)
            self.arrays["w"][...] = self.arrays["replicas.w"][number]
        return found

    def _end_round(self) -> None:
        """Average the replicas, and give all of them the result."""
        mean = _mean(self.arrays["replicas.w"])
        w = self.arrays["w"]
        if self._has_momentum:
            change = w - mean
            velocity = self.arrays["outer.velocity"]
            velocity *= NESTEROV_MOMENTUM
            velocity += change
            w -= NESTEROV_RATE * (change + NESTEROV_MOMENTUM * velocity)
        else:
            w[...] = mean
        self.arrays["replicas.w"][...] = w
        for name in ("state", "average"):
            if name in self.arrays:
                self.arrays[name][...] = _mean(self.arrays[f"replicas.{name}"])
                self.arrays[f"replicas.{name}"][...] = self.arrays[name]


def new_runner(model: Model, recipe: Recipe, metrics: Sequence[Metric], options: FitOptions) -> ReplicaRunner:
    """Where the replicas of a session run."""
    setup = ReplicaSetup(model, recipe, tuple(metrics), options.on_divergence == "skip").with_own_arrays()
    if options.cluster is None:
        return LocalReplicas(setup)
    from madaline.scale.replicas import RayReplicas  # loaded only when needed

    return RayReplicas(setup, options.cluster)


def check_replicas(options: FitOptions, recipe: Recipe, source: BlockSource) -> int:
    """Raise an error for what replicas cannot do; give the number of steps of each epoch."""
    given = f"replicas={options.replicas}"
    if not isinstance(recipe.optimizer, Optimizer):
        raise ConfigError(
            f"{given}: {recipe.optimizer!r} takes all rows at once. Use another optimizer, such as 'adam'."
        )
    if options.probes or options.doctor:
        raise ConfigError(f"{given} cannot be combined with probes or doctor=True. Watch a run with one replica.")
    if source.epoch_steps is None or not source.steps_are_equal:
        raise ConfigError(
            f"{given} needs to know the number of steps of an epoch. Give the stream its n_rows=, and no function as "
            "sampler."
        )
    return source.epoch_steps


def _rows_of(batches: Batches, number: int, count: int) -> Batches:
    """The rows of one replica: of each batch every ``count``-th row, from row ``number`` on."""
    pairs = zip(batches.starts[:-1], batches.starts[1:], strict=True)
    parts = [batches.order[start + number : stop : count] for start, stop in pairs]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(batches.starts.dtype)
    return Batches(np.concatenate(parts) if parts else batches.order[:0], starts)


def _mean(stacked: np.ndarray) -> np.ndarray:
    """The mean over the first axis, summed in its order in double precision."""
    total = np.zeros(stacked.shape[1:], np.float64)
    for value in stacked:
        total += value
    return (total / len(stacked)).astype(stacked.dtype)


def _mean_over_replicas(found: Sequence[StepResults]) -> StepResults:
    """The values of each step as weighted means over the replicas; steps that only some have done are left out."""
    n = min(len(steps.weights) for steps in found)
    weights = np.sum([steps.weights[:n] for steps in found], axis=0)
    values = {}
    for name, first in found[0].values.items():
        shape = (n, *[1] * (first.ndim - 1))
        total = np.zeros((n, *first.shape[1:]), np.float64)
        for steps in found:
            own = steps.weights[:n].reshape(shape)
            total += np.where(own > 0, own * np.where(own > 0, steps.values[name][:n], 0), 0)
        values[name] = (total / np.where(weights > 0, weights, np.nan).reshape(shape)).astype(first.dtype)
    bad = next((steps.bad_batch for steps in found if steps.bad_batch is not None), None)
    skipped = next((steps.skipped for steps in found if steps.skipped is not None), None)
    return StepResults(values, weights, bad, skipped, any(steps.is_interrupted for steps in found))
