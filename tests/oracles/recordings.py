"""The recorded answers, read."""

from __future__ import annotations

from functools import cache

import numpy as np
from questions import RECORDED, Arrays


@cache
def _family(family: str) -> dict[str, np.ndarray]:
    with np.load(RECORDED / f"{family}.npz") as data:
        return dict(data)


def recorded(family: str, name: str) -> Arrays:
    """The answers to one question."""
    found = _family(family)
    keys = sorted((key for key in found if key.rpartition("/")[0] == name), key=lambda key: int(key.rpartition("/")[2]))
    assert keys, f"no recorded answer to {name!r}: run make record-oracles"
    return [found[key] for key in keys]
