"""A training run: arrays that change, programs that change them, and the order of it all."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError
from madaline.kernels.loop import Loop, Outcome
from madaline.optim.averaging import SWA
from madaline.optim.lbfgs import LBFGS
from madaline.optim.optimizer import Optimizer
from madaline.optim.plateau import Plateau, ReduceOnPlateau
from madaline.train.data import Data
from madaline.train.divergence import bad_parameters, divergence, nothing_left
from madaline.train.evaluation import Evaluator
from madaline.train.events import Callback
from madaline.train.full_batch import FullBatch
from madaline.train.history import History
from madaline.train.interrupts import Interrupts
from madaline.train.metrics import Metric
from madaline.train.probes import interval, probe_columns
from madaline.train.recipe import Recipe
from madaline.train.sampling import Batches, OwnSampler, Sampler, epoch_batches
from madaline.train.saved_state import Progress, progress_from_plain
from madaline.train.statistics import retake
from madaline.train.step import Step
from madaline.train.stopping import Watch
from madaline.train.sums import added, means

if TYPE_CHECKING:
    from madaline.train.trainer import Trainer

MANY_ROWS, MANY_STEPS = 1 << 18, 1 << 16
"Short epochs that nobody watches are run together up to so many rows and steps, to return to Python less often."
SHORT_SECONDS = 0.1
"For what has to be done after Ctrl-C."
TICK_SECONDS = 0.2
"About how often long epochs are interrupted for a progress bar, a time limit or a checkpoint."


@dataclass
class Settings:
    """How a run goes through the data."""

    batch_size: int
    sampler: Sampler
    drop_last: bool
    seed: int
    threads: int
    record_steps: bool = False
    on_divergence: str = "raise"
    max_seconds: float | None = None


@dataclass
class Reached:
    """What a later run goes on from; it holds neither data nor programs."""

    arrays: dict[str, np.ndarray]
    progress: Progress
    history: History
    plateau: Plateau | None
    metrics: Sequence[Metric]


class Run:
    """Everything a run needs between two epochs."""

    def __init__(
        self,
        trainer: Trainer,
        data: Data,
        rows: np.ndarray,
        settings: Settings,
        *,
        metrics: Sequence[Metric] = (),
        evaluator: Evaluator,
        watch: Watch | None = None,
        callbacks: Sequence[Callback] = (),
        probes: Sequence[str] = (),
        probe_every: int | None = None,
        steps_an_epoch: int | None = None,
        total_steps: int | None = None,
    ) -> None:
        self.trainer, self.data, self.rows = trainer, data, rows
        self.model, self.recipe = trainer.model, trainer.recipe
        self.settings, self.metrics, self.evaluator, self.watch = settings, metrics, evaluator, watch
        self.callbacks, self.probes, self._probe_every = list(callbacks), tuple(probes), probe_every or 0
        self.steps_an_epoch, self.total_steps = steps_an_epoch, total_steps
        self.progress = Progress()
        self.history = History()
        self.plateau = _plateau(self.recipe)
        self.best: dict[str, np.ndarray] | None = None
        self.stop_reason = ""
        self._interrupts = Interrupts(self._stop_loops)
        self._bad_batch: Batches | None = None
        self._skipped: Batches | None = None
        during = tuple(metric for metric in metrics if not metric.needs_all)
        self._full_batch = FullBatch(self) if isinstance(self.recipe.optimizer, LBFGS) else None
        self.arrays: dict[str, np.ndarray] = {}
        if self._full_batch is None:
            self._probing = trainer.loop_of(data, during, self.probes)
            self._plain = trainer.loop_of(data, during, ())
            if self.probes and not probe_every:
                graph = self._plain[0].graph
                self._probe_every = interval(graph, settings.batch_size, steps_an_epoch or 1, total_steps)
            self.arrays = self._fresh_arrays()
        self._dtype = self.model.network.dtype
        self._speed = 0.0
        self._started = 0.0
        self._has_ticks = settings.max_seconds is not None or any(callback.has_ticks for callback in self.callbacks)

    def _fresh_arrays(self) -> dict[str, np.ndarray]:
        """Everything that changes from step to step, by the names of the step's inputs."""
        network, optimizer = self.model.network, self.recipe.optimizer
        assert isinstance(optimizer, Optimizer)
        own = self.model.params.flat[: network.n_trainable]
        # While an average is kept, the model shows the average, so the parameters need a place of their own.
        arrays = {"w": own if self.recipe.average is None else own.copy()}
        for name, value in zip(optimizer.slots, optimizer.state(own), strict=True):
            arrays[f"slot.{name}"] = np.array(value, dtype=network.dtype)
        if network.n_state:
            arrays["state"] = self.model.state.flat
        if self.recipe.average is not None:
            arrays["average"] = own
        return arrays

    @functools.cached_property
    def digest(self) -> str | None:
        """What tells these data from others."""
        return self.data.digest()

    def checked_progress(self, data: dict[str, Any]) -> Progress:
        """Progress from a checkpoint; raises ValueError, TypeError or KeyError if this run cannot have it."""
        step = self._plain[0]
        names = {"weight"} | {name for name in step.outputs if name not in step.inputs}
        return progress_from_plain(
            data,
            epoch_steps=self._steps_of_epoch(data["epoch"]),
            steps_are_equal=not isinstance(self.settings.sampler, OwnSampler),
            names=names,
        )

    def _steps_of_epoch(self, epoch: Any) -> int | None:
        is_own = isinstance(self.settings.sampler, OwnSampler) and type(epoch) is int
        return len(self.batches(epoch)) if is_own else self.steps_an_epoch

    @property
    def reached(self) -> Reached:
        """Where it is now; what lies in the model is there, and not here again."""
        flats = self.model.params.flat, self.model.state.flat
        apart = {k: v for k, v in self.arrays.items() if not any(np.may_share_memory(v, flat) for flat in flats)}
        return Reached(apart, self.progress, self.history, self.plateau, self.metrics)

    def go_on_from(self, before: Reached) -> None:
        """Take over what an earlier run reached."""
        for name, value in self.arrays.items():
            if name in before.arrays:  # what the model holds itself may be left out
                value[...] = before.arrays[name]
        self.progress, self.history, self.plateau = before.progress, before.history, before.plateau
        # An epoch that was not finished belonged to other data.
        self.progress.step, self.progress.sums = 0, {}

    @property
    def takes_all_rows(self) -> bool:
        """Whether a solver takes the loss of all rows, so that there are no steps in which metrics were computed."""
        return self._full_batch is not None

    def stop(self) -> None:
        """End after the step under way."""
        self.stop_reason = self.stop_reason or "callback"
        self._stop_loops()

    def _stop_loops(self) -> None:
        if self._full_batch is None:
            for _, loop in (self._plain, self._probing):
                loop.stop()

    def batches(self, epoch: int) -> Batches:
        """The batches of an epoch."""
        settings = self.settings
        return epoch_batches(
            self.rows,
            self.data.targets,
            batch_size=settings.batch_size,
            sampler=settings.sampler,
            seed=settings.seed,
            epoch=epoch,
            drop_last=settings.drop_last,
            min_rows=self.model.network.min_rows,
        )

    def once_more(self) -> Iterator[Batches]:
        """The batches of an epoch, for those who look at the rows after training; each part goes with :attr:`data`."""
        yield self.batches(self.progress.epoch)

    def go(self, epochs: int) -> None:
        """Run so many epochs, or until something ends it."""
        self.stop_reason = "early stopping" if self.watch is not None and self.watch.is_over else ""
        try:
            with self._interrupts:
                self._go(self.progress.epoch + epochs)
            self._look_at_parameters()
        except KeyboardInterrupt:
            self.stop_reason = "interrupted"
        except BaseException:
            self.stop_reason = self.stop_reason or "error"
            raise
        finally:
            self.history.stopped = self.stop_reason or "finished"
            self._finish()

    def _go(self, last: int) -> None:
        self._started = time.monotonic()
        for callback in self.callbacks:
            callback.on_fit_start(self.trainer)
        if self._full_batch is not None:
            self._full_batch.go()
        while self._full_batch is None and self.progress.epoch < last and not self.stop_reason:
            self._run_next(last - self.progress.epoch)
            self.tick()
            self.look_at_clock()

    def look_at_clock(self) -> None:
        """End if the time is over."""
        limit = self.settings.max_seconds
        if limit is not None and time.monotonic() - self._started > limit and not self.stop_reason:
            self.stop_reason = "time"

    def _run_next(self, left: int) -> None:
        """The next epoch, or several of the ``left`` ones."""
        together = self._together(left)
        parts = [self.batches(self.progress.epoch + i) for i in range(together)]
        if together > 1:
            self._run_together(parts)
            return
        self._run_batches(parts[0])
        if self.progress.step == len(parts[0]) and self.stop_reason in ("", "callback"):
            self.end_epoch()

    def _together(self, left: int) -> int:
        """How many epochs to run at a time: one, unless nobody looks at them in between."""
        watched = (
            self.watch is not None
            or self.plateau is not None
            or self.evaluator.is_needed
            or self.progress.step
            or any(callback.every for callback in self.callbacks)
        )
        epochs = min((callback.epochs_at_once() for callback in self.callbacks), default=math.inf)
        steps: float = MANY_STEPS
        if self.probes:
            steps = min(steps, self._steps_to_probe())
        if self._has_ticks:
            steps = min(steps, self._speed * TICK_SECONDS)
        at_once = min(left, epochs, steps / (self.steps_an_epoch or 1), MANY_ROWS / max(len(self.rows), 1))
        return 1 if watched else max(1, int(at_once))

    def _steps_to_probe(self) -> int:
        """How many steps come before the next one with probes."""
        return -self.progress.t % self._probe_every

    def _run_together(self, parts: list[Batches]) -> None:
        """Several epochs as one run of the loop."""
        started = time.perf_counter()
        joined = Batches.joined(parts)
        stops = np.cumsum([len(part) for part in parts])
        with self._interrupts.held():
            values, weights = self._steps(*self._plain, joined)
            passed = time.perf_counter() - started
            self._speed = len(weights) / max(passed, 1e-9)
            start = 0
            for part, rate in zip(parts, self.rates(self.progress.t + stops).tolist(), strict=True):
                stop = min(start + len(part), len(weights))
                self._count({name: value[start:stop] for name, value in values.items()}, weights[start:stop])
                self.progress.seconds = passed / len(parts)
                if stop - start == len(part):
                    self.end_epoch(rate)
                start = stop
                if start == len(weights) < len(joined):
                    break
        self._look_at_bad_batch()

    def _run_batches(self, batches: Batches, *, before: int = 0) -> None:
        """The steps that are left of batches of an epoch, ``before`` of which came earlier.

        They are run in pieces if probes or callbacks ask for it.
        """
        started = time.perf_counter()
        progress = self.progress
        while (first := progress.step - before) < len(batches) and not self.stop_reason:
            stop, probing = self._next_piece(first, len(batches))
            with self._interrupts.held():
                step, loop = self._probing if probing else self._plain
                values, weights = self._steps(step, loop, batches.part(first, stop))
                watched = values.pop("probes", None)
                self._count(values, weights)
                if watched is not None and len(watched):
                    columns = probe_columns(self.probes, step.probes, watched[-1], progress.t)
                    self.history.probes.add_columns(columns)
                passed = time.perf_counter() - started
                started += passed
                progress.seconds += passed
                self._speed = len(weights) / max(passed, 1e-9)
            self._look_at_bad_batch()
            self._tell_steps(values, len(weights))
            if progress.step - before < len(batches):
                self.tick()

    def _next_piece(self, first: int, n_steps: int) -> tuple[int, bool]:
        """Where to stop next, and whether the piece is one step with probes."""
        stop = n_steps
        for count in [callback.every for callback in self.callbacks if callback.every]:
            stop = min(stop, first + count - self.progress.t % count)
        if self._has_ticks:
            stop = min(stop, first + max(1, int(self._speed * TICK_SECONDS)))
        if self.probes:
            wait = self._steps_to_probe()
            if wait == 0:
                return first + 1, True
            stop = min(stop, first + wait)
        return stop, False

    def _steps(self, step: Step, loop: Loop, batches: Batches) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Run some steps; gives what they put out and the weight of each in means over the epoch."""
        emitted = {
            name: np.zeros((len(batches), *step.graph.outputs[position].shape), self._dtype)
            for name, position in step.outputs.items()
            if name not in step.inputs
        }
        weights = self._batch_weights(batches)
        done = 0
        while done < len(batches):
            outcome = self._run_loop(step, loop, batches, done, emitted)
            done += outcome.steps
            if outcome.reason == "guard" and self.settings.on_divergence == "skip":
                for value in emitted.values():
                    value[done] = np.nan
                weights[done] = 0.0
                self._skipped = batches.part(done, done + 1)
                done += 1
                continue
            if outcome.reason == "guard":
                self._bad_batch = batches.part(done, done + 1)
            elif outcome.reason == "interrupted":
                self.stop_reason = self.stop_reason or "callback"
            break
        return {name: value[:done] for name, value in emitted.items()}, weights[:done]

    def _run_loop(
        self, step: Step, loop: Loop, batches: Batches, first: int, emitted: Mapping[str, np.ndarray]
    ) -> Outcome:
        """The batches from ``first`` on, as far as the loop comes."""
        network, at, left = self.model.network, step.inputs, batches.part(first, len(batches))
        t = self.progress.t + first + np.arange(1, len(left) + 1)
        key = np.empty((len(t), 2), np.int64)
        key[:, 0], key[:, 1] = self.settings.seed, t
        tables = {"t": t.astype(self._dtype), "lr": self.rates(t).astype(self._dtype), "key": key}
        inputs = dict(self.arrays)
        if network.n_trainable < network.n_params:
            inputs["frozen"] = self.model.params.flat[network.n_trainable :]
        return loop.run(
            {at[name]: value for name, value in inputs.items()},
            gathered={at[name]: source for name, source in self.data.gathered().items()},
            tables={at[name]: table for name, table in tables.items()},
            emitted={step.outputs[name]: value[first:] for name, value in emitted.items()},
            order=left.order,
            starts=left.starts,
            threads=self.settings.threads,
        )

    def rates(self, t: np.ndarray) -> np.ndarray:
        """The learning rate of steps counted from 1."""
        optimizer = self.recipe.optimizer
        if not isinstance(optimizer, Optimizer):
            return np.full(t.shape, np.nan)
        factor = np.asarray(self.recipe.schedule.rate(t, self.total_steps), dtype=np.float64)
        scale = self.progress.rate_scale * (self.plateau.scale if self.plateau is not None else 1.0)
        rate = optimizer.learning_rate * scale * factor
        return rate if rate.shape == t.shape else np.broadcast_to(rate, t.shape)

    def _batch_weights(self, batches: Batches) -> np.ndarray:
        """The weight of each batch in means over the epoch: its number of rows, or the sum of their weights."""
        if self.data.weight is None or not len(batches):
            return (batches.starts[1:] - batches.starts[:-1]).astype(np.float64)
        return np.add.reduceat(self.data.weight[batches.order].astype(np.float64), batches.starts[:-1])

    def _count(self, values: Mapping[str, np.ndarray], weights: np.ndarray) -> None:
        """Take steps that were done into account: where the run is, sums over the epoch, the table of steps."""
        progress = self.progress
        progress.t += len(weights)
        progress.step += len(weights)
        progress.sums = added(progress.sums, values, weights)
        if self.settings.record_steps and len(weights):
            columns = {"step": np.arange(progress.t - len(weights), progress.t) + 1} | self._named(values)
            columns["learning_rate"] = self.rates(columns["step"])
            self.history.steps.add_columns(columns)

    def _named(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What steps put out, by the names of the history; with penalties there is an objective besides the loss."""
        named = {"loss": values.get("loss", values["objective"])}
        named |= {name.removeprefix("metric."): value for name, value in values.items()}
        if not self.recipe.regularizers:
            del named["objective"]
        return named

    def _tell_steps(self, values: Mapping[str, np.ndarray], done: int) -> None:
        if not done:
            return
        last = {name: float(value[done - 1]) for name, value in self._named(values).items()}
        for callback in self.callbacks:
            if callback.every and self.progress.t % callback.every == 0:
                callback.on_steps(self.trainer, self.progress.t, last)

    def end_epoch(self, rate: float | None = None) -> None:
        """Means over the epoch, validation, and everybody who listens; ``rate`` is that of its last step, if known."""
        progress = self.progress
        if self._skipped is not None and not progress.sums.get("weight"):
            self.stop_reason = "diverged"
            raise nothing_left(self, self._skipped)
        started = time.perf_counter()
        found = means(progress.sums)
        objective = found.pop("objective", math.nan)
        row: dict[str, float] = {"epoch": progress.epoch + 1, "loss": found.pop("loss", objective)}
        if row["loss"] != objective and self.recipe.regularizers:
            row["penalty"] = objective - row["loss"]
        row |= {name.removeprefix("metric."): value for name, value in found.items()}
        row |= self.evaluator.epoch_row(self)
        row["learning_rate"] = float(self.rates(np.array([max(progress.t, 1)]))[0]) if rate is None else rate
        row["seconds"] = progress.seconds + time.perf_counter() - started
        with self._interrupts.held():
            self._close_epoch(row)
        for callback in self.callbacks:
            callback.on_epoch_end(self.trainer, row)

    def _close_epoch(self, row: dict[str, float]) -> None:
        """The epoch is in the history, and those who watch its row have seen it."""
        progress = self.progress
        progress.epoch += 1
        progress.step, progress.sums, progress.seconds = 0, {}, 0.0
        self.history.add(**row)
        if self.watch is not None:
            if self.watch.observe(progress.epoch, row):
                self.history.best_epoch = progress.epoch
                if self.watch.rule.restore_best:
                    self._keep_best()
            if self.watch.is_over:
                self.stop_reason = self.stop_reason or "early stopping"
        if self.plateau is not None:
            self.plateau.observe_epoch(row, t=progress.t)

    def _keep_best(self) -> None:
        """In the place of the best before."""
        own = {"params": self.model.params.flat, "state": self.model.state.flat}
        self.best = self.best or {name: np.empty_like(value) for name, value in own.items()}
        for name, value in own.items():
            self.best[name][...] = value

    def tick(self) -> None:
        """Between two steps: those who want to hear of time passing."""
        for callback in self.callbacks:
            if callback.has_ticks:
                callback.on_tick(self.trainer)

    def _look_at_bad_batch(self) -> None:
        """A batch whose objective is not finite: an end, or an error that explains it."""
        if self._bad_batch is None:
            return
        batch, self._bad_batch = self._bad_batch, None
        self.stop_reason = "diverged"
        if self.settings.on_divergence == "raise":
            raise divergence(self, batch)

    def _look_at_parameters(self) -> None:
        """The last step may have left numbers that no loss was computed with."""
        gets_best = self.best is not None and self.watch is not None and self.watch.rule.restore_best
        if self.stop_reason != "diverged" and not gets_best and not np.isfinite(self.model.params.flat).all():
            self.stop_reason = "diverged"
            if self.settings.on_divergence == "raise":
                raise bad_parameters(self)

    def _finish(self) -> None:
        """The model as it should be after the run."""
        for callback in self.callbacks:
            callback.on_last_step(self.trainer)
        if self.best is not None and self.watch is not None and self.watch.rule.restore_best:
            self.model.params.flat[...] = self.best["params"]
            self.model.state.flat[...] = self.best["state"]
        is_sound = self.stop_reason not in ("diverged", "error")
        if isinstance(self.recipe.average, SWA) and self.model.network.n_state and self.progress.t and is_sound:
            try:
                retake(self, most_seconds=SHORT_SECONDS if self.stop_reason == "interrupted" else math.inf)
            except KeyboardInterrupt:
                self.history.stopped = self.stop_reason = "interrupted"
        for callback in self.callbacks:
            callback.on_fit_end(self.trainer)


def _plateau(recipe: Recipe) -> Plateau | None:
    found = [(wait, part) for wait, part in recipe.schedule.watching() if isinstance(part, ReduceOnPlateau)]
    if len(found) > 1:
        raise ConfigError(f"schedule holds {len(found)} that watch the training. Keep one of them.")
    return found[0][1].start(wait=found[0][0]) if found else None
