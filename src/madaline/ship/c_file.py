"""One file of C99 that computes a row: no allocation, no library but ``math.h``, the weights as constants."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from madaline.graph.shapes import Rows
from madaline.ship.c_language import TYPES, C, literal
from madaline.ship.inference import Inference, Port
from madaline.ship.loops import Loops
from madaline.ship.names import one_line

N_IN_LINE = 8
"Numbers in a line of weights."


def c_files(inference: Inference, path: Path) -> dict[Path, bytes]:
    """The file, and a header for those who call it."""
    code = C()
    loops = Loops(inference, code)
    loops.write()
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    stem = stem if stem.isidentifier() else f"model_{stem}"
    used = set(re.findall(r"\w+", "\n".join(code.lines)))
    ports = (*inference.inputs, *inference.outputs)
    columns = [port for port in inference.inputs if port.is_column]
    arguments = [f"const {stem}_row *row"] if columns else [f"const {_argument(port)}" for port in inference.inputs]
    prototype = f"int {stem}_predict({', '.join([*arguments, *map(_argument, inference.outputs)])});"
    declared = "\n".join([*(_row_type(stem, columns) if columns else ()), prototype])
    body = [
        *(f"    {TYPES[dtype]} scratch_{dtype}[{size}];" for dtype, size in loops.plan.scratch.items()),
        *(f"    const {_argument(port, 'const ')} = &row->{port.name};" for port in columns if port.name in used),
        *(f"    (void){port.name};" for port in ports if port.name not in used and port not in columns),
        *(["    (void)row;"] if columns and not any(port.name in used for port in columns) else []),
        *code.lines,
    ]
    shown = [f"   {port.name}: {_about(port)}, in" for port in inference.inputs]
    shown += [f"   {port.name}: {_about(port)}, out" for port in inference.outputs]
    arrays = "\n".join(_array(name, value) for name, value in inference.arrays.items())
    lines = "\n".join([prototype.replace(";", " {"), *body, "    return 0;", "}"])
    text = f"{_HEAD.format(inference.title, about=chr(10).join(shown))}\n{declared}\n\n{arrays}\n{lines}\n"
    header = _HEADER.format(inference.title, guard=f"{stem.upper()}_H", declared=declared)
    return {path: text.encode(), path.with_suffix(".h"): header.encode()}


_HEAD = """/* {0}
   Written by madaline. C99, no allocation, nothing but math.h; link with -lm.
   Computes one row. Returns 0, or 1 if a category is not one of those known; arrays must not overlap.
{about}
*/
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
"""

_HEADER = """/* {0}
   Written by madaline. Computes one row; returns 0, or 1 if a category is not one of those known. */
#ifndef {guard}
#define {guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{declared}

#ifdef __cplusplus
}}
#endif

#endif
"""


def _row_type(stem: str, columns: list[Port]) -> list[str]:
    """A struct with a member for each column of a table."""
    kinds = {
        "number": "NAN if it is missing",
        "date": "days since 1970, with the time of day as a fraction; NAN if it is missing",
    }
    lines = ["typedef struct {"]
    for port in columns:
        about = kinds.get(port.kind) or f"{_listed(port)}; -1 another, -2 none"
        lines.append(f"    {TYPES[port.dtype.name]} {port.name}; /* {one_line(port.title)}: {about} */")
    return [*lines, f"}} {stem}_row;", ""]


def _listed(port: Port) -> str:
    """Places and what they stand for."""
    return one_line(", ".join(f"{place} {value}" for place, value in enumerate(port.values)), 100_000)


def _about(port: Port) -> str:
    if port.kind == "label":
        return f"the place of the class ({_listed(port)}), {TYPES[port.dtype.name]}"
    return f"{_numbers(port)} of {TYPES[port.dtype.name]}"


def _numbers(port: Port) -> str:
    return " x ".join(str(size) for size in port.shape if not isinstance(size, Rows)) or "1"


def _argument(port: Port, pointer: str = "") -> str:
    return f"{TYPES[port.dtype.name]} *{pointer}{port.name}"


def _array(name: str, value: np.ndarray) -> str:
    if value.dtype.kind == "f" and np.isfinite(value).all():  # quicker for the millions there may be
        suffix = "f" if value.dtype == np.float32 else ""
        numbers = [f"{number!s}{suffix}" for number in value.ravel()] or ["0"]
    else:
        numbers = [literal(number, value.dtype) for number in value.ravel()] or ["0"]
    lines = [", ".join(numbers[start : start + N_IN_LINE]) for start in range(0, len(numbers), N_IN_LINE)]
    body = ",\n".join(f"    {line}" for line in lines)
    shape = " x ".join(map(str, value.shape))
    return f"/* {shape} */\nstatic const {TYPES[value.dtype.name]} {name}[{len(numbers)}] = {{\n{body}\n}};\n"
