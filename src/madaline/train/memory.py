"""How much memory training needs, computed before it starts."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from madaline.functional.model import Model
from madaline.graph.shapes import is_symbolic, resolve
from madaline.kernels import native
from madaline.kernels.core import core
from madaline.kernels.execute import Executable, executor
from madaline.kernels.sources import DenseRows, Source
from madaline.optim.optimizer import Optimizer
from madaline.train.data import TrainingData, read
from madaline.train.programs import Programs
from madaline.train.step import StepGraph, gradient_step
from madaline.train.stopping import as_early_stopping
from madaline.train.stream import Stream


def memory_needed(
    model: Model,
    programs: Programs,
    X: Any,
    y: Any,
    *,
    batch_size: int | None,
    sample_weight: Any,
    early_stopping: Any,
    threads: int,
) -> dict[str, int]:
    """Bytes by part, and in total; see :meth:`Trainer.memory`."""
    network, recipe = model.network, programs.recipe
    stream = X if isinstance(X, Stream) else None
    if stream is not None:
        X, y, sample_weight = stream.first()
    data = read(network, recipe.loss, X, X if y is None else y, sample_weight=sample_weight)
    size = min(batch_size or data.n_rows, data.n_rows if stream is None else stream.buffer)
    found = {"parameters": model.params.flat.nbytes, "state": model.state.flat.nbytes}
    if isinstance(recipe.optimizer, Optimizer):
        slots = recipe.optimizer.state(model.params.flat[: network.n_trainable])
        found["optimizer"] = sum(np.asarray(slot).nbytes for slot in slots)
        found["program"] = _of_program(programs.training(data, (), ())[0], data, size, threads)
    else:
        step = gradient_step(network, recipe, data.target_specs, weighted=data.weight is not None)
        found["optimizer"] = 2 * recipe.optimizer.history * 8 * network.n_trainable
        found["program"] = _of_program(step, data, data.n_rows, threads)
    found["average"] = 0 if recipe.average is None else network.n_trainable * network.dtype.itemsize
    stopping = as_early_stopping(early_stopping)
    keeps_best = stopping is not None and stopping.restore_best
    found["best"] = found["parameters"] + found["state"] if keeps_best else 0
    # The numbers of all rows, and their order in the epoch.
    found["rows"] = 2 * 8 * data.n_rows if stream is None else _of_shuffling(stream, data, size)
    return found | {"total": sum(found.values())}


def _of_shuffling(stream: Stream, data: TrainingData, batch_size: int) -> int:
    """Bytes of the buffer of a stream: its chunks, the same rows concatenated, and again in another order."""
    each = sum(array.nbytes for source in (*data.x, *data.y) for array in source.arrays) / data.n_rows
    return int(3 * each * (max(stream.buffer, 2 * batch_size) + data.n_rows))


def _of_program(step: StepGraph, data: TrainingData, n_rows: int, threads: int) -> int:
    """Bytes of a step over this many rows without its arguments: the gathered batch, and intermediate values."""
    program, _ = Executable(step.graph, donated=step.carried()).bound(n_rows)
    sources = data.gathered()
    gathered = 0
    for name, position in step.inputs.items():
        node = step.graph.inputs[position]
        if is_symbolic(node.shape) and not (n_rows == data.n_rows and _needs_no_copy(sources[name], node.dtype)):
            gathered += prod(resolve(node.shape, n_rows)) * node.dtype.itemsize
    module = None if executor() == "reference" else core()
    if module is None:
        arena = program.arena
        return gathered + arena["shared"] + arena["rows"] * n_rows + arena["tile"] + arena["lane"]
    return gathered + native.compiled(program, module).memory(n_rows, threads)


def _needs_no_copy(source: Source, dtype: np.dtype[Any]) -> bool:
    """Whether a batch of all its rows is used without a copy."""
    array = source.arrays[0]
    return isinstance(source, DenseRows) and source.file is None and array.dtype == dtype and array.flags.c_contiguous
