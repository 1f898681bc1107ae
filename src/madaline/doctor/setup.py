"""A training run that can be changed and repeated: the net, how it is trained, and the arguments of ``fit``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from madaline.doctor.clock import RUN_SECONDS, run_seconds
from madaline.doctor.sample import Problem, Sample
from madaline.errors import MadalineError
from madaline.functional.model import Model
from madaline.nn.layer import Layer
from madaline.optim.optimizer import Optimizer
from madaline.optim.plateau import ReduceOnPlateau
from madaline.train.history import History
from madaline.train.recipe import Recipe
from madaline.train.stopping import EarlyStopping
from madaline.train.trainer import Trainer

KNOWN_METRICS = (None, "loss", "val_loss")
"Columns of the history of any run that is repeated."
FAILED = 30.0
"The loss of a run that failed, as a multiple of the loss of the best constant prediction."


@dataclass(frozen=True)
class Setup:
    """Everything that determines a training run besides the data.

    Attributes
    ----------
    net : Layer
    recipe : Recipe
    start : Model or None
        Initial parameters, if they are not drawn from the initializers of the net.
    epochs, batch_size, shuffle, drop_last, accumulate, early_stopping, class_weight
        As in :meth:`madaline.Trainer.fit`.
    freeze, dtype, seed, threads
        As in :class:`madaline.Trainer`.
    """

    net: Layer
    recipe: Recipe
    start: Model | None = None
    freeze: tuple[str, ...] = ()
    dtype: Any = "float32"
    seed: int = 0
    threads: int = 1
    epochs: int = 20
    batch_size: int | None = 64
    shuffle: bool = True
    drop_last: bool = False
    accumulate: int = 1
    early_stopping: EarlyStopping | None = None
    class_weight: Any = None

    @property
    def learning_rate(self) -> float | None:
        """The learning rate, if the optimizer has one."""
        optimizer = self.recipe.optimizer
        return float(optimizer.learning_rate) if isinstance(optimizer, Optimizer) else None

    @property
    def watches_validation(self) -> bool:
        """Whether the schedule depends on a metric of the validation set, so that each repetition needs one."""
        watching = [part for _, part in self.recipe.schedule.watching()]
        return any(isinstance(part, ReduceOnPlateau) and part.metric not in (None, "loss") for part in watching)

    def with_net(self, net: Layer) -> Setup:
        """The same training of another net, whose initial parameters are drawn."""
        return replace(self, net=net, start=None)

    def with_recipe(self, **parts: Any) -> Setup:
        """The same with other parts of the recipe."""
        return replace(self, recipe=replace(self.recipe, **parts))

    def with_optimizer(self, **values: Any) -> Setup:
        """The same with other parameters of the optimizer."""
        return self.with_recipe(optimizer=replace(self.recipe.optimizer, **values))

    def steps(self, n_rows: int) -> int:
        """Number of steps of a run on this many rows."""
        batch = min((self.batch_size or n_rows) * self.accumulate, n_rows)
        return self.epochs * max(n_rows // batch if self.drop_last else -(-n_rows // batch), 1)

    def limited(self, n_rows: int, max_steps: int) -> Setup:
        """The same with at most this many steps."""
        total = self.steps(n_rows)
        return self if total <= max_steps else replace(self, epochs=max(int(self.epochs * max_steps / total), 1))

    def trainer(self, *, seed: int | None = None) -> Trainer:
        """A trainer for this run."""
        recipe = self.recipe
        schedule = recipe.schedule
        if isinstance(schedule, ReduceOnPlateau) and schedule.metric not in KNOWN_METRICS:
            schedule = replace(schedule, metric="val_loss", mode="min")
        return Trainer(
            self.net if self.start is None else self.start,
            loss=recipe.loss,
            optimizer=recipe.optimizer,
            schedule=schedule,
            regularizer=_by_pattern(recipe.regularizers),
            clip=recipe.clip,
            constraint=_by_pattern(recipe.constraints),
            average=recipe.average,
            groups=dict(recipe.groups) or None,
            freeze=self.freeze,
            dtype=self.dtype,
            threads=self.threads,
            seed=self.seed if seed is None else seed,
        )

    def fit_arguments(self) -> dict[str, Any]:
        """The arguments of ``fit``."""
        names = ("epochs", "batch_size", "shuffle", "drop_last", "accumulate", "early_stopping", "class_weight")
        return {name: getattr(self, name) for name in names}

    def run(self, problem: Problem, *, seed: int | None = None, watched: bool = False) -> RepeatedRun:
        """Train on the sample; ``watched`` adds probes and the held-out loss of each epoch, which takes longer."""
        train, held = problem.train, problem.monitored or problem.held
        needs_held = watched or self.early_stopping is not None or self.watches_validation
        try:
            trainer = self.trainer(seed=seed)
            arguments = self.fit_arguments()
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                history = trainer.fit(
                    train.X,
                    train.y,
                    sample_weight=train.weight,
                    validation=(held.X, held.y) if needs_held else None,
                    on_divergence="stop",
                    progress=False,
                    probes=watched,
                    **arguments,
                )
        except MadalineError as error:
            return RepeatedRun(self, None, History(), RUN_SECONDS, str(error))
        epochs = history.n_rows + (history.stopped == "diverged")
        rows = min((self.batch_size or len(train)) * self.accumulate, len(train))
        steps = int(self.steps(len(train)) * epochs / max(self.epochs, 1))
        seconds = run_seconds(steps, rows, trainer.model.network.n_params, epochs)
        return RepeatedRun(self, trainer.model, history, seconds)


@dataclass(frozen=True)
class RepeatedRun:
    """A run that was repeated or tried."""

    setup: Setup
    model: Model | None
    history: History
    seconds: float
    "Expected time, by shapes."
    failure: str = ""
    _cache: dict[int, np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    @property
    def diverged(self) -> bool:
        """Whether training ended with a loss that is not finite."""
        return self.model is None or self.history.stopped == "diverged"

    def row_losses(self, sample: Sample) -> np.ndarray | None:
        """The loss of each row; None if the run failed."""
        if self.model is None:
            return None
        if id(sample) not in self._cache:
            with np.errstate(all="ignore"):
                self._cache[id(sample)] = row_losses(self.setup.recipe.loss, self.model, sample)
        return self._cache[id(sample)]


def row_losses(loss: Any, model: Model, sample: Sample) -> np.ndarray:
    """The loss of each row in evaluation mode."""
    return np.asarray(loss(model(sample.X), sample.y, reduction="none"), dtype=np.float64)


def python_change(before: Setup, after: Setup) -> str:
    """The arguments of ``Trainer`` and ``fit`` that differ, as code."""
    made: list[str] = []
    if after.net != before.net:
        made.append(f"Trainer({after.net!r})")
    names = {"regularizers": "regularizer", "constraints": "constraint"}
    for part in fields(after.recipe):
        new = getattr(after.recipe, part.name)
        if new != getattr(before.recipe, part.name):
            shown = "None" if new == () or new is None else _short(new)
            made.append(f"Trainer(..., {names.get(part.name, part.name)}={shown})")
    if after.freeze != before.freeze:
        made.append(f"Trainer(..., freeze={after.freeze!r})")
    changed = {name: value for name, value in after.fit_arguments().items() if getattr(before, name) != value}
    if changed:
        made.append(f"fit(..., {', '.join(f'{name}={_short(value)}' for name, value in changed.items())})")
    return "; ".join(made)


def _short(part: Any) -> str:
    """An optimizer or rule as code, without arguments that have their defaults, but with the rate."""
    if not isinstance(part, (Optimizer, EarlyStopping)):
        return repr(part)
    given = [each for each in fields(part) if each.name == "learning_rate" or getattr(part, each.name) != each.default]
    return f"{type(part).__name__}({', '.join(f'{each.name}={getattr(part, each.name)!r}' for each in given)})"


def _by_pattern(given: tuple[tuple[str, Any], ...]) -> Mapping[str, list[Any]] | None:
    found: dict[str, list[Any]] = {}
    for pattern, item in given:
        found.setdefault(pattern, []).append(item)
    return found or None
