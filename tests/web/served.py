"""Small models of a table, their rows, and clients that ask them."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from starlette.testclient import TestClient

import madaline as md
from madaline.web.app import Service
from madaline.web.limits import Limits

N_ROWS = 60


@functools.cache
def table() -> pl.DataFrame:
    """Columns of every kind, with gaps, and targets of two kinds."""
    rng = np.random.default_rng(0)
    size = rng.normal(100.0, 20.0, N_ROWS).round(3)
    cities = rng.choice(["Rome", "Oslo", "Lima"], N_ROWS)
    return pl.DataFrame({
        "size": [None if k % 11 == 5 else x for k, x in enumerate(size.tolist())],
        "rooms": rng.integers(1, 6, N_ROWS),
        "city": [None if k % 13 == 7 else x for k, x in enumerate(cities.tolist())],
        "pool": rng.random(N_ROWS) > 0.5,
        "built": pl.date_range(pl.date(1990, 1, 1), pl.date(1990, 1, 1) + pl.duration(days=N_ROWS - 1), eager=True),
        "price": size * 3.0 + (cities == "Rome") * 50.0,
        "kind": np.where(size > 105, "large", np.where(size > 92, "middle", "small")),
    })  # fmt: skip


FEATURES = ("size", "rooms", "city", "pool", "built")


@functools.cache
def model(target: str, seed: int = 0) -> Any:
    """A regressor of the price with intervals, or a classifier of the kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are trained for a few epochs
        X, y = table().select(FEATURES), table()[target]
        options: dict[str, Any] = {"data": "auto", "hidden_layer_sizes": (6,), "max_iter": 4, "random_state": seed}
        if target == "kind":
            return md.MLPClassifier(**options).fit(X, y)
        return md.MLPRegressor(**options).fit(X, y).calibrate(X, y)


def rows(n: int = 3, start: int = 0) -> list[dict[str, Any]]:
    """Rows as JSON has them."""
    found = table().select(FEATURES)[start : start + n].to_dicts()
    return [{**row, "built": str(row["built"])} for row in found]


def answers(target: str, given: list[dict[str, Any]], seed: int = 0) -> list[Any]:
    """What ``predict`` answers for such rows."""
    return model(target, seed).predict(given).tolist()


def service(folder: Path, *targets: str, **options: Any) -> Service:
    """A service with models in a folder."""
    files = {}
    for target in targets:
        files[target] = folder / f"{target}.madaline"
        model(target).save(files[target])
    settings: dict[str, Any] = {"host": "127.0.0.1", "token": None, "limits": Limits(), **options}
    return Service(files, **settings)


def client_of(found: Service, **options: Any) -> TestClient:
    """A client on this computer, which sees internal errors as others do."""
    return TestClient(found.app(), base_url="http://localhost", raise_server_exceptions=False, **options)
