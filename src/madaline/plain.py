"""Conversion of descriptions to plain data (numbers, strings, lists and dicts) and back.

A description is a dict with its ``kind``, its ``name`` and its parameters. Other dicts have no key ``kind``. Tuples are
written as lists. A float that JSON has no number for is ``{"kind": "float", "name": "nan"}``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.description import KINDS, Description, short
from madaline.errors import ConfigError

MAX_DEPTH = 256
"Maximum nesting depth of descriptions, lists and dicts: above that of nets, below Python's recursion limit."

MAX_DESCRIPTIONS = 100_000
"Maximum number of layers, columns and the like in one description: each takes some time to build."

MAX_EXPANSION = (4096, 16)
"""References to an object that was read before stand for all that is inside it. A description may expand to at most the
first number of descriptions plus the second for each one that is written out; otherwise a few references to references
would describe a net of millions of layers."""

SAME = "same"
"The name of a reference to an object that was written before; ``number`` identifies it."

_OTHER_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Writer:
    """Write one description and everything inside it."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def description(self, what: Description, depth: int = 0) -> dict[str, Any]:
        """The kind, name and parameters."""
        kind = what.registry.kind
        if id(what) in self._numbers:
            return {"kind": kind, "name": SAME, "number": self._numbers[id(what)]}
        name, parameters = what.parameters_to_save()
        if taken := parameters.keys() & {"kind", "name"}:
            raise ConfigError(f"{type(what).__name__}: a parameter cannot be named {', '.join(sorted(taken))}.")
        where = type(what).__name__
        result = {"kind": kind, "name": name} | {
            key: self.value(value, f"{where}: {key}", depth + 1) for key, value in parameters.items()
        }
        if what.has_identity:
            self._numbers[id(what)] = len(self._numbers)
        return result

    def value(self, value: Any, where: str, depth: int) -> Any:
        """A parameter, or something inside one."""
        if depth > MAX_DEPTH:
            raise ConfigError(f"{where} is nested more than {MAX_DEPTH} levels deep and cannot be written to a file.")
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, Description):
            return self.description(value, depth)
        if isinstance(value, (tuple, list)):
            return [self.value(item, where, depth + 1) for item in value]
        if isinstance(value, Mapping) and "kind" not in value and all(isinstance(key, str) for key in value):
            return {key: self.value(item, where, depth + 1) for key, item in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            return {"kind": "float", "name": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise ConfigError(f"{where}={short(value)} is not a plain value and cannot be written to a file.")


class Reader:
    """Read one description and everything inside it; each object is made by its kind, which checks its parameters."""

    def __init__(self) -> None:
        self._made: list[Description] = []
        self._sizes: list[int] = []
        "For each object of ``_made``, the number of descriptions it consists of."
        self._n_read = 0
        self._n_expanded = 0

    def description(self, data: Any, wanted: type[Description], depth: int = 0) -> Description:
        """The description; ``wanted`` gives the kind where the data do not."""
        if not isinstance(data, Mapping):
            raise ConfigError(f"{short(data)} is not a description: a dict with its name is needed.")
        self._n_read += 1
        before = self._n_expanded
        self._count(1)
        own_kind = getattr(wanted, "registry", None)
        kind = data.get("kind", own_kind.kind if own_kind else None)
        if not isinstance(kind, str) or kind not in KINDS:
            raise ConfigError(f"kind={short(kind)} is not a known kind. Known: {', '.join(sorted(KINDS))}.")
        if own_kind and kind != own_kind.kind:
            raise ConfigError(f"kind={kind!r} is given where a {own_kind.kind} is needed.")
        name = data.get("name", "")
        if not isinstance(name, str):
            raise ConfigError(f"name={short(name)} of a {kind} must be a string.")
        parameters = {
            self._key(key): self.value(value, depth + 1) for key, value in data.items() if key not in ("kind", "name")
        }
        if name == SAME:
            return self._same(kind, parameters)
        made = KINDS[kind].from_parameters(name, parameters)
        if made.has_identity:
            self._made.append(made)
            self._sizes.append(self._n_expanded - before)
        return made

    def _count(self, n_descriptions: int) -> None:
        """Count descriptions that were read, or that a reference stands for."""
        self._n_expanded += n_descriptions
        if self._n_read > MAX_DESCRIPTIONS:
            raise ConfigError(f"The data contain more than {MAX_DESCRIPTIONS} descriptions.")
        limit = min(MAX_EXPANSION[0] + MAX_EXPANSION[1] * self._n_read, MAX_DESCRIPTIONS)
        if self._n_expanded > limit:
            raise ConfigError(f"The {self._n_read} descriptions read so far expand to more than {limit} by references.")

    def value(self, data: Any, depth: int) -> Any:
        """A parameter, or something inside one."""
        if depth > MAX_DEPTH:
            raise ConfigError(f"The data are nested more than {MAX_DEPTH} levels deep.")
        if isinstance(data, Mapping):
            if "kind" not in data:
                return {self._key(key): self.value(value, depth + 1) for key, value in data.items()}
            if data["kind"] == "float":
                return self._other_float(data)
            return self.description(data, Description, depth)
        if isinstance(data, (list, tuple)):
            return tuple([self.value(item, depth + 1) for item in data])
        if isinstance(data, int) and not -(2**63) <= data < 2**63:
            raise ConfigError("An integer of more than 64 bits cannot be a parameter.")
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        raise ConfigError(f"{short(data)} is not a plain value.")

    def _same(self, kind: str, parameters: dict[str, Any]) -> Description:
        number = parameters.pop("number", None)
        if parameters or type(number) is not int or not 0 <= number < len(self._made):
            raise ConfigError(f"A {kind} refers to number {short(number)}, which was not read before.")
        found = self._made[number]
        if found.registry.kind != kind:
            raise ConfigError(f"A {kind} refers to number {number}, which is a {found.registry.kind}.")
        self._count(self._sizes[number])
        return found

    @staticmethod
    def _key(key: Any) -> str:
        if not isinstance(key, str):
            raise ConfigError(f"{short(key)} is not the name of a parameter: it must be a string.")
        return key

    @staticmethod
    def _other_float(data: Mapping[str, Any]) -> float:
        name = data.get("name")
        if not isinstance(name, str) or name not in _OTHER_FLOATS or len(data) != 2:
            raise ConfigError(f"{short(dict(data))} is not a float: its name must be nan, inf or -inf.")
        return _OTHER_FLOATS[name]
