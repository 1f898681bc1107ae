"""The arguments of a loop, checked once before it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from madaline.errors import DtypeError, ShapeError
from madaline.graph.node import INT64, Node
from madaline.graph.shapes import Rows, Shape, is_symbolic, resolve, show
from madaline.graph.trace import Graph
from madaline.kernels.sources import Source


def check_graph(graph: Graph, carried: Mapping[int, int], guard: int | None) -> None:
    """Check that positions exist, carried outputs match their inputs, and the guard is one float."""
    for output, source in carried.items():
        _check_position("carried", output, graph.outputs, "output")
        _check_position("carried", source, graph.inputs, "input")
        made, given = graph.outputs[output], graph.inputs[source]
        if made.shape != given.shape or made.dtype != given.dtype or is_symbolic(made.shape):
            raise ShapeError(
                f"carried={{{output}: {source}}}: output {output} is {made.dtype} {show(made.shape)}, "
                f"{_called(source, given, start=False)} is {given.dtype} {show(given.shape)}. What is carried must "
                "have the dtype and shape of its input, and no axis of rows."
            )
    if len(set(carried.values())) != len(carried):
        raise ShapeError(f"carried={dict(carried)} gives one input two values. Each input can be carried once.")
    if guard is not None:
        _check_position("guard", guard, graph.outputs, "output")
        node = graph.outputs[guard]
        if node.shape or node.dtype.kind != "f":
            raise ShapeError(f"guard={guard}: output {guard} is {node.dtype} {show(node.shape)}; it must be one float.")
        if guard in carried:
            raise ShapeError(f"guard={guard}: output {guard} is carried. Let the step put it out twice to have both.")


class LoopArguments:
    """The arguments of a run: every input and output has an array.

    Attributes
    ----------
    fixed, tables, emitted : dict of arrays, C-contiguous and of the dtype of their node
    gathered : dict of sources
    order, starts : arrays of int64
    row_counts : array of int64
        Number of rows of each batch.
    """

    def __init__(
        self,
        graph: Graph,
        carried: Mapping[int, int],
        *,
        inputs: Mapping[int, np.ndarray],
        gathered: Mapping[int, Source],
        tables: Mapping[int, np.ndarray],
        emitted: Mapping[int, np.ndarray],
        order: np.ndarray,
        starts: np.ndarray,
    ) -> None:
        self.graph = graph
        self.carried = carried
        self.order, self.starts = _integers(order, "order"), _integers(starts, "starts")
        self.row_counts = self.starts[1:] - self.starts[:-1]
        self.gathered = dict(gathered)
        self._check_batches()
        self._check_all_given(inputs, tables, emitted)
        self.fixed = {index: self._input(index, value) for index, value in inputs.items()}
        self.tables = {index: self._table(index, value) for index, value in tables.items()}
        used = self.order[self.starts[0] : self.starts[-1]] if self.gathered else self.order[:0]
        self._used = (int(used.min()), int(used.max())) if len(used) else (0, -1)
        for index in self.gathered:
            self._check_source(index)
        for index, array in emitted.items():
            self._check_emitted(index, array)
        self.emitted = dict(emitted)
        self._check_apart()

    @property
    def n_steps(self) -> int:
        """Number of batches."""
        return len(self.starts) - 1

    def _check_batches(self) -> None:
        starts, n = self.starts, len(self.order)
        fewest = int(self.row_counts.min()) if len(starts) > 1 else 1
        if not len(starts) or starts[0] < 0 or starts[-1] > n or fewest < 0:
            raise ShapeError(
                f"starts must begin at 0 or later, never fall, and end at len(order)={n} or earlier; batch k is "
                "order[starts[k]:starts[k + 1]]."
            )
        if not fewest and any(is_symbolic(node.shape) for node in self.graph.inputs):
            raise ShapeError(f"Batch {int(np.argmin(self.row_counts))} is empty. Leave such batches out of starts.")

    def _check_all_given(self, *given: Mapping[int, Any]) -> None:
        inputs, tables, emitted = given
        for name, mapping in (("inputs", inputs), ("gathered", self.gathered), ("tables", tables)):
            for index in mapping:
                _check_position(name, index, self.graph.inputs, "input")
        for index in emitted:
            _check_position("emitted", index, self.graph.outputs, "output")
            if index in self.carried:
                raise ShapeError(
                    f"emitted={{{index}: ...}}: output {index} is carried. Let the step put it out twice to have both."
                )
        for index, node in enumerate(self.graph.inputs):
            count = (index in inputs) + (index in self.gathered) + (index in tables)
            if count != 1:
                what = "is given twice" if count else "is not given"
                raise ShapeError(f"{_called(index, node)} {what}; give it in one of inputs, gathered and tables.")
        for index in self.carried.values():
            if index not in inputs:
                raise ShapeError(
                    f"{_called(index, self.graph.inputs[index])} is carried, so its first value belongs in inputs."
                )

    def _input(self, index: int, value: Any) -> np.ndarray:
        node = self.graph.inputs[index]
        if index in self.carried.values():
            _check_writable(value, node, node.shape, lambda: _called(index, node))
            return value
        array = _converted(value, node, lambda: _called(index, node))
        for n_rows in set(self.row_counts.tolist()) if is_symbolic(node.shape) else (0,):
            if array.shape != resolve(node.shape, n_rows):
                of_rows = f" for a batch of {n_rows}" if is_symbolic(node.shape) else ""
                raise ShapeError(
                    f"{_called(index, node)} has shape {show(array.shape)}, not {show(resolve(node.shape, n_rows))}"
                    f"{of_rows}."
                )
        return array

    def _table(self, index: int, value: Any) -> np.ndarray:
        node = self.graph.inputs[index]
        array = _converted(value, node, lambda: f"The table of {_called(index, node, start=False)}")
        if is_symbolic(node.shape) or array.shape != (self.n_steps, *node.shape):
            raise ShapeError(
                f"The table of {_called(index, node, start=False)} has shape {show(array.shape)}; it needs one "
                f"{show(node.shape)} for each of {self.n_steps} steps."
            )
        return array

    def _check_source(self, index: int) -> None:
        node, source = self.graph.inputs[index], self.gathered[index]
        if node.shape != (Rows(), *source.row_shape):
            raise ShapeError(
                f"The rows of {_called(index, node, start=False)} have shape {show(source.row_shape)}; it has shape "
                f"{show(node.shape)}."
            )
        _check_cast(source.dtype, node, lambda: f"The rows of {_called(index, node, start=False)}")
        first, last = self._used
        if first < 0 or last >= source.n_rows:
            wrong = first if first < 0 else last
            raise ShapeError(
                f"order holds row {wrong}, but {_called(index, node, start=False)} has rows 0 to {source.n_rows - 1}."
            )

    def _check_emitted(self, index: int, array: Any) -> None:
        node = self.graph.outputs[index]
        shape: Shape = (self.n_steps, *node.shape)
        if is_symbolic(node.shape):
            if node.shape[0] != Rows() or is_symbolic(node.shape[1:]):
                raise ShapeError(
                    f"emitted={{{index}: ...}}: output {index} has shape {show(node.shape)}; rows can be emitted only "
                    "if they are the first axis."
                )
            shape = (len(self.order), *node.shape[1:])
        _check_writable(array, node, shape, lambda: f"emitted[{index}]")

    def _check_apart(self) -> None:
        """Check that written arrays share no memory with other arrays."""
        written = [(f"inputs[{index}]", self.fixed[index]) for index in self.carried.values()]
        written += [(f"emitted[{index}]", array) for index, array in self.emitted.items()]
        places = [(*_bounds(array), name, True) for name, array in written if array.size]
        places += [(*_bounds(array), name, False) for name, array in self._read() if array.size]
        places.sort()
        reached = reached_by_written = (0, "")
        for start, stop, name, is_written in places:
            last, other = reached if is_written else reached_by_written
            if start < last:
                raise ShapeError(
                    f"{name} and {other} share memory, but one of them is written. Give one of them a copy."
                )
            if stop > reached[0]:
                reached = (stop, name)
            if is_written and stop > reached_by_written[0]:
                reached_by_written = (stop, name)

    def _read(self) -> Iterator[tuple[str, np.ndarray]]:
        yield from (("order", self.order), ("starts", self.starts))
        for index, array in self.fixed.items():
            if index not in self.carried.values():
                yield f"inputs[{index}]", array
        for index, array in self.tables.items():
            yield f"tables[{index}]", array
        for index, source in self.gathered.items():
            for array in source.arrays:
                yield f"gathered[{index}]", array


def _called(index: int, node: Node, *, start: bool = True) -> str:
    name = node.params.get("name")
    return f"{'Input' if start else 'input'} {index}{f' ({name})' if name else ''}"


def _check_position(argument: str, index: int, nodes: tuple[Node, ...], what: str) -> None:
    if not 0 <= index < len(nodes):
        raise ShapeError(f"{argument} names {what} {index}; the graph has {what}s 0 to {len(nodes) - 1}.")


def _integers(value: Any, name: str) -> np.ndarray:
    array = np.asarray(value)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise DtypeError(f"{name} is {array.dtype} {show(array.shape)}; it must be a list of row numbers.")
    return _plain(array, INT64)


def _converted(value: Any, node: Node, called: Callable[[], str]) -> np.ndarray:
    array = np.asarray(value)
    _check_cast(array.dtype, node, called)
    return _plain(array, node.dtype)


def _plain(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The array, or a copy if it is not of this type, contiguous and aligned."""
    flags = array.flags
    is_plain = array.dtype == dtype and flags.c_contiguous and flags.aligned and type(array) is np.ndarray
    return array if is_plain else np.require(array, dtype, ("C", "A"))


def _check_cast(dtype: np.dtype[Any], node: Node, called: Callable[[], str]) -> None:
    if dtype is not node.dtype and not np.can_cast(dtype, node.dtype, "same_kind"):
        raise DtypeError(f"{called()} has dtype {dtype}, which cannot become {node.dtype}. Convert it first.")


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """The first byte of an array and the one after the last."""
    if not array.flags.c_contiguous:
        return byte_bounds(array)
    start: int = array.__array_interface__["data"][0]
    return start, start + array.nbytes


def _check_writable(array: Any, node: Node, shape: Shape, called: Callable[[], str]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != node.dtype or array.shape != shape:
        found = f"{array.dtype} {show(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ShapeError(f"{called()} is {found}; it is written in place, so it must be {node.dtype} {show(shape)}.")
    if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
        raise ShapeError(
            f"{called()} is written in place, so it must be C-contiguous, aligned and writable. Use a copy."
        )
