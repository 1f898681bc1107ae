"""Memory that runs need is given back: it does not grow with the number of programs."""

from __future__ import annotations

import sys

import pytest

from agreement import needs_core

MANY_PROGRAMS = """
import numpy as np, madaline as md
from pathlib import Path

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

rng = np.random.default_rng(0)
x = np.asarray(rng.normal(size=(20_000, 4)), dtype="float32")
f = md.compile(lambda x, V, W: np.tanh(np.tanh(x @ V) @ W).sum(), rows=[0])
found = []
for width in range(500, 1300, 100):  # each is a program with 80 to 200 MiB of activations
    V, W = np.ones((4, width), "float32"), np.ones((width, width // 2), "float32")
    for _ in range(2):
        f(x, V, W)
    found.append(resident())
f(x[:10], V[:, :3], W[:3])
print(*found, resident())
"""


@needs_core
@pytest.mark.skipif(sys.platform != "linux", reason="reads the size of the process from /proc")
def test_arenas_of_programs_that_no_longer_run_are_given_back(run_python):
    run = run_python(MANY_PROGRAMS)
    assert run.returncode == 0, run.stderr
    *sizes, last = map(float, run.stdout.split())
    assert max(sizes) < 600, sizes
    assert last < 300, last  # what exceeds the budget goes as soon as anything else runs
