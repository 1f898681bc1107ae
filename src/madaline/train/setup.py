"""From data and options to a session that is ready to run; everything is checked here, before the first step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.losses.classes import ClassLoss
from madaline.optim.lbfgs import LBFGS
from madaline.train.blocks import ArrayBlocks, BlockSource, StreamBlocks, check_stream
from madaline.train.checkpoint import Checkpointer, restore
from madaline.train.chosen import ChosenRows
from madaline.train.data import DataReader, TrainingData, check_categories, read
from madaline.train.evaluation import RowSelection
from madaline.train.events import Callback
from madaline.train.metrics import Metric, as_metrics
from madaline.train.options import FitOptions
from madaline.train.probes import Probes, probed_layers
from madaline.train.programs import Programs
from madaline.train.progress import ProgressBar, shows_progress
from madaline.train.recipe import Recipe
from madaline.train.sampling import Shuffled, split_rows
from madaline.train.session import Session
from madaline.train.stopping import EarlyStoppingState
from madaline.train.stored_rows import StoredBlocks
from madaline.train.stream import Stream
from madaline.train.weights import class_weights, counts_rows


def new_session(
    model: Model,
    programs: Programs,
    X: Any,
    y: Any,
    options: FitOptions,
    *,
    is_fit: bool,
    seed: int,
    threads: int,
    chosen: ChosenRows | None = None,
    read: DataReader = read,
) -> Session:
    """A session for these data.

    Parameters
    ----------
    model : Model
        The model to train.
    programs : Programs
        For its net.
    X, y : arrays, or Stream and None
        The data.
    options : FitOptions
        Options of the call.
    is_fit : bool
        Whether ``options.epochs`` is the whole training, as schedules and checkpoints need; in ``partial_fit`` others
        may follow.
    seed, threads : int
        Random seed; maximum number of threads.
    chosen : ChosenRows, optional
        Rows to train and to validate on; by default all rows, split as the options say.
    read : callable
        Reads and checks data, like :func:`madaline.train.data.read`.
    """
    recipe, metrics = programs.recipe, as_metrics(options.metrics, programs.recipe.loss)
    source, validation, batch_size = _source(model, recipe, X, y, options, seed, chosen, read)
    listeners = options.listeners
    probes, probe_every = options.probes, options.probe_every
    for asking in (listener for listener in listeners if isinstance(listener, Probes)):
        probes, probe_every = probes or asking.layers, probe_every or asking.sample_every
    session = Session(
        model,
        programs,
        options,
        source,
        validation=None if validation is None else validation.with_copies(model.network),
        metrics=metrics,
        watch=_watch(options, metrics, has_validation=validation is not None, is_stream=source.epoch_rows is None),
        callbacks=[*listeners, *_own_callbacks(options, recipe)],
        probes=probed_layers(model.network, probes),
        probe_every=probe_every,
        batch_size=batch_size,
        total_epochs=options.epochs if is_fit else None,
        seed=seed,
        threads=threads,
    )
    if options.resumes and options.resume is not None:
        restore(session, options.resume, epochs=options.epochs)
    return session


def _source(
    model: Model,
    recipe: Recipe,
    X: Any,
    y: Any,
    options: FitOptions,
    seed: int,
    chosen: ChosenRows | None,
    read: DataReader,
) -> tuple[BlockSource, RowSelection | None, int]:
    """The source of mini-batches, the validation set, and the mini-batch size."""
    stream, sample_weight = (X, None) if isinstance(X, Stream) else (None, options.sample_weight)
    if stream is not None:
        check_stream(stream, y, options, recipe)
        X, y, sample_weight = stream.first()
    network, loss, class_weight = model.network, recipe.loss, options.class_weight
    y = X if y is None else y
    if chosen is not None and counts_rows(class_weight):
        targets = read(network, loss, X, y).take(chosen.training)[0]
        class_weight = class_weights(loss, network.out_shape, targets, class_weight)
    data = read(
        network,
        loss,
        X,
        y,
        sample_weight=sample_weight,
        class_weight=class_weight,
        may_weigh_nothing=stream is not None,
    )
    check_categories(model, data.x)
    rows, validation = _split(model, recipe, data, options, seed, chosen, class_weight, read)
    n_rows = len(rows) if stream is None else stream.n_rows
    batch_size = (options.batch_size or len(rows)) * options.accumulate * options.replicas
    if n_rows is not None:
        model.need_rows(n_rows // options.replicas)
        batch_size = min(batch_size, n_rows)
    model.need_rows(batch_size // options.replicas)
    sampler, drop_last = options.row_sampler, options.drop_last
    min_rows = model.network.min_rows * options.replicas
    if stream is None:
        arrays = ArrayBlocks(
            data,
            rows,
            batch_size=batch_size,
            sampler=sampler,
            drop_last=drop_last,
            min_rows=min_rows,
            seed=seed,
            is_chosen=chosen is not None,
        )
        return arrays, validation, batch_size
    kind: Callable[..., StreamBlocks] = StreamBlocks
    if options.replicas > 1 and stream.stored is not None:
        kind = partial(StoredBlocks, replicas=options.replicas, local_steps=options.local_steps)
    blocks = kind(
        stream,
        data,
        model,
        recipe,
        class_weight=class_weight,
        batch_size=batch_size,
        shuffle=isinstance(sampler, Shuffled),
        drop_last=drop_last,
        seed=seed,
        min_rows=min_rows,
    )
    return blocks, validation, batch_size


def _split(
    model: Model,
    recipe: Recipe,
    data: TrainingData,
    options: FitOptions,
    seed: int,
    chosen: ChosenRows | None,
    class_weight: Any,
    read: DataReader,
) -> tuple[np.ndarray, RowSelection | None]:
    """The rows of the training set, and the validation set."""
    given = options.validation
    rows = np.arange(data.n_rows) if chosen is None else chosen.training
    if chosen is not None and data.weight is not None and not data.weight[rows].any():
        raise ConfigError("The weight is 0 for every row: there is nothing to learn from.")
    if chosen is not None and chosen.validation is not None:
        return rows, RowSelection(data, chosen.validation)
    if given is None or given is False:
        return rows, None
    if isinstance(given, (tuple, list)):
        X, y, *weight = given
        other = read(
            model.network,
            recipe.loss,
            X,
            X if y is None else y,
            sample_weight=weight[0] if weight else None,
            class_weight=class_weights(recipe.loss, model.network.out_shape, data.targets, class_weight),
        )
        return rows, RowSelection(other)
    by_class = isinstance(recipe.loss, ClassLoss) and np.ndim(data.targets) == 1
    inner, others = split_rows(len(rows), given, seed=seed, target=data.targets[rows] if by_class else None)
    return rows[inner], RowSelection(data, rows[others])


def _watch(
    options: FitOptions, metrics: Sequence[Metric], *, has_validation: bool, is_stream: bool
) -> EarlyStoppingState | None:
    rule = options.stopping_rule
    if rule is None:
        return None
    return rule.start(
        has_validation=has_validation,
        larger_is_better={"loss": False} | {metric.name: metric.larger_is_better for metric in metrics},
        only_validation=[metric.name for metric in metrics if metric.needs_all and is_stream],
    )


def _own_callbacks(options: FitOptions, recipe: Recipe) -> list[Callback]:
    """The progress bar and the checkpoints."""
    solver = recipe.optimizer if isinstance(recipe.optimizer, LBFGS) else None
    if solver is not None and (options.checkpoint is not None or options.resume is not None):
        raise ConfigError(f"checkpoint and resume cannot be used with {solver!r}, whose state is inside SciPy.")
    found: list[Callback] = []
    if shows_progress(options.progress):
        found.append(ProgressBar(options.epochs if solver is None else solver.max_iter))
    if options.checkpoint is not None:
        found.append(
            Checkpointer(
                options.checkpoint, every_epochs=options.checkpoint_epochs, every_seconds=options.checkpoint_seconds
            )
        )
    return found
