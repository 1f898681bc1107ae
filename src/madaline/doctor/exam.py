"""An examination: everything that is measured about a run, each thing once and only if a sickness asks for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.cached import cached_property
from madaline.doctor.baselines import constant_rows, linear_rows
from madaline.doctor.clock import RUN_SECONDS, Clock, run_seconds
from madaline.doctor.net_edits import chain
from madaline.doctor.reference import reference_setup
from madaline.doctor.sample import Problem, Sample, more_splits
from madaline.doctor.setup import FAILED, RepeatedRun, Setup, row_losses
from madaline.errors import MadalineError
from madaline.functional.gradient import grad
from madaline.functional.model import Model
from madaline.nn.layers.activation import Activation
from madaline.nn.layers.linear import Linear
from madaline.train.history import History, HistoryTable

if TYPE_CHECKING:
    from madaline.data.data_types import Targets
    from madaline.doctor.sickness import Symptom
    from madaline.losses.loss import Loss

MAX_STEPS = 3000
"Maximum number of steps of a run that is repeated."
FEWEST_STEPS = 200
FEW_HELD, FOLDS = 120, 2
VERY_FEW_HELD, MORE_FOLDS = 60, 4
"With fewer held-out rows, remedies are compared on this many further splits."
SHORT = 3.0
"Up to this time limit there are no further splits."
TRIALS = 12
"About this many runs should fit into the limit."


class Exam:
    """Measures a run.

    Parameters
    ----------
    setup : Setup
        How the net is trained.
    problem : Problem
        The rows.
    clock : Clock
        Time limit.
    history, model : History, Model, optional
        Of the run, if there was one.
    """

    def __init__(
        self,
        setup: Setup,
        problem: Problem,
        *,
        clock: Clock,
        history: History | None = None,
        model: Model | None = None,
    ) -> None:
        self.setup, self.problem, self.clock = setup, problem, clock
        self.run_history, self.run_model = history, model
        self.is_complete = history is not None
        "Whether everything is looked for; a checkup leaves out what only a whole training shows."
        self.known: dict[str, Symptom | None] = {}
        "Symptoms that were looked for before, by sickness; None if there is none."
        self.is_on_other_rows = False
        "Whether remedies are compared on other rows than those that the run was validated on."
        self._again: np.ndarray | None = None
        self.caution = 1.0
        "Factor of the gain that a remedy must have."

    def with_problem(self, problem: Problem) -> Exam:
        """The same run, examined on other rows."""
        other = Exam(self.setup, problem, clock=self.clock, history=self.run_history, model=self.run_model)
        other.is_complete, other.caution, other.is_on_other_rows = self.is_complete, self.caution, True
        other.known = self.known
        return other

    @property
    def loss(self) -> Any:
        """The loss."""
        return self.setup.recipe.loss

    @cached_property
    def layers(self) -> list[Any]:
        """The simple layers of the net in order."""
        return chain(self.setup.net)

    @cached_property
    def max_steps(self) -> int:
        """Number of steps that a trial may take."""
        seconds = self._step_seconds()
        return int(np.clip(self.clock.max_seconds / TRIALS / seconds, FEWEST_STEPS, MAX_STEPS))

    def _step_seconds(self) -> float:
        """The expected time of a step, by shapes."""
        n_rows, model = len(self.problem.train), self.start or self.run_model
        batch = min((self.setup.batch_size or n_rows) * self.setup.accumulate, n_rows)
        n_params = 0 if model is None else model.network.n_params
        return run_seconds(1, batch, n_params) - RUN_SECONDS

    def run(self, setup: Setup, problem: Problem | None = None, *, seed: int | None = None) -> RepeatedRun:
        """Train with a setup, which counts as work."""
        return self._counted(setup.run(problem or self.problem, seed=seed))

    def _counted(self, outcome: RepeatedRun) -> RepeatedRun:
        self.clock.spend(outcome.seconds)
        return outcome

    @cached_property
    def is_limited(self) -> bool:
        """Whether runs that are repeated are shorter than the run itself."""
        return self.setup.steps(len(self.problem.train)) > self.max_steps

    @cached_property
    def before(self) -> RepeatedRun:
        """The run, repeated on the sample with probes."""
        limited = self.setup.limited(len(self.problem.train), self.max_steps)
        return self._counted(limited.run(self.problem, watched=True))

    @cached_property
    def history(self) -> History:
        """The history of the run, or of its repetition if the run had no validation set or is still to come.

        Also of its repetition if the validation rows cannot be used.
        """
        run = self.run_history
        return run if run is not None and "val_loss" in run and not self.is_on_other_rows else self.before.history

    @cached_property
    def stopped_early(self) -> bool:
        """Whether early stopping ended the run, by the trainer or by a callback such as that of an estimator."""
        history = self.before.history if self.run_history is None else self.run_history
        by_callback = history.stopped == "callback" and self.setup.early_stopping is not None
        return history.stopped == "early stopping" or by_callback

    @property
    def probes(self) -> HistoryTable:
        """Statistics of layers over the steps of the run, or of its repetition if it was not watched."""
        run = self.run_history
        return run.probes if run is not None and run.probes.n_rows else self.before.history.probes

    @cached_property
    def model(self) -> Model | None:
        """The trained model; that of the repetition if held-out rows may be rows that the run was trained on."""
        is_own = self.run_model is not None and not self.is_on_other_rows
        return self.run_model if is_own else self.before.model

    @cached_property
    def start(self) -> Model | None:
        """The model before the first step."""
        if self.setup.start is not None:
            return self.setup.start
        try:
            return Model.of(self.setup.net, self.problem.train.X, seed=self.setup.seed, dtype=self.setup.dtype)
        except MadalineError:
            return None

    @cached_property
    def n_outputs(self) -> int:
        """Number of outputs of the net."""
        model = self.start or self.model
        return 1 if model is None else math.prod(model.network.out_shape[1:])

    @cached_property
    def constant(self) -> np.ndarray:
        """The loss of each held-out row for the best constant prediction."""
        return constant_rows(self.loss, self.problem.train.y, self.problem.held.y, self.n_outputs)

    @property
    def constant_loss(self) -> float:
        """The mean loss of the best constant prediction on the held-out rows."""
        return float(np.mean(self.constant))

    @cached_property
    def linear(self) -> np.ndarray | None:
        """The loss of each held-out row for a linear model."""
        return linear_rows(self.setup, self.problem, self.n_outputs)

    @cached_property
    def reference(self) -> RepeatedRun:
        """A net of usual size with usual settings, trained on the sample."""
        return self.run(reference_setup(self.setup, self.problem, self.n_outputs))

    @cached_property
    def learnable(self) -> float:
        """The loss of a constant prediction minus the lowest loss that is known to be possible."""
        lowest = [self.before_losses.mean(), self.held_losses(self.reference).mean()]
        lowest += [] if self.linear is None else [self.linear.mean()]
        return max(self.constant_loss - float(min(lowest)), 0.05 * abs(self.constant_loss), 1e-12)

    @property
    def potential(self) -> float:
        """What usual settings gain, as a fraction of what can be learned."""
        now = min(float(self.before_losses.mean()), self.constant_loss)
        return (now - float(self.held_losses(self.reference).mean())) / self.learnable

    def held_losses(self, outcome: RepeatedRun, problem: Problem | None = None) -> np.ndarray:
        """The loss of each held-out row; a failed run counts as much worse than a constant."""
        held = (problem or self.problem).held
        return self._bounded(outcome.row_losses(held), len(held))

    def _bounded(self, found: np.ndarray | None, n_rows: int) -> np.ndarray:
        worst = self.constant_loss + FAILED * abs(self.constant_loss)
        if found is None:
            return np.full(n_rows, worst)
        return np.minimum(np.where(np.isfinite(found), found, worst), worst)

    @cached_property
    def folds(self) -> list[Problem]:
        """Further splits of the rows, if there are few held-out ones; remedies are then compared on all of them.

        None if the run is longer than its repetitions: there it would be compared with less than it learned.
        """
        problem = self.problem
        is_short = self.clock.max_seconds <= SHORT
        is_longer = self.is_limited and self.run_model is not None and problem.validation is problem.held
        if is_short or is_longer or len(problem.held) >= FEW_HELD or len(problem.train) < FEW_HELD // 4:
            return []
        return more_splits(problem, MORE_FOLDS if len(problem.held) < VERY_FEW_HELD else FOLDS)

    def losses(self, setup: Setup, *, seed: int | None = None) -> np.ndarray:
        """The loss of each held-out row, of all splits, after training with a setup."""
        n_rows = len(self.problem.train)
        factor = max(setup.steps(n_rows) / self.setup.steps(n_rows), 1.0)
        limited = setup.limited(n_rows, int(factor * self.max_steps))
        return np.concatenate(
            [self.held_losses(self.run(limited, p, seed=seed), p) for p in (self.problem, *self.folds)]
        )

    @cached_property
    def before_losses(self) -> np.ndarray:
        """The loss of each held-out row for the run: of its repetition, or of its model if that is better."""
        found = self.held_losses(self.before)
        if self.run_model is not None and self.problem.validation is self.problem.held:
            own = self._bounded(self.losses_of(self.run_model, self.problem.held), len(found))
            found = own if own.mean() < found.mean() else found
        return np.concatenate([found, *(self.held_losses(again, p) for p, again in self.before_on_folds)])

    @cached_property
    def before_on_folds(self) -> list[tuple[Problem, RepeatedRun]]:
        """The run, repeated on each of the further splits."""
        limited = self.setup.limited(len(self.problem.train), self.max_steps)
        return [(p, self.run(limited, p)) for p in self.folds]

    def with_folds(self, outputs: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Raw outputs and targets of held-out rows, with those of the further splits, if there are any."""
        pairs = [(outputs, targets)]
        for problem, again in self.before_on_folds:
            if again.model is None:
                return outputs, targets
            with np.errstate(all="ignore"):
                found = np.asarray(again.model(problem.held.X), dtype=np.float64)
            pairs.append((found.reshape(len(found), -1), np.asarray(problem.held.y)))
        return np.concatenate([z for z, _ in pairs]), np.concatenate([y for _, y in pairs])

    def losses_again(self, seed: int) -> np.ndarray:
        """The loss of each held-out row for the run with another seed and other initial weights; made once."""
        if self._again is None:
            self._again = self.losses(replace(self.setup, start=None), seed=seed)
        return self._again

    def losses_of(self, model: Model, sample: Sample) -> np.ndarray:
        """The loss of each row of a sample."""
        with np.errstate(all="ignore"):
            return row_losses(self.loss, model, sample)

    def mean_loss(self, model: Model, sample: Sample) -> float:
        """The mean loss on a sample."""
        return float(np.mean(self.losses_of(model, sample)))

    @cached_property
    def train_losses(self) -> np.ndarray | None:
        """The loss of each training row for the trained model, in evaluation mode."""
        return None if self.model is None else self.losses_of(self.model, self.problem.train)

    @cached_property
    def outputs(self) -> np.ndarray | None:
        """Raw outputs of the trained model for the held-out rows, (rows, outputs)."""
        if self.model is None:
            return None
        with np.errstate(all="ignore"):
            found = np.asarray(self.model(self.problem.held.X), dtype=np.float64)
        return found.reshape(len(found), -1)

    def activations(self, model: Model) -> dict[str, np.ndarray]:
        """Outputs of the hidden activations for the training sample, (rows, units), by path."""
        with np.errstate(all="ignore"):
            found = model.activations(self.problem.train.X)
        kinds = {row.path: row.layer for row in model.network.rows}
        hidden = [path for path, layer in kinds.items() if isinstance(layer, Activation)]
        last = [path for path, layer in kinds.items() if isinstance(layer, Linear)][-1:]
        order = list(kinds)
        return {
            path: np.asarray(found[path], dtype=np.float64).reshape(len(self.problem.train), -1)
            for path in hidden
            if not last or order.index(path) < order.index(last[0])
        }

    @cached_property
    def final_activations(self) -> dict[str, np.ndarray]:
        """Hidden activations of the trained model."""
        return {} if self.model is None else self.activations(self.model)

    @cached_property
    def start_activations(self) -> dict[str, np.ndarray]:
        """Hidden activations before the first step."""
        return {} if self.start is None else self.activations(self.start)

    def functions(self) -> Mapping[str, str]:
        """Names of the activation functions by path."""
        model = self.start or self.model
        rows = () if model is None else model.network.rows
        return {row.path: row.layer.function.name for row in rows if isinstance(row.layer, Activation)}

    @cached_property
    def start_gradients(self) -> dict[str, float]:
        """Norm of the gradient of each weight matrix before the first step."""
        return {} if self.start is None else self.gradients(self.start)

    @cached_property
    def output_gradient(self) -> float:
        """Mean size of the gradient of the loss of a row with respect to the outputs before the first step."""
        if self.start is None:
            return 0.0
        sample = self.problem.train
        with np.errstate(all="ignore"):
            outputs = np.asarray(self.start(sample.X), dtype=np.float64)
            g = np.asarray(grad(lambda z: np.sum(self.loss.rows(z, sample.y)))(outputs), dtype=np.float64)
        return float(np.mean(np.linalg.norm(g.reshape(len(g), -1), axis=1)))

    @cached_property
    def final_gradients(self) -> dict[str, float]:
        """Norm of the gradient of each weight matrix after training."""
        return {} if self.model is None else self.gradients(self.model)

    def gradients(self, model: Model) -> dict[str, float]:
        """Norm of the gradient of each weight matrix on the training sample, by path, in the order of the layers."""
        sample = self.problem.train

        def mean_loss(w: Any) -> Any:
            return np.mean(self.loss.rows(model.with_parameters(w)(sample.X), sample.y))

        with np.errstate(all="ignore"):
            g = np.asarray(grad(mean_loss)(model.params.flat), dtype=np.float64)
        return {
            path: float(np.linalg.norm(entry.of(g)))
            for path, entry in model.network.params.items()
            if len(entry.shape) == 2
        }

    @cached_property
    def columns(self) -> np.ndarray:
        """The input columns of the training sample."""
        return self.problem.train.matrix

    @cached_property
    def classes(self) -> np.ndarray | None:
        """The class of each training row of the sample, if the loss is for classes."""
        return class_of(self.loss, self.problem.train.y, self.n_outputs)

    @cached_property
    def held_classes(self) -> np.ndarray | None:
        """The class of each held-out row."""
        return class_of(self.loss, self.problem.held.y, self.n_outputs)

    @cached_property
    def predicted_classes(self) -> np.ndarray | None:
        """The predicted class of each held-out row."""
        if self.outputs is None or self.held_classes is None:
            return None
        return (self.outputs[:, 0] > 0).astype(int) if self.n_outputs == 1 else self.outputs.argmax(axis=1)


def class_of(loss: Loss, y: Targets, n_outputs: int) -> np.ndarray | None:
    """The class of each row as a number; None if targets are not classes."""
    y = np.asarray(y)
    if loss.out_activation == "softmax":
        return y if y.ndim == 1 else np.asarray(y.argmax(axis=1))
    if loss.out_activation == "sigmoid" and n_outputs == 1:
        return np.asarray(y.reshape(len(y)) > 0.5, dtype=int)
    return None


def is_sure(d: np.ndarray, errors: float) -> bool:
    """Whether the mean of numbers is above 0 by this many standard errors."""
    return bool(d.mean() > errors * d.std() / np.sqrt(len(d)))
