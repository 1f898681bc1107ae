"""From rows of a table to a learned model: plans, recipe, trainer."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from madaline.data.encode import TablePlan
from madaline.data.reading.format import TableFormat
from madaline.data.split import Split
from madaline.data.table import Table
from madaline.data.target import ClassTarget, NumberTarget, TargetPlan
from madaline.errors import DataWarning
from madaline.estimators.tabular.baselines import Rows
from madaline.estimators.tabular.encoded import EncodedRows
from madaline.estimators.tabular.ends import StopAfter
from madaline.estimators.tabular.learned import Learned
from madaline.estimators.tabular.recipe import Recipe, recipe_for, table_options
from madaline.train.events import Callback
from madaline.train.history import History
from madaline.train.stopping import EarlyStopping
from madaline.train.trainer import Trainer
from madaline.train.weights import class_weights

CHECKPOINT_SECONDS = 1.0
SAMPLES, EPOCHS_BETWEEN = 120, 20
"How often the net is looked into in a whole run, and epochs between at most: what heat maps over time need."


@dataclass
class Prepared:
    """All that is known before training begins.

    Attributes
    ----------
    table, target : TablePlan, TargetPlan
    targets : tuple of str
        The columns to learn.
    recipe : Recipe
    train, validation, test : Rows
        As training and baselines take them.
    streamed : EncodedRows, optional
        All rows to train on, of a table that is not in memory: ``train`` are some of them then.
    truth : array
        The target of the test rows in its own units, (n, k), or the numbers of their classes.
    warnings : list of str
        About the data.
    """

    table: TablePlan
    target: TargetPlan
    targets: tuple[str, ...]
    recipe: Recipe
    train: Rows
    validation: Rows
    test: Rows
    warnings: list[str]
    streamed: EncodedRows | None = None

    @property
    def n_train(self) -> int:
        """How many rows there are to train on."""
        return len(self.train.y) if self.streamed is None else self.streamed.n_rows

    @property
    def n_classes(self) -> int:
        """How many classes there are; 0 for numbers and labels."""
        return len(self.target.classes) if isinstance(self.target, ClassTarget) else 0

    def in_units(self, rows: Rows) -> Rows:
        """Rows whose numbers are in the target's own units, as scores and baselines take them."""
        if not isinstance(self.target, NumberTarget):
            return rows
        return Rows(rows.X, self.target.decode(rows.y).reshape(len(rows.y), -1))


def target_of(frame: Any, targets: Sequence[str], task: str | None) -> TargetPlan:
    """What is to be learned from the columns ``targets`` of a data frame."""
    return TargetPlan.fit(_values(frame, targets), task=task)


def prepare(
    frame: Any,
    targets: Sequence[str],
    target: TargetPlan,
    split: Split,
    *,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
    told: Mapping[str, Any],
    stream: Callable[[TablePlan, TargetPlan], EncodedRows] | None = None,
) -> Prepared:
    """Look at the training rows, and encode all rows by what they show.

    Parameters
    ----------
    frame : polars data frame
        All rows, the target among the columns; or a sample of them.
    targets : sequence of str
    target : TargetPlan
        Of all rows; numbers are scaled by the training rows alone.
    split : Split
    ignore, categorical, numeric : collections of str
        Columns to leave out, and columns that are what they do not look like.
    told : dict
        Of the recipe's choices, those that were made.
    stream : callable, optional
        Of a sample, what encodes the rows of the whole table that are to train.
    """
    X = Table.of(frame.drop(targets))
    y = _values(frame, targets)
    if isinstance(target, NumberTarget):
        target = _in_training_units(target, y[split.train])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        plan = TablePlan.fit(
            X.take(split.train),
            y[split.train] if len(targets) == 1 else None,
            ignore=ignore,
            categorical=categorical,
            numeric=numeric,
            **table_options(target.task),
        )
    parts = []
    for rows in (split.train, split.validation, split.test):
        encoded = target.encode(y[rows])
        shaped = encoded.reshape(len(rows), -1) if isinstance(target, NumberTarget) else encoded
        parts.append(Rows(plan.encode(X.take(rows)), shaped))
    streamed = None if stream is None else stream(plan, target)
    recipe = recipe_for(plan, target, len(split.train) if streamed is None else streamed.n_rows, **told)
    # The way out is said by who asks, in the words of Python or of the command line.
    said = [str(each.message).partition(" To use it")[0] for each in caught]
    return Prepared(plan, target, tuple(targets), recipe, parts[0], parts[1], parts[2], said, streamed)


