"""Training steps: the arrays that they change, and the programs that change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from madaline.functional.model import Model
from madaline.kernels.loop import Loop, Outcome
from madaline.optim.optimizer import Optimizer
from madaline.train.data import TrainingData
from madaline.train.recipe import Recipe
from madaline.train.sampling import Batches
from madaline.train.step import StepGraph

Rates = Callable[[np.ndarray], np.ndarray]
"Learning rates of steps, counted from 1."


@dataclass
class StepResults:
    """What some steps computed."""

    values: dict[str, np.ndarray]
    "The outputs of each step by name."
    weights: np.ndarray
    "The weight of each step in means over the epoch; 0 for a batch that was left out."
    bad_batch: Batches | None = None
    "The batch before which the steps ended, because its objective is not finite."
    skipped: Batches | None = None
    "The last batch that was left out, because its objective is not finite."
    is_interrupted: bool = False


class Stepper:
    """Runs training steps natively.

    Parameters
    ----------
    model : Model
        Its parameters and state are changed in place.
    recipe : Recipe
        With an optimizer that takes steps.
    plain, probing : (Step, Loop)
        The programs of a step without and with probes.
    seed : int
        Random seed, for dropout and the like.
    threads : int
        Maximum number of threads.
    skips : bool
        Whether to leave out a batch whose objective is not finite; if not, the steps end before it.

    Attributes
    ----------
    arrays : dict of array
        Everything that changes from step to step, by the names of the step's inputs.
    """

    def __init__(
        self,
        model: Model,
        recipe: Recipe,
        plain: tuple[StepGraph, Loop],
        probing: tuple[StepGraph, Loop],
        *,
        seed: int,
        threads: int,
        skips: bool,
    ) -> None:
        self.model, self.plain, self.probing = model, plain, probing
        self.seed, self.threads, self.skips = seed, threads, skips
        self._dtype = model.network.dtype
        self.arrays = self._initial_arrays(recipe)

    def _initial_arrays(self, recipe: Recipe) -> dict[str, np.ndarray]:
        network, optimizer = self.model.network, recipe.optimizer
        assert isinstance(optimizer, Optimizer)
        own = self.model.params.flat[: network.n_trainable]
        # While an average is kept, the model holds the average, so the parameters are kept elsewhere.
        arrays = {"w": own if recipe.average is None else own.copy()}
        for name, value in zip(optimizer.slots, optimizer.state(own), strict=True):
            arrays[f"slot.{name}"] = np.array(value, dtype=network.dtype)
        if network.n_state:
            arrays["state"] = self.model.state.flat
        if recipe.average is not None:
            arrays["average"] = own
        return arrays

    @property
    def summed(self) -> set[str]:
        """Names of what a step computes for means over the epoch."""
        step = self.plain[0]
        return {name for name in step.outputs if name not in step.inputs}

    def stop(self) -> None:
        """End after the current step; may be called from other threads."""
        for _, loop in (self.plain, self.probing):
            loop.stop()

    def run(self, data: TrainingData, batches: Batches, *, t: int, rates: Rates, probing: bool = False) -> StepResults:
        """Run a step for each batch, after ``t`` earlier steps."""
        step, loop = self.probing if probing else self.plain
        emitted = {
            name: np.zeros((len(batches), *step.graph.outputs[position].shape), self._dtype)
            for name, position in step.outputs.items()
            if name not in step.inputs
        }
        weights = _batch_weights(data, batches)
        found = StepResults(emitted, weights)
        done = 0
        while done < len(batches):
            outcome = self._run_loop(step, loop, data, batches, done, emitted, t, rates)
            done += outcome.steps
            if outcome.reason == "guard" and self.skips:
                for value in emitted.values():
                    value[done] = np.nan
                weights[done] = 0.0
                found.skipped = batches.part(done, done + 1)
                done += 1
                continue
            if outcome.reason == "guard":
                found.bad_batch = batches.part(done, done + 1)
            found.is_interrupted = outcome.reason == "interrupted"
            break
        found.values, found.weights = {name: value[:done] for name, value in emitted.items()}, weights[:done]
        return found

    def _run_loop(
        self,
        step: StepGraph,
        loop: Loop,
        data: TrainingData,
        batches: Batches,
        first: int,
        emitted: Mapping[str, np.ndarray],
        t_before: int,
        rates: Rates,
    ) -> Outcome:
        """Run the batches from ``first`` on, as far as the loop gets."""
        network, at, left = self.model.network, step.inputs, batches.part(first, len(batches))
        t = t_before + first + np.arange(1, len(left) + 1)
        key = np.empty((len(t), 2), np.int64)
        key[:, 0], key[:, 1] = self.seed, t
        tables = {"t": t.astype(self._dtype), "lr": rates(t).astype(self._dtype), "key": key}
        inputs = dict(self.arrays)
        if network.n_trainable < network.n_params:
            inputs["frozen"] = self.model.params.flat[network.n_trainable :]
        return loop.run(
            {at[name]: value for name, value in inputs.items()},
            gathered={at[name]: source for name, source in data.gathered().items()},
            tables={at[name]: table for name, table in tables.items()},
            emitted={step.outputs[name]: value[first:] for name, value in emitted.items()},
            order=left.order,
            starts=left.starts,
            threads=self.threads,
        )


def one_after_another(parts: Sequence[StepResults]) -> StepResults:
    """The results of consecutive steps as one."""
    values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
    weights = np.concatenate([part.weights for part in parts])
    last = parts[-1]
    skipped = next((part.skipped for part in reversed(parts) if part.skipped is not None), None)
    return StepResults(values, weights, last.bad_batch, skipped, last.is_interrupted)


def _batch_weights(data: TrainingData, batches: Batches) -> np.ndarray:
    """The weight of each batch in means over the epoch: its number of rows, or the sum of their weights."""
    if data.weight is None or not len(batches):
        return (batches.starts[1:] - batches.starts[:-1]).astype(np.float64)
    return np.add.reduceat(data.weight[batches.order].astype(np.float64), batches.starts[:-1])
