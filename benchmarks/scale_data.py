"""A synthetic table of the shape of Criteo's: 13 numbers, 26 columns of up to a million categories, clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

N_NUMBERS, N_CATEGORIES = 13, 26
NUMBERS = [f"number{k}" for k in range(N_NUMBERS)]
CATEGORIES = [f"category{k}" for k in range(N_CATEGORIES)]
TARGET = "click"
GROUP_ROWS = 1 << 16
"Rows of a row group."
FILE_GROUPS = 16
"Row groups of a file."
SIZES = np.geomspace(4, 1_000_000, N_CATEGORIES).astype(np.int64)
"Number of categories of each column; the rank of a category is distributed log-uniformly, as in Zipf's law."


def rows(n_rows: int, seed: int) -> dict[str, np.ndarray]:
    """Columns by name. The logit is a sum of effects of categories, of numbers, and of products of both."""
    rng = np.random.default_rng([2026, seed])
    numbers = rng.standard_normal((n_rows, N_NUMBERS), np.float32)
    ranks = np.exp(rng.random((n_rows, N_CATEGORIES)) * np.log(SIZES)).astype(np.int64)
    effects = _effect(ranks + 7919 * np.arange(N_CATEGORIES))
    logit = 0.25 * effects.sum(axis=1) + 0.3 * numbers[:, :4].sum(axis=1)
    logit += 0.5 * numbers[:, 0] * effects[:, 5] + 0.5 * effects[:, 9] * effects[:, 12] - 1.5
    click = rng.random(n_rows) < 1 / (1 + np.exp(-logit))
    found: dict[str, np.ndarray] = {TARGET: click.astype(np.float32)}
    found |= {name: numbers[:, k] for k, name in enumerate(NUMBERS)}
    # Names of categories are scattered, as those of a real table.
    names = (ranks * 2654435761 % (1 << 31)).astype(np.int32)
    return found | {name: names[:, k] for k, name in enumerate(CATEGORIES)}


def _effect(numbers: np.ndarray) -> Any:
    """A fixed number between -1.7 and 1.7 for each category, with variance 1."""
    spread = (numbers * 0x9E3779B1) & 0xFFFFFFFF
    return (spread / 2.0**32 - 0.5) * np.sqrt(12.0)


def write(folder: Path, n_rows: int) -> list[Path]:
    """Write Parquet files of row groups; files that are there already are kept."""
    import polars as pl

    found = []
    for number in range(-(-n_rows // (GROUP_ROWS * FILE_GROUPS))):
        path = folder / f"part-{number:05d}.parquet"
        count = min(GROUP_ROWS * FILE_GROUPS, n_rows - number * GROUP_ROWS * FILE_GROUPS)
        if not path.exists():
            pl.DataFrame(rows(count, seed=number)).write_parquet(path, row_group_size=GROUP_ROWS)
        found.append(path)
    return found
