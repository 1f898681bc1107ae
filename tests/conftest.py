"""What every test may ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run; HYPOTHESIS_PROFILE=explore looks for new ones.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("repeat", derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW_IS_FINE)
settings.register_profile("explore", settings.get_profile("repeat"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


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
