"""Run a step program many times: over batches of rows, without returning to Python in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from madaline.graph.trace import Graph
from madaline.kernels.core import core
from madaline.kernels.execute import Executable, executor
from madaline.kernels.locks import Lock
from madaline.kernels.loop_arguments import LoopArguments, check_graph
from madaline.kernels.loop_runs import NativeRun, Reason, ReferenceRun
from madaline.kernels.sources import Source
from madaline.kernels.threads import get_threads


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    ``steps`` is the number of complete steps. ``reason`` is ``finished``; ``guard`` if the guard was not finite;
    or ``interrupted``, by :meth:`Loop.stop` or by an exception.
    """

    steps: int
    reason: Reason


class Loop:
    """A step program that is run many times.

    Carried values are updated in place, rows are gathered, and tables are read step by step.

    Parameters
    ----------
    graph : Graph
        The graph of one step.
    carried : mapping from output to input
        Positions of outputs and of the inputs that they replace in the next step.
    guard : int, optional
        Position of an output with one float that must be finite. It is checked before carried values are changed.

    Attributes
    ----------
    outcome : Outcome
        How the last run ended, even if it ended with an exception.

    Examples
    --------
    The sum of the rows of each batch, and of all:

    >>> import madaline as md
    >>> from madaline.kernels.sources import DenseRows
    >>> x = np.arange(8.0).reshape(4, 2)
    >>> def step(total, x):
    ...     return total + x.sum(axis=0), x.sum(axis=0)
    >>> loop, total, sums = Loop(md.trace(step, x[0], x, rows=[1]), carried={0: 0}), np.zeros(2), np.zeros((2, 2))
    >>> order, starts = np.array([3, 0, 1]), np.array([0, 2, 3])
    >>> loop.run({0: total}, gathered={1: DenseRows(x)}, emitted={1: sums}, order=order, starts=starts)
    Outcome(steps=2, reason='finished')
    >>> total, sums.tolist()
    (array([ 8., 11.]), [[6.0, 8.0], [2.0, 3.0]])
    """

    def __init__(self, graph: Graph, *, carried: Mapping[int, int], guard: int | None = None) -> None:
        check_graph(graph, carried, guard)
        self.graph = graph
        self.carried = dict(carried)
        self.guard = guard
        self.outcome = Outcome(0, "finished")
        self._executable = Executable(graph, donated=carried)
        self._lock = Lock()
        self._running: NativeRun | ReferenceRun | None = None

    def twin(self) -> Loop:
        """Another loop with the same program, which can run at the same time as this one."""
        found = Loop.__new__(Loop)
        found.__dict__ |= self.__dict__ | {"outcome": Outcome(0, "finished"), "_lock": Lock(), "_running": None}
        return found

    def stop(self) -> None:
        """Stop a run in another thread: within a fraction of a second, after a complete step.

        Does nothing if there is no run.
        """
        running = self._running
        if running is not None:
            running.stop()

    def run(
        self,
        inputs: Mapping[int, np.ndarray],
        *,
        gathered: Mapping[int, Source] | None = None,
        tables: Mapping[int, np.ndarray] | None = None,
        emitted: Mapping[int, np.ndarray] | None = None,
        order: np.ndarray,
        starts: np.ndarray,
        threads: int | None = None,
    ) -> Outcome:
        """Run one step for each batch; only one run is possible at a time.

        Parameters
        ----------
        inputs : mapping from input to array
            Constant inputs and carried inputs. Carried arrays are changed in place; however the run ends, they are
            those of the last complete step.
        gathered : mapping from input to source
            Inputs that are batches of rows.
        tables : mapping from input to array of shape (n_steps, ...)
            The input of step ``k`` is ``table[k]``.
        emitted : mapping from output to array of shape (n_steps, ...)
            Arrays for outputs: step ``k`` writes to ``array[k]``. An output with one row per row of the batch is
            written to an array with one row per element of ``order``. Outputs that are neither emitted nor carried are
            dropped. For an incomplete step, outputs are only guaranteed to be written if the guard stopped it.
        order : array of int
            Row numbers of all batches, concatenated.
        starts : array of int, n_steps + 1 long
            Batch ``k`` is ``order[starts[k]:starts[k + 1]]``.
        threads : int, optional
            Maximum number of threads, by default :func:`madaline.get_threads`. Results do not depend on it.
        """
        with self._lock:
            self.outcome = Outcome(0, "interrupted")
            arguments = LoopArguments(
                self.graph,
                self.carried,
                inputs=inputs,
                gathered=gathered or {},
                tables=tables or {},
                emitted=emitted or {},
                order=order,
                starts=starts,
            )
            self._running = run = self._bound(arguments, get_threads() if threads is None else threads)
            reason: Reason = "interrupted"
            try:
                reason = run.run()
            finally:
                self._running = None
                self.outcome = Outcome(run.steps, reason)
            return self.outcome

    def _bound(self, arguments: LoopArguments, threads: int) -> NativeRun | ReferenceRun:
        module = None if executor() == "reference" else core()
        if module is None:
            return ReferenceRun(self._executable, arguments, self.guard)
        return NativeRun(self._executable, arguments, self.guard, core=module, threads=threads)
