"""C files: compiled without a warning, run under sanitizers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from madaline.graph.shapes import is_symbolic
from madaline.ship.c_file import c_files
from madaline.ship.c_language import TYPES
from ship.cases import NETS, agree, integer_case, integer_primitives, net_case, primitive_case, primitive_samples
from ship.estimator_cases import MAKERS, fitted

FLAGS = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover",
]
CASES = {f"net_{k}": (net_case, (net,)) for k, net in enumerate(NETS)}
CASES |= {f"{name}_{number}": (primitive_case, (name, number)) for name, number in primitive_samples()}
ESTIMATORS = {f"estimator_{k}": name for k, name in enumerate(MAKERS)}


def built(compiler, source, folder):
    """The program of a source."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (folder / "main.c").write_text(source)
    command = [compiler, *FLAGS, "main.c", "-o", "main", "-lm"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder / "main"


def n_rows_of(case):
    return len(case.inputs[0]) if is_symbolic(case.inference.inputs[0].shape) else 1


def caller(name, case):
    """A function that reads the inputs of each row from standard input and writes the outputs."""
    inputs, outputs = case.inference.inputs, case.inference.outputs
    columns = any(port.is_column for port in inputs)
    arrays = outputs if columns else (*inputs, *outputs)
    lines = [f"    {TYPES[port.dtype.name]} {port.name}[{max(port.size, 1)}];" for port in arrays]
    lines += [f"    {name}_row row_of_table;"] if columns else []
    lines += [f"    for (int row = 0; row < {n_rows_of(case)}; ++row) {{"]
    read = "        if (fread({0}, sizeof *({0}), {1}, stdin) != {1}) return 1;"
    lines += [read.format(f"&row_of_table.{p.name}" if columns else p.name, p.size) for p in inputs]
    given = ["&row_of_table"] if columns else []
    lines += [f"        if ({name}_predict({', '.join([*given, *(port.name for port in arrays)])})) return 2;"]
    lines += [f"        fwrite({port.name}, sizeof {port.name}[0], {port.size}, stdout);" for port in outputs]
    return "\n".join([f"static int {name}(void) {{", *lines, "    }", "    return 0;", "}"])


def program(cases):
    """All cases in one source, since a compiler takes longer to start than to compile one of them."""
    parts = ["#include <stdio.h>"]
    for name, case in cases.items():
        text = next(iter(c_files(case.inference, Path(f"{name}.c")).values())).decode()
        parts += [re.sub(r"\b(layer_|computed)", rf"{name}_\1", text), caller(name, case)]
    calls = [f'    if ({name}()) {{ fprintf(stderr, "{name}"); return 1; }}' for name in cases]
    return "\n".join([*parts, "int main(void) {", *calls, "    return 0;", "}", ""])


def parted(content, cases):
    """The outputs of each case, from what the program wrote."""
    found = {}
    position = 0
    for name, case in cases.items():
        n_rows, ports = n_rows_of(case), case.inference.outputs
        values = [np.empty((n_rows, port.size), port.dtype) for port in ports]
        for row in range(n_rows):
            for value in values:
                count = value[row].nbytes
                value[row] = np.frombuffer(content[position : position + count], value.dtype)
                position += count
        shapes = [(n_rows, *port.shape[1:]) if is_symbolic(port.shape) else port.shape for port in ports]
        found[name] = [value.reshape(shape) for value, shape in zip(values, shapes, strict=True)]
    assert position == len(content)
    return found


@pytest.mark.parametrize(("compiler", "dtype"), [("gcc", "float32"), ("gcc", "float64"), ("clang", "float32")])
def test_every_net_and_every_primitive_gives_what_it_gives_here(compiler, dtype, tmp_path):
    cases = {name: make(*args, dtype) for name, (make, args) in CASES.items()}
    if dtype == "float32":  # estimators and integers have types of their own
        cases |= {f"whole_{name}": integer_case(name) for name in integer_primitives()}
        cases |= {name: fitted(maker).exported() for name, maker in ESTIMATORS.items()}
    executable = built(compiler, program(cases), tmp_path)
    given = b"".join(
        np.ascontiguousarray(x).reshape(n_rows_of(case), -1)[row].tobytes()
        for case in cases.values()
        for row in range(n_rows_of(case))
        for x in case.inputs
    )
    run = subprocess.run([executable], input=given, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    for name, found in parted(run.stdout, cases).items():
        agree(found, cases[name])
