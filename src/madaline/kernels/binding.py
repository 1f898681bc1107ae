"""The arrays of a run: arguments in the form that a program needs, and results with their logical axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from madaline.graph.shapes import is_symbolic, resolve
from madaline.plan.program import Program
from madaline.plan.views import physical_order


class Binding:
    """Binds arrays to a program, for both executors."""

    def __init__(self, program: Program) -> None:
        self._dtypes = [node.dtype for node in program.inputs]
        self.row_counts = [(node.params["rows"], node.dtype) for node in program.row_counts]
        self._results = []
        for node in program.outputs:
            order = physical_order(node.shape)
            back = tuple(int(axis) for axis in np.argsort(order)) if order != tuple(range(node.ndim)) else None
            self._results.append((tuple(node.shape[axis] for axis in order), is_symbolic(node.shape), node.dtype, back))
        self.is_transposed = any(back is not None for *_, back in self._results)

    def arrays(self, arguments: Sequence[np.ndarray], n_rows: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The inputs, including numbers of rows, and new arrays for the outputs, in their memory layout."""
        inputs = [
            np.ascontiguousarray(argument, dtype=dtype) for argument, dtype in zip(arguments, self._dtypes, strict=True)
        ]
        for rows, dtype in self.row_counts:
            inputs.append(np.array(rows.at(n_rows), dtype=dtype))
        outputs = [
            np.empty(resolve(shape, n_rows) if symbolic else shape, dtype)
            for shape, symbolic, dtype, _ in self._results
        ]
        return inputs, outputs

    def results(self, outputs: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs with their logical axes."""
        if not self.is_transposed:
            return outputs
        return [
            output if back is None else output.transpose(back)
            for output, (*_, back) in zip(outputs, self._results, strict=True)
        ]
