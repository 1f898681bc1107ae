"""Named arrays in one flat vector: the parameters and the state of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from madaline.cached import cached_property
from madaline.errors import DtypeError, ShapeError, UnknownNameError
from madaline.nn.network import Entry

Array = np.ndarray[Any, np.dtype[Any]]


class Arrays(Mapping[str, Array]):
    """Named arrays that are writable views of one flat vector.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> params = md.Linear(2).init(3).params
    >>> list(params), params.flat.shape
    (['W', 'b'], (8,))
    >>> params["b"] = [1.0, 2.0]
    >>> params.flat[-2:]
    array([1., 2.], dtype=float32)
    >>> params.flat = np.zeros(8)
    >>> params["b"]
    array([0., 0.], dtype=float32)
    """

    def __init__(self, flat: Array, entries: Mapping[str, Entry]) -> None:
        self._flat = flat
        self._entries = entries

    @property
    def flat(self) -> Array:
        """All arrays one after another. A new vector that is assigned to it is copied into the arrays."""
        return self._flat

    @flat.setter
    def flat(self, value: Any) -> None:
        _copy_into(self._flat, value, "flat")

    def __getitem__(self, path: str) -> Array:
        view: Array = self._entry(path).of(self._flat)
        return view

    def __setitem__(self, path: str, value: Any) -> None:
        _copy_into(self[path], value, repr(path))

    @cached_property
    def by_layer(self) -> dict[str, list[str]]:
        """The paths of the arrays of each layer, by the layer's path."""
        found: dict[str, list[str]] = {}
        for path in self:
            found.setdefault(path.rpartition(".")[0], []).append(path)
        return found

    def _entry(self, path: str) -> Entry:
        if path not in self._entries:
            known = ", ".join(map(repr, self._entries)) or "none"
            raise UnknownNameError(f"{path!r} is not the path of an array. Known: {known}")
        return self._entries[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def over(self, flat: Array) -> Arrays:
        """The same names for the parts of another vector."""
        return Arrays(flat, self._entries)

    def to_dict(self) -> dict[str, Array]:
        """Copies of the arrays by path."""
        return {path: self[path].copy() for path in self}

    def __repr__(self) -> str:
        shown = ", ".join(f"{path!r}: {entry.shape}" for path, entry in self._entries.items())
        return f"{{{shown}}}"


def _copy_into(target: Array, value: Any, name: str) -> None:
    value = np.asarray(value)
    if value.shape != target.shape:
        raise ShapeError(f"{name} has shape {target.shape} and cannot be set to an array of shape {value.shape}.")
    if value.dtype.kind not in "fiub":
        raise DtypeError(f"{name} holds {target.dtype} numbers and cannot be set to an array of type {value.dtype}.")
    target[...] = value
