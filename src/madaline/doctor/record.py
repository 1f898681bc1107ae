"""What is kept of a run to examine it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from madaline.doctor.clock import Clock
from madaline.doctor.exam import Exam
from madaline.doctor.names import InputNames
from madaline.doctor.sample import Problem, Sample, problem_of
from madaline.doctor.setup import Setup, row_losses
from madaline.functional.model import Model
from madaline.train.blocks import ArrayBlocks
from madaline.train.history import History
from madaline.train.sampling import InOrder
from madaline.train.session import Session
from madaline.train.stopping import EarlyStopping


@dataclass(frozen=True)
class Record:
    """A run: how it was set up, its rows, its history and its model."""

    setup: Setup
    problem: Problem = field(repr=False)
    history: History
    model: Model

    @classmethod
    def of_session(cls, session: Session, *, start: Model | None, model: Model) -> Record:
        """From a session of a trainer; ``start`` holds the initial parameters, if they are known."""
        network, options = session.model.network, session.options
        rows = session.source.rows if isinstance(session.source, ArrayBlocks) else np.arange(session.data.n_rows)
        held = session.validation
        validation = None
        if held is not None:
            validation = held.data, np.arange(held.data.n_rows) if held.rows is None else held.rows
        problem = problem_of(network, session.data, rows, validation, seed=session.seed)
        history = session.history
        ended_early = history.stopped in ("callback", "time", "interrupted") and history.n_rows
        setup = Setup(
            network.net,
            session.recipe,
            start,
            network.freeze,
            network.dtype,
            session.seed,
            session.threads,
            history.n_rows if ended_early else options.epochs,
            options.batch_size,
            not isinstance(options.row_sampler, InOrder),
            options.drop_last,
            options.accumulate,
            _own_rule(session),
        )
        return cls(setup, problem, history, model)

    def losses(self, sample: Sample) -> np.ndarray:
        """The loss of each row of a sample, for the trained model in evaluation mode."""
        with np.errstate(all="ignore"):
            return row_losses(self.setup.recipe.loss, self.model, sample)

    def named(self, estimator: Any) -> Record:
        """The same run, with the names of columns and classes that a fitted estimator knows."""
        return replace(self, problem=replace(self.problem, names=InputNames.of(estimator)))

    def exam(self, clock: Clock) -> Exam:
        """An examination of the run."""
        return Exam(self.setup, self.problem, clock=clock, history=self.history, model=self.model)


def _own_rule(session: Session) -> EarlyStopping | None:
    """Early stopping, also by a callback, on a column that a repeated run has as well."""
    of_callbacks = (callback.stopping_rule() for callback in session.callbacks)
    rule = session.options.stopping_rule or next(filter(None, of_callbacks), None)
    if rule is None or rule.metric in (None, "loss", "val_loss"):
        return rule
    return replace(rule, metric="val_loss", mode="auto")