def _in_training_units(target: NumberTarget, y: Any) -> NumberTarget:
    r"""Numbers with mean 0 and deviation 1; counts as multiples of their mean, which is what a net gives by 0.

    The loss of counts stays the same but for a factor: with a rate of :math:`s e^z` for a count :math:`y`,
    :math:`s e^z - y \log(s e^z) = s \left( e^z - \frac{y}{s} z \right)` and a constant.
    """
    fitted = TargetPlan.fit(y, task=target.task)
    assert isinstance(fitted, NumberTarget)
    if fitted.task == "count":
        means = tuple(mean if mean > 0.0 else 1.0 for mean in fitted.centres)
        fitted = replace(fitted, centres=(0.0,) * len(means), scales=means)
    return replace(fitted, reason=target.reason)


def train(
    prepared: Prepared,
    *,
    seed: int = 0,
    threads: int | None = None,
    class_weight: str | None = None,
    max_seconds: float | None = None,
    last_epoch: int | None = None,
    last_step: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> tuple[Trainer, History]:
    """Train the recipe's net.

    Parameters
    ----------
    prepared : Prepared
    seed, threads, class_weight, max_seconds
        As the trainer has them.
    last_epoch, last_step : int, optional
        Stop after it, with the schedule of the whole run; steps are counted over all epochs.
    checkpoint : path, optional
        What to write while training goes on; ``resume`` begins with what is there.
    """
    recipe = prepared.recipe
    trainer = Trainer(
        recipe.net,
        loss=recipe.loss,
        optimizer=recipe.optimizer,
        schedule=recipe.schedule,
        average=recipe.average,
        threads=threads,
        seed=seed,
    )
    steps = -(-prepared.n_train // recipe.batch_size)
    X, y = prepared.train.X, prepared.train.y
    stops = [] if last_epoch is None else [StopAfter(last_epoch, last_step)]
    history = trainer.fit(
        X if prepared.streamed is None else prepared.streamed.stream(),
        y if prepared.streamed is None else None,
        epochs=recipe.epochs,
        batch_size=recipe.batch_size,
        validation=(prepared.validation.X, prepared.validation.y),
        class_weight=class_weight if prepared.streamed is None else _counted(prepared, class_weight),
        metrics="accuracy" if prepared.n_classes else None,
        early_stopping=EarlyStopping("val_loss", patience=recipe.patience),
        probes=True,
        probe_every=max(1, min(recipe.epochs * steps // SAMPLES, EPOCHS_BETWEEN * steps)),
        callbacks=[*callbacks, *stops],
        max_seconds=max_seconds,
        progress=progress,
        checkpoint=checkpoint,
        checkpoint_epochs=None,
        checkpoint_seconds=CHECKPOINT_SECONDS,
        resume=checkpoint if resume else None,
    )
    return trainer, history


def _counted(prepared: Prepared, class_weight: Any) -> Any:
    """Weights of classes as numbers: a stream cannot count its rows, but those in memory are a sample of them."""
    n_outputs = prepared.target.n_outputs
    return class_weights(prepared.recipe.loss, (len(prepared.train.y), n_outputs), prepared.train.y, class_weight)


def learned(prepared: Prepared, trainer: Trainer, reading: TableFormat, about: dict[str, Any]) -> Learned:
    """What was learned, with the sizes of its errors on the test rows."""
    found = Learned(
        trainer.model, prepared.table, prepared.target, prepared.targets, prepared.recipe.loss, reading, None, about
    )
    if isinstance(prepared.target, NumberTarget):
        test = prepared.in_units(prepared.test)
        found.learn_errors(test.y, outputs(prepared, trainer, test))
    return found


def outputs(prepared: Prepared, trainer: Trainer, rows: Rows) -> np.ndarray:
    """Predictions as scores take them: probabilities, or numbers in the target's units."""
    found = np.asarray(trainer.predict(rows.X))
    if not isinstance(prepared.target, NumberTarget):
        return found
    return np.asarray(prepared.target.bounded(prepared.target.decode(found))).reshape(len(found), -1)


def _values(frame: Any, targets: Sequence[str]) -> Any:
    """The target columns: a series of one, a data frame of several."""
    return frame[targets[0]] if len(targets) == 1 else frame.select(targets)
