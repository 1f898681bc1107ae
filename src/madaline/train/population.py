"""Several nets trained side by side as one run: folds, bootstrap samples, seeds, settings of a search."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError, DivergenceError, MadalineWarning
from madaline.functional.model import Model
from madaline.graph.tree import flatten
from madaline.kernels.threads import MOST_THREADS, get_threads
from madaline.train.arguments import check_whole
from madaline.train.chosen import ChosenRows, as_rows
from madaline.train.data import as_csr, input_sources, is_sparse
from madaline.train.ensemble import average_prediction, joined_model, shared_average
from madaline.train.history import History, HistoryTable
from madaline.train.inference import BatchedForward
from madaline.train.member import Member, resuming, with_checkpoints
from madaline.train.member import member_options as options_of_members
from madaline.train.progress import PopulationBar, shows_progress
from madaline.train.shared import SharedParts
from madaline.train.side_by_side import SideBySide
from madaline.train.stream import Stream
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.data.data_types import Inputs, Targets
    from madaline.scale.members import ClusterMembers

ENDED = ("finished", "early stopping", "callback")
"Reasons to stop after which a member is complete."


class Population:
    """Trains several nets side by side: the members of an ensemble, the folds of a table, the settings of a search.

    Each thread takes whole nets, so that nothing is shared between threads in the middle of training; this is the
    fastest way to use several cores for small nets. Every member has its own rows, order of rows, random seed,
    hyperparameters, history and stopping. Its result has the same bits as if its trainer had been fitted alone, for any
    number of threads.

    Parameters
    ----------
    trainers : sequence of Trainer
        One trainer for each member. They may have different nets and settings. Members with equal nets and settings
        share their compiled programs, and all members share the data.
    threads : int, optional
        Maximum number of threads, by default :func:`madaline.get_threads`. With more threads than members, a member may
        use several. Results do not depend on it.

    Attributes
    ----------
    trainers : list of Trainer
        The members. After :meth:`fit`, each has its ``model`` and ``history``.
    histories : list of History
        The history of each member.
    errors : dict
        For members that diverged, by number: the error that explains it.
    stopped : str
        Why the run ended: ``"finished"``, ``"interrupted"``, ``"time"``, ``"callback"``, or ``"error"``.

    Examples
    --------
    Five folds:

    >>> import numpy as np, madaline as md
    >>> from sklearn.model_selection import KFold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)); y = X[:, 0] * X[:, 1]
    >>> rows, validation_rows = zip(*KFold(5, shuffle=True, random_state=0).split(X))
    >>> population = md.Population([md.Trainer(md.mlp(16, 1), seed=seed) for seed in range(5)])
    >>> histories = population.fit(X, y, rows=rows, validation_rows=validation_rows, epochs=50, early_stopping=5)
    >>> len(histories), population.predict(X).shape
    (5, (200, 1))
    """

    def __init__(self, trainers: Sequence[Trainer], *, threads: int | None = None) -> None:
        self.trainers = list(trainers)
        if not self.trainers:
            raise ConfigError("trainers is empty; a population needs at least one trainer.")
        for number, trainer in enumerate(self.trainers):
            if not isinstance(trainer, Trainer):
                raise ConfigError(f"trainers[{number}]={trainer!r} must be a Trainer.")
        if len({id(trainer) for trainer in self.trainers}) < len(self.trainers):
            raise ConfigError("trainers has the same trainer twice. Make one trainer for each member.")
        if threads is not None:
            check_whole("threads", threads, most=MOST_THREADS)
        self.threads = threads
        self.histories: list[History] = []
        self.errors: dict[int, DivergenceError] = {}
        self.stopped = ""
        self._begun: list[int] = []
        self._run: SideBySide | ClusterMembers | None = None
        self._inference: tuple[Model, BatchedForward] | None = None

    def __len__(self) -> int:
        return len(self.trainers)

    def __repr__(self) -> str:
        return f"Population({len(self)} members, {self.stopped or 'not trained'})"

    def __getstate__(self) -> dict[str, Any]:
        # Programs are compiled for this machine, so they are not part of a copy.
        return self.__dict__ | {"_run": None, "_inference": None}

    def fit(
        self,
        X: Inputs,
        y: Targets | None = None,
        *,
        rows: Iterable[ArrayLike | None] | None = None,
        validation_rows: Iterable[ArrayLike | None] | None = None,
        member_options: Sequence[Mapping[str, Any]] | None = None,
        max_seconds: float | None = None,
        on_divergence: str = "stop",
        progress: bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_epochs: int | None = None,
        checkpoint_seconds: float | None = 10.0,
        resume: str | os.PathLike[str] | None = None,
        cluster: str | None = None,
        **options: Any,
    ) -> list[History]:
        """Train all members from the start, or resume from checkpoints. Returns the history of each.

        Ctrl-C ends the run soon, and ``fit`` returns: members that have ended are complete, and those that were running
        have the parameters of their last completed step.

        Parameters
        ----------
        X, y : arrays
            The data of all members, as for :meth:`Trainer.fit`. They are not copied.
        rows : sequence, optional
            For each member the row numbers of its training set, a mask, or None for all rows. A row may occur several
            times, as in a bootstrap sample. Layers and initializers that learn from data see only these rows.
        validation_rows : sequence, optional
            For each member the rows of its validation set, or None.
        member_options : sequence of dict, optional
            For each member the options in which it differs from the others, for example ``{"batch_size": 32}``.
        max_seconds : float, optional
            Time limit for the whole run: no member is started after it, and those that run end after their current
            epoch, or within a long one.
        on_divergence : {"stop", "raise", "skip"}
            What to do if the loss of a mini-batch is not finite. ``"stop"``: the member ends, the others continue, and
            ``errors`` has the explanation; it is an error if all members diverge. ``"raise"``: the run ends with the
            error. ``"skip"``: the batch is left out.
        progress : bool, optional
            Whether to show a progress bar; by default only in a terminal.
        checkpoint : path, optional
            Folder for checkpoints, with a file for each member. It is made if it does not exist. A file is written when
            its member ends, every ``checkpoint_seconds`` seconds and every ``checkpoint_epochs`` epochs.
        checkpoint_epochs, checkpoint_seconds : optional
            Number of epochs, and seconds, between checkpoints.
        resume : path, optional
            Folder of checkpoints to resume from, with the same trainers, settings and data: the results have the same
            bits as those of a run that was never interrupted. It may be the folder of ``checkpoint``, which may be
            missing at first.
        cluster : str, optional
            Train the members on a Ray cluster, one CPU for each, with the same results: ``"auto"`` for the cluster of
            this computer, the address of another one (``"host:port"``), or ``"local"`` to start one here. If a node is
            lost, its members are trained again elsewhere. Members with callbacks are trained by this process. Needs
            ``pip install "madaline[ray]"``.
        **options
            Other options of :meth:`Trainer.fit`, for all members. Callbacks are called from several threads; to give
            each member its own, use ``member_options``.
        """
        X = _as_arrays(X)
        common = options | {
            "checkpoint_epochs": checkpoint_epochs,
            "checkpoint_seconds": checkpoint_seconds,
            "max_seconds": max_seconds,
        }
        chosen = self._chosen(X, rows, validation_rows)
        given = options_of_members(common, self._one_each(member_options, "member_options"), on_divergence)
        if checkpoint is not None:
            given = with_checkpoints(given, checkpoint, resume)
        elif resume is not None:
            given = resuming(given, resume)
        shared = SharedParts()
        members = [
            Member(trainer, X, y, one, rows_of, shared)
            for trainer, one, rows_of in zip(self.trainers, given, chosen, strict=True)
        ]
        bar = PopulationBar([one.epochs for one in given]) if shows_progress(progress) else None
        settings: dict[str, Any] = {
            "threads": self.max_threads,
            "max_seconds": max_seconds,
            "raises_divergence": on_divergence == "raise",
            "watch": (lambda run: None) if bar is None else bar.show,
        }
        run: SideBySide | ClusterMembers
        if cluster is None:
            run = SideBySide(members, **settings)
        else:
            from madaline.scale.members import ClusterMembers  # loaded only when needed

            run = ClusterMembers(members, cluster, **settings)
        self._run = run
        self._inference = None
        try:
            run.run()
        finally:
            self.histories = [member.history(run.reason) for member in members]
            is_late = max_seconds is not None and any(history.stopped == "time" for history in self.histories)
            self.stopped = run.stopped or ("time" if is_late else "finished")
            self.errors, self._run = dict(sorted(run.errors.items())), None
            self._begun = [number for number, member in enumerate(members) if member.has_run]
            if bar is not None:
                bar.close(run)
        self._report_divergence()
        return self.histories

    def stop(self, member: int | None = None) -> None:
        """End the run, or the training of one member, after the current step; may be called from other threads.

        A member that is stopped by its number counts as complete; members that run when everything is stopped do not.
        """
        if self._run is not None:
            self._run.stop(member)

    @property
    def max_threads(self) -> int:
        """Maximum number of threads."""
        return get_threads() if self.threads is None else self.threads

    @property
    def summary(self) -> HistoryTable:
        """A row for each member: number of epochs, best epoch, why it stopped, seconds, and its last values.

        With early stopping, the values are those of the best epoch.
        """
        found = HistoryTable()
        for number, history in enumerate(self.histories):
            row: dict[str, Any] = {
                "member": number,
                "stopped": history.stopped,
                "epochs": history.epochs,
                "best_epoch": np.nan if history.best_epoch is None else history.best_epoch,
            }
            if history.epochs:
                row |= history.row((history.best_epoch or history.epochs) - 1)
                row["seconds"] = float(history["seconds"].sum())
                del row["epoch"]
            found.add(**row)
        return found

    @property
    def usable(self) -> list[int]:
        """Numbers of the members for predictions: all that are complete.

        A member is complete if it had all its epochs, or was stopped early by its own rule or callback. If there are
        none, members with at least one epoch are used, or else those that have begun.
        """
        sound = [number for number in self._begun if self.histories[number].stopped not in ("diverged", "error")]
        complete = [number for number in sound if self.histories[number].stopped in ENDED]
        return complete or [number for number in sound if self.histories[number].epochs] or sound

    @property
    def model(self) -> Model:
        """The ensemble of all usable members as one model; see :meth:`ensemble`."""
        return self._current()[0]

    def ensemble(self, members: Sequence[int] | None = None, *, weights: Sequence[float] | None = None) -> Model:
        """Members as one model, which can be saved, exported and run as one program.

        Its outputs are raw outputs for the loss of the members, from which ``loss.predict`` gives the weighted mean of
        the members' predictions: for classes the mean of their probabilities.

        Parameters
        ----------
        members : sequence of int, optional
            Numbers of the members; by default all that are usable.
        weights : sequence of float, optional
            A weight for each of these members, not negative; by default all are equal. Members with weight 0 are left
            out.
        """
        numbers = self._numbers(members)
        models = [self.trainers[number].model for number in numbers]
        average = shared_average([self.trainers[number].recipe.loss for number in numbers])
        return joined_model(models, average, weights)

    def predict(self, X: Inputs) -> Any:
        """The mean prediction of all usable members: values or probabilities, depending on the loss."""
        numbers = self._numbers(None)
        loss = self.trainers[numbers[0]].recipe.loss
        try:
            model, inference = self._current()
        except ConfigError:
            # The predictions of some losses cannot be averaged as outputs of a net.
            return average_prediction([self.trainers[number].predict(X) for number in numbers])
        if isinstance(X, Stream):
            raise ConfigError("X is a stream; give it chunk by chunk, or arrays.")
        sources = input_sources(model.network, X)
        raw = inference(model.params.flat, model.state.flat, sources, threads=self.max_threads)
        if isinstance(loss, dict):
            return {name: item.predict(raw[name]) for name, item in loss.items()}
        return loss.predict(raw)

    def _current(self) -> tuple[Model, BatchedForward]:
        """The ensemble, and the program for its predictions."""
        if self._inference is None:
            model = self.ensemble()
            self._inference = model, BatchedForward(model.network)
        return self._inference

    def _numbers(self, members: Sequence[int] | None) -> list[int]:
        if not self.histories:
            raise ConfigError("There are no models yet: call fit first.")
        numbers = self.usable if members is None else [int(number) for number in members]
        if not numbers:
            reasons = ", ".join(sorted({history.stopped for history in self.histories}))
            raise ConfigError(f"No member of the population can be used; their training stopped with: {reasons}.")
        for number in numbers:
            if number not in self._begun:
                raise ConfigError(f"members: {number} is not the number of a member that was trained.")
        return numbers

    def _chosen(self, X: Inputs, rows: Any, validation_rows: Any) -> list[ChosenRows]:
        n_rows = flatten(X)[0][0].shape[0]
        training, validation = (
            self._one_each(given, name) for given, name in ((rows, "rows"), (validation_rows, "validation_rows"))
        )
        return [
            ChosenRows(
                np.arange(n_rows) if mine is None else as_rows(mine, n_rows, f"rows[{number}]"),
                None if others is None else as_rows(others, n_rows, f"validation_rows[{number}]"),
            )
            for number, (mine, others) in enumerate(zip(training, validation, strict=True))
        ]

    def _one_each(self, given: Any, name: str) -> list[Any]:
        if given is None:
            return [None] * len(self)
        found = list(given)
        if len(found) != len(self):
            raise ConfigError(f"{name} has {len(found)} items; there must be one for each of {len(self)} trainers.")
        return found

    def _report_divergence(self) -> None:
        if not self.errors:
            return
        if len(self.errors) == len(self):
            error = self.errors[0]
            raise DivergenceError(
                f"All {len(self)} members of the population diverged. The first: {error}",
                step=error.step,
                layer=error.layer,
            )
        number, error = next(iter(self.errors.items()))
        others = f" {len(self.errors)} of {len(self)} members diverged; see population.errors." * (len(self.errors) > 1)
        warnings.warn(f"Member {number} of the population diverged: {error}{others}", MadalineWarning, stacklevel=3)


def _as_arrays(X: Inputs) -> Any:
    """Inputs as arrays or sparse matrices of rows, converted once for all members."""
    if isinstance(X, Stream):
        raise ConfigError("X is a stream; a population needs arrays.")
    if isinstance(X, dict):
        return {name: _as_arrays(item) for name, item in X.items()}
    if isinstance(X, tuple):
        return tuple(_as_arrays(item) for item in X)
    if is_sparse(X):
        return as_csr(X, "X")
    found = X if isinstance(X, np.ndarray) else np.asarray(X)
    if not found.ndim:
        raise ConfigError("X is a single number; it must have one row for each sample.")
    return found
