"""The quick way to run a net: one call of the native program, without conversions and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import FileFormatError
from madaline.graph.node import Node, new_input
from madaline.graph.shapes import Rows, is_symbolic
from madaline.graph.trace import Graph, open_trace
from madaline.kernels import native
from madaline.kernels.core import core
from madaline.kernels.execute import Executable, executor
from madaline.kernels.sources import mapped_rows
from madaline.kernels.threads import get_threads
from madaline.nn.inputs import InputSpec
from madaline.nn.network import Network

FEW_ROWS = 64
"Up to this number of rows a second thread does not pay off."
PIECE_ROWS = 1 << 14
"More rows are run in pieces of this size, so that memory does not grow with their number."

Array = np.ndarray[Any, np.dtype[Any]]


class Forward:
    """Runs a net with one input and one output in evaluation mode, with an overhead of a microsecond.

    It takes the usual input: a C-contiguous batch of the net's own type. For anything else it returns None, and the
    caller uses the general way, which converts, checks and explains.

    Parameters
    ----------
    network : Network
        The net.
    params, state : vector
        Its arrays; they are read in every call.
    """

    def __init__(self, network: Network, params: Array, state: Array) -> None:
        self._native: Any = None
        module = core() if executor() == "native" else None
        if module is None or not isinstance(network.inputs, InputSpec):
            return
        x = new_input(0, (Rows(), *network.inputs.shape), network.inputs.dtype, "x")
        w = new_input(1, params.shape, network.dtype, "params")
        kept = new_input(2, state.shape, network.dtype, "state")
        with open_trace([x, w, kept]):
            output = network.run(w, kept, x, key=np.zeros(2, dtype=np.int64)).outputs[""]
        if not isinstance(output, Node) or not is_symbolic(output.shape) or not isinstance(output.shape[0], Rows):
            return
        executable = Executable(Graph((x, w, kept), (output,)))
        if not executable.is_generic:
            return
        program, constants = executable.bound(0)
        compiled = native.compiled(program, module)
        if compiled.row_counts or compiled.is_transposed:
            return
        self._rest = [params, state, *constants]
        self._row_shape, self._dtype, self._n_axes = network.inputs.shape, network.inputs.dtype, x.ndim
        self._out_shape, self._out_dtype = output.shape[1:], output.dtype
        self._native = compiled.program.run

    def __call__(self, X: Any, threads: int | None = None) -> Array | None:
        """The outputs, or None if the general way is needed."""
        run = self._native
        if (
            run is None
            or type(X) is not np.ndarray
            or X.dtype is not self._dtype
            or X.shape[1:] != self._row_shape
            or not X.flags.c_contiguous
        ):
            return None
        n_rows = X.shape[0] if X.ndim == self._n_axes else 0
        if not n_rows:
            return None
        found = np.empty((n_rows, *self._out_shape), self._out_dtype)
        base = X.base  # an array without one owns its numbers, which are then in no file
        is_own = base is None or (type(base) is np.ndarray and base.base is None)
        mapped = None if is_own else mapped_rows(X)
        try:
            if n_rows <= FEW_ROWS and mapped is None:
                run([X, *self._rest], [found], n_rows, 1)
            else:
                threads = threads or get_threads()
                for start in range(0, n_rows, PIECE_ROWS):
                    piece = X[start : start + PIECE_ROWS]
                    if mapped is not None:  # copied, because its file may be cut meanwhile
                        piece = mapped.take(np.arange(start, start + len(piece)), X.dtype)
                    run([piece, *self._rest], [found[start : start + PIECE_ROWS]], len(piece), threads)
        except FileFormatError:
            raise
        except (ValueError, IndexError):
            return None  # an array between two addresses of its type, or an unknown category
        return found
