"""Trace a function once, run it many times."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError, TraceError
from madaline.functional.evaluate import finished
from madaline.graph.node import Node, constant
from madaline.graph.trace import (
    Graph,
    call_traced,
    checked_rows,
    depends_on_open_trace,
    leaf_input,
    refuse_foreign_inputs,
)
from madaline.graph.tree import Structure, flatten, unflatten
from madaline.kernels.execute import CACHE_SIZE, Executable


def compile(f: Callable[..., Any], *, rows: Sequence[int] = ()) -> CompiledFunction:  # noqa: A001 - the usual word
    """Compile a function to one native program.

    Without it, ``md.grad(f)`` traces ``f`` at every call, so ``f`` may change from call to call. A compiled function
    is traced once for each combination of shapes, types and static arguments and keeps what it saw (closures, globals,
    ``np.random``).

    Parameters
    ----------
    f : callable
        Written with NumPy; may use ``md.grad`` and other derivatives. Arrays and floats are traced; integers, strings
        and so on are static: Python code may depend on them, and each value is traced separately. A Python float is
        float32 if all float arrays are, otherwise float64.
    rows : sequence of int
        Positions of arguments whose first axis is a batch: one program serves every batch size.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> step = md.compile(md.value_and_grad(lambda w, x: np.mean((x @ w) ** 2)), rows=[1])
    >>> value, slope = step(np.ones(3), np.eye(3))
    >>> float(value), slope.shape
    (1.0, (3,))
    """
    return CompiledFunction(f, rows)


class CompiledFunction:
    """A compiled function, returned by :func:`compile`: call it like the function itself."""

    def __init__(self, f: Callable[..., Any], rows: Sequence[int]) -> None:
        functools.update_wrapper(self, f, updated=())
        self.function = f
        self._rows = checked_rows(rows)
        self._ready: dict[Any, tuple[Executable, Structure, list[Any]]] = {}
        self._batched_leaves: dict[Structure, tuple[int, ...]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        if self._rows:
            batched = self._batched_leaves.get(structure)
            if batched is None:
                batched = self._batched_leaves[structure] = self._batched(args)
            n_rows = self._n_rows(leaves, batched)
        else:
            batched, n_rows = (), 0
        arrays: list[Any] = []
        parts: list[Hashable] = [structure]
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, (np.ndarray, np.generic)):
                arrays.append(leaf)
                parts.append(leaf.shape[1:] if index in batched else leaf.shape)
                parts.append(leaf.dtype)
            elif isinstance(leaf, float):
                arrays.append(leaf)
                parts.append(float)
            elif isinstance(leaf, Node):
                return self.function(*args, **kwargs)
            else:
                parts.append(_static(leaf))
        key = tuple(parts)
        ready = self._ready.get(key)
        if ready is None:
            found = self._trace(leaves, structure, batched)
            if found is None:
                return self.function(*args, **kwargs)
            if len(self._ready) >= CACHE_SIZE:
                self._ready.clear()
            ready = self._ready[key] = found
        executable, out_structure, out_leaves = ready
        values = iter(executable(arrays, n_rows))
        return unflatten(
            out_structure, [finished(next(values)) if isinstance(leaf, Node) else leaf for leaf in out_leaves]
        )

    def __reduce__(self) -> Any:
        # Programs are planned again after unpickling: a worker process may have another CPU.
        return CompiledFunction, (self.function, self._rows)

    def program(self, *args: Any, **kwargs: Any) -> Any:
        """The program for these arguments; print its ``describe()``."""
        leaves, structure = flatten((args, kwargs))
        batched = self._batched(args)
        found = self._trace(leaves, structure, batched)
        if found is None:
            raise TraceError("A compiled function that uses traced values of the function around it has no program.")
        return found[0].program(self._n_rows(leaves, batched))

    def _batched(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        """Positions among the leaves of those that belong to batch arguments."""
        counts = [len(flatten(arg)[0]) for arg in args]
        rows = checked_rows(self._rows, len(args))
        return tuple(sum(counts[:position]) + i for position in rows for i in range(counts[position]))

    @staticmethod
    def _n_rows(leaves: Sequence[Any], batched: tuple[int, ...]) -> int:
        shapes: list[tuple[int, ...]] = [getattr(leaves[index], "shape", ()) for index in batched]
        if () in shapes:
            raise ShapeError(
                "A batch argument is a number, without an axis for its rows. Pass an array, x[None] for one row."
            )
        sizes = {shape[0] for shape in shapes}
        if len(sizes) > 1:
            raise ShapeError(
                f"The batch arguments have {' and '.join(map(str, sorted(sizes)))} rows; they must be equal."
            )
        return sizes.pop() if sizes else 0

    def _trace(
        self, leaves: Sequence[Any], structure: Structure, batched: tuple[int, ...]
    ) -> tuple[Executable, Structure, list[Any]] | None:
        """What to keep for these arguments; None if the result needs traced values of an outer function."""
        number = _number_dtype(leaves)
        given: list[Any] = []
        inputs: list[Node] = []
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, (np.ndarray, np.generic, float)):
                value = leaf if isinstance(leaf, (np.ndarray, np.generic)) else number.type(leaf)
                inputs.append(leaf_input(len(inputs), value, batch=index in batched))
                given.append(inputs[-1])
            else:
                given.append(leaf)
        args, kwargs = unflatten(structure, given)
        result = call_traced(self.function, inputs, args, kwargs)
        out_leaves, out_structure = flatten(result)
        # An array the function closes over may change later; the program keeps what it saw.
        out_leaves = [constant(leaf.copy()) if isinstance(leaf, np.ndarray) else leaf for leaf in out_leaves]
        outputs = [leaf for leaf in out_leaves if isinstance(leaf, Node)]
        if depends_on_open_trace(outputs):
            return None
        refuse_foreign_inputs(inputs, outputs)
        return Executable(Graph(tuple(inputs), tuple(outputs)), snapshot=True), out_structure, out_leaves


def _number_dtype(leaves: Sequence[Any]) -> np.dtype[Any]:
    """The type of Python floats: as in NumPy, they do not turn float32 into float64."""
    floats = [leaf.dtype for leaf in leaves if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind == "f"]
    return np.dtype(np.float32 if floats and all(dtype.itemsize <= 4 for dtype in floats) else np.float64)


def _static(leaf: Any) -> Hashable:
    """A key that identifies a static argument."""
    try:
        hash(leaf)
    except TypeError:
        raise DtypeError(
            f"{leaf!r} is neither an array nor hashable, so a compiled function cannot take it as an argument."
        ) from None
    return (type(leaf), leaf)
