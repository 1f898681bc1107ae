"""One training session: the loop over epochs and everything that changes in it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from madaline.cached import cached_property
from madaline.errors import ConfigError, ShapeError
from madaline.functional.model import Model
from madaline.optim.averaging import SWA
from madaline.optim.lbfgs import LBFGS
from madaline.optim.optimizer import Optimizer
from madaline.train.blocks import ArrayBlocks, Block, BlockSource
from madaline.train.data import TrainingData
from madaline.train.divergence import bad_parameters, divergence, nothing_left
from madaline.train.evaluation import RowSelection
from madaline.train.events import Callback, TrainingView
from madaline.train.full_batch import FullBatch
from madaline.train.history import History
from madaline.train.interrupts import Interrupts
from madaline.train.metrics import Metric
from madaline.train.options import FitOptions
from madaline.train.pace import Pace
from madaline.train.probe_samples import OUTPUTS, ProbeSamples
from madaline.train.probes import interval
from madaline.train.programs import Programs
from madaline.train.recipe import Recipe
from madaline.train.replicas import RoundStepper, check_replicas, new_runner
from madaline.train.sampling import Batches
from madaline.train.saved_state import Progress, ResumePoint
from madaline.train.sparse import SparseStepper, SparseTable, new_stepper
from madaline.train.statistics import refresh_statistics
from madaline.train.stepping import Stepper, StepResults
from madaline.train.stopping import EarlyStoppingState
from madaline.train.sums import added, mean_row, named

SHORT_SECONDS = 0.1
"Time limit for what remains to be done after Ctrl-C."
GRACE_SECONDS, GRACE_FRACTION = 0.5, 0.05
"An epoch may go on for so long, or this fraction of the time limit, after the limit is reached."


class Session:
    """A run of ``fit`` or ``partial_fit``: data, arrays, programs and progress.

    Parameters
    ----------
    model : Model
        The model that is trained, in place.
    programs : Programs
        For its net; they hold the recipe.
    options : FitOptions
        Options of the call.
    source : BlockSource
        Source of mini-batches.
    validation : RowSelection or None
        Rows to validate on.
    metrics : sequence of Metric
        Columns of the history besides the loss.
    watch : EarlyStoppingState or None
        Early stopping.
    callbacks : sequence of Callback
        In the order in which they are called.
    probes : sequence of str
        Paths of the layers that are sampled.
    probe_every : int or None
        Steps between samples.
    batch_size : int
        Rows of a step, with accumulation.
    total_epochs : int or None
        Number of epochs, if the end of the training is known.
    seed, threads : int
        Random seed; maximum number of threads.
    """

    def __init__(
        self,
        model: Model,
        programs: Programs,
        options: FitOptions,
        source: BlockSource,
        *,
        validation: RowSelection | None,
        metrics: Sequence[Metric],
        watch: EarlyStoppingState | None,
        callbacks: Sequence[Callback],
        probes: Sequence[str],
        probe_every: int | None,
        batch_size: int,
        total_epochs: int | None,
        seed: int,
        threads: int,
    ) -> None:
        self.model, self.programs, self.options, self.source = model, programs, options, source
        self.recipe: Recipe = programs.recipe
        self.validation, self.metrics, self.watch = validation, metrics, watch
        self.callbacks, self.probes, self.batch_size = list(callbacks), tuple(probes), batch_size
        self.seed, self.threads = seed, threads
        self.data: TrainingData = source.data
        "The rows of the current block."
        self.total_steps = None if total_epochs is None or not source.epoch_steps else total_epochs * source.epoch_steps
        self.evaluator = programs.evaluator(metrics, threads=threads)
        self.progress, self.history, self.plateau = Progress(), History(), self.recipe.start_plateau()
        self.best: dict[str, np.ndarray] | None = None
        "Parameters and state of the best epoch."
        self.stop_reason = ""
        self.when_prepared: Callable[[], None] = _nothing
        "Called once, when what Python prepares for the first steps is done."
        self.view = TrainingView(self)
        self.stepper: Stepper | SparseStepper | RoundStepper | None = None
        self._solver: FullBatch | None = None
        self._samples: ProbeSamples | None = None
        if options.replicas > 1:
            check_replicas(options, self.recipe, source)
        if isinstance(self.recipe.optimizer, LBFGS):
            self._solver = FullBatch(self)
        else:
            self.stepper, probe_every = self._new_stepper(probe_every)
        self._pace = Pace(
            self.callbacks,
            probe_every=probe_every or 0 if probes else 0,
            has_limit=options.max_seconds is not None,
            round_steps=options.local_steps if options.replicas > 1 else 1,
        )
        self._interrupts = Interrupts(self._stop_steps)
        self._skipped: Batches | None = None
        self._started = 0.0

    def _new_stepper(self, probe_every: int | None) -> tuple[Stepper | SparseStepper | RoundStepper, int | None]:
        """The stepper, and the number of steps between samples of the probes.

        The default of that depends on the step.
        """
        skips, metrics = self.options.on_divergence == "skip", self.evaluator.of_rows
        if SparseTable.of(self.model.network):
            if self.probes:
                raise ConfigError("Probes and the doctor cannot watch a net with sparse=True. Leave sparse out for it.")
            sparse = new_stepper(
                self.model, self.programs, metrics, self.data, seed=self.seed, threads=self.threads, skips=skips
            )
            return (sparse if self.options.replicas == 1 else self._with_replicas(sparse)), probe_every
        # The step with probes first: the one without is made of the same graph.
        probing = self.programs.training(self.data, metrics, self.probes)
        plain = self.programs.training(self.data, metrics, ())
        if self.probes and not probe_every:
            per_epoch = self.source.epoch_steps or 1
            probe_every = interval(plain[0].graph, self.batch_size, per_epoch, self.total_steps)
        layout = probing[0].probes
        self._samples = None if layout is None else ProbeSamples(layout, self.source.epoch_rows)
        stepper = Stepper(
            self.model,
            self.recipe,
            plain,
            probing,
            seed=self.seed,
            threads=self.threads,
            skips=skips,
        )
        return (stepper if self.options.replicas == 1 else self._with_replicas(stepper)), probe_every

    def _with_replicas(self, stepper: Stepper | SparseStepper) -> RoundStepper:
        epoch_steps = check_replicas(self.options, self.recipe, self.source)
        runner = new_runner(self.model, self.recipe, self.evaluator.of_rows, self.options)
        return RoundStepper(
            stepper, runner, self.options, epoch_steps=epoch_steps, seed=self.seed, threads=self.threads
        )

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that changes from step to step; nothing for a solver without steps."""
        return {} if self.stepper is None else self.stepper.arrays

    @property
    def steps_an_epoch(self) -> int | None:
        """Number of steps of an epoch, if known."""
        return self.source.epoch_steps

    @property
    def epochs_done(self) -> float:
        """Completed epochs, and the completed part of the current one."""
        progress = self.progress
        return progress.epoch + progress.step / (self.steps_an_epoch or progress.step + 1)

    @property
    def speed_text(self) -> str:
        """What progress shows of a run with replicas besides its rows per second: where they run, and the round."""
        if not isinstance(self.stepper, RoundStepper) or not self.progress.t:
            return ""
        each, steps = self.source.epoch_steps or 0, self.options.local_steps
        rounds = self.progress.epoch * -(-each // steps) + -(-self.progress.step // steps)
        return f"{self.stepper.describe()}  round {rounds:,}"

    @cached_property
    def digest(self) -> str | None:
        """A checksum of the data, computed once."""
        return self.source.digest()

    def resume_point(self) -> ResumePoint:
        """The state from which a later session continues, without the arrays of the model."""
        flats = self.model.params.flat, self.model.state.flat
        apart = {k: v for k, v in self.arrays.items() if not any(np.may_share_memory(v, flat) for flat in flats)}
        return ResumePoint(apart, self.progress, self.history, self.plateau, self.metrics)

    def continue_from(self, point: ResumePoint) -> None:
        """Continue an earlier session of the same model."""
        for name, value in self.arrays.items():
            if name in point.arrays:
                value[...] = point.arrays[name]
        self.progress, self.history, self.plateau = point.progress, point.history, point.plateau
        # An unfinished epoch belonged to other data.
        self.progress.step, self.progress.sums = 0, {}

    def stop(self, reason: str = "callback") -> None:
        """End after the current step, for this reason; may be called from other threads."""
        self.stop_reason = self.stop_reason or reason
        self._stop_steps()

    def use_threads(self, threads: int) -> None:
        """Use at most this many threads from the next piece of work on; may be called from other threads."""
        self.threads = self.evaluator.threads = threads
        if self.stepper is not None:
            self.stepper.threads = threads

    def _stop_steps(self) -> None:
        if self.stepper is not None:
            self.stepper.stop()

    def run(self, epochs: int) -> History:
        """Train for this many epochs, or until something ends it."""
        self.stop_reason = "early stopping" if self.watch is not None and self.watch.is_over else ""
        try:
            with self._interrupts:
                self._run_epochs(self.progress.epoch + epochs)
            self._check_parameters()
        except KeyboardInterrupt:
            self.stop_reason = "interrupted"
        except BaseException:  # recorded, whatever it is, and raised again
            self.stop_reason = self.stop_reason or "error"
            raise
        finally:
            self.history.stopped = self.stop_reason or "finished"
            self._finish()
        return self.history

    def _run_epochs(self, last: int) -> None:
        self._started = time.monotonic()
        for callback in self.callbacks:
            callback.on_fit_start(self.view)
        if self._solver is not None:
            self._tell_prepared()
            self._solver.go()
            return
        while self.progress.epoch < last and not self.stop_reason:
            together = self._epochs_together(last - self.progress.epoch)
            if together > 1:
                self._run_together(together)
            else:
                self._run_epoch()
            self.tick()
            self.check_time()

    def check_time(self, *, has_grace: bool = False) -> None:
        """End if the time limit is reached; with grace, if it was reached a while ago."""
        limit = self.options.max_seconds
        if limit is None or self.stop_reason:
            return
        grace = max(GRACE_SECONDS, GRACE_FRACTION * limit) if has_grace else 0.0
        if time.monotonic() - self._started > limit + grace:
            self.stop_reason = "time"

    def tick(self) -> None:
        """Call the callbacks that want to know of time passing; between two steps."""
        for callback in self.callbacks:
            if callback.has_ticks:
                callback.on_tick(self.view)

    def _run_epoch(self) -> None:
        """The next epoch, or what is left of it: blocks whose steps were done before are passed over."""
        done = rows = 0
        for block in self.source.blocks(self.progress.epoch):
            self.data = block.data
            self._run_block(block, before=done)
            done += len(block.batches)
            rows += block.data.n_rows
            is_complete = block.is_last and self.progress.step == done
            if self.stop_reason and not (is_complete and self.stop_reason == "callback"):
                return
        if self.progress.step != done or not done:
            raise ShapeError(f"The stream gave {rows} rows, fewer than this epoch had used before the checkpoint.")
        self.end_epoch()

    def _epochs_together(self, left: int) -> int:
        """Number of epochs to run at a time: one, unless nothing looks at them in between."""
        rows, watched = self.source.epoch_rows, self.watch is not None or self.plateau is not None
        if rows is None or watched or self.progress.step or self.evaluates:
            return 1
        return self._pace.epochs_together(left, t=self.progress.t, n_steps=self.steps_an_epoch or 1, n_rows=rows)

    def _run_together(self, count: int) -> None:
        """Several epochs as one run of the native loop."""
        started = time.perf_counter()
        assert isinstance(self.source, ArrayBlocks)
        parts = [self.source.batches(self.progress.epoch + i) for i in range(count)]
        joined = Batches.joined(parts)
        stops = np.cumsum([len(part) for part in parts])
        with self._interrupts.deferred():
            found = self._step(joined)
            values, weights = found.values, found.weights
            passed = time.perf_counter() - started
            self._pace.measure(len(weights), passed)
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
        self._check_batch(found)

    def _run_block(self, block: Block, *, before: int = 0) -> None:
        """The steps that are left of a block, ``before`` of which the epoch had others.

        They are run in pieces if probes or callbacks ask for it.
        """
        started = time.perf_counter()
        progress, batches = self.progress, block.batches
        while (first := progress.step - before) < len(batches) and not self.stop_reason:
            stop, probing = self._pace.next_piece(first, len(batches), t=progress.t, before=before)
            with self._interrupts.deferred():
                found = self._step(batches.part(first, stop), probing=probing)
                values, weights = found.values, found.weights
                sample = {name: values.pop(name) for name in OUTPUTS if name in values}
                self._count(values, weights)
                if sample and len(weights):
                    self._add_probes(sample, n_rows=int(batches.starts[stop] - batches.starts[first]))
                passed = time.perf_counter() - started
                started += passed
                progress.seconds += passed
                self._pace.measure(len(weights), passed)
            self._check_batch(found)
            self._report_steps(values, len(weights))
            if progress.step - before < len(batches):
                self.tick()
                # An epoch of a stream may be long; others are finished if that does not take much longer.
                self.check_time(has_grace=block.is_last)

    def _add_probes(self, sample: Mapping[str, np.ndarray], *, n_rows: int) -> None:
        assert self._samples is not None
        last = {name: value[-1] for name, value in sample.items()}
        self.history.probes.add_columns(self._samples.columns(last, self.arrays["w"], t=self.progress.t, n_rows=n_rows))

    def _step(self, batches: Batches, *, probing: bool = False) -> StepResults:
        assert self.stepper is not None
        self._tell_prepared()
        found = self.stepper.run(self.data, batches, t=self.progress.t, rates=self.rates, probing=probing)
        self._skipped = found.skipped or self._skipped
        if found.is_interrupted:
            self.stop_reason = self.stop_reason or "callback"
        return found

    def _tell_prepared(self) -> None:
        tell, self.when_prepared = self.when_prepared, _nothing
        tell()

    def rates(self, t: np.ndarray) -> np.ndarray:
        """The learning rates of steps, counted from 1."""
        optimizer = self.recipe.optimizer
        if not isinstance(optimizer, Optimizer):
            return np.full(t.shape, np.nan)
        factor = np.asarray(self.recipe.schedule.rate(t, self.total_steps), dtype=np.float64)
        scale = self.progress.rate_scale * (self.plateau.scale if self.plateau is not None else 1.0)
        rate = optimizer.learning_rate * scale * factor
        return rate if rate.shape == t.shape else np.broadcast_to(rate, t.shape)

    def _count(self, values: Mapping[str, np.ndarray], weights: np.ndarray) -> None:
        """Account for steps that were done: progress, sums over the epoch, the table of steps."""
        progress = self.progress
        progress.t += len(weights)
        progress.step += len(weights)
        progress.sums = added(progress.sums, values, weights)
        if self.options.record_steps and len(weights):
            columns = {"step": np.arange(progress.t - len(weights), progress.t) + 1} | named(
                values, has_penalty=self._has_penalty
            )
            columns["learning_rate"] = self.rates(columns["step"])
            self.history.steps.add_columns(columns)

    @property
    def _has_penalty(self) -> bool:
        return bool(self.recipe.regularizers)

    def _report_steps(self, values: Mapping[str, np.ndarray], done: int) -> None:
        if not done:
            return
        found = named(values, has_penalty=self._has_penalty)
        last = {name: float(value[done - 1]) for name, value in found.items()}
        for callback in self.callbacks:
            if callback.every and self.progress.t % callback.every == 0:
                callback.on_steps(self.view, self.progress.t, last)

    @property
    def evaluates(self) -> bool:
        """Whether an epoch ends with an evaluation."""
        return self.validation is not None or bool(self.evaluator.of_all and self.source.epoch_rows is not None)

    def evaluation_row(self) -> dict[str, float]:
        """The columns of an epoch's row of the history that are not means over its steps."""
        row: dict[str, float] = {}
        if isinstance(self.source, ArrayBlocks) and self.metrics:
            training = RowSelection(self.data, self.source.rows)
            if self._solver is not None:
                found = self.evaluator.scores(self.model, training)
                row |= {name: value for name, value in found.items() if name != "loss"}
            elif self.evaluator.of_all:
                row |= self.evaluator.scores(self.model, training, with_means=False)
        if self.validation is not None:
            found = self.evaluator.scores(self.model, self.validation)
            row |= {f"val_{name}": value for name, value in found.items()}
        return row

    def end_epoch(self, rate: float | None = None) -> None:
        """Complete an epoch: means, validation, callbacks; ``rate`` is the learning rate of its last step, if known."""
        progress = self.progress
        if self._skipped is not None and not progress.sums.get("weight"):
            self.stop_reason = "diverged"
            raise nothing_left(self, self._skipped)
        started = time.perf_counter()
        row: dict[str, float] = {"epoch": progress.epoch + 1}
        row |= mean_row(progress.sums, has_penalty=self._has_penalty) | self.evaluation_row()
        row["learning_rate"] = float(self.rates(np.array([max(progress.t, 1)]))[0]) if rate is None else rate
        row["seconds"] = progress.seconds + time.perf_counter() - started
        with self._interrupts.deferred():
            self._record_epoch(row)
        for callback in self.callbacks:
            callback.on_epoch_end(self.view, row)

    def _record_epoch(self, row: dict[str, float]) -> None:
        """Add an epoch to the history, and show it to early stopping and the schedule."""
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
        own = {"params": self.model.params.flat, "state": self.model.state.flat}
        self.best = self.best or {name: np.empty_like(value) for name, value in own.items()}
        for name, value in own.items():
            self.best[name][...] = value

    def _check_batch(self, found: StepResults) -> None:
        """End, or raise an error that explains it, if there was a batch whose objective is not finite."""
        if found.bad_batch is not None:
            self.stop_reason = "diverged"
            if self.options.on_divergence == "raise":
                raise divergence(self, found.bad_batch)

    def _check_parameters(self) -> None:
        """The last step may have made parameters infinite or NaN, and no later loss shows it."""
        gets_best = self.best is not None and self.watch is not None and self.watch.rule.restore_best
        if self.stop_reason != "diverged" and not gets_best and not np.isfinite(self.model.params.flat).all():
            self.stop_reason = "diverged"
            if self.options.on_divergence == "raise":
                raise bad_parameters(self)

    def _finish(self) -> None:
        """Give the model its final parameters and state."""
        for callback in self.callbacks:
            callback.on_last_step(self.view)
        if self.best is not None and self.watch is not None and self.watch.rule.restore_best:
            self.model.params.flat[...] = self.best["params"]
            self.model.state.flat[...] = self.best["state"]
        is_sound = self.stop_reason not in ("diverged", "error")
        if isinstance(self.recipe.average, SWA) and self.model.network.n_state and self.progress.t and is_sound:
            try:
                limit = SHORT_SECONDS if self.stop_reason == "interrupted" else math.inf
                refresh_statistics(self, max_seconds=limit)
            except KeyboardInterrupt:
                self.history.stopped = self.stop_reason = "interrupted"
        for callback in self.callbacks:
            callback.on_fit_end(self.view)


def _nothing() -> None:
    """Do nothing."""
