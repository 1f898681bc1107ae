"""Programs of derivatives, kept by the structure of the function, so that it is not differentiated at every call.

A function is traced at every call, since it may have changed. Where its graph has the structure of an earlier one, the
program of its derivative is that of the earlier one too, with other arguments and constants.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.functional.evaluate import Arguments
from madaline.graph.node import Node, topological_order
from madaline.graph.primitives.rules import CUSTOM_DERIVATIVE
from madaline.graph.tape import merged
from madaline.graph.trace import Graph, refuse_foreign_inputs
from madaline.kernels.execute import CACHE_SIZE, Executable, run_program, structure
from madaline.kernels.locks import Lock
from madaline.plan.program import Program


@dataclass(frozen=True, slots=True)
class _Kept:
    """A program, and where its constant arrays come from: a position among those of the function, or the array."""

    program: Program
    constants: tuple[int | np.ndarray, ...]

    def __call__(self, arguments: Sequence[Any], arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        constants = [arrays[item] if isinstance(item, int) else item for item in self.constants]
        return run_program(self.program, [*arguments, *constants], 0)


_KEPT: OrderedDict[Any, _Kept] = OrderedDict()
_LOCK = Lock()


def run_derived(arguments: Arguments, outputs: list[Node], derive: Callable[..., list[Any]]) -> list[np.ndarray]:
    """Numbers for the outputs of a function and for what ``derive`` makes of them, in the order it gives them.

    The program is found by the forms of the outputs, else by the structure of the graph. ``derive`` must depend on the
    graph of the outputs alone. The rules of primitives do; a rule by hand may depend on known values, so programs with
    one are not kept.
    """
    forms = None if arguments.tape is None else arguments.tape.forms_of(outputs)
    if arguments.tape is None or forms is None:
        key, arrays = structure(Graph(tuple(arguments.nodes), tuple(outputs)))
    else:
        key, arrays = (arguments.forms, forms), arguments.tape.arrays
    with _LOCK:
        kept = _KEPT.get(key)
        if kept is not None:
            _KEPT.move_to_end(key)
    if kept is not None:
        return kept(arguments.arrays, arrays)
    derived = derive(*(outputs if forms is None else merged(outputs)))
    refuse_foreign_inputs(arguments.nodes, derived)
    executable = Executable(Graph(tuple(arguments.nodes), tuple(derived)))
    if not any(node.primitive.library or node.primitive is CUSTOM_DERIVATIVE for node in topological_order(derived)):
        _keep(key, executable, arrays)
    return executable(arguments.arrays)


def _keep(key: Any, executable: Executable, arrays: list[np.ndarray]) -> None:
    program, constants = executable.bound(0)
    position = {id(array): number for number, array in enumerate(arrays)}
    found = tuple(position.get(id(array), array) for array in constants)
    # An array that a rule made may have been made from the function's arrays, which can differ the next time.
    if arrays and any(isinstance(item, np.ndarray) for item in found):
        return
    with _LOCK:
        _KEPT[key] = _Kept(program, found)
        while len(_KEPT) > CACHE_SIZE:
            _KEPT.popitem(last=False)
