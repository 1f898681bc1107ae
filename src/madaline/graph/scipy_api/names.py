"""The names of SciPy's functions that work on traced values, besides universal functions."""

from __future__ import annotations

import importlib

from madaline.graph import stats
from madaline.graph.scipy_api import fft
from madaline.graph.scipy_api.replacement import HOMES, TABLES


def scipy_names() -> set[str]:
    """Functions, and the distributions of ``scipy.stats`` instead of their methods."""
    for home in HOMES.values():
        importlib.import_module(home)
    functions = {f"{module}.{name}" for module, table in TABLES.items() for name in table if "." not in name}
    transforms = {f"scipy.fft.{name}" for name in fft.FUNCTIONS}
    return functions | transforms | {f"scipy.stats.{name}" for name in stats.__all__}
