"""Descriptions to plain data and back: numbers, strings, lists and dicts, whatever is nested in what.

A description is a dict with its ``kind`` and ``name`` and its parameters. Other dicts have no key ``kind``. Tuples are
lists. A float that JSON has no number for is ``{"kind": "float", "name": "nan"}``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.description import KINDS, Description, short
from madaline.errors import ConfigError

MAX_DEPTH = 64
"How deep descriptions, lists and dicts may be nested; nets are far below it, and Python's own limit far above."

MAX_DESCRIPTIONS = 100_000
"How many layers, columns and the like may be read at once: each costs some time to make."

SAME = "same"
"The name of an object that was written before; ``number`` says which."

_OTHER_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Writer:
    """Writes one description and all that is inside."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def description(self, what: Description, depth: int = 0) -> dict[str, Any]:
        """Kind, name and parameters."""
        kind = what.registry.kind
        if id(what) in self._numbers:
            return {"kind": kind, "name": SAME, "number": self._numbers[id(what)]}
        name, parameters = what.parameters_to_save()
        if taken := parameters.keys() & {"kind", "name"}:
            raise ConfigError(f"{type(what).__name__}: a parameter cannot be called {', '.join(sorted(taken))}.")
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
            raise ConfigError(f"{where} is nested more than {MAX_DEPTH} deep and cannot be written to a file.")
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
        raise ConfigError(f"{where}={short(value)} is no plain value and cannot be written to a file.")


class Reader:
    """Reads one description and all that is inside; each object is made by its kind, which checks its parameters."""

    def __init__(self) -> None:
        self._made: list[Description] = []
        self._n_read = 0

    def description(self, data: Any, wanted: type[Description], depth: int = 0) -> Description:
        """The description; ``wanted`` says the kind where the data do not."""
        if not isinstance(data, Mapping):
            raise ConfigError(f"{short(data)} is no plain data of a description: a dict with its name is needed.")
        self._n_read += 1
        if self._n_read > MAX_DESCRIPTIONS:
            raise ConfigError(f"The data hold more than {MAX_DESCRIPTIONS} descriptions.")
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
        return made

    def value(self, data: Any, depth: int) -> Any:
        """A parameter, or something inside one."""
        if depth > MAX_DEPTH:
            raise ConfigError(f"The data are nested more than {MAX_DEPTH} deep.")
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
        raise ConfigError(f"{short(data)} is no plain value.")

    def _same(self, kind: str, parameters: dict[str, Any]) -> Description:
        number = parameters.pop("number", None)
        if parameters or type(number) is not int or not 0 <= number < len(self._made):
            raise ConfigError(f"A {kind} is said to be the same as number {short(number)}, which was not read before.")
        found = self._made[number]
        if found.registry.kind != kind:
            raise ConfigError(f"Number {number} is a {found.registry.kind}, and a {kind} is needed.")
        return found

    @staticmethod
    def _key(key: Any) -> str:
        if not isinstance(key, str):
            raise ConfigError(f"{short(key)} is no name of a parameter: it must be a string.")
        return key

    @staticmethod
    def _other_float(data: Mapping[str, Any]) -> float:
        name = data.get("name")
        if not isinstance(name, str) or name not in _OTHER_FLOATS or len(data) != 2:
            raise ConfigError(f"{short(dict(data))} is no float: its name must be nan, inf or -inf.")
        return _OTHER_FLOATS[name]
