"""A classifier of a table under other names: its model file is rewritten, as a stranger might do it, and read again."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md
from madaline import container

N_ROWS = 24
NUMBER, CITY, EMBEDDED = "the number", "the city", "the zip"
CITIES = ("city 0", "city 1", "city 2")
CLASSES = ("class 0", "class 1", "class 2")
PLAIN = (NUMBER, CITY, EMBEDDED, *CITIES, *CLASSES)
"Every name in the model that is not renamed; none is part of another."


@functools.cache
def table() -> dict[str, list[Any]]:
    """A number, a category that is one-hot encoded and one that is embedded."""
    rng = np.random.default_rng(0)
    numbers = [None if k % 7 == 3 else float(x) for k, x in enumerate(rng.normal(size=N_ROWS))]
    cities = [None if k % 9 == 5 else CITIES[k % 3] for k in range(N_ROWS)]
    return {NUMBER: numbers, CITY: cities, EMBEDDED: [f"<{k % 12}>" for k in range(N_ROWS)]}


@functools.cache
def plain_model() -> md.MLPClassifier:
    """The classifier with its own names."""
    y = np.array(CLASSES, dtype=object)[np.random.default_rng(1).integers(0, 3, N_ROWS)]
    y[:3] = CLASSES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is trained for one epoch
        return md.MLPClassifier((3,), max_iter=1, data="auto", random_state=0).fit(table(), y)


def renamed_model(names: dict[str, str], folder: Path) -> Any:
    """The same classifier, loaded from a file in which each of these names is another text."""
    path = folder / "renamed.madaline"
    plain_model().save(path)
    arrays, document = container.read(path, kind="estimator")
    arrays = {_renamed(key, names): array for key, array in arrays.items()}
    container.write(path, arrays, _renamed(document, names))
    return md.load(path)


def renamed_rows(names: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of the table, each a dict."""
    columns = {names.get(key, key): [names.get(value, value) for value in column] for key, column in table().items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answers(names: dict[str, str]) -> tuple[np.ndarray, list[str]]:
    """Probabilities and classes of all rows, as the model with its own names gives them."""
    found = plain_model().predict(table())
    # No string in an array of NumPy ends with a null character.
    return plain_model().predict_proba(table()), [names.get(name, name).rstrip("\0") for name in found]


def _renamed(data: Any, names: dict[str, str]) -> Any:
    if isinstance(data, str):
        for old, new in names.items():
            data = new if data == old else data.replace(old, new)
        return data
    if isinstance(data, dict):
        return {_renamed(key, names): _renamed(value, names) for key, value in data.items()}
    return [_renamed(item, names) for item in data] if isinstance(data, list) else data
