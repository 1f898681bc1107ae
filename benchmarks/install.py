"""Size and time of an installation into an empty environment, and whether the result works.

    python benchmarks/install.py [--smoke] [--demo] [--busy] [SOURCE ...]

A source is a wheel, a source distribution or a folder; by default this folder. A wheel is installed twice, as the core
and with the extra `tables`, into a new environment each time; what has to be compiled is installed once. The time
includes downloads and compilation; CPU seconds are those of pip and of the compiler, and depend less on what else the
machine does. The size is that of the installed packages, without pip; a part of it is
bytecode, which pip writes for Python. scikit-learn alone is measured for comparison.
With --demo, `make demo` is run in a clean clone of this folder, too. With --smoke, the results are tried and nothing is
written. With --busy, for a machine that does other work, the page says so.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness

ROOT = Path(__file__).resolve().parents[1]
NOT_COUNTED = ("pip", "setuptools", "_distutils_hack", "__pycache__")
CORE = """
import numpy as np, madaline as md
from madaline.kernels import core
assert core.cpu_isas(), "no native core"
X = np.random.default_rng(0).normal(size=(200, 3))
clf = md.MLPClassifier((8,), max_iter=20, random_state=0).fit(X, X[:, 0] > 0)
clf.save("model.madaline")
assert (md.load("model.madaline").predict(X) == clf.predict(X)).all()
print("core works:", clf.score(X, X[:, 0] > 0), core.isa())
"""
TABLES = [["-m", "madaline", "train", "penguins", "--epochs", "3", "--out", "run"],
          ["-m", "madaline", "predict", "run", "penguins", "-o", "scored.csv"]]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for row in measurements(options):
        rows.append(row)
        if not options.smoke:  # after each, since they take long
            harness.save("install", {"machine": harness.machine(), "rows": rows}, page(rows, is_busy=options.busy))


def measurements(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All rows, one after the other."""
    if not options.smoke:
        yield measured("scikit-learn", "scikit-learn", with_tables=None)
    for source in options.sources:
        path = source.resolve()
        name = "this folder" if path == ROOT else path.name
        is_wheel = path.suffix == ".whl"
        if is_wheel or not options.smoke:
            yield measured(f"{name}: core", str(path), with_tables=False)
        if is_wheel or options.smoke:
            yield measured(f"{name}: [tables]", f"{path}[tables]", with_tables=True)
    if options.demo:
        yield demo()


def measured(name: str, requirement: str, *, with_tables: bool | None) -> dict[str, Any]:
    """Install into an empty environment, try the result, and give time and size."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        started, used = time.perf_counter(), cpu_of_children()
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", requirement], check=True)
        seconds, cpu_seconds = time.perf_counter() - started, cpu_of_children() - used
        (site,) = Path(folder).glob("lib/python*/site-packages")
        counted = [each for each in site.iterdir() if not each.name.startswith(NOT_COUNTED)]
        n_bytes, n_bytecode = sum(map(size_of, counted)), sum(size_of(each, "*.pyc") for each in counted)
        commands = [] if with_tables is None else [["-c", CORE], *(TABLES if with_tables else [])]
        for command in commands:
            subprocess.run([python, *command], cwd=folder, env=clean_environment(), check=True)
    print(f"{name}: {n_bytes / 1e6:.0f} MB, {seconds:.0f} s, {cpu_seconds:.0f} CPU s", file=sys.stderr)
    sizes = {"megabytes": n_bytes / 1e6, "bytecode": n_bytecode / 1e6}
    return {"name": name, **sizes, "seconds": seconds, "cpu_seconds": cpu_seconds}


def demo() -> dict[str, Any]:
    """Time of `make demo` in a clean clone: environment, downloads, compilation, training, report, export."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        started, used = time.perf_counter(), cpu_of_children()
        subprocess.run(["make", "demo"], cwd=folder, env=clean_environment(), check=True, stdout=subprocess.DEVNULL)
        seconds, cpu_seconds = time.perf_counter() - started, cpu_of_children() - used
    print(f"make demo: {seconds:.0f} s, {cpu_seconds:.0f} CPU s", file=sys.stderr)
    return {"name": "make demo in a clean clone", "seconds": seconds, "cpu_seconds": cpu_seconds}


def clean_environment() -> dict[str, str]:
    """The environment variables without those of Python and madaline."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MADALINE_"))}


def cpu_of_children() -> float:
    """CPU seconds of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def size_of(path: Path, pattern: str = "*") -> int:
    """Number of bytes of a file or of all files in a folder whose names fit a pattern."""
    files = [path] if path.is_file() else path.rglob(pattern)
    return sum(each.stat().st_size for each in files if each.is_file() and each.match(pattern))


def page(rows: list[dict[str, Any]], *, is_busy: bool) -> str:
    """The page of results."""
    columns = {"MB": "megabytes", "of these, bytecode": "bytecode", "seconds": "seconds", "CPU seconds": "cpu_seconds"}
    cells = [[row.get(key) for key in columns.values()] for row in rows]
    shown = [[row["name"], *("" if x is None else f"{x:.0f}" for x in xs)] for row, xs in zip(rows, cells, strict=True)]
    text = "# Installation\n\nWritten by `benchmarks/install.py`.\n\n"
    if is_busy:
        text += "The machine did other work at the same time: seconds on the clock are longer than on a quiet one.\n\n"
    return text + harness.table("Into an empty environment, with downloads", ["what", *columns], shown)


if __name__ == "__main__":
    main()
