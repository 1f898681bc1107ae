"""What every test may ask for."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run; HYPOTHESIS_PROFILE=explore looks for new ones.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("repeat", derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW_IS_FINE)
settings.register_profile("explore", settings.get_profile("repeat"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


def pytest_collection_finish() -> None:
    """Tell the garbage collector that what was collected stays: it looked at 26,000 tests again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(20_240_607)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of larger real data; tests that ask for it skip where there is none."""
    folder = os.environ.get("MADALINE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: set MADALINE_DATA to its folder")
    return Path(folder)


RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_python() -> RunPython:
    """Run code in a new interpreter, for what depends on a fresh import or on the environment.

    Variables given as keywords are set, those given as None are removed. Warnings are errors there too.
    """

    def run(code: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
        # Settings of whoever runs the tests must not leak in.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MADALINE_", "OMP_"))}
        environment = inherited | {k: v for k, v in variables.items() if v is not None}
        command = [sys.executable, "-W", "error", "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    return run


FORKING = """
import json, os, sys, tempfile, traceback
import matplotlib, numpy, pandas, polars, scipy.optimize, scipy.sparse, scipy.special, scipy.stats, sklearn.pipeline
assert not any(name.startswith("madaline") for name in sys.modules)

def run(code):
    try:
        exec(compile(code, "<test>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for line in sys.stdin:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = run(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code & 255)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    print(json.dumps([code, *texts]), flush=True)
"""


@pytest.fixture(scope="module")
def run_forked() -> Iterator[RunPython]:
    """Run code as ``run_python`` does, where packages of others may be loaded already and madaline must not be.

    Each run is a fork of one interpreter that has imported these packages, and used none of them: an interpreter of
    its own takes a second or two for their import.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MADALINE_", "OMP_"))}
    command = [sys.executable, "-W", "error", "-c", FORKING]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout

        def run(code: str) -> subprocess.CompletedProcess[str]:
            process.stdin.write(json.dumps(code) + "\n")
            process.stdin.flush()
            returncode, out, err = json.loads(process.stdout.readline())
            return subprocess.CompletedProcess([code], returncode, out, err)

        yield run
        process.stdin.close()


@pytest.fixture(autouse=True)
def usual_look_of_figures():
    """Figures of the gallery change the settings of matplotlib; each test starts with the usual ones."""
    style = sys.modules.get("madaline.gallery.style")
    if style is not None:
        style.mpl.rcParams.update({name: style.mpl.rcParamsDefault[name] for name in style.STYLE})
