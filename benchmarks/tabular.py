"""Open tabular data sets as polars data frames, read from the folder MADALINE_DATA, and their splits."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DATA = Path(os.environ.get("MADALINE_DATA", "../shared/data"))
FOLDER = DATA / "tabular"

DATES = ("pickup", "dropoff")
"Columns with dates as text."


@dataclass(frozen=True)
class Tabular:
    """A table without its target, the target, and the contents of the data card."""

    name: str
    X: pl.DataFrame
    y: np.ndarray
    is_classification: bool
    categorical: tuple[str, ...]
    all: pl.DataFrame

    def split(
        self, seed: int, *, most_rows: int = 10_000, most_test_rows: int | None = None, share: float = 0.25
    ) -> tuple[Any, Any, Any, Any]:
        """Training and test set, each with a maximum number of rows: X, y, X, y."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        n_test = round(share * len(order))
        test, train = order[: min(n_test, most_test_rows or most_rows)], order[n_test:][:most_rows]
        return self.X[train], self.y[train], self.X[test], self.y[test]


def names() -> list[str]:
    """Names of all data sets, small ones first."""
    cards = [json.loads(card.read_text()) for card in FOLDER.glob("*.json")]
    return [card["name"] for card in sorted(cards, key=lambda card: (card["rows"], card["name"]))]


def load(name: str) -> Tabular:
    """Load a data set without the rows that have no target; ``pack/set`` is a set of a collection."""
    if "/" in name:
        return _from_pack(*name.split("/"))
    card = json.loads((FOLDER / f"{name}.json").read_text())
    frame = pl.read_parquet(FOLDER / f"{name}.parquet")
    targets = card["target"] if isinstance(card["target"], list) else [card["target"]]
    frame = frame.drop_nulls(targets)
    y = frame[targets[0]].to_numpy()  # published numbers of the one set with two targets use the first
    is_classification = "classification" in card["task"]
    if is_classification:
        y = y.astype(str)
    else:
        y = y.astype(np.float64)
    X = frame.drop([*targets, *card["not_features"]]).with_columns(
        pl.col(name).str.to_datetime("%Y-%m-%d %H:%M:%S") for name in frame.columns if name in DATES
    )
    return Tabular(name, X, y, is_classification, tuple(card["categorical"]), frame)


def _from_pack(pack: str, name: str) -> Tabular:
    """A set of one of the collections of arrays; all columns are numbers."""
    arrays = np.load(DATA / "packs" / f"{pack}.npz")
    X, y = arrays[f"{name}/X"], arrays[f"{name}/y"]
    frame = pl.DataFrame({f"x{column}": X[:, column].astype(np.float64) for column in range(X.shape[1])})
    is_classification = pack == "uci121"
    y = y.astype(str) if is_classification else y.astype(np.float64)
    return Tabular(name, frame, y, is_classification, (), frame)
