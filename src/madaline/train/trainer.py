"""Train a net: the one class users need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.kernels.threads import MOST_THREADS, get_threads
from madaline.nn.layer import Layer
from madaline.nn.network import as_dtype, build
from madaline.optim.regularizers import Regularizer
from madaline.train.arguments import check_all, check_whole
from madaline.train.chosen import ChosenRows
from madaline.train.data import initial_rows, input_sources, read
from madaline.train.evaluation import Evaluator, RowSelection
from madaline.train.history import History
from madaline.train.memory import memory_needed
from madaline.train.metrics import as_metrics
from madaline.train.options import FitOptions
from madaline.train.programs import Programs
from madaline.train.recipe import Recipe, by_pattern, check_patterns
from madaline.train.saved_state import ResumePoint
from madaline.train.session import Session
from madaline.train.setup import new_session
from madaline.train.shared import SharedParts
from madaline.train.stream import Stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from madaline.data.data_types import ClassWeights, Inputs, Targets
    from madaline.optim.schedule import ScheduleLike
    from madaline.train.events import CallbackLike
    from madaline.train.metrics import MetricLike
    from madaline.train.options import ValidationLike
    from madaline.train.recipe import (
        AverageLike,
        ClippingLike,
        ConstraintsLike,
        GroupsLike,
        LossesLike,
        RegularizersLike,
        SolverLike,
    )
    from madaline.train.sampling import SamplerLike
    from madaline.train.stopping import EarlyStoppingLike


class Trainer:
    """Trains a net. Whole epochs run natively; Python runs between them.

    Parameters
    ----------
    net : Layer or Model
        A net, of which :meth:`fit` makes a fresh model; or a model, from whose parameters it starts.
    loss : str, Loss or callable, default "mse"
        For example ``"cross_entropy"``, ``md.Huber(delta=2.0)`` or a custom function of prediction and target; for a
        net with named outputs a dict of them, whose losses are added.
    optimizer : str, Optimizer or callable, default "adam"
        For example ``md.Adam(1e-3)``, ``"sgd"``, ``md.LBFGS()`` or a custom update rule.
    schedule : str or Schedule, optional
        Schedule of the learning rate, for example ``"cosine"``.
    regularizer : str, Regularizer, or list or dict of them, optional
        Penalties on weights (not on biases and norm parameters) or activations; a dict selects layers.
    clip_norm : float, optional
        Maximum norm of the gradient.
    clip : str or Clipping, optional
        Other ways to clip the gradient: ``md.optim.ClipValue(0.5)``, ``md.optim.AdaptiveClip()``.
    constraint : str, Constraint, or list or dict of them, optional
        Constraints on weights after each step, for example ``md.optim.MaxNorm(3.0)``.
    average : str or Average, optional
        ``md.optim.EMA(0.999)`` or ``md.optim.SWA()``: the model gets the average of the parameters.
    groups : dict, optional
        Factors for some parameters: ``{"0": {"rate": 0.1}, "*.b": {"decay": 0.0}}``.
    freeze : sequence of str
        Paths of layers that are not trained.
    dtype : {"float32", "float64"}
        Type of parameters and arithmetic.
    threads : int, optional
        Maximum number of threads, by default :func:`madaline.get_threads`. Results do not depend on it.
    seed : int
        Random seed.

    Attributes
    ----------
    model : Model
        The model that is trained; available after the first ``fit``.
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
        loss: LossesLike = "mse",
        optimizer: SolverLike = "adam",
        schedule: ScheduleLike | None = None,
        regularizer: RegularizersLike | None = None,
        clip_norm: float | None = None,
        clip: ClippingLike | None = None,
        constraint: ConstraintsLike | None = None,
        average: AverageLike | None = None,
        groups: GroupsLike | None = None,
        freeze: str | Sequence[str] = (),
        dtype: DTypeLike | None = None,
        threads: int | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(net, (Layer, Model)):
            raise ConfigError(f"net={net!r} must be a layer, for example md.mlp(64, 10), or a model.")
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
        checks = [partial(check_whole, "seed", seed, least=0, most=2**63 - 1)]
        if threads is not None:
            checks.append(partial(check_whole, "threads", threads, most=MOST_THREADS))
        check_all(checks)
        self.freeze = (freeze,) if isinstance(freeze, str) else tuple(freeze)
        self.dtype = as_dtype(dtype or (net.network.dtype if isinstance(net, Model) else "float32"))
        self.threads = threads
        self.seed = seed
        self.model: Model
        self.history = History()
        self._session: Session | None = None
        self._point: ResumePoint | None = None
        "What partial_fit continues from while there is no session: in a copy, and after release."
        self._programs: Programs | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Neither programs, which are compiled for this machine, nor data are part of a copy.
        return self.__dict__ | {"_session": None, "_point": self._resume_point(), "_programs": None}

    def fit(
        self,
        X: Inputs | Stream,
        y: Targets | None = None,
        *,
        epochs: int = 20,
        batch_size: int | None = 64,
        validation: ValidationLike | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: ClassWeights | None = None,
        metrics: MetricLike | Sequence[MetricLike] | None = None,
        early_stopping: EarlyStoppingLike | None = None,
        callbacks: CallbackLike | Sequence[CallbackLike] | None = None,
        shuffle: bool = True,
        sampler: SamplerLike | None = None,
        drop_last: bool = False,
        accumulate: int = 1,
        probes: bool | Sequence[str] = False,
        probe_every: int | None = None,
        doctor: bool = False,
        record_steps: bool = False,
        max_seconds: float | None = None,
        on_divergence: str = "raise",
        progress: bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_epochs: int | None = 1,
        checkpoint_seconds: float | None = None,
        resume: str | os.PathLike[str] | None = None,
        replicas: int = 1,
        local_steps: int = 50,
        outer: str = "mean",
        cluster: str | None = None,
    ) -> History:
        """Train from the start, or resume from a checkpoint.

        Parameters
        ----------
        X : array, sparse matrix, or dict or tuple of them; or Stream
            Inputs, one row for each sample. Arrays of any type and layout are used without a copy. Layers and
            initializers that learn from the data before training use at most 262,144 rows, and at most 16 million
            numbers of sparse data. A :class:`Stream` brings its own targets and weights.
        y : array or dict of them
            Targets; by default ``X`` itself, for autoencoders.
        epochs : int
            Number of epochs.
        batch_size : int or None
            Mini-batch size; None for all rows. A smaller last batch is weighted by its number of rows.
        validation : float or (X, y) or (X, y, sample_weight), optional
            Validation set: a fraction of the rows (stratified by class), or other data.
        sample_weight : array of shape (n,), optional
            Weight of each row.
        class_weight : dict, array or "balanced", optional
            Weight of each class; the weight of a row is multiplied by it. For several labels a list with the weights of
            0 and 1 of each, ``[{1: 5.0}, {}]``; for several outputs a dict, ``{"kind": "balanced"}``, whose weights are
            multiplied, as in scikit-learn.
        metrics : str, Metric, callable, or list of them
            Columns of the history besides the loss: ``["accuracy", "auc"]``.
        early_stopping : bool, int, str or EarlyStopping
            True, the patience in epochs, a column of the history, or a rule. The best parameters are restored.
        callbacks : Callback, callable, or list of them
            A function is called after each epoch with a view of the training (``model``, ``history``, ``progress``,
            ``stop()``, ``scale_rate()``) and the row of the history.
        shuffle : bool
            Whether rows are shuffled before every epoch.
        sampler : str, Sampler or callable, optional
            Other orders of the rows: ``"with_replacement"``, ``"balanced"``.
        drop_last : bool
            Whether a smaller last batch is left out.
        accumulate : int
            Number of mini-batches whose gradients make one step; the same as a larger ``batch_size``.
        probes : bool or sequence of str
            Layers to sample; see ``history.probes``.
        probe_every : int, optional
            Number of steps between samples of the probes; by default two samples per epoch, fewer if they would take
            more than about 2 % of the time.
        doctor : bool
            Whether to keep the initial parameters and some rows, so that :func:`madaline.diagnose` can examine the run.
        record_steps : bool
            Whether ``history.steps`` gets a row for every step.
        max_seconds : float, optional
            Time limit: training stops after the epoch that reaches it, or within the epoch if it takes more than half a
            second (5% of a longer limit) longer; with a stream, after the step.
        on_divergence : {"raise", "stop", "skip"}
            What to do if the loss of a mini-batch is not finite: raise an error, stop, or leave the batch out.
        progress : bool, optional
            Whether to show a progress bar; by default only in a terminal.
        checkpoint : path, optional
            File for checkpoints, always a complete one. It is written every ``checkpoint_epochs`` epochs, every
            ``checkpoint_seconds`` seconds, and when training ends.
        checkpoint_epochs : int or None
            Number of epochs between checkpoints.
        checkpoint_seconds : float or None
            Seconds between checkpoints, even within an epoch.
        resume : path, optional
            Checkpoint to resume from, with the same settings, data and instruction set: the result has the same bits
            as training that was never interrupted. If it is the path of ``checkpoint`` and does not exist yet, training
            starts from the beginning.
        replicas : int
            Number of copies of the net that are trained on rows of their own and averaged after every round
            (data-parallel training). Each takes mini-batches of ``batch_size`` rows, so that a step takes ``replicas``
            times as many rows. The result depends on the number of replicas, and not on where they run.
        local_steps : int
            Number of steps of a round. A round also ends with every epoch.
        outer : {"mean", "nesterov"}
            What happens at the end of a round: the mean of the replicas (local SGD), or a step with Nesterov's momentum
            towards it (DiLoCo).
        cluster : str, optional
            Where the replicas run: ``"auto"`` for the Ray cluster of this computer, the address of another one
            (``"host:port"`` or ``"ray://host:port"``), or ``"local"`` to start one here. By default they take turns in
            this process. Needs ``pip install "madaline[ray]"``.
        """
        return self.run_session(self.new_session(X, y, FitOptions.of_fit(locals())))

    def partial_fit(self, X: Inputs | Stream, y: Targets | None = None, **options: Any) -> History:
        """Continue training where the last call ended: parameters, optimizer, statistics, steps and history.

        The data may be different. Options as in :meth:`fit`, with ``epochs=1`` by default: epochs, batch_size,
        sample_weight, class_weight, metrics, callbacks, shuffle, sampler, drop_last and on_divergence. A schedule must
        know its number of steps here, as ``md.optim.schedules.Cosine(steps=1000)`` does.
        """
        given = FitOptions.of_partial_fit(options)
        point = self._resume_point()
        model = self._new_model(X) if point is None else self.model
        programs = self._programs if point is not None else None
        if programs is None or programs.recipe is not self.recipe:
            programs = Programs(model.network, self.recipe)
        session = new_session(model, programs, X, y, given, is_fit=False, seed=self.seed, threads=self.max_threads)
        if point is not None:
            session.continue_from(point)
        return self._run_session(session, given.epochs)

    def step(self, X: Inputs, y: Targets | None = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Take one step with these rows as one mini-batch, for custom loops; like ``partial_fit``. Returns its loss."""
        history = self.partial_fit(X, y, batch_size=None, sample_weight=sample_weight, shuffle=False)
        return float(history["loss"][-1])

    def predict(self, X: Inputs) -> Any:
        """Predict values or probabilities, depending on the loss; ``model(X)`` gives the raw outputs."""
        raw = self.outputs(X)
        loss = self.recipe.loss
        return (
            {name: item.predict(raw[name]) for name, item in loss.items()}
            if isinstance(loss, dict)
            else loss.predict(raw)
        )

    def outputs(self, X: Inputs) -> Any:
        """The net's raw outputs for many rows, in bounded memory."""
        model = self._trained_model()
        _refuse_stream(X)
        sources = input_sources(model.network, X)
        inference = self._current_programs().inference
        return inference(model.params.flat, model.state.flat, sources, threads=self.max_threads)

    def evaluate(
        self,
        X: Inputs,
        y: Targets | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        metrics: MetricLike | Sequence[MetricLike] | None = None,
    ) -> dict[str, float]:
        """Loss and metrics on other data; by default the metrics of the last training."""
        model, loss = self._trained_model(), self.recipe.loss
        _refuse_stream(X)
        point = self._resume_point()
        chosen = as_metrics(metrics, loss) if metrics is not None else () if point is None else point.metrics
        data = read(model.network, loss, X, X if y is None else y, sample_weight=sample_weight)
        evaluator = Evaluator(self._current_programs().inference, loss, chosen, threads=self.max_threads)
        return evaluator.scores(model, RowSelection(data))

    def memory(
        self,
        X: Inputs | Stream,
        y: Targets | None = None,
        *,
        batch_size: int | None = 64,
        sample_weight: ArrayLike | None = None,
        early_stopping: EarlyStoppingLike | None = None,
    ) -> dict[str, int]:
        """Number of bytes that :meth:`fit` needs in addition to the data, by part; nothing is trained.

        ``program`` holds activations, gradients and the gathered mini-batch; ``best`` is what early stopping keeps;
        ``rows`` is the order of an epoch, and for a stream its shuffle buffer.

        Examples
        --------
        >>> import madaline as md
        >>> X = np.zeros((1000, 20), "float32")
        >>> parts = md.Trainer(md.mlp(64, 1)).memory(X, X[:, :1])
        >>> parts["parameters"], parts["optimizer"], parts["total"] > 16_000
        (5636, 11272, True)
        """
        model = self._new_model(X)
        return memory_needed(
            model,
            Programs(model.network, self.recipe),
            X,
            y,
            batch_size=batch_size,
            sample_weight=sample_weight,
            early_stopping=early_stopping,
            threads=self.max_threads,
        )

    def stop(self) -> None:
        """End the current training after the current step; may be called from other threads."""
        if self._session is not None:
            self._session.stop()

    def scale_rate(self, factor: float) -> None:
        """Multiply all learning rates by this from the next epoch on; it replaces earlier factors."""
        self.run.view.scale_rate(factor)

    def change_penalties(self, regularizer: RegularizersLike | None) -> None:
        """Train with other penalties from the next call on; see ``regularizer``. Everything else stays."""
        given = by_pattern(Regularizer, regularizer)
        if given != self.recipe.regularizers:
            self.recipe = replace(self.recipe, regularizers=given)

    def release(self) -> None:
        """Drop the data of the last training and the model that was given; ``partial_fit`` can still continue."""
        self.forget_session()
        self._given = None

    def new_session(
        self,
        X: Inputs | Stream,
        y: Targets | None,
        options: FitOptions,
        *,
        chosen: ChosenRows | None = None,
        shared: SharedParts | None = None,
        threads: int | None = None,
    ) -> Session:
        """What :meth:`fit` runs: a session that is checked and ready to start. The trainer does not change.

        Parameters
        ----------
        X, y : arrays
            The data.
        options : FitOptions
            The options of ``fit``.
        chosen : ChosenRows, optional
            Rows to train and to validate on; by default all.
        shared : SharedParts, optional
            Data and programs that are shared with other trainers.
        threads : int, optional
            Maximum number of threads at the start; by default that of the trainer.
        """
        model = self._new_model(X, None if chosen is None else chosen.training)
        settings: dict[str, Any] = {"seed": self.seed, "threads": threads or self.max_threads, "chosen": chosen}
        if shared is None:
            return new_session(model, Programs(model.network, self.recipe), X, y, options, is_fit=True, **settings)
        with shared.turn() as turn:
            programs = shared.programs(model.network, self.recipe)
            session = new_session(model, programs, X, y, options, is_fit=True, read=shared.read, **settings)
            if session.evaluates:
                programs.inference.prepare()
            session.when_prepared = turn.keep()
            return session

    def run_session(self, session: Session) -> History:
        """Run a session of :meth:`new_session` to its end; it replaces the last training."""
        return self._run_session(session, session.options.epochs - session.progress.epoch)

    def become(self, copy: Trainer) -> None:
        """Take over what a copy of this trainer has learned elsewhere."""
        self.__dict__.update(copy.__getstate__())

    def forget_session(self) -> None:
        """Drop the data of the last training; ``partial_fit`` can still continue."""
        self._point, self._session = self._resume_point(), None

    @property
    def run(self) -> Session:
        """The current or the last session."""
        if self._session is None:
            raise ConfigError("There has been no training yet: call fit first.")
        return self._session

    @property
    def epochs_done(self) -> float:
        """Completed epochs of the last training, and the completed part of the current one."""
        return 0.0 if self._session is None else self._session.epochs_done

    @property
    def max_threads(self) -> int:
        """Maximum number of threads."""
        return get_threads() if self.threads is None else self.threads

    def _trained_model(self) -> Model:
        if not hasattr(self, "model"):
            raise ConfigError("There is no model yet: call fit first.")
        return self.model

    def _resume_point(self) -> ResumePoint | None:
        return self._point if self._session is None else self._session.resume_point()

    def _current_programs(self) -> Programs:
        if self._programs is None or self._programs.network is not self.model.network:
            self._programs = Programs(self.model.network, self.recipe)
        return self._programs

    def _new_model(self, X: Inputs | Stream, rows: np.ndarray | None = None) -> Model:
        """A model to start with: a fresh one for these rows, by default all, or a copy of the one that was given."""
        if isinstance(X, Stream):
            X = X.first()[0]
        if self._given is None:
            model = Model.of(
                self.net,
                initial_rows(X, rows if rows is None else rows[:1]),
                seed=self.seed,
                dtype=self.dtype,
                freeze=self.freeze,
                data=None if rows is None else lambda: initial_rows(X, rows),
            )
        else:
            network = build(self.net, self._given.network.inputs, dtype=self.dtype, freeze=self.freeze)
            model = Model.from_arrays(network, {**self._given.params, **self._given.state})
        check_patterns(self.recipe, model.network)
        if not model.network.n_trainable:
            raise ConfigError("The net has no parameters to train: every layer is frozen or has none.")
        return model

    def _run_session(self, session: Session, epochs: int) -> History:
        """Replace the current session, now that nothing about the new one was refused, and run it."""
        self._session, self._programs, self._point = session, session.programs, None
        self.model, self.history = session.model, session.history
        return session.run(epochs)


def _refuse_stream(X: Inputs | Stream) -> None:
    if isinstance(X, Stream):
        raise ConfigError("X is a stream; give it chunk by chunk, or arrays.")


Trainer.partial_fit.__signature__ = FitOptions.partial_fit_signature()  # type: ignore[attr-defined]  # as inspect has it
