"""A graph as a JavaScript function that computes one row."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import numpy as np

from madaline.ship.inference import InferenceGraph
from madaline.ship.js_language import HELPERS, JavaScriptLanguage
from madaline.ship.loops import Loops
from madaline.ship.script import helpers_for

ARRAYS = {"float32": "Float32Array", "float64": "Float64Array", "bool": "Uint8Array"}
"Typed arrays of weights."

DECODE = """
function _array(kind, text) {
  const signs = atob(text), bytes = new Uint8Array(signs.length);
  for (let i = 0; i < signs.length; ++i) bytes[i] = signs.charCodeAt(i);
  return new kind(bytes.buffer);
}
function _transposed(array, rows, columns) {  // the array has the shape (columns, rows)
  const found = new array.constructor(array.length);
  for (let i = 0; i < rows; ++i) for (let j = 0; j < columns; ++j) found[i * columns + j] = array[j * rows + i];
  return found;
}
"""


def js_functions(graphs: Sequence[tuple[str, InferenceGraph]]) -> str:
    """Functions by name, each of the inputs of one row as a list of arrays.

    A function returns a dict of arrays by the identifiers of the outputs. Weights that several graphs have are written
    once.
    """
    written: dict[tuple[str, str, tuple[int, ...]], str] = {}
    sections: list[str] = []
    bodies: list[str] = []
    for name, inference in graphs:
        code = JavaScriptLanguage()
        loops = Loops(inference, code)
        loops.write()
        names = {}
        for own, value in loops.inference.arrays.items():
            key, turned = _key(value), _key(value.T)
            if key not in written:
                known = written.get(turned)
                text = _weights(value) if known is None else f"_transposed({known}, {', '.join(map(str, value.shape))})"
                written[key] = f"w{len(written)}"
                sections.append(f"const {written[key]} = {text};")
            names[own] = written[key]
        bodies.append(_function(name, loops, code, names))
    body = "\n".join(bodies)
    return "\n".join([DECODE.strip(), *helpers_for(body, HELPERS), *sections, body])


def _key(value: np.ndarray) -> tuple[str, str, tuple[int, ...]]:
    """What is equal for equal arrays only."""
    return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest(), value.dtype.name, value.shape


def _function(name: str, loops: Loops, code: JavaScriptLanguage, weights: dict[str, str]) -> str:
    inference = loops.inference
    scratch = [
        f"  const scratch_{dtype} = new Float64Array({size});" for dtype, size in loops.plan.scratch.items() if size
    ]
    inputs = [f"    const {port.name} = inputs[{k}];" for k, port in enumerate(inference.inputs)]
    outputs = [f"    const {port.name} = new Float64Array({max(port.size, 1)});" for port in inference.outputs]
    result = ", ".join(port.name for port in inference.outputs)
    return "\n".join(
        [
            f"const {name} = (() => {{",
            *scratch,
            *(f"  const {own} = {shared};" for own, shared in weights.items() if own in loops.used),
            "  return inputs => {",
            *inputs,
            *outputs,
            *code.lines,
            f"    return {{{result}}};",
            "  };",
            "})();",
        ]
    )


def _weights(value: np.ndarray) -> str:
    """An expression for an array of numbers."""
    value = value if value.dtype.name in ARRAYS else value.astype(np.float64)
    text = base64.b64encode(value.astype(value.dtype.newbyteorder("<")).tobytes()).decode()
    return f'_array({ARRAYS[value.dtype.name]}, "{text}")'
