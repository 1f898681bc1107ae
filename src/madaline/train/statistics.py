"""The running statistics of a net, computed again for its current parameters."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from madaline.errors import ConfigError
from madaline.graph.node import as_node, constant
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph, open_trace
from madaline.kernels.loop import Loop
from madaline.kernels.threads import get_threads
from madaline.train.arguments import check_all, check_whole
from madaline.train.data import TrainingData, input_sources
from madaline.train.sampling import Batches, InOrder, epoch_batches
from madaline.train.step import StepInputs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.functional.model import Model
    from madaline.kernels.sources import Source
    from madaline.nn.network import Network
    from madaline.train.session import Session


def recompute_statistics(
    model: Model,
    X: ArrayLike | Mapping[str, ArrayLike] | tuple[ArrayLike, ...],
    *,
    batch_size: int | None = None,
    threads: int | None = None,
    seed: int = 0,
) -> None:
    """Set the running statistics of a model to those of these rows, for example of the whole training set.

    Batch norm uses running averages of the last mini-batches at test time. The statistics of all rows are exact, which
    matters after training with small mini-batches or after changing parameters. Lecture row N4.

    Parameters
    ----------
    model : Model
        Its state is changed in place. Models without running statistics are not changed.
    X : array, sparse matrix, or dict or tuple of them
        Rows, at least two.
    batch_size : int, optional
        By default all rows are one batch. Otherwise the statistics are means over mini-batches of this size, in the
        order of the rows, which needs less memory.
    threads : int, optional
        Maximum number of threads. Results do not depend on it.
    seed : int
        Random seed of dropout, which drops units as in training.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.array([[1.0], [3.0], [8.0]])
    >>> model = md.BatchNorm().init(1)
    >>> md.train.recompute_statistics(model, X)
    >>> model.state["mean"].round(3), model.state["variance"].round(3)
    (array([4.], dtype=float32), array([13.], dtype=float32))
    """
    network = model.network
    sources = input_sources(network, X)
    n_rows = sources[0].n_rows
    size = n_rows if batch_size is None else batch_size
    if n_rows < 2:
        raise ConfigError(f"X has {n_rows} row(s); statistics need at least 2.")
    check_all([partial(check_whole, "batch_size", size, least=2), partial(check_whole, "seed", seed, least=0)])
    if not network.n_state:
        return
    batches = epoch_batches(np.arange(n_rows), None, batch_size=size, sampler=InOrder(), seed=seed, epoch=0, min_rows=2)
    program = _Program(network)
    program.run(model, sources, batches, seed=seed, threads=get_threads() if threads is None else threads)
    program.keep(model)


def refresh_statistics(session: Session, *, max_seconds: float = math.inf) -> None:
    """The same with the mini-batches of a run, as averaged parameters need it; fewer with a time limit.

    PyTorch's ``update_bn``; Izmailov et al. (2018), Algorithm 1.
    """
    program = _Program(session.model.network)
    for data, batches in _parts(session, max_seconds):
        program.run(session.model, data.x, batches, seed=session.seed, threads=session.threads)
    program.keep(session.model)


class _Program:
    r"""The mean over batches of the statistics that training mode sees.

    A step of training gives :math:`s \leftarrow k s + (1-k) b` with the batch's statistics :math:`b`; the derivative by
    :math:`s` is :math:`k`, so :math:`b` is known whatever the layer. State that does not follow the batches
    (:math:`k = 1`) stays.
    """

    def __init__(self, network: Network) -> None:
        given = StepInputs()
        mean = given.new("mean", (network.n_state,), network.dtype)
        w = given.new("w", (network.n_params,), network.dtype)
        state = given.new("state", (network.n_state,), network.dtype)
        x = given.tree("x", network.inputs)
        key = given.new("key", (2,), np.int64)
        n = given.new("n", (), network.dtype)
        with open_trace(list(given.nodes.values())):
            context = network.run(w, state, x, key=key, train=True)
            after = network.state_after(context, state)
            (kept,) = cotangents([np.sum(after)], [state], [constant(1.0, network.dtype)])
            kept = state * 0.0 if kept is None else kept
            changes = [np.full(entry.size, path in context.new_state) for path, entry in network.state.items()]
            follows = np.logical_and(np.concatenate(changes), kept < 1.0)
            seen = (after - kept * state) / np.where(follows, 1.0 - kept, 1.0)
            output = np.where(follows, mean + (seen - mean) / n, state).astype(network.dtype)
        self._at = {name: position for position, name in enumerate(given.nodes)}
        self._loop = Loop(Graph(tuple(given.nodes.values()), (as_node(output),)), carried={0: self._at["mean"]})
        self._found = np.zeros(network.n_state, network.dtype)
        self._done = 0

    def run(self, model: Model, sources: tuple[Source, ...], batches: Batches, *, seed: int, threads: int) -> None:
        """Add these batches to the mean."""
        at, counts = self._at, self._done + np.arange(len(batches))
        keys = np.stack([np.full(len(batches), seed), counts], axis=1).astype(np.int64)
        self._loop.run(
            {at["mean"]: self._found, at["w"]: model.params.flat, at["state"]: model.state.flat.copy()},
            gathered={at[f"x[{i}]"]: source for i, source in enumerate(sources)},
            tables={at["key"]: keys, at["n"]: (counts + 1).astype(self._found.dtype)},
            order=batches.order,
            starts=batches.starts,
            threads=threads,
        )
        self._done += len(batches)

    def keep(self, model: Model) -> None:
        """Give the mean to the model."""
        model.state.flat[...] = self._found


def _parts(session: Session, max_seconds: float) -> Iterator[tuple[TrainingData, Batches]]:
    """The batches of an epoch and their rows; one by one until the time is over, if it is limited."""
    started = time.monotonic()
    for block in session.source.blocks_again(session.progress.epoch):
        batches = block.batches
        size = len(batches) if max_seconds == math.inf else 1
        for first in range(0, len(batches), max(size, 1)):
            yield block.data, batches.part(first, min(first + size, len(batches)))
            if time.monotonic() - started > max_seconds:
                return
