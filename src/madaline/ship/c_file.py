"""A C99 file that computes one row: without allocation, with ``math.h`` only and the weights as constants."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from madaline.errors import ExportError
from madaline.graph.shapes import Rows
from madaline.ship.c_language import TYPES, CLanguage, literal
from madaline.ship.escape import c_comment
from madaline.ship.inference import InferenceGraph, Port
from madaline.ship.loops import Loops
from madaline.ship.names import MAX_LENGTH

HEADERS = ("math", "stdbool", "stddef", "stdint")
"Headers that the file includes."
N_IN_LINE = 8
"Number of weights in a line."


def c_files(inference: InferenceGraph, path: Path) -> dict[Path, bytes]:
    """The file and its header, with their contents."""
    header_path = path.with_suffix(".h")
    if path == header_path or path.stem.lower() in HEADERS:
        raise ExportError(
            f"{path.name!r} cannot be the name of a C file, because a header named {header_path.name!r} is written "
            "beside it. Use another name, such as 'model.c'."
        )
    code = CLanguage()
    loops = Loops(inference, code)
    loops.write()
    stem = _stem(path)
    columns = [port for port in inference.inputs if port.is_column]
    arrays = [*(port for port in inference.inputs if not port.is_column), *inference.outputs]
    given = [f"const {stem}_row *row"] if columns else [f"const {_argument(port)}" for port in inference.inputs]
    prototype = f"int {stem}_predict({', '.join([*given, *map(_argument, inference.outputs)])})"
    declared = "\n".join([*(_row_type(stem, columns) if columns else ()), f"{prototype};"])
    used = [port for port in columns if port.name in loops.used]
    body = [
        *(f"    {TYPES[dtype]} scratch_{dtype}[{size}];" for dtype, size in loops.plan.scratch.items()),
        *(f"    const {_argument(port, 'const ')} = &row->{port.name};" for port in used),
        *(f"    (void){port.name};" for port in arrays if port.name not in loops.used),
        *(["    (void)row;"] if columns and not used else []),
        *code.lines,
    ]
    weights = "\n".join(_array(name, value) for name, value in inference.arrays.items())
    function = "\n".join([f"{prototype} {{", *body, "    return 0;", "}"])
    includes = "\n".join(f"#include <{name}.h>" for name in HEADERS)
    text = f"{_head(inference)}\n{includes}\n\n{declared}\n\n{weights}\n{function}\n"
    header = _HEADER.format(
        about=c_comment(inference.title.shown(), "Written by madaline.", _RETURNS),
        guard=f"MADALINE_{stem.upper()}_H",
        declared=declared,
    )
    return {path: text.encode(), header_path: header.encode()}


def _stem(path: Path) -> str:
    """The prefix of the names that the header declares."""
    stem = re.sub(r"[^0-9A-Za-z]+", "_", path.stem[:MAX_LENGTH]).strip("_")
    is_free = stem[:1].isalpha() and not stem.startswith(("layer_", "computed_"))
    return stem if is_free else f"model_{stem}".rstrip("_")


_RETURNS = "Computes one row. Returns 0, or 1 if the index of a category is out of range."

_HEADER = """{about}
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


def _head(inference: InferenceGraph) -> str:
    return c_comment(
        inference.title.shown(),
        "Written by madaline. C99 without allocation; link with -lm.",
        f"{_RETURNS} Arrays must not overlap.",
        *(f"{port.name}: {_about(port)}, input" for port in inference.inputs),
        *(f"{port.name}: {_about(port)}, output" for port in inference.outputs),
    )


def _row_type(stem: str, columns: list[Port]) -> list[str]:
    """A struct with a member for each column of a table."""
    kinds = {
        "number": "NAN if missing",
        "date": "days since 1970-01-01, with the time of day as a fraction; NAN if missing",
    }
    lines = ["typedef struct {"]
    for port in columns:
        about = kinds.get(port.kind) or f"{_listed(port)}; -1 if unknown, -2 if missing"
        lines.append(f"    {TYPES[port.dtype.name]} {port.name}; {c_comment(f'{port.title.shown()}: {about}')}")
    return [*lines, f"}} {stem}_row;", ""]


def _listed(port: Port) -> str:
    """The indices of the values, and the values."""
    return ", ".join(f"{place} {given.shown()}" for place, given in enumerate(port.values))


def _about(port: Port) -> str:
    if port.kind == "label":
        return f"index of the class ({_listed(port)}), {TYPES[port.dtype.name]}"
    return f"{_size(port)} of {TYPES[port.dtype.name]}"


def _size(port: Port) -> str:
    return " x ".join(str(size) for size in port.shape if not isinstance(size, Rows)) or "1"


def _argument(port: Port, pointer: str = "") -> str:
    return f"{TYPES[port.dtype.name]} *{pointer}{port.name}"


def _array(name: str, value: np.ndarray) -> str:
    if value.dtype.kind == "f" and np.isfinite(value).all():  # faster, because there may be millions
        suffix = "f" if value.dtype == np.float32 else ""
        numbers = [f"{number!s}{suffix}" for number in value.ravel()] or ["0"]
    else:
        numbers = [literal(number, value.dtype) for number in value.ravel()] or ["0"]
    lines = [", ".join(numbers[start : start + N_IN_LINE]) for start in range(0, len(numbers), N_IN_LINE)]
    body = ",\n".join(f"    {line}" for line in lines)
    shape = " x ".join(map(str, value.shape))
    return f"{c_comment(shape)}\nstatic const {TYPES[value.dtype.name]} {name}[{len(numbers)}] = {{\n{body}\n}};\n"
