"""Train a net: the one class users need."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.kernels.loop import Loop
from madaline.kernels.threads import get_threads
from madaline.losses.classes import ClassLoss
from madaline.nn.layer import Layer
from madaline.nn.network import as_dtype, build
from madaline.optim.lbfgs import LBFGS
from madaline.optim.regularizers import Regularizer
from madaline.train.arguments import check_checkpoint, check_path, check_run, check_trainer, need_arrays
from madaline.train.checkpoint import Checkpointer, restore
from madaline.train.data import Data, check_categories, input_sources, looked_at, read
from madaline.train.evaluation import Evaluator, Held
from madaline.train.events import as_callbacks
from madaline.train.history import History
from madaline.train.inference import Inference
from madaline.train.memory import needed
from madaline.train.metrics import Metric, as_metrics
from madaline.train.probes import Probes, watched
from madaline.train.progress import ProgressBar, shows_progress
from madaline.train.recipe import Recipe, by_pattern, check_patterns
from madaline.train.run import Reached, Run, Settings
from madaline.train.sampling import OwnSampler, Sampler, as_sampler, n_steps, split_rows
from madaline.train.step import Step, training_step
from madaline.train.stopping import as_early_stopping
from madaline.train.stream import Stream
from madaline.train.stream_run import StreamRun, check_stream
from madaline.train.weights import class_weights


class Trainer:
    """Trains a net: whole epochs run natively, Python is touched at their ends.

    Parameters
    ----------
    net : Layer or Model
        A description, which :meth:`fit` makes a fresh model of; or a model, whose parameters it starts from.
    loss : str, Loss or callable, default "mse"
        As ``"cross_entropy"``, ``md.Huber(delta=2.0)``, a function of prediction and target; a dict of them for a net
        with named outputs, which are added.
    optimizer : str, Optimizer or callable, default "adam"
        As ``md.Adam(1e-3)``, ``"sgd"``, ``md.LBFGS()``, or a rule of your own.
    schedule : str or Schedule, optional
        Factors of the learning rate, as ``"cosine"``.
    regularizer : str, Regularizer, or list or dict of them, optional
        Penalties on weights (not on biases and norm parameters) or activities; a dict says for which layers.
    clip_norm : float, optional
        The largest norm of the gradient; ``clip`` takes other rules.
    clip : str or Clipping, optional
        ``md.optim.ClipValue(0.5)``, ``md.optim.AdaptiveClip()``.
    constraint : str, Constraint, or list or dict of them, optional
        What weights must keep to after each step, as ``md.optim.MaxNorm(3.0)``.
    average : str or Average, optional
        ``md.optim.EMA(0.999)`` or ``md.optim.SWA()``: the model gets the average of the parameters.
    groups : dict, optional
        Factors for some parameters: ``{"0": {"rate": 0.1}, "*.b": {"decay": 0.0}}``.
    freeze : sequence of str
        Paths of layers that are not to be trained.
    dtype : {"float32", "float64"}
        Of parameters and arithmetic.
    threads : int, optional
        At most so many; the result does not depend on it. :func:`madaline.get_threads` unless told.
    seed : int
        Of everything random.

    Attributes
    ----------
    model : Model
        What is trained; there after the first ``fit``.
    history : History
        A row for every epoch.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]); y = np.array([0, 1, 1, 0])
    >>> trainer = md.Trainer(md.mlp(8, 2), loss="cross_entropy", optimizer=md.Adam(0.05))
    >>> history = trainer.fit(X, y, epochs=100, batch_size=4)
    >>> trainer.predict(X).argmax(axis=1)
    array([0, 1, 1, 0])
    """

    def __init__(
        self,
        net: Layer | Model,
        *,
        loss: Any = "mse",
        optimizer: Any = "adam",
        schedule: Any = None,
        regularizer: Any = None,
        clip_norm: float | None = None,
        clip: Any = None,
        constraint: Any = None,
        average: Any = None,
        groups: Any = None,
        freeze: Sequence[str] = (),
        dtype: Any = None,
        threads: int | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(net, (Layer, Model)):
            raise ConfigError(f"net={net!r} must be a layer, as md.mlp(64, 10), or a model.")
        self.net = net.net if isinstance(net, Model) else net
        self._given = net if isinstance(net, Model) else None
        self.recipe = Recipe.of(
            loss=loss,
            optimizer=optimizer,
            schedule=schedule,
            regularizer=regularizer,
            clip=clip,
            clip_norm=clip_norm,
            constraint=constraint,
            average=average,
            groups=groups,
        )
        check_trainer(threads=threads, seed=seed)
        self.freeze = (freeze,) if isinstance(freeze, str) else tuple(freeze)
        self.dtype = as_dtype(dtype or (net.network.dtype if isinstance(net, Model) else "float32"))
        self.threads = threads
        self.seed = seed
        self.model: Model
        self.history = History()
        self._run: Run | None = None
        self._reached: Reached | None = None
        "Where a copy of a trainer goes on from, until it has a run of its own."
        self._steps: dict[Any, tuple[Step, Loop]] = {}
        self._inference: Inference | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Programs are planned again where the trainer arrives, and the data stay where they are.
        reached = self._reached if self._run is None else self._run.reached
        return self.__dict__ | {"_run": None, "_reached": reached, "_steps": {}, "_inference": None}

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        epochs: int = 20,
        batch_size: int | None = 64,
        validation: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        metrics: Any = None,
        early_stopping: Any = None,
        callbacks: Any = None,
        shuffle: bool = True,
        sampler: Any = None,
        drop_last: bool = False,
        accumulate: int = 1,
        probes: bool | Sequence[str] = False,
        probe_every: int | None = None,
        record_steps: bool = False,
        max_seconds: float | None = None,
        on_divergence: str = "raise",
        progress: bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_epochs: int | None = 1,
        checkpoint_seconds: float | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> History:
        """Train from the start, or from a checkpoint.

        Parameters
        ----------
        X : array, sparse matrix, or dict or tuple of them; or Stream
            One row a sample. Arrays stay where they are, whatever their type and layout. Of more than 262,144 rows,
            layers and initializers that learn from the data before training see that many, and of sparse data so many
            as make 16 million numbers. A :class:`Stream` brings its own targets and weights.
        y : array or dict of them
            Targets; ``X`` itself unless told, for autoencoders.
        epochs : int
            How often every row is seen.
        batch_size : int or None
            Rows of a step; None takes all of them. A smaller last batch counts by its rows.
        validation : float or (X, y) or (X, y, sample_weight), optional
            A share of the rows (of each class its share), or other data, on which every epoch is judged.
        sample_weight : array of shape (n,), optional
        class_weight : dict, array or "balanced", optional
            Each row's weight is multiplied by its class's. For several labels a list with the weights of 0 and 1 of
            each, ``[{1: 5.0}, {}]``; for several outputs a dict, ``{"kind": "balanced"}``: their weights multiply, as
            scikit-learn's do.
        metrics : str, Metric, callable, or list of them
            Columns of the history besides the loss: ``["accuracy", "auc"]``.
        early_stopping : bool, int, str or EarlyStopping
            True, epochs of patience, a column, or all of it. Gives the best parameters back.
        callbacks : Callback, callable, or list of them
            A function is called at the end of each epoch with the trainer and the row.
        shuffle : bool
            Whether rows are seen in a new order every epoch.
        sampler : str, Sampler or callable, optional
            Other ways: ``"with_replacement"``, ``"balanced"``.
        drop_last : bool
            Whether a smaller last batch is left out.
        accumulate : int
            Batches whose gradients make one step; the same as a batch that many times as large, which is run in tiles.
        probes : bool or sequence of str
            Layers to watch; see ``history.probes``.
        probe_every : int, optional
            Steps between samples of the probes; unless told, twice an epoch, and more rarely where that would take
            more than some 2 % of the time.
        record_steps : bool
            Whether ``history.steps`` gets a row for every step.
        max_seconds : float, optional
            Stop after the epoch in which this time is over; of a stream, after the step.
        on_divergence : {"raise", "stop", "skip"}
            What to do about a batch whose loss is not finite: an error, an end, or leave it out.
        progress : bool, optional
            Whether to show a bar; in a terminal unless told.
        checkpoint : path, optional
            A file that is written every ``checkpoint_epochs`` epochs, every ``checkpoint_seconds`` seconds, and when
            the run is interrupted. It is always a whole one.
        resume : path, optional
            A checkpoint to go on from, with the same settings and data: the end is bit by bit that of a run that was
            never interrupted. If it is the same path as ``checkpoint`` and is not there yet, the run starts afresh.
        """
        check_run(
            {
                "epochs": epochs,
                "batch_size": batch_size,
                "accumulate": accumulate,
                "validation": validation,
                "probes": probes,
                "probe_every": probe_every,
                "max_seconds": max_seconds,
                "on_divergence": on_divergence,
            }
        )
        if checkpoint is not None:
            check_checkpoint(checkpoint, epochs=checkpoint_epochs, seconds=checkpoint_seconds)
        if resume is not None:
            check_path("resume", resume)
        with self._kept_if_refused():
            self.prepare(X)
            run = self._begin(
                X,
                y,
                epochs=epochs,
                batch_size=batch_size,
                validation=validation,
                sample_weight=sample_weight,
                class_weight=class_weight,
                metrics=metrics,
                early_stopping=early_stopping,
                callbacks=callbacks,
                sampler=as_sampler(sampler, shuffle=shuffle),
                drop_last=drop_last,
                accumulate=accumulate,
                probes=probes,
                probe_every=probe_every,
                record_steps=record_steps,
                max_seconds=max_seconds,
                on_divergence=on_divergence,
                progress=progress,
            )
            if isinstance(self.recipe.optimizer, LBFGS) and (checkpoint is not None or resume is not None):
                solver = self.recipe.optimizer
                raise ConfigError(
                    f"checkpoint and resume cannot be used with {solver!r}, whose memory is inside SciPy."
                )
            if resume is not None and isinstance(X, Stream) and X.is_for_one_epoch:
                raise ConfigError("resume needs a stream that can be gone through again: Stream(lambda: chunks).")
            if checkpoint is not None:
                run.callbacks.append(
                    Checkpointer(checkpoint, every_epochs=checkpoint_epochs, every_seconds=checkpoint_seconds)
                )
            is_new = checkpoint is not None and resume is not None and Path(resume) == Path(checkpoint)
            if resume is not None and not (is_new and not Path(resume).exists()):
                restore(run, resume, epochs=epochs)
        self.history = run.history
        run.go(epochs - run.progress.epoch)
        return self.history

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        epochs: int = 1,
        batch_size: int | None = 64,
        sample_weight: Any = None,
        class_weight: Any = None,
        metrics: Any = None,
        callbacks: Any = None,
        shuffle: bool = True,
        sampler: Any = None,
        drop_last: bool = False,
        on_divergence: str = "raise",
    ) -> History:
        """Train on, from where the last call ended: parameters, optimizer, statistics, step count and history go on.

        The data may be others; parameters as of :meth:`fit`. A schedule must know its own number of steps here, as
        ``md.optim.schedules.Cosine(steps=1000)``.
        """
        check_run({"epochs": epochs, "batch_size": batch_size, "on_divergence": on_divergence})
        before = self._reached if self._run is None else self._run.reached
        if before is None:
            self.prepare(X)
        run = self._begin(
            X,
            y,
            epochs=None,
            batch_size=batch_size,
            sample_weight=sample_weight,
            class_weight=class_weight,
            metrics=metrics,
            callbacks=callbacks,
            sampler=as_sampler(sampler, shuffle=shuffle),
            drop_last=drop_last,
            on_divergence=on_divergence,
        )
        if before is not None:
            run.go_on_from(before)
        self.history = run.history
        run.go(epochs)
        return self.history

    def step(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """One step on these rows as one batch, for loops of your own, as ``partial_fit`` does it; gives its loss."""
        history = self.partial_fit(X, y, batch_size=None, sample_weight=sample_weight, shuffle=False)
        return float(history["loss"][-1])

    def predict(self, X: Any) -> Any:
        """What the net predicts: values or probabilities, as the loss says; ``model(X)`` gives its raw outputs."""
        raw = self.outputs(X)
        loss = self.recipe.loss
        return (
            {name: item.predict(raw[name]) for name, item in loss.items()}
            if isinstance(loss, dict)
            else loss.predict(raw)
        )

    def outputs(self, X: Any) -> Any:
        """The net's raw outputs for many rows, in bounded memory."""
        model = self._trained()
        need_arrays(X)
        sources = input_sources(model.network, X)
        rows = np.arange(sources[0].n_rows)
        return self._forward()(model.params.flat, model.state.flat, sources, rows, threads=self.most_threads)

    def evaluate(self, X: Any, y: Any = None, *, sample_weight: Any = None, metrics: Any = None) -> dict[str, float]:
        """Loss and metrics on data."""
        model = self._trained()
        need_arrays(X)
        reached = self._reached if self._run is None else self._run
        chosen = (
            as_metrics(metrics, self.recipe.loss) if metrics is not None else () if reached is None else reached.metrics
        )
        data = read(model.network, self.recipe.loss, X, X if y is None else y, sample_weight=sample_weight)
        evaluator = Evaluator(self._forward(), self.recipe.loss, chosen, validation=None, threads=self.most_threads)
        return evaluator.scores(model, data, np.arange(data.n_rows), [metric for metric in chosen if metric.needs_all])

    def memory(
        self,
        X: Any,
        y: Any = None,
        *,
        batch_size: int | None = 64,
        sample_weight: Any = None,
        early_stopping: Any = None,
    ) -> dict[str, int]:
        """How many bytes :meth:`fit` takes besides the data, by part, before anything is trained.

        ``program`` holds activations, gradients and the gathered batch; ``best`` is what early stopping keeps;
        ``rows`` is the order of an epoch, and for a stream the rows that are mixed.

        Examples
        --------
        >>> import madaline as md
        >>> X = np.zeros((1000, 20), "float32")
        >>> parts = md.Trainer(md.mlp(64, 1)).memory(X, X[:, :1])
        >>> parts["parameters"], parts["optimizer"], parts["total"] > 16_000
        (5636, 11272, True)
        """
        return needed(
            copy.copy(self), X, y, batch_size=batch_size, sample_weight=sample_weight, early_stopping=early_stopping
        )

    def stop(self) -> None:
        """End the run that is going on, after the step under way; for callbacks and other threads."""
        if self._run is not None:
            self._run.stop()

    def scale_rate(self, factor: float) -> None:
        """Multiply all learning rates by this, whatever it was before; for callbacks, from the next epoch on."""
        if not 0.0 <= factor < np.inf:
            raise ConfigError(f"factor={factor!r} must be a number of at least 0.")
        self.run.progress.rate_scale = float(factor)

    def change_penalties(self, regularizer: Any) -> None:
        """Train on with other penalties, as of ``regularizer``, from the next call on; all else stays as it is."""
        given = by_pattern(Regularizer, regularizer)
        if given != self.recipe.regularizers:
            self.recipe = replace(self.recipe, regularizers=given)
            self._steps.clear()

    def release(self) -> None:
        """Let go of the data of the last run and of the model it was given; ``partial_fit`` still goes on."""
        if self._run is not None:
            self._reached, self._run = self._run.reached, None
        self._given = None

    @property
    def run(self) -> Run:
        """The run that is going on, or the last one."""
        if self._run is None:
            raise ConfigError("There has been no run yet: call fit first.")
        return self._run

    @property
    def epochs_done(self) -> float:
        """Epochs since the start, with the part of the one that is going on."""
        if self._run is None:
            return 0.0
        progress = self._run.progress
        return progress.epoch + progress.step / (self._run.steps_an_epoch or progress.step + 1)

    @contextmanager
    def _kept_if_refused(self) -> Iterator[None]:
        """What was there before is there again if something is refused before the first step."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _trained(self) -> Model:
        if not hasattr(self, "model"):
            raise ConfigError("There is no model yet: call fit first.")
        return self.model

    @property
    def most_threads(self) -> int:
        """The number of threads to use at most."""
        return get_threads() if self.threads is None else self.threads

    def _forward(self) -> Inference:
        if self._inference is None or self._inference.network is not self.model.network:
            self._inference = Inference(self.model.network)
        return self._inference

    def prepare(self, X: Any) -> None:
        """A model to begin with: fresh, or a copy of the one that was given."""
        if isinstance(X, Stream):
            X = X.first()[0]
        if self._given is None:
            self.model = Model.of(self.net, looked_at(X), seed=self.seed, dtype=self.dtype, freeze=self.freeze)
        else:
            network = self._given.network
            specs = network.inputs
            fresh = build(self.net, specs, dtype=self.dtype, freeze=self.freeze)
            self.model = Model(fresh, np.zeros(fresh.n_params, self.dtype), np.zeros(fresh.n_state, self.dtype))
            for ours, theirs in ((self.model.params, self._given.params), (self.model.state, self._given.state)):
                for path in ours:
                    ours[path] = theirs[path]
        check_patterns(self.recipe, self.model.network)
        if not self.model.network.n_trainable:
            raise ConfigError("The net has no parameters to train: every layer is frozen or has none.")
        self._run = self._reached = None
        self._steps = {}

    def _begin(
        self,
        X: Any,
        y: Any,
        *,
        epochs: int | None,
        batch_size: int | None,
        sampler: Sampler,
        validation: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        metrics: Any = None,
        early_stopping: Any = None,
        callbacks: Any = None,
        drop_last: bool = False,
        accumulate: int = 1,
        probes: bool | Sequence[str] = False,
        probe_every: int | None = None,
        record_steps: bool = False,
        max_seconds: float | None = None,
        on_divergence: str = "raise",
        progress: bool | None = False,
    ) -> Run:
        """A run that is ready to go."""
        network, loss = self.model.network, self.recipe.loss
        stream = X if isinstance(X, Stream) else None
        if stream is not None:
            given = {"y": y, "sample_weight": sample_weight}
            check_stream(stream, self.recipe, given, epochs, batch_size, class_weight, validation, sampler)
            X, y, sample_weight = stream.first()
        targets = X if y is None else y
        data = read(
            network,
            loss,
            X,
            targets,
            sample_weight=sample_weight,
            class_weight=class_weight,
            may_weigh_nothing=stream is not None,
        )
        check_categories(self.model, data.x)
        rows, held = self._split(data, validation, class_weight)
        n_rows = len(rows) if stream is None else stream.n_rows
        size = (batch_size or len(rows)) * accumulate
        if n_rows is not None:
            self.model.need_rows(n_rows)
            size = min(size, n_rows)
        self.model.need_rows(size)
        chosen = as_metrics(metrics, loss)
        evaluator = Evaluator(
            self._forward(), loss, chosen, validation=held, threads=self.most_threads, sees_training=stream is None
        )
        stopping = as_early_stopping(early_stopping)
        watch = None
        if stopping is not None:
            watch = stopping.start(
                has_validation=held is not None,
                larger_is_better={"loss": False} | {metric.name: metric.larger_is_better for metric in chosen},
                only_validation=[metric.name for metric in chosen if metric.needs_all and stream is not None],
            )
        listeners = as_callbacks(callbacks)
        for asking in (listener for listener in listeners if isinstance(listener, Probes)):
            probes, probe_every = probes or asking.layers, probe_every or asking.sample_every
        if shows_progress(progress):
            solver = self.recipe.optimizer
            listeners.append(ProgressBar(solver.max_iter if isinstance(solver, LBFGS) else epochs or 1))
        settings = Settings(
            size, sampler, drop_last, self.seed, self.most_threads, record_steps, on_divergence, max_seconds
        )
        if isinstance(sampler, OwnSampler):
            n_rows = sampler.n_rows(len(rows), seed=self.seed)
        per_epoch = None if n_rows is None else n_steps(n_rows, size, drop_last, network.min_rows)
        options: dict[str, Any] = {
            "metrics": chosen,
            "evaluator": evaluator,
            "watch": watch,
            "callbacks": listeners,
            "probes": watched(network, probes),
            "probe_every": probe_every,
            "steps_an_epoch": per_epoch,
            "total_steps": None if epochs is None or per_epoch is None else epochs * per_epoch,
        }
        if stream is None:
            self._run = Run(self, data, rows, settings, **options)
        else:
            self._run = StreamRun(stream, class_weight, self, data, rows, settings, **options)
        return self._run

    def _split(self, data: Data, validation: Any, class_weight: Any) -> tuple[np.ndarray, Held | None]:
        """Rows to train on, and what is held back."""
        if validation is None or validation is False:
            return np.arange(data.n_rows), None
        if isinstance(validation, (tuple, list)):
            X, y, *weight = validation
            other = read(
                self.model.network,
                self.recipe.loss,
                X,
                X if y is None else y,
                sample_weight=weight[0] if weight else None,
                class_weight=class_weights(self.recipe.loss, self.model.network.out_shape, data.targets, class_weight),
            )
            return np.arange(data.n_rows), Held(other, np.arange(other.n_rows))
        by_class = isinstance(self.recipe.loss, ClassLoss) and np.ndim(data.targets) == 1
        rows, held = split_rows(data.n_rows, validation, seed=self.seed, target=data.targets if by_class else None)
        return rows, Held(data, held)

    def loop_of(self, data: Data, metrics: Sequence[Metric], probes: Sequence[str]) -> tuple[Step, Loop]:
        """The program of a step for such data, made once; with it that of the same step without probes."""
        specs = data.target_specs
        key = (str(specs), data.weight is not None, tuple(metrics))
        if (*key, tuple(probes)) not in self._steps:
            step = training_step(
                self.model.network,
                self.recipe,
                specs,
                weighted=data.weight is not None,
                metrics=metrics,
                probes=probes,
            )
            for watched, made in (((), step.unwatched), (tuple(probes), step)):
                if (*key, watched) not in self._steps:
                    loop = Loop(made.graph, carried=made.carried(), guard=made.outputs["objective"])
                    self._steps[*key, watched] = made, loop
        return self._steps[*key, tuple(probes)]
